/* SPDX-License-Identifier: MIT */
/*
 * results.h - a report as people read it.
 */
#ifndef TLAT_RESULTS_H
#define TLAT_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

#include <timerlat.h>

/* The line of conditions: kernel, CPUs, clock. */
void tlat_results_machine(const struct tlat_report *report, FILE *out);

/* One row per probe, sweep point and thread, and below it what does not fit in a row. */
void tlat_results_print(const struct tlat_report *report, FILE *out);

/* The command that repeats the whole. */
void tlat_results_repeat(const struct tlat_report *report, FILE *out);

size_t tlat_results_count(const struct tlat_report *report);

/*
 * Whether any result has something to say. A probe that cannot run here is a result, and so is a
 * storm without a timer, but when that is all there is no answer.
 */
bool tlat_results_measured(const struct tlat_report *report);

/* The value of a fact, "" when it is not known; as long as tlat_report_fact() says. */
const char *tlat_results_fact(const struct tlat_report *report, const char *name);

/*
 * Every finding once, with the probes that it is about and the remedy, errors first. More than
 * three of severity info are one line, unless all are wanted.
 */
void tlat_findings_print(const struct tlat_report *report, bool all, FILE *out);

/* Every finding of that id on a line of its own, "ID: TEXT". */
void tlat_findings_say(const struct tlat_report *report, const char *id, FILE *out);

/* The highest severity of all findings, 0 when there is none. */
int tlat_findings_worst(const struct tlat_report *report);

/* "0->1", "0->1->0", "1"; "-" when nothing ran. text holds TLAT_CPUS_TEXT bytes. */
#define TLAT_CPUS_TEXT 48
const char *tlat_results_cpus(const struct tlat_result *result, char *text);

/* Fill *summary; one without figures when the result holds none. */
void tlat_results_summary(const struct tlat_result *result, struct tlat_summary *summary);

#endif /* TLAT_RESULTS_H */
