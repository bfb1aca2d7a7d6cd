// SPDX-License-Identifier: MIT
/*
 * machine_cpuset.c - cpusets: which CPUs control groups let this process have, and which they keep
 * from the scheduler's domains, in both versions.
 */
#include <stdio.h>
#include <string.h>

#include "cgroup.h"
#include "machine_state.h"

/* Deeper trees than this are no sane way of dividing CPUs. */
#define DEPTH_MAX 16

/*
 * The nearest group from *group upwards that tells its CPUs in a file of that name; a group without
 * the controller has its parent's CPUs.
 */
static bool nearest_cpus(const struct tlat_machine *machine, struct tlat_cgroup *group,
			 const char *name, struct tlat_cpuset *ret_set)
{
	char path[TLAT_CGROUP_FILE_BYTES];

	do {
		tlat_cgroup_file(group, name, path);
		if (tlat_machine_read_cpus(machine, path, ret_set) == 0 &&
		    !tlat_cpuset_empty(ret_set))
			return true;
	} while (tlat_cgroup_up(group));
	return false;
}

/* A group that withholds nothing says nothing; one that withholds everything is not believed. */
static void limit(struct tlat_machine *machine, const struct tlat_cpuset *set, const char *group)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);
	struct tlat_cpuset common = tlat_cpuset_and(&reachable, set);

	if (tlat_cpuset_empty(&common) || tlat_cpuset_equal(&common, &reachable))
		return;
	machine->cpuset.known = true;
	machine->cpuset.set = common;
	snprintf(machine->cpuset_path, sizeof(machine->cpuset_path), "%.*s",
		 (int)sizeof(machine->cpuset_path) - 1, group);
}

static void limit_by(struct tlat_machine *machine, const char *controller, const char *name)
{
	struct tlat_cgroup group;
	struct tlat_cpuset set;

	if (tlat_cgroup_own(&group, machine->root_fd, controller) == 0 &&
	    nearest_cpus(machine, &group, name, &set))
		limit(machine, &set, group.path);
}

static void read_versions(struct tlat_machine *machine)
{
	struct tlat_cgroup group;
	bool v1 = tlat_cgroup_own(&group, machine->root_fd, "cpuset") == 0;
	bool v2 = tlat_cgroup_own(&group, machine->root_fd, NULL) == 0;

	snprintf(machine->facts.cgroup, sizeof(machine->facts.cgroup), "%s%s%s", v1 ? "v1" : "",
		 v1 && v2 ? ", " : "", v2 ? "v2" : "");
}

void tlat_machine_read_cpuset(struct tlat_machine *machine)
{
	read_versions(machine);
	limit_by(machine, NULL, "cpuset.cpus.effective");
	limit_by(machine, "cpuset", "cpuset.effective_cpus");
	limit_by(machine, "cpuset", "cpuset.cpus");
}

/* Look at one group; true to go into its children as well. */
typedef bool visit_fn(const struct tlat_machine *machine, const char *group,
		      struct tlat_cpuset *set);

static void walk(const struct tlat_machine *machine, const char *group, visit_fn *visit,
		 struct tlat_cpuset *set, int depth)
{
	DIR *dir = depth < DEPTH_MAX ? tlat_machine_opendir(machine, group) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char child[TLAT_CGROUP_FILE_BYTES];
		int n = snprintf(child, sizeof(child), "%s/%s", group, entry->d_name);

		if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
		    entry->d_name[0] == '.' || n >= (int)sizeof(child))
			continue;
		if (visit(machine, child, set))
			walk(machine, child, visit, set, depth + 1);
	}
	if (dir)
		closedir(dir);
}

static void read_in_group(const struct tlat_machine *machine, const char *group, const char *name,
			  char *text, size_t size)
{
	char path[TLAT_CGROUP_FILE_BYTES + 64];

	snprintf(path, sizeof(path), "%s/%s", group, name);
	tlat_machine_text(machine, path, text, size);
}

static void add_cpus_of(const struct tlat_machine *machine, const char *group, const char *name,
			struct tlat_cpuset *set)
{
	char path[TLAT_CGROUP_FILE_BYTES + 64];
	struct tlat_cpuset more;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	if (tlat_machine_read_cpus(machine, path, &more) == 0)
		*set = tlat_cpuset_or(set, &more);
}

/*
 * Remote partitions (Linux 6.7) lie below groups that are none. Below one without the file no group
 * has it, but for the root of the hierarchy.
 */
static bool visit_partition(const struct tlat_machine *machine, const char *group,
			    struct tlat_cpuset *set)
{
	char state[32];

	read_in_group(machine, group, "cpuset.cpus.partition", state, sizeof(state));
	if (!strcmp(state, "isolated"))
		add_cpus_of(machine, group, "cpuset.cpus.effective", set);
	return state[0] != '\0';
}

/* Under version 1 CPUs are balanced where any group says so; its children are parts of it. */
static bool visit_balanced(const struct tlat_machine *machine, const char *group,
			   struct tlat_cpuset *set)
{
	char balance[8];

	read_in_group(machine, group, "cpuset.sched_load_balance", balance, sizeof(balance));
	if (strcmp(balance, "1"))
		return balance[0] != '\0';
	add_cpus_of(machine, group, "cpuset.effective_cpus", set);
	add_cpus_of(machine, group, "cpuset.cpus", set);
	return false;
}

static void read_v1(const struct tlat_machine *machine, struct tlat_cpuset *set)
{
	struct tlat_cpuset balanced = { { 0 } }, isolated;
	struct tlat_cgroup group;
	char balance[8];

	if (tlat_cgroup_own(&group, machine->root_fd, "cpuset") < 0)
		return;
	read_in_group(machine, group.mount, "cpuset.sched_load_balance", balance, sizeof(balance));
	if (strcmp(balance, "0"))
		return;
	walk(machine, group.mount, visit_balanced, &balanced, 0);
	isolated = tlat_cpuset_minus(&machine->online, &balanced);
	*set = tlat_cpuset_or(set, &isolated);
}

/* "isolated invalid (reason)" in this process's group or above: asked for, not in force. */
static void note_invalid(struct tlat_machine *machine, struct tlat_cgroup group)
{
	char path[TLAT_CGROUP_FILE_BYTES], state[128];

	do {
		tlat_cgroup_file(&group, "cpuset.cpus.partition", path);
		tlat_machine_text(machine, path, state, sizeof(state));
		if (!strncmp(state, "isolated invalid", strlen("isolated invalid")))
			snprintf(machine->partition_invalid, sizeof(machine->partition_invalid),
				 "%.60s: %s", group.path, state);
	} while (tlat_cgroup_up(&group));
}

static void read_v2(struct tlat_machine *machine, struct tlat_cpuset *set)
{
	struct tlat_cgroup group;
	struct tlat_cpuset more;
	char path[TLAT_CGROUP_FILE_BYTES];

	if (tlat_cgroup_own(&group, machine->root_fd, NULL) < 0)
		return;
	note_invalid(machine, group);
	/*
	 * Since Linux 6.7 the root group lists them all. Before, and where a container shows no
	 * more than its own group as the root, one asks each.
	 */
	snprintf(path, sizeof(path), "%s/cpuset.cpus.isolated", group.mount);
	if (tlat_machine_read_cpus(machine, path, &more) == 0) {
		*set = tlat_cpuset_or(set, &more);
		return;
	}
	visit_partition(machine, group.mount, set);
	walk(machine, group.mount, visit_partition, set, 0);
}

bool tlat_machine_read_partitions(struct tlat_machine *machine, struct tlat_cpuset *set)
{
	struct tlat_cpuset found = { { 0 } };

	read_v2(machine, &found);
	read_v1(machine, &found);
	*set = tlat_cpuset_or(set, &found);
	return !tlat_cpuset_empty(&found);
}
