// SPDX-License-Identifier: MIT
/*
 * uring.c - that the kernel takes the absolute timeouts of io_uring for the host's time, which all
 * its other timers translate from the time namespace of the process.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "uring.h"

/* In ns; 0 also where the kernel has no time namespaces. */
static int64_t monotonic_offset(void)
{
	long long s = 0, ns = 0;
	int root_fd = tlat_root_open(NULL);
	char text[256];

	if (root_fd < 0)
		return 0;
	/* Its first line is CLOCK_MONOTONIC's, which Linux 5.6 calls 1. */
	if (tlat_root_read(root_fd, "proc/self/timens_offsets", text, sizeof(text)) < 0 ||
	    sscanf(text, "%*s %lld %lld", &s, &ns) != 2)
		s = ns = 0;
	close(root_fd);
	return s * TLAT_NSEC_PER_SEC + ns;
}

int tlat_uring_check_absolute(struct tlat_error *reterr)
{
	int64_t offset = monotonic_offset();

	if (!offset)
		return 0;
	return tlat_fail(reterr, -ENOSYS,
			 "absolute timeouts of io_uring do not know the time namespace of this "
			 "process (its monotonic offset is %.9g s); run it outside of it",
			 (double)offset / TLAT_NSEC_PER_SEC);
}
