/* SPDX-License-Identifier: MIT */
/*
 * result.h - what one measuring thread's result is made of. run.c and run_control.c
 * fill it, report.c computes from it, writes it and reads it back.
 */
#ifndef TLAT_RESULT_H
#define TLAT_RESULT_H

#include "clock.h"
#include "hist.h"
#include "watch.h"

enum tlat_rejected {
	TLAT_REJECTED_NOT_ASLEEP, /* the kick said it woke nobody */
	TLAT_REJECTED_TIMEOUT,	  /* a wait hit its bound */
	TLAT_REJECTED_COALESCED,  /* signals merged into one */
	TLAT_REJECTED_COUNT,
};

enum tlat_disturbed {
	TLAT_DISTURBED_NOT_ASLEEP, /* fewer voluntary switches than waits */
	TLAT_DISTURBED_PREEMPTED,  /* involuntary switches of a measuring thread */
	TLAT_DISTURBED_MIGRATED,   /* a stamp on another CPU than planned */
	TLAT_DISTURBED_LATE_SLOT,  /* the slot had passed before the announcement */
	TLAT_DISTURBED_STEAL,	   /* ticks that the hypervisor took from its CPUs */
	TLAT_DISTURBED_THROTTLED,  /* the cgroup was throttled: the same for all threads */
	TLAT_DISTURBED_COUNT,
};

/* As tlat_result_count() names them, indexed by the enums: "rejected.timeout". */
extern const char *const tlat_rejected_names[TLAT_REJECTED_COUNT];
extern const char *const tlat_disturbed_names[TLAT_DISTURBED_COUNT];
/* Their key in the report: "timeout". */
const char *tlat_counter_key(const char *name);

/* asked = recorded + early + overflow + missed + rejected + unfinished, always. */
struct tlat_counts {
	uint64_t asked, recorded, early, overflow, missed, unfinished;
	uint64_t rejected[TLAT_REJECTED_COUNT];
	uint64_t disturbed[TLAT_DISTURBED_COUNT];
};

/* The counters that are one member each, in the order of the report. */
#define TLAT_COUNTERS 6
extern const struct tlat_counter {
	const char *name;
	size_t offset; /* in struct tlat_counts */
} tlat_counters[TLAT_COUNTERS];
uint64_t tlat_counter(const struct tlat_counts *counts, size_t i);

/* One side as the kernel had it, read back. */
struct tlat_side_facts {
	int32_t cpu, policy, priority;
	int32_t tid;
	int64_t slack_ns;
	int64_t runtime_ns, deadline_ns, period_ns; /* under SCHED_DEADLINE, else 0 */
};

struct tlat_outlier {
	int64_t value; /* unit of the latency histogram */
	int64_t t_ns;  /* since the start of measurement */
	uint64_t seq;  /* cycle or slot number */
	int32_t cpu;
	int32_t reserved;
};

#define TLAT_OUTLIERS_MAX 64

/* The largest values so far; a min-heap, so that most samples cost one compare. */
struct tlat_outliers {
	size_t n;
	struct tlat_outlier v[TLAT_OUTLIERS_MAX];
};

/* The worse, the larger. */
enum tlat_end {
	TLAT_END_COUNT,
	TLAT_END_TIME,
	TLAT_END_SIGNAL,
	TLAT_END_BREAK,
	TLAT_END_ERROR,
	TLAT_END_RUNNING, /* it has not: a snapshot */
	TLAT_END_KINDS,
};
extern const char *const tlat_end_names[TLAT_END_KINDS];

/* One of "metrics"; a value that is no number was null. */
struct tlat_number {
	char name[48], unit[16];
	int32_t better; /* -1: lower, 1: higher, 0: neither */
	double value, sd;
	uint64_t n;
};

#define TLAT_NO_VERDICT (-1) /* no budget was given */

/* A budget that the result was held against, and what came of it. */
struct tlat_judged_term {
	char *text; /* the line of tlat_budget_check() */
	int32_t verdict;
};

struct tlat_judgement {
	char *expr; /* as given */
	struct tlat_judged_term *terms;
	size_t n_terms;
	int32_t verdict; /* the worst of the terms */
};

void tlat_judgement_free(struct tlat_judgement *judgement);

struct tlat_result {
	const char *kind; /* static; NULL: "latency" */
	char probe[48], from[128], to[128];
	int32_t thread;
	bool pair, round_trip, verify, has_kick, supported, periodic;
	const char *relation; /* static, NULL for solo */
	struct tlat_side_facts wait, kick;
	/* As the run asked; a waker that is to come second has a lower priority than the waiter. */
	int32_t policy_asked, priority_asked, kick_priority_asked;
	int64_t interval_ns, settle_ns, dither_ns, phase_ns, duration_ns, inject_ns;
	int64_t cpu_latency_ns; /* held during the run; -1: not touched */
	int64_t break_ns;	/* the run was to end above this; 0: no */
	int32_t target;		/* pairs: enum tlat_target */
	uint64_t warmup;	/* unmeasured cycles, those after rests included */
	uint64_t rests;
	bool injected;	     /* self-test delay in force */
	double injected_ns;  /* delay really spun, median */
	double recovered_ns; /* as the probe saw it: median of neighbours' differences */
	double recovered_u_ns;
	uint64_t chain_adds; /* additions before each kick; 0: none */
	double chain_add_ns; /* cost of one */
	struct tlat_counts counts;
	struct tlat_hist *latency;	      /* NULL: nothing measured */
	struct tlat_hist *call;		      /* NULL: same-CPU pair, solo */
	struct tlat_hist *dwell;	      /* NULL: solo */
	struct tlat_hist *back;		      /* NULL: the probe has no second stamp */
	struct tlat_hist *floor, *floor_pair; /* NULL: none */
	struct tlat_blocks *blocks;	      /* of latency */
	struct tlat_outliers *outliers;
	int64_t *raw; /* unit of latency */
	size_t n_raw;
	bool has_offset;
	struct tlat_clock_offset offset; /* kick CPU -> wait CPU */
	struct tlat_watch_delta *watch;
	char *repeat;			  /* command that repeats this result alone */
	int32_t end;			  /* enum tlat_end */
	int32_t verdict;		  /* enum tlat_verdict or TLAT_NO_VERDICT */
	struct tlat_judgement *judgement; /* NULL: no budget, or none that was recorded */
	struct tlat_number *metrics;
	size_t n_metrics;
	struct tlat_findings findings;
	/* Set by the report: what is said of its runs, what stamps were worth, the JSON that the
	 * result was read from. */
	const struct tlat_findings *of_run; /* NULL: it is in no report */
	struct tlat_calibration *clock;	    /* NULL: not known */
	int64_t slew_ppb;		    /* rate of CLOCK_MONOTONIC against the counter, bound */
	void *document;			    /* NULL: not read from a file */
};

struct tlat_result *tlat_result_new(void);
void tlat_result_free(struct tlat_result *result);
/* Whether its two stamps are of counters of two CPUs, so that their offset is in every sample. */
bool tlat_result_one_way(const struct tlat_result *result);

/* Left side minus right side of the accounting identity; 0 unless there is a bug. */
int64_t tlat_counts_balance(const struct tlat_counts *counts);
/* A figure from elsewhere: no run, no conditions. */
#define TLAT_KIND_METRIC "metric"
bool tlat_result_is_metric(const struct tlat_result *result);

uint64_t tlat_counts_rejected(const struct tlat_counts *counts);
uint64_t tlat_counts_disturbed(const struct tlat_counts *counts);

/* Share (0..1) of the time watched that a CPU spent in that state; NAN: not known. */
double tlat_idle_time_share(const struct tlat_watch_delta *watch,
			    const struct tlat_watch_idle *idle);

enum tlat_better { TLAT_LOWER = -1, TLAT_NEITHER = 0, TLAT_HIGHER = 1 };

/* metrics.c: append one; a value that is no number is left out, and so is one without memory. */
void tlat_result_add_metric(struct tlat_result *result, const struct tlat_number *figure);
/* A single number, named by a format. */
void tlat_result_put_metric(struct tlat_result *result, double value, const char *unit,
			    enum tlat_better better, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * report.c: an empty report of this machine and clock (both may be NULL), then results. Both are
 * copied: take the clock's end check before. run.start is now, unless told otherwise, and so is the
 * rate of CLOCK_MONOTONIC.
 */
int tlat_report_new(struct tlat_report **ret_report, const struct tlat_machine *machine,
		    const struct tlat_clock *clock, uint64_t seed);
/* When measurement began, CLOCK_REALTIME. */
void tlat_report_started(struct tlat_report *report, int64_t realtime_ns);
/* The most that CLOCK_MONOTONIC was slewed by meanwhile; results that are added later have it. */
void tlat_report_slewed(struct tlat_report *report, int64_t slew_ppb);
/* The report takes ownership of result. */
int tlat_report_add(struct tlat_report *report, struct tlat_result *result);
struct tlat_findings *tlat_report_findings(struct tlat_report *report);
/* result_sum.c: note whether the blocks of a latency are too few, in place of what was noted. */
void tlat_find_few_blocks(struct tlat_result *result);
/* All results are in: the findings, run-wide, move to it. With an error it is freed. Returns error.
 */
int tlat_report_hand_over(struct tlat_report *report, int error, struct tlat_findings *findings,
			  struct tlat_report **ret_report);

#endif /* TLAT_RESULT_H */
