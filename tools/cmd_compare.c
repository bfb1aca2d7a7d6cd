// SPDX-License-Identifier: MIT
/* cmd_compare.c - "tlat compare": reports of two sides in, a verdict and an exit code out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare_table.h"
#include "options.h"
#include "reports.h"
#include "results.h"
#include "save_text.h"
#include "text.h"
#include "tool.h"

struct compare_config {
	const char *json, *metric;
	double alpha, threshold, tail_ratio;
	bool force, lkp, benchstat, shift, bisect;
};

#define FIELD(name) offsetof(struct compare_config, name)

static const struct tlat_option options[] = {
	{ "threshold", "SHARE", "smallest shift of the median that matters (0.5%)",
	  &tlat_option_ratio, FIELD(threshold), 0, 0, 0, false },
	{ "tail-ratio", "RATIO", "smallest ratio of tail rates that matters (1.25)",
	  &tlat_option_ratio, FIELD(tail_ratio), 0, 0, 0, false },
	{ "alpha", "SHARE", "false alarms allowed, median and tail each (1%)", &tlat_option_ratio,
	  FIELD(alpha), 0, 0, 0, false },
	{ "metric", "NAME", "this entry of \"metrics\" in the reports only", &tlat_option_text,
	  FIELD(metric), 0, 0, 0, false },
	{ "force", NULL, "figures without a verdict for what is not comparable", &tlat_option_flag,
	  FIELD(force), 0, 0, 0, false },
	{ "shift", NULL, "the ratio along the distribution, for every result", &tlat_option_flag,
	  FIELD(shift), 0, 0, 0, false },
	{ "lkp", NULL, "a table as the kernel's test robot writes it", &tlat_option_flag,
	  FIELD(lkp), 0, 0, 0, false },
	{ "benchstat", NULL, "a table as Go's benchstat writes it", &tlat_option_flag,
	  FIELD(benchstat), 0, 0, 0, false },
	{ "json", "FILE", "write the comparison; -: to stdout, alone", &tlat_option_text,
	  FIELD(json), 0, 0, 0, false },
	{ "bisect", NULL, "for git bisect run: not decided exits with 125", &tlat_option_flag,
	  FIELD(bisect), 0, 0, 0, false },
};

static const struct tlat_command command = {
	.name = "compare",
	.operands = "BASE NEW",
	.summary =
		"Is NEW slower? Each is a file of reports, one or more, or a directory of them;\n"
		"a single file that tlat ab has written holds both sides.",
	.notes = "Exit: 0 no (IMPROVEMENT, EQUIVALENT, TRIVIAL), 1 yes (REGRESSION,\n"
		 "TAIL-REGRESSION), 2 refused, 77 not decided (INCONCLUSIVE, INDICATIVE).",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
	.max_operands = 2,
};

/* A file of tlat ab: each report says which side it is. */
static int split(struct tlat_reports *sides, const char *path, struct tlat_error *reterr)
{
	struct tlat_reports all = { 0 };
	int r = tlat_reports_read(&all, path, reterr);

	for (size_t i = 0; i < all.n; i++) {
		struct tlat_design design = { .size = sizeof(design) };
		struct tlat_report *report = all.v[i];

		all.v[i] = NULL;
		if (!r && tlat_report_design(report, &design) < 0)
			r = tlat_tool_fail(reterr, -EINVAL,
					   "%.200s: report %zu belongs to neither side; name two "
					   "files, or one that tlat ab has written",
					   path, i + 1);
		if (r)
			tlat_report_free(report);
		else if (tlat_reports_add(&sides[design.side == 'B'], report) < 0)
			r = tlat_tool_fail(reterr, -ENOMEM, "out of memory for reports");
	}
	free(all.v);
	return r;
}

static int read_sides(struct tlat_reports *sides, char *const *paths, int n,
		      struct tlat_error *reterr)
{
	int r;

	if (n == 1)
		return split(sides, paths[0], reterr);
	r = tlat_reports_read(&sides[0], paths[0], reterr);
	return r < 0 ? r : tlat_reports_read(&sides[1], paths[1], reterr);
}

static void print_side(const char *word, const char *path, const struct tlat_reports *side)
{
	const char *repeat = tlat_report_repeat(side->v[0]);

	printf("%s: ", word);
	tlat_text_put(path, stdout);
	printf(", %zu run%s, ", side->n, side->n == 1 ? "" : "s");
	tlat_text_put(tlat_results_fact(side->v[0], "machine.hostname"), stdout);
	putchar(' ');
	tlat_text_put(tlat_results_fact(side->v[0], "machine.kernel"), stdout);
	if (repeat) {
		fputs("\n      ", stdout);
		tlat_text_put(repeat, stdout);
	}
	putchar('\n');
}

static void print_shifts(const struct tlat_comparison *c, bool all)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	bool one = tlat_comparison_item(c, 1, &item) < 0;

	for (size_t i = 0; tlat_comparison_item(c, i, &item) == 0; i++) {
		if (!all && (!one || item.n_base < 3 || item.n_next < 3))
			continue;
		if (!one) {
			putchar('\n');
			tlat_text_put(item.name, stdout);
		}
		tlat_shift_plot(c, i, stdout);
	}
}

static void print(const struct tlat_comparison *c, const struct compare_config *config,
		  const struct tlat_reports *sides, char *const *paths, int n)
{
	if (config->lkp || config->benchstat) {
		if (config->lkp)
			tlat_compare_print_lkp(c, stdout);
		if (config->benchstat)
			tlat_compare_print_benchstat(c, stdout);
	} else {
		print_side("base", paths[0], &sides[0]);
		print_side("new ", paths[n - 1], &sides[1]);
		tlat_compare_print(c, stdout);
		print_shifts(c, config->shift);
	}
	putchar('\n');
	tlat_compare_print_verdict(c, stdout);
}

static int conclude(const struct tlat_comparison *c, const struct compare_config *config,
		    const struct tlat_reports *sides, char *const *paths, int n)
{
	struct tlat_error error;

	if (!config->json || strcmp(config->json, "-"))
		print(c, config, sides, paths, n);
	if (config->json && tlat_save_comparison(config->json, c, &error) < 0)
		return tlat_complain("compare", "%s", error.text);
	return tlat_compare_exit(tlat_comparison_verdict(c), config->bisect);
}

static int compare(const struct compare_config *config, struct tlat_reports *sides,
		   char *const *paths, int n)
{
	const struct tlat_compare_opts opts =
		TLAT_COMPARE_OPTS(.metric = config->metric, .alpha = config->alpha,
				  .threshold = config->threshold, .tail_ratio = config->tail_ratio,
				  .flags = config->force ? TLAT_COMPARE_FORCE : 0);
	struct tlat_comparison *c;
	struct tlat_error error;
	int code;

	if (read_sides(sides, paths, n, &error) < 0 ||
	    tlat_compare(&c, sides[0].v, sides[0].n, sides[1].v, sides[1].n, &opts, &error) < 0)
		return tlat_complain("compare", "%s", error.text);
	code = conclude(c, config, sides, paths, n);
	tlat_comparison_free(c);
	return code;
}

int tlat_cmd_compare(int argc, char **argv)
{
	struct tlat_reports sides[2] = { 0 };
	struct compare_config config = { 0 };
	int code, first, r;

	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	if (first == argc)
		return tlat_complain("compare", "nothing named; try tlat compare BASE NEW");
	code = compare(&config, sides, argv + first, argc - first);
	tlat_reports_free(&sides[0]);
	tlat_reports_free(&sides[1]);
	return code;
}
