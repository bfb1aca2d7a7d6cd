// SPDX-License-Identifier: MIT
/*
 * cgroup.c - where this process sits in the cgroup hierarchies. Knows both versions, where they
 * are usually mounted, and that a container may show the group's path from the host while its own
 * group is what is mounted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"

/* One line "ID:controllers:/path" of /proc/self/cgroup, cut in place. */
struct line {
	const char *id, *controllers, *path;
};

static bool split(char *text, struct line *line)
{
	char *controllers = strchr(text, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path || path[1] != '/')
		return false;
	*controllers++ = '\0';
	*path++ = '\0';
	*line = (struct line){ text, controllers, path };
	return true;
}

/* Whether a list parted by commas has the word. */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == length && !memcmp(list, word, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static bool is_about(const struct line *line, const char *controller)
{
	if (controller)
		return list_has(line->controllers, controller);
	return !*line->controllers && !strcmp(line->id, "0");
}

/* What /proc tells: the group, and under which names its hierarchy may be mounted. */
static void read_own(struct tlat_cgroup *group, const char *controller, char *names, size_t size)
{
	char *text, *at, *rest = NULL;
	struct line line;

	if (tlat_root_read_all(group->root_fd, "proc/self/cgroup", &text) < 0)
		return;
	for (at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
		if (!split(at, &line) || !is_about(&line, controller))
			continue;
		snprintf(names, size, "%s", line.controllers);
		snprintf(group->shown, sizeof(group->shown), "%s", line.path);
		if (strlen(line.path) < sizeof(group->path))
			snprintf(group->path, sizeof(group->path), "%s", line.path);
		break;
	}
	free(text);
}

static bool exists(int root_fd, const char *path)
{
	return faccessat(root_fd, path, F_OK, 0) == 0;
}

/* A hierarchy is mounted under all its controllers' names or under one of them. */
static bool mount_v1(struct tlat_cgroup *group, const char *controller, const char *names)
{
	const char *const dirs[] = { names, controller };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(dirs); i++) {
		snprintf(group->mount, sizeof(group->mount), "sys/fs/cgroup/%s", dirs[i]);
		if (*dirs[i] && exists(group->root_fd, group->mount))
			return true;
	}
	return false;
}

/* Alone, or beside version 1. A recorded machine may hold no more than the files that count. */
static bool mount_v2(struct tlat_cgroup *group)
{
	static const char *const dirs[] = { "sys/fs/cgroup", "sys/fs/cgroup/unified" };
	static const char *const names[] = { "cgroup.controllers", "cpuset.cpus.effective" };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(dirs); i++)
		for (size_t k = 0; k < TLAT_ARRAY_SIZE(names); k++) {
			char path[64];

			snprintf(path, sizeof(path), "%s/%s", dirs[i], names[k]);
			if (!exists(group->root_fd, path))
				continue;
			snprintf(group->mount, sizeof(group->mount), "%s", dirs[i]);
			return true;
		}
	return false;
}

/* The nearest that is there: a recorded machine may lack groups that hold nothing of interest. */
static void enter_mount(struct tlat_cgroup *group)
{
	char dir[TLAT_CGROUP_FILE_BYTES];

	if (strstr(group->path, "/.."))
		strcpy(group->path, "/");
	while (!exists(group->root_fd, tlat_cgroup_file(group, "", dir)) && tlat_cgroup_up(group))
		;
}

int tlat_cgroup_own(struct tlat_cgroup *ret_group, int root_fd, const char *controller)
{
	struct tlat_cgroup group = { .root_fd = root_fd, .path = "/", .shown = "/" };
	char names[96] = "";

	read_own(&group, controller, names, sizeof(names));
	if (controller ? !mount_v1(&group, controller, names) : !mount_v2(&group))
		return -ENOENT;
	enter_mount(&group);
	*ret_group = group;
	return 0;
}

/* "/a/b" becomes "/a", "/a" becomes "/". */
bool tlat_cgroup_up(struct tlat_cgroup *group)
{
	char *slash = strrchr(group->path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == group->path] = '\0';
	return true;
}

const char *tlat_cgroup_file(const struct tlat_cgroup *group, const char *name,
			     char path[TLAT_CGROUP_FILE_BYTES])
{
	snprintf(path, TLAT_CGROUP_FILE_BYTES, "%s%s%s%s", group->mount, group->path,
		 group->path[1] ? "/" : "", name);
	return path;
}

int64_t tlat_cgroup_int(const struct tlat_cgroup *group, const char *name)
{
	char path[TLAT_CGROUP_FILE_BYTES];
	int64_t value;

	tlat_cgroup_file(group, name, path);
	return tlat_root_read_int(group->root_fd, path, &value) < 0 ? -1 : value;
}
