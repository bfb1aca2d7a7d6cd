// SPDX-License-Identifier: MIT
/*
 * file_target.c - where a path leads. To replace or to reopen what a shell has opened already would
 * lose what is in it: its descriptor knows how far it was written, and whether to append. Needs
 * nothing else of the library, so that the tools can be built with it too.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_target.h"

#define DESCRIPTORS "/proc/self/fd"
#define LINKS_MAX   40 /* as many as the kernel follows */

/* Also /dev/fd, and what else it is called. */
static bool has_descriptors(const char *directory)
{
	char *own = realpath(DESCRIPTORS, NULL);
	char *other = own ? realpath(directory, NULL) : NULL;
	bool same = other && !strcmp(own, other);

	free(other);
	free(own);
	return same;
}

/* -1: the path is no entry of a directory of descriptors. */
static int descriptor_named(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char directory[PATH_MAX], *end;
	long fd = strtol(name, &end, 10);

	if (strspn(name, "0123456789") == 0 || *end || fd > INT_MAX)
		return -1;
	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return has_descriptors(directory) ? (int)fd : -1;
}

/* A file that one of these writes to has been opened by whoever started the process. */
static int descriptor_of_stream(const char *path)
{
	static const int streams[] = { STDOUT_FILENO, STDERR_FILENO };
	struct stat file, open;

	if (stat(path, &file) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		int flags = fcntl(streams[i], F_GETFL);

		if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY &&
		    fstat(streams[i], &open) == 0 && open.st_dev == file.st_dev &&
		    open.st_ino == file.st_ino)
			return streams[i];
	}
	return -1;
}

/* Put what a link says, which may count from the link's directory, in the place of its path. */
static int step(char *path, const char *link)
{
	char *slash = strrchr(path, '/');
	size_t kept = slash && *link != '/' ? (size_t)(slash - path) + 1 : 0;

	if (kept + strlen(link) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(path + kept, link);
	return 0;
}

int tlat_file_target(const char *path, char *target, int *ret_fd)
{
	char link[PATH_MAX];

	*ret_fd = -1;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(target, path);
	for (int i = 0; i <= LINKS_MAX; i++) {
		ssize_t n;

		*ret_fd = descriptor_named(target);
		if (*ret_fd >= 0)
			return 0;
		n = readlink(target, link, sizeof(link) - 1);
		if (n < 0) { /* whatever is wrong with it, whoever opens it is told */
			*ret_fd = descriptor_of_stream(target);
			return 0;
		}
		link[n] = '\0';
		if (step(target, link) < 0)
			return -ENAMETOOLONG;
	}
	return -ELOOP;
}

int tlat_file_descriptor(const char *path)
{
	char target[PATH_MAX];
	int fd;

	return tlat_file_target(path, target, &fd) < 0 ? -1 : fd;
}
