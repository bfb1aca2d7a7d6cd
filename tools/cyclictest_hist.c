// SPDX-License-Identifier: MIT
/*
 * cyclictest_hist.c - the histogram in text: one blank after the row's number, single tabs between
 * columns, a column of sums under -H where there are several threads.
 */
#include <inttypes.h>

#include "cyclictest_text.h"

static bool has_sums(const struct tlat_cyc_stats *stats)
{
	return stats->config->histofall && stats->n > 1;
}

static void put_row(const struct tlat_cyc_stats *stats, int64_t row, FILE *out)
{
	uint64_t sum = 0;

	for (int32_t i = 0; i < stats->n; i++)
		sum += stats->threads[i].rows[row];
	if (!sum && tlat_cyc_omits_empty(stats->config))
		return;
	fprintf(out, "%06" PRId64 " ", row);
	for (int32_t i = 0; i < stats->n; i++)
		fprintf(out, "%s%06" PRIu64, i ? "\t" : "", stats->threads[i].rows[row]);
	if (has_sums(stats))
		fprintf(out, "\t%06" PRIu64, sum);
	fputc('\n', out);
}

/* What lies within the rows. */
static uint64_t total_of(const struct tlat_cyc_thread *thread)
{
	return thread->cycles - thread->over;
}

static void put_totals(const struct tlat_cyc_stats *stats, FILE *out)
{
	uint64_t sum = 0;

	fputs("# Total:", out);
	for (int32_t i = 0; i < stats->n; i++) {
		fprintf(out, " %09" PRIu64, total_of(&stats->threads[i]));
		sum += total_of(&stats->threads[i]);
	}
	if (has_sums(stats))
		fprintf(out, " %09" PRIu64, sum);
	fputc('\n', out);
}

static int64_t average_of(const struct tlat_cyc_thread *thread)
{
	return (int64_t)tlat_cyc_average(thread);
}

static int64_t min_of(const struct tlat_cyc_thread *thread)
{
	return thread->min;
}

static int64_t max_of(const struct tlat_cyc_thread *thread)
{
	return thread->max;
}

/* Returns the largest. */
static int64_t put_figures(const struct tlat_cyc_stats *stats, const char *name,
			   int64_t (*figure)(const struct tlat_cyc_thread *thread), FILE *out)
{
	int64_t largest = INT64_MIN;

	fprintf(out, "# %s Latencies:", name);
	for (int32_t i = 0; i < stats->n; i++) {
		int64_t value = figure(&stats->threads[i]);

		fprintf(out, " %05" PRId64, value);
		largest = value > largest ? value : largest;
	}
	return largest;
}

static void put_overflows(const struct tlat_cyc_stats *stats, FILE *out)
{
	uint64_t sum = 0;

	fputs("# Histogram Overflows:", out);
	for (int32_t i = 0; i < stats->n; i++) {
		fprintf(out, " %05" PRIu64, stats->threads[i].over);
		sum += stats->threads[i].over;
	}
	if (has_sums(stats))
		fprintf(out, " %05" PRIu64, sum);
	fputc('\n', out);
}

static void put_overflow_cycles(const struct tlat_cyc_stats *stats, FILE *out)
{
	uint64_t rows = (uint64_t)stats->config->rows;

	fputs("# Histogram Overflow at cycle number:\n", out);
	for (int32_t i = 0; i < stats->n; i++) {
		const struct tlat_cyc_thread *t = &stats->threads[i];

		fprintf(out, "# Thread %" PRId32 ":", i);
		for (uint64_t k = 0; k < t->over && k < rows; k++)
			fprintf(out, " %05" PRIu64, t->over_at[k]);
		if (t->over > rows)
			fprintf(out, " # %05" PRIu64 " others", t->over - rows);
		fputc('\n', out);
	}
}

static void put_smis(const struct tlat_cyc_stats *stats, const int64_t *smis, FILE *out)
{
	fputs("# SMIs:", out);
	for (int32_t i = 0; i < stats->n; i++)
		fprintf(out, " %05" PRId64, smis[i]);
	fputc('\n', out);
}

void tlat_cyc_put_histogram(const struct tlat_cyc_stats *stats, const int64_t *smis, FILE *out)
{
	int64_t largest;

	fputs("# Histogram\n", out);
	for (int64_t row = 0; row < stats->config->rows; row++)
		put_row(stats, row, out);
	if (!tlat_cyc_omits_empty(stats->config))
		put_totals(stats, out);
	put_figures(stats, "Min", min_of, out);
	fputc('\n', out);
	put_figures(stats, "Avg", average_of, out);
	fputc('\n', out);
	largest = put_figures(stats, "Max", max_of, out);
	if (has_sums(stats))
		fprintf(out, " %05" PRId64, largest);
	fputc('\n', out);
	put_overflows(stats, out);
	put_overflow_cycles(stats, out);
	if (smis)
		put_smis(stats, smis, out);
	fputc('\n', out);
}
