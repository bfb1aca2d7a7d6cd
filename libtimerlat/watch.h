/* SPDX-License-Identifier: MIT */
/*
 * watch.h - what the kernel counted meanwhile on the CPUs used: two snapshots
 * and their difference.
 */
#ifndef TLAT_WATCH_H
#define TLAT_WATCH_H

#include "internal.h"
#include "machine.h"

struct tlat_watch_idle {
	int32_t cpu;
	char state[28];
	uint64_t usage;	  /* entries */
	uint64_t time_ns; /* counted when the state is left: may exceed duration_ns */
};

struct tlat_watch_count {
	int32_t cpu;   /* -1: machine-wide */
	char name[28]; /* row of /proc/interrupts or /proc/softirqs: "LOC", "TIMER"; a
			* numbered one with its device: "36:eth0" */
	uint64_t count;
};

struct tlat_watch_stolen {
	int32_t cpu;
	int64_t ns;
};

/* Only rows that moved are kept; everything is what happened between begin and end. */
struct tlat_watch_delta {
	struct tlat_watch_idle *idle;
	size_t n_idle;
	struct tlat_watch_stolen *stolen; /* of each CPU that tells; not in reports */
	size_t n_stolen;
	struct tlat_watch_count *interrupts, *softirqs;
	size_t n_interrupts, n_softirqs;
	uint64_t switches; /* of the whole machine: ctxt */
	int64_t steal_ns;  /* of all CPUs used; -1: not known, as in containers with lxcfs */
	int64_t throttled; /* times a cgroup above us was throttled; -1: not known */
	int64_t hrtimer_hangs, hrtimer_retries, hrtimer_events; /* -1: not known */
	int64_t duration_ns;
	/* of the measuring threads, filled by the runner from getrusage(RUSAGE_THREAD) */
	uint64_t voluntary, involuntary, minor_faults, major_faults, migrations;
};

struct tlat_watch;

/* Prepare to watch these CPUs of the machine below root_fd. Missing files are "not known". */
int tlat_watch_new(struct tlat_watch **ret_watch, int root_fd, const int32_t *cpus, size_t n);
void tlat_watch_free(struct tlat_watch *watch);
/* Take the first snapshot; allocates nothing later than this. */
int tlat_watch_begin(struct tlat_watch *watch);
/* Take the second one and give the difference, to be freed with tlat_watch_delta_free(). */
int tlat_watch_end(struct tlat_watch *watch, struct tlat_watch_delta **ret_delta);
/* A copy of its own; NULL for NULL or when out of memory. */
struct tlat_watch_delta *tlat_watch_delta_copy(const struct tlat_watch_delta *delta);
void tlat_watch_delta_free(struct tlat_watch_delta *delta);
/* What the hypervisor took from one of the CPUs; 0 where that is not known. */
int64_t tlat_watch_stolen_ns(const struct tlat_watch_delta *delta, int32_t cpu);

/* watch_find.c: what of it degrades a measurement; NULL: nothing is known. */
void tlat_watch_find(const struct tlat_watch_delta *watch, struct tlat_findings *findings);

/* watch_read.c: pure readers, which take any text */

/* Counters of one CPU watched. */
struct tlat_watch_cpu {
	int32_t cpu;
	bool has_steal, has_timers;
	uint64_t steal_ticks; /* of 1/USER_HZ s */
	uint64_t hrtimer_events, hrtimer_retries, hrtimer_hangs;
};

/*
 * The rows of /proc/interrupts or /proc/softirqs for those CPUs, row by row, at most max of them;
 * returns how many there are.
 */
size_t tlat_watch_read_table(const char *text, const struct tlat_cpuset *cpus,
			     struct tlat_watch_count *rows, size_t max);
/* The number after the line's first word: "ctxt" of /proc/stat, "nr_throttled" of cpu.stat. */
bool tlat_watch_read_value(const char *text, const char *word, uint64_t *ret_value);
/* Steal of /proc/stat and hrtimer counts of /proc/timer_list into the CPUs that have them. */
void tlat_watch_read_steal(const char *text, struct tlat_watch_cpu *cpus, size_t n);
void tlat_watch_read_timers(const char *text, struct tlat_watch_cpu *cpus, size_t n);
/*
 * How far a counter of that many bits went: one that is lower than before has wrapped if that is
 * the shorter way, else it was started anew.
 */
uint64_t tlat_watch_moved(uint64_t before, uint64_t after, unsigned int bits);

#endif /* TLAT_WATCH_H */
