// SPDX-License-Identifier: MIT
/* compare_units.c - rows of logarithms as such, whatever they are of. */
#include <math.h>
#include <stdlib.h>

#include "compare.h"

int tlat_units_allocate(struct tlat_units *u, const struct tlat_members *m)
{
	u->paired = m->paired;
	for (int side = 0; side < TLAT_SIDES; side++) {
		u->n[side] = m->n_units[side];
		u->first[side] = calloc(u->n[side] + 1, sizeof(double));
		u->value[side] = calloc(u->n[side] * u->k + 1, sizeof(double));
		if (!u->first[side] || !u->value[side])
			return -ENOMEM;
	}
	return 0;
}

void tlat_units_free(struct tlat_units *units)
{
	for (int side = 0; side < TLAT_SIDES; side++) {
		free(units->first[side]);
		free(units->value[side]);
	}
}

/* The runs of one unit. The unit's value is the mean of the logarithms of theirs. */
size_t tlat_member_runs(const struct tlat_members *m, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < m->n; k++)
		n += m->v[k].side == m->v[i].side && m->v[k].unit == m->v[i].unit;
	return n;
}

static bool starts_are_known(const struct tlat_members *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].report->start_ns <= 0)
			return false;
	return true;
}

/* Over the session, in the order of time, with the difference of the sides taken out. */
int tlat_compare_drift(struct tlat_item *item, const struct tlat_members *m)
{
	double *v = calloc(m->n + 1, sizeof(*v));
	struct tlat_trend trend;
	int ret = v ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < m->n; i++)
		v[i] = item->units.first[m->v[i].side][m->v[i].unit] -
		       (m->v[i].side == TLAT_NEXT ? item->outcome.location.estimate : 0);
	if (!ret)
		ret = tlat_trend(v, m->n, &trend);
	item->drift = !ret && m->n >= 4 && starts_are_known(m) ? trend.total : (double)NAN;
	free(v);
	return ret;
}

void tlat_item_medians(struct tlat_item *item)
{
	item->base = exp(tlat_median(item->units.first[TLAT_BASE], item->units.n[TLAT_BASE]));
	item->next = exp(tlat_median(item->units.first[TLAT_NEXT], item->units.n[TLAT_NEXT]));
}
