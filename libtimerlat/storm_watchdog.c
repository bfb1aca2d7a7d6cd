// SPDX-License-Identifier: MIT
/*
 * storm_watchdog.c - a process that kills the workers which have not ended in time. It needs
 * nothing of theirs but their pidfds, and outranks them where they are real-time.
 */
#include <sched.h>
#include <time.h>

#include "affinity.h"
#include "rt_parts.h"
#include "storm.h"

#define WAKE_NS 200000000L

static void outrank(const struct tlat_storm *storm)
{
	struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = storm->watch_priority);
	struct tlat_sched now, want;

	if (storm->house >= 0)
		tlat_affinity_pin(0, storm->house);
	if (!storm->watch_priority || tlat_sched_get(&now) < 0)
		return;
	want = tlat_sched_wanted(&opts, &now);
	tlat_sched_set(&want);
}

void tlat_storm_watch(void *arg)
{
	struct tlat_storm *storm = arg;
	uint64_t due;

	outrank(storm);
	do {
		nanosleep(&(struct timespec){ .tv_nsec = WAKE_NS }, NULL);
		due = tlat_storm_get(storm->end_ns) + storm->patience_ns;
	} while (tlat_gettime_ns(CLOCK_MONOTONIC) < due);
	for (int32_t i = 0; i < storm->n_workers; i++) {
		if (tlat_helper_ended(&storm->helpers[i], 0))
			continue;
		atomic_store(&storm->workers[i].killed, true); /* before others see it end */
		tlat_helper_kill(&storm->helpers[i]);
	}
}
