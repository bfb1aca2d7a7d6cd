// SPDX-License-Identifier: MIT
/*
 * report_twice.c - the same run in two reports: added up it narrows every interval, compared as
 * another replicate it makes a difference look as if it had been seen again.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"

struct held {
	const char *id;
	size_t report;
};

static int by_id(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : (x->report > y->report) - (x->report < y->report);
}

/* All ids that are known; v NULL: only how many. */
static size_t list(struct tlat_report *const *reports, size_t n_reports, struct held *v)
{
	size_t n = 0;

	for (size_t i = 0; i < n_reports; i++) {
		const char *id;

		for (size_t k = 0; (id = tlat_report_run_id(reports[i], k)); k++) {
			if (!*id)
				continue;
			if (v)
				v[n] = (struct held){ id, i };
			n++;
		}
	}
	return n;
}

int tlat_report_twice(struct tlat_report *const *reports, size_t n_reports,
		      struct tlat_run_twice *ret)
{
	size_t n = list(reports, n_reports, NULL);
	struct held *v = calloc(n + 1, sizeof(*v));
	int found = 0;

	if (!v)
		return -ENOMEM;
	list(reports, n_reports, v);
	qsort(v, n, sizeof(*v), by_id);
	/* A sum has the id of one of its runs. */
	for (size_t i = 1; !found && i < n; i++) {
		found = v[i].report != v[i - 1].report && !strcmp(v[i].id, v[i - 1].id);
		*ret = (struct tlat_run_twice){ v[i].id, v[i - 1].report, v[i].report };
	}
	free(v);
	return found;
}
