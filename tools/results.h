/* SPDX-License-Identifier: MIT */
/*
 * results.h - a report as people read it.
 */
#ifndef TLAT_RESULTS_H
#define TLAT_RESULTS_H

#include <stdio.h>

#include <timerlat.h>

/* The line of conditions: kernel, CPUs, clock. */
void tlat_results_machine(const struct tlat_report *report, FILE *out);

/* One row per probe, sweep point and thread, and below it what does not fit in a row. */
void tlat_results_print(const struct tlat_report *report, FILE *out);

/* The command that repeats the whole, where that of a result does not: there are several. */
void tlat_results_repeat(const struct tlat_report *report, FILE *out);

size_t tlat_results_count(const struct tlat_report *report);

/* Every finding once, with the probes that it is about and the remedy. */
void tlat_findings_print(const struct tlat_report *report, FILE *out);

/* The highest severity of all findings, 0 when there is none. */
int tlat_findings_worst(const struct tlat_report *report);

/* "0->1", "1"; "-" when nothing ran. text holds TLAT_CPUS_TEXT bytes. */
#define TLAT_CPUS_TEXT 32
const char *tlat_results_cpus(const struct tlat_summary *summary, char *text);

/* Fill *summary; one without figures when the result holds none. */
void tlat_results_summary(const struct tlat_result *result, struct tlat_summary *summary);

#endif /* TLAT_RESULTS_H */
