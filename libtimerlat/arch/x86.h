/* SPDX-License-Identifier: MIT */
/*
 * x86.h - the time stamp counter. LFENCE orders it: RDTSC alone may be read
 * before earlier instructions have finished, and CPUID traps in a guest.
 */
#ifndef TLAT_ARCH_H
#define TLAT_ARCH_H

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/*
 * String functions of the C library use AVX-512 registers and leave them in use, which every
 * switch of the thread then pays for with 1.5 KiB more to save. VZEROUPPER frees the lower
 * sixteen only; a restore from an empty area frees the mask registers, the upper halves and the
 * upper sixteen (components 5 to 7 of XCR0).
 */
__attribute__((target("avx,xsave"))) static inline void tlat_arch_free_vectors(void)
{
	static const _Alignas(64) unsigned char empty[1024];

	if (!__builtin_cpu_supports("avx512f"))
		return;
	_mm256_zeroupper();
	_xrstor((void *)empty, 0xe0);
}

/* CPUID leaves 0x15 and 0x16 are absent or rounded on most machines: nothing is claimed. */
static inline uint64_t tlat_arch_nominal_hz(void)
{
	return 0;
}

/* One rate in every power state (leaf 0x80000007 EDX bit 8). */
static inline bool tlat_arch_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/*
 * What a stamp lacks; NULL: nothing. An invariant TSC does not bring RDTSCP (leaf 0x80000001 EDX
 * bit 27): some hypervisors keep it from their guests, where it ends the program by SIGILL.
 */
static inline const char *tlat_arch_unreadable(void)
{
	unsigned int a, b, c, d;

	if (__get_cpuid(0x80000001, &a, &b, &c, &d) && (d & (1u << 27)))
		return NULL;
	return "the CPU, or its hypervisor, has no RDTSCP";
}

static inline bool tlat_arch_hypervisor(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 31));
}

#endif /* TLAT_ARCH_H */
