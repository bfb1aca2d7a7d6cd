/* SPDX-License-Identifier: MIT */
/* reports.h - all reports of a file, of its lines, or of a directory. */
#ifndef TLAT_REPORTS_H
#define TLAT_REPORTS_H

#include <stddef.h>
#include <stdint.h>

#include <timerlat.h>

struct tlat_reports {
	struct tlat_report **v;
	size_t n;
};

/*
 * Add the reports of path: a file that holds one or more, one after the other ("-": standard
 * input), or a directory, whose *.json and *.jsonl files count in the order of their names. Returns
 * 0; -ENODATA when there is none; or a negative errno, with file and line in reterr.
 */
int tlat_reports_read(struct tlat_reports *reports, const char *path, struct tlat_error *reterr);
/*
 * Report number index, 1 and up, of a file ("-": standard input), and how many there are. Returns
 * 0, -ERANGE when there are fewer, or as above.
 */
int tlat_reports_read_one(struct tlat_report **ret_report, const char *path, int64_t index,
			  int64_t *ret_n, struct tlat_error *reterr);
/* Takes the report, also when memory is short: then it is freed, and -ENOMEM returned. */
int tlat_reports_add(struct tlat_reports *reports, struct tlat_report *report);
void tlat_reports_free(struct tlat_reports *reports);

#endif /* TLAT_REPORTS_H */
