// SPDX-License-Identifier: MIT
/*
 * result_sum.c - results of one probe added up, whether they are of several runs or of the threads
 * of one. Histograms add up exactly.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define FEW_BLOCKS 8 /* fewer hardly show whether samples come in clusters */

int tlat_hist_add_side(struct tlat_hist **into, const struct tlat_hist *from)
{
	if (!*into)
		return 0;
	if (from)
		return tlat_hist_merge(*into, from);
	tlat_hist_free(*into);
	*into = NULL;
	return 0;
}

static void merge_counts(struct tlat_counts *into, const struct tlat_counts *from)
{
	uint64_t *to = (uint64_t *)into;
	const uint64_t *add = (const uint64_t *)from;

	static_assert(sizeof(*into) % sizeof(*to) == 0, "counts are nothing but counters");
	for (size_t i = 0; i < sizeof(*into) / sizeof(*to); i++)
		to[i] += add[i];
}

static int descending(const void *a, const void *b)
{
	const struct tlat_outlier *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

/* What came from a time on, and before another. One that is past its end, as blocks are cut at
 * about their length, is not to be in the run that follows. */
static void place_outliers(struct tlat_outlier *v, size_t n, int64_t begin_ns, int64_t end_ns)
{
	for (size_t i = 0; i < n; i++) {
		int64_t t_ns = v[i].t_ns > 0 ? v[i].t_ns : 0;

		v[i].t_ns = t_ns < end_ns - begin_ns ? begin_ns + t_ns : end_ns - 1;
	}
}

/* The largest of both; backwards, they are the min-heap that a result has. */
static int merge_outliers(struct tlat_result *into, const struct tlat_result *from,
			  const struct tlat_stretch *stretch)
{
	struct tlat_outlier all[2 * TLAT_OUTLIERS_MAX];
	struct tlat_outliers *to = into->outliers;
	size_t n;

	if (to && stretch)
		place_outliers(to->v, to->n, 0, stretch->begin_ns);
	if (!from->outliers)
		return 0;
	if (!to)
		to = into->outliers = calloc(1, sizeof(*to));
	if (!to)
		return -ENOMEM;
	n = to->n + from->outliers->n;
	memcpy(all, to->v, to->n * sizeof(*all));
	memcpy(all + to->n, from->outliers->v, from->outliers->n * sizeof(*all));
	if (stretch)
		place_outliers(all + to->n, n - to->n, stretch->begin_ns, stretch->end_ns);
	qsort(all, n, sizeof(*all), descending);
	to->n = n < TLAT_OUTLIERS_MAX ? n : TLAT_OUTLIERS_MAX;
	for (size_t i = 0; i < to->n; i++)
		to->v[to->n - 1 - i] = all[i];
	return 0;
}

static void merge_offset(struct tlat_result *into, const struct tlat_result *from)
{
	into->has_offset &= from->has_offset;
	if (from->offset.lo_ns < into->offset.lo_ns)
		into->offset.lo_ns = from->offset.lo_ns;
	if (from->offset.hi_ns > into->offset.hi_ns)
		into->offset.hi_ns = from->offset.hi_ns;
}

/* The ticks of both count by the rate of into from now on. */
static void widen_clock(struct tlat_result *into, const struct tlat_result *from)
{
	double hz = (double)tlat_hist_hz(into->latency);

	if (into->clock && from->clock) {
		tlat_calibration_widen(into->clock, from->clock,
				       fabs((double)tlat_hist_hz(from->latency) - hz) / hz);
	} else {
		free(into->clock);
		into->clock = NULL;
	}
	if (from->slew_ppb > into->slew_ppb)
		into->slew_ppb = from->slew_ppb;
	if (from->dither_ns < into->dither_ns)
		into->dither_ns = from->dither_ns;
}

static void keep_common_side(struct tlat_side_facts *into, const struct tlat_side_facts *from)
{
	if (into->cpu != from->cpu)
		into->cpu = -1;
	if (into->tid != from->tid)
		into->tid = 0;
}

static void keep_common_place(struct tlat_result *into, const struct tlat_result *from)
{
	keep_common_side(&into->wait, &from->wait);
	keep_common_side(&into->kick, &from->kick);
	if (into->relation != from->relation)
		into->relation = NULL;
}

void tlat_result_forget(struct tlat_result *result)
{
	tlat_document_free(result->document);
	result->document = NULL;
	tlat_watch_delta_free(result->watch);
	result->watch = NULL;
	result->injected = false;
}

static int add_distributions(struct tlat_result *into, const struct tlat_result *from)
{
	int ret = tlat_hist_merge(into->latency, from->latency);

	if (!ret)
		ret = tlat_hist_add_side(&into->call, from->call);
	if (!ret)
		ret = tlat_hist_add_side(&into->back, from->back);
	if (!ret)
		ret = tlat_hist_add_side(&into->dwell, from->dwell);
	return ret;
}

int tlat_result_add(struct tlat_result *into, const struct tlat_result *from,
		    const struct tlat_stretch *stretch)
{
	int ret = add_distributions(into, from);

	if (!ret)
		ret = merge_outliers(into, from, stretch);
	if (ret < 0)
		return ret;
	merge_counts(&into->counts, &from->counts);
	merge_offset(into, from);
	widen_clock(into, from);
	keep_common_place(into, from);
	into->warmup += from->warmup;
	into->rests += from->rests;
	if (from->end > into->end)
		into->end = from->end;
	tlat_findings_copy(&into->findings, &from->findings);
	return 0;
}

/* Intervals and what rests on independent samples come from the blocks. */
void tlat_find_few_blocks(struct tlat_result *result)
{
	double n = result->blocks ? ceil(tlat_stats_blocks(result->blocks) - 1e-6) : 0;

	tlat_findings_drop(&result->findings, "few-blocks");
	if (n >= FEW_BLOCKS || tlat_hist_count(result->latency) < tlat_stats_needed(0.5))
		return;
	tlat_findings_add(
		&result->findings, TLAT_INFO, "few-blocks",
		"measure longer (-d, -n), or merge more reports",
		"samples can be told apart by %.0f blocks of time only: whether they come "
		"in clusters is hardly known, and intervals may be too narrow",
		n);
}
