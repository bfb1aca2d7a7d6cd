/* SPDX-License-Identifier: MIT */
/*
 * run_control.h - a run as its controller sees it, shared by run_session.c, run_plan.c,
 * run_setup.c, run_offset.c, run_control.c, run_find.c and run_collect.c.
 */
#ifndef TLAT_RUN_CONTROL_H
#define TLAT_RUN_CONTROL_H

#include "affinity.h"
#include "machine.h"
#include "rt.h"
#include "run_thread.h"

/* A request to the controller, which alone may read the time blocks, and its answer. */
struct tlat_snapshot {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool wanted, over;
	struct tlat_report *report;
	int error;
};

struct tlat_run {
	struct tlat_run_opts opts; /* every default resolved, but that of warmup: it is no number */
	char *probe, *cpus;	   /* the strings in opts */
	const struct tlat_probe_ops *ops;
	const struct tlat_machine *machine;
	struct tlat_machine *own_machine; /* NULL: borrowed */
	struct tlat_clock *clock;
	bool owns_clock;
	struct tlat_placement place;
	struct tlat_cpuset floats; /* the CPUs of place, for threads that float */
	struct tlat_instance *instances;
	int n_instances;
	bool supported;
	struct tlat_injection injection;
	struct tlat_chain chain;
	struct tlat_clock_offset offset;
	bool has_offset;
	bool ordered;		     /* the order of stamps could be checked */
	struct tlat_clock_lead lead; /* of the clock that stamps are taken from */
	bool was_set;		     /* meanwhile; found once */
	int64_t slew_ppb;	     /* of CLOCK_MONOTONIC: the most that was seen */
	struct tlat_hist *floor_pair;
	struct tlat_gate policies; /* of the measuring threads: who has its policy */
	struct tlat_gate gate;	   /* of the measuring threads */
	struct tlat_gate begun;	   /* of the caller: set-up is over */
	struct tlat_snapshot snapshot;
	struct tlat_watch *watch;
	struct tlat_watch_delta *seen;
	struct tlat_findings findings;	/* run-wide */
	struct tlat_findings of_result; /* of every result of this run */
	struct tlat_error error;	/* of a failed set-up */
	int failed;			/* negative errno: nothing was measured */
	pthread_t controller;
	int fd;			/* readable when the run is over */
	int wake_fd;		/* tells the controller */
	int idle_fd;		/* holds /dev/cpu_dma_latency, -1: not */
	struct tlat_rt *locked; /* all memory, when asked for */
	int end_signal;
	atomic_int *request;	    /* on the page of the first instance; whether to end */
	bool broken;		    /* the controller had to end it */
	struct tlat_rt_opts caller; /* what the thread that started the run has */
	struct tlat_cpuset allowed; /* where that one may run */
	struct tlat_trace_stop trace;
	int64_t realtime_ns; /* CLOCK_REALTIME, when the loops could begin */
};

#define for_each_measurer(run, in, m)                                                              \
	for (struct tlat_instance *in = (run)->instances;                                          \
	     in < (run)->instances + (run)->n_instances; in++)                                     \
		for (struct tlat_measurer *m = in->measurers; m < in->measurers + in->n_measurers; \
		     m++)

/* run_opts.c: whether options make sense at all. 0 or -EINVAL. */
int tlat_run_opts_check(const struct tlat_run_opts *opts, struct tlat_error *reterr);

/* run_plan.c: check and resolve options, choose CPUs, fill run->instances. 0 or a negative errno.
 */
int tlat_run_plan(struct tlat_run *run, const struct tlat_run_opts *opts,
		  struct tlat_error *reterr);
/* run_plan.c: a time in the unit of the run's loop, ticks of its clock or ns. */
uint64_t tlat_run_in_unit(const struct tlat_run *run, int64_t ns);
/* run_plan.c: what solo thread number i is to have; a pair is number 0. */
int64_t tlat_run_interval_ns(const struct tlat_run *run, int i);
int32_t tlat_run_priority(const struct tlat_run *run, int i);
/* run_plan.c: with which seed thread number i, measured alone, draws the phase that it has. */
uint64_t tlat_run_seed(const struct tlat_run_opts *opts, int i);
/* run_setup.c: a probe that cannot run here is still a result, which says why. */
void tlat_run_unsupported(struct tlat_run *run, const char *text, const char *remedy);
/* run_plan.c: the priority asked for the waker. */
int32_t tlat_run_kick_priority(const struct tlat_run *run);
/* run_adapt.c: for how long a thread of the run spins without a sleep; 0: it does not. */
int64_t tlat_run_spin_ns(const struct tlat_run *run);
/* run_adapt.c, once policies are known: rests, yields, findings that follow from them. */
void tlat_run_adapt(struct tlat_run *run);

/* run_deadline.c: the rest of what SCHED_DEADLINE needs; whether it makes sense (0 or -EINVAL). */
void tlat_deadline_resolve(struct tlat_run_opts *opts);
int tlat_deadline_check(const struct tlat_run *run, struct tlat_error *reterr);
/* run_deadline.c: why the probe cannot be measured under it; NULL: it can. */
const char *tlat_deadline_unfit(const struct tlat_run *run);
/*
 * run_deadline.c, on the controller, whose affinity is changed: whether all threads are admitted,
 * and whether they stay on their CPUs. 0 or the refusal.
 */
int tlat_deadline_admit(struct tlat_run *run, struct tlat_error *reterr);
/* run_deadline.c: the refusal, under that policy with what all threads would need. why->code. */
int tlat_deadline_refuse(const struct tlat_run *run, const struct tlat_error *why,
			 struct tlat_error *reterr);
/* run_deadline.c, once the threads have it: which of them do not stay. */
void tlat_deadline_find(struct tlat_run *run);

/* run_signal.c: a no-op handler for the signal that ends blocked waits, while anybody holds it. */
int tlat_end_signal_choose(void);
void tlat_end_signal_hold(int signal);
void tlat_end_signal_release(int signal);

/* run_setup.c, on the controller: all that comes before the loops; its threads are parked then. 0,
 * or a negative errno; without support or with an error none of them is left. */
int tlat_run_set_up(struct tlat_run *run);
/* run_setup.c, on the controller: to its place, off the measuring CPUs where there is another. */
void tlat_run_pin_controller(const struct tlat_run *run);

/*
 * run_offset.c, on the controller: the offset and the order of stamps from CPU to CPU, for a pair
 * on two; before the loops, and once more after them. Each takes some ms, 3 s at most on CPUs that
 * are never free.
 */
void tlat_run_offset_begin(struct tlat_run *run);
void tlat_run_offset_end(struct tlat_run *run);

/* run_control.c: the controller's thread. */
void *tlat_run_control(void *run);
/* run_control.c: wait until no measuring thread is left. */
void tlat_run_join_measurers(struct tlat_run *run);

/* run_session.c: wait for the controller's end; free a run that has ended. */
void tlat_run_join(struct tlat_run *run);
void tlat_run_free(struct tlat_run *run);

/* run_find.c: add to a result, whose counts and figures are filled, what is odd about it. */
void tlat_run_find(const struct tlat_run *run, const struct tlat_instance *instance,
		   struct tlat_result *result);
/* run_find.c: which of its threads were taken off their CPUs and put back, so far. */
void tlat_run_find_displaced(const struct tlat_instance *instance, struct tlat_result *result);

/* run_collect.c: how long instance i has measured, 0: not yet; while its loop goes on, too. */
int64_t tlat_run_measured_ns(const struct tlat_run *run, int i);
/* run_collect.c: fill every result from its book. 0 or -ENOMEM. */
int tlat_run_collect(struct tlat_run *run);
/* run_collect.c, on the controller while the loops go on: what instance i has so far. */
int tlat_run_collect_running(const struct tlat_run *run, int i, struct tlat_result **ret_result);

/* run_snapshot.c: the controller answers who asked, and in the end says that nobody need ask. */
void tlat_snapshot_init(struct tlat_snapshot *snapshot);
void tlat_snapshot_destroy(struct tlat_snapshot *snapshot);
void tlat_snapshot_answer(struct tlat_run *run);
void tlat_snapshot_end(struct tlat_run *run);

#endif /* TLAT_RUN_CONTROL_H */
