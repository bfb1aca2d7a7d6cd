/* SPDX-License-Identifier: MIT */
/*
 * cyclictest_stats.h - what is kept of each thread's values. A value is cut to the printed unit
 * first: minimum, average, maximum and histogram are of what -v prints.
 */
#ifndef TLAT_CYCLICTEST_STATS_H
#define TLAT_CYCLICTEST_STATS_H

#include <timerlat.h>

#include "cyclictest.h"

struct tlat_cyc_thread {
	uint64_t cycles;
	int64_t min, max, last, sum; /* without a cycle: 0 */
	uint64_t early;		     /* values below 0 */
	/* histogram; NULL: none */
	uint64_t *rows, *over_at; /* cycle numbers of the first values past the last row */
	uint64_t over;
	/* the largest of the group that -o makes one of */
	uint64_t grouped, group_at;
	int64_t group_max;
	/* of the thread itself */
	int32_t tid, cpu;
	int64_t interval_us, priority;
	uint64_t missed, lost;
};

struct tlat_cyc_spike {
	int64_t value, at_us;
	int32_t thread;
};

struct tlat_cyc_stats {
	const struct tlat_cyc_config *config;
	struct tlat_cyc_thread *threads;
	int32_t n;
	struct tlat_cyc_spike *spikes;
	uint64_t n_spikes; /* all of them; the first spike_nodes were kept */
};

/* Returns 0, or -ENOMEM. Free it either way. */
int tlat_cyc_stats_init(struct tlat_cyc_stats *stats, const struct tlat_cyc_config *config,
			int32_t threads);
void tlat_cyc_stats_free(struct tlat_cyc_stats *stats);

/* In the printed unit, cut towards 0. */
int64_t tlat_cyc_value(const struct tlat_cyc_config *config, int64_t ns);

/* The smallest ns that is above a limit in printed units, less one. */
int64_t tlat_cyc_limit_ns(const struct tlat_cyc_config *config, int64_t above);

/* Take one value in. Returns it in the printed unit. */
int64_t tlat_cyc_stats_add(struct tlat_cyc_stats *stats, int32_t thread,
			   const struct tlat_sample *sample);

/*
 * Values that were not seen one by one, as the main thread did not get the CPU: count, and extremes
 * of all values in ns. Average and histogram are of the others.
 */
void tlat_cyc_stats_lost(struct tlat_cyc_stats *stats, int32_t thread, uint64_t lost,
			 int64_t min_ns, int64_t max_ns);

double tlat_cyc_average(const struct tlat_cyc_thread *thread);

#endif /* TLAT_CYCLICTEST_STATS_H */
