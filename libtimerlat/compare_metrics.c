// SPDX-License-Identifier: MIT
/*
 * compare_metrics.c - metrics: which number it is in each run, which of them make no ratio, and the
 * units of the others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/*
 * One metric of all runs: of result number ordinal of that probe. Those that are results of their
 * own, such as a command's, come in any order: of these it is number ordinal of that name.
 */
struct place {
	const char *probe, *name;
	size_t ordinal;
	bool alone;
};

static const struct tlat_number *metric_of(const struct tlat_result *result, const char *name)
{
	for (size_t i = 0; result && i < result->n_metrics; i++)
		if (!strcmp(result->metrics[i].name, name))
			return &result->metrics[i];
	return NULL;
}

static bool is_alone(const struct tlat_result *result, const struct place *place)
{
	return tlat_result_is_metric(result) && !strcmp(result->probe, place->probe) &&
	       metric_of(result, place->name);
}

static const struct tlat_result *result_of(const struct tlat_members *m, size_t i,
					   const struct place *place)
{
	const struct tlat_report *report = m->v[i].report;
	size_t before = place->ordinal;

	if (!place->alone)
		return tlat_member_result(report, place->probe, place->ordinal);
	for (size_t k = 0; k < report->n_results; k++)
		if (is_alone(report->results[k], place) && !before--)
			return report->results[k];
	return NULL;
}

/* Where metric number k of that result is to be looked for in all reports. */
static struct place place_of(const struct tlat_report *report, size_t index, size_t k)
{
	const struct tlat_result *result = report->results[index];
	struct place place = { .probe = result->probe, .name = result->metrics[k].name };

	place.alone = tlat_result_is_metric(result);
	if (!place.alone)
		place.ordinal = tlat_member_ordinal(report, index);
	for (size_t i = 0; place.alone && i < index; i++)
		place.ordinal += is_alone(report->results[i], &place);
	return place;
}

static const struct tlat_number *number_of(const struct tlat_members *m, size_t i,
					   const struct place *place)
{
	return metric_of(result_of(m, i, place), place->name);
}

/* Whether none of the first members has it. */
static bool is_new(const struct tlat_members *m, size_t first, const struct place *place)
{
	for (size_t k = 0; k < first; k++)
		if (number_of(m, tlat_member_nth(m, k), place))
			return false;
	return true;
}

/* == What makes no ratio == */

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && !strcmp(name + n - k, end);
}

/*
 * Counts and maxima are the larger the longer one looks; rates, shares and quantiles are not. What
 * others measured has names of their own, and no length.
 */
static bool grows(const struct place *place)
{
	static const char *const ends[] = { "count",	      "max_ns",		"stale",
					    "back_offs",      "_checks",	"hrtimer_hangs",
					    "hrtimer_events", "hrtimer_retries" };

	for (size_t i = 0; !place->alone && i < TLAT_ARRAY_SIZE(ends); i++)
		if (ends_in(place->name, ends[i]))
			return true;
	return false;
}

/* But for what would not matter of the metric. */
static bool equal_times(const struct tlat_members *m, const struct place *place, double threshold)
{
	double shortest = (double)INFINITY, longest = 0;

	for (size_t i = 0; i < m->n; i++) {
		double ns = (double)result_of(m, i, place)->duration_ns;

		shortest = fmin(shortest, ns);
		longest = fmax(longest, ns);
	}
	return tlat_about_same(shortest, longest, threshold);
}

static enum tlat_lack lack_of(const struct tlat_members *m, const struct place *place,
			      const struct tlat_compare_opts *o)
{
	bool usable = true, zero = true;

	for (size_t i = 0; i < m->n; i++) {
		const struct tlat_number *number = number_of(m, i, place);

		if (!number)
			return TLAT_NOT_EVERYWHERE;
		usable &= number->value > 0;
		zero &= number->value == 0;
	}
	if (!usable)
		return zero ? TLAT_ALL_ZERO : TLAT_SOME_ZERO;
	if (o->flags & TLAT_COMPARE_FORCE || !grows(place))
		return TLAT_LACKS_NOTHING;
	return equal_times(m, place, log1p(o->threshold)) ? TLAT_LACKS_NOTHING : TLAT_UNEQUAL_TIMES;
}

static size_t above_zero(const struct tlat_members *m, const struct place *place, int side)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += m->v[i].side == side && number_of(m, i, place)->value > 0;
	return n;
}

static void put_name(const struct tlat_members *m, const struct place *place, enum tlat_lack lack,
		     FILE *out)
{
	fputs(place->name, out);
	if (lack == TLAT_SOME_ZERO)
		fprintf(out, " (in %zu of %zu runs of base, %zu of %zu of new)",
			above_zero(m, place, TLAT_BASE), m->n_runs[TLAT_BASE],
			above_zero(m, place, TLAT_NEXT), m->n_runs[TLAT_NEXT]);
}

/* All metrics of a result that lack the same are one note. 0 or -ENOMEM. */
static int note_lack(struct tlat_comparison *c, const struct tlat_compare_opts *o, size_t of,
		     size_t index, enum tlat_lack lack)
{
	const struct tlat_report *report = c->members.v[tlat_member_nth(&c->members, of)].report;
	const struct tlat_result *result = report->results[index];
	char *names = NULL;
	size_t size, n = 0;
	FILE *out = open_memstream(&names, &size);

	if (!out)
		return -ENOMEM;
	for (size_t k = 0; k < result->n_metrics; k++) {
		const struct place place = place_of(report, index, k);

		if (!is_new(&c->members, of, &place) || lack_of(&c->members, &place, o) != lack)
			continue;
		fputs(n++ ? ", " : "", out);
		put_name(&c->members, &place, lack, out);
	}
	fclose(out);
	if (n)
		tlat_note_lack(&c->notes, lack, result->probe, names);
	free(names);
	return 0;
}

/* == Units == */

/* Whether run number i may be compared: of its kind, and as the others of its side. */
static int check(const struct tlat_item *item, const struct tlat_members *m, size_t i,
		 const struct place *place, struct tlat_error *reterr)
{
	static const char *const better[] = { "lower", "none", "higher" };
	const struct tlat_number *number = number_of(m, i, place);
	const struct tlat_result *result = result_of(m, i, place);
	size_t of_side = tlat_member_first(m, m->v[i].side);

	if (!number)
		return tlat_fail(reterr, -EINVAL, "%s, metric %s: %s", item->name, item->metric,
				 tlat_lacks[TLAT_NOT_EVERYWHERE].what);
	if (strcmp(number->unit, item->unit))
		return tlat_fail(reterr, -EINVAL,
				 "%s, metric %s: unit \"%s\" cannot be compared with unit "
				 "\"%s\"; measure both sides alike",
				 item->name, item->metric, item->unit, number->unit);
	if (number->better != item->units.better)
		return tlat_fail(
			reterr, -EINVAL,
			"%s, metric %s: better is %s in one report, %s in another; measure "
			"both sides alike, or give --force for figures without a verdict",
			item->name, item->metric, better[item->units.better - TLAT_LOWER],
			better[number->better - TLAT_LOWER]);
	return tlat_compare_fits(m, i, result_of(m, 0, place), result_of(m, of_side, place), result,
				 item->name, reterr);
}

static int fill(struct tlat_item *item, const struct tlat_members *m, const struct place *place,
		struct tlat_error *reterr)
{
	if (tlat_units_allocate(&item->units, m) < 0)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	for (size_t i = 0; i < m->n; i++) {
		if (!item->forced && check(item, m, i, place, reterr) < 0)
			return -EINVAL;
		item->units.first[m->v[i].side][m->v[i].unit] +=
			log(number_of(m, i, place)->value) / (double)tlat_member_runs(m, i);
	}
	return 0;
}

static int add_metric(struct tlat_comparison *c, const struct tlat_compare_opts *o,
		      const struct place *place, struct tlat_error *reterr)
{
	const struct tlat_number *first = number_of(&c->members, 0, place);
	struct tlat_item *item = tlat_comparison_add(c, o);
	int ret;

	if (!item)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	snprintf(item->name, sizeof(item->name), "%s", place->probe);
	snprintf(item->metric, sizeof(item->metric), "%s", place->name);
	snprintf(item->unit, sizeof(item->unit), "%s", first->unit);
	item->units.better = first->better;
	item->units.quantities = item->quantities;
	item->within = item->levels.boot = item->levels.run = item->levels.block = NAN;
	ret = fill(item, &c->members, place, reterr);
	if (ret < 0)
		return ret;
	tlat_item_medians(item);
	ret = tlat_compare_measure(&item->units, &item->rules, &item->outcome, item->found);
	if (!ret)
		ret = tlat_compare_drift(item, &c->members);
	return ret < 0 ? tlat_fail(reterr, ret, "out of memory") : 0;
}

/* The one that was asked for. */
static int add_named(struct tlat_comparison *c, const struct tlat_compare_opts *o,
		     const struct place *place, struct tlat_error *reterr)
{
	enum tlat_lack lack = lack_of(&c->members, place, o);

	if (lack == TLAT_LACKS_NOTHING)
		return add_metric(c, o, place, reterr);
	return tlat_fail(reterr, -EINVAL, "%s, metric %s: %s; %s", place->probe, place->name,
			 tlat_lacks[lack].what,
			 lack == TLAT_UNEQUAL_TIMES
				 ? "measure all for as long, or give --force for "
				   "figures without a verdict"
				 : "compare another one");
}

int tlat_compare_metrics(struct tlat_comparison *c, const struct tlat_compare_opts *o, size_t of,
			 size_t index, struct tlat_error *reterr)
{
	const struct tlat_report *report = c->members.v[tlat_member_nth(&c->members, of)].report;
	int ret = 0;

	for (size_t k = 0; !ret && k < report->results[index]->n_metrics; k++) {
		const struct place place = place_of(report, index, k);

		if (!is_new(&c->members, of, &place))
			continue;
		if (o->metric && !strcmp(o->metric, place.name))
			ret = add_named(c, o, &place, reterr);
		else if (!o->metric && lack_of(&c->members, &place, o) == TLAT_LACKS_NOTHING)
			ret = add_metric(c, o, &place, reterr);
	}
	for (int lack = TLAT_NOT_EVERYWHERE; !ret && !o->metric && lack < TLAT_LACKS; lack++)
		if (note_lack(c, o, of, index, (enum tlat_lack)lack) < 0)
			ret = tlat_fail(reterr, -ENOMEM, "out of memory");
	return ret;
}
