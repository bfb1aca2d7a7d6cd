/* SPDX-License-Identifier: MIT */
/* scale_fit.h - with which power of N a cost grows. Pure. */
#ifndef TLAT_SCALE_FIT_H
#define TLAT_SCALE_FIT_H

#include <stdbool.h>
#include <stddef.h>

struct tlat_fit {
	double slope, se; /* of log y over log x, and its standard error */
	double lo, hi;	  /* 95 % interval */
};

/*
 * Least squares on logarithms; all values are positive. false: fewer than three points, or all at
 * one x.
 */
bool tlat_fit_power(const double *x, const double *y, size_t n, struct tlat_fit *ret);

#endif /* TLAT_SCALE_FIT_H */
