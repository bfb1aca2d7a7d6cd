/* SPDX-License-Identifier: MIT */
/*
 * x86.h - the time stamp counter. LFENCE orders it: RDTSC alone may be read
 * before earlier instructions have finished, and CPUID traps in a guest.
 */
#ifndef TLAT_ARCH_H
#define TLAT_ARCH_H

#include <x86intrin.h>

#define TLAT_ARCH_SOURCE TLAT_CLOCK_TSC

static inline uint64_t tlat_arch_ticks_begin(void)
{
	uint64_t ticks;

	_mm_lfence();
	ticks = __rdtsc();
	_mm_lfence();
	return ticks;
}

static inline uint64_t tlat_arch_ticks_end(void)
{
	unsigned int aux;
	uint64_t ticks = __rdtscp(&aux);

	_mm_lfence();
	return ticks;
}

static inline void tlat_arch_relax(void)
{
	_mm_pause();
}

#endif /* TLAT_ARCH_H */
