// SPDX-License-Identifier: MIT
/* save_text.c - to a file in one piece, with what the library has for its reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libtimerlat/file_put.h"
#include "save_text.h"
#include "tool.h"

/* With its newline, in the place of its terminator. */
static int put(const char *path, char *text, const char **ret_what)
{
	size_t n = strlen(text);

	text[n] = '\n';
	*ret_what = "cannot be written";
	return strcmp(path, "-") ? tlat_file_put(path, text, n + 1, ret_what)
				 : tlat_write_out(STDOUT_FILENO, text, n + 1);
}

int tlat_save_text(const char *path, char *text, struct tlat_error *reterr)
{
	const char *what;
	int r;

	if (!text)
		return tlat_tool_fail(reterr, -EOPNOTSUPP,
				      "%.200s: not written: no memory, or a build without JSON",
				      path);
	r = put(path, text, &what);
	free(text);
	if (r == -EPIPE || !r)
		return 0;
	return tlat_tool_fail(reterr, r, "%.200s: %s: %s", path, what, strerror(-r));
}
