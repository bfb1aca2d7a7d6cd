// SPDX-License-Identifier: MIT
/*
 * file_put.c - a file replaced as a whole or not at all: whatever fails, what was in it before
 * stays. Only a file that has to keep its place is written where it is. Needs nothing else of the
 * library, so that the tools can be built with it too.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_put.h"
#include "file_target.h"

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

int tlat_write_out(int fd, const char *text, size_t n)
{
	if (fflush(stdout) && fd == STDOUT_FILENO)
		return -errno;
	return tlat_write_all(fd, text, n);
}

/* Not every file system can do all there is to do, and a result is worth more than that. */
static bool is_lacking(int code)
{
	return code == -ENOSYS || code == -EOPNOTSUPP || code == -EINVAL || code == -ENOLCK;
}

int tlat_file_lock(int fd)
{
	int ret;

	do
		ret = flock(fd, LOCK_EX) < 0 ? -errno : 0;
	while (ret == -EINTR);
	return is_lacking(ret) ? 0 : ret;
}

int tlat_file_sync(int fd)
{
	int ret = fsync(fd) < 0 ? -errno : 0;

	return is_lacking(ret) ? 0 : ret;
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
static int open_beside(const char *path, mode_t mode, char *temp, size_t size)
{
	for (unsigned int i = 0; i < 100; i++) {
		int fd;

		if ((size_t)snprintf(temp, size, "%.*s.%ld.%u" TLAT_FILE_SUFFIX,
				     directory_length(path), path, (long)getpid(), i) >= size)
			return -ENAMETOOLONG;
		fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* A file without a name, which goes with a process that is killed; not every file system has such.
 */
static int open_nameless(const char *path, mode_t mode)
{
	int length = directory_length(path);
	char dir[PATH_MAX] = ".";

	if (length)
		snprintf(dir, sizeof(dir), "%.*s", length, path);
	return open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
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
	if ((size_t)snprintf(temp, sizeof(temp), "%.*s.%s" TLAT_FILE_SUFFIX, length, path,
			     path + length) >= sizeof(temp))
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

/* Never wider than the old one's, even where it cannot be changed later. */
static mode_t mode_of(const struct stat *old)
{
	return old ? old->st_mode & 0777 : TLAT_FILE_MODE;
}

/*
 * Group, owner and mode of the file before, as far as user and file system can: a new one that
 * lacks them is better than none. Another group gets no more than everybody.
 */
static void take_over(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 07777;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	if (st.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid) < 0)
		mode &= ~(mode_t)(S_ISGID | S_IRWXG) | (mode & S_IRWXO) << 3;
	if (st.st_uid != old->st_uid && fchown(fd, old->st_uid, (gid_t)-1) < 0)
		mode &= ~(mode_t)S_ISUID;
	if ((st.st_mode & 07777) != mode)
		fchmod(fd, mode);
}

/* old: the file that will be replaced, or NULL. */
static int fill(int fd, const struct stat *old, const char *text, size_t n)
{
	int ret = tlat_write_all(fd, text, n);

	if (!ret && old)
		take_over(fd, old);
	return ret < 0 ? ret : tlat_file_sync(fd);
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

static int replace(const char *path, const struct stat *old, const char *text, size_t n,
		   const char **ret_what)
{
	char temp[PATH_MAX];
	int fd = open_nameless(path, mode_of(old));
	int ret = fd < 0 ? -errno : replace_by_nameless(fd, path, old, text, n);

	if (ret < 0 && ret != -EBUSY) { /* without /proc, for instance */
		*ret_what = "not written, its directory takes no new file";
		fd = open_beside(path, mode_of(old), temp, sizeof(temp));
		if (fd < 0)
			return fd;
		ret = replace_by_named(fd, temp, path, old, text, n);
	}
	*ret_what = "not written, the file is as it was";
	if (!ret)
		sync_directory(path);
	return ret;
}

/* Its name can go to no other file: it is a mount of its own, or its directory not ours. */
static bool keeps_its_place(int code)
{
	return code == -EBUSY || code == -EACCES || code == -EPERM || code == -EROFS;
}

/* What is left of a longer text goes last: until then the new line is whole as well. */
static int overwrite(int fd, const char *text, size_t n)
{
	int ret = tlat_write_all(fd, text, n);

	if (!ret && ftruncate(fd, (off_t)n) < 0)
		ret = -errno;
	return ret < 0 ? ret : tlat_file_sync(fd);
}

static int write_in_place(const char *path, const char *text, size_t n, const char **ret_what)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int ret = 0;

	*ret_what = "not written, the file is as it was";
	if (fd < 0)
		return -errno;
	/* A full disk is found out while the old text is still there, where that can be asked. */
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)n) < 0 && errno == ENOSPC)
		ret = -errno;
	if (!ret) {
		*ret_what = "only a part was written";
		ret = overwrite(fd, text, n);
	}
	if (close(fd) < 0 && !ret)
		ret = -errno;
	return ret;
}

static int put_regular(const char *path, const struct stat *old, const char *text, size_t n,
		       const char **ret_what)
{
	int ret = replace(path, old, text, n, ret_what);

	return keeps_its_place(ret) ? write_in_place(path, text, n, ret_what) : ret;
}

int tlat_file_put(const char *path, const char *text, size_t n, const char **ret_what)
{
	char target[PATH_MAX]; /* a link stays a link */
	struct stat st;
	int fd, ret = tlat_file_target(path, target, &fd);

	*ret_what = "cannot be resolved";
	if (ret < 0)
		return ret;
	if (stat(target, &st) < 0 && fd < 0)
		return errno == ENOENT ? replace(target, NULL, text, n, ret_what) : -errno;
	*ret_what = "cannot be written";
	if (fd >= 0)
		return tlat_write_out(fd, text, n);
	*ret_what = "not a file";
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return write_special(target, text, n, ret_what);
	return put_regular(target, &st, text, n, ret_what);
}
