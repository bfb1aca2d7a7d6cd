// SPDX-License-Identifier: MIT
/*
 * reports.c - documents that follow each other, split where a line begins with "{". No more of a
 * file is held in memory than one of them, nor more than a report can have.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports.h"
#include "tool.h"

/* What the library refuses is not collected much further. */
#define DOCUMENT_MAX ((64u << 20) + 4096)

int tlat_reports_add(struct tlat_reports *reports, struct tlat_report *report)
{
	struct tlat_report **grown =
		realloc(reports->v, (reports->n + 1) * sizeof(struct tlat_report *));

	if (!grown) {
		tlat_report_free(report);
		return -ENOMEM;
	}
	reports->v = grown;
	reports->v[reports->n++] = report;
	return 0;
}

void tlat_reports_free(struct tlat_reports *reports)
{
	for (size_t i = 0; i < reports->n; i++)
		tlat_report_free(reports->v[i]);
	free(reports->v);
	*reports = (struct tlat_reports){ 0 };
}

struct collector {
	FILE *in;
	char *text;
	size_t n, room;
	long line, first_line; /* of the file; of the document */
	char chunk[16384];
	size_t at, end; /* in chunk: what has been read and not been taken */
	bool inside;	/* a line: its beginning has been taken */
};

static int put(struct collector *c, const char *text, size_t n)
{
	while (n > c->room - c->n) {
		char *grown = realloc(c->text, c->room = c->room ? 2 * c->room : 65536);

		if (!grown)
			return -ENOMEM;
		c->text = grown;
	}
	memcpy(c->text + c->n, text, n);
	c->n += n;
	return 0;
}

/* How much of the line that comes next is at hand; 0: there is no more. */
static size_t look(struct collector *c, const char **ret_piece)
{
	const char *newline;

	if (c->at == c->end) {
		c->at = 0;
		c->end = fread(c->chunk, 1, sizeof(c->chunk), c->in);
	}
	*ret_piece = c->chunk + c->at;
	newline = memchr(*ret_piece, '\n', c->end - c->at);
	return newline ? (size_t)(newline - *ret_piece) + 1 : c->end - c->at;
}

static size_t blanks(const char *piece, size_t n)
{
	size_t i = 0;

	while (i < n && memchr(" \t\r\n", piece[i], 4))
		i++;
	return i;
}

/* The next document is in text. Returns whether there was one, or a negative errno. */
static int collect(struct collector *c)
{
	bool blank = true;
	const char *piece;
	size_t n;
	int r = 0;

	c->n = 0;
	while (!r && c->n < DOCUMENT_MAX && (n = look(c, &piece))) {
		size_t skipped = blank ? blanks(piece, n) : 0;

		if (*piece == '{' && !c->inside && !blank)
			return 1;
		if (blank && skipped < n) {
			c->first_line = c->line;
			blank = false;
		}
		if (!blank)
			r = put(c, piece + skipped, n - skipped);
		c->inside = piece[n - 1] != '\n';
		c->line += !c->inside;
		c->at += n;
	}
	return r < 0 ? r : !blank;
}

static int parse(struct tlat_reports *reports, struct collector *c, const char *path,
		 struct tlat_error *reterr)
{
	struct tlat_report *report;
	char name[160];
	int r;

	if (c->first_line > 1)
		snprintf(name, sizeof(name), "%.120s, from line %ld", path, c->first_line);
	else
		snprintf(name, sizeof(name), "%.120s", path);
	r = tlat_report_parse(&report, c->text, c->n, name, reterr);
	if (r < 0)
		return r;
	if (tlat_reports_add(reports, report) < 0)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory for reports");
	return 0;
}

static int no_report(const char *path, struct tlat_error *reterr)
{
	return tlat_tool_fail(reterr, -ENODATA,
			      "%.200s: no report in it; tlat run --json writes one", path);
}

/* The reports of a stream, all of them (wanted 0) or one, 1 and up. Returns how many there are. */
static int64_t read_stream(struct tlat_reports *reports, FILE *in, const char *path, int64_t wanted,
			   struct tlat_error *reterr)
{
	struct collector c = { .in = in, .line = 1 };
	int64_t n = 0;
	int r;

	while ((r = collect(&c)) > 0) {
		n++;
		if (wanted && n != wanted)
			continue;
		r = parse(reports, &c, path, reterr);
		if (r < 0)
			break;
	}
	free(c.text);
	if (r == -ENOMEM)
		return tlat_tool_fail(reterr, r, "%.200s: out of memory", path);
	if (r < 0)
		return r;
	if (ferror(in))
		return tlat_tool_fail(reterr, -EIO, "%.200s: cannot be read: %s", path,
				      strerror(errno));
	return n ? n : no_report(path, reterr);
}

static int64_t read_file(struct tlat_reports *reports, const char *path, int64_t wanted,
			 struct tlat_error *reterr)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int64_t n;

	if (!in)
		return tlat_tool_fail(reterr, -errno, "%.200s: cannot be opened: %s", path,
				      strerror(errno));
	n = read_stream(reports, in, in == stdin ? "standard input" : path, wanted, reterr);
	if (in != stdin)
		fclose(in);
	return n;
}

static int add_file(struct tlat_reports *reports, const char *path, struct tlat_error *reterr)
{
	int64_t n = read_file(reports, path, 0, reterr);

	return n < 0 ? (int)n : 0;
}

int tlat_reports_read_one(struct tlat_report **ret_report, const char *path, int64_t index,
			  int64_t *ret_n, struct tlat_error *reterr)
{
	struct tlat_reports one = { 0 };
	int64_t n = read_file(&one, path, index, reterr);

	if (n < 0)
		return (int)n;
	*ret_n = n;
	if (!one.n)
		return tlat_tool_fail(reterr, -ERANGE,
				      "%.200s: no report %" PRId64 "; there are %" PRId64, path,
				      index, n);
	*ret_report = one.v[0];
	free(one.v);
	return 0;
}

static int is_report(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && dot != entry->d_name && (!strcmp(dot, ".json") || !strcmp(dot, ".jsonl"));
}

static int read_directory(struct tlat_reports *reports, const char *path, struct tlat_error *reterr)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_report, alphasort), r = 0;

	if (n < 0)
		return tlat_tool_fail(reterr, -errno, "%.200s: cannot be listed: %s", path,
				      strerror(errno));
	for (int i = 0; i < n; i++) {
		char *name = NULL;

		if (!r && asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0)
			r = tlat_tool_fail(reterr, -ENOMEM, "out of memory for a path");
		else if (!r)
			r = add_file(reports, name, reterr);
		free(name);
		free(entries[i]);
	}
	free(entries);
	if (!r && !n)
		return tlat_tool_fail(reterr, -ENODATA,
				      "%.200s: no *.json or *.jsonl file in this directory", path);
	return r;
}

int tlat_reports_read(struct tlat_reports *reports, const char *path, struct tlat_error *reterr)
{
	struct stat st;

	if (strcmp(path, "-") && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return read_directory(reports, path, reterr);
	return add_file(reports, path, reterr);
}
