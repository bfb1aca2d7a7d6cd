/* SPDX-License-Identifier: MIT */
/*
 * results_details.h - what stands below the table of results.
 */
#ifndef TLAT_RESULTS_DETAILS_H
#define TLAT_RESULTS_DETAILS_H

#include <stdio.h>

#include <timerlat.h>

/* Per probe: from and to; per result: idle states, counters, dwell, figures not carried. */
void tlat_results_details(const struct tlat_report *report, FILE *out);

#endif /* TLAT_RESULTS_DETAILS_H */
