// SPDX-License-Identifier: MIT
/*
 * stats.c - how sure the samples are of a quantile or of a share.
 *
 * Samples taken one after the other resemble each other. How much is read off the time blocks: if
 * the share of samples below a value varies tau times as much from block to block as it would for
 * independent samples, then N samples tell what N / tau independent ones would. Where the blocks
 * are of several runs, what all of a run have in common does not show between them: it does between
 * the runs, which are held against each other in the same way. The larger tau holds, as few runs
 * tell little and may be alike by chance, but the blocks within them are not. Exact binomial
 * ranks for those, scaled back, bound the quantile without any assumption on the distribution.
 */
#include <math.h>

#include "stats.h"

/* Fewer values than this beyond a quantile do not carry it. */
#define BEYOND_MIN	       10
/* Nor do fewer independent ones: their interval would reach from one end to the other. */
#define BEYOND_INDEPENDENT_MIN 3

/* A denominator that is not 0. */
static double nonzero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

/*
 * Continued fraction of the incomplete beta function (Abramowitz & Stegun 26.5.8), evaluated from
 * the front (Lentz 1976, as modified by Thompson & Barnett 1986). Converges in O(sqrt(max(a, b)))
 * steps below x = (a + 1) / (a + b + 2): 3e5 steps are enough for 1e11 samples.
 */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), h = d, change = 0;

	for (int m = 1; m < 1000000 && fabs(change - 1) > 1e-15; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / nonzero(1 + even * d);
		c = nonzero(1 + even / c);
		h *= d * c;
		d = 1 / nonzero(1 + odd * d);
		c = nonzero(1 + odd / c);
		change = d * c;
		h *= change;
	}
	return h;
}

/* lgamma() writes a global. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double tlat_stats_beta(double a, double b, double x)
{
	double front;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double tlat_stats_binomial_cdf(double k, double n, double p)
{
	if (k < 0)
		return 0;
	if (k >= n)
		return 1;
	return tlat_stats_beta(n - k, k + 1, 1 - p);
}

/* The x at which I_x(a, b) reaches y. */
static double beta_quantile(double a, double b, double y)
{
	double lo = 0, hi = 1;

	/* Down to the last bit of results as small as 1e-12. */
	for (int i = 0; i < 93 && lo < hi; i++) {
		double x = (lo + hi) / 2;

		if (tlat_stats_beta(a, b, x) < y)
			lo = x;
		else
			hi = x;
	}
	return (lo + hi) / 2;
}

void tlat_stats_share(double k, double n, double confidence, double *ret_lo, double *ret_hi)
{
	double tail = (1 - confidence) / 2;

	*ret_lo = k > 0 ? beta_quantile(k, n - k + 1, tail) : 0;
	*ret_hi = k < n ? beta_quantile(k + 1, n - k, 1 - tail) : 1;
}

/* The smallest k for which P(X <= k) reaches limit. */
static double first_to_reach(double n, double p, double limit)
{
	double lo = 0, hi = n;

	while (lo < hi) {
		double k = floor((lo + hi) / 2);

		if (tlat_stats_binomial_cdf(k, n, p) < limit)
			lo = k + 1;
		else
			hi = k;
	}
	return lo;
}

/* Of the samples of a block, or of a run, how many are below a value. */
struct part {
	double below, samples;
};

static struct part whole_of(const struct part *parts, size_t n)
{
	struct part whole = { 0 };

	for (size_t i = 0; i < n; i++) {
		whole.below += parts[i].below;
		whole.samples += parts[i].samples;
	}
	return whole;
}

/* 1 / n for n parts of the same size, 1 for one that has everything. */
static double concentration(const struct part *parts, size_t n)
{
	double samples = whole_of(parts, n).samples, sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += parts[i].samples / samples * (parts[i].samples / samples);
	return sum;
}

/*
 * Sum over the parts of the squared excess below the value, beyond what their size explains. Each
 * is in the mean that it is compared with, which hides of its square the share that it has of all.
 */
static double part_variance(const struct part *parts, size_t n)
{
	struct part whole = whole_of(parts, n);
	double sum = 0, seen;

	if (n < 2 || !(whole.samples > 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		double rest = parts[i].below - whole.below / whole.samples * parts[i].samples;

		sum += rest * rest;
	}
	seen = 1 - concentration(parts, n);
	return seen > 0 ? sum / seen : 0;
}

static size_t get_parts(const struct tlat_blocks *blocks, double value, struct part *parts)
{
	size_t n = tlat_blocks_count(blocks);

	for (size_t i = 0; i < n; i++)
		parts[i] = (struct part){
			.below = tlat_blocks_below(blocks, i, value),
			.samples = (double)tlat_blocks_samples(blocks, i),
		};
	return n;
}

/* Put the parts that are blocks of one run together, in place. */
static size_t get_runs(const struct tlat_blocks *blocks, struct part *parts, size_t n)
{
	size_t runs = 0;

	for (size_t i = 0; i < n; i++) {
		struct part part = parts[i];

		if (i && tlat_blocks_run(blocks, i) == tlat_blocks_run(blocks, i - 1)) {
			parts[runs - 1].below += part.below;
			parts[runs - 1].samples += part.samples;
		} else {
			parts[runs++] = part;
		}
	}
	return runs;
}

double tlat_stats_tau(const struct tlat_blocks *blocks, double value, double p)
{
	struct part parts[TLAT_BLOCKS_MAX] = { 0 };
	double samples, variance;
	size_t n;

	if (!blocks || !(p > 0) || p >= 1)
		return 1;
	n = get_parts(blocks, value, parts);
	samples = whole_of(parts, n).samples;
	variance = part_variance(parts, n);
	n = get_runs(blocks, parts, n);
	variance = fmax(variance, part_variance(parts, n));
	return variance > 0 ? fmax(1, variance / (samples * p * (1 - p))) : 1;
}

double tlat_stats_blocks(const struct tlat_blocks *blocks)
{
	struct part parts[TLAT_BLOCKS_MAX] = { 0 };
	size_t n = get_parts(blocks, 0, parts);

	return whole_of(parts, n).samples > 0 ? 1 / concentration(parts, n) : 0;
}

void tlat_stats_bounds(const struct tlat_hist *hist, const struct tlat_blocks *blocks, double p,
		       double tail, double least_tau, struct tlat_bounds *ret)
{
	double n = (double)tlat_hist_count(hist), whole, lower, upper;

	*ret = (struct tlat_bounds){ .p_hi = 1, .tau = 1 };
	if (!(n > 0))
		return;
	ret->tau = fmax(least_tau, tlat_stats_tau(blocks, tlat_hist_quantile(hist, p), p));
	ret->n_eff = n / ret->tau;
	whole = fmax(1, floor(ret->n_eff));
	lower = first_to_reach(whole, p, tail);
	upper = first_to_reach(whole, p, 1 - tail) + 1;
	/* Back to ranks among all samples, rounded outward; a rank is in the middle of its share.
	 */
	if (lower >= 1)
		ret->p_lo = fmax(0, (floor(lower * n / whole) - 0.5) / n);
	if (upper <= whole)
		ret->p_hi = fmin(1, (ceil(upper * n / whole) - 0.5) / n);
}

uint64_t tlat_stats_needed(double p)
{
	/* 10 / (1 - 0.99) is a little over 1000, but means 1000 */
	return (uint64_t)ceil(BEYOND_MIN / (1 - p) * (1 - 1e-9));
}

uint64_t tlat_stats_needed_at(double p, double tau)
{
	double rarer = fmin(p, 1 - p);
	double independent = ceil(BEYOND_INDEPENDENT_MIN * tau / rarer * (1 - 1e-9));

	return (uint64_t)fmax((double)tlat_stats_needed(1 - rarer), independent);
}

/* Past either end of the range a value is known by the end and the extreme only: between them. */
static void open_at_ends(const struct tlat_hist *hist, struct tlat_estimate *e)
{
	double first = (double)tlat_hist_slot_last(TLAT_HIST_SLOT_FIRST);
	double last = (double)tlat_hist_slot_last(TLAT_HIST_SLOT_OVERFLOW - 1);

	if (e->lo > last)
		e->lo = fmax(last, (double)tlat_hist_min(hist));
	if (e->hi < first)
		e->hi = fmin(first, (double)tlat_hist_max(hist));
}

void tlat_stats_quantile(const struct tlat_hist *hist, const struct tlat_blocks *blocks, double p,
			 struct tlat_estimate *ret)
{
	uint64_t n = tlat_hist_count(hist);
	struct tlat_bounds bounds;

	tlat_stats_bounds(hist, blocks, p, 0.025, 1, &bounds);
	*ret = (struct tlat_estimate){ .n_eff = bounds.n_eff, .tau = bounds.tau };
	ret->supported = p > 0 && p < 1 && n >= tlat_stats_needed_at(p, bounds.tau);
	ret->value = ret->supported ? tlat_hist_quantile(hist, p) : (double)tlat_hist_max(hist);
	ret->lo = tlat_hist_quantile(hist, ret->supported ? bounds.p_lo : 0);
	ret->hi = tlat_hist_quantile(hist, ret->supported ? bounds.p_hi : 1);
	open_at_ends(hist, ret);
}
