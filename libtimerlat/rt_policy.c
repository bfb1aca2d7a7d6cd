// SPDX-License-Identifier: MIT
/*
 * rt_policy.c - scheduling policy of the calling thread, by the raw calls. Knows which of the
 * kernel's attributes travel with a policy: the nice value that real-time threads keep, the slice
 * that only a second call restores, RESET_ON_FORK, which is never ours to change.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt_parts.h"

#define KERNEL_SCHED_EXT   7
#define FLAG_RESET_ON_FORK 1

static const struct {
	const char *name, *kernel_name;
	int kernel;
} policies[] = {
	[TLAT_SCHED_INHERIT] = { "inherit", "the inherited policy", -1 },
	[TLAT_SCHED_OTHER] = { "other", "SCHED_OTHER", SCHED_OTHER },
	[TLAT_SCHED_FIFO] = { "fifo", "SCHED_FIFO", SCHED_FIFO },
	[TLAT_SCHED_RR] = { "rr", "SCHED_RR", SCHED_RR },
	[TLAT_SCHED_BATCH] = { "batch", "SCHED_BATCH", SCHED_BATCH },
	[TLAT_SCHED_DEADLINE] = { "deadline", "SCHED_DEADLINE", SCHED_DEADLINE },
	[TLAT_SCHED_IDLE] = { "idle", "SCHED_IDLE", SCHED_IDLE },
	[TLAT_SCHED_EXT] = { "ext", "SCHED_EXT", KERNEL_SCHED_EXT },
};

static bool is_policy(int policy)
{
	return policy >= 0 && policy < (int)TLAT_ARRAY_SIZE(policies);
}

const char *tlat_policy_name(int policy)
{
	return is_policy(policy) ? policies[policy].name : NULL;
}

const char *tlat_policy_kernel_name(int policy)
{
	return is_policy(policy) ? policies[policy].kernel_name : "SCHED_?";
}

int tlat_policy_from_name(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(policies); i++)
		if (!strcmp(name, policies[i].name))
			return (int)i;
	return -EINVAL;
}

int tlat_sched_policy(const struct tlat_sched *sched)
{
	for (size_t i = 1; i < TLAT_ARRAY_SIZE(policies); i++)
		if (policies[i].kernel == (int)sched->policy)
			return (int)i;
	return TLAT_SCHED_INHERIT;
}

bool tlat_sched_is_fair(const struct tlat_sched *sched)
{
	return sched->policy != SCHED_FIFO && sched->policy != SCHED_RR &&
	       sched->policy != SCHED_DEADLINE;
}

/* Kernels before 3.14, and sandboxes that answer ENOSYS for the newer call. */
static int get_by_old_calls(struct tlat_sched *sched)
{
	long policy = syscall(SYS_sched_getscheduler, 0);
	struct sched_param param;

	if (policy < 0 || syscall(SYS_sched_getparam, 0, &param) < 0)
		return -errno;
	memset(sched, 0, sizeof(*sched));
	sched->policy = (uint32_t)(policy & ~SCHED_RESET_ON_FORK);
	sched->flags = policy & SCHED_RESET_ON_FORK ? FLAG_RESET_ON_FORK : 0;
	sched->priority = (uint32_t)param.sched_priority;
	return 0;
}

int tlat_sched_get(struct tlat_sched *sched)
{
	int r = 0, nice;

	memset(sched, 0, sizeof(*sched));
	if (syscall(SYS_sched_getattr, 0, sched, sizeof(*sched), 0) < 0)
		r = errno == ENOSYS ? get_by_old_calls(sched) : -errno;
	if (r < 0)
		return r;
	errno = 0;
	nice = getpriority(PRIO_PROCESS, 0);
	if (nice == -1 && errno)
		return -errno;
	sched->nice = nice;
	sched->size = sizeof(*sched);
	return 0;
}

static int set_by_old_call(const struct tlat_sched *sched, const struct sched_param *param)
{
	int policy = (int)sched->policy;

	if (policy == SCHED_DEADLINE)
		return -ENOSYS;
	if (sched->flags & FLAG_RESET_ON_FORK)
		policy |= SCHED_RESET_ON_FORK;
	return syscall(SYS_sched_setscheduler, 0, policy, param) < 0 ? -errno : 0;
}

/* The attributes in the form that each of the two calls takes. */
static int set(const struct tlat_sched *sched, const struct tlat_sched *attr,
	       const struct sched_param *param)
{
	if (syscall(SYS_sched_setattr, 0, attr, 0) == 0)
		return 0;
	return errno == ENOSYS ? set_by_old_call(sched, param) : -errno;
}

int tlat_sched_set(const struct tlat_sched *sched)
{
	struct sched_param param = { .sched_priority = (int)sched->priority };

	return set(sched, sched, &param);
}

bool tlat_sched_intercepted(const struct tlat_sched *sched)
{
	return set(sched, NULL, NULL) != -EINVAL;
}

void tlat_sched_restore(const struct tlat_sched *saved)
{
	struct tlat_sched want = *saved, now;

	/*
	 * Since 6.12 a fair thread reports its slice as the runtime. Asking for it would pin the
	 * slice even where it was the kernel's default; only one that the default did not bring
	 * back was asked for by somebody.
	 */
	if (tlat_sched_is_fair(saved))
		want.runtime_ns = 0;
	if (tlat_sched_set(&want) == 0 && tlat_sched_is_fair(saved) && tlat_sched_get(&now) == 0 &&
	    now.runtime_ns != saved->runtime_ns)
		tlat_sched_set(saved);
}

struct tlat_sched tlat_sched_wanted(const struct tlat_rt_opts *opts, const struct tlat_sched *saved)
{
	struct tlat_sched want = {
		.size = sizeof(want),
		.policy = (uint32_t)policies[opts->policy].kernel,
		.flags = saved->flags & FLAG_RESET_ON_FORK,
		.nice = saved->nice,
		.priority = (uint32_t)opts->priority,
	};

	if (opts->policy == TLAT_SCHED_DEADLINE) {
		want.runtime_ns = (uint64_t)opts->runtime_ns;
		want.deadline_ns =
			(uint64_t)(opts->deadline_ns ? opts->deadline_ns : opts->period_ns);
		want.period_ns = (uint64_t)opts->period_ns;
	} else if (tlat_sched_is_fair(&want) && tlat_sched_is_fair(saved)) {
		want.runtime_ns = saved->runtime_ns;
	}
	return want;
}

bool tlat_sched_in_force(const struct tlat_sched *want, const struct tlat_sched *now)
{
	if (now->policy != want->policy || now->priority != want->priority)
		return false;
	return want->policy != SCHED_DEADLINE ||
	       (now->runtime_ns == want->runtime_ns && now->deadline_ns == want->deadline_ns &&
		now->period_ns == want->period_ns);
}

const char *tlat_sched_text(char *text, size_t size, int policy, int priority)
{
	if (tlat_policy_is_ranked(policy))
		snprintf(text, size, "%s %d", tlat_policy_kernel_name(policy), priority);
	else
		snprintf(text, size, "%s", tlat_policy_kernel_name(policy));
	return text;
}
