// SPDX-License-Identifier: MIT
/* save_text.c - written beside the old file and renamed, so that nobody reads half of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "save_text.h"
#include "tool.h"

static int fail(struct tlat_error *reterr, const char *path, int code)
{
	return tlat_tool_fail(reterr, code, "%.200s: not written: %s", path, strerror(-code));
}

static int put(FILE *out, const char *text)
{
	int bad = fputs(text, out) < 0 || fputc('\n', out) < 0;

	return fflush(out) || bad ? -errno : 0;
}

/* old: whose permissions the file gets; NULL: the usual ones. */
static int put_file(const char *path, const struct stat *old, const char *text)
{
	FILE *out = fopen(path, "we");
	int r;

	if (!out)
		return -errno;
	r = put(out, text);
	if (!r && old && fchmod(fileno(out), old->st_mode & 07777) < 0)
		r = -errno;
	if (fclose(out) && !r)
		r = -errno;
	return r;
}

static int replace(const char *path, const struct stat *old, const char *text)
{
	char *beside;
	int r;

	if (asprintf(&beside, "%s.%ld.tmp", path, (long)getpid()) < 0)
		return -ENOMEM;
	r = put_file(beside, old, text);
	if (!r && rename(beside, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(beside);
	free(beside);
	return r;
}

static bool is_stdout(const struct stat *file)
{
	struct stat st;

	return fstat(STDOUT_FILENO, &st) == 0 && st.st_dev == file->st_dev &&
	       st.st_ino == file->st_ino;
}

/* Devices and pipes are written to, files replaced; a link stays a link. */
static int put_where_it_belongs(const char *path, const char *text)
{
	struct stat st;
	char *target;
	int r;

	if (stat(path, &st) < 0)
		return replace(path, NULL, text);
	if (is_stdout(&st))
		return put(stdout, text);
	if (!S_ISREG(st.st_mode))
		return put_file(path, NULL, text);
	target = realpath(path, NULL);
	if (!target)
		return -errno;
	r = replace(target, &st, text);
	free(target);
	return r;
}

int tlat_save_text(const char *path, char *text, struct tlat_error *reterr)
{
	int r;

	if (!text)
		return tlat_tool_fail(reterr, -EOPNOTSUPP,
				      "%.200s: not written: no memory, or a build without JSON",
				      path);
	r = strcmp(path, "-") ? put_where_it_belongs(path, text) : put(stdout, text);
	free(text);
	return r < 0 && r != -EPIPE ? fail(reterr, path, r) : 0;
}
