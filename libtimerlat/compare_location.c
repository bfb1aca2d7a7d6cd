// SPDX-License-Identifier: MIT
/*
 * compare_location.c - by how much two sides differ: Hodges-Lehmann's estimate, and the interval
 * that holds every shift that the rank test would not reject.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_stats.h"

/* The interval from rank c to its mirror; no such rank: no bound. */
static void interval(const double *sorted, size_t n, int64_t c, double *ret_lo, double *ret_hi)
{
	bool bounded = c >= 0 && 2 * (size_t)c < n;

	*ret_lo = bounded ? sorted[c] : -(double)INFINITY;
	*ret_hi = bounded ? sorted[n - 1 - (size_t)c] : (double)INFINITY;
}

/* Means of all pairs, each value with itself too. */
static double *walsh_averages(const double *d, size_t n, size_t *ret_count)
{
	size_t count = n * (n + 1) / 2, at = 0;
	double *w = malloc((count + 1) * sizeof(*w));

	if (!w)
		return NULL;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++)
			w[at++] = (d[i] + d[k]) / 2;
	tlat_sort_doubles(w, count);
	*ret_count = count;
	return w;
}

static int sign_interval(const double *d, size_t n, double alpha, struct tlat_location *ret)
{
	double *sorted = malloc((n + 1) * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, d, n * sizeof(*sorted));
	tlat_sort_doubles(sorted, n);
	interval(sorted, n, tlat_sign_bound(n, alpha / 2), &ret->sign_lo, &ret->sign_hi);
	free(sorted);
	return 0;
}

int tlat_location_paired(const double *d, size_t n, double alpha, struct tlat_location *ret)
{
	size_t count;
	double *w = walsh_averages(d, n, &count);

	if (!w)
		return -ENOMEM;
	*ret = (struct tlat_location){
		.n = n,
		.estimate = tlat_sorted_median(w, count),
		.p = tlat_signed_rank_p(d, n),
		.sd = n > 1 ? sqrt(tlat_squares(d, n) / (double)(n - 1)) : (double)NAN,
	};
	interval(w, count, tlat_signed_rank_bound(n, alpha / 2), &ret->lo, &ret->hi);
	interval(w, count, tlat_signed_rank_bound(n, 0.05), &ret->equal_lo, &ret->equal_hi);
	free(w);
	return isnan(ret->p) ? -ENOMEM : sign_interval(d, n, alpha, ret);
}

static double *all_differences(const double *a, size_t n, const double *b, size_t m)
{
	double *d = malloc((n * m + 1) * sizeof(*d));

	if (!d)
		return NULL;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			d[i * m + k] = b[k] - a[i];
	tlat_sort_doubles(d, n * m);
	return d;
}

int tlat_location_unpaired(const double *a, size_t n, const double *b, size_t m, double alpha,
			   struct tlat_location *ret)
{
	double *d = all_differences(a, n, b, m);
	double squares = tlat_squares(a, n) + tlat_squares(b, m);

	if (!d)
		return -ENOMEM;
	*ret = (struct tlat_location){
		.n = n,
		.m = m,
		.estimate = tlat_sorted_median(d, n * m),
		.p = tlat_rank_sum_p(a, n, b, m),
		.sd = n + m > 2 ? sqrt(squares / (double)(n + m - 2)) : (double)NAN,
		.sign_lo = NAN,
		.sign_hi = NAN,
	};
	interval(d, n * m, tlat_rank_sum_bound(n, m, alpha / 2), &ret->lo, &ret->hi);
	interval(d, n * m, tlat_rank_sum_bound(n, m, 0.05), &ret->equal_lo, &ret->equal_hi);
	free(d);
	return isnan(ret->p) ? -ENOMEM : 0;
}
