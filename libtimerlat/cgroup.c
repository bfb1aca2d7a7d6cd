// SPDX-License-Identifier: MIT
/*
 * cgroup.c - where this process sits in the cgroup hierarchies. Knows that a container may show
 * the group's path from the host while its own group is what is mounted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt.h"

struct place {
	char mount[128]; /* "cpu,cpuacct" below sys/fs/cgroup; "" for v2 */
	char group[512]; /* "/system.slice/x.service" */
};

/* Whether a list parted by commas has the word. */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && !memcmp(list, word, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

/* One line "ID:controllers:/path"; cut in place. */
static bool line_matches(char *line, const char *controller, struct place *place)
{
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group || group[1] != '/')
		return false;
	*controllers++ = '\0';
	*group++ = '\0';
	if (controller ? !list_has(controllers, controller) : *controllers || strcmp(line, "0"))
		return false;
	snprintf(place->mount, sizeof(place->mount), "%s", controllers);
	snprintf(place->group, sizeof(place->group), "%s", group);
	return true;
}

static bool find_place(int root_fd, const char *controller, struct place *place)
{
	char *text, *line, *rest = NULL;
	bool found = false;

	if (tlat_root_read_all(root_fd, "proc/self/cgroup", &text) < 0)
		return false;
	for (line = strtok_r(text, "\n", &rest); line && !found; line = strtok_r(NULL, "\n", &rest))
		found = line_matches(line, controller, place);
	free(text);
	return found;
}

static bool exists(int root_fd, const char *path)
{
	return faccessat(root_fd, path, F_OK, 0) == 0;
}

/* A hierarchy is mounted under all its controllers' names or under one of them. */
static bool find_mount(int root_fd, const char *controller, const char *listed, char *mount,
		       size_t size)
{
	const char *const v1[] = { listed, controller };
	const char *const v2[] = { "", "/unified" };

	for (int i = 0; i < 2; i++) {
		char probe[320];

		if (controller)
			snprintf(mount, size, "sys/fs/cgroup/%s", v1[i]);
		else
			snprintf(mount, size, "sys/fs/cgroup%s", v2[i]);
		snprintf(probe, sizeof(probe), "%s%s", mount,
			 controller ? "" : "/cgroup.controllers");
		if (exists(root_fd, probe))
			return true;
	}
	return false;
}

int tlat_cgroup_dir(int root_fd, const char *controller, char *dir, size_t dir_size, char *group,
		    size_t group_size)
{
	struct place place;
	char mount[256];

	if (!find_place(root_fd, controller, &place) ||
	    !find_mount(root_fd, controller, place.mount, mount, sizeof(mount)))
		return -ENOENT;
	if (!strcmp(place.group, "/"))
		place.group[0] = '\0';
	if (snprintf(dir, dir_size, "%s%s", mount, place.group) >= (int)dir_size ||
	    strstr(place.group, "..") || !exists(root_fd, dir))
		snprintf(dir, dir_size, "%s", mount);
	if (group)
		snprintf(group, group_size, "%s", place.group[0] ? place.group : "/");
	return 0;
}
