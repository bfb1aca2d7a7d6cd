// SPDX-License-Identifier: MIT
/* results.c - the table of results: which columns, and what each cell says. */
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "quantity.h"
#include "results.h"
#include "results_details.h"
#include "table.h"
#include "text.h"
#include "tool.h"

#define CELL_TEXT   TLAT_CPUS_TEXT
#define COLUMNS_MAX 16

/* A figure has 4 digits so that a shift of a clock quantum shows in a microsecond. */
#define FIGURE_DIGITS 4
#define COST_DIGITS   3

struct row {
	const struct tlat_result *result;
	struct tlat_summary summary;
	bool degraded; /* the policy is not the one asked for */
};

struct column {
	struct tlat_column head;
	void (*cell)(const struct row *row, char *text);
};

void tlat_results_summary(const struct tlat_result *result, struct tlat_summary *summary)
{
	*summary = (struct tlat_summary){
		.size = sizeof(*summary),
		.corrected_p50_ns = NAN,
		.corrected_p99_ns = NAN,
		.corrected_p999_ns = NAN,
		.corrected_max_ns = NAN,
		.back_p50_ns = NAN,
	};
	tlat_result_summary(result, summary);
}

static bool is_empty(const struct tlat_summary *s)
{
	return s->asked == 0 && s->recorded == 0;
}

/* One that keeps a grid, or would: what waits for nothing has no interval. */
static bool is_timer(const struct tlat_summary *s)
{
	return !is_empty(s) && s->kick_cpu < 0 && s->interval_ns > 0;
}

const char *tlat_results_cpus(const struct tlat_result *result, char *text)
{
	struct tlat_summary s;

	tlat_results_summary(result, &s);
	if (is_empty(&s))
		strcpy(text, "-");
	else if (s.kick_cpu < 0 && s.wait_cpu < 0)
		strcpy(text, "several");
	else if (s.kick_cpu < 0)
		snprintf(text, TLAT_CPUS_TEXT, "%" PRId32, s.wait_cpu);
	else if (s.round_trip)
		snprintf(text, TLAT_CPUS_TEXT, "%" PRId32 "->%" PRId32 "->%" PRId32, s.kick_cpu,
			 s.wait_cpu, s.kick_cpu);
	else
		snprintf(text, TLAT_CPUS_TEXT, "%" PRId32 "->%" PRId32, s.kick_cpu, s.wait_cpu);
	return text;
}

static void probe_cell(const struct row *row, char *text)
{
	snprintf(text, CELL_TEXT, "%s", tlat_result_probe(row->result));
	tlat_text_clean(text);
}

static void cpus_cell(const struct row *row, char *text)
{
	tlat_results_cpus(row->result, text);
}

static void policy_cell(const struct row *row, char *text)
{
	const struct tlat_summary *s = &row->summary;
	const char *name = tlat_policy_name(s->policy);

	if (is_empty(s) || !name)
		strcpy(text, "-");
	else if (s->priority)
		snprintf(text, CELL_TEXT, "%s:%" PRId32 "%s", name, s->priority,
			 row->degraded ? "*" : "");
	else
		snprintf(text, CELL_TEXT, "%s%s", name, row->degraded ? "*" : "");
}

static void settle_cell(const struct row *row, char *text)
{
	tlat_time_exact(row->summary.settle_ns, text);
}

static void cpu_latency_cell(const struct row *row, char *text)
{
	if (row->summary.cpu_latency_ns < 0)
		strcpy(text, "default");
	else
		tlat_time_exact(row->summary.cpu_latency_ns, text);
}

static void samples_cell(const struct row *row, char *text)
{
	const struct tlat_summary *s = &row->summary;

	snprintf(text, CELL_TEXT, "%" PRIu64, s->early + s->recorded + s->overflow);
}

static void missed_cell(const struct row *row, char *text)
{
	if (is_timer(&row->summary))
		snprintf(text, CELL_TEXT, "%" PRIu64, row->summary.missed);
	else
		strcpy(text, "-");
}

static void slack_cell(const struct row *row, char *text)
{
	if (is_timer(&row->summary))
		tlat_time_exact(row->summary.slack_ns, text);
	else
		strcpy(text, "-");
}

#define FIGURE_CELL(name, field, digits)                                                           \
	static void name(const struct row *row, char *text)                                        \
	{                                                                                          \
		tlat_time_short(is_empty(&row->summary) ? (double)NAN : row->summary.field,        \
				digits, text);                                                     \
	}

FIGURE_CELL(min_cell, min_ns, FIGURE_DIGITS)
FIGURE_CELL(p50_cell, p50_ns, FIGURE_DIGITS)
FIGURE_CELL(p99_cell, p99_ns, FIGURE_DIGITS)
FIGURE_CELL(p999_cell, p999_ns, FIGURE_DIGITS)
FIGURE_CELL(max_cell, max_ns, FIGURE_DIGITS)
FIGURE_CELL(call_cell, call_p50_ns, COST_DIGITS)
FIGURE_CELL(back_cell, back_p50_ns, COST_DIGITS)
FIGURE_CELL(floor_cell, floor_p50_ns, COST_DIGITS)

/* A figure whose uncertainty is not known must not look like one that has none. */
static void u_cell(const struct row *row, char *text)
{
	const struct tlat_summary *s = &row->summary;

	if (!is_empty(s) && isfinite(s->p50_ns) && isnan(s->u_ns))
		strcpy(text, "?");
	else
		tlat_time_short(is_empty(s) ? (double)NAN : s->u_ns, COST_DIGITS, text);
}

static const struct column settle_column = { { "settle", true }, settle_cell };
static const struct column back_column = { { "back", true }, back_cell };
static const struct column cpu_latency_column = { { "cpu-lat", true }, cpu_latency_cell };

static const struct column first_columns[] = {
	{ { "probe", false }, probe_cell },
	{ { "cpus", false }, cpus_cell },
	{ { "policy", false }, policy_cell },
};

static const struct column figure_columns[] = {
	{ { "samples", true }, samples_cell }, { { "min", true }, min_cell },
	{ { "p50", true }, p50_cell },	       { { "+-p50", true }, u_cell },
	{ { "p99", true }, p99_cell },	       { { "p99.9", true }, p999_cell },
	{ { "max", true }, max_cell },
};

static const struct column timer_columns[] = {
	{ { "missed", true }, missed_cell },
	{ { "slack", true }, slack_cell },
};

static const struct column call_column = { { "call", true }, call_cell };
static const struct column floor_column = { { "floor", true }, floor_cell };

struct layout {
	struct column columns[COLUMNS_MAX];
	size_t n;
	const char *dropped[COLUMNS_MAX]; /* names of columns that the terminal is too narrow for */
	size_t n_dropped;
};

/* What a sweep varied is a column of its own; what is the same in all that have it is not. */
static bool varies(const struct tlat_report *report,
		   bool (*has)(const struct tlat_summary *, int64_t *ret_value))
{
	const struct tlat_result *result;
	struct tlat_summary s;
	int64_t value, before = 0;
	bool seen = false;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		tlat_results_summary(result, &s);
		if (!has(&s, &value))
			continue;
		if (seen && value != before)
			return true;
		before = value;
		seen = true;
	}
	return false;
}

static bool has_settle(const struct tlat_summary *s, int64_t *ret_value)
{
	*ret_value = s->settle_ns;
	return !is_empty(s) && s->kick_cpu >= 0;
}

static bool has_cpu_latency(const struct tlat_summary *s, int64_t *ret_value)
{
	*ret_value = s->cpu_latency_ns;
	return !is_empty(s);
}

static bool any(const struct tlat_report *report, bool (*is)(const struct tlat_summary *))
{
	const struct tlat_result *result;
	struct tlat_summary s;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		tlat_results_summary(result, &s);
		if (is(&s))
			return true;
	}
	return false;
}

static bool returns(const struct tlat_summary *s)
{
	return isfinite(s->back_p50_ns);
}

static bool is_no_timer(const struct tlat_summary *s)
{
	return !is_empty(s) && !is_timer(s);
}

static void add_columns(struct layout *layout, const struct column *columns, size_t n)
{
	memcpy(layout->columns + layout->n, columns, n * sizeof(*columns));
	layout->n += n;
}

static const char *uncertainty_title(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") ? "+-p50" : "\xc2\xb1p50";
}

static void choose_columns(struct layout *layout, const struct tlat_report *report)
{
	layout->n = layout->n_dropped = 0;
	add_columns(layout, first_columns, TLAT_ARRAY_SIZE(first_columns));
	if (varies(report, has_settle))
		add_columns(layout, &settle_column, 1);
	if (varies(report, has_cpu_latency))
		add_columns(layout, &cpu_latency_column, 1);
	add_columns(layout, figure_columns, TLAT_ARRAY_SIZE(figure_columns));
	/* Nobody calls a timer; beside others its own columns would leave no room for theirs. */
	if (any(report, is_timer) && !any(report, is_no_timer))
		add_columns(layout, timer_columns, TLAT_ARRAY_SIZE(timer_columns));
	else
		add_columns(layout, &call_column, 1);
	add_columns(layout, &floor_column, 1);
	if (any(report, returns))
		add_columns(layout, &back_column, 1);
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i].cell == u_cell)
			layout->columns[i].head.title = uncertainty_title();
}

static bool has_refusal(const struct tlat_result *result)
{
	struct tlat_finding finding;

	for (size_t i = 0; tlat_result_finding(result, i, &finding) == 0; i++)
		if (!strcmp(finding.id, "policy-refused"))
			return true;
	return false;
}

static struct row make_row(const struct tlat_result *result)
{
	struct row row = { .result = result };

	tlat_results_summary(result, &row.summary);
	row.degraded = !is_empty(&row.summary) && has_refusal(result);
	return row;
}

static size_t column_width(const struct column *column, const struct tlat_report *report)
{
	size_t width = tlat_text_columns(column->head.title);
	const struct tlat_result *result;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		struct row row = make_row(result);
		char text[CELL_TEXT];

		if (!tlat_metrics_is_latency(result))
			continue;
		column->cell(&row, text);
		if (tlat_text_columns(text) > width)
			width = tlat_text_columns(text);
	}
	return width;
}

static size_t table_width(const struct layout *layout, const struct tlat_report *report)
{
	size_t width = 0;

	for (size_t i = 0; i < layout->n; i++)
		width += column_width(&layout->columns[i], report) + (i > 0);
	return width;
}

/* Returns whether there was one. */
static bool drop(struct layout *layout, void (*cell)(const struct row *row, char *text))
{
	size_t i = 0;

	while (i < layout->n && layout->columns[i].cell != cell)
		i++;
	if (i == layout->n)
		return false;
	layout->n--;
	memmove(&layout->columns[i], &layout->columns[i + 1],
		(layout->n - i) * sizeof(layout->columns[0]));
	return true;
}

/*
 * What is least missed goes first; min, p50, its uncertainty, p99 and max stay however narrow, and
 * so does the policy, whose mark qualifies them all.
 */
static void fit(struct layout *layout, const struct tlat_report *report, size_t width)
{
	static const struct {
		void (*cell)(const struct row *row, char *text);
		const char *name;
	} spare[] = {
		{ floor_cell, "floor" },   { call_cell, "call" },	{ back_cell, "back" },
		{ p999_cell, "p99.9" },	   { samples_cell, "samples" }, { slack_cell, "slack" },
		{ missed_cell, "missed" },
	};

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(spare); i++) {
		if (table_width(layout, report) <= width)
			return;
		if (drop(layout, spare[i].cell))
			layout->dropped[layout->n_dropped++] = spare[i].name;
	}
}

static bool has_column(const struct layout *layout, void (*cell)(const struct row *row, char *text))
{
	for (size_t i = 0; i < layout->n; i++)
		if (layout->columns[i].cell == cell)
			return true;
	return false;
}

static void print_legend(const struct layout *layout, bool marked, FILE *out)
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return;
	fprintf(line, "cpus a->b: waker -> waiter; %s: expanded uncertainty of p50, k=2",
		uncertainty_title());
	if (has_column(layout, missed_cell))
		fputs("; missed: expiries that passed while an earlier one was late", line);
	if (has_column(layout, slack_cell))
		fputs("; slack: timer slack of the thread", line);
	if (has_column(layout, call_cell))
		fputs("; call: cost of the waking call, median", line);
	if (has_column(layout, back_cell))
		fputs("; back: from a handler's first act to the code it interrupted, median",
		      line);
	if (has_column(layout, floor_cell))
		fputs("; floor: null probe, median", line);
	for (size_t i = 0; i < layout->n_dropped; i++)
		fprintf(line, "%s %s", i ? "," : "; too narrow for", layout->dropped[i]);
	fclose(line);
	tlat_text_wrap("", 2, text, out);
	free(text);
	if (marked)
		fputs("* not the policy that was asked for\n", out);
	fputc('\n', out);
}

static void add_row(struct tlat_table *table, const struct layout *layout, const struct row *row)
{
	char text[COLUMNS_MAX][CELL_TEXT];
	const char *cells[COLUMNS_MAX];

	for (size_t i = 0; i < layout->n; i++) {
		layout->columns[i].cell(row, text[i]);
		cells[i] = text[i];
	}
	tlat_table_row(table, cells);
}

/* Returns whether a row is marked. */
static bool add_rows(struct tlat_table *table, const struct layout *layout,
		     const struct tlat_report *report)
{
	const struct tlat_result *result;
	bool marked = false;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		struct row row = make_row(result);

		if (!tlat_metrics_is_latency(result))
			continue;
		marked |= row.degraded;
		add_row(table, layout, &row);
	}
	return marked;
}

static void print_latencies(const struct tlat_report *report, FILE *out)
{
	struct tlat_column heads[COLUMNS_MAX];
	struct tlat_table *table;
	struct layout layout;
	bool marked;

	choose_columns(&layout, report);
	fit(&layout, report, (size_t)tlat_text_width(out));
	for (size_t i = 0; i < layout.n; i++)
		heads[i] = layout.columns[i].head;
	table = tlat_table_new(heads, layout.n);
	marked = add_rows(table, &layout, report);
	tlat_table_print(table, out);
	tlat_table_free(table);
	print_legend(&layout, marked, out);
	tlat_results_details(report, out);
}

void tlat_results_print(const struct tlat_report *report, FILE *out)
{
	const struct tlat_result *result;
	bool latencies = false;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++)
		latencies |= tlat_metrics_is_latency(result);
	if (latencies)
		print_latencies(report, out);
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++)
		tlat_metrics_print(result, out);
}

size_t tlat_results_count(const struct tlat_report *report)
{
	size_t n = 0;

	while (tlat_report_result(report, n))
		n++;
	return n;
}

/* In one piece, however long, so that it can be copied. */
static void print_command(const char *command, FILE *out)
{
	fputs("repeat: ", out);
	tlat_text_put(command, out);
	fputc('\n', out);
}

void tlat_results_repeat(const struct tlat_report *report, FILE *out)
{
	const char *repeat = tlat_report_repeat(report);

	if (repeat)
		print_command(repeat, out);
}
