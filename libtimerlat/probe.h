/* SPDX-License-Identifier: MIT */
/*
 * probe.h - what a probe is: a table of operations around one way of being
 * woken, expired or signalled. run.c owns time and the loops; a probe owns the
 * operation, and takes exactly one stamp: the first act awake in wait().
 */
#ifndef TLAT_PROBE_H
#define TLAT_PROBE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>

#include "clock.h"

enum tlat_probe_flags {
	TLAT_PROBE_PAIR = 1 << 0,	  /* kick() here, wait() there */
	TLAT_PROBE_FANOUT = 1 << 1,	  /* one kick wakes many waiters */
	TLAT_PROBE_PERIODIC = 1 << 2,	  /* armed once; the kernel keeps the grid */
	TLAT_PROBE_RELATIVE = 1 << 3,	  /* no absolute form: closed loop, own due() */
	TLAT_PROBE_NOSLEEP = 1 << 4,	  /* wait() spins: exempt from the slept test */
	TLAT_PROBE_EQUAL_PRIO = 1 << 5,	  /* both sides at one priority */
	TLAT_PROBE_FORK = 1 << 6,	  /* sides are processes */
	TLAT_PROBE_LIBRARY_COST = 1 << 7, /* includes the C library's work */
	TLAT_PROBE_TICK_BOUND = 1 << 8,	  /* expires on the scheduler tick or wheel */
	TLAT_PROBE_LOOPBACK = 1 << 9,	  /* kick() and wait() on one thread: null */
	TLAT_PROBE_SOFT_EXPIRY = 1 << 10, /* expires in softirq where PREEMPT_RT is on */
	TLAT_PROBE_DRIFTS = 1 << 11,	  /* re-armed by when it was served: no grid */
	TLAT_PROBE_RETURNS = 1 << 12,	  /* wait() gives the second stamp */
};

enum tlat_probe_role { TLAT_ROLE_KICK, TLAT_ROLE_WAIT };

/* No absolute deadline: closed loop, nothing can be missed. */
#define TLAT_PROBE_CLOSED (TLAT_PROBE_RELATIVE | TLAT_PROBE_TICK_BOUND)

#define TLAT_KICK_UNTOLD INT32_MAX /* the call does not say whom it woke */

/* One instance of a probe: a pair, or one solo thread. On one cache line: it is what a waiter needs
 * first when it wakes. */
struct tlat_probe_ctx {
	alignas(TLAT_CACHE_LINE) const struct tlat_probe_ops *ops;
	struct tlat_stamper stamper;
	void *shared;		/* shared_size bytes, zeroed, prefaulted, MAP_SHARED */
	const atomic_int *stop; /* set when the run ends; wait() gives up when it sees it */
	int64_t interval_ns;	/* solo: period of this thread; known when open() is called */
	bool same_cpu;
};

static_assert(sizeof(struct tlat_probe_ctx) == TLAT_CACHE_LINE, "a context is one cache line");

/* One measuring thread's part in an instance. */
struct tlat_probe_side {
	enum tlat_probe_role role;
	void *state; /* side_size bytes, zeroed, prefaulted, own cache lines */
};

/* What one wait() brought, except due, which it is given. */
struct tlat_probe_event {
	uint64_t due;  /* solo: the expiry waited for, as due() gave it */
	uint64_t at;   /* the stamp: first act awake */
	uint64_t back; /* optional second stamp (sigreturn), 0: none */
	uint64_t n;    /* expirations or kicks that this event stands for, >= 1 */
	bool awake;    /* the wait saw that there was nothing to sleep for */
};

/* A periodic timer looked at when its loop is over. */
struct tlat_probe_tally {
	uint64_t pending; /* expirations that no wait() has taken; taken now */
	uint64_t left_ns; /* until the next one */
};

/* What every cycle needs comes first, on one cache line. */
struct tlat_probe_ops {
	alignas(TLAT_CACHE_LINE) uint32_t flags;
	clockid_t clock; /* solo: the clock that deadlines and stamps are on */
	/* On both sides before each cycle, unmeasured: drain, re-lock. Of a round trip's reply on
	 * the side that waits for it. */
	void (*ready)(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side);
	/* Solo: program an expiry at due (ns on ops->clock), which is what due() gave; PERIODIC:
	 * the first of a grid. NULL: nothing is to be programmed; wait() has it in any case. */
	int (*arm)(struct tlat_probe_ctx *ctx, uint64_t due);
	/* Pair: wake. Returns waiters woken, TLAT_KICK_UNTOLD, or a negative errno. Solo: end a
	 * wait that no signal ends, on the controller. */
	int (*kick)(struct tlat_probe_ctx *ctx);
	/* Block until woken; the stamp is the first act awake. 0, -EINTR: interrupted while the
	 * run ends, other negative errno: the run fails. */
	int (*wait)(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		    struct tlat_probe_event *event);
	/* Pure. What the kernel promised for a deadline asked at time armed; NULL: as asked. */
	uint64_t (*due)(const struct tlat_probe_ctx *ctx, uint64_t armed, uint64_t asked);

	const char *name; /* "wake-futex" */
	const char *from; /* "before futex(FUTEX_WAKE)" */
	const char *to;	  /* "after futex(FUTEX_WAIT) returned" */
	size_t shared_size;
	size_t side_size;
	/* NULL: always. Side-effect free; else why not and the remedy. */
	int (*supported)(struct tlat_error *reterr);
	/* Once per instance, on the controller, before threads exist. */
	int (*open)(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		    struct tlat_error *reterr);
	/* On each measuring thread, its policy applied. */
	int (*enter)(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		     struct tlat_error *reterr);
	/* PERIODIC, when the kernel counts expirations: what is left of the count. Called after the
	 * last wait() until it meets no expiry on its way; 0 or a negative errno. */
	int (*tally)(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		     struct tlat_probe_tally *tally);
	void (*leave)(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side);
	void (*close)(struct tlat_probe_ctx *ctx);
	/* The same probe with a waiter that is busy until it is woken; NULL: it has none. */
	const struct tlat_probe_ops *busy;
};

static_assert(offsetof(struct tlat_probe_ops, name) <= TLAT_CACHE_LINE, "a cycle needs one line");

/* The one stamp of a probe. [hot] */
static inline uint64_t tlat_stamp(const struct tlat_probe_ctx *ctx)
{
	return tlat_stamp_end(&ctx->stamper);
}

/* The next multiple of unit. [hot] */
static inline int64_t tlat_round_up(int64_t value, int64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Whether the run is over. [hot] */
static inline bool tlat_probe_stopping(const struct tlat_probe_ctx *ctx)
{
	return atomic_load_explicit(ctx->stop, memory_order_relaxed);
}

/* probes.c */
extern const struct tlat_probe_ops *const tlat_probes[];
extern const size_t tlat_probe_count;
const struct tlat_probe_ops *tlat_probe_find(const char *name);

#endif /* TLAT_PROBE_H */
