/* SPDX-License-Identifier: MIT */
/*
 * run.h - the loops' view of a run: what they are told, what they count. The
 * controller (run_control.c) prepares it, measuring threads (run_thread.c) call the
 * loops, run.c alone times a probe.
 */
#ifndef TLAT_RUN_H
#define TLAT_RUN_H

#include "probe.h"
#include "run_book.h"

/* Cycles between two looks at a waiter's switch counts: one per cycle moves a 1.7 us wake by
 * 2.4 %. */
#define TLAT_CENSUS_CYCLES	64
/* The same for a timer's loop, where a look only counts preemptions. It takes about 1 us on cold
 * caches, and the sample after it is another than the rest: 1024 leaves p99.9 to the others. */
#define TLAT_SOLO_CENSUS_CYCLES 1024
/* Cycles after a rest that are not measured. */
#define TLAT_REST_CYCLES	3
/* A real-time thread spins so long, or so many cycles, then rests a quarter of it: less than the
 * kernel's throttle allows. */
#define TLAT_REST_AFTER_NS	8000000LL
#define TLAT_REST_AFTER_CYCLES	16
/* A waker that has longer than two naps until its kick sleeps one. */
#define TLAT_NAP_NS		1000000L
/* A wait that lasts longer than this past its kick has been lost. */
#define TLAT_WAIT_BOUND_NS	1000000000LL
/* What should run and does not for longer was stopped; who waits for it rests meanwhile. */
#define TLAT_AWAY_NS		8000000LL
/* How long a cycle may still take to complete once the run is to end. */
#define TLAT_GRACE_NS		100000000LL

/* What a loop may do; times in the loop's own unit (ticks for pairs, ns for solo). */
struct tlat_limits {
	/* every cycle looks at these two */
	const atomic_int *request; /* set when somebody wants the run to end */
	uint64_t rest_after;	   /* 0: never */
	uint64_t samples;	   /* cycles or slots asked; UINT64_MAX: no limit */
	uint64_t duration;	   /* of measurement; UINT64_MAX: no limit */
	uint64_t warmup;	   /* cycles at most */
	uint64_t warmup_span;	   /* time at most; UINT64_MAX: no limit */
	uint64_t rest, rest_ns;	   /* how long, in the loop's unit and in ns */
	uint64_t away;		   /* longer than this: something kept the thread from its CPU */
};

static inline bool tlat_run_requested(const struct tlat_limits *limits)
{
	return atomic_load_explicit(limits->request, memory_order_relaxed);
}

/* Sleep rest_ns, so that others get the CPU. */
void tlat_run_rest(const struct tlat_limits *limits);

/* Cycles to leave out after a rest. None where the run got no further since the one before, neither
 * warm nor to a sample: cycles that are long against what lies between two rests never would. */
static inline uint64_t tlat_rest_cycles(bool got_further)
{
	return got_further ? TLAT_REST_CYCLES : 0;
}

/* The sides' fields are ordered by announced_seq; that they are atomic at all is for a waiter that
 * wakes unasked while the waker reads. */
#define tlat_get(field)	       atomic_load_explicit(&(field), memory_order_relaxed)
#define tlat_set(field, value) atomic_store_explicit(&(field), value, memory_order_relaxed)

/* Written by the waiter, read by the waker; what every cycle needs is on the first line. */
struct tlat_waiter_line {
	alignas(TLAT_CACHE_LINE) atomic_ullong announced_seq; /* cycles announced */
	atomic_ullong announced;			      /* stamp of the last announcement */
	atomic_ullong woken_at;				      /* stamp of the last wake */
	atomic_ullong back;				      /* its second stamp, 0: none */
	atomic_ullong rests;
	atomic_int cpu;	    /* where the last wake was stamped */
	atomic_int replied; /* round trip: what the reply's kick returned */
	atomic_bool awake;  /* the last wait found nothing to sleep for */
	atomic_bool merged; /* the last wake stands for more than one kick */
	atomic_bool slept;  /* --verify: the last wait gave up the CPU */
	atomic_bool resting;
	atomic_bool gone;			      /* the waiter has left its loop */
	alignas(TLAT_CACHE_LINE) uint64_t not_asleep; /* waits without a voluntary switch */
	uint64_t preempted;			      /* involuntary switches */
	int32_t error;				      /* negative errno when a wait failed */
};

/* Written by the waker, read by the waiter. */
struct tlat_waker_line {
	alignas(TLAT_CACHE_LINE) atomic_bool measuring;
};

struct tlat_pair {
	struct tlat_waiter_line waiter;
	struct tlat_waker_line waker;
	struct tlat_probe_ctx *ctx;
	struct tlat_probe_ctx *reply; /* round trip: the way back; else NULL */
	atomic_int *stop;	      /* ctx->stop of both, writable */
	struct tlat_limits limits;
	uint64_t settle, dither, interval; /* ticks; interval 0: closed loop */
	uint64_t wait_bound, grace;	   /* ticks */
	uint64_t nap_before;		   /* ticks: farther from the kick the waker sleeps */
	uint64_t lead; /* self-test: every second cycle's settle time is shorter by this */
	uint64_t seed;
	bool sleeps; /* a wait that does not sleep is remarkable */
	bool verify;
	bool yields; /* one CPU without strict priority: hand it over after a kick */
};

struct tlat_solo {
	alignas(TLAT_CACHE_LINE) struct tlat_probe_ctx *ctx;
	struct tlat_limits limits;
	uint64_t interval, phase; /* ns */
	uint64_t tick;		  /* ns; phase counts from a multiple of it */
	uint64_t start;		  /* the same for all threads of a run; 0: when the loop begins */
	bool complete;		  /* limits.samples is of recorded ones */
};

/* The two sides of a pair, each on its thread. The waker keeps the book: it alone knows both
 * stamps and what the kick answered. */
void tlat_run_waiter(struct tlat_pair *pair, const struct tlat_probe_side *side);
void tlat_run_waker(struct tlat_pair *pair, const struct tlat_probe_side *side,
		    const struct tlat_probe_side *reply, struct tlat_book *book);

/* A timer on a grid, on its own thread. */
TLAT_HOT void tlat_run_solo(struct tlat_solo *solo, const struct tlat_probe_side *side,
			    struct tlat_book *book);

/* Stamp, kick, wait, stamp on one thread: the null probe, and the floor. */
void tlat_run_loopback(struct tlat_probe_ctx *ctx, const struct tlat_limits *limits,
		       const struct tlat_probe_side *side, struct tlat_book *book);

#endif /* TLAT_RUN_H */
