// SPDX-License-Identifier: MIT
/* scale_fit.c - the slope between logarithms, and how sure it is. */
#include <math.h>

#include "compare_stats.h"
#include "scale_fit.h"

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
	bound = tlat_student_quantile(0.025, (double)(n - 2)) * ret->se;
	ret->lo = ret->slope - bound;
	ret->hi = ret->slope + bound;
	return true;
}
