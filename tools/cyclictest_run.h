/* SPDX-License-Identifier: MIT */
/* cyclictest_run.h - one run: from what was asked to the values of its threads. */
#ifndef TLAT_CYCLICTEST_RUN_H
#define TLAT_CYCLICTEST_RUN_H

#include "cyclictest_cpus.h"
#include "cyclictest_smi.h"
#include "cyclictest_stats.h"
#include "cyclictest_status.h"

struct tlat_cyc_document;

struct tlat_cyc_session {
	const struct tlat_cyc_config *config;
	const char *probe;
	struct tlat_machine *machine;
	struct tlat_clock *clock;
	struct tlat_cyc_cpus cpus;
	struct tlat_cyc_stats stats;
	struct tlat_cyc_status status;
	struct tlat_cyc_smi smi;
	struct tlat_rt *placed, *locked, *awake; /* of the main thread; NULL: not */
	struct tlat_run *run;
	struct tlat_report *report;
	int32_t broke; /* the thread whose value was too large; -1: none */
	struct tlat_sample broke_at;
	const struct tlat_cyc_document *document; /* of --json */
};

/* cyclictest_probe.c: the probe that measures what was asked for. Returns 0, or a negative errno
 * after one line on standard error. */
int tlat_cyc_probe_find(const struct tlat_cyc_config *config, const char **ret_probe);

/* cyclictest_session.c: everything before the run; the config is complete then. Returns 0, or a
 * negative errno after one line on standard error. Close it either way. */
int tlat_cyc_session_open(struct tlat_cyc_session *session, struct tlat_cyc_config *config);
void tlat_cyc_session_close(struct tlat_cyc_session *session);

/* A line on standard error; where memory is short, with the lock that may be the cause. */
void tlat_cyc_say_error(const struct tlat_cyc_session *session, const struct tlat_error *error);

/* Measure: session->report and session->stats are there afterwards. Returns as above. */
int tlat_cyc_measure(struct tlat_cyc_session *session);

/* cyclictest_resolution.c: a line on standard error where timers expire at the tick. */
void tlat_cyc_check_timers(void);
/* Two lines on standard error. */
void tlat_cyc_check_resolution(int64_t clock);

#endif /* TLAT_CYCLICTEST_RUN_H */
