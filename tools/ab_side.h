/* SPDX-License-Identifier: MIT */
/* ab_side.h - one run of one side: its setup, its command, and the report that comes of it. */
#ifndef TLAT_AB_SIDE_H
#define TLAT_AB_SIDE_H

#include "ab_config.h"

/* What the figure of --metric is called in a report, and the result that has it. */
#define TLAT_AB_SOURCE "command"
#define TLAT_AB_METRIC "metric"

struct tlat_ab_bench;

/*
 * A directory of its own for what commands write, and, for metrics, what a report says of the
 * machine. Signals that ask for an end are taken from here on.
 */
int tlat_ab_open(struct tlat_ab_bench **ret_bench, const struct tlat_ab_config *config,
		 struct tlat_error *reterr);
void tlat_ab_close(struct tlat_ab_bench *bench);

/*
 * Run setup and command of side 0 or 1. Returns 0; -ECANCELED when a signal ended it; else a
 * negative errno, with what the command did instead of making a report.
 */
int tlat_ab_run(struct tlat_ab_bench *bench, int side, struct tlat_report **ret_report,
		struct tlat_error *reterr);

/* Whether a signal has asked for the end. */
bool tlat_ab_stopped(void);

#endif /* TLAT_AB_SIDE_H */
