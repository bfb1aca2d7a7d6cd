// SPDX-License-Identifier: MIT
/* save_text.c - to a file in one piece, with what the library has for its reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtimerlat/file_put.h"
#include "save_text.h"
#include "tool.h"

static int fail(struct tlat_error *reterr, const char *path, int code)
{
	return tlat_tool_fail(reterr, code, "%.200s: not written: %s", path, strerror(-code));
}

/* With its newline, in the place of its terminator. */
static int put_in_file(const char *path, char *text)
{
	const char *what;
	size_t n = strlen(text);

	text[n] = '\n';
	return tlat_file_put(path, text, n + 1, &what);
}

static int put_out(const char *text)
{
	int bad = fputs(text, stdout) < 0 || fputc('\n', stdout) < 0;

	return fflush(stdout) || bad ? -errno : 0;
}

/* Also under another name, such as /dev/stdout. */
static bool is_stdout(const char *path)
{
	struct stat out, file;

	if (!strcmp(path, "-"))
		return true;
	return fstat(STDOUT_FILENO, &out) == 0 && stat(path, &file) == 0 &&
	       out.st_dev == file.st_dev && out.st_ino == file.st_ino;
}

int tlat_save_text(const char *path, char *text, struct tlat_error *reterr)
{
	int r;

	if (!text)
		return tlat_tool_fail(reterr, -EOPNOTSUPP,
				      "%.200s: not written: no memory, or a build without JSON",
				      path);
	r = is_stdout(path) ? put_out(text) : put_in_file(path, text);
	free(text);
	return r < 0 && r != -EPIPE ? fail(reterr, path, r) : 0;
}
