// SPDX-License-Identifier: MIT
/* live.c - the live table; the only place that sends control codes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "quantity.h"
#include "stop.h"

#define REDRAW_MS 250 /* the eye's pace; a controller may wake 5 times a second */
#define ROWS_MAX  16  /* a taller table would scroll and leave its traces */

bool tlat_live_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

static void draw_row(const char *label, const struct tlat_progress *p)
{
	char min[TLAT_QUANTITY_TEXT], p50[TLAT_QUANTITY_TEXT], p99[TLAT_QUANTITY_TEXT],
		max[TLAT_QUANTITY_TEXT];

	fprintf(stderr,
		"%-20s cpu %-4" PRId32 " %3.0f%% %10" PRIu64
		"  min %8s  p50 %8s  p99 %8s  max %8s\033[K\n",
		label, p->cpu, 100 * p->done, p->count, tlat_time_short(p->min_ns, 4, min),
		tlat_time_short(p->p50_ns, 4, p50), tlat_time_short(p->p99_ns, 4, p99),
		tlat_time_short(p->max_ns, 4, max));
}

/* Returns how many rows there are now. */
static int draw(struct tlat_run *run, const char *label)
{
	int row;

	for (row = 0; row < ROWS_MAX; row++) {
		struct tlat_progress progress = { .size = sizeof(progress) };

		if (tlat_run_progress(run, row, &progress) < 0)
			break;
		draw_row(label, &progress);
	}
	return row;
}

static void wipe(int rows)
{
	if (rows)
		fprintf(stderr, "\033[%dA\033[J", rows);
}

void tlat_live_wait(struct tlat_run *run, const char *label, bool show)
{
	int rows = 0;

	while (!tlat_stop_poll(run, show ? REDRAW_MS : -1)) {
		if (!show)
			continue;
		wipe(rows);
		rows = draw(run, label);
		fflush(stderr);
	}
	wipe(rows);
	fflush(stderr);
}
