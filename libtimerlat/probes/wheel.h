/* SPDX-License-Identifier: MIT */
/*
 * wheel.h - when the kernel's timer wheel (kernel/time/timer.c) ends a timeout. Pure.
 *
 * Jiffies count the ticks. A timeout of so many of them is added to the jiffies of the call; what
 * that gives lies in a bucket, and at the end of the bucket the timer expires. Buckets are 1 tick
 * wide for timeouts below 63 ticks, 8 below 504, 64 below 4032, and so on.
 */
#ifndef TLAT_WHEEL_H
#define TLAT_WHEEL_H

#include "internal.h"

struct tlat_wheel {
	uint64_t origin; /* when jiffies were 0, at the latest, modulo 2^64 ns */
	uint64_t doubt;	 /* by how much earlier that may have been */
	uint64_t tick;	 /* ns; 0: the jiffies are not known */
};

/* Width in ticks of the buckets for a timeout of so many. */
static inline uint64_t tlat_wheel_width(uint64_t ticks)
{
	uint64_t width = 1;

	for (uint64_t end = 63; ticks >= end && width < 1 << 24; end *= 8)
		width *= 8;
	return width;
}

/* The jiffies at which a timeout ends that began at these. The kernel measures it from the tick
 * that its base expects next, which may be one later: at the edge of two widths the narrower one
 * holds. */
static inline uint64_t tlat_wheel_end(uint64_t jiffies, uint64_t ticks)
{
	uint64_t width = tlat_wheel_width(ticks - 1);

	return ((jiffies + ticks) / width + 1) * width;
}

/* Jiffies at that time, at the least, if no tick is late. */
static inline uint64_t tlat_wheel_jiffies(const struct tlat_wheel *wheel, uint64_t at)
{
	return (at - wheel->origin) / wheel->tick;
}

/* When they are so many, at the latest. */
static inline uint64_t tlat_wheel_tick(const struct tlat_wheel *wheel, uint64_t jiffies)
{
	return wheel->origin + jiffies * wheel->tick;
}

/*
 * When a timeout of so many ticks ends that begins at armed, at the earliest. A tick may be late,
 * and not be in the jiffies yet. It would have moved the coarse clock, too, to less than a tick
 * before itself: where that clock stands earlier, as read before, the tick does not count.
 */
static inline uint64_t tlat_wheel_due(const struct tlat_wheel *wheel, uint64_t coarse,
				      uint64_t armed, uint64_t ticks)
{
	uint64_t jiffies = tlat_wheel_jiffies(wheel, armed);
	uint64_t counted = tlat_wheel_jiffies(wheel, coarse) + 1;

	if (counted < jiffies)
		jiffies = counted;
	return tlat_wheel_tick(wheel, tlat_wheel_end(jiffies, ticks)) - wheel->doubt;
}

#endif /* TLAT_WHEEL_H */
