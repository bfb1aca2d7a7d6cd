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

static int put_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");
	int r;

	if (!out)
		return -errno;
	r = put(out, text);
	if (fclose(out) && !r)
		r = -errno;
	return r;
}

/* Devices and pipes are written to, files replaced. */
static int replace(const char *path, const char *text)
{
	struct stat st;
	char *beside;
	int r;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return put_file(path, text);
	if (asprintf(&beside, "%s.%ld.tmp", path, (long)getpid()) < 0)
		return -ENOMEM;
	r = put_file(beside, text);
	if (!r && rename(beside, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(beside);
	free(beside);
	return r;
}

int tlat_save_text(const char *path, char *text, struct tlat_error *reterr)
{
	int r;

	if (!text)
		return tlat_tool_fail(reterr, -EOPNOTSUPP,
				      "%.200s: not written: no memory, or a build without JSON",
				      path);
	r = strcmp(path, "-") ? replace(path, text) : put(stdout, text);
	free(text);
	return r < 0 && r != -EPIPE ? fail(reterr, path, r) : 0;
}
