/* SPDX-License-Identifier: MIT */
/*
 * cyclictest.h - what was asked of tlat-cyclictest, in the words and units of the command line it
 * takes over; and how it speaks on standard error.
 */
#ifndef TLAT_CYCLICTEST_H
#define TLAT_CYCLICTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLAT_CYC_NAME "tlat-cyclictest"
#define TLAT_CYC_FINE 0
#define TLAT_CYC_BAD  1

#define TLAT_CYC_UNSET INT64_MIN
/* Threads: as many as CPUs may be used. */
#define TLAT_CYC_ALL   0

/* A histogram row is one unit wide; so many rows at most. */
#define TLAT_CYC_ROWS_MAX 1000000

struct tlat_cyc_config {
	/* threads */
	int64_t threads;
	const char *affinity;	  /* CPU list; "": all that this process may use; NULL: none */
	const char *mainaffinity; /* NULL: beside the measured CPUs */
	int64_t interval_us, distance_us;
	int64_t policy;			   /* enum tlat_policy */
	int64_t priority;		   /* 0 under FIFO and RR: still to be chosen */
	int64_t aligned_us, secaligned_us; /* offsets; unset: not aligned */
	bool smp, priospread;
	/* clock and way of sleeping */
	int64_t clock; /* 0: CLOCK_MONOTONIC, 1: CLOCK_REALTIME */
	bool relative, system, posix_timers, resolution;
	/* length */
	int64_t loops, duration_s; /* 0: endless */
	int64_t break_above;	   /* in printed units; unset: never */
	bool tracemark;
	/* conditions */
	int64_t latency_us; /* of /dev/cpu_dma_latency */
	bool default_system, laptop, mlockall, smi;
	/* output */
	int64_t rows; /* of the histogram; 0: none */
	int64_t oscope;
	int64_t spike_above, spike_nodes; /* spike_above in printed units; unset: no spikes */
	const char *histfile, *json, *fifo;
	bool histofall, quiet, verbose, nsecs, refresh_on_max, unbuffered, debug;
	bool announced; /* -v stood before -a: the CPUs are counted right then */
	/* our own */
	const char *tlat_json;
	bool strict;
	int64_t shape; /* rt-tests 2.<shape> */
};

/* What differs between versions that scripts have been written for. */
static inline bool tlat_cyc_omits_empty(const struct tlat_cyc_config *config)
{
	return config->shape >= 7;
}

/* Threads that -a and -S say nothing about; before, they were on all CPUs in turn as with -a. */
static inline bool tlat_cyc_floats(const struct tlat_cyc_config *config)
{
	return !config->affinity && config->shape >= 5;
}

/* One line on standard error, after the program's name. Returns TLAT_CYC_BAD. */
int tlat_cyc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Read the command line. Returns 0; 1 when help or version was asked for and printed; -EINVAL after
 * one line on standard error.
 */
int tlat_cyc_options(struct tlat_cyc_config *config, int argc, char **argv);

/* Whether the policy has priorities. */
bool tlat_cyc_is_ranked(const struct tlat_cyc_config *config);

/* The priority that a policy needs and nobody gave, by the number of threads; with a line on
 * standard error. */
void tlat_cyc_choose_priority(struct tlat_cyc_config *config, int32_t threads);

#endif /* TLAT_CYCLICTEST_H */
