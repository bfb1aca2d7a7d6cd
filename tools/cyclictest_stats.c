// SPDX-License-Identifier: MIT
/* cyclictest_stats.c - the arithmetic of the printed figures; pure. */
#include <errno.h>
#include <stdlib.h>

#include "cyclictest_stats.h"

#define UNIT_NS 1000

int tlat_cyc_stats_init(struct tlat_cyc_stats *stats, const struct tlat_cyc_config *config,
			int32_t threads)
{
	size_t rows = (size_t)config->rows;

	*stats = (struct tlat_cyc_stats){ .config = config };
	stats->threads = calloc((size_t)threads, sizeof(*stats->threads));
	if (!stats->threads)
		return -ENOMEM;
	stats->n = threads;
	for (int32_t i = 0; rows && i < threads; i++) {
		stats->threads[i].rows = calloc(rows, sizeof(*stats->threads[i].rows));
		stats->threads[i].over_at = calloc(rows, sizeof(*stats->threads[i].over_at));
		if (!stats->threads[i].rows || !stats->threads[i].over_at)
			return -ENOMEM;
	}
	if (config->spike_above > 0)
		stats->spikes = calloc((size_t)config->spike_nodes, sizeof(*stats->spikes));
	return config->spike_above > 0 && !stats->spikes ? -ENOMEM : 0;
}

void tlat_cyc_stats_free(struct tlat_cyc_stats *stats)
{
	for (int32_t i = 0; i < stats->n; i++) {
		free(stats->threads[i].rows);
		free(stats->threads[i].over_at);
	}
	free(stats->threads);
	free(stats->spikes);
}

int64_t tlat_cyc_value(const struct tlat_cyc_config *config, int64_t ns)
{
	return config->nsecs ? ns : ns / UNIT_NS;
}

int64_t tlat_cyc_limit_ns(const struct tlat_cyc_config *config, int64_t above)
{
	return config->nsecs ? above : (above + 1) * UNIT_NS - 1;
}

static void add_row(struct tlat_cyc_thread *thread, int64_t rows, int64_t value)
{
	if (value < rows) {
		thread->rows[value < 0 ? 0 : value]++;
		return;
	}
	if (thread->over < (uint64_t)rows)
		thread->over_at[thread->over] = thread->cycles;
	thread->over++;
}

static void add_spike(struct tlat_cyc_stats *stats, int32_t thread, int64_t value,
		      const struct tlat_sample *sample)
{
	if (stats->n_spikes < (uint64_t)stats->config->spike_nodes)
		stats->spikes[stats->n_spikes] = (struct tlat_cyc_spike){
			value, (sample->at_ns + sample->value_ns) / UNIT_NS, thread
		};
	stats->n_spikes++;
}

int64_t tlat_cyc_stats_add(struct tlat_cyc_stats *stats, int32_t thread,
			   const struct tlat_sample *sample)
{
	const struct tlat_cyc_config *config = stats->config;
	struct tlat_cyc_thread *t = &stats->threads[thread];
	int64_t value = tlat_cyc_value(config, sample->value_ns);

	if (!t->cycles || value < t->min)
		t->min = value;
	if (!t->cycles || value > t->max)
		t->max = value;
	t->last = value;
	t->sum += value;
	t->early += sample->value_ns < 0;
	if (t->rows)
		add_row(t, config->rows, value);
	if (config->spike_above > 0 && value > config->spike_above)
		add_spike(stats, thread, value, sample);
	t->cycles++;
	return value;
}

void tlat_cyc_stats_lost(struct tlat_cyc_stats *stats, int32_t thread, uint64_t lost,
			 int64_t min_ns, int64_t max_ns)
{
	struct tlat_cyc_thread *t = &stats->threads[thread];

	if (!lost)
		return;
	t->lost = lost;
	t->min = tlat_cyc_value(stats->config, min_ns);
	t->max = tlat_cyc_value(stats->config, max_ns);
}

double tlat_cyc_average(const struct tlat_cyc_thread *thread)
{
	return thread->cycles ? (double)thread->sum / (double)thread->cycles : 0;
}
