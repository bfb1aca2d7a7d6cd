// SPDX-License-Identifier: MIT
/* findings.c - conditions and findings of a report, each said once. */
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "results.h"
#include "text.h"
#include "tool.h"

#define INDENT	      6
#define INFOS_IN_FULL 3

/* What changes a latency first; the rest is in the JSON and in "tlat check". */
static const struct {
	const char *fact, *label;
	bool is_ns;
} headline[] = {
	{ "machine.kernel", "kernel", false },
	{ "machine.cpu_model", "on", false },
	{ "machine.online", "cpus", false },
	{ "machine.isolated", "isolated", false },
	{ "machine.governor", "governor", false },
	{ "machine.hypervisor", "hypervisor", false },
	{ "clock.source", "clock", false },
	{ "clock.quantum_ns", "in steps of", true },
	{ "clock.gap.max_ns", "longest gap of the CPU", true },
};

const char *tlat_results_fact(const struct tlat_report *report, const char *name)
{
	struct tlat_fact fact;

	for (size_t i = 0; tlat_report_fact(report, i, &fact) == 0; i++)
		if (!strcmp(fact.name, name))
			return fact.value;
	return "";
}

void tlat_results_machine(const struct tlat_report *report, FILE *out)
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);
	const char *before = "";

	if (!line)
		return;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(headline); i++) {
		const char *value = tlat_results_fact(report, headline[i].fact);
		char time[TLAT_QUANTITY_TEXT];

		if (!*value)
			continue;
		if (headline[i].is_ns)
			value = tlat_time_short(strtod(value, NULL), 3, time);
		fprintf(line, "%s%s %s", before, headline[i].label, value);
		before = ", ";
	}
	fclose(line);
	if (*before) {
		tlat_text_wrap("", 2, text, out);
		fputc('\n', out);
	}
	free(text);
}

static bool is_same(const struct tlat_finding *a, const struct tlat_finding *b)
{
	return !strcmp(a->id, b->id) && !strcmp(a->text, b->text);
}

static bool report_has(const struct tlat_report *report, const struct tlat_finding *finding)
{
	struct tlat_finding other;

	for (size_t i = 0; tlat_report_finding(report, i, &other) == 0; i++)
		if (is_same(&other, finding))
			return true;
	return false;
}

static bool result_has(const struct tlat_result *result, const struct tlat_finding *finding)
{
	struct tlat_finding other;

	for (size_t i = 0; tlat_result_finding(result, i, &other) == 0; i++)
		if (is_same(&other, finding))
			return true;
	return false;
}

static bool earlier_result_has(const struct tlat_report *report, size_t index,
			       const struct tlat_finding *finding)
{
	for (size_t i = 0; i < index; i++)
		if (result_has(tlat_report_result(report, i), finding))
			return true;
	return false;
}

/* "wake-futex, wake-eventfd" unless it holds for all results. */
static void print_probes(const struct tlat_report *report, const struct tlat_finding *finding,
			 FILE *out)
{
	const struct tlat_result *result;
	const char *last = "", *before = " (";
	size_t n = 0, with = 0;

	for (; (result = tlat_report_result(report, n)); n++)
		with += result_has(result, finding);
	for (size_t i = 0; with < n && i < n; i++) {
		result = tlat_report_result(report, i);
		if (!result_has(result, finding) || !strcmp(last, tlat_result_probe(result)))
			continue;
		last = tlat_result_probe(result);
		fprintf(out, "%s%s", before, last);
		before = ", ";
	}
	if (*before == ',')
		fputc(')', out);
}

static void print_finding(const struct tlat_report *report, const struct tlat_finding *finding,
			  FILE *out)
{
	const char *severity = tlat_severity_name(finding->severity);
	char first[16], *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return;
	fputs(finding->id, line);
	if (!report_has(report, finding))
		print_probes(report, finding, line);
	fprintf(line, ": %s", finding->text);
	fclose(line);
	snprintf(first, sizeof(first), "%-5s ", severity ? severity : "?");
	tlat_text_wrap(first, INDENT, text, out);
	free(text);
	if (finding->remedy)
		tlat_text_wrap("      remedy: ", INDENT, finding->remedy, out);
}

/* Findings of the report, then those of its results, each once. Returns false after the last. */
struct walk {
	const struct tlat_report *report;
	size_t result; /* 0: of the report itself, else of result number result - 1 */
	size_t index;
};

static int finding_at(const struct walk *walk, struct tlat_finding *finding)
{
	const struct tlat_result *result;

	if (!walk->result)
		return tlat_report_finding(walk->report, walk->index, finding);
	result = tlat_report_result(walk->report, walk->result - 1);
	return result ? tlat_result_finding(result, walk->index, finding) : -1;
}

static bool is_repeated(const struct walk *walk, const struct tlat_finding *finding)
{
	return walk->result && (report_has(walk->report, finding) ||
				earlier_result_has(walk->report, walk->result - 1, finding));
}

static bool next_finding(struct walk *walk, struct tlat_finding *finding)
{
	for (;;) {
		if (finding_at(walk, finding) == 0) {
			bool repeated = is_repeated(walk, finding);

			walk->index++;
			if (!repeated)
				return true;
		} else if (tlat_report_result(walk->report, walk->result)) {
			walk->result++;
			walk->index = 0;
		} else {
			return false;
		}
	}
}

static size_t count_severity(const struct tlat_report *report, int severity)
{
	struct walk walk = { .report = report };
	struct tlat_finding finding;
	size_t n = 0;

	while (next_finding(&walk, &finding))
		n += finding.severity == severity;
	return n;
}

static void print_severity(const struct tlat_report *report, int severity, FILE *out)
{
	struct walk walk = { .report = report };
	struct tlat_finding finding;

	while (next_finding(&walk, &finding))
		if (finding.severity == severity)
			print_finding(report, &finding, out);
}

/* One line for all that is merely worth knowing. */
static void print_info_ids(const struct tlat_report *report, size_t n, FILE *out)
{
	struct walk walk = { .report = report };
	struct tlat_finding finding;
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return;
	fprintf(line, "%zu notes:", n);
	for (const char *before = "", *last = ""; next_finding(&walk, &finding);) {
		if (finding.severity != TLAT_INFO || !strcmp(finding.id, last))
			continue;
		fprintf(line, "%s %s", before, finding.id);
		before = ",";
		last = finding.id;
	}
	fputs("; --findings prints them in full", line);
	fclose(line);
	tlat_text_wrap("info  ", INDENT, text, out);
	free(text);
}

void tlat_findings_print(const struct tlat_report *report, bool all, FILE *out)
{
	size_t infos = count_severity(report, TLAT_INFO);

	print_severity(report, TLAT_ERROR, out);
	print_severity(report, TLAT_WARN, out);
	if (all || infos <= INFOS_IN_FULL)
		print_severity(report, TLAT_INFO, out);
	else
		print_info_ids(report, infos, out);
}

void tlat_findings_say(const struct tlat_report *report, const char *id, FILE *out)
{
	struct walk walk = { .report = report };
	struct tlat_finding finding;

	while (next_finding(&walk, &finding)) {
		char first[32];

		if (strcmp(finding.id, id))
			continue;
		snprintf(first, sizeof(first), "%s: ", id);
		tlat_text_wrap(first, INDENT, finding.text, out);
	}
}

int tlat_findings_worst(const struct tlat_report *report)
{
	struct walk walk = { .report = report };
	struct tlat_finding finding;
	int worst = 0;

	while (next_finding(&walk, &finding))
		worst = finding.severity > worst ? finding.severity : worst;
	return worst;
}
