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

static void print_result(const struct tlat_result *result, int verdict, const char *reasons,
			 FILE *out)
{
	char cpus[TLAT_CPUS_TEXT];

	fprintf(out, "verdict: %s %s %s\n", tlat_verdict_name(verdict), tlat_result_probe(result),
		tlat_results_cpus(result, cpus));
	print_reasons(reasons, out);
}

/* The report keeps the budget and the reason for each term. */
static int record(struct tlat_report *report, const char *budget, struct tlat_error *reterr)
{
	if (!tlat_report_result(report, 0))
		return 0;
	return tlat_report_budget(report, TLAT_REPORT_WHOLE, budget, reterr);
}

int tlat_verdict(struct tlat_report *report, const char *budget, bool complete, FILE *out,
		 struct tlat_error *reterr)
{
	const struct tlat_result *result;
	int whole = complete ? TLAT_PASS : TLAT_INCONCLUSIVE;
	char reasons[REASONS_TEXT];
	int r = record(report, budget, reterr);

	if (r < 0)
		return r;
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		int verdict;

		reasons[0] = '\0';
		verdict = tlat_budget_check(budget, result, reasons, sizeof(reasons), reterr);
		if (verdict < 0)
			return verdict;
		if (out)
			print_result(result, verdict, reasons, out);
		whole = verdict > whole ? verdict : whole;
	}
	tlat_report_verdict(report, TLAT_REPORT_WHOLE, whole);
	if (out)
		fprintf(out, "verdict: %s\n", tlat_verdict_name(whole));
	return whole;
}
