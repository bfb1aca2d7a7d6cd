// SPDX-License-Identifier: MIT
/* run_grid.c - which deadlines a timer has, which of them count, which have passed. */
#include "run_grid.h"

/* Slots from the first measured one on; a time limit is as many slots as it spans. A closed loop
 * has no more of them, but may need longer for each. */
static uint64_t slots_of(const struct tlat_limits *limits, uint64_t interval)
{
	uint64_t slots = limits->duration / interval;

	if (limits->duration == UINT64_MAX)
		slots = UINT64_MAX;
	if (slots > limits->samples)
		slots = limits->samples;
	return slots ? slots : 1;
}

/* Measure from this slot on, as many as were planned. */
static void begin_at(struct tlat_grid *grid, uint64_t slot)
{
	uint64_t slots = grid->last - grid->first;

	grid->first = slot;
	if (grid->last != UINT64_MAX)
		grid->last = slot + slots;
}

void tlat_grid_init(struct tlat_grid *grid, const struct tlat_solo *solo, uint64_t now)
{
	const struct tlat_limits *limits = &solo->limits;
	uint64_t lead = (solo->start ? solo->start : now) + solo->interval;
	uint64_t slots = slots_of(limits, solo->interval), span = limits->warmup_span;

	*grid = (struct tlat_grid){ .interval = solo->interval, .before = now };
	grid->closed = solo->ctx->ops->flags & TLAT_PROBE_CLOSED;
	grid->duration = limits->duration;
	grid->away = limits->away;
	grid->warm_at = span > UINT64_MAX - now ? UINT64_MAX : now + span;
	grid->origin = (lead + solo->tick - 1) / solo->tick * solo->tick + solo->phase;
	grid->first = span / solo->interval;
	if (grid->first > limits->warmup)
		grid->first = limits->warmup;
	grid->complete = solo->complete;
	grid->last = slots > UINT64_MAX - grid->first ? UINT64_MAX : grid->first + slots;
	if (now < grid->origin || grid->closed)
		return;
	grid->slot = tlat_grid_after(grid, now);
	if (grid->slot > grid->first)
		begin_at(grid, grid->slot);
}

/* The first slot after a stamp, served or not. */
static uint64_t ahead_of(const struct tlat_grid *grid, uint64_t at)
{
	return at < grid->origin ? 0 : (at - grid->origin) / grid->interval + 1;
}

uint64_t tlat_grid_after_late(const struct tlat_grid *grid, uint64_t at)
{
	uint64_t next = ahead_of(grid, at);

	return next > grid->slot ? next : grid->slot + 1;
}

/* Slots up to next are as if they had never been. */
static void leave_out(struct tlat_grid *grid, uint64_t next)
{
	grid->origin += (next - grid->slot) * grid->interval;
}

void tlat_grid_warm_up(struct tlat_grid *grid, uint64_t next, uint64_t at)
{
	if (grid->unmeasured) {
		grid->unmeasured--;
		leave_out(grid, next);
		return;
	}
	grid->slot = next;
	if (next > grid->first || (grid->closed && at >= grid->warm_at))
		begin_at(grid, next);
}

void tlat_grid_skip(struct tlat_grid *grid, uint64_t now)
{
	uint64_t next = ahead_of(grid, now);

	if (next > grid->slot)
		leave_out(grid, next);
	grid->unmeasured = tlat_rest_cycles(grid->slot > grid->rested);
	grid->rested = grid->slot;
}
