// SPDX-License-Identifier: MIT
/* ab_directory.c - a directory for what commands write, that no ended process leaves for good. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ab_directory.h"
#include "tool.h"

#define PREFIX "tlat-ab."
#define TRIES  10

/* The lock goes with the process, whatever ended it. */
static int open_locked(int at_fd, const char *path)
{
	int fd = openat(at_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_nlink && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

static void empty(int fd)
{
	int own_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_fd < 0 ? NULL : fdopendir(own_fd);
	struct dirent *entry;

	if (!dir && own_fd >= 0)
		close(own_fd);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void sweep(const char *tmp)
{
	DIR *dir = opendir(tmp);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = -1;

		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			fd = open_locked(dirfd(dir), entry->d_name);
		if (fd < 0)
			continue;
		empty(fd);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

int tlat_ab_directory_make(struct tlat_ab_directory *d, struct tlat_error *reterr)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || !*tmp || strlen(tmp) > 40)
		tmp = "/tmp";
	sweep(tmp);
	d->lock_fd = -1;
	/* One that is not locked yet can be swept by another process. */
	for (int i = 0; d->lock_fd < 0 && i < TRIES; i++) {
		snprintf(d->path, sizeof(d->path), "%s/" PREFIX "XXXXXX", tmp);
		if (!mkdtemp(d->path)) {
			d->path[0] = '\0';
			return tlat_tool_fail(reterr, -errno,
					      "%s: no directory for reports (%s); set TMPDIR to "
					      "one that can be written",
					      tmp, strerror(errno));
		}
		d->lock_fd = open_locked(AT_FDCWD, d->path);
		if (d->lock_fd < 0)
			rmdir(d->path);
	}
	if (d->lock_fd >= 0)
		return 0;
	d->path[0] = '\0';
	return tlat_tool_fail(reterr, -EAGAIN,
			      "%s: no directory for reports can be locked; set TMPDIR to another",
			      tmp);
}

void tlat_ab_directory_remove(struct tlat_ab_directory *d)
{
	if (!d->path[0])
		return;
	/* by name first, which needs no more descriptors; as a rule, that is all */
	unlinkat(d->lock_fd, "run.json", 0);
	unlinkat(d->lock_fd, "output", 0);
	empty(d->lock_fd);
	rmdir(d->path);
	close(d->lock_fd);
}
