// SPDX-License-Identifier: MIT
/*
 * report_budget.c - a budget that a result was held against, kept with it: the report then says
 * not only that it failed, but which term, and why.
 */
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "report.h"

#define LINE_MAX_BYTES 512 /* the reason for one term */

void tlat_judgement_free(struct tlat_judgement *judgement)
{
	if (!judgement)
		return;
	for (size_t i = 0; i < judgement->n_terms; i++)
		free(judgement->terms[i].text);
	free(judgement->terms);
	free(judgement->expr);
	free(judgement);
}

/* Judge the term alone: its line is the one that it has among others. */
static int add_term(struct tlat_judgement *judgement, const struct tlat_budget_term *term,
		    const struct tlat_result *result, struct tlat_error *reterr)
{
	struct tlat_judged_term *grown = realloc(
		judgement->terms, (judgement->n_terms + 1) * sizeof(struct tlat_judged_term));
	char *alone, line[LINE_MAX_BYTES] = "";
	int verdict;

	if (!grown)
		return -ENOMEM;
	judgement->terms = grown;
	alone = strndup(term->source, term->source_length);
	if (!alone)
		return -ENOMEM;
	verdict = tlat_budget_check(alone, result, line, sizeof(line), reterr);
	free(alone);
	if (verdict < 0)
		return verdict;
	grown[judgement->n_terms].verdict = verdict;
	grown[judgement->n_terms].text = strdup(line);
	if (!grown[judgement->n_terms].text)
		return -ENOMEM;
	judgement->n_terms++;
	if (verdict > judgement->verdict)
		judgement->verdict = verdict;
	return 0;
}

static int judge(struct tlat_judgement *judgement, const char *budget,
		 const struct tlat_result *result, struct tlat_error *reterr)
{
	struct tlat_budget_term term;
	int more, ret;

	judgement->verdict = TLAT_PASS;
	judgement->expr = strdup(budget);
	if (!judgement->expr)
		return -ENOMEM;
	do {
		more = tlat_budget_parse_term(&budget, &term, reterr);
		ret = more < 0 ? more : add_term(judgement, &term, result, reterr);
	} while (!ret && more > 0);
	return ret;
}

static int record(struct tlat_report *report, size_t index, const char *budget,
		  struct tlat_error *reterr)
{
	struct tlat_result *result = report->results[index];
	struct tlat_judgement *judgement = calloc(1, sizeof(*judgement));
	int ret = judgement ? judge(judgement, budget, result, reterr) : -ENOMEM;

	if (ret == -ENOMEM)
		tlat_fail(reterr, ret, "budget \"%.200s\": out of memory", budget);
	if (ret < 0) {
		tlat_judgement_free(judgement);
		return ret;
	}
	tlat_judgement_free(result->judgement);
	result->judgement = judgement;
	tlat_report_set_verdict(report, index, judgement->verdict);
	return judgement->verdict;
}

static int record_all(struct tlat_report *report, const char *budget, struct tlat_error *reterr)
{
	int worst = TLAT_PASS;

	for (size_t i = 0; i < report->n_results; i++) {
		int verdict = record(report, i, budget, reterr);

		if (verdict < 0)
			return verdict;
		worst = verdict > worst ? verdict : worst;
	}
	tlat_report_set_verdict(report, TLAT_REPORT_WHOLE, worst);
	return worst;
}

int tlat_report_judge(struct tlat_report *report, size_t index, const char *budget,
		      struct tlat_error *reterr)
{
	int ret = tlat_budget_check(budget, NULL, NULL, 0, reterr);

	if (ret < 0)
		return ret;
	if (index == TLAT_REPORT_WHOLE && report->n_results)
		return record_all(report, budget, reterr);
	if (index >= report->n_results)
		return tlat_fail(reterr, -ENOENT,
				 "budget \"%.200s\": the report has %zu results, so there is none "
				 "to hold against it at that place",
				 budget, report->n_results);
	return record(report, index, budget, reterr);
}
