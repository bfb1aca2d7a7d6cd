// SPDX-License-Identifier: MIT
/* root.c - files below a root directory, so that a recorded machine can be replayed. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

int tlat_root_open(const char *root)
{
	int fd = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* read(2) until the end or until buf is full. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, buf + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

static ssize_t trim(char *buf, size_t n)
{
	if (n && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return (ssize_t)n;
}

ssize_t tlat_root_read(int root_fd, const char *path, char *buf, size_t size)
{
	int fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_full(fd, buf, size);
	close(fd);
	if (n < 0)
		return n;
	return (size_t)n == size ? -EFBIG : trim(buf, (size_t)n);
}

ssize_t tlat_root_read_head(int root_fd, const char *path, char *buf, size_t size)
{
	int fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_full(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

/* The whole of fd; files in /proc have no size, so the buffer doubles until it is enough. */
static ssize_t read_growing(int fd, char **ret_text)
{
	size_t size = 8192, n = 0;
	char *text = NULL;

	for (;;) {
		char *grown = realloc(text, size);
		ssize_t got;

		if (!grown) {
			free(text);
			return -ENOMEM;
		}
		text = grown;
		got = read_full(fd, text + n, size - n);
		if (got < 0) {
			free(text);
			return got;
		}
		n += (size_t)got;
		if (n < size)
			break;
		size *= 2;
	}
	*ret_text = text;
	return trim(text, n);
}

ssize_t tlat_root_read_all(int root_fd, const char *path, char **ret_text)
{
	int fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_growing(fd, ret_text);
	close(fd);
	return n;
}

int tlat_root_read_int(int root_fd, const char *path, int64_t *ret_value)
{
	char text[32], *end;
	ssize_t n = tlat_root_read(root_fd, path, text, sizeof(text));
	long long value;

	if (n < 0)
		return (int)n;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end || errno)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

/* What parts a key from its value: blanks, a colon among them or none; 0 when it goes on. */
static size_t separator_length(const char *p)
{
	size_t n = strspn(p, " \t");

	if (p[n] == ':')
		n += 1 + strspn(p + n + 1, " \t");
	return n;
}

const char *tlat_text_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		size_t separator;

		line += *line == '\n';
		if (strncmp(line, key, length))
			continue;
		separator = separator_length(line + length);
		if (separator)
			return line + length + separator;
	}
	return NULL;
}
