// SPDX-License-Identifier: MIT
/*
 * proc_stat.c - lxcfs and its like mount a file of theirs over /proc/stat of a container. Its
 * "cpu0" is the first CPU of the container's cpuset, whichever that is, and its steal may be a 0
 * that nobody has counted.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "proc_stat.h"

#define FUSE_MAGIC 0x65735546 /* FUSE_SUPER_MAGIC, which older headers lack */

static bool is_on_fuse(int root_fd, const char *path)
{
	int fd = openat(root_fd, path, O_PATH | O_CLOEXEC);
	struct statfs fs = { 0 };
	bool fuse;

	if (fd < 0)
		return false;
	fuse = fstatfs(fd, &fs) == 0 && (uint32_t)fs.f_type == FUSE_MAGIC;
	close(fd);
	return fuse;
}

/* A recorded machine may lie on FUSE as a whole. */
bool tlat_proc_stat_is_faked(int root_fd)
{
	return is_on_fuse(root_fd, "proc/stat") && !is_on_fuse(root_fd, "proc");
}
