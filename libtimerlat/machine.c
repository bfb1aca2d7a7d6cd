// SPDX-License-Identifier: MIT
/*
 * machine.c - which CPUs there are and which of them this process may use. Files tell, below one
 * root; system calls only where that root is the machine itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "machine_state.h"

void tlat_machine_text(const struct tlat_machine *machine, const char *path, char *text,
		       size_t size)
{
	const char *from;
	char *whole;
	ssize_t n = tlat_root_read_all(machine->root_fd, path, &whole);
	size_t length;

	text[0] = '\0';
	if (n < 0)
		return;
	from = whole;
	length = tlat_cpulist_trim(&from, strlen(whole));
	snprintf(text, size, "%.*s", (int)length, from);
	free(whole);
}

int tlat_machine_read_cpus(const struct tlat_machine *machine, const char *path,
			   struct tlat_cpuset *ret_set)
{
	char *text;
	ssize_t n = tlat_root_read_all(machine->root_fd, path, &text);
	int r;

	if (n < 0)
		return (int)n;
	r = tlat_cpuset_parse(ret_set, text);
	free(text);
	return r;
}

DIR *tlat_machine_opendir(const struct tlat_machine *machine, const char *path)
{
	int fd = openat(machine->root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

struct tlat_cpuset tlat_machine_reachable(const struct tlat_machine *machine)
{
	return machine->cpuset.known ? machine->cpuset.set : machine->online;
}

/* The "cpuN" lines of /proc/stat are the online CPUs, also where /sys is not mounted. */
static void read_stat(const struct tlat_machine *machine, struct tlat_cpuset *online)
{
	char *text, *line, *rest;

	if (tlat_root_read_all(machine->root_fd, "proc/stat", &text) < 0)
		return;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t length = strcspn(line, " ");
		struct tlat_cpu_range range;

		if (length > 3 && !memcmp(line, "cpu", 3) &&
		    tlat_cpu_range_parse(&range, line + 3, length - 3, -1) == 0)
			tlat_cpuset_add_range(online, &range);
	}
	free(text);
}

/* A recorded process's mask; the recorder's own is what a replay stands for. */
static bool read_status(const struct tlat_machine *machine, struct tlat_cpuset *allowed)
{
	char *text;
	bool ok;

	if (tlat_root_read_all(machine->root_fd, "proc/self/status", &text) < 0)
		return false;
	ok = tlat_affinity_of_status(text, allowed) == 0;
	free(text);
	return ok;
}

/*
 * The kernel puts only online CPUs into a thread's mask. Where it names others (in a container that
 * has its own view of /sys: all of it, or a file that merely counts), the kernel is right, and may
 * have more of the CPUs that the file calls offline. Only a mask with CPUs that the kernel then
 * refuses is not its own; of that one the CPUs count that the file has, too, if there are any.
 */
static void reconcile(struct tlat_machine *machine)
{
	struct tlat_cpuset offline = tlat_cpuset_minus(&machine->present, &machine->online);
	struct tlat_cpuset common = tlat_cpuset_and(&machine->allowed, &machine->online);
	struct tlat_cpuset disputed = tlat_cpuset_and(&machine->allowed, &offline);
	struct tlat_trial trial = { .taken = { { 0 } } };
	struct tlat_cpuset extra;

	if (!tlat_cpuset_empty(&disputed))
		trial = tlat_machine_try(&offline, &machine->allowed);
	disputed = tlat_cpuset_and(&disputed, &trial.refused);
	if (tlat_cpuset_empty(&disputed) || tlat_cpuset_empty(&common))
		extra = tlat_cpuset_or(&machine->allowed, &trial.taken);
	else
		extra = tlat_cpuset_minus(&machine->allowed, &offline);
	machine->online = tlat_cpuset_or(&machine->online, &extra);
}

static void read_allowed(struct tlat_machine *machine)
{
	if (machine->live) {
		if (tlat_affinity_get(0, &machine->allowed) == 0)
			reconcile(machine);
	} else if (!read_status(machine, &machine->allowed)) {
		machine->allowed = machine->online;
	}
	if (tlat_cpuset_empty(&machine->allowed))
		machine->allowed = machine->online;
}

static void read_cpus(struct tlat_machine *machine)
{
	static const char *const paths[] = {
		"sys/devices/system/cpu/present",
		"sys/devices/system/cpu/possible",
	};

	if (tlat_machine_read_cpus(machine, "sys/devices/system/cpu/online", &machine->online) < 0)
		read_stat(machine, &machine->online);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(paths) && tlat_cpuset_empty(&machine->present); i++)
		tlat_machine_read_cpus(machine, paths[i], &machine->present);
	read_allowed(machine);
	machine->present = tlat_cpuset_or(&machine->present, &machine->online);
}

static bool is_live(const char *root)
{
	return !root || !strcmp(root, "/");
}

int tlat_machine_open(struct tlat_machine **ret_machine, const char *root,
		      struct tlat_error *reterr)
{
	struct tlat_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return tlat_fail(reterr, -ENOMEM, "machine: no memory for %zu bytes",
				 sizeof(*machine));
	machine->live = is_live(root);
	machine->root_fd = tlat_root_open(root);
	if (machine->root_fd < 0) {
		int r = tlat_fail(reterr, machine->root_fd, "machine: cannot open %s: %s",
				  root ? root : "/", strerror(-machine->root_fd));

		free(machine);
		return r;
	}
	read_cpus(machine);
	if (tlat_cpuset_empty(&machine->online)) {
		tlat_machine_close(machine);
		return tlat_fail(reterr, -ENOENT,
				 "machine: no CPU is listed below %s; mount /sys or /proc there",
				 root ? root : "/");
	}
	tlat_machine_read_topology(machine);
	tlat_machine_read_facts(machine);
	tlat_machine_read_cpuset(machine);
	tlat_machine_read_isolation(machine);
	*ret_machine = machine;
	return 0;
}

void tlat_machine_close(struct tlat_machine *machine)
{
	if (!machine)
		return;
	close(machine->root_fd);
	free(machine);
}

const struct tlat_machine_facts *tlat_machine_facts(const struct tlat_machine *machine)
{
	return &machine->facts;
}

int tlat_machine_root_fd(const struct tlat_machine *machine)
{
	return machine->root_fd;
}

const struct tlat_cpuset *tlat_machine_online(const struct tlat_machine *machine)
{
	return &machine->online;
}

const struct tlat_known_cpus *tlat_machine_isolated(const struct tlat_machine *machine)
{
	return &machine->isolated;
}

const struct tlat_cpuset *tlat_machine_isolated_requested(const struct tlat_machine *machine)
{
	return &machine->isolated_requested;
}

const struct tlat_known_cpus *tlat_machine_nohz_full(const struct tlat_machine *machine)
{
	return &machine->nohz_full;
}

const struct tlat_cpuset *tlat_machine_allowed(const struct tlat_machine *machine)
{
	return &machine->allowed;
}

const struct tlat_known_cpus *tlat_machine_cpuset(const struct tlat_machine *machine)
{
	return &machine->cpuset;
}

/*
 * The kernel starts everything on the CPUs that are not isolated: a mask without the isolated
 * ones is nobody's wish, one that lacks another CPU is.
 */
bool tlat_machine_restricted(const struct tlat_machine *machine)
{
	struct tlat_cpuset common = tlat_cpuset_minus(&machine->online, &machine->isolated.set);
	struct tlat_cpuset missing;

	if (tlat_cpuset_empty(&common))
		common = machine->online;
	missing = tlat_cpuset_minus(&common, &machine->allowed);
	return !tlat_cpuset_empty(&missing);
}
