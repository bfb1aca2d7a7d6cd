/* SPDX-License-Identifier: MIT */
/*
 * monotonic.h - the time by which the tools wait.
 */
#ifndef TLAT_MONOTONIC_H
#define TLAT_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/* Of CLOCK_MONOTONIC. May be called from a signal handler. */
static inline int64_t tlat_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#endif /* TLAT_MONOTONIC_H */
