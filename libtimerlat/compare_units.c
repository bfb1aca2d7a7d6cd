// SPDX-License-Identifier: MIT
/* compare_units.c - rows of logarithms as such, and single metrics, which have nothing else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	item->drift = !ret && m->n >= 4 ? trend.total : (double)NAN;
	free(v);
	return ret;
}

void tlat_item_medians(struct tlat_item *item)
{
	item->base = exp(tlat_median(item->units.first[TLAT_BASE], item->units.n[TLAT_BASE]));
	item->next = exp(tlat_median(item->units.first[TLAT_NEXT], item->units.n[TLAT_NEXT]));
}

static const struct tlat_number *metric_of(const struct tlat_result *result, const char *name)
{
	for (size_t i = 0; result && i < result->n_metrics; i++)
		if (!strcmp(result->metrics[i].name, name))
			return &result->metrics[i];
	return NULL;
}

static int fill_metric(struct tlat_item *item, const struct tlat_members *m, const char *probe,
		       size_t ordinal, struct tlat_error *reterr)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct tlat_result *result =
			tlat_member_result(m->v[i].report, probe, ordinal);
		const struct tlat_number *f = metric_of(result, item->metric);

		if (result && !item->forced &&
		    tlat_compare_reliable(m->v[i].report, result, item->name, reterr) < 0)
			return -EINVAL;
		if (!f || !(f->value > 0))
			return tlat_fail(reterr, -EINVAL,
					 "%s, metric %s: run %zu of %zu %s; measure it again, or "
					 "leave the metric out",
					 item->name, item->metric, i + 1, m->n,
					 f ? "has no value above 0, which a ratio needs"
					   : "does not have it");
		if (strcmp(f->unit, item->unit) && !item->forced)
			return tlat_fail(reterr, -EINVAL,
					 "%s, metric %s: unit \"%s\" cannot be compared with unit "
					 "\"%s\"; measure both sides alike",
					 item->name, item->metric, item->unit, f->unit);
		item->units.first[m->v[i].side][m->v[i].unit] +=
			log(f->value) / (double)tlat_member_runs(m, i);
	}
	return 0;
}

int tlat_compare_metric(struct tlat_item *item, const struct tlat_members *m, const char *probe,
			size_t ordinal, const char *metric, struct tlat_error *reterr)
{
	const struct tlat_number *first =
		metric_of(tlat_member_result(m->v[0].report, probe, ordinal), metric);
	int ret;

	snprintf(item->name, sizeof(item->name), "%s", probe);
	snprintf(item->metric, sizeof(item->metric), "%s", metric);
	snprintf(item->unit, sizeof(item->unit), "%s", first ? first->unit : "");
	item->units.better = first ? first->better : 0;
	item->units.quantities = item->quantities;
	item->within = item->levels.boot = item->levels.run = item->levels.block = NAN;
	if (tlat_units_allocate(&item->units, m) < 0)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	ret = fill_metric(item, m, probe, ordinal, reterr);
	if (ret < 0)
		return ret;
	tlat_item_medians(item);
	ret = tlat_compare_measure(&item->units, &item->rules, &item->outcome, item->found);
	if (!ret)
		ret = tlat_compare_drift(item, m);
	return ret < 0 ? tlat_fail(reterr, ret, "out of memory") : 0;
}
