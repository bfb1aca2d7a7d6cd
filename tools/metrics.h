/* SPDX-License-Identifier: MIT */
/* metrics.h - results that consist of metrics, as people read them. */
#ifndef TLAT_METRICS_H
#define TLAT_METRICS_H

#include <stdio.h>

#include <timerlat.h>

/* Whether the result is a distribution, which the table of latencies shows. */
bool tlat_metrics_is_latency(const struct tlat_result *result);

/*
 * Metrics called ROW.COLUMN are a table, the others follow it, each with its name. Nothing for
 * latencies.
 */
void tlat_metrics_print(const struct tlat_result *result, FILE *out);

#endif /* TLAT_METRICS_H */
