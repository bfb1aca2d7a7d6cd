/* SPDX-License-Identifier: MIT */
/*
 * compose-machine.h - turns the shorthand of tests/machines into files below a temporary directory,
 * which tlat_machine_open() then takes as its root. What cannot be made ends the test.
 */
#ifndef TLAT_COMPOSE_MACHINE_H
#define TLAT_COMPOSE_MACHINE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine_state.h"

struct composed {
	char root[64];
	char last_dir[512]; /* made by the last file, so that neighbours do without */
};

static void compose_need(bool ok, const char *what, const char *name)
{
	if (ok)
		return;
	fprintf(stderr, "compose: %s: %s\n", what, name);
	abort();
}

/* mkdir -p of everything before the last slash. */
static void compose_dirs(struct composed *machine, char *path)
{
	char *last = strrchr(path, '/');

	*last = '\0';
	if (strcmp(path, machine->last_dir)) {
		for (char *p = path + 1; (p = strchr(p, '/')); p++) {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
		mkdir(path, 0755);
		snprintf(machine->last_dir, sizeof(machine->last_dir), "%s", path);
	}
	*last = '/';
}

/* Write text, its \n, \t and \s undone. */
static void compose_file(struct composed *machine, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", machine->root, name);
	compose_dirs(machine, path);
	file = fopen(path, "w");
	compose_need(file != NULL, "cannot write", path);
	for (const char *p = text; *p; p++) {
		char c = *p;

		if (c == '\\' && p[1]) {
			p++;
			c = *p == 'n' ? '\n' : *p == 't' ? '\t' : ' ';
		}
		fputc(c, file);
	}
	fclose(file);
}

static struct tlat_cpuset compose_set(const char *list)
{
	struct tlat_cpuset set;

	compose_need(tlat_cpuset_parse(&set, list) == 0, "no CPU list", list);
	return set;
}

static void compose_cpu_file(struct composed *machine, int32_t cpu, const char *name,
			     const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", cpu, name);
	compose_file(machine, path, text);
}

/* cpu LIST NAME TEXT */
static void compose_cpu(struct composed *machine, const char *list, const char *rest)
{
	struct tlat_cpuset set = compose_set(list);
	char name[64] = "";
	int n = 0;

	sscanf(rest, "%63s%n", name, &n);
	for (int32_t i = tlat_cpuset_next(&set, -1); i >= 0; i = tlat_cpuset_next(&set, i))
		compose_cpu_file(machine, i, name, rest + n + (rest[n] == ' '));
}

/* One group of CPUs: the same file text for each of them. */
static void compose_group(struct composed *machine, const struct tlat_cpuset *group, bool cores)
{
	char list[8192];

	tlat_cpuset_format(group, list, sizeof(list) - 3);
	strcat(list, "\\n");
	for (int32_t i = tlat_cpuset_next(group, -1); i >= 0; i = tlat_cpuset_next(group, i)) {
		char self[16];

		if (cores) {
			compose_cpu_file(machine, i, "topology/thread_siblings_list", list);
			continue;
		}
		snprintf(self, sizeof(self), "%d\\n", i);
		compose_cpu_file(machine, i, "cache/index0/level", "1\\n");
		compose_cpu_file(machine, i, "cache/index0/shared_cpu_list", self);
		compose_cpu_file(machine, i, "cache/index1/level", "3\\n");
		compose_cpu_file(machine, i, "cache/index1/shared_cpu_list", list);
	}
}

/* cores LIST K D, caches LIST K D */
static void compose_groups(struct composed *machine, const char *list, const char *rest, bool cores)
{
	struct tlat_cpuset set = compose_set(list), group = { { 0 } };
	int each = 0, further = 0, n = 0;

	compose_need(sscanf(rest, "%d %d", &each, &further) == 2, "no group", rest);
	for (int32_t i = tlat_cpuset_next(&set, -1); i >= 0; i = tlat_cpuset_next(&set, i)) {
		tlat_cpuset_add(&group, i);
		tlat_cpuset_add(&group, i + further);
		if (++n % each)
			continue;
		compose_group(machine, &group, cores);
		memset(&group, 0, sizeof(group));
	}
}

static void compose_line(struct composed *machine, char *line)
{
	char verb[16] = "", first[256] = "", path[320];
	const char *rest;
	int n = 0;

	line[strcspn(line, "\n")] = '\0';
	if (!line[0] || line[0] == '#')
		return;
	sscanf(line, "%15s %255s%n", verb, first, &n);
	rest = line + n + (line[n] == ' ');
	if (!strcmp(verb, "file")) {
		compose_file(machine, first, rest);
	} else if (!strcmp(verb, "cpu")) {
		compose_cpu(machine, first, rest);
	} else if (!strcmp(verb, "cores") || !strcmp(verb, "caches")) {
		compose_groups(machine, first, rest, verb[1] == 'o');
	} else {
		compose_need(!strcmp(verb, "node"), "no such line", line);
		snprintf(path, sizeof(path), "sys/devices/system/node/node%s/cpulist", first);
		compose_file(machine, path, rest);
	}
}

/* Compose tests/machines/NAME. */
static void compose(struct composed *machine, const char *name)
{
	char path[512], line[1024];
	FILE *file;

	*machine = (struct composed){ .root = "" };
	/* Thousands of small files are better kept off a disk. */
	snprintf(machine->root, sizeof(machine->root), "%s/timerlat-machine-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	compose_need(mkdtemp(machine->root) != NULL, "no directory", machine->root);
	snprintf(path, sizeof(path), "%s/machines/%s", TLAT_TEST_DATA, name);
	file = fopen(path, "r");
	compose_need(file != NULL, "cannot read", path);
	while (fgets(line, sizeof(line), file))
		compose_line(machine, line);
	fclose(file);
}

static int compose_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void compose_remove(struct composed *machine)
{
	nftw(machine->root, compose_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

#endif /* TLAT_COMPOSE_MACHINE_H */
