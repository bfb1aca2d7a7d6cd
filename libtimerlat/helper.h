/* SPDX-License-Identifier: MIT */
/*
 * helper.h - helper processes: for work that may have to be killed, or that needs signals and
 * process-wide clocks of its own. They send no signal when they end and die with their parent.
 */
#ifndef TLAT_HELPER_H
#define TLAT_HELPER_H

#include "internal.h"

struct tlat_helper {
	pid_t pid;
	int pidfd; /* -1: none */
};

#define TLAT_HELPER_NONE ((struct tlat_helper){ .pidfd = -1 })

/*
 * What a helper does, as a copy of the caller with one thread and every signal blocked. The caller
 * may have had other threads, so nothing that takes a lock of the C library: no malloc, no stdio.
 */
typedef void tlat_helper_fn(void *arg);

/* Start one. 0 or a negative errno. */
int tlat_helper_start(struct tlat_helper *helper, tlat_helper_fn *fn, void *arg,
		      struct tlat_error *reterr);
/* Whether it has ended, after waiting for that at most so long; a signal ends the wait. */
bool tlat_helper_ended(const struct tlat_helper *helper, int timeout_ms);
/*
 * Which of n has ended, of those that are not reaped, after waiting for the first of them at most
 * so long; -1: none. One that ends meanwhile is seen after that wait.
 */
int32_t tlat_helper_first_ended(const struct tlat_helper *helpers, int32_t n, int timeout_ms);
void tlat_helper_kill(const struct tlat_helper *helper);
/* Wait for the end and forget it. Returns what it exited with, or minus the signal that ended it.
 */
int tlat_helper_reap(struct tlat_helper *helper);

struct tlat_side_facts;

/*
 * Pin the calling thread and give it a policy (TLAT_SCHED_INHERIT: as it is) that has been found
 * out to be granted; facts are read back. Unlike tlat_rt_apply() nothing is allocated, and nothing
 * can be undone. 0 or a negative errno of the call in *ret_what, static.
 */
int tlat_become(int32_t cpu, int32_t policy, int32_t priority, struct tlat_side_facts *ret_facts,
		const char **ret_what);

/* Read-write memory that helpers share, zeroed and there; NULL: none. */
void *tlat_shared_new(size_t bytes);
void tlat_shared_free(void *mem, size_t bytes);
/* The next bytes of it, on cache lines of their own; *at moves on. */
void *tlat_shared_carve(char **at, size_t bytes);
/* In a helper: have every page of it at hand. */
void tlat_shared_touch(void *mem, size_t bytes);

#endif /* TLAT_HELPER_H */
