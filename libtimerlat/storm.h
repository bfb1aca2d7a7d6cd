/* SPDX-License-Identifier: MIT */
/*
 * storm.h - a storm of timer signals, inside. Each worker is a process of one thread: it can be
 * killed when its signals leave it no time, signals and process-wide CPU clocks are its own, and
 * the program that asked for the storm keeps its handlers. All of this memory is shared.
 */
#ifndef TLAT_STORM_H
#define TLAT_STORM_H

#include <stdalign.h>
#include <stdatomic.h>

#include "clock.h"
#include "helper.h"
#include "hist.h"
#include "machine.h"
#include "result.h"
#include "storm_law.h"

/* == What can storm == */

enum tlat_storm_kind {
	TLAT_STORM_POSIX,  /* timer_create(2), a queued signal each */
	TLAT_STORM_CPU,	   /* the same on a CPU-time clock, which the tick looks at */
	TLAT_STORM_ITIMER, /* setitimer(2): no count of overruns */
	TLAT_STORM_TIMERFD,
	TLAT_STORM_URING, /* io_uring timeouts, armed anew after each */
};

struct tlat_storm_clock {
	const char *name; /* "itimer-real" */
	enum tlat_storm_kind kind;
	clockid_t id; /* that its expiries are on */
	int which;    /* of setitimer(2) */
	int signal;   /* 0: none, or the one of POSIX timers */
};

#define TLAT_STORM_CLOCKS 11
extern const struct tlat_storm_clock tlat_storm_clocks[TLAT_STORM_CLOCKS];

/*
 * A list of names, "posix", "itimers" and "all", joined by commas, as bits 1 << index. 0 or -EINVAL
 * with the bad word.
 */
int tlat_storm_clocks_parse(const char *list, uint32_t *ret_clocks, struct tlat_error *reterr);

/* == What is asked == */

static inline int tlat_storm_count_clocks(uint32_t clocks)
{
	return __builtin_popcount(clocks);
}

#define TLAT_STORM_TIMERS_MAX 4096 /* of one worker */

/* What the handler does besides counting: what a published load does. */
enum tlat_storm_body {
	TLAT_STORM_SIGPENDING = 1 << 0,
	TLAT_STORM_GETOVERRUN = 1 << 1,
	TLAT_STORM_REARM = 1 << 2,
	TLAT_STORM_LINGER = 1 << 3,   /* before it re-arms, until the next expiry has passed */
	TLAT_STORM_BACK_OFF = 1 << 4, /* the period follows the main loop's progress */
};

struct tlat_storm_plan {
	uint32_t clocks;
	uint32_t body;
	int64_t interval_ns, itimer_interval_ns;
	int64_t nap_ns; /* of the main loop */
	int64_t duration_ns;
	int32_t timers; /* of each clock */
	int32_t policy, priority;
	bool yields; /* the main loop does, after its nap */
};

/* == What happened == */

#define tlat_storm_get(field)	     atomic_load_explicit(&(field), memory_order_relaxed)
#define tlat_storm_set(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)
/* By the one writer of the field; others may look. */
#define tlat_storm_add(field, n)     tlat_storm_set(field, tlat_storm_get(field) + (n))

struct tlat_storm_timer {
	alignas(TLAT_CACHE_LINE) atomic_ullong delivered; /* signals or reads */
	atomic_ullong expired;		/* 1 + overruns of each; itimers: by their grid */
	struct tlat_storm_grid grid;	/* of this arming */
	uint64_t told;			/* expirations told since it was armed */
	uint64_t stamp_mask;		/* deliveries with any of these bits in their number
					 * are not stamped */
	uint64_t earliest;		/* re-arming: no expiry can be before */
	atomic_ullong stale;		/* delivered before earliest */
	atomic_ullong checks, breaches; /* of the law of conservation */
	uint64_t breach_s, breach_lo, breach_hi;
	struct tlat_hist *lateness; /* of its clock; NULL: not known */
	int32_t id;		    /* timer_t of the kernel, or a descriptor; -1: none */
	int32_t clock;		    /* index */
	int32_t error;		    /* why it is not armed any more, negative errno; 0: it is */
	bool wanted;		    /* its last dequeue has not been timed yet */
};

enum tlat_storm_stage {
	TLAT_STORM_STARTING,
	TLAT_STORM_READY, /* everything made, nothing armed */
	TLAT_STORM_ENDED, /* all counted */
	TLAT_STORM_FAILED,
};

struct tlat_storm;

struct tlat_storm_worker {
	alignas(TLAT_CACHE_LINE) atomic_int stage;
	atomic_ullong progress; /* turns of the main loop */
	atomic_ullong signals;
	atomic_ullong period_ns; /* now: back-off changes it */
	struct tlat_storm *storm;
	int32_t cpu, policy;
	struct tlat_side_facts got;
	int32_t error;	  /* why it failed, negative errno */
	char what[64];	  /* failed */
	int32_t refused;  /* timers that the signal limit refused */
	uint32_t missing; /* clocks that this kernel does not have, bits */
	int32_t n_timers;
	struct tlat_storm_timer *timers;
	uint64_t began_ns, ended_ns; /* CLOCK_MONOTONIC */
	uint64_t progress_at_ns;     /* the last turn */
	uint64_t longest_pause_ns;   /* between two turns */
	uint64_t last_good_ns;	     /* back-off: a period at which there was progress */
	uint64_t back_offs;
	/* back-off: what the periods before this one asked of each timer, and until when */
	uint64_t asked, asked_until_ns;
	int64_t cpu_ns;
	uint64_t voluntary, involuntary, minor_faults, major_faults;
	/* by others */
	atomic_bool killed; /* the watchdog did */
	uint64_t gone_ns;   /* the controller saw that it had ended; 0: it has not */
	int status;	    /* what it exited with, or minus the signal that ended it */
};

struct tlat_storm {
	atomic_uint go; /* a futex */
	atomic_int stop;
	atomic_ullong end_ns; /* CLOCK_MONOTONIC; 0: not begun */
	struct tlat_storm_plan plan;
	int32_t n_workers;
	struct tlat_storm_worker *workers;
	/* for the watchdog */
	struct tlat_helper *helpers;
	int32_t house, watch_priority;
	uint64_t patience_ns; /* after end_ns it kills */
	size_t bytes;	      /* of the whole mapping */
};

/* == Who does it == */

/* storm_stop.c: whether the storm is over. In signal handlers too: the thread may never get back
 * to its loop. seen: how many signals came so far. */
bool tlat_storm_stopping(struct tlat_storm *storm, uint64_t seen);

/* storm_worker.c, storm_watchdog.c: helpers. */
void tlat_storm_work(void *worker);
void tlat_storm_watch(void *storm);

/* storm_signal.c, in a worker: handlers of the storm's signals, which stay blocked for now. */
void tlat_storm_signals(struct tlat_storm_worker *worker);
void tlat_storm_block(bool block);
/* Arm all timers that send signals, on new grids. */
void tlat_storm_arm(struct tlat_storm_worker *worker);
void tlat_storm_disarm(struct tlat_storm_worker *worker);
/* Take what is pending, check the law on every timer. The signals are blocked. */
void tlat_storm_close_books(struct tlat_storm_worker *worker);
/* Note whether the law of conservation holds for s expirations, and what the grid has. */
void tlat_storm_check(struct tlat_storm_timer *timer, uint64_t s, bool holds, uint64_t lo,
		      uint64_t hi);
/* One delivery of n expirations. */
void tlat_storm_count(struct tlat_storm_timer *timer, uint64_t n);

/* storm_fd.c, in a worker: sources that are read. */
int tlat_storm_fds_open(struct tlat_storm_worker *worker);
/* Arm those of them on new grids. */
void tlat_storm_fds_arm(struct tlat_storm_worker *worker);
/* Wait at most nap_ns for one and read all that are ready; false: there are none. */
bool tlat_storm_fds_turn(struct tlat_storm_worker *worker, int64_t nap_ns);
void tlat_storm_fds_close(struct tlat_storm_worker *worker);
/* Whether timers of io_uring can be among them; else why not and the remedy. */
int tlat_storm_uring_supported(struct tlat_error *reterr);

/* == Its controller: storm.c, storm_report.c == */

/* Mean and spread of values that come one by one. */
struct tlat_spread {
	uint64_t n;
	double mean, m2;
};

/* Counters of one worker at the last look, and the rates between looks. */
struct tlat_storm_series {
	uint64_t delivered[TLAT_STORM_CLOCKS], expired[TLAT_STORM_CLOCKS], progress;
	struct tlat_spread delivered_hz[TLAT_STORM_CLOCKS], expired_hz[TLAT_STORM_CLOCKS];
	struct tlat_spread progress_hz;
	uint64_t idle[2], all[2]; /* ticks of its CPU, before and after */
};

struct tlat_storm_session {
	struct tlat_storm_opts opts; /* as given; strings are the caller's */
	const struct tlat_machine *machine;
	struct tlat_machine *own_machine; /* NULL: borrowed */
	struct tlat_clock *clock;	  /* the kernel's, for the end check */
	struct tlat_placement *place;
	struct tlat_storm_plan plan;
	struct tlat_findings findings, of_result;
	struct tlat_storm *storm; /* NULL: none is up */
	struct tlat_helper watchdog;
	struct tlat_storm_series *series;
	struct pollfd *ends; /* of the workers; those that are gone have none */
	/* whether clocks are set meanwhile: how far ahead each was, and which were, bits */
	struct tlat_clock_lead leads[TLAT_STORM_CLOCKS];
	uint32_t were_set;
	struct tlat_watch *watch;
	struct tlat_watch_delta *seen;
	int64_t realtime_ns;
	bool stopped;	    /* by the caller */
	int32_t policy;	    /* granted */
	int64_t returns_ns; /* no progress: the first longer period that has some; 0: none */
};

/* storm_plan.c: 0 or -EINVAL. Fills session->plan from session->opts. */
int tlat_storm_opts_check(const struct tlat_storm_opts *opts, struct tlat_error *reterr);
int tlat_storm_plan(struct tlat_storm_session *session, struct tlat_error *reterr);

/* storm_control.c: the storm, from the first process to the last; 0 or a negative errno. */
int tlat_storm_measure(struct tlat_storm_session *session, struct tlat_error *reterr);
/* Free what a storm leaves. */
void tlat_storm_forget(struct tlat_storm_session *session);

void tlat_spread_add(struct tlat_spread *spread, double value);
double tlat_spread_sd(const struct tlat_spread *spread);

/* Of one that is gone: whether it did not get to the end of its books. */
bool tlat_storm_broke(const struct tlat_storm_worker *worker);
/* How long the main loop of a worker got nowhere, at worst; and whether that is long. */
uint64_t tlat_storm_pause_ns(const struct tlat_storm_worker *worker);
bool tlat_storm_is_stuck(const struct tlat_storm_worker *worker);

/* storm_report.c: one result for each worker. 0 or a negative errno. */
int tlat_storm_report(struct tlat_storm_session *session, struct tlat_report **ret_report);

/* storm_idle.c: ticks of a CPU, idle and all, from /proc/stat; false: not known, and not set. */
bool tlat_storm_idle(int root_fd, int32_t cpu, uint64_t *ret_idle, uint64_t *ret_all);
/* Which share of the ticks between two readings was idle; 0 is a reading that is not known. NAN:
 * not known, also when the counters were started anew. */
double tlat_storm_idle_share(const uint64_t idle[2], const uint64_t all[2]);

#endif /* TLAT_STORM_H */
