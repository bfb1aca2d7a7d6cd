// SPDX-License-Identifier: MIT
/* compare_within.c - what happened inside of the runs: time blocks tell drifts and levels of noise.
 */
#include <math.h>
#include <stdlib.h>

#include "compare.h"

static double block_median(const struct tlat_blocks *blocks, size_t i, const struct tlat_hist *hist)
{
	double half = (double)tlat_blocks_samples(blocks, i) / 2, sum = 0;
	struct tlat_block_bin bin;
	size_t cursor = 0;

	while (tlat_blocks_next(blocks, i, &cursor, &bin)) {
		double middle;

		sum += (double)bin.count;
		if (sum < half)
			continue;
		if (bin.index < 0 || bin.index >= TLAT_HIST_BINS)
			return NAN;
		/* Where in the bin the middle one lies, all being spread evenly over it. */
		middle = 1 - (sum - half) / (double)bin.count;
		return tlat_ln_ns(tlat_hist_ns(
			hist, (double)tlat_hist_bin_low((uint32_t)bin.index) +
				      middle * (double)tlat_hist_bin_width((uint32_t)bin.index)));
	}
	return NAN;
}

/* What the runs of a sum differ by is within none of them. */
static void level_runs(const int32_t *run, double *v, size_t n)
{
	double whole = tlat_mean(v, n);

	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		double shift;

		while (end < n && run[end] == run[begin])
			end++;
		shift = whole - tlat_mean(v + begin, end - begin);
		for (size_t i = begin; i < end; i++)
			v[i] += shift;
	}
}

/* Medians of the blocks of one result that have one; returns how many. */
static size_t block_medians(const struct tlat_result *result, double *v)
{
	size_t count = result->blocks ? tlat_blocks_count(result->blocks) : 0, n = 0;
	int32_t run[TLAT_BLOCKS_MAX];

	for (size_t i = 0; i < count; i++) {
		v[n] = block_median(result->blocks, i, result->latency);
		run[n] = tlat_blocks_run(result->blocks, i);
		n += !isnan(v[n]);
	}
	level_runs(run, v, n);
	return n;
}

#define TREND_P	    0.001
#define TREND_TOTAL 0.01 /* of the median, over a run */

/* Within runs: levels of noise, and which runs were not stationary. */
int tlat_compare_noise(struct tlat_item *item, const struct tlat_members *m,
		       const struct tlat_result *const *results, struct tlat_findings *notes)
{
	double *v = calloc(m->n * TLAT_BLOCKS_MAX + 1, sizeof(*v));
	const double **blocks = calloc(m->n + 1, sizeof(*blocks));
	size_t *n_blocks = calloc(2 * m->n + 1, sizeof(*n_blocks)), drifting = 0;
	struct tlat_trend trend;
	int ret = v && blocks && n_blocks ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < m->n; i++) {
		double *own = v + i * TLAT_BLOCKS_MAX;
		double shift = m->v[i].side == TLAT_NEXT ? item->outcome.location.estimate : 0;

		n_blocks[i] = block_medians(results[i], own);
		ret = tlat_trend(own, n_blocks[i], &trend);
		drifting += trend.p < TREND_P && fabs(trend.total) > TREND_TOTAL;
		/* What the sides differ by is no noise. */
		for (size_t b = 0; b < n_blocks[i]; b++)
			own[b] -= shift;
		blocks[i] = own;
		n_blocks[m->n + i] = m->v[i].group;
	}
	if (!ret)
		tlat_levels(blocks, n_blocks, n_blocks + m->n, m->n, &item->levels);
	if (drifting)
		tlat_findings_add(notes, TLAT_INFO, "not-stationary", "measure longer, or warm up",
				  "%s: the median moved by more than 1 %% within %zu of %zu runs",
				  item->name, drifting, m->n);
	free(v);
	free(blocks);
	free(n_blocks);
	return ret;
}
