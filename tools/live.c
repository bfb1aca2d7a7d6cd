// SPDX-License-Identifier: MIT
/*
 * live.c - the live table; the only place that sends control codes. Between two refreshes the
 * cursor rests where the table begins: however a terminal folds lines when it is resized, that
 * place moves with the text, so that the next refresh finds it. A refresh is one write, and paints
 * over what is there instead of wiping it first, so that nothing flickers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "live.h"
#include "quantity.h"
#include "tool.h"

#define REDRAW_MS  250 /* the eye's pace; a controller may wake 5 times a second */
#define LINE_BYTES 200

struct row {
	struct tlat_progress progress;
	int thread;
};

struct screen {
	int columns, lines;
};

/* == Cells == */

static void cpu_cell(const struct tlat_progress *p, char *text)
{
	snprintf(text, TLAT_QUANTITY_TEXT, "%" PRId32, p->cpu);
}

static void done_cell(const struct tlat_progress *p, char *text)
{
	snprintf(text, TLAT_QUANTITY_TEXT, "%.0f%%", 100 * p->done);
}

static void count_cell(const struct tlat_progress *p, char *text)
{
	snprintf(text, TLAT_QUANTITY_TEXT, "%" PRIu64, p->count);
}

static void time_cell(const struct tlat_progress *p, double ns, char *text)
{
	if (p->count)
		tlat_time_short(ns, 4, text);
	else
		strcpy(text, "-");
}

static void min_cell(const struct tlat_progress *p, char *text)
{
	time_cell(p, p->min_ns, text);
}

static void p50_cell(const struct tlat_progress *p, char *text)
{
	time_cell(p, p->p50_ns, text);
}

static void p99_cell(const struct tlat_progress *p, char *text)
{
	time_cell(p, p->p99_ns, text);
}

static void max_cell(const struct tlat_progress *p, char *text)
{
	time_cell(p, p->max_ns, text);
}

/* All of them take 53 columns, those of rank 3 and below 38. */
static const struct column {
	const char *title;
	void (*cell)(const struct tlat_progress *progress, char *text);
	int width;
	int rank; /* how long it stays when the terminal is narrow; 0: always */
} columns[] = {
	{ "cpu", cpu_cell, 4, 0 }, { "done", done_cell, 5, 6 }, { "samples", count_cell, 10, 3 },
	{ "min", min_cell, 7, 5 }, { "p50", p50_cell, 7, 2 },	{ "p99", p99_cell, 7, 1 },
	{ "max", max_cell, 7, 0 },
};

#define RANK_MAX 6

static int width_up_to(int rank)
{
	int width = -1; /* no gap before the first */

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(columns); i++)
		if (columns[i].rank <= rank)
			width += 1 + columns[i].width;
	return width;
}

/* The last column of a terminal stays free: some go on to the next line when it is written to. */
static int rank_that_fits(const struct screen *screen)
{
	int rank = RANK_MAX;

	while (rank && width_up_to(rank) >= screen->columns)
		rank--;
	return rank;
}

/* == Lines == */

static bool is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

/*
 * In the background the screen is another job's, and under "stty tostop" a write would stop the
 * run. A terminal that does not control this process knows no background.
 */
static bool is_foreground(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group < 0 || group == getpgrp();
}

/* Asked anew for each refresh, so that a change of size needs no signal. */
static struct screen look(void)
{
	struct winsize size = { 0 };

	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	return (struct screen){ .columns = size.ws_col ? size.ws_col : 80,
				.lines = size.ws_row ? size.ws_row : 24 };
}

/* One line, cut where the screen ends; what it stands on is erased to its right. */
static void put_line(FILE *out, const struct screen *screen, int *lines, const char *text)
{
	fprintf(out, "%s%.*s\033[K", *lines ? "\r\n" : "", screen->columns - 1, text);
	++*lines;
}

static void put_cell(char *line, const char *text, int width)
{
	size_t used = strlen(line);

	snprintf(line + used, LINE_BYTES - used, "%s%*s", used ? " " : "", width, text);
}

static void put_head(FILE *out, const struct screen *screen, int *lines, int rank)
{
	char line[LINE_BYTES] = "";

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(columns); i++)
		if (columns[i].rank <= rank)
			put_cell(line, columns[i].title, columns[i].width);
	put_line(out, screen, lines, line);
}

static void put_row(FILE *out, const struct screen *screen, int *lines, int rank,
		    const struct tlat_progress *progress)
{
	char line[LINE_BYTES] = "", text[TLAT_QUANTITY_TEXT];

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(columns); i++) {
		if (columns[i].rank > rank)
			continue;
		columns[i].cell(progress, text);
		put_cell(line, text, columns[i].width);
	}
	put_line(out, screen, lines, line);
}

/* The probe and how far the slowest thread is. */
static void put_title(FILE *out, const struct screen *screen, int *lines,
		      const struct tlat_live *live, const struct row *rows, int n)
{
	char line[LINE_BYTES];
	double done = 1;

	for (int i = 0; i < n; i++)
		done = rows[i].progress.done < done ? rows[i].progress.done : done;
	snprintf(line, sizeof(line), "%3.0f%% %s, %d thread%s%s", 100 * done, live->label, n,
		 n == 1 ? "" : "s", live->sort_max && n > 1 ? ", largest max first" : "");
	put_line(out, screen, lines, line);
}

/* As many rows as there are lines; the last line says how many there are not. */
static void put_rows(FILE *out, const struct screen *screen, int *lines, const struct row *rows,
		     int n)
{
	int rank = rank_that_fits(screen), room = screen->lines - 1 - *lines - 1;
	char line[LINE_BYTES];
	int shown = n <= room ? n : room - 1;

	if (room < 1)
		return;
	put_head(out, screen, lines, rank);
	for (int i = 0; i < shown; i++)
		put_row(out, screen, lines, rank, &rows[i].progress);
	if (shown == n)
		return;
	snprintf(line, sizeof(line), "and %d more", n - shown);
	put_line(out, screen, lines, line);
}

/* == A refresh == */

static int by_max(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->progress.max_ns != y->progress.max_ns)
		return x->progress.max_ns < y->progress.max_ns ? 1 : -1;
	return x->thread - y->thread;
}

/* What every thread has so far, to be freed; *ret_n 0 when none has begun. */
static struct row *collect(const struct tlat_live *live, struct tlat_run *run, int *ret_n)
{
	struct tlat_progress first = { .size = sizeof(first) };
	struct row *rows;
	int n = 0;

	*ret_n = 0;
	if (tlat_run_progress(run, 0, &first) < 0)
		return NULL;
	rows = calloc((size_t)first.threads, sizeof(*rows));
	while (rows && n < first.threads) {
		rows[n].thread = n;
		rows[n].progress.size = sizeof(rows[n].progress);
		if (tlat_run_progress(run, n, &rows[n].progress) < 0)
			break;
		n++;
	}
	if (rows && live->sort_max)
		qsort(rows, (size_t)n, sizeof(*rows), by_max);
	*ret_n = n;
	return rows;
}

/* All of it at once, as far as the terminal takes it. */
static void send(const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(STDERR_FILENO, text, size);

		if (n < 0 && errno != EINTR)
			return;
		text += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
}

static void paint(struct tlat_live *live, const struct row *rows, int n)
{
	struct screen screen = look();
	char *text = NULL;
	int lines = 0;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fputc('\r', out);
	put_title(out, &screen, &lines, live, rows, n);
	put_rows(out, &screen, &lines, rows, n);
	fputs("\033[J\r", out);
	if (lines > 1)
		fprintf(out, "\033[%dA", lines - 1);
	fclose(out);
	if (text)
		send(text, size);
	free(text);
	live->drawn = true;
}

void tlat_live_init(struct tlat_live *live, const char *label, bool wanted, bool sort_max)
{
	*live = (struct tlat_live){ .label = label,
				    .show = wanted && is_possible(),
				    .sort_max = sort_max };
}

int tlat_live_pause_ms(const struct tlat_live *live)
{
	return live->show ? REDRAW_MS : -1;
}

void tlat_live_draw(struct tlat_live *live, struct tlat_run *run)
{
	struct row *rows;
	int n;

	if (!live->show || !is_foreground())
		return;
	rows = collect(live, run, &n);
	if (n)
		paint(live, rows, n);
	free(rows);
}

void tlat_live_end(struct tlat_live *live)
{
	static const char wipe[] = "\r\033[J";

	if (live->drawn && is_foreground())
		send(wipe, sizeof(wipe) - 1);
	live->drawn = false;
}
