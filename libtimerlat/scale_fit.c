// SPDX-License-Identifier: MIT
/* scale_fit.c - the slope between logarithms, and how sure it is. */
#include <math.h>

#include "scale_fit.h"
#include "stats.h"

/* P(|T| > t) = I_{f / (f + t^2)}(f / 2, 1 / 2) */
double tlat_fit_t95(double freedom)
{
	double lo = 0, hi = 1;

	while (tlat_stats_beta(freedom / 2, 0.5, freedom / (freedom + hi * hi)) > 0.05)
		hi *= 2;
	for (int i = 0; i < 60; i++) {
		double t = (lo + hi) / 2;

		if (tlat_stats_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) > 0.05)
			lo = t;
		else
			hi = t;
	}
	return hi;
}

bool tlat_fit_power(const double *x, const double *y, size_t n, struct tlat_fit *ret)
{
	double mean_x = 0, mean_y = 0, sxx = 0, sxy = 0, rest = 0, bound;

	for (size_t i = 0; i < n; i++) {
		mean_x += log(x[i]) / (double)n;
		mean_y += log(y[i]) / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		sxx += (log(x[i]) - mean_x) * (log(x[i]) - mean_x);
		sxy += (log(x[i]) - mean_x) * (log(y[i]) - mean_y);
	}
	if (n < 3 || sxx < 1e-9)
		return false;
	ret->slope = sxy / sxx;
	for (size_t i = 0; i < n; i++) {
		double r = log(y[i]) - mean_y - ret->slope * (log(x[i]) - mean_x);

		rest += r * r;
	}
	ret->se = sqrt(rest / (double)(n - 2) / sxx);
	bound = tlat_fit_t95((double)(n - 2)) * ret->se;
	ret->lo = ret->slope - bound;
	ret->hi = ret->slope + bound;
	return true;
}
