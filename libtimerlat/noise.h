/* SPDX-License-Identifier: MIT */
/*
 * noise.h - gaps that a spinning thread sees, inside: the thread logs them, a controller on another
 * CPU looks at the kernel's counters every now and then, and both together say what a gap was.
 */
#ifndef TLAT_NOISE_H
#define TLAT_NOISE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "clock.h"
#include "gate.h"
#include "hist.h"
#include "machine.h"
#include "result.h"
#include "rt_budget.h"
#include "watch.h"

/* == What a gap was (noise_judge.c, pure) == */

enum tlat_noise_cause {
	TLAT_NOISE_INTERRUPTS, /* no switch, and an interrupt was counted for it */
	TLAT_NOISE_SWITCHES,   /* the thread was switched out */
	TLAT_NOISE_THROTTLING, /* likewise, after it had run for all that real-time threads may */
	TLAT_NOISE_STEAL,      /* the hypervisor says that it took the CPU */
	TLAT_NOISE_UNKNOWN,    /* nothing was counted: hypervisor or firmware */
	TLAT_NOISE_UNJUDGED,   /* no switch, and no room to keep it, or no counts to judge it by */
	TLAT_NOISE_CAUSES,
};

extern const char *const tlat_noise_cause_names[TLAT_NOISE_CAUSES];

struct tlat_noise_total {
	uint64_t count;
	int64_t ns, max_ns;
};

void tlat_noise_total_add(struct tlat_noise_total *total, int64_t length_ns);
void tlat_noise_total_merge(struct tlat_noise_total *into, const struct tlat_noise_total *from);

/* What tells throttling from other switches. */
struct tlat_noise_throttle {
	struct tlat_rt_budget budget;
	bool real_time;
	int64_t runs_since_ns;		/* the end of the last throttling */
	struct tlat_noise_total served; /* switches by which the fair server took its share */
};

/*
 * The cause of a gap in which the thread was switched: switches, which those of the fair server are
 * too, or throttling. To be called for each, in the order in which they happened; at_ns: since the
 * start.
 */
enum tlat_noise_cause tlat_noise_judge_switched(struct tlat_noise_throttle *throttle, int64_t at_ns,
						int64_t length_ns);

/* One in which it was not. */
struct tlat_noise_gap {
	int64_t length_ns;
	int32_t cause; /* enum tlat_noise_cause */
};

/* What was counted on the gaps' CPU while they happened. */
struct tlat_noise_counted {
	uint64_t interrupts;
	int64_t steal_ns;
	bool partial; /* interrupts could not be read: that there was none is not known */
};

/*
 * Fill in the causes of n gaps without a switch, in the order in which they happened. *spare:
 * interrupts counted before their gaps were logged, kept from call to call, 0 at first.
 */
void tlat_noise_judge(uint64_t *spare, struct tlat_noise_gap *gaps, size_t n,
		      const struct tlat_noise_counted *counted);

/* The part of what was counted that falls to the judged gaps, where others came meanwhile. */
struct tlat_noise_counted tlat_noise_part(const struct tlat_noise_counted *counted,
					  const struct tlat_noise_total *judged,
					  const struct tlat_noise_total *others);

/* == What the kernel counts (noise_count.c) == */

/* Since boot, as last read; a CPU that is offline, and a file that cannot be read, change nothing.
 */
struct tlat_noise_reading {
	uint64_t interrupts;
	int64_t steal_ns;
	bool has_interrupts, has_steal; /* ever */
	bool missed;			/* interrupts, the last time */
};

/* What was counted between two; nothing where that cannot be told. */
struct tlat_noise_counted tlat_noise_between(const struct tlat_noise_reading *before,
					     const struct tlat_noise_reading *after);

/* == The thread (noise_spin.c) == */

#define TLAT_NOISE_LOG 8192 /* gaps without a switch between two looks of the controller */

struct tlat_noise_thread {
	struct tlat_noise *noise;
	struct tlat_stamper stamper;
	uint64_t threshold, duration, look_every; /* ticks */
	int32_t cpu, policy, priority;
	pthread_t thread;
	bool running;
	struct tlat_side_facts facts;
	struct tlat_error why;
	/* what it sees */
	struct tlat_hist *hist;
	uint64_t *log;		      /* lengths of gaps without a switch, ticks */
	atomic_ullong written, taken; /* entries; written by the thread, taken by the controller */
	uint64_t switches;	      /* so far */
	struct tlat_noise_throttle throttle;
	struct tlat_noise_total seen[TLAT_NOISE_CAUSES]; /* what it can tell by itself */
	uint64_t began, ended;				 /* stamps */
	uint64_t displaced; /* times that it was off its CPU, and went back */
	int lost;	    /* why it could not; 0 */
	struct rusage before, after;
	atomic_bool done;
	/* what the controller makes of it */
	uint64_t spare;
	struct tlat_noise_reading counted;		   /* at its last look */
	struct tlat_noise_total totals[TLAT_NOISE_CAUSES]; /* in the end with those of seen */
};

static inline int64_t tlat_noise_ns(const struct tlat_noise_thread *t, uint64_t ticks)
{
	return (int64_t)((double)ticks * 1e9 / (double)tlat_hist_hz(t->hist));
}

/* The measuring thread; arg is its struct tlat_noise_thread. */
void *tlat_noise_measure(void *arg);

/* == The whole == */

struct tlat_noise {
	struct tlat_noise_opts opts; /* every default resolved, the threshold as it is used */
	const struct tlat_machine *machine;
	struct tlat_machine *own_machine;
	struct tlat_clock *clock, *own_clock;
	struct tlat_placement *place;
	struct tlat_cpuset set;
	int32_t policy, priority; /* granted */
	struct tlat_noise_thread *threads;
	int32_t n_threads;
	struct tlat_gate gate;
	struct tlat_watch *watch;
	struct tlat_watch_delta *seen;
	struct tlat_findings findings, of_result;
	struct tlat_error error;
	int failed;
	bool stopped;
	atomic_bool broken; /* a thread has lost its CPU */
	int64_t realtime_ns;
	bool slow_clock; /* what its stamps take is seen as gaps, or nearly */
};

static inline bool tlat_noise_stopping(struct tlat_noise *noise)
{
	return atomic_load_explicit(&noise->broken, memory_order_relaxed) ||
	       tlat_stop_asked(noise->opts.stop);
}

/* noise_count.c: read the counts of the CPUs of all threads below root_fd. */
void tlat_noise_count(struct tlat_noise_thread *threads, int32_t n, int root_fd);

/* noise_control.c: start the threads, look at counters, judge; the controller's thread. */
void *tlat_noise_control(void *noise);

/* noise_report.c: a result of each thread. 0 or -ENOMEM. */
int tlat_noise_report(struct tlat_noise *noise, struct tlat_report **ret_report);

#endif /* TLAT_NOISE_H */
