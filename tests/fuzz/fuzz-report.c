// SPDX-License-Identifier: MIT
/* fuzz-report.c - any text is a report or refused; a report that was read can be asked, compared,
 * merged, written and read again. */
#include "fuzz.h"
#include "report.h"

static void ask(const struct tlat_report *report)
{
	const struct tlat_result *result;
	struct tlat_finding finding;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		struct tlat_summary summary = { .size = sizeof(summary) };
		double value, lo, hi;
		char text[300];

		must(tlat_result_probe(result), "a result has a probe");
		must(tlat_result_summary(result, &summary) == 0, "a result has a summary");
		tlat_result_quantile_ns(result, 0.99, &value, &lo, &hi);
		tlat_budget_check("p99<50us,max<1s,n>=10", result, text, sizeof(text), NULL);
		for (size_t k = 0; tlat_result_finding(result, k, &finding) == 0; k++)
			must(finding.id && finding.text, "a finding has an id and a text");
	}
	for (size_t i = 0; tlat_report_finding(report, i, &finding) == 0; i++)
		must(finding.id && finding.text, "a finding has an id and a text");
	must(tlat_report_end(report), "a report says how its run ended");
}

static void write_and_read_again(const struct tlat_report *report)
{
	struct tlat_report *copy;
	char *text, *again;

	must(tlat_report_format(&text, report) == 0, "a report can be written");
	must(tlat_report_read_text(&copy, text, strlen(text), false, "again", NULL) == 0,
	     "what was written can be read");
	must(tlat_report_format(&again, copy) == 0 && !strcmp(text, again), "and says the same");
	tlat_report_free(copy);
	free(again);
	free(text);
}

/* With itself: refused, or no difference. */
static void compare_and_merge(struct tlat_report *report)
{
	const struct tlat_compare_opts opts = TLAT_COMPARE_OPTS(.flags = TLAT_COMPARE_FORCE);
	struct tlat_error error = { 0 };
	struct tlat_comparison *comparison;
	struct tlat_report *sum, *other, *both[] = { report, report };

	if (tlat_compare(&comparison, both, 1, both, 1, &opts, &error) == 0) {
		must(tlat_comparison_verdict(comparison) != TLAT_COMPARE_REGRESSION,
		     "no difference");
		tlat_comparison_free(comparison);
	} else {
		must(*error.text && !strchr(error.text, '\n'), "a refusal is one line");
	}
	must(tlat_report_copy(&other, report) == 0, "a report can be copied");
	other->id[0] = other->id[0] == 'x' ? 'y' : 'x';
	both[1] = other;
	if (tlat_report_merge(&sum, both, 2, &error) == 0)
		tlat_report_free(sum);
	else
		must(*error.text && !strchr(error.text, '\n'), "a refusal is one line");
	tlat_report_free(other);
	if (tlat_report_join(&sum, report, &error) == 0) {
		ask(sum);
		tlat_report_free(sum);
	} else {
		must(*error.text && !strchr(error.text, '\n'), "a refusal is one line");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct tlat_error error = { 0 };
	struct tlat_report *report;

	if (tlat_report_read_text(&report, (const char *)data, n, false, "input", &error) < 0) {
		must(*error.text && !strchr(error.text, '\n'), "a refusal is one line");
		return 0;
	}
	ask(report);
	compare_and_merge(report);
	write_and_read_again(report);
	tlat_report_free(report);
	return 0;
}
