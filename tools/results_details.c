// SPDX-License-Identifier: MIT
/* results_details.c - what a figure began and ended with, and the conditions of each result. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "quantity.h"
#include "results.h"
#include "results_details.h"
#include "select.h"
#include "tool.h"

/* Shares of the CPU that waited: its exit from idle is inside the latency. */
static void print_idle(const struct tlat_result *result, int32_t cpu, FILE *out)
{
	struct tlat_idle_share idle = { .size = sizeof(idle) };
	const char *before = "idle ";

	for (size_t i = 0; tlat_result_idle(result, i, &idle) == 0; i++) {
		if (idle.cpu == cpu) {
			fprintf(out, "%s%s %.1f%%", before, idle.state, 100 * idle.share);
			before = ", ";
		}
	}
	fputs(*before == ',' ? "; " : "idle states not known; ", out);
}

/* The counts that a clean run has none of; the others are in the table. */
static bool is_trouble(const char *name)
{
	static const char *const usual[] = { "asked", "recorded", "warmup", "rests" };

	for (size_t i = 0; i < TLAT_ARRAY_LENGTH(usual); i++)
		if (!strcmp(name, usual[i]))
			return false;
	return true;
}

static void print_counts(const struct tlat_result *result, FILE *out)
{
	const char *name;
	uint64_t count;

	for (size_t i = 0; tlat_result_count(result, i, &name, &count) == 0; i++) {
		if (!strcmp(name, "asked"))
			fprintf(out, "asked %" PRIu64, count);
		else if (count && is_trouble(name))
			fprintf(out, ", %s %" PRIu64, name, count);
	}
}

static void print_time(const char *name, double ns, FILE *out)
{
	char text[TLAT_QUANTITY_TEXT];

	if (isfinite(ns))
		fprintf(out, "; %s %s", name, tlat_time_short(ns, 3, text));
}

static void print_missing(const struct tlat_summary *s, FILE *out)
{
	const struct {
		const char *name;
		double ns;
	} figures[] = { { "p50", s->p50_ns }, { "p99", s->p99_ns }, { "p99.9", s->p999_ns } };
	char text[TLAT_QUANTITY_TEXT];
	bool missing = false;

	for (size_t i = 0; i < TLAT_ARRAY_LENGTH(figures); i++) {
		if (!isnan(figures[i].ns))
			continue;
		fprintf(out, "%s%s", missing ? ", " : "       too few samples for ", figures[i].name);
		missing = true;
	}
	if (missing)
		fprintf(out, "; max so far %s\n", tlat_time_short(s->max_ns, 4, text));
}

static void print_point(const struct tlat_summary *s, FILE *out)
{
	char text[TLAT_QUANTITY_TEXT];

	if (s->kick_cpu >= 0)
		fprintf(out, " settle %s", tlat_time_exact(s->settle_ns, text));
	if (s->interval_ns > 0)
		fprintf(out, " interval %s", tlat_time_exact(s->interval_ns, text));
	if (s->cpu_latency_ns >= 0)
		fprintf(out, " cpu-latency %s", tlat_time_exact(s->cpu_latency_ns, text));
}

static void print_result(const struct tlat_result *result, FILE *out)
{
	struct tlat_summary s;
	char cpus[TLAT_CPUS_TEXT];

	tlat_results_summary(result, &s);
	if (!s.asked && !s.recorded) {
		fputs("  did not run; see the findings\n", out);
		return;
	}
	fprintf(out, "  %s", tlat_results_cpus(&s, cpus));
	print_point(&s, out);
	fputs(": ", out);
	print_idle(result, s.wait_cpu, out);
	print_counts(result, out);
	print_time("dwell", s.dwell_p50_ns, out);
	print_time("floor of the pair", s.floor_pair_p50_ns, out);
	print_time("mean", s.mean_ns, out);
	fputc('\n', out);
	print_missing(&s, out);
}

/* Whether an earlier result is of the same probe, and has thus printed this one too. */
static bool is_printed(const struct tlat_report *report, size_t index, const char *probe)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(tlat_result_probe(tlat_report_result(report, i)), probe))
			return true;
	return false;
}

static void print_probe(const struct tlat_report *report, size_t first, const char *probe,
			FILE *out)
{
	struct tlat_probe_facts facts;
	const struct tlat_result *result;

	if (tlat_select_find(probe, &facts) == 0)
		fprintf(out, "%s: %s -> %s\n", probe, facts.from, facts.to);
	else
		fprintf(out, "%s:\n", probe);
	for (size_t i = first; (result = tlat_report_result(report, i)); i++)
		if (!strcmp(tlat_result_probe(result), probe))
			print_result(result, out);
}

void tlat_results_details(const struct tlat_report *report, FILE *out)
{
	const struct tlat_result *result;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		const char *probe = tlat_result_probe(result);

		if (!is_printed(report, i, probe))
			print_probe(report, i, probe, out);
	}
	fputc('\n', out);
}
