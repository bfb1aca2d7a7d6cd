// SPDX-License-Identifier: MIT
/*
 * budget_text.c - the reason for a verdict, one line for a term. It is the same in every locale:
 * numbers are written from integers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "budget.h"

__attribute__((format(printf, 2, 3))) static void put(struct tlat_budget_text *out,
						      const char *format, ...)
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
	return llround(fmin(fmax(value, -TLAT_BUDGET_VALUE_MAX), TLAT_BUDGET_VALUE_MAX));
}

/* scaled / 10^decimals, without zeros at the end. */
static void put_decimal(struct tlat_budget_text *out, long long scaled, int decimals)
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

static void put_time(struct tlat_budget_text *out, double ns)
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

static void put_share(struct tlat_budget_text *out, double share)
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

static void put_value(struct tlat_budget_text *out, const struct tlat_budget_term *term,
		      double value)
{
	if (term->unit == TLAT_BUDGET_TIME)
		put_time(out, value);
	else if (term->unit == TLAT_BUDGET_SHARE)
		put_share(out, value);
	else
		put_decimal(out, rounded(value), 0);
}

static void put_term(struct tlat_budget_text *out, const struct tlat_budget_term *term)
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
	return ceil(log(TLAT_BUDGET_TAIL) / log(p));
}

static void put_bound(struct tlat_budget_text *out, const struct tlat_budget_term *term, bool upper,
		      double bound)
{
	if (isfinite(bound)) {
		put(out, "%s 95 %% bound ", upper ? "upper" : "lower");
		put_value(out, term, bound);
		return;
	}
	put(out, "no %s 95 %% bound", upper ? "upper" : "lower");
	if (upper && needed(term->at) < TLAT_BUDGET_VALUE_MAX)
		put(out, " from fewer than %.0f independent samples", needed(term->at));
}

/* The bound that decided, or both when neither did. */
static void put_bounds(struct tlat_budget_text *out, const struct tlat_budget_term *term,
		       const struct tlat_budget_known *known)
{
	int verdict = tlat_budget_judge_known(term, known);
	bool both = verdict == TLAT_INCONCLUSIVE || term->op == TLAT_OP_EQUAL;
	bool upper = tlat_budget_is_ceiling(term->op) == (verdict == TLAT_PASS);

	if (both || !upper)
		put_bound(out, term, false, known->lo);
	if (both)
		put(out, ", ");
	if (both || upper)
		put_bound(out, term, true, known->hi);
}

static void put_known(struct tlat_budget_text *out, const struct tlat_budget_term *term,
		      const struct tlat_budget_input *in, const struct tlat_budget_known *known)
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

static void put_hidden(struct tlat_budget_text *out, const struct tlat_budget_term *term,
		       const struct tlat_budget_input *in, const struct tlat_budget_known *known)
{
	put(out, "; %llu missed, ", (unsigned long long)in->missed);
	if (known->uncorrected) {
		put(out, "and no one interval to correct for them");
		return;
	}
	put(out, "corrected for them ");
	put_value(out, term, known->corrected);
}

void tlat_budget_say(struct tlat_budget_text *out, const struct tlat_budget_term *term,
		     const struct tlat_budget_input *in, const struct tlat_budget_known *known,
		     int verdict)
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
	if (verdict == TLAT_INCONCLUSIVE && tlat_budget_hid(term, known))
		put_hidden(out, term, in, known);
	put(out, ")");
}
