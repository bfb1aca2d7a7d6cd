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
 *
 * Text is the same in every locale: numbers are written from integers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "budget.h"
#include "report.h"

#define TAIL	  0.05 /* with what probability each bound is wrong */
#define VALUE_MAX 4e18 /* histogram values that fit an int64_t */
#define FEW	  10   /* events that are told apart by the block they fell into */

/* What is known of a figure, in the unit of its limit; infinite: no bound on that side. */
struct known {
	double lo, hi;
	double above;	  /* ABOVE: how many samples were */
	double tau;	  /* QUANTILE, ABOVE: how many samples count as one */
	double corrected; /* QUANTILE, ABOVE, MEAN: with what was missed; NAN: nothing to add */
	bool uncorrected; /* these: something was missed, how late is not known */
};

struct out {
	char *text;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *out, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = tlat_vformat(out->size ? out->text + out->used : NULL, out->size - out->used,
			      format, args);
	va_end(args);
	if (length > 0 && out->size)
		out->used = out->used + (size_t)length < out->size ? out->used + (size_t)length
								   : out->size - 1;
}

static long long rounded(double value)
{
	return llround(fmin(fmax(value, -VALUE_MAX), VALUE_MAX));
}

/* scaled / 10^decimals, without zeros at the end. */
static void put_decimal(struct out *out, long long scaled, int decimals)
{
	long long unit = 1;

	for (int i = 0; i < decimals; i++)
		unit *= 10;
	for (; decimals && scaled % 10 == 0; decimals--) {
		scaled /= 10;
		unit /= 10;
	}
	put(out, "%s%lld", scaled < 0 ? "-" : "", llabs(scaled / unit));
	if (decimals)
		put(out, ".%0*lld", decimals, llabs(scaled % unit));
}

static void put_time(struct out *out, double ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	size_t i = 0;

	while (i + 1 < TLAT_ARRAY_SIZE(units) && fabs(ns) >= units[i + 1].ns)
		i++;
	put_decimal(out, rounded(ns / units[i].ns * 1000), 3);
	put(out, " %s", ns == 0 ? "ns" : units[i].name);
}

static void put_share(struct out *out, double share)
{
	int exponent;
	long long digits;

	if (share == 0 || share >= 0.001) {
		put_decimal(out, llround(share * 1e6), 6);
		return;
	}
	exponent = (int)floor(log10(share));
	digits = llround(share / pow(10, exponent) * 1000);
	if (digits == 10000) {
		digits = 1000;
		exponent++;
	}
	put_decimal(out, digits, 3);
	put(out, "e%d", exponent);
}

static void put_value(struct out *out, const struct tlat_budget_term *term, double value)
{
	if (term->unit == TLAT_BUDGET_TIME)
		put_time(out, value);
	else if (term->unit == TLAT_BUDGET_SHARE)
		put_share(out, value);
	else
		put_decimal(out, rounded(value), 0);
}

static double ns_per_unit(const struct tlat_hist *hist)
{
	return (double)TLAT_NSEC_PER_SEC / (double)tlat_hist_hz(hist);
}

/* The last value that is not above a time. */
static int64_t value_at(double ns, double unit_ns)
{
	return (int64_t)fmin(fmax(floor(ns / unit_ns), -VALUE_MAX), VALUE_MAX);
}

/* The lowest value that can lie behind a quantile: its bin's lower edge. */
static double low_edge(const struct tlat_hist *hist, double p)
{
	double value = tlat_hist_quantile(hist, p);
	int32_t slot = tlat_hist_slot((int64_t)fmin(floor(value), VALUE_MAX));

	if (slot >= 0)
		value = (double)tlat_hist_bin_low((uint32_t)slot);
	return fmax(value, (double)tlat_hist_min(hist));
}

static void know_quantile(const struct tlat_budget_input *in, double p, struct known *ret)
{
	double unit_ns = ns_per_unit(in->hist);
	double tail_tau = tlat_tail_tau(in->hist, in->blocks, tlat_hist_quantile(in->hist, p));
	struct tlat_bounds bounds;

	tlat_stats_bounds(in->hist, in->blocks, p, TAIL, tail_tau, &bounds);
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

static void know_above(const struct tlat_budget_input *in, double at_ns, struct known *ret)
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
	tlat_stats_share(least / tau, n / tau, 1 - 2 * TAIL, &ret->lo, &unused);
	tlat_stats_share(events, n / tau, 1 - 2 * TAIL, &unused, &ret->hi);
	ret->above = most;
	ret->tau = tau;
}

static struct known exactly(double value)
{
	return (struct known){ .lo = value, .hi = value, .corrected = NAN };
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

static struct known know_values(const struct tlat_budget_term *term,
				const struct tlat_budget_input *in)
{
	struct known known = { .lo = -INFINITY, .hi = INFINITY, .corrected = NAN };

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

static struct known know(const struct tlat_budget_term *term, const struct tlat_budget_input *in)
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

/* Whether the limit is one to stay below, so that the upper bound is the worse one. */
static bool is_ceiling(enum tlat_budget_op op)
{
	return op == TLAT_OP_LESS || op == TLAT_OP_AT_MOST;
}

static int judge_known(const struct tlat_budget_term *term, const struct known *known)
{
	double worse = is_ceiling(term->op) ? known->hi : known->lo;
	double better = is_ceiling(term->op) ? known->lo : known->hi;

	if (term->op == TLAT_OP_EQUAL) {
		if (known->lo > term->limit || known->hi < term->limit)
			return TLAT_FAIL;
		return known->lo == known->hi ? TLAT_PASS : TLAT_INCONCLUSIVE;
	}
	if (meets(term->op, worse, term->limit))
		return TLAT_PASS;
	return meets(term->op, better, term->limit) ? TLAT_INCONCLUSIVE : TLAT_FAIL;
}

/* Whether it was the missed expiries that let the figure meet its limit, or may have been. */
static bool hid(const struct tlat_budget_term *term, const struct known *known)
{
	return known->uncorrected ||
	       (!isnan(known->corrected) && !meets(term->op, known->corrected, term->limit));
}

static int judge(const struct tlat_budget_term *term, const struct tlat_budget_input *in,
		 const struct known *known)
{
	int verdict = judge_known(term, known);

	if (term->figure == TLAT_FIGURE_MAX && in->overflow)
		return TLAT_FAIL;
	/* too short a run says nothing against the machine */
	if (term->figure == TLAT_FIGURE_N && !is_ceiling(term->op) && known->hi <= term->limit &&
	    verdict == TLAT_FAIL)
		return TLAT_INCONCLUSIVE;
	if (verdict == TLAT_PASS && (in->degraded || in->interrupted || !in->n || hid(term, known)))
		return TLAT_INCONCLUSIVE;
	return verdict;
}

static void put_term(struct out *out, const struct tlat_budget_term *term)
{
	static const char *const ops[] = { "<", "<=", "=", ">=", ">" };

	if (term->figure == TLAT_FIGURE_ABOVE) {
		put(out, "P(> ");
		put_time(out, term->at);
		put(out, ")");
	}
	put(out, "%s %s ", term->name, ops[term->op]);
	put_value(out, term, term->limit);
}

/* Samples from which on the largest one is an upper bound of quantile p. */
static double needed(double p)
{
	return ceil(log(TAIL) / log(p));
}

static void put_bound(struct out *out, const struct tlat_budget_term *term, bool upper,
		      double bound)
{
	if (isfinite(bound)) {
		put(out, "%s 95 %% bound ", upper ? "upper" : "lower");
		put_value(out, term, bound);
		return;
	}
	put(out, "no %s 95 %% bound", upper ? "upper" : "lower");
	if (upper && needed(term->at) < VALUE_MAX)
		put(out, " from fewer than %.0f independent samples", needed(term->at));
}

/* The bound that decided, or both when neither did. */
static void put_bounds(struct out *out, const struct tlat_budget_term *term,
		       const struct known *known)
{
	int verdict = judge_known(term, known);
	bool both = verdict == TLAT_INCONCLUSIVE || term->op == TLAT_OP_EQUAL;
	bool upper = is_ceiling(term->op) == (verdict == TLAT_PASS);

	if (both || !upper)
		put_bound(out, term, false, known->lo);
	if (both)
		put(out, ", ");
	if (both || upper)
		put_bound(out, term, true, known->hi);
}

static void put_known(struct out *out, const struct tlat_budget_term *term,
		      const struct tlat_budget_input *in, const struct known *known)
{
	if (term->unit == TLAT_BUDGET_COUNT) {
		put(out, "%.0f seen", known->hi);
		return;
	}
	if (!in->n) {
		put(out, "no samples");
		return;
	}
	if (term->figure == TLAT_FIGURE_QUANTILE || term->figure == TLAT_FIGURE_ABOVE) {
		put_bounds(out, term, known);
	} else {
		put(out, "observed ");
		put_value(out, term, known->hi);
	}
	if (term->figure == TLAT_FIGURE_ABOVE)
		put(out, ", %.0f above", known->above);
	put(out,
	    term->figure == TLAT_FIGURE_QUANTILE || term->figure == TLAT_FIGURE_ABOVE
		    ? ", n %llu"
		    : " for n %llu",
	    (unsigned long long)in->n);
	if (known->tau >= 1.05) {
		put(out, ", 1 in ");
		put_decimal(out, rounded(known->tau * 10), 1);
		put(out, " independent");
	}
	if (term->figure == TLAT_FIGURE_MAX && in->overflow)
		put(out, ", %llu beyond the range", (unsigned long long)in->overflow);
}

static void put_hidden(struct out *out, const struct tlat_budget_term *term,
		       const struct tlat_budget_input *in, const struct known *known)
{
	put(out, "; %llu missed, ", (unsigned long long)in->missed);
	if (known->uncorrected) {
		put(out, "and no one interval to correct for them");
		return;
	}
	put(out, "corrected for them ");
	put_value(out, term, known->corrected);
}

static void put_reason(struct out *out, const struct tlat_budget_term *term,
		       const struct tlat_budget_input *in, const struct known *known, int verdict)
{
	if (out->used)
		put(out, "\n");
	put_term(out, term);
	put(out, ": %s (", tlat_verdict_name(verdict));
	put_known(out, term, in, known);
	if (in->degraded && verdict == TLAT_INCONCLUSIVE)
		put(out, "; degraded, see findings");
	if (in->interrupted && verdict == TLAT_INCONCLUSIVE)
		put(out, "; ended early");
	if (verdict == TLAT_INCONCLUSIVE && hid(term, known))
		put_hidden(out, term, in, known);
	put(out, ")");
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
	struct out out = { .text = text, .size = text ? text_size : 0 };
	int verdict = TLAT_PASS, more = check_grammar(budget ? budget : "", reterr);

	if (more < 0)
		return more;
	if (!in)
		return TLAT_INCONCLUSIVE;
	do {
		struct tlat_budget_term term;
		struct known known;
		int one;

		more = tlat_budget_parse_term(&budget, &term, reterr);
		known = know(&term, in);
		one = judge(&term, in, &known);
		put_reason(&out, &term, in, &known, one);
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
