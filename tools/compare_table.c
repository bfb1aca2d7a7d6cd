// SPDX-License-Identifier: MIT
/* compare_table.c - a comparison as people read it: first what else differs, then by how much. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_table.h"
#include "quantity.h"
#include "table.h"
#include "text.h"
#include "tool.h"

#define CELL 64

int tlat_compare_exit(int verdict, bool bisect)
{
	int undecided = bisect ? 125 : TLAT_EXIT_INCONCLUSIVE;

	switch (verdict) {
	case TLAT_COMPARE_REGRESSION:
	case TLAT_COMPARE_TAIL_REGRESSION:
		return TLAT_EXIT_BAD;
	case TLAT_COMPARE_IMPROVEMENT:
	case TLAT_COMPARE_EQUIVALENT:
	case TLAT_COMPARE_TRIVIAL:
		return TLAT_EXIT_FINE;
	default:
		return undecided;
	}
}

const char *tlat_compare_value(double value, const char *unit, char *text)
{
	if (!strcmp(unit, "ns"))
		return tlat_time_short(value, 4, text);
	snprintf(text, TLAT_QUANTITY_TEXT, "%.5g%s%.12s", value, *unit ? " " : "", unit);
	return tlat_text_clean(text);
}

static void print_differences(const struct tlat_comparison *c, FILE *out)
{
	struct tlat_difference d;
	size_t i;

	for (i = 0; tlat_comparison_difference(c, i, &d) == 0; i++) {
		char *text, first[120];

		if (!i)
			fputs("what differs between the sides, beside the figures:\n", out);
		snprintf(first, sizeof(first), "  %.60s: ", d.name);
		if (asprintf(&text, "%s -> %s", d.base, d.next) < 0)
			return;
		tlat_text_wrap(first, 6, text, out);
		free(text);
	}
	if (!i)
		fputs("no difference of the surroundings was found between the sides\n", out);
	fputc('\n', out);
}

static void print_findings(const struct tlat_comparison *c, FILE *out)
{
	struct tlat_finding f;

	for (size_t i = 0; tlat_comparison_finding(c, i, &f) == 0; i++) {
		char *text, first[40];

		snprintf(first, sizeof(first), "%-6s", tlat_severity_name(f.severity));
		if (asprintf(&text, "%s: %s%s%s", f.id, f.text, f.remedy ? "; " : "",
			     f.remedy ? f.remedy : "") < 0)
			return;
		tlat_text_wrap(first, 6, text, out);
		free(text);
	}
}

static void change_cell(double ratio, bool rate, char *text)
{
	if (rate)
		snprintf(text, CELL, "x%.3g", ratio);
	else
		snprintf(text, CELL, "%+.2f%%", 100 * (ratio - 1));
}

static void interval_cell(double lo, double hi, bool rate, char *text)
{
	char a[24], b[24];

	if (!(lo > 0) || !isfinite(hi)) {
		strcpy(text, "none yet");
		return;
	}
	snprintf(a, sizeof(a), rate ? "%.3g" : "%+.2f", rate ? lo : 100 * (lo - 1));
	snprintf(b, sizeof(b), rate ? "%.3g" : "%+.2f", rate ? hi : 100 * (hi - 1));
	snprintf(text, CELL, "[%s, %s]", a, b);
}

static void p_cell(double p, char *text)
{
	snprintf(text, CELL, p < 0.0001 ? "%.1e" : "%.4f", p);
}

static void add_main(struct tlat_table *table, const struct tlat_compare_item *item)
{
	char name[CELL * 2], metric[CELL], base[TLAT_QUANTITY_TEXT], next[TLAT_QUANTITY_TEXT];
	char change[CELL], interval[CELL], p[CELL];
	const char *cells[] = { name, metric, base, next, change, interval, p };

	snprintf(name, sizeof(name), "%s", item->name);
	snprintf(metric, sizeof(metric), "%s", item->metric);
	tlat_text_clean(name);
	tlat_text_clean(metric);
	tlat_compare_value(item->base, item->unit, base);
	tlat_compare_value(item->next, item->unit, next);
	change_cell(item->ratio, false, change);
	interval_cell(item->lo, item->hi, false, interval);
	p_cell(item->p, p);
	tlat_table_row(table, cells);
}

static bool is_rate(const struct tlat_compare_figure *f)
{
	return isnan(f->quantile);
}

static void figure_value(const struct tlat_compare_figure *f, double value, char *text)
{
	if (!strcmp(f->unit, "ns"))
		tlat_time_short(value, 4, text);
	else
		snprintf(text, TLAT_QUANTITY_TEXT, "%.3g", value);
}

static void add_figure(struct tlat_table *table, const struct tlat_compare_figure *f)
{
	char base[TLAT_QUANTITY_TEXT], next[TLAT_QUANTITY_TEXT], name[CELL];
	char change[CELL], interval[CELL], p[CELL];
	const char *cells[] = { "", name, base, next, change, interval, p };

	snprintf(name, sizeof(name), "%s%s", f->name,
		 f->worse > 0	? " (worse)"
		 : f->worse < 0 ? " (better)"
				: "");
	figure_value(f, f->base, base);
	figure_value(f, f->next, next);
	change_cell(f->ratio, is_rate(f), change);
	interval_cell(f->lo, f->hi, is_rate(f), interval);
	p_cell(f->p, p);
	tlat_table_row(table, cells);
}

static void print_table(const struct tlat_comparison *c, FILE *out)
{
	char level[CELL] = "";
	const struct tlat_column columns[] = {
		{ "result", false }, { "figure", false }, { "base", true }, { "new", true },
		{ "change", true },  { level, true },	  { "p", true },
	};
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_compare_figure figure = { .size = sizeof(figure) };
	struct tlat_table *table;

	/* one for all: looks are planned for the whole comparison */
	if (tlat_comparison_item(c, 0, &item) == 0)
		snprintf(level, sizeof(level), "%.4g %%", 100 * (1 - item.alpha));
	table = tlat_table_new(columns, TLAT_ARRAY_SIZE(columns));
	for (size_t i = 0; tlat_comparison_item(c, i, &item) == 0; i++) {
		add_main(table, &item);
		for (size_t k = 0; tlat_comparison_figure(c, i, k, &figure) == 0; k++)
			if (figure.role == TLAT_COMPARE_TAIL)
				add_figure(table, &figure);
	}
	tlat_table_print(table, out);
	tlat_table_free(table);
}

static void add_percent(FILE *line, const char *word, double share)
{
	if (isfinite(share))
		fprintf(line, ", %s %.2f %%", word, 100 * share);
}

/* What the item rests on, and where its noise is. */
static void print_item(const struct tlat_compare_item *item, FILE *out)
{
	char *text = NULL, first[160], interval[CELL];
	size_t size;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return;
	fprintf(line, "%" PRIu64 " against %" PRIu64 " %s", item->n_base, item->n_next,
		item->paired ? "in pairs" : "unpaired");
	add_percent(line, item->paired ? "sd of a pair" : "sd of a unit", item->sd);
	if (isinf(item->mde))
		fputs(", so few find no shift, however large", line);
	add_percent(line, "smallest shift found", item->mde);
	if (item->paired) {
		interval_cell(item->sign_lo, item->sign_hi, false, interval);
		fprintf(line, ", by signs %s", interval);
	}
	add_percent(line, "noise between boots", item->noise_boot);
	add_percent(line, "between runs", item->noise_run);
	add_percent(line, "within runs", item->noise_block);
	add_percent(line, "drift over the session", item->drift);
	fclose(line);
	snprintf(first, sizeof(first), "%.100s %.40s: ", item->name, item->metric);
	tlat_text_wrap(tlat_text_clean(first), 6, text, out);
	free(text);
}

void tlat_compare_print(const struct tlat_comparison *c, FILE *out)
{
	struct tlat_compare_item item = { .size = sizeof(item) };

	print_differences(c, out);
	print_table(c, out);
	fputc('\n', out);
	for (size_t i = 0; tlat_comparison_item(c, i, &item) == 0; i++)
		print_item(&item, out);
	print_findings(c, out);
}

void tlat_compare_print_verdict(const struct tlat_comparison *c, FILE *out)
{
	struct tlat_compare_item item = { .size = sizeof(item) };

	for (size_t i = 0; tlat_comparison_item(c, i, &item) == 0; i++) {
		fprintf(out, "verdict: %s ", tlat_compare_verdict_name(item.verdict));
		tlat_text_put(item.name, out);
		fputc(' ', out);
		tlat_text_put(item.metric, out);
		fputc('\n', out);
		tlat_text_wrap(" ", 2, item.reason, out);
	}
	fprintf(out, "verdict: %s\n", tlat_compare_verdict_name(tlat_comparison_verdict(c)));
}
