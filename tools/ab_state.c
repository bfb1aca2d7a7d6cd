// SPDX-License-Identifier: MIT
/* ab_state.c - the file of --state after a process that was killed, or a power cut. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtimerlat/file_put.h"
#include "ab_state.h"
#include "tool.h"

/* Where the last line begins, and what is in it, to be freed; NULL: it ends as lines do. */
static char *last_line(FILE *in, off_t *ret_begin)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	for (*ret_begin = 0; (n = getline(&line, &size, in)) > 0; *ret_begin += n)
		if (line[n - 1] != '\n')
			return line;
	free(line);
	return NULL;
}

static bool is_report(const char *line)
{
	struct tlat_report *report;
	struct tlat_error error;

	if (tlat_report_parse(&report, line, strlen(line), "", &error) < 0)
		return false;
	tlat_report_free(report);
	return true;
}

static int mend(FILE *file, const char *path, struct tlat_error *reterr)
{
	off_t begin;
	char *line = last_line(file, &begin);
	bool whole = !line || is_report(line);

	free(line);
	if (whole)
		return 0;
	if (ftruncate(fileno(file), begin) < 0)
		return tlat_tool_fail(
			reterr, -errno,
			"%.200s: its last line is not whole and cannot be cut off: %s", path,
			strerror(errno));
	return 1;
}

int tlat_ab_state_mend(const char *path, struct tlat_error *reterr)
{
	FILE *file = fopen(path, "r+e");
	struct stat st;
	int r = 0;

	if (!file) /* whoever reads it says why */
		return 0;
	if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) &&
	    tlat_file_lock(fileno(file)) == 0)
		r = mend(file, path, reterr);
	fclose(file);
	return r;
}
