// SPDX-License-Identifier: MIT
/*
 * compare_reliable.c - which runs are what they say they are, and what their figures leave out. A
 * run that failed has figures too: of what it got to before, or of the cycles that it did not lose.
 */
#include <math.h>
#include <stdio.h>

#include "compare.h"

static const struct tlat_finding *worst_of(const struct tlat_findings *findings)
{
	const struct tlat_finding *why = tlat_findings_distrust(findings);

	for (size_t i = 0; !why && i < findings->n; i++)
		if (findings->v[i].severity >= TLAT_ERROR)
			why = &findings->v[i];
	return why;
}

static const char *why_not(const struct tlat_report *report, const struct tlat_result *result)
{
	const struct tlat_finding *why = worst_of(&report->findings);

	if (!why)
		why = worst_of(&result->findings);
	if (!why && tlat_result_one_way(result))
		why = tlat_findings_get(&result->findings, "clock-offset");
	if (why)
		return why->text;
	if (result->end == TLAT_END_ERROR)
		return "an error ended it";
	return result->end == TLAT_END_RUNNING ? "it was still running when this was written"
					       : NULL;
}

int tlat_compare_reliable(const struct tlat_report *report, const struct tlat_result *result,
			  const char *name, struct tlat_error *reterr)
{
	const char *why = why_not(report, result);

	if (!why)
		return 0;
	return tlat_fail(reterr, -EINVAL,
			 "%s: run %s cannot be relied on: %.200s; measure it again, or leave it "
			 "out, or give --force for figures without a verdict",
			 name, report->id[0] ? report->id : "without an id", why);
}

/* What of a side's cycles there is in no figure. */
struct losses {
	uint64_t n, asked;
	double mean, variance; /* of the runs' shares; of the mean */
};

static uint64_t lost_of(const struct tlat_counts *counts)
{
	return counts->rejected[TLAT_REJECTED_TIMEOUT];
}

static uint64_t missed_of(const struct tlat_counts *counts)
{
	return counts->missed;
}

/* From run to run, but not less than so many independent ones scatter by. */
static double variance_of_mean(const struct losses *losses, double squares, size_t runs)
{
	double asked = (double)losses->asked, least = (double)losses->n / (asked * asked);
	double n = (double)runs;

	return runs > 1 ? fmax(squares / (n - 1) / n, least) : least;
}

static struct losses add_up(const struct tlat_members *m, const struct tlat_result *const *results,
			    int side, uint64_t (*of)(const struct tlat_counts *))
{
	struct losses losses = { 0 };
	double squares = 0;
	size_t runs = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct tlat_counts *counts = &results[i]->counts;
		double share, off;

		if (m->v[i].side != side || !counts->asked)
			continue;
		share = (double)of(counts) / (double)counts->asked;
		off = share - losses.mean;
		losses.mean += off / (double)++runs;
		squares += off * (share - losses.mean);
		losses.n += of(counts);
		losses.asked += counts->asked;
	}
	losses.variance = runs ? variance_of_mean(&losses, squares, runs) : 0;
	return losses;
}

/* By more than three standard errors, and by a factor that would matter. */
static bool are_apart(const struct losses *a, const struct losses *b, double threshold)
{
	double most = fmax(a->mean, b->mean), least = fmin(a->mean, b->mean);

	return most - least > 3 * sqrt(a->variance + b->variance) && most > least * exp(threshold);
}

#define SHARES_TEXT 240

static void write_shares(const struct losses *side, char text[SHARES_TEXT])
{
	const struct losses *a = &side[TLAT_BASE], *b = &side[TLAT_NEXT];

	tlat_format(
		text, SHARES_TEXT,
		"%.3g %% (%llu of %llu) on the base side, %.3g %% (%llu of %llu) on the new one, "
		"and no figure contains them",
		100 * a->mean, (unsigned long long)a->n, (unsigned long long)a->asked,
		100 * b->mean, (unsigned long long)b->n, (unsigned long long)b->asked);
}

/* No machine loses a wake by chance. */
static void note_lost(const struct tlat_members *m, const struct tlat_result *const *results,
		      const char *name, struct tlat_findings *notes)
{
	struct losses side[TLAT_SIDES];
	char shares[SHARES_TEXT];

	for (int i = 0; i < TLAT_SIDES; i++)
		side[i] = add_up(m, results, i, lost_of);
	if (!side[TLAT_BASE].n && !side[TLAT_NEXT].n)
		return;
	write_shares(side, shares);
	tlat_findings_add(notes, TLAT_WARN, "wakes-lost", NULL,
			  "%s: waits that did not end within their bound: %s", name, shares);
}

static void note_missed(const struct tlat_item *item, const struct tlat_members *m,
			const struct tlat_result *const *results, struct tlat_findings *notes)
{
	struct losses side[TLAT_SIDES];
	char shares[SHARES_TEXT];

	for (int i = 0; i < TLAT_SIDES; i++)
		side[i] = add_up(m, results, i, missed_of);
	if (!are_apart(&side[TLAT_BASE], &side[TLAT_NEXT], item->rules.tail_threshold))
		return;
	write_shares(side, shares);
	tlat_findings_add(notes, TLAT_WARN, "missed-differ",
			  "see the corrected figures of the runs: tlat show",
			  "%s: expiries that passed while an earlier one was late: %s", item->name,
			  shares);
}

static void note_ends(const struct tlat_members *m, const struct tlat_result *const *results,
		      const char *name, struct tlat_findings *notes)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += results[i]->end == TLAT_END_SIGNAL || results[i]->end == TLAT_END_BREAK;
	if (n)
		tlat_findings_add(notes, TLAT_WARN, "ended-early",
				  "measure again without --break, and to the end",
				  "%s: a signal, or a value above the limit of --break, ended %zu "
				  "of %zu runs: they are compared as far as they got",
				  name, n, m->n);
}

void tlat_compare_losses(const struct tlat_item *item, const struct tlat_members *m,
			 const struct tlat_result *const *results, struct tlat_findings *notes)
{
	note_lost(m, results, item->name, notes);
	note_missed(item, m, results, notes);
	note_ends(m, results, item->name, notes);
}
