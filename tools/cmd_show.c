// SPDX-License-Identifier: MIT
/* cmd_show.c - "tlat show": a report that was written, as people read it. */
#include <inttypes.h>
#include <string.h>

#include "chart.h"
#include "options.h"
#include "reports.h"
#include "results.h"
#include "save.h"
#include "text.h"
#include "tool.h"

struct show_config {
	const char *json;
	int64_t bins_ns, index;
	bool findings;
};

#define FIELD(name) offsetof(struct show_config, name)

static const struct tlat_option options[] = {
	{ "bins", "WIDTH", "counts in bins of that width, such as 100ns", &tlat_option_time,
	  FIELD(bins_ns), 1, 0, 0, false },
	{ "index", "K", "the report number K of a file with several lines", &tlat_option_count,
	  FIELD(index), 1, 0, 0, false },
	{ "findings", NULL, "print every finding in full", &tlat_option_flag, FIELD(findings), 0, 0,
	  0, false },
	{ "json", "FILE", "write it again; -: to stdout, nothing else there", &tlat_option_text,
	  FIELD(json), 0, 0, 0, false },
};

static const struct tlat_command command = {
	.name = "show",
	.operands = "FILE",
	.summary = "Print a report again, with a chart of each distribution; -: from stdin.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
	.max_operands = 1,
};

static void print_distribution(const struct tlat_result *result, const struct show_config *config)
{
	const struct tlat_hist *hist = tlat_result_hist(result);
	char cpus[TLAT_CPUS_TEXT];

	if (!hist)
		return;
	tlat_text_put(tlat_result_probe(result), stdout);
	printf(" %s\n", tlat_results_cpus(result, cpus));
	if (config->bins_ns == TLAT_UNSET)
		tlat_chart_print(hist, stdout);
	else
		tlat_bins_print(hist, config->bins_ns, stdout);
	putchar('\n');
}

static void print_report(const struct tlat_report *report, const struct show_config *config)
{
	const char *end = tlat_report_end(report);
	const struct tlat_result *result;

	tlat_results_machine(report, stdout);
	tlat_results_print(report, stdout);
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++)
		print_distribution(result, config);
	tlat_findings_print(report, config->findings, stdout);
	if (end && !strcmp(end, "running")) {
		fputs("not at its end: the run was still running when this was written\n", stdout);
	} else if (end && strcmp(end, "count") && strcmp(end, "time")) {
		fputs("ended by: ", stdout);
		tlat_text_put(end, stdout);
		putchar('\n');
	}
	tlat_results_repeat(report, stdout);
}

static int show(const struct tlat_report *report, const struct show_config *config)
{
	struct tlat_error error;
	struct tlat_save save;

	tlat_save_init(&save, config->json, false, TLAT_UNSET);
	if (tlat_save_check(&save, &error) < 0)
		return tlat_complain("show", "%s", error.text);
	if (!save.path || tlat_save_is_file(&save))
		print_report(report, config);
	if (tlat_save_end(&save, report, &error) < 0)
		return tlat_complain("show", "%s", error.text);
	return TLAT_EXIT_FINE;
}

/* Standard output may be the JSON's. */
static void note_others(const struct show_config *config, int64_t n)
{
	FILE *out = config->json && !strcmp(config->json, "-") ? stderr : stdout;

	fprintf(out, "first of %" PRId64 " reports; --index K shows another\n", n);
}

int tlat_cmd_show(int argc, char **argv)
{
	struct show_config config = { .bins_ns = TLAT_UNSET, .index = TLAT_UNSET };
	struct tlat_report *report;
	struct tlat_error error;
	int64_t n;
	int code, first, r;

	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	if (first == argc)
		return tlat_complain("show", "no report named; try tlat show FILE, or - for stdin");
	if (tlat_reports_read_one(&report, argv[first],
				  config.index == TLAT_UNSET ? 1 : config.index, &n, &error) < 0)
		return tlat_complain("show", "%s", error.text);
	if (n > 1 && config.index == TLAT_UNSET)
		note_others(&config, n);
	code = show(report, &config);
	tlat_report_free(report);
	return code;
}
