// SPDX-License-Identifier: MIT
/*
 * compare_rank.c - exact null distributions of rank statistics.
 *
 * Mid-ranks are half-integers, so twice the rank is an integer, and the distribution of a sum of
 * them is made by adding one unit after the other to the table of sums. It is the distribution for
 * these very ties: nothing is approximated before the numbers of units make the table long.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_stats.h"
#include "stats.h"

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void tlat_sort_doubles(double *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), ascending);
}

double tlat_sorted_median(const double *v, size_t n)
{
	if (!n)
		return NAN;
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double tlat_median(const double *v, size_t n)
{
	double *copy = malloc((n + 1) * sizeof(*copy)), median;

	if (!copy)
		return NAN;
	memcpy(copy, v, n * sizeof(*copy));
	tlat_sort_doubles(copy, n);
	median = tlat_sorted_median(copy, n);
	free(copy);
	return median;
}

/* A value with its place, to be sorted by value. */
struct item {
	double value;
	bool marked; /* above zero, or of the first side */
	uint32_t rank2;
};

static int by_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Sort and give everyone twice its mid-rank; returns the sum of t^3 - t over the ties. */
static double rank_items(struct item *items, size_t n)
{
	double ties = 0;

	if (n)
		qsort(items, n, sizeof(*items), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && items[end].value == items[i].value; end++)
			;
		t = (double)(end - i);
		ties += t * t * t - t;
		for (size_t k = i; k < end; k++)
			items[k].rank2 = (uint32_t)(i + end + 1);
	}
	return ties;
}

static uint64_t marked_sum(const struct item *items, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += items[i].marked ? items[i].rank2 : 0;
	return sum;
}

/* Twice the smaller tail at the observed sum; f[0..total] is a distribution up to a factor. */
static double two_sided(const double *f, size_t total, uint64_t observed)
{
	double below = 0, above = 0, all = 0;

	for (size_t s = 0; s <= total; s++) {
		all += f[s];
		if (s <= observed)
			below += f[s];
		if (s >= observed)
			above += f[s];
	}
	return fmin(1, 2 * fmin(below, above) / all);
}

static double normal_p(double distance, double sd)
{
	if (!(sd > 0) || distance <= 0)
		return 1;
	return fmin(1, erfc(distance / sd / M_SQRT2));
}

/* Each rank is in the sum with probability 1/2. NULL: no memory. */
static double *signed_rank_table(const struct item *items, size_t n, size_t *ret_total)
{
	size_t total = 0;
	double *f;

	for (size_t i = 0; i < n; i++)
		total += items[i].rank2;
	f = calloc(total + 1, sizeof(*f));
	if (!f)
		return NULL;
	f[0] = 1;
	for (size_t i = 0, sum = 0; i < n; i++) {
		size_t r = items[i].rank2;

		sum += r;
		for (size_t s = sum + 1; s-- > 0;)
			f[s] = f[s] / 2 + (s >= r ? f[s - r] / 2 : 0);
	}
	*ret_total = total;
	return f;
}

static double signed_rank_exact(const struct item *items, size_t n)
{
	size_t total;
	double *f = signed_rank_table(items, n, &total), p;

	if (!f)
		return NAN;
	p = two_sided(f, total, marked_sum(items, n));
	free(f);
	return p;
}

double tlat_signed_rank_p(const double *d, size_t n)
{
	struct item *items = calloc(n + 1, sizeof(*items));
	double ties, p, count;
	size_t used = 0;

	if (!items)
		return NAN;
	for (size_t i = 0; i < n; i++)
		if (d[i] != 0)
			items[used++] = (struct item){ fabs(d[i]), d[i] > 0, 0 };
	ties = rank_items(items, used);
	count = (double)used;
	if (!used)
		p = 1;
	else if (used <= TLAT_SIGNED_RANK_EXACT)
		p = signed_rank_exact(items, used);
	else
		p = normal_p(fabs((double)marked_sum(items, used) / 2 - count * (count + 1) / 4) -
				     0.5,
			     sqrt(count * (count + 1) * (2 * count + 1) / 24 - ties / 48));
	free(items);
	return p;
}

/*
 * In how many ways n of the units have each sum: g[k][s] for k of those seen so far. Counts up to
 * C(50, 25) are exact in a double.
 */
static double *rank_sum_table(const struct item *items, size_t all, size_t n, size_t *ret_total)
{
	size_t total = 0, width;
	double *g;

	for (size_t i = 0; i < all; i++)
		total += items[i].rank2;
	width = total + 1;
	g = calloc((n + 1) * width, sizeof(*g));
	if (!g)
		return NULL;
	g[0] = 1;
	for (size_t i = 0; i < all; i++)
		for (size_t k = i < n ? i + 1 : n; k > 0; k--)
			for (size_t r = items[i].rank2, s = r; s < width; s++)
				g[k * width + s] += g[(k - 1) * width + s - r];
	*ret_total = total;
	return g;
}

static double rank_sum_exact(const struct item *items, size_t all, size_t n)
{
	size_t total;
	double *g = rank_sum_table(items, all, n, &total), p;

	if (!g)
		return NAN;
	p = two_sided(g + n * (total + 1), total, marked_sum(items, all));
	free(g);
	return p;
}

static double rank_sum_normal(const struct item *items, double n, double m, double ties)
{
	double all = n + m, mean = n * (all + 1) / 2;
	double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));

	return normal_p(fabs((double)marked_sum(items, (size_t)all) / 2 - mean) - 0.5,
			sqrt(fmax(0, variance)));
}

double tlat_rank_sum_p(const double *a, size_t n, const double *b, size_t m)
{
	struct item *items = calloc(n + m + 1, sizeof(*items));
	double ties, p;

	if (!items)
		return NAN;
	for (size_t i = 0; i < n; i++)
		items[i] = (struct item){ a[i], true, 0 };
	for (size_t i = 0; i < m; i++)
		items[n + i] = (struct item){ b[i], false, 0 };
	ties = rank_items(items, n + m);
	if (!n || !m)
		p = 1;
	else if (n <= TLAT_RANK_SUM_EXACT && m <= TLAT_RANK_SUM_EXACT)
		p = rank_sum_exact(items, n + m, n);
	else
		p = rank_sum_normal(items, (double)n, (double)m, ties);
	free(items);
	return p;
}

double tlat_sign_p(const double *d, size_t n)
{
	size_t up = 0, down = 0, fewer;

	for (size_t i = 0; i < n; i++) {
		up += d[i] > 0;
		down += d[i] < 0;
	}
	fewer = up < down ? up : down;
	return fmin(1, 2 * tlat_stats_binomial_cdf((double)fewer, (double)(up + down), 0.5));
}

/* The largest c with sum f[0..c] <= tail * all. */
static int64_t last_within(const double *f, size_t total, double all, double tail)
{
	double sum = 0;

	for (size_t s = 0; s <= total; s++) {
		sum += f[s];
		if (sum > tail * all * (1 + 1e-12))
			return (int64_t)s - 1;
	}
	return (int64_t)total;
}

/* The largest c with P(Z <= (c + 0.5 - mean) / sd) <= tail. */
static int64_t normal_bound(double mean, double sd, double tail)
{
	double lo = -40, hi = 0;

	for (int i = 0; i < 80; i++) {
		double z = (lo + hi) / 2;

		if (tlat_normal_upper(-z) <= tail)
			lo = z;
		else
			hi = z;
	}
	return (int64_t)fmax(-1, floor(mean - 0.5 + lo * sd));
}

int64_t tlat_signed_rank_bound(size_t n, double tail)
{
	struct item items[TLAT_SIGNED_RANK_EXACT] = { 0 };
	double count = (double)n, *f;
	int64_t bound;
	size_t total;

	if (n > TLAT_SIGNED_RANK_EXACT)
		return normal_bound(count * (count + 1) / 4,
				    sqrt(count * (count + 1) * (2 * count + 1) / 24), tail);
	for (size_t i = 0; i < n; i++)
		items[i].rank2 = (uint32_t)i + 1; /* whole ranks: the sum itself */
	f = signed_rank_table(items, n, &total);
	bound = f ? last_within(f, total, 1, tail) : -1;
	free(f);
	return n ? bound : -1;
}

int64_t tlat_rank_sum_bound(size_t n, size_t m, double tail)
{
	struct item items[2 * TLAT_RANK_SUM_EXACT] = { 0 };
	double a = (double)n, b = (double)m, ways = 1, *g;
	size_t total, least = n * (n + 1) / 2;
	int64_t bound;

	if (!n || !m)
		return -1;
	if (n > TLAT_RANK_SUM_EXACT || m > TLAT_RANK_SUM_EXACT)
		return normal_bound(a * b / 2, sqrt(a * b * (a + b + 1) / 12), tail);
	for (size_t i = 0; i < n + m; i++)
		items[i].rank2 = (uint32_t)i + 1;
	for (size_t i = 1; i <= n; i++)
		ways = ways * (double)(m + i) / (double)i;
	g = rank_sum_table(items, n + m, n, &total);
	if (!g)
		return -1;
	bound = last_within(g + n * (total + 1) + least, total - least, ways, tail);
	free(g);
	return bound;
}

int64_t tlat_sign_bound(size_t n, double tail)
{
	int64_t c = -1;

	while (c + 1 < (int64_t)n &&
	       tlat_stats_binomial_cdf((double)(c + 1), (double)n, 0.5) <= tail)
		c++;
	return c;
}
