/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - what a budget says of a report.
 */
#ifndef TLAT_VERDICT_H
#define TLAT_VERDICT_H

#include <stdbool.h>
#include <stdio.h>

#include <timerlat.h>

/*
 * Check every result, put the verdicts into the report and, unless out is NULL, print the reasons,
 * a line "verdict: WORD" per result and one for the whole. complete: every run that was asked for
 * was made; else a PASS of the whole is INCONCLUSIVE. Returns the verdict of the whole, or
 * -EINVAL.
 */
int tlat_verdict(struct tlat_report *report, const char *budget, bool complete, FILE *out,
		 struct tlat_error *reterr);

#endif /* TLAT_VERDICT_H */
