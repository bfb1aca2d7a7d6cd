// SPDX-License-Identifier: MIT
/*
 * budget.c - what may be called PASS.
 *
 * A figure known exactly meets a limit or breaks it. A quantile, or a share of all values yet to
 * come, is known within bounds: it passes when even the worse bound meets the limit, fails when
 * even the better one breaks it, and is open in between. Bounds are one-sided at 95 % each, so that
 * none seen in 3 n samples passes P < 1 / n (rule of three).
 *
 * Where expiries were missed the observed figures leave out the very ones that came at a bad time:
 * a figure that meets its limit only without them is open too, and so is any where they cannot be
 * put back.
 */
#include <math.h>

#include "budget.h"
#include "report.h"

#define FEW 10 /* events that are told apart by the block they fell into */

static double ns_per_unit(const struct tlat_hist *hist)
{
	return (double)TLAT_NSEC_PER_SEC / (double)tlat_hist_hz(hist);
}

/* The last value that is not above a time. */
static int64_t value_at(double ns, double unit_ns)
{
	return (int64_t)fmin(fmax(floor(ns / unit_ns), -TLAT_BUDGET_VALUE_MAX),
			     TLAT_BUDGET_VALUE_MAX);
}

/* The lowest value that can lie behind a quantile: its bin's lower edge. */
static double low_edge(const struct tlat_hist *hist, double p)
{
	double value = tlat_hist_quantile(hist, p);
	int32_t slot = tlat_hist_slot((int64_t)fmin(floor(value), TLAT_BUDGET_VALUE_MAX));

	if (slot >= 0)
		value = (double)tlat_hist_bin_low((uint32_t)slot);
	return fmax(value, (double)tlat_hist_min(hist));
}

static void know_quantile(const struct tlat_budget_input *in, double p,
			  struct tlat_budget_known *ret)
{
	double unit_ns = ns_per_unit(in->hist);
	double tail_tau = tlat_tail_tau(in->hist, in->blocks, tlat_hist_quantile(in->hist, p));
	struct tlat_bounds bounds;

	tlat_stats_bounds(in->hist, in->blocks, p, TLAT_BUDGET_TAIL, tail_tau, &bounds);
	ret->tau = bounds.tau;
	if (bounds.p_lo > 0)
		ret->lo = low_edge(in->hist, bounds.p_lo) * unit_ns;
	if (bounds.p_hi < 1)
		ret->hi = fmax(tlat_hist_quantile(in->hist, bounds.p_hi),
			       (double)tlat_hist_quantile_bound(in->hist, bounds.p_hi)) *
			  unit_ns;
}

/* Events far apart are that many, even where samples count for less than one each. */
static double apart(const struct tlat_budget_input *in, int64_t value, double most)
{
	int32_t slot = tlat_hist_slot(value);

	if (!in->blocks)
		return 0;
	slot += value == tlat_hist_slot_last(slot);
	return fmin(fmin((double)tlat_blocks_reaching(in->blocks, slot), most), FEW);
}

static void know_above(const struct tlat_budget_input *in, double at_ns,
		       struct tlat_budget_known *ret)
{
	int64_t value = value_at(at_ns, ns_per_unit(in->hist));
	double at = (double)value, n = (double)in->n, tau, events, unused;
	double most = (double)tlat_hist_count_above(in->hist, value);
	double least = most;

	/* those in the bin of the time itself may be on either side of it */
	if (value >= tlat_hist_min(in->hist))
		least = (double)tlat_hist_count_above(in->hist,
						      tlat_hist_slot_last(tlat_hist_slot(value)));
	/* the few above cannot tell how much alike samples are; those that carry a quantile can */
	tau = fmax(tlat_stats_tau(in->blocks, at, most / n),
		   tlat_tail_tau(in->hist, in->blocks, at));
	events = fmax(most / tau, apart(in, value, most));
	tlat_stats_share(least / tau, n / tau, 1 - 2 * TLAT_BUDGET_TAIL, &ret->lo, &unused);
	tlat_stats_share(events, n / tau, 1 - 2 * TLAT_BUDGET_TAIL, &unused, &ret->hi);
	ret->above = most;
	ret->tau = tau;
}

static struct tlat_budget_known exactly(double value)
{
	return (struct tlat_budget_known){ .lo = value, .hi = value, .corrected = NAN };
}

/* The figure as it would be had every expiry been served when it was due; no bounds. */
static double corrected(const struct tlat_budget_term *term, const struct tlat_hist *hist)
{
	double unit_ns = ns_per_unit(hist);

	if (term->figure == TLAT_FIGURE_MEAN)
		return tlat_hist_mean(hist) * unit_ns;
	if (term->figure == TLAT_FIGURE_QUANTILE)
		return tlat_hist_quantile(hist, term->at) * unit_ns;
	return (double)tlat_hist_count_above(hist, value_at(term->at, unit_ns)) /
	       (double)tlat_hist_count(hist);
}

static struct tlat_budget_known know_values(const struct tlat_budget_term *term,
					    const struct tlat_budget_input *in)
{
	struct tlat_budget_known known = { .lo = -INFINITY, .hi = INFINITY, .corrected = NAN };

	if (!in->hist || !in->n || !tlat_hist_count(in->hist))
		return known;
	switch (term->figure) {
	case TLAT_FIGURE_MIN:
		return exactly((double)tlat_hist_min(in->hist) * ns_per_unit(in->hist));
	case TLAT_FIGURE_MAX:
		return exactly((double)tlat_hist_max(in->hist) * ns_per_unit(in->hist));
	case TLAT_FIGURE_MEAN:
		known = exactly(in->mean_ns);
		break;
	case TLAT_FIGURE_ABOVE:
		know_above(in, term->at, &known);
		break;
	default:
		know_quantile(in, term->at, &known);
	}
	if (in->corrected)
		known.corrected = corrected(term, in->corrected);
	known.uncorrected = in->missed && !in->corrected;
	return known;
}

static struct tlat_budget_known know(const struct tlat_budget_term *term,
				     const struct tlat_budget_input *in)
{
	switch (term->figure) {
	case TLAT_FIGURE_MISSED:
		return exactly((double)in->missed);
	case TLAT_FIGURE_EARLY:
		return exactly((double)in->early);
	case TLAT_FIGURE_OVERFLOW:
		return exactly((double)in->overflow);
	case TLAT_FIGURE_REJECTED:
		return exactly((double)in->rejected);
	case TLAT_FIGURE_DISTURBED:
		return exactly((double)in->disturbed);
	case TLAT_FIGURE_N:
		return exactly((double)in->n);
	default:
		return know_values(term, in);
	}
}

static bool meets(enum tlat_budget_op op, double value, double limit)
{
	switch (op) {
	case TLAT_OP_LESS:
		return value < limit;
	case TLAT_OP_AT_MOST:
		return value <= limit;
	case TLAT_OP_AT_LEAST:
		return value >= limit;
	case TLAT_OP_MORE:
		return value > limit;
	default:
		return value == limit;
	}
}

bool tlat_budget_is_ceiling(enum tlat_budget_op op)
{
	return op == TLAT_OP_LESS || op == TLAT_OP_AT_MOST;
}

int tlat_budget_judge_known(const struct tlat_budget_term *term,
			    const struct tlat_budget_known *known)
{
	double worse = tlat_budget_is_ceiling(term->op) ? known->hi : known->lo;
	double better = tlat_budget_is_ceiling(term->op) ? known->lo : known->hi;

	if (term->op == TLAT_OP_EQUAL) {
		if (known->lo > term->limit || known->hi < term->limit)
			return TLAT_FAIL;
		return known->lo == known->hi ? TLAT_PASS : TLAT_INCONCLUSIVE;
	}
	if (meets(term->op, worse, term->limit))
		return TLAT_PASS;
	return meets(term->op, better, term->limit) ? TLAT_INCONCLUSIVE : TLAT_FAIL;
}

bool tlat_budget_hid(const struct tlat_budget_term *term, const struct tlat_budget_known *known)
{
	return known->uncorrected ||
	       (!isnan(known->corrected) && !meets(term->op, known->corrected, term->limit));
}

static int judge(const struct tlat_budget_term *term, const struct tlat_budget_input *in,
		 const struct tlat_budget_known *known)
{
	int verdict = tlat_budget_judge_known(term, known);

	if (term->figure == TLAT_FIGURE_MAX && in->overflow)
		return TLAT_FAIL;
	/* too short a run says nothing against the machine */
	if (term->figure == TLAT_FIGURE_N && !tlat_budget_is_ceiling(term->op) &&
	    known->hi <= term->limit && verdict == TLAT_FAIL)
		return TLAT_INCONCLUSIVE;
	if (verdict == TLAT_PASS &&
	    (in->degraded || in->interrupted || !in->n || tlat_budget_hid(term, known)))
		return TLAT_INCONCLUSIVE;
	return verdict;
}

/* A wrong term anywhere is found before any is judged. */
static int check_grammar(const char *budget, struct tlat_error *reterr)
{
	struct tlat_budget_term term;
	int ret;

	do
		ret = tlat_budget_parse_term(&budget, &term, reterr);
	while (ret > 0);
	return ret;
}

int tlat_budget_eval(const char *budget, const struct tlat_budget_input *in, char *text,
		     size_t text_size, struct tlat_error *reterr)
{
	struct tlat_budget_text out = { .text = text, .size = text ? text_size : 0 };
	int verdict = TLAT_PASS, more = check_grammar(budget ? budget : "", reterr);

	if (more < 0)
		return more;
	if (!in)
		return TLAT_INCONCLUSIVE;
	do {
		struct tlat_budget_term term;
		struct tlat_budget_known known;
		int one;

		more = tlat_budget_parse_term(&budget, &term, reterr);
		known = know(&term, in);
		one = judge(&term, in, &known);
		tlat_budget_say(&out, &term, in, &known, one);
		verdict = one > verdict ? one : verdict;
	} while (more > 0);
	return verdict;
}

static struct tlat_budget_input input_of(const struct tlat_result *result)
{
	struct tlat_budget_input in = {
		.hist = result->latency,
		.blocks = result->blocks,
		.missed = result->counts.missed,
		.early = result->counts.early,
		.overflow = result->counts.overflow,
		.rejected = tlat_counts_rejected(&result->counts),
		.disturbed = tlat_counts_disturbed(&result->counts),
		.n = result->latency ? tlat_hist_count(result->latency) : 0,
		.degraded = tlat_findings_reach(&result->findings, TLAT_WARN) ||
			    (result->of_run && tlat_findings_distrust(result->of_run)),
		.interrupted = result->end == TLAT_END_SIGNAL || result->end == TLAT_END_BREAK ||
			       result->end == TLAT_END_ERROR || result->end == TLAT_END_RUNNING,
	};

	if (in.n)
		in.mean_ns = tlat_hist_mean(result->latency) * ns_per_unit(result->latency);
	return in;
}

int tlat_budget_check(const char *budget, const struct tlat_result *result, char *text,
		      size_t text_size, struct tlat_error *reterr)
{
	struct tlat_hist *hist = NULL;
	struct tlat_budget_input in;
	int verdict;

	if (!result)
		return tlat_budget_eval(budget, NULL, text, text_size, reterr);
	if (tlat_result_corrected_hist(result, &hist) == -ENOMEM)
		return tlat_fail(reterr, -ENOMEM, "no memory for what hid behind late expiries");
	in = input_of(result);
	in.corrected = hist;
	verdict = tlat_budget_eval(budget, &in, text, text_size, reterr);
	tlat_hist_free(hist);
	return verdict;
}

const char *tlat_verdict_name(int verdict)
{
	static const char *const names[] = { "PASS", "INCONCLUSIVE", "FAIL" };

	return verdict >= TLAT_PASS && verdict <= TLAT_FAIL ? names[verdict] : NULL;
}
