// SPDX-License-Identifier: MIT
/*
 * compare_plan.c - what can be seen with so many pairs, how many are needed, and when one may look.
 */
#include <math.h>

#include "compare_stats.h"
#include "stats.h"

#define PAIRS_MAX 1000000

double tlat_normal_upper(double z)
{
	return erfc(z / M_SQRT2) / 2;
}

/* P(T > t), t >= 0. */
static double student_upper(double t, double nu)
{
	return tlat_stats_beta(nu / 2, 0.5, nu / (nu + t * t)) / 2;
}

double tlat_student_quantile(double tail, double nu)
{
	double lo = 0, hi = 1;

	while (student_upper(hi, nu) > tail && hi < 1e15)
		hi *= 2;
	for (int i = 0; i < 200 && lo < hi; i++) {
		double t = (lo + hi) / 2;

		if (t == lo || t == hi)
			break;
		if (student_upper(t, nu) > tail)
			lo = t;
		else
			hi = t;
	}
	return (lo + hi) / 2;
}

static double mde(double sd, double units, double nu, double alpha, double power)
{
	if (!(nu >= 1))
		return (double)INFINITY;
	return (tlat_student_quantile(alpha / 2, nu) + tlat_student_quantile(1 - power, nu)) * sd /
	       sqrt(units);
}

double tlat_mde_paired(double sd, size_t n, double alpha, double power)
{
	if (tlat_signed_rank_bound(n, alpha / 2) < 0)
		return (double)INFINITY;
	return mde(sd, (double)n, (double)n - 1, alpha, power);
}

double tlat_mde_unpaired(double sd, size_t n, size_t m, double alpha, double power)
{
	double a = (double)n, b = (double)m;

	if (tlat_rank_sum_bound(n, m, alpha / 2) < 0)
		return (double)INFINITY;
	return mde(sd, a * b / (a + b), a + b - 2, alpha, power);
}

static double mde_at(double sd, size_t n, double alpha, double power, bool paired)
{
	return paired ? tlat_mde_paired(sd, n, alpha, power)
		      : tlat_mde_unpaired(sd, n, n, alpha, power);
}

size_t tlat_pairs_needed(double sd, double mde, double alpha, double power, bool paired)
{
	size_t lo = 2, hi = PAIRS_MAX;

	if (!(mde_at(sd, hi, alpha, power, paired) <= mde))
		return 0;
	while (lo < hi) {
		size_t n = (lo + hi) / 2;

		if (mde_at(sd, n, alpha, power, paired) <= mde)
			hi = n;
		else
			lo = n + 1;
	}
	return lo;
}

double tlat_look_alpha(size_t n, size_t planned, double alpha, size_t *ret_next)
{
	const size_t at[] = { (planned + 1) / 2, (3 * planned + 3) / 4, planned };
	static const double share[] = { 0.2, 0.3, 0.5 };

	*ret_next = planned;
	for (size_t i = 3; i-- > 0;)
		if (at[i] > n)
			*ret_next = at[i];
	for (size_t i = 3; i-- > 0;)
		if (n == at[i])
			return share[i] * alpha;
	return 0;
}
