/* SPDX-License-Identifier: MIT */
/* scale.h - the inside of a scale measurement: what its three kinds share. */
#ifndef TLAT_SCALE_H
#define TLAT_SCALE_H

#include <stdatomic.h>

#include "clock.h"
#include "gate.h"
#include "helper.h"
#include "machine.h"
#include "result.h"
#include "run.h"
#include "scale_fit.h"

#define TLAT_SCALE_SIZES_MAX  32
#define TLAT_SCALE_ROUNDS_MAX 10000

struct tlat_scale {
	struct tlat_scale_opts opts; /* strings are the caller's */
	const struct tlat_machine *machine;
	struct tlat_machine *own_machine; /* NULL: borrowed */
	struct tlat_placement *place;
	struct tlat_findings findings;
	int64_t sizes[TLAT_SCALE_SIZES_MAX]; /* ascending; as scaled down */
	size_t n_sizes;
	int64_t rounds;
	int32_t policy, priority; /* granted */
	struct tlat_result *result;
	bool stopped;
	uint64_t n_away, longest_away_ns; /* how often it was kept from its CPU */
};

static inline bool tlat_scale_stopping(const struct tlat_scale *scale)
{
	return tlat_stop_asked(scale->opts.stop);
}

/* Sleep. What it took longer, in ns, when that is more than what may be: 0 otherwise. */
uint64_t tlat_scale_nap(int64_t ns);
void tlat_scale_note_away(struct tlat_scale *scale, uint64_t away_ns);

/* The three: fill scale->result. 0 or a negative errno. */
int tlat_scale_timers(struct tlat_scale *scale, struct tlat_error *reterr);
int tlat_scale_wakeups(struct tlat_scale *scale, struct tlat_error *reterr);
int tlat_scale_pairs(struct tlat_scale *scale, struct tlat_error *reterr);

/* scale_threads.c: the threads of one N, none of which begins before the last is set up. */
struct tlat_scale_threads {
	struct tlat_gate gate;
	int32_t policy, priority;
	size_t stack_bytes;
	int started;
	int refused;	  /* negative errno of the one after those; 0: there is none */
	atomic_int error; /* of the first set-up that failed, negative errno; 0: none did */
	int32_t failed_cpu;
	const char *failed_what; /* static */
	atomic_bool arrived;	 /* the first one has, and tells how it is scheduled */
	struct tlat_side_facts facts;
	uint64_t opened_ns; /* CLOCK_MONOTONIC, when all of them began */
};

void tlat_scale_threads_init(struct tlat_scale_threads *threads, const struct tlat_scale *scale);
void tlat_scale_threads_destroy(struct tlat_scale_threads *threads);
/* Start one more, on a small stack, for there may be thousands. False: none is to follow. */
bool tlat_scale_threads_start(struct tlat_scale_threads *threads, pthread_t *ret_thread,
			      void *(*fn)(void *), void *arg);
/* From one of them: pin it there and give it the policy. Whether it shall begin. */
bool tlat_scale_threads_arrive(struct tlat_scale_threads *threads, int32_t cpu);
/*
 * From the controller: wait for those that were started, and let all begin, or none when one was
 * refused or a set-up failed. 0 or a negative errno.
 */
int tlat_scale_threads_release(struct tlat_scale_threads *threads, struct tlat_error *reterr);

/* scale.c: values of one figure, each at its N. */
struct tlat_scale_series {
	double *x, *y;
	size_t n, max;
};

int tlat_scale_series_init(struct tlat_scale_series *series, size_t max);
void tlat_scale_series_add(struct tlat_scale_series *series, double x, double y);
void tlat_scale_series_free(struct tlat_scale_series *series);
/* Metric "<phase>.N<n>.<what>": mean and spread of those at that N. */
void tlat_scale_put(struct tlat_result *result, const struct tlat_scale_series *series,
		    const char *phase, const char *what, int64_t n);
/* Metrics "<phase>.exponent", _lo, _hi; false: it cannot be told. */
bool tlat_scale_exponent(struct tlat_result *result, const struct tlat_scale_series *series,
			 const char *phase, struct tlat_fit *ret_fit);

/* scale_limits.c: what so many timers of each worker take, before any is made. */
struct tlat_scale_budget {
	int64_t signals; /* that may still be queued by this user; INT64_MAX: no limit */
	int64_t limit, used;
	int64_t memory_bytes; /* available; INT64_MAX: not known */
	bool memory_of_group; /* less than the machine has */
};

void tlat_scale_budget(int root_fd, struct tlat_scale_budget *ret_budget);
/* Scale sizes down so that all workers' largest fits, and say so. 0, or -EAGAIN: none fits. */
int tlat_scale_fit_limits(struct tlat_scale *scale, const struct tlat_scale_budget *budget,
			  struct tlat_error *reterr);

/* scale_verdict.c: the kernel's table of timers; 0: not known. */
struct tlat_scale_hash {
	int64_t buckets;
	bool per_bucket_locks, restores_ids;
};

void tlat_scale_hash(int root_fd, struct tlat_scale_hash *ret_hash);
/*
 * "constant per timer" and the like. timers: of all workers together, at the largest N. shared:
 * others had the CPUs too.
 */
void tlat_scale_judge_timers(struct tlat_findings *findings, const char *phase,
			     const struct tlat_fit *fit, const struct tlat_scale_hash *hash,
			     int64_t timers, double contention, bool shared);
void tlat_scale_judge(struct tlat_findings *findings, const char *what, const char *unit,
		      const struct tlat_fit *fit);

#endif /* TLAT_SCALE_H */
