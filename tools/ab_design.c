// SPDX-License-Identifier: MIT
/*
 * ab_design.c - what was begun one way is not continued another way: the runs of a side would not
 * be of the same thing, and a verdict on them of nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ab_design.h"
#include "ab_side.h"
#include "tool.h"

/* Where the word begins in which both differ first. */
static size_t difference(const char *a, const char *b)
{
	size_t at = 0;

	while (a[at] && a[at] == b[at])
		at++;
	while (at && a[at - 1] != ' ')
		at--;
	return at;
}

static void quote(const char *text, size_t at, char *ret, size_t size)
{
	if (text)
		snprintf(ret, size, "'%s%.80s'", at ? "..." : "", text + at);
	else
		snprintf(ret, size, "none");
}

/* NULL: there is none. */
static int check_text(const struct tlat_ab_config *c, const char *what, const char *then,
		      const char *now, struct tlat_error *reterr)
{
	size_t at = then && now ? difference(then, now) : 0;
	char was[100], is[100];

	if (then && now ? !strcmp(then, now) : then == now)
		return 0;
	quote(then, at, was, sizeof(was));
	quote(now, at, is, sizeof(is));
	return tlat_tool_fail(reterr, -EINVAL,
			      "%.120s: was begun with %s %s, not %s; go on as it was begun, or use "
			      "another file",
			      c->state, what, was, is);
}

static int check_order(const struct tlat_ab_config *c, const struct tlat_design *design,
		       struct tlat_error *reterr)
{
	int64_t planned = c->only < 0 ? c->pairs : 0;

	if (design->planned != planned)
		return tlat_tool_fail(reterr, -EINVAL,
				      "%.200s: was begun with --pairs %" PRId32 ", not %" PRId64
				      "%s; use another file",
				      c->state, design->planned, planned,
				      planned ? "" : " (--side)");
	if (planned && design->looks != c->early)
		return tlat_tool_fail(reterr, -EINVAL,
				      "%.200s: was begun %s --early; use another file", c->state,
				      design->looks ? "with" : "without");
	if (planned && c->seed != TLAT_UNSET && design->seed != (uint64_t)c->seed)
		return tlat_tool_fail(reterr, -EINVAL,
				      "%.200s: was begun with --seed %" PRIu64 ", not %" PRId64
				      "; leave --seed out, or use another file",
				      c->state, design->seed, c->seed);
	return 0;
}

/* The command has all options of tlat run. */
static int check_commands(const struct tlat_ab_config *c, const struct tlat_design *design,
			  struct tlat_error *reterr)
{
	int side = design->side == 'B', r = 0;

	if (c->only >= 0 && c->only != side)
		return 0;
	if (design->command)
		r = check_text(c, side ? "the command of B" : "the command of A", design->command,
			       c->command[side], reterr);
	return r < 0 ? r
		     : check_text(c, side ? "--b-setup" : "--a-setup", design->setup,
				  c->setup[side], reterr);
}

/* The figure of --metric in a report, if it has one. */
static bool has_metric(const struct tlat_report *report, struct tlat_metric *metric)
{
	const struct tlat_result *result = tlat_report_result(report, 0);

	return result && !strcmp(tlat_result_probe(result), TLAT_AB_SOURCE) &&
	       tlat_result_metric(result, 0, metric) == 0 && !strcmp(metric->name, TLAT_AB_METRIC);
}

/* An expression that an older tlat did not keep may be any. */
static int check_metric(const struct tlat_ab_config *c, const struct tlat_report *report,
			const char *expression, struct tlat_error *reterr)
{
	struct tlat_metric metric = { .size = sizeof(metric) };
	int r;

	if (!has_metric(report, &metric))
		return check_text(c, "--metric", NULL, c->metric, reterr);
	if (!expression)
		expression = c->metric ? c->metric : "(not kept)";
	r = check_text(c, "--metric", expression, c->metric, reterr);
	if (!r)
		r = check_text(c, "--unit", metric.unit, c->unit ? c->unit : "", reterr);
	return r < 0 ? r
		     : check_text(c, "--better", metric.better > 0 ? "higher" : "lower",
				  c->higher > 0 ? "higher" : "lower", reterr);
}

int tlat_ab_check_design(const struct tlat_ab_config *c, const struct tlat_report *report,
			 const struct tlat_design *design, struct tlat_error *reterr)
{
	int r = check_order(c, design, reterr);

	if (!r)
		r = check_commands(c, design, reterr);
	return r < 0 ? r : check_metric(c, report, design->metric, reterr);
}
