// SPDX-License-Identifier: MIT
/* writable.c - a file's own permissions, or those of the directory that it is to be made in, with
 * file_put.c's ways to write it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtimerlat/file_target.h"
#include "writable.h"

/* Where only its owner and the directory's may take a file's name from it. */
static bool is_held(const char *directory, const struct stat *old)
{
	struct stat st;

	return old && stat(directory, &st) == 0 && (st.st_mode & S_ISVTX) &&
	       st.st_uid != geteuid() && old->st_uid != geteuid();
}

/* One that was removed is there for who stands in it, with all its permissions. Some file systems
 * count no links of any directory: they are believed only where it has no path, either. */
static bool is_gone(const char *directory)
{
	struct stat st;
	char *path;

	if (stat(directory, &st) < 0 || st.st_nlink)
		return false;
	path = realpath(directory, NULL);
	free(path);
	return !path;
}

/* old: the file that is there, or NULL. */
static int check_directory(const char *path, const struct stat *old)
{
	const char *slash = strrchr(path, '/');
	char *directory = strndup(slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
	int r = 0;

	if (!directory)
		return -ENOMEM;
	if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0)
		r = -errno;
	else if (is_gone(directory))
		r = -ENOENT;
	else if (is_held(directory, old))
		r = -EPERM;
	free(directory);
	return r;
}

int tlat_writable_fd(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

struct place {
	char target[PATH_MAX];
	struct stat st;
	const char *name; /* of a file that is to be made in the directory st; NULL: st is it */
};

/* Where path leads. Returns 0 or a negative errno. */
static int locate(const char *path, struct place *place)
{
	const char *directory = ".";
	char *slash;
	int fd, r = tlat_file_target(path, place->target, &fd);

	if (r < 0)
		return r;
	place->name = NULL;
	if ((fd < 0 ? stat(place->target, &place->st) : fstat(fd, &place->st)) == 0)
		return 0;
	slash = strrchr(place->target, '/');
	place->name = slash ? slash + 1 : place->target;
	if (slash) {
		*slash = '\0';
		directory = slash == place->target ? "/" : place->target;
	}
	return stat(directory, &place->st) < 0 ? -errno : 0;
}

bool tlat_writable_same(const char *a, const char *b)
{
	struct place one, other;

	if (locate(a, &one) < 0 || locate(b, &other) < 0)
		return false;
	if (one.st.st_dev != other.st.st_dev || one.st.st_ino != other.st.st_ino)
		return false;
	if (!one.name || !other.name)
		return one.name == other.name;
	return !strcmp(one.name, other.name);
}

int tlat_writable(const char *path, bool replaced)
{
	char target[PATH_MAX];
	struct stat st;
	int fd, r = tlat_file_target(path, target, &fd);

	if (r < 0)
		return r;
	if (fd >= 0)
		return tlat_writable_fd(fd);
	if (stat(target, &st) < 0)
		return errno == ENOENT ? check_directory(target, NULL) : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	r = faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) < 0 ? -errno : 0;
	return r == -EACCES && S_ISREG(st.st_mode) && replaced ? check_directory(target, &st) : r;
}
