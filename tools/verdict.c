// SPDX-License-Identifier: MIT
/* verdict.c - from verdicts on results to one on the whole. */
#include <string.h>

#include "results.h"
#include "verdict.h"

#define REASONS_TEXT 4096

static void print_reasons(const char *reasons, FILE *out)
{
	while (*reasons) {
		size_t length = strcspn(reasons, "\n");

		fprintf(out, "  %.*s\n", (int)length, reasons);
		reasons += length + (reasons[length] == '\n');
	}
}

static void print_result(const struct tlat_result *result, const char *budget, FILE *out)
{
	char cpus[TLAT_CPUS_TEXT], reasons[REASONS_TEXT] = "";
	int verdict = tlat_budget_check(budget, result, reasons, sizeof(reasons), NULL);

	if (verdict < 0) /* no memory; the recorded verdict stands */
		verdict = TLAT_INCONCLUSIVE;
	fprintf(out, "verdict: %s %s %s\n", tlat_verdict_name(verdict), tlat_result_probe(result),
		tlat_results_cpus(result, cpus));
	print_reasons(reasons, out);
}

/* The report keeps the budget and the reason for each term. */
static int record(struct tlat_report *report, const char *budget, struct tlat_error *reterr)
{
	if (!tlat_report_result(report, 0))
		return 0;
	return tlat_report_judge(report, TLAT_REPORT_WHOLE, budget, reterr);
}

int tlat_verdict(struct tlat_report *report, const char *budget, bool complete, FILE *out,
		 struct tlat_error *reterr)
{
	const struct tlat_result *result;
	int whole = record(report, budget, reterr);

	if (whole < 0)
		return whole;
	for (size_t i = 0; out && (result = tlat_report_result(report, i)); i++)
		print_result(result, budget, out);
	if (whole == TLAT_PASS && !complete)
		whole = TLAT_INCONCLUSIVE;
	tlat_report_set_verdict(report, TLAT_REPORT_WHOLE, whole);
	if (out)
		fprintf(out, "verdict: %s\n", tlat_verdict_name(whole));
	return whole;
}
