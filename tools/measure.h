/* SPDX-License-Identifier: MIT */
/*
 * measure.h - all runs of one command line, one report.
 */
#ifndef TLAT_MEASURE_H
#define TLAT_MEASURE_H

#include "load.h"
#include "run_config.h"
#include "save.h"

struct tlat_session {
	struct tlat_run_config config;
	struct tlat_machine *machine;
	struct tlat_clock *clock;
	struct tlat_report *report; /* NULL until the first run has ended */
	struct tlat_load *load;
	struct tlat_save save;
	int argc;
	char **argv; /* as typed */
};

/*
 * Measure every probe at every point of the sweep, points outermost. Ends early, successfully,
 * after a signal. On failure what had been measured is in the report all the same.
 */
int tlat_measure(struct tlat_session *session, struct tlat_error *reterr);

/* Whether a value above that of --break has ended it. */
bool tlat_measure_broke(const struct tlat_session *session);

#endif /* TLAT_MEASURE_H */
