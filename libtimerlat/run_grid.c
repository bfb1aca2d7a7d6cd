// SPDX-License-Identifier: MIT
/* run_grid.c - which deadlines a timer has, which of them count, which have passed. */
#include "run_grid.h"

/* Slots from the first measured one on; a time limit is as many slots as it spans. */
static uint64_t slots_of(const struct tlat_limits *limits, uint64_t interval)
{
	uint64_t slots = limits->duration / interval;

	if (limits->duration == UINT64_MAX)
		slots = UINT64_MAX;
	if (slots > limits->samples)
		slots = limits->samples;
	return slots ? slots : 1;
}

void tlat_grid_init(struct tlat_grid *grid, const struct tlat_solo *solo, uint64_t now)
{
	const struct tlat_limits *limits = &solo->limits;
	uint64_t lead = now + solo->interval, slots = slots_of(limits, solo->interval);

	grid->interval = solo->interval;
	grid->origin = (lead + solo->tick - 1) / solo->tick * solo->tick + solo->phase;
	grid->slot = 0;
	grid->first = limits->warmup_span / solo->interval;
	if (grid->first > limits->warmup)
		grid->first = limits->warmup;
	grid->last = slots > UINT64_MAX - grid->first ? UINT64_MAX : grid->first + slots;
}

uint64_t tlat_grid_point(const struct tlat_grid *grid, uint64_t slot)
{
	return grid->origin + slot * grid->interval;
}

uint64_t tlat_grid_after(const struct tlat_grid *grid, uint64_t at)
{
	uint64_t next;

	/* in time, which needs no division */
	if (at < tlat_grid_point(grid, grid->slot + 1))
		return grid->slot + 1;
	next = at < grid->origin ? 0 : (at - grid->origin) / grid->interval + 1;
	return next > grid->slot ? next : grid->slot + 1;
}

void tlat_grid_begin_at(struct tlat_grid *grid, uint64_t slot)
{
	uint64_t slots = grid->last - grid->first;

	if (slot <= grid->first)
		return;
	grid->first = slot;
	if (grid->last != UINT64_MAX)
		grid->last = slot + slots;
}
