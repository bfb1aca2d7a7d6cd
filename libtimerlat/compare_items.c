// SPDX-License-Identifier: MIT
/* compare_items.c - what is compared: the results and metrics that every run of both sides has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

struct tlat_item *tlat_comparison_add(struct tlat_comparison *c, const struct tlat_compare_opts *o)
{
	struct tlat_item *grown = realloc(c->items, (c->n_items + 1) * sizeof(*grown));
	struct tlat_item *item;
	uint64_t next;

	if (!grown)
		return NULL;
	c->items = grown;
	/* What moved may be looked at only through the pointers below. */
	for (size_t i = 0; i < c->n_items; i++)
		grown[i].units.quantities = grown[i].quantities;
	item = &grown[c->n_items++];
	memset(item, 0, sizeof(*item));
	item->rules =
		(struct tlat_rules){ o->alpha, log1p(o->threshold), log(o->tail_ratio), o->power };
	if (c->members.planned)
		item->rules.alpha = tlat_compare_look(c->members.n_units[TLAT_BASE],
						      c->members.planned, o->alpha, &next);
	if (!(item->rules.alpha > 0))
		item->rules.alpha = o->alpha; /* no look is due: figures, and no verdict */
	item->forced = o->flags & TLAT_COMPARE_FORCE;
	return item;
}

static int add_latency(struct tlat_comparison *c, const struct tlat_compare_opts *o,
		       const char *probe, size_t ordinal, struct tlat_error *reterr)
{
	struct tlat_item *item = tlat_comparison_add(c, o);

	if (!item)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	return tlat_compare_latency(item, &c->members, probe, ordinal, &c->notes, reterr);
}

/* A probe that the machine does not support leaves a result that says so, and nothing else. */
static bool has(const struct tlat_members *m, size_t i, const char *probe, size_t ordinal)
{
	const struct tlat_result *result = tlat_member_result(m->v[i].report, probe, ordinal);

	return result && (result->kind || result->latency || result->supported);
}

/* How many of the first members have it. */
static size_t among(const struct tlat_members *m, size_t first, const char *probe, size_t ordinal)
{
	size_t n = 0;

	for (size_t k = 0; k < first; k++)
		n += has(m, tlat_member_nth(m, k), probe, ordinal);
	return n;
}

/* What result number index of the member says that none before it in that order does. */
static int add_result(struct tlat_comparison *c, const struct tlat_compare_opts *o, size_t k,
		      size_t index, struct tlat_error *reterr)
{
	const struct tlat_members *m = &c->members;
	const struct tlat_report *report = m->v[tlat_member_nth(m, k)].report;
	const struct tlat_result *result = report->results[index];
	size_t ordinal = tlat_member_ordinal(report, index);
	int ret = 0;

	if (!tlat_result_is_metric(result) && among(m, m->n, result->probe, ordinal) < m->n) {
		if (has(m, tlat_member_nth(m, k), result->probe, ordinal) &&
		    !among(m, k, result->probe, ordinal))
			tlat_findings_add(&c->notes, TLAT_WARN, "not-everywhere", NULL,
					  "%s: not every run has it, so it was not compared",
					  result->probe);
		return 0;
	}
	if (!k && !o->metric && !result->kind)
		ret = add_latency(c, o, result->probe, ordinal, reterr);
	return ret < 0 ? ret : tlat_compare_metrics(c, o, k, index, reterr);
}

static const struct tlat_report *report_of(const struct tlat_members *m, int side)
{
	return m->v[tlat_member_first(m, side)].report;
}

static const char *a_probe_of(const struct tlat_report *report)
{
	return report->n_results ? report->results[0]->probe : "nothing";
}

/* Why there is no item; notes: how many there were before one was looked for. */
static int refuse(const struct tlat_comparison *c, const struct tlat_compare_opts *o, size_t notes,
		  struct tlat_error *reterr)
{
	const char *base = a_probe_of(report_of(&c->members, TLAT_BASE));
	const char *next = a_probe_of(report_of(&c->members, TLAT_NEXT));

	if (o->metric)
		return tlat_fail(reterr, -EINVAL,
				 "metric %s: not in every run; see \"metrics\" in the reports",
				 o->metric);
	if (c->notes.n > notes && !strcmp(base, next))
		return tlat_fail(reterr, -EINVAL, "nothing can be compared: %.300s",
				 c->notes.v[c->notes.n - 1].text);
	return tlat_fail(reterr, -EINVAL,
			 "nothing in common: the base side measured %s, the new one %s; measure "
			 "the same probe on both sides",
			 base, next);
}

int tlat_compare_items(struct tlat_comparison *c, const struct tlat_compare_opts *o,
		       struct tlat_error *reterr)
{
	const struct tlat_members *m = &c->members;
	size_t notes = c->notes.n;
	int ret = 0;

	for (size_t k = 0; k < m->n; k++)
		for (size_t i = 0; !ret && i < m->v[tlat_member_nth(m, k)].report->n_results; i++)
			ret = add_result(c, o, k, i, reterr);
	return ret < 0 || c->n_items ? ret : refuse(c, o, notes, reterr);
}
