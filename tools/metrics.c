// SPDX-License-Identifier: MIT
/* metrics.c - which metrics are rows and columns, and how a value of each unit is written. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "quantity.h"
#include "results.h"
#include "table.h"
#include "text.h"
#include "tool.h"

#define NAMES_MAX 256
#define COLUMNS	  12
#define NAME_TEXT 48
#define CELL_TEXT 48

struct names {
	char v[NAMES_MAX][NAME_TEXT];
	size_t n;
};

bool tlat_metrics_is_latency(const struct tlat_result *result)
{
	return !strcmp(tlat_result_kind(result), "latency");
}

static size_t add_name(struct names *names, const char *name, size_t length)
{
	for (size_t i = 0; i < names->n; i++)
		if (strlen(names->v[i]) == length && !strncmp(names->v[i], name, length))
			return i;
	if (names->n == NAMES_MAX)
		return NAMES_MAX;
	snprintf(names->v[names->n], NAME_TEXT, "%.*s", (int)length, name);
	return names->n++;
}

/* Where the column's name begins; NULL: the metric is in no table. */
static const char *column_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : NULL;
}

/* "1.234us", "12.3k", "0.057 +-4%": the value, and the spread between its parts */
static void write_value(const struct tlat_metric *m, char text[CELL_TEXT])
{
	char value[TLAT_QUANTITY_TEXT];

	if (!strcmp(m->unit, "ns"))
		tlat_time_short(m->value, 4, value);
	else if (fabs(m->value) >= 1e6)
		snprintf(value, sizeof(value), "%.4gM", m->value / 1e6);
	else if (fabs(m->value) >= 1e4)
		snprintf(value, sizeof(value), "%.4gk", m->value / 1e3);
	else
		snprintf(value, sizeof(value), "%.4g", m->value);
	if (isfinite(m->sd) && m->value > 0)
		snprintf(text, CELL_TEXT, "%s +-%.0f%%", value, 100 * m->sd / m->value);
	else
		snprintf(text, CELL_TEXT, "%s", value);
}

/* Without what the unit in a cell says already: "delivered_hz" is "delivered". */
static void write_title(const char *column, char text[NAME_TEXT])
{
	static const char *const suffixes[] = { "_hz", "_ns" };
	static const char *const shorter[][2] = {
		{ "delivered_fraction", "fraction" }, { "lateness_p50_ns", "p50 late" },
		{ "lateness_p99_ns", "p99 late" },    { "lateness_max_ns", "max late" },
		{ "conservation_checks", "checks" },
	};
	size_t length;

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(shorter); i++)
		if (!strcmp(column, shorter[i][0]))
			column = shorter[i][1];

	snprintf(text, NAME_TEXT, "%s", column);
	length = strlen(text);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(suffixes); i++)
		if (length > 3 && !strcmp(text + length - 3, suffixes[i]))
			text[length - 3] = '\0';
	for (char *at = text; *at; at++)
		if (*at == '_')
			*at = ' ';
}

/* "create.N1000": one of several sizes. */
static bool is_sized(const char *name)
{
	const char *n = strstr(name, ".N");

	return n && n[2] >= '0' && n[2] <= '9';
}

static void collect(const struct tlat_result *result, bool sized, struct names *rows,
		    struct names *columns)
{
	struct tlat_metric m = { .size = sizeof(m) };

	for (size_t i = 0; tlat_result_metric(result, i, &m) == 0; i++) {
		const char *column = column_of(m.name);

		if (!column || is_sized(m.name) != sized)
			continue;
		add_name(rows, m.name, (size_t)(column - 1 - m.name));
		add_name(columns, column, strlen(column));
	}
}

static void add_row(struct tlat_table *table, const struct tlat_result *result, const char *row,
		    const struct names *columns)
{
	char text[COLUMNS + 1][CELL_TEXT];
	const char *cells[COLUMNS + 1];
	struct tlat_metric m = { .size = sizeof(m) };
	size_t length = strlen(row);

	snprintf(text[0], CELL_TEXT, "%s", row);
	cells[0] = tlat_text_clean(text[0]);
	for (size_t i = 1; i <= COLUMNS; i++)
		cells[i] = strcpy(text[i], "-");
	for (size_t i = 0; tlat_result_metric(result, i, &m) == 0; i++) {
		const char *column = column_of(m.name);

		if (!column || (size_t)(column - 1 - m.name) != length ||
		    strncmp(m.name, row, length))
			continue;
		for (size_t c = 0; c < columns->n && c < COLUMNS; c++)
			if (!strcmp(columns->v[c], column))
				write_value(&m, text[c + 1]);
	}
	tlat_table_row(table, cells);
}

static void print_table(const struct tlat_result *result, const struct names *rows,
			const struct names *columns, FILE *out)
{
	struct tlat_column heads[COLUMNS + 1] = { { "", false } };
	char titles[COLUMNS][NAME_TEXT];
	size_t n = columns->n < COLUMNS ? columns->n : COLUMNS;
	struct tlat_table *table;

	for (size_t i = 0; i < n; i++) {
		write_title(columns->v[i], titles[i]);
		heads[i + 1] = (struct tlat_column){ tlat_text_clean(titles[i]), true };
	}
	table = tlat_table_new(heads, n + 1);
	for (size_t i = 0; i < rows->n; i++)
		add_row(table, result, rows->v[i], columns);
	tlat_table_print(table, out);
	tlat_table_free(table);
}

/* What stands for the whole result. */
static void print_rest(const struct tlat_result *result, FILE *out)
{
	struct tlat_metric m = { .size = sizeof(m) };
	char *line = NULL;
	const char *before = "";
	size_t size;
	FILE *text = open_memstream(&line, &size);

	if (!text)
		return;
	for (size_t i = 0; tlat_result_metric(result, i, &m) == 0; i++) {
		char title[NAME_TEXT], value[CELL_TEXT];

		if (column_of(m.name))
			continue;
		write_title(m.name, title);
		write_value(&m, value);
		fprintf(text, "%s%s %s%s", before, tlat_text_clean(title), value,
			strcmp(m.unit, "Hz") ? "" : "/s");
		before = ", ";
	}
	fclose(text);
	if (*before)
		tlat_text_wrap("  ", 4, line, out);
	free(line);
}

static void print_head(const struct tlat_result *result, FILE *out)
{
	char period[TLAT_QUANTITY_TEXT];
	struct tlat_summary s;

	tlat_results_summary(result, &s);
	tlat_text_put(tlat_result_probe(result), out);
	if (s.wait_cpu >= 0)
		fprintf(out, " on cpu %" PRId32 ", %s", s.wait_cpu, tlat_policy_name(s.policy));
	if (s.interval_ns)
		fprintf(out, ", a period of %s", tlat_time_exact(s.interval_ns, period));
	fputc('\n', out);
}

static void print_tables(const struct tlat_result *result, struct names *rows,
			 struct names *columns, FILE *out)
{
	for (int sized = 1; sized >= 0; sized--) {
		rows->n = columns->n = 0;
		collect(result, sized, rows, columns);
		if (rows->n)
			print_table(result, rows, columns, out);
	}
}

void tlat_metrics_print(const struct tlat_result *result, FILE *out)
{
	struct names *rows, *columns;

	if (tlat_metrics_is_latency(result))
		return;
	rows = calloc(1, sizeof(*rows));
	columns = calloc(1, sizeof(*columns));
	if (rows && columns) {
		print_head(result, out);
		print_tables(result, rows, columns, out);
		print_rest(result, out);
		fputc('\n', out);
	}
	free(rows);
	free(columns);
}
