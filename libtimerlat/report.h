/* SPDX-License-Identifier: MIT */
/*
 * report.h - the inside of a report, and what its files share: figures of a
 * distribution, the JSON document behind a report that was read, file access.
 */
#ifndef TLAT_REPORT_H
#define TLAT_REPORT_H

#include "machine.h"
#include "result.h"
#include "stats.h"
#include "uncertainty.h"

#define TLAT_REPORT_SCHEMA    "timerlat-report/1"
#define TLAT_REPORT_BYTES_MAX (64u << 20) /* a longer document is refused */

/* Figures of the machine; sets in the kernel's list syntax, NULL: not known. */
struct tlat_report_machine {
	bool known;
	struct tlat_machine_facts facts;
	char *online, *isolated, *isolated_requested, *nohz_full, *allowed, *cpuset;
};

/* Where the run stands in a comparison; strings are owned, NULL: not known. */
struct tlat_position {
	bool known;
	char *order, *command, *setup, *metric;
	uint64_t seed;
	int32_t side, pair, planned, looks;
};

struct tlat_report {
	char id[37];	  /* random UUID */
	char boot_id[37]; /* "": not known */
	struct tlat_position position;
	bool placed; /* a design was recorded since the report was read */
	char **argv; /* NULL-terminated; NULL: no origin was told */
	char *repeat;
	int64_t start_ns;    /* CLOCK_REALTIME; 0: a report was read that does not say */
	int64_t duration_ns; /* measured; runs that follow each other add up */
	uint64_t seed;
	struct tlat_report_machine machine;
	struct tlat_calibration *clock; /* NULL: not known */
	int64_t slew_ppb;
	struct tlat_findings findings;
	struct tlat_result **results;
	size_t n_results;
	/* A report that was read keeps its document, and is written from it. */
	void *document;
	size_t n_findings_read;
	int32_t end_read;	 /* enum tlat_end, as the document says */
	bool appended;		 /* results were added since it was read */
	int32_t verdict;	 /* enum tlat_verdict of the whole, TLAT_NO_VERDICT */
	struct tlat_fact *facts; /* made when first asked for, and again after an append */
	size_t n_facts;
};

/* report.c */

/* An object with nothing in it, not even an id; NULL: no memory. */
struct tlat_report *tlat_report_alloc(void);
/* Put result at the end of results, which have room for it. */
void tlat_report_own(struct tlat_report *report, struct tlat_result *result);
/* Give result the report's calibration, unless it has its own. 0 or -ENOMEM. */
int tlat_report_calibrate(const struct tlat_report *report, struct tlat_result *result);
/* Whether result's figures have the uncertainty that the report's own clock gives them. */
bool tlat_report_has_clock_of(const struct tlat_report *report, const struct tlat_result *result);

/* design.c */

void tlat_position_free(struct tlat_position *position);

/* summary.c: what JSON and C access both say about a distribution */

#define TLAT_QUANTILES 5

struct tlat_quantile {
	const char *key; /* "p50_ns" */
	double p;
};

extern const struct tlat_quantile tlat_quantiles[TLAT_QUANTILES];

/* All in ns; NAN where the samples cannot carry it. */
struct tlat_figures {
	uint64_t n;
	double min_ns, max_ns, mean_ns, sd_ns;
	struct tlat_estimate q[TLAT_QUANTILES];
};

/* hist NULL: nothing measured. blocks NULL: every sample counts as independent. */
void tlat_figures(const struct tlat_hist *hist, const struct tlat_blocks *blocks,
		  struct tlat_figures *ret);
double tlat_hist_ns(const struct tlat_hist *hist, double value);

/*
 * The latency with all expiries put back that hid behind a late one, to be freed, or its figures.
 * Returns how many, -ENODATA when there is nothing to correct, or -ENOMEM.
 */
int64_t tlat_result_corrected_hist(const struct tlat_result *result, struct tlat_hist **ret_hist);
int64_t tlat_result_corrected(const struct tlat_result *result, struct tlat_figures *ret);

enum tlat_figure_kind { TLAT_FIGURE_ESTIMATE, TLAT_FIGURE_EXTREME };

/*
 * Uncertainty of one figure of the result's latency, with its interval and number of independent
 * samples if it is an estimate. Returns 0, or -ENODATA when the clock is not known, from one CPU
 * to another the offset of their counters is not, or value_ns is no number.
 */
int tlat_result_uncertainty(const struct tlat_result *result, enum tlat_figure_kind kind,
			    const struct tlat_estimate *estimate_ns, struct tlat_uncertainty *ret);

/* result_sum.c: results of one probe added up */

/* Forget what cannot be added up, and the document that the result was read from. */
void tlat_result_forget(struct tlat_result *result);
/* Where from lies on the time line of a sum whose runs follow each other; 0 < begin < end. */
struct tlat_stretch {
	int64_t begin_ns, end_ns;
};
/* Add all of from but its blocks, raw values, floors and duration. stretch NULL: both are of the
 * same time; else into ends where that begins. The clock of the sum is the worst in each respect;
 * a CPU, thread id or relation that they do not share is dropped. 0; -EINVAL: their units are more
 * than 100 ppm apart; -ENOMEM. On failure into is of no use. */
int tlat_result_add(struct tlat_result *into, const struct tlat_result *from,
		    const struct tlat_stretch *stretch);
/* Add from to *into, which may not exist, or drop that where from has none. 0, or -EINVAL as above.
 */
int tlat_hist_add_side(struct tlat_hist **into, const struct tlat_hist *from);

/*
 * rare.c: how many samples count as one beyond a value, in units of the histogram: as many as at
 * the outermost quantile that the samples carry and that is not above it. At least 1. hist is not
 * empty; blocks may be NULL.
 */
double tlat_tail_tau(const struct tlat_hist *hist, const struct tlat_blocks *blocks, double beyond);

/* report_file.c: no JSON in here */

/* All of a file ("-": standard input), at most max bytes; *ret_more: the file is longer. */
ssize_t tlat_file_read(const char *path, size_t max, char **ret_text, bool *ret_more,
		       struct tlat_error *reterr);
/* Replace the file by text, or add text to its end; "-": standard output. */
int tlat_file_replace(const char *path, const char *text, size_t n, struct tlat_error *reterr);
int tlat_file_append(const char *path, const char *text, size_t n, struct tlat_error *reterr);

/* report_read.c */

/* Read the first document in text; name stands for it in errors. more: text was cut. */
int tlat_report_read_text(struct tlat_report **ret_report, const char *text, size_t n, bool more,
			  const char *name, struct tlat_error *reterr);
void tlat_document_free(void *document);

/*
 * report_sources.c: the id of a run that the report holds, its own first, then those of a sum, one
 * of which is its own; "": not known. NULL past the last.
 */
const char *tlat_report_run_id(const struct tlat_report *report, size_t index);

/* report_twice.c */

struct tlat_run_twice {
	const char *id;
	size_t first, other; /* reports */
};

/* Whether two of the reports hold one run, as far as ids are known: 1, with the first such; 0;
 * -ENOMEM. */
int tlat_report_twice(struct tlat_report *const *reports, size_t n, struct tlat_run_twice *ret);

/* report_facts.c: fill facts, which are empty. 0 or -ENOMEM, with some of them there. */
int tlat_report_facts_make(struct tlat_report *report);

#endif /* TLAT_REPORT_H */
