// SPDX-License-Identifier: MIT
/*
 * compare_twice.c - the same run more than once: as another replicate, it would make a difference
 * look as if it had been seen again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

struct held {
	const char *id;
	size_t member;
};

static int by_id(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : (x->member > y->member) - (x->member < y->member);
}

/* All ids that are known; v NULL: only how many. */
static size_t list(const struct tlat_members *m, struct held *v)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		const char *id;

		for (size_t k = 0; (id = tlat_report_run_id(m->v[i].report, k)); k++) {
			if (!*id)
				continue;
			if (v)
				v[n] = (struct held){ id, i };
			n++;
		}
	}
	return n;
}

static void name_member(const struct tlat_members *m, size_t i, char *text, size_t size)
{
	bool base = i < m->n_runs[TLAT_BASE];

	snprintf(text, size, "report %zu of %s", base ? i + 1 : i + 1 - m->n_runs[TLAT_BASE],
		 base ? "the base side" : "the new side");
}

static int refuse(const struct tlat_members *m, const struct held *a, const struct held *b,
		  struct tlat_error *reterr)
{
	char first[60], other[60];

	name_member(m, a->member, first, sizeof(first));
	name_member(m, b->member, other, sizeof(other));
	return tlat_fail(reterr, -EINVAL,
			 "run %.40s is there twice, in %s and in %s, and would count as two; name "
			 "each run once",
			 a->id, first, other);
}

int tlat_compare_once(const struct tlat_members *m, struct tlat_error *reterr)
{
	size_t n = list(m, NULL);
	struct held *v = calloc(n + 1, sizeof(*v));
	int ret = 0;

	if (!v)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	list(m, v);
	qsort(v, n, sizeof(*v), by_id);
	/* A sum has the id of one of its runs. */
	for (size_t i = 1; !ret && i < n; i++)
		if (v[i].member != v[i - 1].member && !strcmp(v[i].id, v[i - 1].id))
			ret = refuse(m, &v[i - 1], &v[i], reterr);
	free(v);
	return ret;
}
