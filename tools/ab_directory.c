// SPDX-License-Identifier: MIT
/* ab_directory.c - a directory for what commands write, that no ended process leaves for good. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtimerlat/file_put.h"
#include "ab_directory.h"
#include "tool.h"

#define PREFIX "tlat-ab."
#define RANDOM "XXXXXX" /* what mkdtemp() makes letters and digits of */
#define TRIES  10

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS	"0123456789"

/*
 * The lock goes with the process, whatever ended it. A new directory does without one on a file
 * system that has none, where nobody else gets one either and sweeps it.
 */
static int open_locked(int at_fd, const char *path, bool is_new)
{
	int fd = openat(at_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_nlink && st.st_uid == geteuid() &&
	    (flock(fd, LOCK_EX | LOCK_NB) == 0 || (is_new && errno != EWOULDBLOCK)))
		return fd;
	close(fd);
	return -1;
}

/* Of an A/B that was killed, not of somebody who called a directory of results much the same. */
static bool is_swept(int dir_fd, const char *name)
{
	const char *random;
	struct stat st;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return false;
	random = name + strlen(PREFIX);
	return strlen(random) == strlen(RANDOM) &&
	       strspn(random, LETTERS DIGITS) == strlen(RANDOM) &&
	       fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & 0777) == 0700;
}

/* What commands are asked to write, and what is on its way there. */
static bool is_own_file(const char *name)
{
	const char *suffix = strrchr(name, '.');

	if (!strcmp(name, TLAT_AB_OUTPUT) || !strcmp(name, TLAT_AB_JSON))
		return true;
	return *name == '.' && suffix && !strcmp(suffix, TLAT_FILE_SUFFIX);
}

static void empty(int fd, bool all)
{
	int own_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own_fd < 0 ? NULL : fdopendir(own_fd);
	struct dirent *entry;

	if (!dir && own_fd >= 0)
		close(own_fd);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    (all || is_own_file(entry->d_name)))
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

		if (is_swept(dirfd(dir), entry->d_name))
			fd = open_locked(dirfd(dir), entry->d_name, false);
		if (fd < 0)
			continue;
		empty(fd, false);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* One that is not locked yet can be swept by another process: -EAGAIN. */
static int make_locked(struct tlat_ab_directory *d, const char *tmp)
{
	int r = -EAGAIN;

	if (asprintf(&d->path, "%s/" PREFIX RANDOM, tmp) < 0) {
		d->path = NULL;
		return -ENOMEM;
	}
	if (mkdtemp(d->path)) {
		d->lock_fd = open_locked(AT_FDCWD, d->path, true);
		if (d->lock_fd >= 0)
			return 0;
		rmdir(d->path);
	} else {
		r = -errno;
	}
	free(d->path);
	d->path = NULL;
	return r;
}

int tlat_ab_directory_make(struct tlat_ab_directory *d, struct tlat_error *reterr)
{
	const char *tmp = getenv("TMPDIR");
	int r = -EAGAIN;

	if (!tmp || !*tmp)
		tmp = "/tmp";
	sweep(tmp);
	for (int i = 0; r == -EAGAIN && i < TRIES; i++)
		r = make_locked(d, tmp);
	if (r == -EAGAIN)
		return tlat_tool_fail(reterr, r,
				      "%.300s: no directory for reports can be locked; set TMPDIR "
				      "to another",
				      tmp);
	if (r < 0)
		return tlat_tool_fail(reterr, r,
				      "%.300s: no directory for reports (%s); set TMPDIR to one "
				      "that can be written",
				      tmp, strerror(-r));
	return 0;
}

char *tlat_ab_directory_file(const struct tlat_ab_directory *d, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", d->path, name) < 0 ? NULL : path;
}

void tlat_ab_directory_remove(struct tlat_ab_directory *d)
{
	if (!d->path)
		return;
	/* by name first, which needs no more descriptors; as a rule, that is all */
	unlinkat(d->lock_fd, TLAT_AB_JSON, 0);
	unlinkat(d->lock_fd, TLAT_AB_OUTPUT, 0);
	empty(d->lock_fd, true);
	rmdir(d->path);
	close(d->lock_fd);
	free(d->path);
}
