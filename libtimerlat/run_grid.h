/* SPDX-License-Identifier: MIT */
/* run_grid.h - the deadlines of a timer: E0 + kT, k = 0, 1, ... */
#ifndef TLAT_RUN_GRID_H
#define TLAT_RUN_GRID_H

#include "run.h"

struct tlat_grid {
	uint64_t origin, interval; /* ns on the probe's clock */
	uint64_t slot;		   /* the one armed */
	uint64_t first, last;	   /* slots measured: [first, last) */
	uint64_t due;		   /* what is promised for the slot armed */
};

/* A grid that begins after now, its phase against the kernel's tick as the run says. */
void tlat_grid_init(struct tlat_grid *grid, const struct tlat_solo *solo, uint64_t now);
TLAT_HOT uint64_t tlat_grid_point(const struct tlat_grid *grid, uint64_t slot);
/* The first slot after a stamp, but never one that has been served. */
TLAT_HOT uint64_t tlat_grid_after(const struct tlat_grid *grid, uint64_t at);
/* Measure from this slot on if it is past the first; as many as were planned. */
void tlat_grid_begin_at(struct tlat_grid *grid, uint64_t slot);

#endif /* TLAT_RUN_GRID_H */
