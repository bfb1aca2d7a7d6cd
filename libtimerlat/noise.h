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
	TLAT_NOISE_CAUSES,
};

extern const char *const tlat_noise_cause_names[TLAT_NOISE_CAUSES];

struct tlat_noise_gap {
	int64_t at_ns, length_ns; /* at: since the start */
	uint32_t switches;	  /* of the thread meanwhile */
	int32_t cause;		  /* enum tlat_noise_cause */
};

/* What was counted on the gaps' CPU while they happened. */
struct tlat_noise_counted {
	uint64_t interrupts;
	int64_t steal_ns;
};

struct tlat_noise_judge {
	struct tlat_rt_budget budget;
	bool real_time;
	int64_t runs_since_ns; /* the end of the last throttling */
	uint64_t spare;	       /* interrupts counted before their gaps were logged */
};

/* Fill in the causes of n gaps, in the order in which they happened. */
void tlat_noise_judge(struct tlat_noise_judge *judge, struct tlat_noise_gap *gaps, size_t n,
		      const struct tlat_noise_counted *counted);

/* == The thread (noise_spin.c) == */

#define TLAT_NOISE_LOG 8192 /* gaps between two looks of the controller */

struct tlat_noise_entry {
	uint64_t at, length; /* stamps */
	uint32_t switches;
};

struct tlat_noise_total {
	uint64_t count;
	int64_t ns, max_ns;
};

struct tlat_noise_thread {
	struct tlat_noise *noise;
	struct tlat_stamper stamper;
	uint64_t threshold, duration; /* ticks */
	int32_t cpu, policy, priority;
	pthread_t thread;
	bool running;
	struct tlat_side_facts facts;
	struct tlat_error why;
	/* what it sees */
	struct tlat_hist *hist;
	struct tlat_noise_entry *log;
	atomic_ullong written, taken; /* entries; written by the thread, taken by the controller */
	uint64_t dropped, dropped_ticks, dropped_max;
	uint64_t began, ended; /* stamps */
	struct rusage before, after;
	atomic_bool done;
	/* what the controller makes of it */
	struct tlat_noise_judge judge;
	struct tlat_noise_counted counted; /* at its last look, since boot */
	struct tlat_noise_total totals[TLAT_NOISE_CAUSES];
};

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
	int64_t realtime_ns;
	bool slow_clock; /* what its stamps take is seen as gaps, or nearly */
};

static inline bool tlat_noise_stopping(const struct tlat_noise *noise)
{
	return tlat_stop_asked(noise->opts.stop);
}

/* noise_control.c: start the threads, look at counters, judge; the controller's thread. */
void *tlat_noise_control(void *noise);

/* noise_report.c: a result of each thread. 0 or -ENOMEM. */
int tlat_noise_report(struct tlat_noise *noise, struct tlat_report **ret_report);

#endif /* TLAT_NOISE_H */
