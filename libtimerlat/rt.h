/* SPDX-License-Identifier: MIT */
/* rt.h - private parts of rt.c, rt_explain.c, rt_idle.c and caps.c */
#ifndef TLAT_RT_H
#define TLAT_RT_H

#include "internal.h"

/*
 * tlat_rt_apply() below another root, for diagnosis files (cgroup budgets, status) and
 * /dev/cpu_dma_latency.
 */
int tlat_rt_apply_at(struct tlat_rt **ret_rt, int root_fd, const struct tlat_rt_opts *opts,
		     struct tlat_error *reterr);

/* The kernel's name of a policy: "SCHED_FIFO"; "SCHED_?" for one that is not known. Static. */
const char *tlat_policy_kernel_name(int policy);

/* The symbol of a positive errno where the C library tells it ("EPERM"), else its text. */
const char *tlat_errno_name(int error);

/*
 * Why policy and priority were refused with error (positive errno), in one line with the remedy;
 * reads capability sets, RLIMIT_RTPRIO, cgroup budgets and seccomp. The cause's short name
 * ("capability", "rlimit", "cgroup-budget", "seccomp", "admission", "unknown") is returned, static.
 */
const char *tlat_rt_explain(int root_fd, int policy, int priority, int error, char *text,
			    size_t size);

/*
 * Hold /dev/cpu_dma_latency at latency_ns (TLAT_ZERO: 0), rounded down to us. Returns a descriptor,
 * which lets go when it is closed, or a negative errno with the remedy.
 */
int tlat_rt_hold_idle(int root_fd, int64_t latency_ns, struct tlat_error *reterr);

/* Drop all capabilities of the calling thread (measuring threads, after read-back). 0 or -errno.
 * A build without libcap does it by the raw call or reports -EOPNOTSUPP. */
int tlat_rt_drop_capabilities(void);

/*
 * Keep the named capabilities of those that the calling thread has, drop all others, read back.
 * 0, -EINVAL for an unknown name, -EOPNOTSUPP for one that needs libcap, -EPROTO when the kernel
 * did not do what it said.
 */
int tlat_caps_reduce(const char *const *keep, size_t n);

/* Whether the calling thread has the capability in effect ("cap_sys_nice"); false if unknown. */
bool tlat_rt_capable(const char *capability);

#endif /* TLAT_RT_H */
