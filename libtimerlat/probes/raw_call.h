/* SPDX-License-Identifier: MIT */
/* raw_call.h - what probes share whose system call the C library does not make for them. */
#ifndef TLAT_RAW_CALL_H
#define TLAT_RAW_CALL_H

#include <unistd.h>

#include "newer.h"
#include "probe.h"

/* struct __kernel_timespec, which newer calls take whatever time_t is here. */
struct tlat_kernel_timespec {
	int64_t tv_sec, tv_nsec;
};

static inline struct tlat_kernel_timespec tlat_kernel_timespec_of_ns(int64_t ns)
{
	return (struct tlat_kernel_timespec){ ns / TLAT_NSEC_PER_SEC, ns % TLAT_NSEC_PER_SEC };
}

/* After a trial with arguments that no kernel takes: errno says whether the call may be made. */
static inline int tlat_raw_call_check(const char *name, const char *since,
				      struct tlat_error *reterr)
{
	if (errno == ENOSYS)
		return tlat_fail(reterr, -ENOSYS, "this kernel has no %s; use %s", name, since);
	if (errno == EPERM)
		return tlat_fail(reterr, -EPERM,
				 "%s is refused: Operation not permitted; allow it in the seccomp "
				 "profile of this container or service",
				 name);
	return 0;
}

#endif /* TLAT_RAW_CALL_H */
