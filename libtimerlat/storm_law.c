// SPDX-License-Identifier: MIT
/*
 * storm_law.c - the conservation of expirations: whatever a storm loses, each grid point is either
 * delivered or told as an overrun. An interval timer is forwarded over its grid when its signal is
 * dequeued, so that the sum of 1 + overruns is then the number of grid points passed.
 */
#include "storm_law.h"

uint64_t tlat_storm_points(const struct tlat_storm_grid *grid, uint64_t at)
{
	return at < grid->e0 ? 0 : (at - grid->e0) / grid->t + 1;
}

bool tlat_storm_law_holds(const struct tlat_storm_grid *grid, uint64_t s, uint64_t a, uint64_t b,
			  uint64_t slack)
{
	uint64_t first = a > slack ? a - slack : 0;

	return tlat_storm_points(grid, first) <= s && s <= tlat_storm_points(grid, b + slack);
}

bool tlat_storm_law_exact(const struct tlat_storm_grid *grid, uint64_t s, uint64_t a, uint64_t b,
			  uint64_t remaining)
{
	uint64_t next = grid->e0 + s * grid->t;

	return a + remaining <= next && next <= b + remaining;
}
