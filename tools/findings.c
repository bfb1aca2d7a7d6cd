// SPDX-License-Identifier: MIT
/* findings.c - conditions and findings of a report, each said once. */
#include <string.h>

#include "results.h"
#include "tool.h"

/* What changes a latency first; the rest is in the JSON and in "tlat check". */
static const struct {
	const char *fact, *label;
} headline[] = {
	{ "machine.kernel", "kernel" },	    { "machine.cpu_model", "on" },
	{ "machine.online", "cpus" },	    { "machine.isolated", "isolated" },
	{ "machine.governor", "governor" }, { "machine.hypervisor", "hypervisor" },
	{ "clock.source", "clock" },
};

static const char *find_fact(const struct tlat_report *report, const char *name)
{
	struct tlat_fact fact;

	for (size_t i = 0; tlat_report_fact(report, i, &fact) == 0; i++)
		if (!strcmp(fact.name, name))
			return fact.value;
	return "";
}

void tlat_results_machine(const struct tlat_report *report, FILE *out)
{
	const char *before = "";

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(headline); i++) {
		const char *value = find_fact(report, headline[i].fact);

		if (!*value)
			continue;
		fprintf(out, "%s%s %s", before, headline[i].label, value);
		before = ", ";
	}
	if (*before)
		fputs("\n\n", out);
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

	fprintf(out, "%-5s %s", severity ? severity : "?", finding->id);
	if (!report_has(report, finding))
		print_probes(report, finding, out);
	fprintf(out, ": %s\n", finding->text);
	if (finding->remedy)
		fprintf(out, "      remedy: %s\n", finding->remedy);
}

void tlat_findings_print(const struct tlat_report *report, FILE *out)
{
	const struct tlat_result *result;
	struct tlat_finding finding;

	for (size_t i = 0; tlat_report_finding(report, i, &finding) == 0; i++)
		print_finding(report, &finding, out);
	for (size_t r = 0; (result = tlat_report_result(report, r)); r++)
		for (size_t i = 0; tlat_result_finding(result, i, &finding) == 0; i++)
			if (!report_has(report, &finding) &&
			    !earlier_result_has(report, r, &finding))
				print_finding(report, &finding, out);
}

int tlat_findings_worst(const struct tlat_report *report)
{
	const struct tlat_result *result;
	struct tlat_finding finding;
	int worst = 0;

	for (size_t i = 0; tlat_report_finding(report, i, &finding) == 0; i++)
		worst = finding.severity > worst ? finding.severity : worst;
	for (size_t r = 0; (result = tlat_report_result(report, r)); r++)
		for (size_t i = 0; tlat_result_finding(result, i, &finding) == 0; i++)
			worst = finding.severity > worst ? finding.severity : worst;
	return worst;
}
