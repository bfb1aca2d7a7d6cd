/* SPDX-License-Identifier: MIT */
/*
 * aarch64.h - the virtual counter. ISB orders it: the read may otherwise happen
 * before earlier instructions have finished or after later ones have begun. A
 * load in front of a stamp is complete only if a branch depends on it, as in
 * every loop that waits for a flag.
 */
#ifndef TLAT_ARCH_H
#define TLAT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLAT_ARCH_SOURCE TLAT_CLOCK_CNTVCT

static inline uint64_t tlat_arch_ticks_begin(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
	return ticks;
}

static inline uint64_t tlat_arch_ticks_end(void)
{
	return tlat_arch_ticks_begin();
}

static inline void tlat_arch_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}

/* What firmware claims; on some boards it is wrong. */
static inline uint64_t tlat_arch_nominal_hz(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

/* The architecture demands one rate, always on. */
static inline bool tlat_arch_invariant(void)
{
	return true;
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
