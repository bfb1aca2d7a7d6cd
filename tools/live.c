// SPDX-License-Identifier: MIT
/* live.c - the live table; the only place that sends control codes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "quantity.h"

#define REDRAW_MS 250 /* the eye's pace; a controller may wake 5 times a second */
#define ROWS_MAX  16  /* a taller table would scroll and leave its traces */

static bool is_possible(void)
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

static void wipe(struct tlat_live *live)
{
	if (live->rows)
		fprintf(stderr, "\033[%dA\033[J", live->rows);
	live->rows = 0;
}

void tlat_live_init(struct tlat_live *live, const char *label, bool wanted)
{
	*live = (struct tlat_live){ .label = label, .show = wanted && is_possible() };
}

int tlat_live_pause_ms(const struct tlat_live *live)
{
	return live->show ? REDRAW_MS : -1;
}

void tlat_live_draw(struct tlat_live *live, struct tlat_run *run)
{
	if (!live->show)
		return;
	wipe(live);
	for (; live->rows < ROWS_MAX; live->rows++) {
		struct tlat_progress progress = { .size = sizeof(progress) };

		if (tlat_run_progress(run, live->rows, &progress) < 0)
			break;
		draw_row(live->label, &progress);
	}
	fflush(stderr);
}

void tlat_live_end(struct tlat_live *live)
{
	wipe(live);
	fflush(stderr);
}
