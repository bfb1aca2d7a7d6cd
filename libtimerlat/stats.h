/* SPDX-License-Identifier: MIT */
/* stats.h - pure arithmetic on distributions: intervals, sample sizes, tests. */
#ifndef TLAT_STATS_H
#define TLAT_STATS_H

#include "hist.h"

/* A quantile with its two-sided 95 % interval, in units of the histogram. */
struct tlat_estimate {
	double value, lo, hi;
	double n_eff;	/* effective sample size */
	double tau;	/* one sample in tau is independent, >= 1 */
	bool supported; /* false: too few samples, or too much alike; value is the maximum then */
};

/*
 * Quantile p of hist with a block-based interval (statistics E2.2): tau from the spread of the
 * per-block shares below it, binomial ranks for N / tau, scaled back and rounded outward. blocks
 * may be NULL (tau 1). supported: N >= tlat_stats_needed_at(p, tau).
 */
void tlat_stats_quantile(const struct tlat_hist *hist, const struct tlat_blocks *blocks, double p,
			 struct tlat_estimate *ret);

/*
 * Where the two bounds of quantile p lie, as shares: each is missed with probability tail at most
 * (0.025: two-sided 95 %; 0.05: one-sided 95 %). p_lo 0 or p_hi 1: too few samples for a bound on
 * that side. tau and n_eff as above, but tau is least_tau at least: where few samples lie beyond
 * the quantile, they cannot tell how much alike they are. 1: no more is known.
 */
struct tlat_bounds {
	double p_lo, p_hi;
	double n_eff, tau;
};

void tlat_stats_bounds(const struct tlat_hist *hist, const struct tlat_blocks *blocks, double p,
		       double tail, double least_tau, struct tlat_bounds *ret);

/*
 * How many samples count as one: variance between blocks of the share below value, over what it
 * would be if all samples were independent, p being that share; or between runs, where the blocks
 * are of several and that is more. 1 without blocks (NULL) or variance.
 */
double tlat_stats_tau(const struct tlat_blocks *blocks, double value, double p);

/* How many blocks of the same size would tell as much as these, which may differ in theirs; 0: they
 * are empty. */
double tlat_stats_blocks(const struct tlat_blocks *blocks);

/* Samples needed before quantile p is printed: ceil(10 / (1-p)); 0 < p < 1. */
uint64_t tlat_stats_needed(double p);

/*
 * The same where one sample in tau is independent, for either side: N and N / tau have at least 10
 * and 3 values beyond the quantile. 0 < p < 1.
 */
uint64_t tlat_stats_needed_at(double p, double tau);

/* Clopper-Pearson two-sided bounds of a share: k of n, confidence e.g. 0.95. */
void tlat_stats_share(double k, double n, double confidence, double *ret_lo, double *ret_hi);

/* Regularised incomplete beta function I_x(a, b), and binomial CDF P(X <= k). */
double tlat_stats_beta(double a, double b, double x);
double tlat_stats_binomial_cdf(double k, double n, double p);

#endif /* TLAT_STATS_H */
