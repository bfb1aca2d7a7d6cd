/* SPDX-License-Identifier: MIT */
/*
 * documents.h - files that hold several reports, one after the other.
 */
#ifndef TLAT_DOCUMENTS_H
#define TLAT_DOCUMENTS_H

#include <timerlat.h>

/*
 * Read report number index, 1 and up, of path ("-": standard input). Gives the number of reports
 * there as well. Returns 0, -ERANGE when there are fewer, or what tlat_report_read() does.
 */
int tlat_documents_read(struct tlat_report **ret_report, const char *path, int64_t index,
			int64_t *ret_n, struct tlat_error *reterr);

#endif /* TLAT_DOCUMENTS_H */
