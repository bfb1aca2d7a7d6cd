/* SPDX-License-Identifier: MIT */
/*
 * run_thread.h - instances of a probe, and the threads that measure them. Every
 * thread sets itself up, parks at a blocking gate, and loops when it opens:
 * nobody spins before all are ready.
 */
#ifndef TLAT_RUN_THREAD_H
#define TLAT_RUN_THREAD_H

#include <pthread.h>
#include <sys/resource.h>

#include "cpulist.h"
#include "gate.h"
#include "run.h"
#include "run_tap.h"

struct tlat_instance;

/* One measuring thread. */
struct tlat_measurer {
	struct tlat_instance *instance;
	struct tlat_gate *gate;
	struct tlat_gate *policies; /* where it learns whether all have theirs */
	struct tlat_probe_side side;
	struct tlat_probe_side reply; /* round trip: the other role, on the way back */
	/* what is asked */
	int32_t cpu;
	int32_t policy, priority; /* the controller's, until that gate opens */
	int64_t slack_ns;
	const struct tlat_cpuset *roams; /* where it may run; NULL: on cpu */
	int end_signal;			 /* unblocked, so that a blocked wait can be ended */
	int done_fd;			 /* eventfd, told when the thread has left its loop */
	/* what there is */
	pthread_t thread;
	void *stack, *buffer; /* mappings of our own: locked, given back as they were */
	size_t stack_bytes, buffer_bytes;
	struct tlat_rt *rt;
	struct tlat_side_facts facts;
	unsigned int displaced; /* times that the controller had to put it back on its CPU */
	struct rusage before, after;
	struct tlat_findings findings;
	struct tlat_error why; /* of a thread that could not be created or set up */
	atomic_bool left;      /* its loop is over */
	atomic_bool finished;  /* it touches nothing any more */
	bool entered, reply_entered;
	bool barred;  /* the probe could not enter: it cannot run here */
	bool records; /* keeps the book */
	bool running; /* has been created and not been joined */
};

/* One instance of a probe: a pair, or one solo thread. */
struct tlat_instance {
	const struct tlat_run_opts *opts;
	const struct tlat_clock *clock;
	struct tlat_probe_ctx *ctx, *reply; /* in map */
	struct tlat_pair *pair;		    /* in map; NULL for solo */
	struct tlat_solo *solo;		    /* in map */
	struct tlat_book *book;		    /* in map */
	atomic_int *stop, *request;	    /* in map, on one line; the first one's is the run's */
	struct tlat_limits limits;
	void *map;
	size_t map_size;
	struct tlat_break brk; /* in force when a break was asked for */
	struct tlat_tap tap;
	struct tlat_result *result;
	struct tlat_hist *floor; /* of the null probe on the first thread that records */
	bool wants_floor;
	struct tlat_measurer measurers[2]; /* pair: waiter, waker */
	int n_measurers;
	pthread_barrier_t done; /* nobody leaves the probe while another may still kick */
	bool open, reply_open;
};

/* Map the memory of an instance of ops, all zero. 0 or -ENOMEM. */
int tlat_instance_map(struct tlat_instance *instance, const struct tlat_probe_ops *ops,
		      struct tlat_error *reterr);
/* Open the probe of a mapped instance. The rest of *instance is the caller's to fill before threads
 * start. 0 or a negative errno. */
int tlat_instance_open(struct tlat_instance *instance, const struct tlat_probe_ops *ops,
		       const struct tlat_run_opts *opts, const struct tlat_clock *clock,
		       struct tlat_error *reterr);
void tlat_instance_close(struct tlat_instance *instance);

/* Create the thread; it inherits from the controller until it sets itself up. 0 or a negative
 * errno. */
int tlat_measurer_start(struct tlat_measurer *measurer, struct tlat_error *reterr);
void tlat_measurer_join(struct tlat_measurer *measurer);
/* Give back what the book was kept in; the thread has been joined. */
void tlat_measurer_free(struct tlat_measurer *measurer);

/* run_deadline.c: policy and times of a run under SCHED_DEADLINE. */
struct tlat_rt_opts tlat_deadline_attributes(const struct tlat_run_opts *opts);

/* run_inject.c: a self-test's delay between the first stamp and the kick of every second cycle. */
struct tlat_injection {
	struct tlat_probe_ops ops; /* first: an ops pointer leads back here */
	const struct tlat_probe_ops *real;
	const struct tlat_book *book; /* an odd number of values so far: this cycle is delayed */
	uint64_t delay_ns;
	struct tlat_hist *spun[2]; /* what was really spun without and with the delay, ns */
};

int tlat_injection_init(struct tlat_injection *injection, const struct tlat_probe_ops *real,
			int64_t delay_ns);
void tlat_injection_destroy(struct tlat_injection *injection);
/* Fill in what came back of the delay; the result has its raw values. */
void tlat_injection_judge(const struct tlat_injection *injection,
			  const struct tlat_calibration *clock, struct tlat_result *result);

/* run_chain.c: additions before each kick, and what one of them costs. */
struct tlat_chain {
	struct tlat_probe_ops ops; /* first: an ops pointer leads back here */
	const struct tlat_probe_ops *real;
	uint64_t adds;
	double add_ns;
};

void tlat_chain_init(struct tlat_chain *chain, const struct tlat_probe_ops *real, uint64_t adds);

/* run_repeat.c: the command that repeats one result alone, to be freed; NULL when out of memory. */
char *tlat_repeat_format(const struct tlat_run_opts *opts, const struct tlat_result *result,
			 const char *clock_source, uint64_t seed);

#endif /* TLAT_RUN_THREAD_H */
