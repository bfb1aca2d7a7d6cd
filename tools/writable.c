// SPDX-License-Identifier: MIT
/* writable.c - a file's own permissions, or those of the directory that it is to be made in. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writable.h"

static int check_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
	int r = 0;

	if (!directory)
		return -ENOMEM;
	if (faccessat(AT_FDCWD, *directory ? directory : ".", W_OK | X_OK, AT_EACCESS) < 0)
		r = -errno;
	free(directory);
	return r;
}

int tlat_writable(const char *path, bool replaced)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? check_directory(path) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode) && replaced)
		return check_directory(path);
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0 ? -errno : 0;
}
