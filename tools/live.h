/* SPDX-License-Identifier: MIT */
/*
 * live.h - progress on a terminal while a run goes on.
 */
#ifndef TLAT_LIVE_H
#define TLAT_LIVE_H

#include <stdbool.h>

#include <timerlat.h>

/* Whether standard error is a terminal that can show progress. */
bool tlat_live_possible(void);

/* Wait for the end of run; with show four times a second a line per recording thread on stderr,
 * wiped at the end. A signal meanwhile stops the run. */
void tlat_live_wait(struct tlat_run *run, const char *label, bool show);

#endif /* TLAT_LIVE_H */
