// SPDX-License-Identifier: MIT
/*
 * rt_idle.c - the request that keeps CPUs out of deep idle states. Knows that /dev/cpu_dma_latency
 * takes a binary 32-bit number of microseconds and forgets it when the last descriptor of this open
 * file is closed, which a child forked meanwhile may hold.
 */
#include <fcntl.h>
#include <unistd.h>

#include "rt.h"

#define NO_CONSTRAINT_US 2000000000 /* PM_QOS_CPU_LATENCY_DEFAULT_VALUE */

static int fail_hold(int code, struct tlat_error *reterr)
{
	if (code == -ENOENT || code == -ENODEV || code == -ENXIO)
		return tlat_fail(reterr, code,
				 "/dev/cpu_dma_latency is not there: a container without "
				 "it, or a kernel without CPU_IDLE; pass the device in (docker run "
				 "--device /dev/cpu_dma_latency) or leave idle states as they are");
	if (code == -EACCES || code == -EPERM)
		return tlat_fail(reterr, code,
				 "/dev/cpu_dma_latency refused: %s, it is root's; run with "
				 "sudo, or give a group write access by a udev rule",
				 tlat_errno_name(-code));
	return tlat_fail(reterr, code,
			 "/dev/cpu_dma_latency refused: %s; leave idle states as they are",
			 tlat_errno_name(-code));
}

static int hold(int fd, int32_t latency_us, struct tlat_error *reterr)
{
	int32_t now = 0;
	ssize_t n = write(fd, &latency_us, sizeof(latency_us));

	if (n != (ssize_t)sizeof(latency_us))
		return n < 0 ? fail_hold(-errno, reterr)
			     : tlat_fail(reterr, -EIO,
					 "/dev/cpu_dma_latency took %zd of 4 bytes; "
					 "it is not the kernel's device",
					 n);
	n = pread(fd, &now, sizeof(now), 0);
	if (n == (ssize_t)sizeof(now) && now >= 0 && now <= latency_us)
		return 0;
	return tlat_fail(reterr, -EPROTO,
			 "/dev/cpu_dma_latency took %d us but reads %d us; it is not "
			 "the kernel's device",
			 latency_us, now);
}

int tlat_rt_hold_idle(int root_fd, int64_t latency_ns, struct tlat_error *reterr)
{
	int64_t latency_us = latency_ns == TLAT_ZERO ? 0 : latency_ns / 1000;
	int fd, r;

	if (latency_us < 0 || latency_us > INT32_MAX)
		return tlat_fail(reterr, -EINVAL,
				 "CPU latency of %lld ns is out of range; use 0 to "
				 "2147483647 us",
				 (long long)latency_ns);
	fd = openat(root_fd, "dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fail_hold(-errno, reterr);
	r = hold(fd, (int32_t)latency_us, reterr);
	if (r < 0)
		tlat_rt_release_idle(fd);
	return r < 0 ? r : fd;
}

void tlat_rt_release_idle(int fd)
{
	const int32_t none = NO_CONSTRAINT_US;
	ssize_t n;

	if (fd < 0)
		return;
	n = pwrite(fd, &none, sizeof(none), 0);
	(void)n; /* refused or not, closing it is what is left */
	close(fd);
}
