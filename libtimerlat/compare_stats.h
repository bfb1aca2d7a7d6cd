/* SPDX-License-Identifier: MIT */
/*
 * compare_stats.h - pure arithmetic for comparing two sets of runs: exact rank tests, the intervals
 * that belong to them, families of figures tested together, sample sizes. No I/O, no clock; what
 * is random comes from a fixed seed, so that one input has one answer.
 *
 * Values are logarithms throughout: a difference is the logarithm of a ratio.
 */
#ifndef TLAT_COMPARE_STATS_H
#define TLAT_COMPARE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* compare_rank.c: two-sided p, 1 when there is nothing to tell apart; NAN: no memory */

/* More units than these have the normal approximation with continuity correction. */
#define TLAT_SIGNED_RANK_EXACT 63
#define TLAT_RANK_SUM_EXACT    25 /* on either side */

/* Wilcoxon signed rank; zeros are dropped, ties have mid-ranks, and the p-value is exact for them.
 */
double tlat_signed_rank_p(const double *d, size_t n);
/* Wilcoxon rank sum (Mann-Whitney), the same way. */
double tlat_rank_sum_p(const double *a, size_t n, const double *b, size_t m);
/* Sign test; zeros are dropped. */
double tlat_sign_p(const double *d, size_t n);

/*
 * The largest c with P(statistic <= c) <= tail under the null hypothesis without ties; -1: none.
 * These are the ranks of the bounds that belong to the tests.
 */
int64_t tlat_signed_rank_bound(size_t n, double tail);
int64_t tlat_rank_sum_bound(size_t n, size_t m, double tail);
int64_t tlat_sign_bound(size_t n, double tail);

void tlat_sort_doubles(double *v, size_t n);
/* Of a sorted array; NAN when empty. */
double tlat_sorted_median(const double *v, size_t n);
/* Copies; NAN: empty, or no memory. */
double tlat_median(const double *v, size_t n);

/* compare_location.c */

struct tlat_location {
	size_t n, m;		   /* units; pairs: n is their number, m is 0 */
	double estimate;	   /* Hodges-Lehmann */
	double lo, hi;		   /* at 1 - alpha; infinite: too few units for any bound */
	double equal_lo, equal_hi; /* at 90 %: inside the threshold is equivalence at 5 % */
	double sign_lo, sign_hi;   /* at 1 - alpha, without any assumption; pairs only */
	double p;		   /* of the rank test */
	double sd;		   /* pairs: of the differences; else pooled within sides */
};

/* Differences of pairs, or two sides. 0 or -ENOMEM. */
int tlat_location_paired(const double *d, size_t n, double alpha, struct tlat_location *ret);
int tlat_location_unpaired(const double *a, size_t n, const double *b, size_t m, double alpha,
			   struct tlat_location *ret);

/* compare_family.c */

#define TLAT_FAMILY_MAX	       16
/* All 2^n flips up to here, and all labelings up to so many; else so many random ones. */
#define TLAT_FLIPS_EXACT_PAIRS 20
#define TLAT_LABELINGS_EXACT   20000
#define TLAT_RANDOM_FLIPS      20000

/*
 * k figures of n units each, v[unit * k + figure]. Pairs: differences, whose signs are flipped.
 * Else the units of both sides, the first n_a of them one side's, whose labels are changed.
 */
struct tlat_family {
	const double *v;
	size_t n, k, n_a;
	bool paired;
};

/*
 * p of each figure, adjusted for having looked at all of them (Westfall & Young's single-step maxT
 * on studentised means): the share of flips in which any figure is as far out as this one.
 */
void tlat_family_p(const struct tlat_family *family, double *ret_p);
/* What none of them is below with n pairs, or n and m units, however far apart these are. */
double tlat_family_least_p(size_t n, size_t m, bool paired);

/*
 * Half-widths around the mean difference of each figure that hold for all of them at 1 - alpha,
 * from flips of the residuals. Infinite when there are too few units. 0 or -ENOMEM.
 */
int tlat_family_band(const struct tlat_family *family, double alpha, double *ret_mean,
		     double *ret_half);

/* Holm's adjustment of n p-values, in place. */
void tlat_holm(double *p, size_t n);

/* compare_plan.c */

double tlat_normal_upper(double z); /* P(Z > z) */
/* The t with P(T > t) = tail at nu degrees of freedom; tail in (0, 0.5]. */
double tlat_student_quantile(double tail, double nu);

/*
 * The smallest shift that a test at alpha finds with that power: pairs of difference sd, or n and m
 * units of sd on either side. Infinite with so few units that the rank test cannot reject at all.
 */
double tlat_mde_paired(double sd, size_t n, double alpha, double power);
double tlat_mde_unpaired(double sd, size_t n, size_t m, double alpha, double power);
/* Pairs (or units a side) for an mde of at most that; 0: more than a million. */
size_t tlat_pairs_needed(double sd, double mde, double alpha, double power, bool paired);

/*
 * Planned looks at half, three quarters and all of the pairs, at which 0.2, 0.3 and 0.5 of alpha
 * may be spent: together alpha, whatever the order in which they turn out. alpha of the look at n
 * of planned pairs; 0: no look is planned there. *ret_next: pairs at the next one.
 */
double tlat_look_alpha(size_t n, size_t planned, double alpha, size_t *ret_next);

/* compare_order.c */

double tlat_mean(const double *v, size_t n);	/* NAN: of none */
double tlat_squares(const double *v, size_t n); /* sum of squares around the mean */

struct tlat_trend {
	double p;     /* Mann-Kendall, two-sided */
	double total; /* Theil-Sen slope times the length */
	double lag1;  /* autocorrelation of neighbours */
};

/* Trend of values in the order of time. 0 or -ENOMEM; fewer than 4: p 1, the rest 0. */
int tlat_trend(const double *v, size_t n, struct tlat_trend *ret);

/*
 * Whether two sides came one after the other and not mixed: how probable so few changes of side
 * are in a random order (Wald & Wolfowitz). *ret_changes: of side, from one to the next.
 */
double tlat_order_p(const bool *side, size_t n, size_t *ret_changes);

/*
 * Standard deviations of three nested levels: blocks in runs in boots (Kalibera & Jones 2013).
 * group[i] is the boot of run i (all equal: that level is NAN). blocks[i] has n_blocks[i] values.
 */
struct tlat_levels {
	double boot, run, block;
	size_t n_boots, n_runs;
};

void tlat_levels(const double *const *blocks, const size_t *n_blocks, const size_t *group,
		 size_t n_runs, struct tlat_levels *ret);

#endif /* TLAT_COMPARE_STATS_H */
