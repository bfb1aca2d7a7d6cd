// SPDX-License-Identifier: MIT
/*
 * report_file.c - text to and from files: replaced as a whole or not at all, or added as one line.
 * Whatever fails, what was in the file before stays.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

#define FILE_MODE 0666 /* the umask takes its part */

static int fail(const char *path, const char *what, int code, struct tlat_error *reterr)
{
	return tlat_fail(reterr, code, "%s: %s: %s", path, what, strerror(-code));
}

static int write_all(int fd, const char *text, size_t n)
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

/* Read fd until its end or until more than max bytes are there. */
static ssize_t slurp(int fd, size_t max, char **ret_text)
{
	size_t size = 65536, n = 0;
	char *text = malloc(size);

	while (text) {
		ssize_t got = read(fd, text + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int code = -errno;

			free(text);
			return code;
		}
		n += (size_t)got;
		if (!got || n > max)
			break;
		if (n == size) {
			char *grown = realloc(text, size *= 2);

			if (!grown)
				free(text);
			text = grown;
		}
	}
	if (!text)
		return -ENOMEM;
	*ret_text = text;
	return (ssize_t)n;
}

ssize_t tlat_file_read(const char *path, size_t max, char **ret_text, bool *ret_more,
		       struct tlat_error *reterr)
{
	bool std = !strcmp(path, "-");
	int fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return fail(path, "cannot be opened", -errno, reterr);
	n = slurp(fd, max, ret_text);
	if (!std)
		close(fd);
	if (n < 0)
		return fail(std ? "standard input" : path, "cannot be read", (int)n, reterr);
	*ret_more = (size_t)n > max;
	return *ret_more ? (ssize_t)max : n;
}

static int write_stdout(const char *text, size_t n, struct tlat_error *reterr)
{
	int ret = write_all(STDOUT_FILENO, text, n);

	return ret < 0 ? fail("standard output", "cannot be written", ret, reterr) : 0;
}

/* Devices, pipes and the like are written to, never replaced. */
static int write_special(const char *path, const char *text, size_t n, struct tlat_error *reterr)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	int ret;

	if (fd < 0)
		return fail(path, "cannot be opened", -errno, reterr);
	ret = write_all(fd, text, n);
	if (close(fd) < 0 && !ret)
		ret = -errno;
	return ret < 0 ? fail(path, "cannot be written", ret, reterr) : 0;
}

/* A new file beside path, so that rename(2) stays on one file system. */
static int open_beside(const char *path, char *temp, size_t size)
{
	for (unsigned int i = 0; i < 100; i++) {
		int fd;

		if ((size_t)snprintf(temp, size, "%s.%ld.%u.tmp", path, (long)getpid(), i) >= size)
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
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path) + 1, path);
	return open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);
}

/*
 * A name can be given only where there is no file yet, so one beside path is on its way to it. That
 * is the same for all: what a process left there that was killed in between is in the next one's
 * way, and goes.
 */
static int name_it(int fd, const char *path)
{
	char own[64], temp[PATH_MAX];
	int ret = -EEXIST;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if ((size_t)snprintf(temp, sizeof(temp), "%s.tmp", path) >= sizeof(temp))
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
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	int fd;

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path) + 1, path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* old: the file that will be replaced, or NULL. */
static int fill(int fd, const struct stat *old, const char *text, size_t n)
{
	int ret = write_all(fd, text, n);

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
			   struct tlat_error *reterr)
{
	char temp[PATH_MAX];
	int fd = open_nameless(path);
	int ret = fd < 0 ? -errno : replace_by_nameless(fd, path, old, text, n);

	if (ret < 0) { /* without /proc, for instance */
		fd = open_beside(path, temp, sizeof(temp));
		if (fd < 0)
			return fail(path, "no file can be made beside it", fd, reterr);
		ret = replace_by_named(fd, temp, path, old, text, n);
	}
	if (ret < 0)
		return fail(path, "not written, the file is as it was", ret, reterr);
	sync_directory(path);
	return 0;
}

int tlat_file_replace(const char *path, const char *text, size_t n, struct tlat_error *reterr)
{
	struct stat st;
	char *target;
	int ret;

	if (!strcmp(path, "-"))
		return write_stdout(text, n, reterr);
	if (stat(path, &st) < 0)
		return replace_regular(path, NULL, text, n, reterr);
	if (S_ISDIR(st.st_mode))
		return fail(path, "not a file", -EISDIR, reterr);
	if (!S_ISREG(st.st_mode))
		return write_special(path, text, n, reterr);
	target = realpath(path, NULL); /* a link stays a link */
	if (!target)
		return fail(path, "cannot be resolved", -errno, reterr);
	ret = replace_regular(target, &st, text, n, reterr);
	free(target);
	return ret;
}

/* A line that a crash cut short must not swallow this one. */
static int end_last_line(int fd, off_t size)
{
	char last;

	if (size <= 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n')
		return 0;
	return write_all(fd, "\n", 1);
}

/* Add text under the lock; on failure cut the file to what it was. */
static int append_locked(int fd, const char *text, size_t n)
{
	struct stat st;
	int ret;

	if (fstat(fd, &st) < 0)
		return -errno;
	ret = S_ISREG(st.st_mode) ? end_last_line(fd, st.st_size) : 0;
	if (!ret)
		ret = write_all(fd, text, n);
	if (!ret && S_ISREG(st.st_mode) && fsync(fd) < 0)
		ret = -errno;
	if (ret < 0 && S_ISREG(st.st_mode) && ftruncate(fd, st.st_size) < 0)
		return ret;
	return ret;
}

int tlat_file_append(const char *path, const char *text, size_t n, struct tlat_error *reterr)
{
	int fd, ret;

	if (!strcmp(path, "-"))
		return write_stdout(text, n, reterr);
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, FILE_MODE);
	if (fd < 0)
		return fail(path, "cannot be opened", -errno, reterr);
	do
		ret = flock(fd, LOCK_EX) < 0 ? -errno : 0;
	while (ret == -EINTR);
	if (ret < 0 && ret != -EINTR) {
		close(fd);
		return fail(path, "cannot be locked", ret, reterr);
	}
	ret = append_locked(fd, text, n);
	close(fd); /* the lock goes with it */
	return ret < 0 ? fail(path, "nothing was added", ret, reterr) : 0;
}
