// SPDX-License-Identifier: MIT
/*
 * file_put.c - a file replaced as a whole or not at all: whatever fails, what was in it before
 * stays. Needs nothing else of the library, so that the tools can be built with it too.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_put.h"

#define FILE_MODE 0666 /* the umask takes its part */
#define SUFFIX	  ".timerlat-tmp"

int tlat_write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t put = write(fd, text, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		text += put;
		n -= (size_t)put;
	}
	return 0;
}

/* Devices, pipes and the like are written to, never replaced. */
static int write_special(const char *path, const char *text, size_t n, const char **ret_what)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int ret;

	*ret_what = "cannot be opened";
	if (fd < 0)
		return -errno;
	*ret_what = "cannot be written";
	ret = tlat_write_all(fd, text, n);
	if (close(fd) < 0 && !ret)
		ret = -errno;
	return ret;
}

/* How long the name of path's directory is, its slash included; 0: the one we are in. */
static int directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) + 1 : 0;
}

/* A new file beside path, so that rename(2) stays on one file system. */
static int open_beside(const char *path, char *temp, size_t size)
{
	for (unsigned int i = 0; i < 100; i++) {
		int fd;

		if ((size_t)snprintf(temp, size, "%.*s.%ld.%u" SUFFIX, directory_length(path), path,
				     (long)getpid(), i) >= size)
			return -ENAMETOOLONG;
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* A file without a name, which goes with a process that is killed; not every file system has such.
 */
static int open_nameless(const char *path)
{
	int length = directory_length(path);
	char dir[PATH_MAX] = ".";

	if (length)
		snprintf(dir, sizeof(dir), "%.*s", length, path);
	return open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);
}

/*
 * A name can be given only where there is no file yet, so a file takes one beside path first. That
 * name is the same for every process, and nobody else uses it: a leftover from a killed process is
 * removed.
 */
static int name_it(int fd, const char *path)
{
	char own[64], temp[PATH_MAX];
	int length = directory_length(path), ret = -EEXIST;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if ((size_t)snprintf(temp, sizeof(temp), "%.*s.%s" SUFFIX, length, path, path + length) >=
	    sizeof(temp))
		return -ENAMETOOLONG;
	for (int i = 0; i < 100 && (ret == -EEXIST || ret == -ENOENT); i++) {
		ret = linkat(AT_FDCWD, own, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
		if (ret == -EEXIST)
			unlink(temp);
		if (!ret && rename(temp, path) < 0)
			ret = -errno;
	}
	if (ret < 0 && ret != -EEXIST)
		unlink(temp);
	return ret;
}

/* Make the rename itself survive a power cut; not every file system can. */
static void sync_directory(const char *path)
{
	int length = directory_length(path);
	char dir[PATH_MAX] = ".";
	int fd;

	if (length)
		snprintf(dir, sizeof(dir), "%.*s", length, path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* old: the file that will be replaced, or NULL. */
static int fill(int fd, const struct stat *old, const char *text, size_t n)
{
	int ret = tlat_write_all(fd, text, n);

	if (!ret && old && fchmod(fd, old->st_mode & 07777) < 0)
		ret = -errno;
	if (!ret && fsync(fd) < 0)
		ret = -errno;
	return ret;
}

static int replace_by_nameless(int fd, const char *path, const struct stat *old, const char *text,
			       size_t n)
{
	int ret = fill(fd, old, text, n);

	if (!ret)
		ret = name_it(fd, path);
	if (close(fd) < 0 && !ret)
		ret = -errno;
	return ret;
}

static int replace_by_named(int fd, const char *temp, const char *path, const struct stat *old,
			    const char *text, size_t n)
{
	int ret = fill(fd, old, text, n);

	if (close(fd) < 0 && !ret)
		ret = -errno;
	if (!ret && rename(temp, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlink(temp);
	return ret;
}

static int replace_regular(const char *path, const struct stat *old, const char *text, size_t n,
			   const char **ret_what)
{
	char temp[PATH_MAX];
	int fd = open_nameless(path);
	int ret = fd < 0 ? -errno : replace_by_nameless(fd, path, old, text, n);

	if (ret < 0) { /* without /proc, for instance */
		*ret_what = "no file can be made beside it";
		fd = open_beside(path, temp, sizeof(temp));
		if (fd < 0)
			return fd;
		ret = replace_by_named(fd, temp, path, old, text, n);
	}
	*ret_what = "not written, the file is as it was";
	if (!ret)
		sync_directory(path);
	return ret;
}

int tlat_file_put(const char *path, const char *text, size_t n, const char **ret_what)
{
	struct stat st;
	char *target;
	int ret;

	if (stat(path, &st) < 0)
		return replace_regular(path, NULL, text, n, ret_what);
	*ret_what = "not a file";
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return write_special(path, text, n, ret_what);
	*ret_what = "cannot be resolved";
	target = realpath(path, NULL); /* a link stays a link */
	if (!target)
		return -errno;
	ret = replace_regular(target, &st, text, n, ret_what);
	free(target);
	return ret;
}
