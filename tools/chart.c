// SPDX-License-Identifier: MIT
/* chart.c - bars and binned counts; a bin of the histogram goes whole to where its middle lies. */
#include <inttypes.h>
#include <math.h>

#include "chart.h"
#include "quantity.h"
#include "tool.h"

#define BARS_WANTED 16
#define BARS_MAX    48
#define BAR_WIDTH   50

static double to_ns(const struct tlat_hist *hist, double units)
{
	return units * 1e9 / (double)tlat_hist_hz(hist);
}

static double middle_ns(const struct tlat_hist *hist, const struct tlat_bin *bin)
{
	return to_ns(hist, (double)bin->low + (double)(bin->high - bin->low) / 2);
}

/* 1, 2 or 5 times a power of ten, at least 1 ns. */
static double nice_width_ns(double width_ns)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double power = width_ns > 1 ? pow(10, floor(log10(width_ns))) : 1;

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(steps); i++)
		if (steps[i] * power >= width_ns)
			return steps[i] * power;
	return 10 * power;
}

struct chart {
	double low_ns, width_ns;
	int n;
	uint64_t below, above, bars[BARS_MAX];
};

static void plan(struct chart *chart, const struct tlat_hist *hist)
{
	double low_ns = to_ns(hist, tlat_hist_quantile(hist, 0.005));
	double high_ns = to_ns(hist, tlat_hist_quantile(hist, 0.975));

	*chart = (struct chart){ .width_ns = nice_width_ns((high_ns - low_ns) / BARS_WANTED) };
	chart->low_ns = floor(low_ns / chart->width_ns) * chart->width_ns;
	chart->n = (int)((high_ns - chart->low_ns) / chart->width_ns) + 1;
	chart->n = chart->n < BARS_MAX ? chart->n : BARS_MAX;
}

static void fill(struct chart *chart, const struct tlat_hist *hist)
{
	struct tlat_bin bin;
	size_t cursor = 0;

	chart->above = tlat_hist_overflow(hist);
	while (tlat_hist_next(hist, &cursor, &bin)) {
		double at = (middle_ns(hist, &bin) - chart->low_ns) / chart->width_ns;

		if (at < 0)
			chart->below += bin.count;
		else if (at >= chart->n)
			chart->above += bin.count;
		else
			chart->bars[(int)at] += bin.count;
	}
}

static void print_bar(const struct chart *chart, int i, uint64_t most, FILE *out)
{
	static const char bar[] = "##################################################";
	char from[TLAT_QUANTITY_TEXT];
	int length = most ? (int)((double)chart->bars[i] * BAR_WIDTH / (double)most + 0.5) : 0;

	/* What is there must be seen. */
	if (chart->bars[i] && !length)
		length = 1;
	fprintf(out, "%10s %10" PRIu64 " %.*s\n",
		tlat_time_short(chart->low_ns + i * chart->width_ns, 4, from), chart->bars[i],
		length, bar);
}

void tlat_chart_print(const struct tlat_hist *hist, FILE *out)
{
	char edge[TLAT_QUANTITY_TEXT];
	uint64_t most = 0;
	struct chart chart;

	if (!hist || !tlat_hist_count(hist))
		return;
	plan(&chart, hist);
	fill(&chart, hist);
	for (int i = 0; i < chart.n; i++)
		most = chart.bars[i] > most ? chart.bars[i] : most;
	if (chart.below)
		fprintf(out, "%10s %10" PRIu64 "\n", "below", chart.below);
	for (int i = 0; i < chart.n; i++)
		print_bar(&chart, i, most, out);
	if (chart.above)
		fprintf(out, "%10s %10" PRIu64 " up to %s\n", "above", chart.above,
			tlat_time_short(to_ns(hist, (double)tlat_hist_max(hist)), 4, edge));
}

static void print_counts(int64_t from_ns, int64_t width_ns, uint64_t count, FILE *out)
{
	char range[2 * TLAT_QUANTITY_TEXT];

	snprintf(range, sizeof(range), "%" PRId64 "-%" PRId64, from_ns, from_ns + width_ns - 1);
	fprintf(out, "%20s ns %12" PRIu64 "\n", range, count);
}

static void print_edge(const char *word, int64_t ns, uint64_t count, FILE *out)
{
	char range[2 * TLAT_QUANTITY_TEXT];

	snprintf(range, sizeof(range), "%s %" PRId64, word, ns);
	fprintf(out, "%20s ns %12" PRIu64 "\n", range, count);
}

/* Bins of the report in ascending order, folded from the finer ones of the histogram. */
struct fold {
	int64_t width_ns, index;
	uint64_t count;
	bool any;
};

static void fold_flush(struct fold *fold, int64_t next, FILE *out)
{
	if (fold->any)
		print_counts(fold->index * fold->width_ns, fold->width_ns, fold->count, out);
	else
		print_edge("below", next * fold->width_ns, 0, out);
	/* A gap is one line however wide it is. */
	if (fold->any && next > fold->index + 1)
		fprintf(out, "%20s\n", "...");
}

void tlat_bins_print(const struct tlat_hist *hist, int64_t width_ns, FILE *out)
{
	struct fold fold = { .width_ns = width_ns };
	struct tlat_bin bin;
	size_t cursor = 0;

	if (!hist || !tlat_hist_count(hist))
		return;
	while (tlat_hist_next(hist, &cursor, &bin)) {
		int64_t index = (int64_t)floor(middle_ns(hist, &bin) / (double)width_ns);

		if (!fold.any || index != fold.index) {
			fold_flush(&fold, index, out);
			fold = (struct fold){ width_ns, index, 0, true };
		}
		fold.count += bin.count;
	}
	if (fold.any)
		print_counts(fold.index * width_ns, width_ns, fold.count, out);
	print_edge("above", (fold.index + 1) * width_ns - 1, tlat_hist_overflow(hist), out);
}
