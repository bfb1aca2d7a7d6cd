// SPDX-License-Identifier: MIT
/*
 * machine_topology.c - cores, caches, nodes and core types from /sys. A list is read once for all
 * CPUs that it names, so that 2048 CPUs do not cost 2048 reads a level.
 */
#include <stdio.h>
#include <string.h>

#include "machine_state.h"

#define CPU_PATH	"sys/devices/system/cpu/cpu%d/"
/* Linux knows four levels, the first of them split in two; some machines list more. */
#define CACHE_INDEX_MAX 8
#define NO_CORE		(-1)

static int read_siblings(const struct tlat_machine *machine, struct tlat_cpuset *ret_set,
			 int32_t cpu, const char *name)
{
	char path[96];
	int r;

	snprintf(path, sizeof(path), CPU_PATH "topology/%s", cpu, name);
	r = tlat_machine_read_cpus(machine, path, ret_set);
	/* A list that does not name its own CPU is about something else. */
	return r < 0 ? r : tlat_cpuset_has(ret_set, cpu) ? 0 : -EINVAL;
}

/* Only online CPUs: a core's lowest CPU may be offline, and a list may name it all the same. */
static struct tlat_cpuset online_of(const struct tlat_machine *machine,
				    const struct tlat_cpuset *set)
{
	return tlat_cpuset_and(set, &machine->online);
}

static void read_core(struct tlat_machine *machine, int32_t cpu)
{
	struct tlat_cpuset set = { { 0 } };

	/* core_cpus_list is the newer name of thread_siblings_list (Linux 5.3). */
	if (read_siblings(machine, &set, cpu, "thread_siblings_list") < 0 &&
	    read_siblings(machine, &set, cpu, "core_cpus_list") < 0) {
		machine->cpu[cpu].core = cpu;
		return;
	}
	set = online_of(machine, &set);
	for (int32_t i = tlat_cpuset_next(&set, -1), first = i; i >= 0;
	     i = tlat_cpuset_next(&set, i))
		if (machine->cpu[i].core == NO_CORE)
			machine->cpu[i].core = first;
}

/* The index directory of the highest level, or -1. */
static int last_level_index(const struct tlat_machine *machine, int32_t cpu)
{
	int64_t best = 0;
	int found = -1;

	for (int i = 0; i < CACHE_INDEX_MAX; i++) {
		char path[96];
		int64_t level;

		snprintf(path, sizeof(path), CPU_PATH "cache/index%d/level", cpu, i);
		if (tlat_root_read_int(machine->root_fd, path, &level) < 0)
			break;
		if (level > best) {
			best = level;
			found = i;
		}
	}
	return found;
}

static void read_llc(struct tlat_machine *machine, int32_t cpu)
{
	int index = last_level_index(machine, cpu);
	struct tlat_cpuset set;
	char path[96];

	if (index < 0)
		return;
	snprintf(path, sizeof(path), CPU_PATH "cache/index%d/shared_cpu_list", cpu, index);
	if (tlat_machine_read_cpus(machine, path, &set) < 0 || !tlat_cpuset_has(&set, cpu))
		return;
	set = online_of(machine, &set);
	for (int32_t i = tlat_cpuset_next(&set, -1), first = i; i >= 0;
	     i = tlat_cpuset_next(&set, i))
		if (machine->cpu[i].llc < 0)
			machine->cpu[i].llc = first;
}

static void read_node(struct tlat_machine *machine, int32_t node)
{
	struct tlat_cpuset set;
	char path[96];

	tlat_cpuset_add(&machine->nodes, node);
	snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist", node);
	if (tlat_machine_read_cpus(machine, path, &set) < 0)
		return;
	for (int32_t i = tlat_cpuset_next(&set, -1); i >= 0; i = tlat_cpuset_next(&set, i))
		machine->cpu[i].node = node;
}

static void read_nodes(struct tlat_machine *machine)
{
	struct tlat_cpu_range range;
	struct dirent *entry;
	DIR *dir = tlat_machine_opendir(machine, "sys/devices/system/node");

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "node", 4) &&
		    tlat_cpu_range_parse(&range, entry->d_name + 4, strlen(entry->d_name) - 4,
					 -1) == 0)
			read_node(machine, range.first);
	if (dir)
		closedir(dir);
}

/* Hybrid x86 names its core types by the PMU that counts on them. */
static bool read_core_pmus(struct tlat_machine *machine)
{
	static const struct {
		const char *path;
		int32_t speed;
	} pmus[] = {
		{ "sys/devices/cpu_core/cpus", 3 },
		{ "sys/devices/cpu_atom/cpus", 2 },
		{ "sys/devices/cpu_lowpower/cpus", 1 },
	};
	bool found = false;

	for (size_t k = 0; k < TLAT_ARRAY_SIZE(pmus); k++) {
		struct tlat_cpuset set;

		if (tlat_machine_read_cpus(machine, pmus[k].path, &set) < 0)
			continue;
		found = true;
		for (int32_t i = tlat_cpuset_next(&set, -1); i >= 0; i = tlat_cpuset_next(&set, i))
			machine->cpu[i].speed = pmus[k].speed;
	}
	return found;
}

/* Where the first CPU has no capacity, no other has one. */
static void read_capacities(struct tlat_machine *machine)
{
	for (int32_t cpu = tlat_cpuset_next(&machine->online, -1); cpu >= 0;
	     cpu = tlat_cpuset_next(&machine->online, cpu)) {
		char path[96];
		int64_t capacity;

		snprintf(path, sizeof(path), CPU_PATH "cpu_capacity", cpu);
		if (tlat_root_read_int(machine->root_fd, path, &capacity) < 0)
			break;
		machine->cpu[cpu].speed = (int32_t)capacity;
	}
}

void tlat_machine_read_topology(struct tlat_machine *machine)
{
	const struct tlat_cpuset *online = &machine->online;

	for (int32_t cpu = 0; cpu < TLAT_CPUS_MAX; cpu++)
		machine->cpu[cpu] = (struct tlat_cpu){ .core = NO_CORE, .llc = -1, .node = -1 };
	for (int32_t cpu = tlat_cpuset_next(online, -1); cpu >= 0;
	     cpu = tlat_cpuset_next(online, cpu)) {
		if (machine->cpu[cpu].core == NO_CORE)
			read_core(machine, cpu);
		if (machine->cpu[cpu].llc < 0)
			read_llc(machine, cpu);
	}
	read_nodes(machine);
	if (!read_core_pmus(machine))
		read_capacities(machine);
}

/* == Relations == */

enum relation { SAME_CPU, SAME_CORE, SAME_CACHE, SAME_NODE, REMOTE };

static const char *const relation_names[] = {
	[SAME_CPU] = "same-cpu", [SAME_CORE] = "smt", [SAME_CACHE] = "llc",
	[SAME_NODE] = "node",	 [REMOTE] = "remote",
};

/*
 * What is not known counts as apart: no core list, a core of its own; no cache list, no shared
 * cache. Without NUMA information the kernel itself treats memory as one node.
 */
static enum relation relate(const struct tlat_machine *machine, int32_t a, int32_t b)
{
	static const struct tlat_cpu nowhere = { .core = NO_CORE, .llc = -1, .node = -1 };
	const struct tlat_cpu *x = a >= 0 && a < TLAT_CPUS_MAX ? &machine->cpu[a] : &nowhere;
	const struct tlat_cpu *y = b >= 0 && b < TLAT_CPUS_MAX ? &machine->cpu[b] : &nowhere;

	if (a == b)
		return SAME_CPU;
	if (x->core == y->core && x->core != NO_CORE)
		return SAME_CORE;
	if (x->llc == y->llc && x->llc >= 0)
		return SAME_CACHE;
	return x->node == y->node ? SAME_NODE : REMOTE;
}

const char *tlat_machine_relation(const struct tlat_machine *machine, int32_t a, int32_t b)
{
	return relation_names[relate(machine, a, b)];
}

const char *tlat_relation_from_name(const char *text)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(relation_names); i++)
		if (!strcmp(relation_names[i], text))
			return relation_names[i];
	return NULL;
}
