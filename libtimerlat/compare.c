// SPDX-License-Identifier: MIT
/*
 * compare.c - reports in, verdict out: what several results mean for each, and what forbids a
 * verdict however clear the figures are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

TLAT_ASSERT_LAYOUT(struct tlat_compare_opts, 6 * 8 + 2 * 4);
TLAT_ASSERT_LAYOUT(struct tlat_compare_item, 25 * 8 + 6 * 4);
TLAT_ASSERT_LAYOUT(struct tlat_compare_figure, 10 * 8 + 2 * 4);

static const char *const verdict_names[] = {
	[TLAT_COMPARE_NONE] = "NONE",
	[TLAT_COMPARE_IMPROVEMENT] = "IMPROVEMENT",
	[TLAT_COMPARE_EQUIVALENT] = "EQUIVALENT",
	[TLAT_COMPARE_TRIVIAL] = "TRIVIAL",
	[TLAT_COMPARE_INDICATIVE] = "INDICATIVE",
	[TLAT_COMPARE_INCONCLUSIVE] = "INCONCLUSIVE",
	[TLAT_COMPARE_TAIL_REGRESSION] = "TAIL-REGRESSION",
	[TLAT_COMPARE_REGRESSION] = "REGRESSION",
};

const char *tlat_compare_verdict_name(int verdict)
{
	return verdict >= 0 && (size_t)verdict < TLAT_ARRAY_SIZE(verdict_names)
		       ? verdict_names[verdict]
		       : NULL;
}

static void or_default(double *value, double standard)
{
	if (*value == 0)
		*value = standard;
}

static int check_opts(struct tlat_compare_opts *o, struct tlat_error *reterr)
{
	or_default(&o->alpha, 0.01);
	or_default(&o->threshold, 0.005);
	or_default(&o->tail_ratio, 1.25);
	or_default(&o->power, 0.9);
	if (!(o->alpha > 0 && o->alpha <= 0.2))
		return tlat_fail(reterr, -EINVAL, "alpha %g is not above 0 and at most 0.2",
				 o->alpha);
	if (!(o->threshold > 0 && o->threshold < 1))
		return tlat_fail(reterr, -EINVAL, "a threshold of %g is not between 0 and 1",
				 o->threshold);
	if (!(o->tail_ratio > 1 && isfinite(o->tail_ratio)))
		return tlat_fail(reterr, -EINVAL, "a tail ratio of %g is not above 1",
				 o->tail_ratio);
	if (!(o->power > 0.5 && o->power < 1))
		return tlat_fail(reterr, -EINVAL, "a power of %g is not between 0.5 and 1",
				 o->power);
	if (o->flags & ~(uint32_t)TLAT_COMPARE_FORCE)
		return tlat_fail(reterr, -EINVAL, "compare flags %#x are not known", o->flags);
	if (o->reserved)
		return tlat_fail(reterr, -EINVAL,
				 "the reserved field of the compare options is %d; set it to 0",
				 o->reserved);
	return 0;
}

static double least_tail_p(const struct tlat_item *item)
{
	double least = 1;

	for (size_t j = 0; j < item->units.k; j++)
		if (item->found[j].p < least)
			least = item->found[j].p;
	return least;
}

static bool has_tail(const struct tlat_item *item)
{
	for (size_t j = 0; j < item->units.k; j++)
		if (item->quantities[j].role == TLAT_COMPARE_TAIL)
			return true;
	return false;
}

static void adjust_tail(struct tlat_item *item, size_t tails, double least)
{
	double factor = least / least_tail_p(item);

	item->tails = tails;
	for (size_t j = 0; j < item->units.k; j++)
		if (!isnan(item->found[j].p))
			item->found[j].p = fmin(1, item->found[j].p * factor);
}

/* Metrics have no tail, and are no further chance of a false alarm. */
static int adjust_tails(struct tlat_comparison *c)
{
	double *p = calloc(c->n_items + 1, sizeof(*p));
	size_t n = 0, at = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_items; i++)
		if (has_tail(&c->items[i]))
			p[n++] = least_tail_p(&c->items[i]);
	tlat_holm(p, n);
	for (size_t i = 0; i < c->n_items; i++)
		if (has_tail(&c->items[i]))
			adjust_tail(&c->items[i], n, p[at++]);
	free(p);
	return 0;
}

/* Having looked at several results, one of them will be odd. */
static int adjust(struct tlat_comparison *c)
{
	double *p = calloc(c->n_items + 1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_items; i++)
		p[i] = c->items[i].outcome.p;
	tlat_holm(p, c->n_items);
	for (size_t i = 0; i < c->n_items; i++) {
		struct tlat_item *item = &c->items[i];

		item->among = c->n_items;
		item->outcome.p = p[i];
		tlat_compare_foresee(&item->units, &item->rules, item->among, &item->outcome);
	}
	free(p);
	return adjust_tails(c);
}

/* What a verdict may not be given on is neither worse nor better, the tail's figures included. */
static void take_back(struct tlat_item *item, int32_t verdict)
{
	item->outcome.verdict = item->outcome.primary = item->outcome.tail = verdict;
	for (size_t j = 0; j < item->units.k; j++)
		item->found[j].worse = 0;
}

#define UNDECIDED(item, ...)                                                                       \
	do {                                                                                       \
		take_back(item, TLAT_COMPARE_INCONCLUSIVE);                                        \
		(item)->withheld = true;                                                           \
		snprintf((item)->reason, sizeof((item)->reason), __VA_ARGS__);                     \
	} while (0)

static void forbid(struct tlat_item *item, const struct tlat_members *m)
{
	uint64_t next = 0;
	size_t n = m->n_units[TLAT_BASE];

	if (item->forced) {
		take_back(item, TLAT_COMPARE_NONE);
		snprintf(item->reason, sizeof(item->reason), "forced: figures without a verdict");
	} else if (item->outcome.primary == TLAT_COMPARE_INDICATIVE) {
		item->withheld = true;
	} else if (!m->ordered) {
		UNDECIDED(item, "the sides were not measured in turn, or when is not known: a "
				"drift cannot be told from a difference");
	} else if (m->planned && !(tlat_compare_look(n, m->planned, 0.01, &next) > 0)) {
		UNDECIDED(item,
			  "%zu of %zu pairs: a look is planned at %llu, and one in between "
			  "would be a further chance of a false alarm",
			  n, m->planned, (unsigned long long)next);
	} else if (isinf(item->offset_ns)) {
		UNDECIDED(item,
			  "offset: one way the counters' offset is part of every figure, and a "
			  "report does not say how large it can be; measure with --round-trip, or "
			  "on one CPU");
	} else if (item->offset_ns > 0) {
		tlat_compare_hold_offset(item, m);
	}
}

static int conclude(struct tlat_comparison *c)
{
	if (adjust(c) < 0)
		return -ENOMEM;
	c->verdict = TLAT_COMPARE_NONE;
	for (size_t i = 0; i < c->n_items; i++) {
		struct tlat_item *item = &c->items[i];

		tlat_compare_judge(&item->units, &item->rules, &item->outcome, item->found);
		tlat_compare_reason(item, &c->members);
		forbid(item, &c->members);
		if (item->outcome.verdict > c->verdict)
			c->verdict = item->outcome.verdict;
	}
	return 0;
}

static int keep_commands(struct tlat_comparison *c)
{
	for (int side = 0; side < TLAT_SIDES; side++) {
		const struct tlat_member *first =
			&c->members.v[tlat_member_first(&c->members, side)];
		const char *repeat = tlat_report_repeat(first->report);

		if (repeat && !(c->repeat[side] = strdup(repeat)))
			return -ENOMEM;
	}
	return 0;
}

static int compare(struct tlat_comparison *c, const struct tlat_compare_opts *o,
		   struct tlat_error *reterr)
{
	int ret = tlat_compare_items(c, o, reterr);

	if (ret < 0)
		return ret;
	ret = conclude(c);
	if (!ret)
		ret = tlat_differences_make(&c->differences, &c->members);
	if (!ret)
		ret = keep_commands(c);
	return ret < 0 ? tlat_fail(reterr, ret, "out of memory") : 0;
}

int tlat_compare(struct tlat_comparison **ret_comparison, struct tlat_report *const *base,
		 size_t n_base, struct tlat_report *const *next, size_t n_next,
		 const struct tlat_compare_opts *opts, struct tlat_error *reterr)
{
	struct tlat_compare_opts o = { 0 };
	struct tlat_comparison *c;
	int ret;

	tlat_error_begin(reterr);
	ret = tlat_opts_copy(&o, sizeof(o), opts, reterr);
	if (!ret)
		ret = check_opts(&o, reterr);
	if (ret < 0)
		return ret;
	c = calloc(1, sizeof(*c));
	if (!c)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	ret = tlat_members_make(&c->members, base, n_base, next, n_next, &c->notes, reterr);
	if (!ret && !(o.flags & TLAT_COMPARE_FORCE))
		ret = tlat_members_check_once(base, n_base, next, n_next, reterr);
	if (!ret)
		ret = compare(c, &o, reterr);
	tlat_members_free(&c->members); /* the reports are the caller's */
	if (ret < 0)
		tlat_comparison_free(c);
	else
		*ret_comparison = c;
	return tlat_error_end(reterr, ret);
}

void tlat_comparison_free(struct tlat_comparison *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_items; i++)
		tlat_units_free(&c->items[i].units);
	free(c->items);
	tlat_differences_free(&c->differences);
	tlat_findings_free(&c->notes);
	free(c->repeat[TLAT_BASE]);
	free(c->repeat[TLAT_NEXT]);
	free(c);
}

int tlat_comparison_verdict(const struct tlat_comparison *comparison)
{
	return comparison->verdict;
}

static double sd_of(const struct tlat_units *units, int side)
{
	struct tlat_location l;

	/* Of one side alone: as differences from nothing. */
	return tlat_location_paired(units->first[side], units->n[side], 0.01, &l) < 0 ? (double)NAN
										      : l.sd;
}

int tlat_comparison_item(const struct tlat_comparison *c, size_t index,
			 struct tlat_compare_item *item)
{
	const struct tlat_item *from;
	const struct tlat_location *l;
	struct tlat_compare_item copy;

	if (index >= c->n_items)
		return -ENOENT;
	from = &c->items[index];
	l = &from->outcome.location;
	copy = (struct tlat_compare_item){
		.name = from->name,
		.metric = from->metric,
		.unit = from->unit,
		.reason = from->reason,
		.base = from->base,
		.next = from->next,
		.ratio = exp(l->estimate),
		.lo = exp(l->lo),
		.hi = exp(l->hi),
		.sign_lo = from->units.paired ? exp(l->sign_lo) : (double)NAN,
		.sign_hi = from->units.paired ? exp(l->sign_hi) : (double)NAN,
		.p = from->outcome.p,
		.alpha = from->rules.alpha,
		.sd = l->sd,
		.base_sd = sd_of(&from->units, TLAT_BASE),
		.next_sd = sd_of(&from->units, TLAT_NEXT),
		.mde = expm1(from->outcome.mde),
		.drift = expm1(from->drift),
		.noise_boot = from->levels.boot,
		.noise_run = from->levels.run,
		.noise_block = from->levels.block,
		.n_base = from->units.n[TLAT_BASE],
		.n_next = from->units.n[TLAT_NEXT],
		.needed = from->outcome.needed,
		.verdict = from->outcome.verdict,
		.primary = from->outcome.primary,
		.tail = from->outcome.tail,
		.paired = from->units.paired,
		.better = from->units.better,
		.withheld = from->withheld,
	};
	return tlat_facts_copy(item, &copy, sizeof(copy));
}

int tlat_comparison_figure(const struct tlat_comparison *c, size_t item, size_t index,
			   struct tlat_compare_figure *figure)
{
	const struct tlat_quantity *q;
	const struct tlat_found *f;
	struct tlat_compare_figure copy;

	if (item >= c->n_items || index >= c->items[item].units.k)
		return -ENOENT;
	q = &c->items[item].quantities[index];
	f = &c->items[item].found[index];
	copy = (struct tlat_compare_figure){
		.name = q->name,
		.quantile = q->quantile,
		.base = exp(f->base),
		.next = exp(f->next),
		.ratio = exp(f->mean),
		.lo = exp(f->mean - f->half),
		.hi = exp(f->mean + f->half),
		.p = f->p,
		.role = q->role,
		.worse = f->worse,
		.unit = q->unit,
	};
	return tlat_facts_copy(figure, &copy, sizeof(copy));
}

int tlat_comparison_difference(const struct tlat_comparison *c, size_t index,
			       struct tlat_difference *ret_difference)
{
	if (index >= c->differences.n)
		return -ENOENT;
	*ret_difference = c->differences.v[index];
	return 0;
}

int tlat_comparison_finding(const struct tlat_comparison *c, size_t index,
			    struct tlat_finding *ret_finding)
{
	if (index >= c->notes.n)
		return -ENOENT;
	*ret_finding = c->notes.v[index];
	return 0;
}

double tlat_compare_mde(double sd, uint64_t n, double alpha, double power)
{
	return expm1(tlat_mde_paired(sd, (size_t)n, alpha, power));
}

uint64_t tlat_compare_pairs(double sd, double mde, double alpha, double power)
{
	return tlat_pairs_needed(sd, log1p(mde), alpha, power, true);
}

double tlat_compare_look(uint64_t n, uint64_t planned, double alpha, uint64_t *ret_next)
{
	size_t next;
	double part = tlat_look_alpha((size_t)n, (size_t)planned, alpha, &next);

	if (ret_next)
		*ret_next = next;
	return part;
}
