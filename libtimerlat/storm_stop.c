// SPDX-License-Identifier: MIT
/*
 * storm_stop.c - the test that ends a worker. On its own, so that a test can build a worker that
 * ignores it: then the watchdog has to.
 */
#include "storm.h"

#define LOOK_EVERY 256 /* signals between two looks at the clock */

bool tlat_storm_stopping(struct tlat_storm *storm, uint64_t seen)
{
	if (atomic_load_explicit(&storm->stop, memory_order_relaxed))
		return true;
	return seen % LOOK_EVERY == 0 &&
	       tlat_gettime_ns(CLOCK_MONOTONIC) >= tlat_storm_get(storm->end_ns);
}
