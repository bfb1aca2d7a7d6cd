/* SPDX-License-Identifier: MIT */
/*
 * chart.h - a distribution as text.
 */
#ifndef TLAT_CHART_H
#define TLAT_CHART_H

#include <stdio.h>

#include <timerlat.h>

/* About 16 bars between the 0.5 % and the 97.5 % quantile, and what lies outside: a long tail must
 * not squeeze the body into one bar. */
void tlat_chart_print(const struct tlat_hist *hist, FILE *out);

/* The counts of bins of that width, "3500-3599 ns  12345", from the first to the last used. */
void tlat_bins_print(const struct tlat_hist *hist, int64_t width_ns, FILE *out);

#endif /* TLAT_CHART_H */
