/* SPDX-License-Identifier: MIT */
/*
 * riscv.h - the time CSR; user space may not read rdcycle since Linux 6.6. The
 * ISA classes a CSR read as device input, so FENCE orders it against memory.
 */
#ifndef TLAT_ARCH_H
#define TLAT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLAT_ARCH_SOURCE TLAT_CLOCK_RDTIME

static inline uint64_t tlat_arch_ticks_begin(void)
{
	uint64_t ticks;

	__asm__ volatile("fence r, i\n\trdtime %0\n\tfence i, rw" : "=r"(ticks) : : "memory");
	return ticks;
}

static inline uint64_t tlat_arch_ticks_end(void)
{
	return tlat_arch_ticks_begin();
}

static inline void tlat_arch_relax(void)
{
	/* PAUSE of Zihintpause, a hint that every core decodes; assemblers may not know it. */
	__asm__ volatile(".4byte 0x0100000f" : : : "memory");
}

/* Only the device tree knows the timebase. */
static inline uint64_t tlat_arch_nominal_hz(void)
{
	return 0;
}

/* The privileged specification demands a constant rate. */
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
