/* SPDX-License-Identifier: MIT */
/*
 * save.h - the report of a run on its way to a JSON file.
 */
#ifndef TLAT_SAVE_H
#define TLAT_SAVE_H

#include <stdbool.h>
#include <stdint.h>

#include <timerlat.h>

struct tlat_save {
	const char *path; /* NULL: no JSON; "-": standard output */
	bool append;
	bool replaced;		  /* by the next report: there are intermediate ones */
	int64_t every_ns, due_ns; /* of intermediate writes; the next, CLOCK_MONOTONIC */
};

void tlat_save_init(struct tlat_save *save, const char *path, bool append, int64_t every_ns);

/* How long until an intermediate write is due, rounded up; 0: now, -1: never. */
int tlat_save_pause_ms(const struct tlat_save *save);

/*
 * Whether the path can be written, before anything is measured. Returns 0 or a negative errno with
 * the path in reterr.
 */
int tlat_save_check(const struct tlat_save *save, struct tlat_error *reterr);

/* Whether the path is a file, for which the right to write may have to be kept. */
bool tlat_save_is_file(const struct tlat_save *save);

/*
 * An intermediate write, so that a power cut costs no more than what was measured since. A failure
 * is left to the last write. There is none where nothing can be taken back: to lines that are
 * added, a pipe, a device.
 */
void tlat_save_now(struct tlat_save *save, const struct tlat_report *report);

/* The last write. Returns 0 or a negative errno; a reader of standard output that has gone away is
 * no error. */
int tlat_save_end(const struct tlat_save *save, const struct tlat_report *report,
		  struct tlat_error *reterr);

#endif /* TLAT_SAVE_H */
