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
	int r = put(path, text, &what);

	free(text);
	if (r == -EPIPE || !r)
		return 0;
	return tlat_tool_fail(reterr, r, "%.200s: %s: %s", path, what, strerror(-r));
}

int tlat_save_formatted(const char *path, int formatted, char *text, struct tlat_error *reterr)
{
	if (formatted == -EOPNOTSUPP)
		return tlat_tool_fail(reterr, formatted,
				      "%.200s: not written: JSON is not in this build of "
				      "libtimerlat; build it with jansson (TLAT_WITH_JANSSON=ON)",
				      path);
	if (formatted < 0)
		return tlat_tool_fail(reterr, formatted, "%.200s: not written: out of memory",
				      path);
	return tlat_save_text(path, text, reterr);
}

int tlat_save_comparison(const char *path, const struct tlat_comparison *comparison,
			 struct tlat_error *reterr)
{
	char *text = NULL;
	int r = tlat_comparison_format(&text, comparison);

	return tlat_save_formatted(path, r, text, reterr);
}
