// SPDX-License-Identifier: MIT
/* results_details.c - what a figure began and ended with, and the conditions of each result. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "metrics.h"
#include "quantity.h"
#include "results.h"
#include "results_details.h"
#include "select.h"
#include "text.h"
#include "tool.h"

#define INDENT 7

/* A line that breaks between its parts. */
struct line {
	FILE *out;
	int width, column;
	const char *before; /* the separator that the next part needs */
};

static void add(struct line *line, const char *separator, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add(struct line *line, const char *separator, const char *format, ...)
{
	char part[160];
	va_list args;
	int columns;

	va_start(args, format);
	vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	columns = (int)tlat_text_columns(tlat_text_clean(part));
	/* Two for the separator before it, one for that after it. */
	if (line->column > INDENT && line->column + 3 + columns > line->width) {
		fprintf(line->out, "%.1s\n%*s", *line->before == ' ' ? "" : line->before, INDENT,
			"");
		line->column = INDENT;
		line->before = "";
	}
	fprintf(line->out, "%s%s", line->before, part);
	line->column += (int)strlen(line->before) + columns;
	line->before = separator;
}

/* Shares of the CPU that waited: its exit from idle is inside the latency. */
static void add_idle(struct line *line, const struct tlat_report *report,
		     const struct tlat_result *result, int32_t cpu)
{
	struct tlat_idle_share idle = { .size = sizeof(idle) };
	const char *driver = tlat_results_fact(report, "machine.idle_driver");
	bool any = false;

	for (size_t i = 0; tlat_result_idle(result, i, &idle) == 0; i++) {
		if (idle.cpu != cpu)
			continue;
		if (isnan(idle.time_share))
			add(line, ", ", "%s\"%s\" %.1f%% of entries", any ? "" : "idle ",
			    idle.state, 100 * idle.share);
		else
			add(line, ", ", "%s\"%s\" %.1f%% of entries and %.1f%% of time",
			    any ? "" : "idle ", idle.state, 100 * idle.share,
			    100 * idle.time_share);
		any = true;
	}
	/* Only states that were entered are told; where there is a driver there are others. */
	if (!any && *driver && strcmp(driver, "none"))
		add(line, "; ", "no idle state was entered");
	else if (!any)
		add(line, "; ", "idle states not known");
	line->before = "; ";
}

/* The counts that a clean run has none of, in words; the others are in the table. */
static const struct {
	const char *name, *words;
} troubles[] = {
	{ "early", "early: before the programmed time or the kick" },
	{ "overflow", "too long for the histogram" },
	{ "missed", "missed: the expiry had passed" },
	{ "unfinished", "unfinished at the end" },
	{ "rejected.not_asleep", "rejected: waiter was not asleep" },
	{ "rejected.timeout", "rejected: no wake-up in time" },
	{ "rejected.coalesced", "rejected: coalesced with another" },
	{ "disturbed.not_asleep", "disturbed: waiter was not asleep" },
	{ "disturbed.preempted", "disturbed: preempted" },
	{ "disturbed.migrated", "disturbed: moved to another CPU" },
	{ "disturbed.late_slot", "disturbed: the slot had passed" },
	{ "disturbed.steal", "disturbed: host took the CPU" },
	{ "disturbed.throttled", "disturbed: cgroup's quota used up" },
};

static void add_counts(struct line *line, const struct tlat_result *result)
{
	const char *name;
	uint64_t count;

	for (size_t i = 0; tlat_result_count(result, i, &name, &count) == 0; i++) {
		if (!strcmp(name, "asked"))
			add(line, ", ", "%" PRIu64 " asked", count);
		for (size_t t = 0; count && t < TLAT_ARRAY_SIZE(troubles); t++)
			if (!strcmp(name, troubles[t].name))
				add(line, ", ", "%" PRIu64 " %s", count, troubles[t].words);
	}
	line->before = "; ";
}

static void add_time(struct line *line, const char *name, double ns)
{
	char text[TLAT_QUANTITY_TEXT];

	if (isfinite(ns))
		add(line, "; ", "%s %s", name, tlat_time_short(ns, 3, text));
}

static void print_missing(const struct tlat_summary *s, FILE *out)
{
	const struct {
		const char *name;
		double ns;
	} figures[] = { { "p50", s->p50_ns }, { "p99", s->p99_ns }, { "p99.9", s->p999_ns } };
	char text[TLAT_QUANTITY_TEXT];
	bool missing = false;

	if (isnan(s->max_ns)) {
		fputs("       no samples\n", out);
		return;
	}
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(figures); i++) {
		if (!isnan(figures[i].ns))
			continue;
		fprintf(out, "%s%s", missing ? ", " : "       too few independent samples for ",
			figures[i].name);
		missing = true;
	}
	if (missing)
		fprintf(out, "; max so far %s\n", tlat_time_short(s->max_ns, 4, text));
}

/* Beside the observed figures, never instead of them. */
static void print_corrected(const struct tlat_summary *s, FILE *out)
{
	const struct {
		const char *name;
		double ns;
	} figures[] = {
		{ "p50", s->corrected_p50_ns },
		{ "p99", s->corrected_p99_ns },
		{ "p99.9", s->corrected_p999_ns },
		{ "max", s->corrected_max_ns },
	};
	struct line line = { out, tlat_text_width(out), INDENT, "" };
	char text[TLAT_QUANTITY_TEXT];

	if (isnan(s->corrected_max_ns))
		return;
	fprintf(out, "%*s", INDENT, "");
	/* What hides behind several values that overflowed is known in part only. */
	if (s->overflow > 1 && s->corrected_added < s->missed)
		add(&line, ": ", "corrected for %" PRIu64 " of %" PRIu64 " hidden expiries",
		    s->corrected_added, s->missed);
	else
		add(&line, ": ", "corrected for %" PRIu64 " hidden expiries", s->corrected_added);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(figures); i++)
		if (isfinite(figures[i].ns))
			add(&line, ", ", "%s %s", figures[i].name,
			    tlat_time_short(figures[i].ns, 4, text));
	fputc('\n', out);
}

static void add_deadline(struct line *line, const struct tlat_summary *s)
{
	char runtime[TLAT_QUANTITY_TEXT], deadline[TLAT_QUANTITY_TEXT], period[TLAT_QUANTITY_TEXT];

	add(line, " ", "runtime %s deadline %s period %s", tlat_time_exact(s->runtime_ns, runtime),
	    tlat_time_exact(s->deadline_ns, deadline), tlat_time_exact(s->period_ns, period));
}

static const char *length_text(double seconds, char *text)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = { { 86400, "days" }, { 3600, "h" }, { 60, "min" }, { 0, "s" } };
	size_t i = 0;

	while (seconds < 2 * units[i].seconds)
		i++;
	snprintf(text, TLAT_QUANTITY_TEXT, "%.3g %s",
		 units[i].seconds > 0 ? seconds / units[i].seconds : seconds, units[i].name);
	return text;
}

/* That nothing larger was seen says something, but not that there is nothing. */
static void print_rare(const struct tlat_result *result, FILE *out)
{
	struct line line = { out, tlat_text_width(out), INDENT, "" };
	struct tlat_rare rare = { .size = sizeof(rare) };
	char text[TLAT_QUANTITY_TEXT];

	if (tlat_result_rare(result, 1e-6, &rare) < 0)
		return;
	fprintf(out, "%*s", INDENT, "");
	add(&line, " ", "above %s:", tlat_time_short(rare.largest_ns, 4, text));
	add(&line, ", ", "P < %.2g (95%%, %.3g independent samples)", rare.share_bound,
	    rare.independent);
	add(&line, "; ", "fewer than %.3g an hour", rare.hourly_bound);
	add(&line, "", "P < 1e-6 takes %.2g samples without one, %s", rare.needed,
	    length_text(rare.needed_ns / 1e9, text));
	fputc('\n', out);
}

static void add_point(struct line *line, const struct tlat_result *result,
		      const struct tlat_summary *s)
{
	char text[TLAT_CPUS_TEXT];

	add(line, " ", "  %s", tlat_results_cpus(result, text));
	if (s->kick_cpu >= 0)
		add(line, " ", "settle %s", tlat_time_exact(s->settle_ns, text));
	if (s->interval_ns > 0)
		add(line, " ", "interval %s", tlat_time_exact(s->interval_ns, text));
	if (s->cpu_latency_ns >= 0)
		add(line, " ", "cpu-latency %s", tlat_time_exact(s->cpu_latency_ns, text));
	if (s->target)
		add(line, " ", "target %s", tlat_target_name(s->target));
	add(line, " ", "slack %s", tlat_time_exact(s->slack_ns, text));
	if (s->policy == TLAT_SCHED_DEADLINE)
		add_deadline(line, s);
	line->before = ": ";
}

/* In one piece, however long, so that it can be copied. */
static void print_repeat(const struct tlat_report *report, const struct tlat_result *result,
			 FILE *out)
{
	const char *repeat = tlat_result_repeat(result);

	/* That of the whole says the same of a single result, and of load and budget. */
	if (!repeat || (tlat_results_count(report) == 1 && tlat_report_repeat(report)))
		return;
	fprintf(out, "%*srepeat: ", INDENT, "");
	tlat_text_put(repeat, out);
	fputc('\n', out);
}

/* Figures that are no distribution. Returns whether they are all that there is. */
static bool print_metrics(const struct tlat_result *result, FILE *out)
{
	struct tlat_metric metric = { .size = sizeof(metric) };
	size_t i;

	for (i = 0; tlat_result_metric(result, i, &metric) == 0; i++) {
		fputs("  ", out);
		tlat_text_put(metric.name, out);
		fprintf(out, " %.6g ", metric.value);
		tlat_text_put(metric.unit, out);
		fputc('\n', out);
	}
	return i && !tlat_result_hist(result);
}

static void print_result(const struct tlat_report *report, const struct tlat_result *result,
			 FILE *out)
{
	struct line line = { out, tlat_text_width(out), 0, "" };
	struct tlat_summary s;

	tlat_results_summary(result, &s);
	if (print_metrics(result, out))
		return;
	if (!s.asked && !s.recorded) {
		fputs("  did not run; see the findings\n", out);
		print_repeat(report, result, out);
		return;
	}
	add_point(&line, result, &s);
	add_idle(&line, report, result, s.wait_cpu);
	add_counts(&line, result);
	add_time(&line, "dwell", s.dwell_p50_ns);
	add_time(&line, "floor of the pair", s.floor_pair_p50_ns);
	add_time(&line, "mean", s.mean_ns);
	fputc('\n', out);
	print_missing(&s, out);
	print_rare(result, out);
	print_corrected(&s, out);
	print_repeat(report, result, out);
}

/* Whether an earlier result is of the same probe, and has thus printed this one too. */
static bool is_printed(const struct tlat_report *report, size_t index, const char *probe)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(tlat_result_probe(tlat_report_result(report, i)), probe))
			return true;
	return false;
}

/* A probe of another version of the library, or of no library at all. */
static void print_unknown(const char *probe, FILE *out)
{
	tlat_text_put(probe, out);
	fputs(":\n", out);
}

static void print_known(const struct tlat_probe_facts *facts, FILE *out)
{
	char text[400];

	snprintf(text, sizeof(text), "%s: %s -> %s", facts->name, facts->from, facts->to);
	tlat_text_wrap("", INDENT, text, out);
}

static void print_probe(const struct tlat_report *report, size_t first, const char *probe,
			FILE *out)
{
	struct tlat_probe_facts facts;
	const struct tlat_result *result;

	if (tlat_select_find(probe, &facts) == 0)
		print_known(&facts, out);
	else
		print_unknown(probe, out);
	for (size_t i = first; (result = tlat_report_result(report, i)); i++)
		if (!strcmp(tlat_result_probe(result), probe))
			print_result(report, result, out);
}

void tlat_results_details(const struct tlat_report *report, FILE *out)
{
	const struct tlat_result *result;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		const char *probe = tlat_result_probe(result);

		if (tlat_metrics_is_latency(result) && !is_printed(report, i, probe))
			print_probe(report, i, probe, out);
	}
	fputc('\n', out);
}
