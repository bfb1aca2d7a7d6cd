/* SPDX-License-Identifier: MIT */
/*
 * run_grid.h - the deadlines of a timer: E0 + kT, k = 0, 1, ... A timer without absolute deadlines
 * has the same slots, but they come when they come.
 */
#ifndef TLAT_RUN_GRID_H
#define TLAT_RUN_GRID_H

#include "run.h"

/* What every cycle needs comes first, on one cache line. */
struct tlat_grid {
	alignas(TLAT_CACHE_LINE) uint64_t origin; /* ns on the probe's clock */
	uint64_t interval;
	uint64_t slot;	      /* the one armed */
	uint64_t first, last; /* slots measured: [first, last) */
	uint64_t due;	      /* what is promised for the slot armed */
	uint64_t unmeasured;  /* cycles left that are not measured after a rest */
	bool closed;
	bool complete;	   /* a slot that was missed is made up for at the end */
	uint64_t before;   /* stamp of the event before */
	uint64_t away;	   /* later than this without a sample: a stop */
	uint64_t warm_at;  /* closed loop: when warm-up is over */
	uint64_t duration; /* closed loop: of measurement */
	uint64_t rested;   /* the slot armed at the last rest */
};

static_assert(offsetof(struct tlat_grid, before) <= TLAT_CACHE_LINE, "a cycle needs one line");

/* A grid that begins after now, at the point that all threads of the run have in common; its phase
 * against the kernel's tick as the run says. */
void tlat_grid_init(struct tlat_grid *grid, const struct tlat_solo *solo, uint64_t now);

static inline uint64_t tlat_grid_point(const struct tlat_grid *grid, uint64_t slot)
{
	return grid->origin + slot * grid->interval;
}

/* tlat_grid_after() where the next slot has passed as well, which takes a division. */
uint64_t tlat_grid_after_late(const struct tlat_grid *grid, uint64_t at);

/* The first slot after a stamp, but never one that has been served. */
static inline uint64_t tlat_grid_after(const struct tlat_grid *grid, uint64_t at)
{
	if (TLAT_RARELY(at >= tlat_grid_point(grid, grid->slot + 1)))
		return tlat_grid_after_late(grid, at);
	return grid->slot + 1;
}

/* Go on after an expiry that is not measured, stamped at. */
void tlat_grid_warm_up(struct tlat_grid *grid, uint64_t next, uint64_t at);
/* After a measured expiry: a closed loop may have measured long enough, and a run that is to be
 * complete makes up for what was missed. */
static inline void tlat_grid_limit(struct tlat_grid *grid, uint64_t elapsed, uint64_t missed)
{
	if (TLAT_RARELY(grid->complete && grid->last != UINT64_MAX))
		grid->last += missed;
	if (TLAT_RARELY(grid->closed && elapsed >= grid->duration))
		grid->last = grid->slot;
}

/* After a rest: slots up to now are left out as if they had never been, and the next few are not
 * measured (tlat_rest_cycles()). */
void tlat_grid_skip(struct tlat_grid *grid, uint64_t now);

#endif /* TLAT_RUN_GRID_H */
