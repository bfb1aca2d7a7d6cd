/* SPDX-License-Identifier: MIT */
/*
 * selftest.h - whether this machine and build measure a known delay as it is.
 */
#ifndef TLAT_SELFTEST_H
#define TLAT_SELFTEST_H

#include <stdio.h>

#include <timerlat.h>

/*
 * Inject delays of 0.2, 1, 10 and 100 us before the kick, trials times each, and see how many come
 * back within the stated uncertainty. Prints a line per delay and the verdict to out (may be NULL),
 * keeps the result for this boot and puts it into the report as a finding. Fewer than 20 trials
 * give no verdict and are not kept. Returns 0 when not enough were recovered, else 1, or a negative
 * errno (-ECANCELED after a signal).
 */
int tlat_selftest(struct tlat_report *report, struct tlat_machine *machine,
		  struct tlat_clock *clock, int trials, FILE *out, struct tlat_error *reterr);

/* Put the result that was kept for this boot, if there is one, into the report as a finding. */
void tlat_selftest_quote(struct tlat_report *report);

#endif /* TLAT_SELFTEST_H */
