// SPDX-License-Identifier: MIT
/*
 * machine_cpuset.c - control groups: which CPUs they let this process have, and which they keep
 * from the scheduler's domains. Knows both versions and where they are usually mounted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_state.h"

#define PATH_BYTES 512
/* Deeper trees than this are no sane way of dividing CPUs. */
#define DEPTH_MAX  16

/* Where version 2 is: alone, or beside version 1. "" when nowhere. */
static const char *mount_v2(const struct tlat_machine *machine)
{
	static const char *const mounts[] = { "sys/fs/cgroup", "sys/fs/cgroup/unified" };
	static const char *const names[] = { "cgroup.controllers", "cpuset.cpus.effective" };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(mounts); i++)
		for (size_t k = 0; k < TLAT_ARRAY_SIZE(names); k++) {
			char path[64], text[4];

			snprintf(path, sizeof(path), "%s/%s", mounts[i], names[k]);
			if (tlat_root_read(machine->root_fd, path, text, sizeof(text)) != -ENOENT)
				return mounts[i];
		}
	return "";
}

static const char mount_v1[] = "sys/fs/cgroup/cpuset";

/* Whether "8:cpuset,pids:/a" is about the controller ("": the line of version 2, "0::/a"). */
static bool is_line_of(const char *controllers, size_t length, const char *controller)
{
	size_t n = strlen(controller);

	if (!n)
		return length == 0;
	for (const char *p = controllers, *end = p + length; p < end;) {
		size_t word = strcspn(p, ",:");

		if (word == n && !memcmp(p, controller, n))
			return true;
		p += word + 1;
	}
	return false;
}

/* This process's group in a hierarchy; "/" where it cannot be told or lies outside the mount. */
static void own_group(const struct tlat_machine *machine, const char *controller, char *group,
		      size_t size)
{
	char *text, *line, *rest;

	snprintf(group, size, "/");
	if (tlat_root_read_all(machine->root_fd, "proc/self/cgroup", &text) < 0)
		return;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;

		if (path && is_line_of(names + 1, (size_t)(path - names - 1), controller) &&
		    path[1] == '/' && strlen(path + 1) < size && !strstr(path, "/.."))
			strcpy(group, path + 1);
	}
	free(text);
}

/* "/a/b" becomes "/a", "/a" becomes "/", "/" becomes "". */
static void go_up(char *group)
{
	char *slash = strrchr(group, '/');

	if (slash && slash[1])
		slash[slash == group] = '\0';
	else
		group[0] = '\0';
}

static void file_of(char *path, const char *mount, const char *group, const char *name)
{
	snprintf(path, PATH_BYTES, "%s%s%s%s", mount, group, strcmp(group, "/") ? "/" : "", name);
}

/*
 * The nearest group from *group upwards that tells its CPUs in a file of that name. A group without
 * the controller has its parent's CPUs; a path from outside the mount ends at the root.
 */
static bool nearest_cpus(const struct tlat_machine *machine, const char *mount, const char *name,
			 char *group, struct tlat_cpuset *ret_set)
{
	char path[PATH_BYTES];

	for (; group[0]; go_up(group)) {
		file_of(path, mount, group, name);
		if (tlat_machine_read_cpus(machine, path, ret_set) == 0 &&
		    !tlat_cpuset_empty(ret_set))
			return true;
	}
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
	snprintf(machine->cpuset_path, sizeof(machine->cpuset_path), "%s", group);
}

void tlat_machine_read_cpuset(struct tlat_machine *machine)
{
	char group[PATH_BYTES / 2];
	struct tlat_cpuset set;
	const char *v2 = mount_v2(machine);

	own_group(machine, "", group, sizeof(group));
	if (v2[0] && nearest_cpus(machine, v2, "cpuset.cpus.effective", group, &set))
		limit(machine, &set, group);
	own_group(machine, "cpuset", group, sizeof(group));
	if (nearest_cpus(machine, mount_v1, "cpuset.effective_cpus", group, &set))
		limit(machine, &set, group);
	own_group(machine, "cpuset", group, sizeof(group));
	if (nearest_cpus(machine, mount_v1, "cpuset.cpus", group, &set))
		limit(machine, &set, group);
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
		char child[PATH_BYTES];
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
	char path[PATH_BYTES + 64];

	snprintf(path, sizeof(path), "%s/%s", group, name);
	tlat_machine_text(machine, path, text, size);
}

static void add_cpus_of(const struct tlat_machine *machine, const char *group, const char *name,
			struct tlat_cpuset *set)
{
	char path[PATH_BYTES + 64];
	struct tlat_cpuset more;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	if (tlat_machine_read_cpus(machine, path, &more) == 0)
		*set = tlat_cpuset_or(set, &more);
}

/* A partition's parent is a partition as well, so other groups need no look inside. */
static bool visit_partition(const struct tlat_machine *machine, const char *group,
			    struct tlat_cpuset *set)
{
	char state[32];

	read_in_group(machine, group, "cpuset.cpus.partition", state, sizeof(state));
	if (!strcmp(state, "isolated"))
		add_cpus_of(machine, group, "cpuset.cpus.effective", set);
	return !strcmp(state, "root") || !strcmp(state, "isolated");
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

static bool read_v1(const struct tlat_machine *machine, struct tlat_cpuset *set)
{
	struct tlat_cpuset balanced = { { 0 } }, isolated;
	char balance[8];

	read_in_group(machine, mount_v1, "cpuset.sched_load_balance", balance, sizeof(balance));
	if (strcmp(balance, "0"))
		return false;
	walk(machine, mount_v1, visit_balanced, &balanced, 0);
	isolated = tlat_cpuset_minus(&machine->online, &balanced);
	*set = tlat_cpuset_or(set, &isolated);
	return true;
}

/* "isolated invalid (reason)" in this process's group or above: asked for, not in force. */
static void note_invalid(struct tlat_machine *machine, const char *mount)
{
	char group[PATH_BYTES / 2], path[PATH_BYTES], state[128];

	for (own_group(machine, "", group, sizeof(group)); group[0]; go_up(group)) {
		file_of(path, mount, group, "cpuset.cpus.partition");
		tlat_machine_text(machine, path, state, sizeof(state));
		if (!strncmp(state, "isolated invalid", strlen("isolated invalid")))
			snprintf(machine->partition_invalid, sizeof(machine->partition_invalid),
				 "%.60s: %s", group, state);
	}
}

bool tlat_machine_read_partitions(struct tlat_machine *machine, struct tlat_cpuset *set)
{
	struct tlat_cpuset found = { { 0 } };
	const char *v2 = mount_v2(machine);
	char path[PATH_BYTES];

	if (v2[0]) {
		note_invalid(machine, v2);
		/* Since Linux 6.7 the root group lists them all; before, one asks each. */
		file_of(path, v2, "/", "cpuset.cpus.isolated");
		if (tlat_machine_read_cpus(machine, path, &found) < 0)
			walk(machine, v2, visit_partition, &found, 0);
	}
	read_v1(machine, &found);
	*set = tlat_cpuset_or(set, &found);
	return !tlat_cpuset_empty(&found);
}
