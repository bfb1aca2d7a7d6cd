/* SPDX-License-Identifier: MIT */
/* generic.h - no counter that user space can read: CLOCK_MONOTONIC_RAW, in ns. */
#ifndef TLAT_ARCH_H
#define TLAT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define TLAT_ARCH_SOURCE TLAT_CLOCK_GETTIME

static inline uint64_t tlat_arch_ticks_begin(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t tlat_arch_ticks_end(void)
{
	return tlat_arch_ticks_begin();
}

static inline void tlat_arch_relax(void)
{
}

static inline uint64_t tlat_arch_nominal_hz(void)
{
	return 1000000000u;
}

/* Of the counter behind the kernel's clock nothing is known. */
static inline bool tlat_arch_invariant(void)
{
	return false;
}

static inline const char *tlat_arch_unreadable(void)
{
	return NULL;
}

static inline bool tlat_arch_hypervisor(void)
{
	return false;
}

static inline void tlat_arch_free_vectors(void)
{
}

#endif /* TLAT_ARCH_H */
