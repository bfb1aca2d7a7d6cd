// SPDX-License-Identifier: MIT
/*
 * documents.c - which lines of a file are one report: a line that begins with "{" begins the next
 * one, so that a report that someone has indented counts as one too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "documents.h"
#include "tool.h"

/* Copy the wanted document to out; returns how many there are. */
static int64_t split(FILE *in, int64_t wanted, FILE *out)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int64_t n = 0;

	while ((length = getline(&line, &size, in)) >= 0) {
		n += *line == '{';
		/* What stands before the first one is for the parser to complain about. */
		if (n == wanted || (!n && wanted == 1))
			fwrite(line, 1, (size_t)length, out);
	}
	free(line);
	return n;
}

/* The wanted document becomes standard input, which is what the library reads beside files. */
static int64_t put_on_stdin(FILE *in, int64_t wanted)
{
	int fd = memfd_create("report", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int64_t n = -ENOMEM;

	if (!out) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	n = split(in, wanted, out);
	if (fflush(out) || dup2(fd, STDIN_FILENO) < 0)
		n = -errno;
	fclose(out);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	return n;
}

static int read_stdin(struct tlat_report **ret_report, const char *path, int64_t index,
		      struct tlat_error *reterr)
{
	struct tlat_error error;
	int r = tlat_report_read(ret_report, "-", &error);

	return r < 0 ? tlat_tool_fail(reterr, r, "%.200s, report %" PRId64 ": %.280s", path, index,
				      error.text)
		     : r;
}

int tlat_documents_read(struct tlat_report **ret_report, const char *path, int64_t index,
			int64_t *ret_n, struct tlat_error *reterr)
{
	bool is_file = strcmp(path, "-"), is_regular;
	struct stat st;
	FILE *in = is_file ? fopen(path, "re") : stdin;
	int64_t n;

	if (!in)
		return tlat_report_read(ret_report, path, reterr);
	is_regular = is_file && fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode);
	n = put_on_stdin(in, index);
	if (is_file)
		fclose(in);
	if (n < 0)
		return tlat_tool_fail(reterr, (int)n, "%.200s: %s", path, strerror((int)-n));
	*ret_n = n;
	if (index > n && index > 1)
		return tlat_tool_fail(reterr, -ERANGE,
				      "%.200s: no report %" PRId64 "; there are %" PRId64, path,
				      index, n);
	/* What can be read again gives messages that name it, with its own line numbers. */
	if (is_regular && index == 1)
		return tlat_report_read(ret_report, path, reterr);
	return read_stdin(ret_report, path, index, reterr);
}
