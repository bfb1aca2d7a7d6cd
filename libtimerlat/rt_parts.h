/* SPDX-License-Identifier: MIT */
/* rt_parts.h - what rt.c is made of: rt_policy.c, rt_memory.c, rt_idle.c */
#ifndef TLAT_RT_PARTS_H
#define TLAT_RT_PARTS_H

#include "rt.h"

#define TLAT_RT_LIAR                                                                               \
	"(a seccomp filter or a preloaded library answers for the kernel); run without it"

/* rt_policy.c */

/* struct sched_attr as Linux 3.14 has it; its own name is the C library's since glibc 2.41. */
struct tlat_sched {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static_assert(sizeof(struct tlat_sched) == 48, "SCHED_ATTR_SIZE_VER0");

/* All of them act on the calling thread and return 0 or a negative errno. */
int tlat_sched_get(struct tlat_sched *sched);
int tlat_sched_set(const struct tlat_sched *sched);
/*
 * Whether something answers the call that sets these in the kernel's place. Without attributes the
 * kernel gives EINVAL before it asks for any right; a filter sees where they are and not what they
 * are, so that it answers as it does with them. Changes nothing.
 */
bool tlat_sched_intercepted(const struct tlat_sched *sched);
/* Back to saved, including a slice that somebody had set. */
void tlat_sched_restore(const struct tlat_sched *saved);

/* enum tlat_policy of the attributes; TLAT_SCHED_INHERIT for one that has no name here. */
int tlat_sched_policy(const struct tlat_sched *sched);
/* Neither FIFO, RR nor DEADLINE. */
bool tlat_sched_is_fair(const struct tlat_sched *sched);
/* What to ask for, keeping nice value, slice and RESET_ON_FORK. */
struct tlat_sched tlat_sched_wanted(const struct tlat_rt_opts *opts,
				    const struct tlat_sched *saved);
bool tlat_sched_in_force(const struct tlat_sched *want, const struct tlat_sched *now);
/* "SCHED_FIFO 80", "SCHED_OTHER" */
const char *tlat_sched_text(char *text, size_t size, int policy, int priority);

/* rt_memory.c: mlockall for the process; each success needs one tlat_rt_unlock_memory() */

int tlat_rt_lock_memory(struct tlat_error *reterr);
void tlat_rt_unlock_memory(void);

#endif /* TLAT_RT_PARTS_H */
