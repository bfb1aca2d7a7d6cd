// SPDX-License-Identifier: MIT
/*
 * report_file.c - text to and from files: read, replaced (file_put.c), or added as one line, which
 * as a whole is there or not.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_put.h"
#include "file_target.h"
#include "report.h"

static int fail(const char *path, const char *what, int code, struct tlat_error *reterr)
{
	return tlat_fail(reterr, code, "%s: %s: %s", path, what, strerror(-code));
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
	int ret = tlat_write_out(STDOUT_FILENO, text, n);

	return ret < 0 ? fail("standard output", "cannot be written", ret, reterr) : 0;
}

int tlat_file_replace(const char *path, const char *text, size_t n, struct tlat_error *reterr)
{
	const char *what;
	int ret;

	if (!strcmp(path, "-"))
		return write_stdout(text, n, reterr);
	ret = tlat_file_put(path, text, n, &what);
	return ret < 0 ? fail(path, what, ret, reterr) : 0;
}

/* A line that a crash cut short must not swallow this one. */
static int end_last_line(int fd, off_t size)
{
	char last;

	if (size <= 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n')
		return 0;
	return tlat_write_all(fd, "\n", 1);
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
		ret = tlat_write_all(fd, text, n);
	if (!ret && S_ISREG(st.st_mode))
		ret = tlat_file_sync(fd);
	if (ret < 0 && S_ISREG(st.st_mode) && ftruncate(fd, st.st_size) < 0)
		return ret;
	return ret;
}

/* In a directory like /tmp, a file of another user's may be opened but not with O_CREAT. */
static int open_for_lines(const char *path)
{
	const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	return open(path, flags | O_CREAT, TLAT_FILE_MODE);
}

static int append_to_descriptor(int fd, const char *path, const char *text, size_t n,
				struct tlat_error *reterr)
{
	int ret = tlat_write_out(fd, text, n);

	return ret < 0 ? fail(path, "cannot be written", ret, reterr) : 0;
}

int tlat_file_append(const char *path, const char *text, size_t n, struct tlat_error *reterr)
{
	int fd, ret;

	if (!strcmp(path, "-"))
		return write_stdout(text, n, reterr);
	fd = tlat_file_descriptor(path);
	if (fd >= 0)
		return append_to_descriptor(fd, path, text, n, reterr);
	fd = open_for_lines(path);
	if (fd < 0)
		return fail(path, "cannot be opened", -errno, reterr);
	ret = tlat_file_lock(fd);
	if (ret < 0) {
		close(fd);
		return fail(path, "cannot be locked", ret, reterr);
	}
	ret = append_locked(fd, text, n);
	close(fd); /* the lock goes with it */
	return ret < 0 ? fail(path, "nothing was added", ret, reterr) : 0;
}
