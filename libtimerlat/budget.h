/* SPDX-License-Identifier: MIT */
/* budget.h - a budget as terms, judged on plain facts, so that it can be tested without a run. */
#ifndef TLAT_BUDGET_H
#define TLAT_BUDGET_H

#include "hist.h"

/* budget_parse.c */

enum tlat_figure {
	TLAT_FIGURE_MIN,
	TLAT_FIGURE_MAX,
	TLAT_FIGURE_MEAN,
	TLAT_FIGURE_QUANTILE,
	TLAT_FIGURE_ABOVE, /* P(>TIME) */
	TLAT_FIGURE_MISSED,
	TLAT_FIGURE_EARLY,
	TLAT_FIGURE_OVERFLOW,
	TLAT_FIGURE_REJECTED,
	TLAT_FIGURE_DISTURBED,
	TLAT_FIGURE_N,
};

enum tlat_budget_unit { TLAT_BUDGET_TIME, TLAT_BUDGET_COUNT, TLAT_BUDGET_SHARE };
enum tlat_budget_op {
	TLAT_OP_LESS,
	TLAT_OP_AT_MOST,
	TLAT_OP_EQUAL,
	TLAT_OP_AT_LEAST,
	TLAT_OP_MORE,
};

struct tlat_budget_term {
	enum tlat_figure figure;
	enum tlat_budget_unit unit; /* of limit: ns, a count, a share */
	enum tlat_budget_op op;
	double at; /* QUANTILE: the share; ABOVE: the time in ns */
	double limit;
	char name[16];	    /* as written, "p99.9"; empty for ABOVE */
	const char *source; /* where the term stands in the budget */
	size_t source_length;
};

/*
 * Read the term at *at and the comma after it. 1: another one follows; 0: it was the last; -EINVAL
 * with the term, what is wrong and what to write. No terms beyond *at are looked at.
 */
int tlat_budget_parse_term(const char **at, struct tlat_budget_term *ret,
			   struct tlat_error *reterr);

/* budget.c */

struct tlat_budget_input {
	const struct tlat_hist *hist;	   /* NULL: nothing measured */
	const struct tlat_blocks *blocks;  /* NULL: samples count as independent */
	const struct tlat_hist *corrected; /* with what hid behind late expiries; NULL: not known */
	uint64_t missed, early, overflow, rejected, disturbed;
	uint64_t n; /* early + recorded + overflow */
	double mean_ns;
	bool degraded;	  /* a finding says that the figures are not to be trusted */
	bool interrupted; /* the run did not come to its own end */
};

#define TLAT_BUDGET_TAIL      0.05 /* with what probability each bound is wrong */
#define TLAT_BUDGET_VALUE_MAX 4e18 /* histogram values that fit an int64_t */

/* What is known of a figure, in the unit of its limit; infinite: no bound on that side. */
struct tlat_budget_known {
	double lo, hi;
	double above;	  /* ABOVE: how many samples were */
	double tau;	  /* QUANTILE, ABOVE: how many samples count as one */
	double corrected; /* QUANTILE, ABOVE, MEAN: with what was missed; NAN: nothing to add */
	bool uncorrected; /* these: something was missed, how late is not known */
};

/* Whether the limit is one to stay below, so that the upper bound is the worse one. */
bool tlat_budget_is_ceiling(enum tlat_budget_op op);
/* The verdict from the bounds alone. */
int tlat_budget_judge_known(const struct tlat_budget_term *term,
			    const struct tlat_budget_known *known);
/* Whether it was the missed expiries that let the figure meet its limit, or may have been. */
bool tlat_budget_hid(const struct tlat_budget_term *term, const struct tlat_budget_known *known);

/*
 * As tlat_budget_check(). in NULL: only the grammar is checked, and TLAT_INCONCLUSIVE returned
 * without text.
 */
int tlat_budget_eval(const char *budget, const struct tlat_budget_input *in, char *text,
		     size_t text_size, struct tlat_error *reterr);

/* budget_text.c */

struct tlat_budget_text {
	char *text; /* ends in a zero, whatever is cut off */
	size_t size, used;
};

/* Append the line with the reason for a verdict. */
void tlat_budget_say(struct tlat_budget_text *out, const struct tlat_budget_term *term,
		     const struct tlat_budget_input *in, const struct tlat_budget_known *known,
		     int verdict);

#endif /* TLAT_BUDGET_H */
