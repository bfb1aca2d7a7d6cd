/* SPDX-License-Identifier: MIT */
/*
 * live.h - progress on a terminal while a run goes on.
 */
#ifndef TLAT_LIVE_H
#define TLAT_LIVE_H

#include <stdbool.h>

#include <timerlat.h>

struct tlat_live {
	const char *label;
	bool show;
	bool sort_max; /* the largest max first; else in the order of threads */
	bool drawn;    /* there is a table, and the cursor is at its beginning */
};

/* wanted: show if standard output and error are a terminal that can show progress. */
void tlat_live_init(struct tlat_live *live, const char *label, bool wanted, bool sort_max);

/* How long until the next redraw; -1: never. */
int tlat_live_pause_ms(const struct tlat_live *live);

/*
 * A row per recording thread on stderr, in the place of those drawn before. Nothing while another
 * job has the terminal.
 */
void tlat_live_draw(struct tlat_live *live, struct tlat_run *run);

/* Wipe it, unless another job has the terminal by now. */
void tlat_live_end(struct tlat_live *live);

#endif /* TLAT_LIVE_H */
