/* SPDX-License-Identifier: MIT */
/*
 * storm_law.h - how many expirations of an interval timer there must have been. Pure: a grid of
 * expiries e0 + k t, all in ns on the timer's own clock.
 */
#ifndef TLAT_STORM_LAW_H
#define TLAT_STORM_LAW_H

#include <stdbool.h>
#include <stdint.h>

struct tlat_storm_grid {
	uint64_t e0, t; /* t > 0 */
};

/* Grid points at or before that time. */
uint64_t tlat_storm_points(const struct tlat_storm_grid *grid, uint64_t at);

/*
 * Whether s expirations can have been told by a dequeue between a and b; slack: how far the
 * kernel's own reading of the clock may be from a and b.
 */
bool tlat_storm_law_holds(const struct tlat_storm_grid *grid, uint64_t s, uint64_t a, uint64_t b,
			  uint64_t slack);

/*
 * Whether, with nothing pending, a timer that had remaining ns left between a and b has expired
 * exactly s times.
 */
bool tlat_storm_law_exact(const struct tlat_storm_grid *grid, uint64_t s, uint64_t a, uint64_t b,
			  uint64_t remaining);

#endif /* TLAT_STORM_LAW_H */
