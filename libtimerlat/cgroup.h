/* SPDX-License-Identifier: MIT */
/* cgroup.h - control groups below a root directory */
#ifndef TLAT_CGROUP_H
#define TLAT_CGROUP_H

#include "internal.h"

/* Room for the path of a group's file. */
#define TLAT_CGROUP_FILE_BYTES 512

struct tlat_cgroup {
	int root_fd;
	char mount[128]; /* "sys/fs/cgroup/cpu,cpuacct": below root_fd */
	char path[256];	 /* in that hierarchy: "/system.slice/x.service", "/" */
	char shown[256]; /* the same as /proc/self/cgroup has it */
};

/*
 * This process's group in the v1 hierarchy that has the controller, or in v2 when controller is
 * NULL. Where /proc does not tell it, or tells a path that is not below the mount, as in a
 * container, it is the hierarchy's root. 0, or -ENOENT when the hierarchy is mounted nowhere.
 */
int tlat_cgroup_own(struct tlat_cgroup *ret_group, int root_fd, const char *controller);

/* To the parent; false: it was the root. */
bool tlat_cgroup_up(struct tlat_cgroup *group);

/* The path below root_fd of a file of the group. Returns path. */
const char *tlat_cgroup_file(const struct tlat_cgroup *group, const char *name,
			     char path[TLAT_CGROUP_FILE_BYTES]);

/* The integer in a file of the group, or -1: there is no such file, or no integer, as in "max". */
int64_t tlat_cgroup_int(const struct tlat_cgroup *group, const char *name);

#endif /* TLAT_CGROUP_H */
