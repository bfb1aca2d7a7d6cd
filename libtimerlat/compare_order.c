// SPDX-License-Identifier: MIT
/*
 * compare_order.c - what the order and nesting of runs tell: trends, sides that were not mixed, the
 * levels at which figures vary.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compare_stats.h"

double tlat_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / (double)n : (double)NAN;
}

double tlat_squares(const double *v, size_t n)
{
	double mean = tlat_mean(v, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum;
}

static double lag1_of(const double *v, size_t n)
{
	double mean = tlat_mean(v, n), squares = tlat_squares(v, n), sum = 0;

	for (size_t i = 1; i < n; i++)
		sum += (v[i] - mean) * (v[i - 1] - mean);
	return squares > 0 ? sum / squares : 0;
}

/* Variance of Mann-Kendall's S; ties are counted in a sorted copy. */
static double kendall_variance(double *sorted, size_t n)
{
	double count = (double)n, variance = count * (count - 1) * (2 * count + 5);

	tlat_sort_doubles(sorted, n);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && sorted[end] == sorted[i]; end++)
			;
		t = (double)(end - i);
		variance -= t * (t - 1) * (2 * t + 5);
	}
	return variance / 18;
}

static double kendall_p(double s, double variance)
{
	if (!(variance > 0) || s == 0)
		return 1;
	return fmin(1, 2 * tlat_normal_upper((fabs(s) - 1) / sqrt(variance)));
}

int tlat_trend(const double *v, size_t n, struct tlat_trend *ret)
{
	size_t pairs = n * (n - (n > 0)) / 2, at = 0;
	double *slopes, *copy, s = 0;

	*ret = (struct tlat_trend){ .p = 1 };
	if (n < 4)
		return 0;
	slopes = malloc(pairs * sizeof(*slopes));
	copy = malloc(n * sizeof(*copy));
	if (!slopes || !copy) {
		free(slopes);
		free(copy);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		copy[i] = v[i];
		for (size_t k = i + 1; k < n; k++) {
			slopes[at++] = (v[k] - v[i]) / (double)(k - i);
			s += (v[k] > v[i]) - (v[k] < v[i]);
		}
	}
	tlat_sort_doubles(slopes, pairs);
	ret->total = tlat_sorted_median(slopes, pairs) * (double)(n - 1);
	ret->p = kendall_p(s, kendall_variance(copy, n));
	ret->lag1 = lag1_of(v, n);
	free(slopes);
	free(copy);
	return 0;
}

/* C(n, k) as a real number; enough for a probability. */
static double choose(size_t n, size_t k)
{
	int sign;

	if (k > n)
		return 0;
	return exp(lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
		   lgamma_r((double)(n - k) + 1, &sign));
}

/* P(so many stretches of one side each), n of one and m of the other side. */
static double stretches_probability(size_t stretches, size_t n, size_t m)
{
	size_t half = stretches / 2;

	if (stretches < 2)
		return 0;
	if (stretches % 2 == 0)
		return 2 * choose(n - 1, half - 1) * choose(m - 1, half - 1) / choose(n + m, n);
	return (choose(n - 1, half) * choose(m - 1, half - 1) +
		choose(n - 1, half - 1) * choose(m - 1, half)) /
	       choose(n + m, n);
}

double tlat_order_p(const bool *side, size_t n, size_t *ret_changes)
{
	size_t ones = 0, changes = 0;
	double p = 0;

	for (size_t i = 0; i < n; i++) {
		ones += side[i];
		changes += i && side[i] != side[i - 1];
	}
	*ret_changes = changes;
	if (!ones || ones == n)
		return 1;
	for (size_t stretches = 2; stretches <= changes + 1; stretches++)
		p += stretches_probability(stretches, ones, n - ones);
	return fmin(1, p);
}

/* Variance between the means of groups, pooled over the larger groups that hold them. */
struct pool {
	double squares, freedom, members;
};

static void pool_add(struct pool *pool, const double *v, size_t n)
{
	if (n < 2)
		return;
	pool->squares += tlat_squares(v, n);
	pool->freedom += (double)n - 1;
	pool->members += (double)n;
}

static double pool_variance(const struct pool *pool)
{
	return pool->freedom > 0 ? pool->squares / pool->freedom : (double)NAN;
}

/* What is left of a variance of means when that of their parts is taken out. */
static double component(double variance, double below, double parts)
{
	if (isnan(variance))
		return NAN;
	return sqrt(fmax(0, variance - (isnan(below) ? 0 : below / fmax(parts, 1))));
}

/* Run means of one boot, in v, but for those without a block; returns how many. */
static size_t runs_of(const double *means, const size_t *group, size_t n, size_t boot, double *v)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (group[i] == boot && !isnan(means[i]))
			v[count++] = means[i];
	return count;
}

static size_t count_groups(const size_t *group, size_t n)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = group[i] + 1 > most ? group[i] + 1 : most;
	return most;
}

void tlat_levels(const double *const *blocks, const size_t *n_blocks, const size_t *group,
		 size_t n_runs, struct tlat_levels *ret)
{
	size_t boots = count_groups(group, n_runs), used = 0, runs = 0;
	double *means = calloc(3 * n_runs + 1, sizeof(*means));
	double *of_boot, *boot_means;
	struct pool block = { 0 }, run = { 0 }, boot = { 0 };

	*ret = (struct tlat_levels){ NAN, NAN, NAN, boots, n_runs };
	if (!means)
		return;
	of_boot = means + n_runs;
	boot_means = of_boot + n_runs;
	for (size_t i = 0; i < n_runs; i++) {
		means[i] = tlat_mean(blocks[i], n_blocks[i]);
		pool_add(&block, blocks[i], n_blocks[i]);
	}
	for (size_t b = 0; b < boots; b++) {
		size_t n = runs_of(means, group, n_runs, b, of_boot);

		pool_add(&run, of_boot, n);
		runs += n;
		if (n)
			boot_means[used++] = tlat_mean(of_boot, n);
	}
	pool_add(&boot, boot_means, used);
	ret->block = sqrt(pool_variance(&block));
	ret->run = component(pool_variance(&run), pool_variance(&block),
			     runs ? block.members / (double)runs : 1);
	ret->boot = component(pool_variance(&boot), pool_variance(&run),
			      used ? (double)runs / (double)used : 1);
	free(means);
}
