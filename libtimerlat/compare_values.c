// SPDX-License-Identifier: MIT
/*
 * compare_values.c - from the distributions of runs to one row of logarithms for each unit.
 *
 * A quantity that not every run can carry is left out for all. The thresholds that exceedances are
 * counted above come from all runs of both sides together, so that neither side has a share in
 * choosing them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define DWELL_RATIO  1.1 /* closed loops with dwells further apart measure different things */
#define LENGTH_RATIO 1.1 /* runs that are no further apart are of one length */
#define NAME_BYTES   sizeof(((struct tlat_item *)0)->name)

static const double tail_quantiles[] = { 0.9, 0.99, 0.999, 0.9999 };
static const double rate_quantiles[] = { 0.99, 0.999 };
static const double shift_quantiles[] = { 0.01, 0.05, 0.1,  0.25,  0.5,	  0.75,
					  0.9,	0.95, 0.99, 0.999, 0.9999 };

enum source { FROM_QUANTILE, FROM_RATE, FROM_MAX, FROM_SPREAD };

/* How a quantity is had from a histogram. */
struct recipe {
	enum source source;
	double quantile;
	int64_t above; /* unit of the histogram */
};

struct plan {
	struct recipe recipes[3 * TLAT_FAMILY_MAX];
	uint64_t fewest;		    /* samples of the smallest run */
	const struct tlat_result **results; /* of each member */
};

double tlat_ln_ns(double value_ns)
{
	return value_ns > 0 ? log(value_ns) : (double)NAN;
}

static double quantile_ns(const struct tlat_hist *hist, double p)
{
	return tlat_hist_ns(hist, tlat_hist_quantile(hist, p));
}

static double rate(const struct tlat_hist *hist, int64_t above)
{
	return ((double)tlat_hist_count_above(hist, above) + 0.5) /
	       ((double)tlat_hist_count(hist) + 1);
}

static double measure(const struct recipe *recipe, const struct tlat_hist *hist)
{
	switch (recipe->source) {
	case FROM_QUANTILE:
		return tlat_ln_ns(quantile_ns(hist, recipe->quantile));
	case FROM_RATE:
		return log(rate(hist, recipe->above));
	case FROM_MAX:
		return tlat_ln_ns(tlat_hist_ns(hist, (double)tlat_hist_max(hist)));
	case FROM_SPREAD:
		return tlat_ln_ns(quantile_ns(hist, 0.75) - quantile_ns(hist, 0.25));
	}
	return NAN;
}

static void add(struct tlat_item *item, struct plan *plan, const char *name,
		enum tlat_compare_role role, double threshold, struct recipe recipe)
{
	size_t k = item->units.k++;
	struct tlat_quantity *q = &item->quantities[k];

	snprintf(q->name, sizeof(q->name), "%s", name);
	q->role = role;
	q->unit = recipe.source == FROM_RATE ? "1" : "ns";
	q->quantile = recipe.source == FROM_QUANTILE ? recipe.quantile : (double)NAN;
	q->pooled = recipe.source == FROM_RATE ? recipe.quantile : (double)NAN;
	q->threshold = threshold;
	plan->recipes[k] = recipe;
}

static bool carries(const struct plan *plan, double p)
{
	return plan->fewest >= tlat_stats_needed(p > 0.5 ? p : 1 - p);
}

static void add_quantile(struct tlat_item *item, struct plan *plan, double p,
			 enum tlat_compare_role role)
{
	char name[24];

	tlat_format(name, sizeof(name), "p%.8g", p * 100);
	if (carries(plan, p))
		add(item, plan, name, role, item->rules.threshold,
		    (struct recipe){ FROM_QUANTILE, p, 0 });
}

static void add_rate(struct tlat_item *item, struct plan *plan, double p,
		     const struct tlat_hist *pooled)
{
	double units = tlat_hist_quantile(pooled, p), ns = tlat_hist_ns(pooled, units);
	char name[40];

	if (!carries(plan, p))
		return;
	tlat_format(name, sizeof(name), ns < 1000 ? "rate>%.4gns" : "rate>%.4gus",
		    ns < 1000 ? ns : ns / 1000);
	add(item, plan, name, TLAT_COMPARE_TAIL, item->rules.tail_threshold,
	    (struct recipe){ FROM_RATE, p, (int64_t)units });
}

static void choose_quantities(struct tlat_item *item, struct plan *plan,
			      const struct tlat_hist *pooled, bool with_max)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(tail_quantiles); i++)
		add_quantile(item, plan, tail_quantiles[i], TLAT_COMPARE_TAIL);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(rate_quantiles); i++)
		add_rate(item, plan, rate_quantiles[i], pooled);
	if (with_max)
		add(item, plan, "max", TLAT_COMPARE_TAIL, item->rules.tail_threshold,
		    (struct recipe){ FROM_MAX, 1, 0 });
	if (carries(plan, 0.75))
		add(item, plan, "spread", TLAT_COMPARE_TAIL, item->rules.tail_threshold,
		    (struct recipe){ FROM_SPREAD, 0.75, 0 });
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(shift_quantiles); i++)
		add_quantile(item, plan, shift_quantiles[i], TLAT_COMPARE_SHIFT);
}

/* Of its kind, and as the others of its side. */
static int check_run(const struct plan *plan, const struct tlat_members *m, size_t i,
		     const char *name, struct tlat_error *reterr)
{
	const struct tlat_result *result = plan->results[i];
	size_t of_side = tlat_member_first(m, m->v[i].side);

	return tlat_compare_fits(m, i, plan->results[0], plan->results[of_side], result, name,
				 reterr);
}

static int gather(struct plan *plan, const struct tlat_members *m, const char *probe,
		  size_t ordinal, const char *name, bool forced, struct tlat_error *reterr)
{
	plan->fewest = UINT64_MAX;
	for (size_t i = 0; i < m->n; i++) {
		const struct tlat_result *result =
			tlat_member_result(m->v[i].report, probe, ordinal);
		uint64_t n = result && result->latency ? tlat_hist_count(result->latency) : 0;
		int ret;

		if (!n)
			return tlat_fail(reterr, -EINVAL,
					 "%s: run %zu of %zu has no sample of it; measure it "
					 "again, or leave it out",
					 name, i + 1, m->n);
		plan->results[i] = result;
		plan->fewest = n < plan->fewest ? n : plan->fewest;
		ret = forced ? 0 : check_run(plan, m, i, name, reterr);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int pool(struct plan *plan, const struct tlat_members *m, const char *name,
		struct tlat_hist **ret_pooled, struct tlat_error *reterr)
{
	struct tlat_hist *pooled;

	if (tlat_hist_new(&pooled, tlat_hist_hz(plan->results[0]->latency)) < 0)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	for (size_t i = 0; i < m->n; i++)
		if (tlat_hist_merge(pooled, plan->results[i]->latency) < 0) {
			tlat_hist_free(pooled);
			return tlat_fail(
				reterr, -EINVAL,
				"%s: a unit of %llu Hz and one of %llu Hz, more than 100 ppm "
				"apart; measure both sides with the same --clock",
				name, (unsigned long long)tlat_hist_hz(plan->results[0]->latency),
				(unsigned long long)tlat_hist_hz(plan->results[i]->latency));
		}
	*ret_pooled = pooled;
	return 0;
}

static double median_ns(const struct tlat_hist *hist)
{
	return hist && tlat_hist_count(hist) ? quantile_ns(hist, 0.5) : (double)NAN;
}

/* The mean over a side of what a function says of each result; NAN: not known. */
static double side_mean(const struct plan *plan, const struct tlat_members *m, int side,
			double (*of)(const struct tlat_result *))
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].side == side) {
			sum += of(plan->results[i]);
			n++;
		}
	return sum / (double)n;
}

static double dwell_of(const struct tlat_result *result)
{
	return median_ns(result->dwell);
}

/* How far the offset can be from 0; infinite: not known; 0: stamps on one clock. */
static double offset_of(const struct tlat_result *result)
{
	if (!tlat_result_one_way(result))
		return 0;
	if (!result->has_offset)
		return (double)INFINITY;
	return fmax(fabs(result->offset.lo_ns), fabs(result->offset.hi_ns));
}

static int check_dwell(const struct plan *plan, const struct tlat_members *m, const char *name,
		       bool forced, struct tlat_findings *notes, struct tlat_error *reterr)
{
	double a = side_mean(plan, m, TLAT_BASE, dwell_of);
	double b = side_mean(plan, m, TLAT_NEXT, dwell_of);
	bool apart = a > 0 && b > 0 && fmax(a / b, b / a) > DWELL_RATIO;

	if (!apart)
		return 0;
	if (!plan->results[0]->interval_ns && !forced)
		return tlat_fail(reterr, -EINVAL,
				 "%s: the waiter had slept %.1f us on one side and %.1f us on the "
				 "other before a kick; with dwells that far apart a closed loop "
				 "measures different things: give both sides an interval (-i), or "
				 "--force for figures without a verdict",
				 name, a / 1000, b / 1000);
	tlat_findings_add(notes, TLAT_INFO, "dwell-differs", NULL,
			  "%s: the waiter had slept %.1f us on one side and %.1f us on the other",
			  name, a / 1000, b / 1000);
	return 0;
}

static double samples_of(const struct tlat_result *result)
{
	return (double)tlat_hist_count(result->latency);
}

static double duration_of(const struct tlat_result *result)
{
	return (double)result->duration_ns;
}

/* Whether a function says about the same of all runs; limit: how far apart, as a logarithm. */
static bool all_about_same(const struct plan *plan, const struct tlat_members *m, double limit,
			   double (*of)(const struct tlat_result *))
{
	double least = (double)INFINITY, most = 0;

	for (size_t i = 0; i < m->n; i++) {
		least = fmin(least, of(plan->results[i]));
		most = fmax(most, of(plan->results[i]));
	}
	return tlat_about_same(least, most, limit);
}

/*
 * Whether all runs looked for as long, or as often: else the largest value of the longer ones is
 * larger by that alone, the more so the longer the tail.
 */
static bool same_length(const struct tlat_item *item, const struct plan *plan,
			const struct tlat_members *m, struct tlat_findings *notes)
{
	double limit = fmin(log(LENGTH_RATIO), item->rules.tail_threshold);

	if (all_about_same(plan, m, limit, samples_of) ||
	    all_about_same(plan, m, limit, duration_of))
		return true;
	tlat_note_lack(notes, TLAT_UNEQUAL_TIMES, item->name, "max");
	return false;
}

static int fill(struct tlat_item *item, const struct plan *plan, const struct tlat_members *m,
		struct tlat_error *reterr)
{
	struct tlat_units *u = &item->units;
	const struct recipe median = { FROM_QUANTILE, 0.5, 0 };

	for (size_t i = 0; i < m->n; i++) {
		const struct tlat_hist *hist = plan->results[i]->latency;
		double share = 1 / (double)tlat_member_runs(m, i), first = measure(&median, hist);
		double *row = u->value[m->v[i].side] + m->v[i].unit * u->k;

		if (isnan(first))
			return tlat_fail(reterr, -EINVAL,
					 "%s: the median of a run is %.1f ns, and ratios need "
					 "figures above 0; see its clock and offset",
					 item->name, quantile_ns(hist, 0.5));
		u->first[m->v[i].side][m->v[i].unit] += share * first;
		for (size_t j = 0; j < u->k; j++)
			row[j] += share * measure(&plan->recipes[j], hist);
	}
	return 0;
}

/* A quantity that is not above 0 in every run is no ratio: it goes. */
static void drop_unusable(struct tlat_units *u, struct tlat_quantity *quantities)
{
	for (size_t j = u->k; j-- > 0;) {
		bool usable = true;

		for (int side = 0; side < TLAT_SIDES; side++)
			for (size_t i = 0; i < u->n[side]; i++)
				usable &= isfinite(u->value[side][i * u->k + j]) != 0;
		if (usable)
			continue;
		for (int side = 0; side < TLAT_SIDES; side++)
			for (size_t i = 0, to = 0; i < u->n[side] * u->k; i++)
				if (i % u->k != j)
					u->value[side][to++] = u->value[side][i];
		memmove(&quantities[j], &quantities[j + 1], (u->k - j - 1) * sizeof(*quantities));
		u->k--;
	}
}

/* One unit on a side: all that can be told is what the samples of these runs leave open. */
static double within_runs(const struct plan *plan, const struct tlat_members *m)
{
	double sum = 0;

	for (int side = 0; side < TLAT_SIDES; side++) {
		double widest = 0;

		for (size_t i = 0; i < m->n; i++) {
			struct tlat_estimate e;

			if (m->v[i].side != side)
				continue;
			tlat_stats_quantile(plan->results[i]->latency, plan->results[i]->blocks,
					    0.5, &e);
			widest = fmax(widest, e.supported && e.lo > 0 ? log(e.hi / e.lo) / 2
								      : (double)INFINITY);
		}
		sum += widest * widest;
	}
	return sqrt(sum);
}

static void name_item(struct tlat_item *item, const struct tlat_result *result)
{
	if (!result->has_kick && result->wait.cpu < 0) /* a sum over several */
		snprintf(item->name, NAME_BYTES, "%s", result->probe);
	else if (!result->has_kick)
		snprintf(item->name, NAME_BYTES, "%s %d", result->probe, (int)result->wait.cpu);
	else
		snprintf(item->name, NAME_BYTES, "%s %d->%d%s", result->probe,
			 (int)result->kick.cpu, (int)result->wait.cpu,
			 result->round_trip ? "->back" : "");
}

static int analyse(struct tlat_item *item, struct plan *plan, const struct tlat_members *m,
		   struct tlat_findings *notes, struct tlat_error *reterr)
{
	double ns =
		side_mean(plan, m, TLAT_BASE, offset_of) + side_mean(plan, m, TLAT_NEXT, offset_of);
	int ret;

	drop_unusable(&item->units, item->quantities);
	tlat_item_medians(item);
	/* Within a boot it cancels, if the counters agree: nothing says so where it is not known.
	 */
	if (m->by_boot || !isfinite(ns))
		item->offset_ns = ns;
	if (m->n_units[TLAT_BASE] < 2 || m->n_units[TLAT_NEXT] < 2)
		item->within = within_runs(plan, m);
	ret = tlat_compare_measure(&item->units, &item->rules, &item->outcome, item->found);
	if (!ret)
		ret = tlat_compare_noise(item, m, plan->results, notes);
	if (!ret)
		ret = tlat_compare_drift(item, m);
	return ret < 0 ? tlat_fail(reterr, ret, "out of memory") : 0;
}

static int prepare(struct tlat_item *item, struct plan *plan, const struct tlat_members *m,
		   struct tlat_findings *notes, struct tlat_error *reterr)
{
	struct tlat_hist *pooled = NULL;
	int ret = check_dwell(plan, m, item->name, item->forced, notes, reterr);

	if (!ret)
		ret = pool(plan, m, item->name, &pooled, reterr);
	if (ret < 0)
		return ret;
	choose_quantities(item, plan, pooled, item->forced || same_length(item, plan, m, notes));
	tlat_hist_free(pooled);
	if (tlat_units_allocate(&item->units, m) < 0)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	return fill(item, plan, m, reterr);
}

int tlat_compare_latency(struct tlat_item *item, const struct tlat_members *m, const char *probe,
			 size_t ordinal, struct tlat_findings *notes, struct tlat_error *reterr)
{
	/* pointers: NOLINTNEXTLINE(bugprone-sizeof-expression) */
	struct plan plan = { .results = calloc(m->n + 1, sizeof(*plan.results)) };
	const struct tlat_result *first = tlat_member_result(m->v[0].report, probe, ordinal);
	int ret;

	snprintf(item->name, NAME_BYTES, "%s", probe);
	strcpy(item->metric, "p50");
	strcpy(item->unit, "ns");
	item->units.better = -1;
	item->units.quantities = item->quantities;
	item->within = NAN;
	if (!plan.results)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	if (first)
		name_item(item, first);
	ret = gather(&plan, m, probe, ordinal, item->name, item->forced, reterr);
	if (!ret)
		tlat_compare_losses(item, m, plan.results, notes);
	if (!ret)
		ret = prepare(item, &plan, m, notes, reterr);
	if (!ret)
		ret = analyse(item, &plan, m, notes, reterr);
	free(plan.results);
	return ret;
}
