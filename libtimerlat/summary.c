// SPDX-License-Identifier: MIT
/*
 * summary.c - the figures of a result: what the report prints, what C callers get, and the view
 * with hidden expiries put back all come from here, so that they cannot differ.
 */
#include <math.h>

#include "report.h"

const struct tlat_quantile tlat_quantiles[TLAT_QUANTILES] = {
	{ "p50_ns", 0.5 },    { "p90_ns", 0.9 },      { "p99_ns", 0.99 },
	{ "p999_ns", 0.999 }, { "p9999_ns", 0.9999 },
};

double tlat_hist_ns(const struct tlat_hist *hist, double value)
{
	return value * (double)TLAT_NSEC_PER_SEC / (double)tlat_hist_hz(hist);
}

/* The quantile in ns; NAN where it is not supported, but for the rest of the estimate. */
static struct tlat_estimate quantile_ns(const struct tlat_hist *hist,
					const struct tlat_blocks *blocks, double p)
{
	struct tlat_estimate e;

	tlat_stats_quantile(hist, blocks, p, &e);
	e.value = e.supported ? tlat_hist_ns(hist, e.value) : NAN;
	e.lo = e.supported ? tlat_hist_ns(hist, e.lo) : NAN;
	e.hi = e.supported ? tlat_hist_ns(hist, e.hi) : NAN;
	return e;
}

void tlat_figures(const struct tlat_hist *hist, const struct tlat_blocks *blocks,
		  struct tlat_figures *ret)
{
	*ret = (struct tlat_figures){
		.n = hist ? tlat_hist_count(hist) : 0,
		.min_ns = NAN,
		.max_ns = NAN,
		.mean_ns = NAN,
		.sd_ns = NAN,
	};
	for (size_t i = 0; i < TLAT_QUANTILES; i++)
		ret->q[i] = (struct tlat_estimate){ .value = NAN, .lo = NAN, .hi = NAN };
	if (!ret->n)
		return;
	ret->min_ns = tlat_hist_ns(hist, (double)tlat_hist_min(hist));
	ret->max_ns = tlat_hist_ns(hist, (double)tlat_hist_max(hist));
	ret->mean_ns = tlat_hist_ns(hist, tlat_hist_mean(hist));
	ret->sd_ns = ret->n > 1 ? tlat_hist_ns(hist, tlat_hist_sd(hist)) : NAN;
	for (size_t i = 0; i < TLAT_QUANTILES; i++)
		ret->q[i] = quantile_ns(hist, blocks, tlat_quantiles[i].p);
}

/* Those of them that have no bin themselves, by arithmetic; *value is lowered to the last one. */
static uint64_t add_hidden_overflow(struct tlat_hist *hist, int64_t *value, int64_t period,
				    uint64_t count)
{
	int64_t steps = (*value - TLAT_HIST_VALUE_MAX - 1) / period;

	tlat_hist_add_slot(hist, TLAT_HIST_SLOT_OVERFLOW, count * (uint64_t)steps);
	*value -= steps * period;
	return count * (uint64_t)steps;
}

/*
 * Add the expiries that a value hides, value - period, value - 2 period, ... down to 0, each count
 * times; whole bins at a time, as a long stall can hide more expiries than there are bins. Returns
 * how many were added; *lowest is lowered to the smallest.
 */
static uint64_t add_hidden(struct tlat_hist *hist, int64_t value, int64_t period, uint64_t count,
			   int64_t *lowest)
{
	uint64_t added = 0;

	if (value > TLAT_HIST_VALUE_MAX)
		added = add_hidden_overflow(hist, &value, period, count);
	for (value -= period; value >= 0;) {
		uint32_t index = tlat_hist_index((uint64_t)value);
		int64_t low = (int64_t)tlat_hist_bin_low(index);
		int64_t steps = (value - low) / period + 1;

		tlat_hist_add_slot(hist, (int32_t)index, count * (uint64_t)steps);
		added += count * (uint64_t)steps;
		value -= steps * period;
	}
	value += period;
	*lowest = value < *lowest ? value : *lowest;
	return added;
}

/* Of values without a bin one is known, the largest; the others are that long at the least. */
static uint64_t add_all_hidden_by_overflow(struct tlat_hist *into, const struct tlat_hist *from,
					   int64_t period, int64_t *lowest)
{
	uint64_t count = tlat_hist_overflow(from);
	int64_t max = tlat_hist_max(from), least = TLAT_HIST_VALUE_MAX + 1;
	uint64_t added = 0;

	if (count && max >= period)
		added = add_hidden(into, max, period, 1, lowest);
	if (count > 1 && least >= period)
		added += add_hidden(into, least, period, count - 1, lowest);
	return added;
}

static int64_t add_all_hidden(struct tlat_hist *into, const struct tlat_hist *from, int64_t period)
{
	int64_t lowest = tlat_hist_min(from), max = tlat_hist_max(from);
	uint64_t added = 0;

	for (uint32_t i = 0; i < TLAT_HIST_BINS; i++) {
		uint64_t count = tlat_hist_slot_count(from, (int32_t)i);
		int64_t middle = (int64_t)(tlat_hist_bin_low(i) + (tlat_hist_bin_width(i) - 1) / 2);

		/* The largest value is known exactly. */
		middle = middle < max ? middle : max;
		if (count && middle >= period)
			added += add_hidden(into, middle, period, count, &lowest);
	}
	added += add_all_hidden_by_overflow(into, from, period, &lowest);
	tlat_hist_set_extremes(into, lowest, max);
	return (int64_t)added;
}

int64_t tlat_result_corrected_hist(const struct tlat_result *result, struct tlat_hist **ret_hist)
{
	struct tlat_hist *hist;
	int64_t period, added;

	if (result->pair || !result->counts.missed || !result->latency)
		return -ENODATA;
	period = (int64_t)((double)result->interval_ns * (double)tlat_hist_hz(result->latency) /
			   (double)TLAT_NSEC_PER_SEC);
	if (period < 1 || !tlat_hist_count(result->latency))
		return -ENODATA;
	if (tlat_hist_new(&hist, tlat_hist_hz(result->latency)) < 0)
		return -ENOMEM;
	tlat_hist_merge(hist, result->latency);
	added = add_all_hidden(hist, result->latency, period);
	*ret_hist = hist;
	return added;
}

int64_t tlat_result_corrected(const struct tlat_result *result, struct tlat_figures *ret)
{
	struct tlat_hist *hist;
	int64_t added = tlat_result_corrected_hist(result, &hist);

	if (added < 0)
		return added;
	tlat_figures(hist, NULL, ret);
	tlat_hist_free(hist);
	return added;
}

int tlat_result_uncertainty(const struct tlat_result *result, enum tlat_figure_kind kind,
			    const struct tlat_estimate *estimate_ns, struct tlat_uncertainty *ret)
{
	bool estimate = kind == TLAT_FIGURE_ESTIMATE;
	bool one_way = tlat_result_one_way(result);
	const struct tlat_uncertainty_input in = {
		.clock = result->clock,
		.offset = one_way ? &result->offset : NULL,
		.hz = result->latency ? tlat_hist_hz(result->latency) : 0,
		.slew_ppb = result->slew_ppb,
		.solo = !result->pair && !result->has_kick,
		.exact = !estimate,
		.locked = !result->clock ||
			  (double)result->dither_ns < floor(result->clock->quantum_ns),
		.value_ns = estimate_ns->value,
		.lo_ns = estimate ? estimate_ns->lo : NAN,
		.hi_ns = estimate ? estimate_ns->hi : NAN,
		.n = estimate ? estimate_ns->n_eff : 1,
	};

	if (!in.clock || !in.hz || !isfinite(in.value_ns) || (one_way && !result->has_offset))
		return -ENODATA;
	tlat_uncertainty(&in, ret);
	return 0;
}

int tlat_result_quantile_ns(const struct tlat_result *result, double p, double *ret_value_ns,
			    double *ret_lo_ns, double *ret_hi_ns)
{
	const struct tlat_hist *hist = result->latency;
	struct tlat_estimate e = { 0 };

	if (!(p > 0 && p < 1))
		return -EINVAL;
	if (hist && tlat_hist_count(hist))
		e = quantile_ns(hist, result->blocks, p);
	if (!e.supported) {
		if (ret_hi_ns)
			*ret_hi_ns = hist && tlat_hist_count(hist)
					     ? tlat_hist_ns(hist, (double)tlat_hist_max(hist))
					     : NAN;
		return -ENODATA;
	}
	if (ret_value_ns)
		*ret_value_ns = e.value;
	if (ret_lo_ns)
		*ret_lo_ns = e.lo;
	if (ret_hi_ns)
		*ret_hi_ns = e.hi;
	return 0;
}

/* The median of one of the other distributions; NAN when there is none. */
static double median_ns(const struct tlat_hist *hist)
{
	return hist && tlat_hist_count(hist) ? quantile_ns(hist, NULL, 0.5).value : NAN;
}

static void summarise_counts(const struct tlat_counts *counts, struct tlat_summary *s)
{
	s->asked = counts->asked;
	s->recorded = counts->recorded;
	s->early = counts->early;
	s->overflow = counts->overflow;
	s->missed = counts->missed;
	s->rejected = tlat_counts_rejected(counts);
	s->unfinished = counts->unfinished;
	s->disturbed = tlat_counts_disturbed(counts);
}

static void summarise_latency(const struct tlat_result *result, struct tlat_summary *s)
{
	struct tlat_uncertainty u = { .u_ns = NAN, .worst_ns = NAN };
	struct tlat_figures f;

	tlat_figures(result->latency, result->blocks, &f);
	tlat_result_uncertainty(result, TLAT_FIGURE_ESTIMATE, &f.q[0], &u);
	s->min_ns = f.min_ns;
	s->p50_ns = f.q[0].value;
	s->p90_ns = f.q[1].value;
	s->p99_ns = f.q[2].value;
	s->p999_ns = f.q[3].value;
	s->p9999_ns = f.q[4].value;
	s->max_ns = f.max_ns;
	s->mean_ns = f.mean_ns;
	s->sd_ns = f.sd_ns;
	s->u_ns = u.u_ns;
	s->worst_ns = u.worst_ns;
}

/* 0, also where there is nothing to correct, or -ENOMEM. */
static int summarise_corrected(const struct tlat_result *result, struct tlat_summary *s)
{
	struct tlat_figures f;
	int64_t added = tlat_result_corrected(result, &f);

	if (added < 0)
		return added == -ENOMEM ? -ENOMEM : 0;
	s->corrected_p50_ns = f.q[0].value;
	s->corrected_p99_ns = f.q[2].value;
	s->corrected_p999_ns = f.q[3].value;
	s->corrected_max_ns = f.max_ns;
	s->corrected_added = (uint64_t)added;
	return 0;
}

int tlat_result_summary(const struct tlat_result *result, struct tlat_summary *summary)
{
	struct tlat_summary s = {
		.call_p50_ns = median_ns(result->call),
		.floor_p50_ns = median_ns(result->floor),
		.floor_pair_p50_ns = median_ns(result->floor_pair),
		.dwell_p50_ns = median_ns(result->dwell),
		.injected_ns = result->injected ? result->injected_ns : NAN,
		.recovered_ns = result->injected ? result->recovered_ns : NAN,
		.recovered_u_ns = result->injected ? result->recovered_u_ns : NAN,
		.wait_cpu = result->wait.cpu,
		.kick_cpu = result->has_kick ? result->kick.cpu : -1,
		.policy = result->wait.policy,
		.priority = result->wait.priority,
		.settle_ns = result->settle_ns,
		.interval_ns = result->interval_ns,
		.cpu_latency_ns = result->cpu_latency_ns,
		.thread = result->thread,
		.policy_asked = result->policy_asked,
		.priority_asked = result->priority_asked,
		.slack_ns = result->wait.slack_ns,
		.runtime_ns = result->wait.runtime_ns,
		.deadline_ns = result->wait.deadline_ns,
		.period_ns = result->wait.period_ns,
		.break_ns = result->break_ns,
		.round_trip = result->round_trip,
		.target = result->target,
		.back_p50_ns = median_ns(result->back),
		.corrected_p50_ns = NAN,
		.corrected_p99_ns = NAN,
		.corrected_p999_ns = NAN,
		.corrected_max_ns = NAN,
	};

	summarise_counts(&result->counts, &s);
	summarise_latency(result, &s);
	if (summarise_corrected(result, &s) < 0)
		return -ENOMEM;
	return tlat_facts_copy(summary, &s, sizeof(s));
}
