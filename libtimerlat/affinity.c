// SPDX-License-Identifier: MIT
/*
 * affinity.c - affinity masks as sets of CPUs. Knows that the kernel refuses a mask shorter than
 * its own, so that all of them are as long as Linux can be built with.
 */
#include <sched.h>
#include <string.h>

#include "affinity.h"

/* The kernel's form: whole longs, so that their order of bytes is the machine's. */
struct mask {
	cpu_set_t sets[TLAT_CPUS_MAX / (8 * sizeof(cpu_set_t))];
};

static_assert(sizeof(struct mask) * 8 == TLAT_CPUS_MAX, "a mask is whole cpu_set_t");

int tlat_affinity_get(pid_t tid, struct tlat_cpuset *ret_set)
{
	struct mask mask;

	memset(&mask, 0, sizeof(mask));
	if (sched_getaffinity(tid, sizeof(mask), mask.sets) < 0)
		return -errno;
	memset(ret_set, 0, sizeof(*ret_set));
	for (int32_t cpu = 0; cpu < TLAT_CPUS_MAX; cpu++)
		if (CPU_ISSET_S((size_t)cpu, sizeof(mask), mask.sets))
			tlat_cpuset_add(ret_set, cpu);
	return 0;
}

int tlat_affinity_set(pid_t tid, const struct tlat_cpuset *set)
{
	struct mask mask;

	memset(&mask, 0, sizeof(mask));
	for (int32_t cpu = tlat_cpuset_next(set, -1); cpu >= 0; cpu = tlat_cpuset_next(set, cpu))
		CPU_SET_S((size_t)cpu, sizeof(mask), mask.sets);
	return sched_setaffinity(tid, sizeof(mask), mask.sets) < 0 ? -errno : 0;
}

int tlat_affinity_pin(pid_t tid, int32_t cpu)
{
	struct tlat_cpuset set = { { 0 } };

	tlat_cpuset_add(&set, cpu);
	return tlat_affinity_set(tid, &set);
}

int tlat_affinity_of_status(const char *status, struct tlat_cpuset *ret_set)
{
	const char *value = tlat_text_value(status, "Cpus_allowed_list");

	if (!value)
		return -ENOENT;
	return tlat_cpulist_parse(ret_set, value, strcspn(value, "\n"), -1);
}
