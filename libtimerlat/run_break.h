/* SPDX-License-Identifier: MIT */
/* run_break.h - the end of a run at the first value above a limit. */
#ifndef TLAT_RUN_BREAK_H
#define TLAT_RUN_BREAK_H

#include <stdatomic.h>

#include "result.h"

/* The kernel's trace as it is mounted: where a mark goes, and what stops it. */
struct tlat_trace_stop {
	int marker_fd, on_fd; /* -1: not asked for */
};

/* Nothing is open. */
#define TLAT_TRACE_STOP_NONE ((struct tlat_trace_stop){ -1, -1 })

/*
 * Open both below a root directory. -ENOENT where no tracefs is mounted, -EACCES and the like, with
 * the remedy.
 */
int tlat_trace_stop_open(struct tlat_trace_stop *trace, int root_fd, struct tlat_error *reterr);
void tlat_trace_stop_close(struct tlat_trace_stop *trace);

/* One per book; written by the thread that records. */
struct tlat_break {
	int64_t above; /* unit of the latency */
	int64_t above_ns;
	double ns_per_unit;
	atomic_int *request; /* the run's: its end */
	const struct tlat_trace_stop *trace;
	const char *probe;
	bool hit;
	int trace_error;	     /* positive errno: the mark did not get into the trace */
	struct tlat_outlier outlier; /* the value that was above */
};

/* A value above the limit has been recorded: mark and stop the trace, ask for the end of the run.
 * Between two cycles, and for the first such value only. */
void tlat_break_hit(struct tlat_break *brk, const struct tlat_outlier *outlier);

/* Say what was hit, and whether the trace has it. */
void tlat_break_find(const struct tlat_break *brk, struct tlat_findings *findings);

#endif /* TLAT_RUN_BREAK_H */
