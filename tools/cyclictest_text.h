/* SPDX-License-Identifier: MIT */
/*
 * cyclictest_text.h - what is printed, column for column as cyclictest prints it: scripts cut it at
 * blanks and tabs.
 */
#ifndef TLAT_CYCLICTEST_TEXT_H
#define TLAT_CYCLICTEST_TEXT_H

#include <stdio.h>

#include "cyclictest_cpus.h"
#include "cyclictest_stats.h"

/* -v, before anything else. */
void tlat_cyc_put_cpus(const struct tlat_cyc_config *config, const struct tlat_cyc_cpus *cpus);
/* -v, when the threads are there. */
void tlat_cyc_put_intervals(const struct tlat_cyc_config *config, const struct tlat_cyc_cpus *cpus,
			    const struct tlat_cyc_stats *stats);

/* smis: of each thread, or NULL. */
void tlat_cyc_put_threads(const struct tlat_cyc_stats *stats, const int64_t *smis, FILE *out);

/* -v: one value, or under -o the largest when a group is full. smis: below 0: not counted. */
void tlat_cyc_put_value(const struct tlat_cyc_config *config, struct tlat_cyc_thread *thread,
			int32_t number, int64_t value, int64_t smis);

/* The block that is redrawn; first: there is none above it yet. */
void tlat_cyc_put_live(const struct tlat_cyc_stats *stats, const int64_t *smis, bool first);

void tlat_cyc_put_spikes(const struct tlat_cyc_stats *stats);

/* -b; thread -1: no value was above. */
void tlat_cyc_put_break(const struct tlat_cyc_stats *stats, int32_t thread, int64_t value);

/* cyclictest_hist.c */
void tlat_cyc_put_histogram(const struct tlat_cyc_stats *stats, const int64_t *smis, FILE *out);

/* cyclictest_json.c: the document; returns false when the file did not take it. */
struct tlat_cyc_document {
	const struct tlat_cyc_config *config;
	const struct tlat_cyc_stats *stats;
	const struct tlat_machine *machine;
	int argc;
	char **argv;
	int64_t start_s, end_s; /* CLOCK_REALTIME */
	int code;
};

bool tlat_cyc_write_json(const struct tlat_cyc_document *document, FILE *out);

#endif /* TLAT_CYCLICTEST_TEXT_H */
