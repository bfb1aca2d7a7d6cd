// SPDX-License-Identifier: MIT
/* cmd_merge.c - "tlat merge": reports of the same measurement made one, or one for each host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "reports.h"
#include "results.h"
#include "save.h"
#include "save_text.h"
#include "text.h"
#include "tool.h"

struct merge_config {
	const char *json, *by;
	bool findings;
};

#define FIELD(name) offsetof(struct merge_config, name)

static const struct tlat_option options[] = {
	{ "by", "WHAT", "host: a report for each host", &tlat_option_text, FIELD(by), 0, 0, 0,
	  false },
	{ "json", "FILE", "write the sum; -: to stdout, nothing else there", &tlat_option_text,
	  FIELD(json), 0, 0, 0, false },
	{ "findings", NULL, "print every finding in full", &tlat_option_flag, FIELD(findings), 0, 0,
	  0, false },
};

static const struct tlat_command command = {
	.name = "merge",
	.operands = "FILE...",
	.summary =
		"Add up reports of the same measurement, sample for sample; files or directories.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
	.max_operands = -1,
};

/* A report that was added up, and of what. */
struct sum {
	struct tlat_report *report;
	const char *host; /* NULL: of all hosts */
	size_t n;
};

struct sums {
	struct sum *v;
	size_t n;
};

/* The name of a host, which lives as long as the report. */
static const char *host_of(const struct tlat_report *report)
{
	const char *host = tlat_results_fact(report, "machine.hostname");

	return *host ? host : "(no name)";
}

/* Those of one host, in the order in which they came; the reports stay whose they are. */
static struct tlat_report **of_host(const struct tlat_reports *all, const char *host, size_t *ret_n)
{
	struct tlat_report **own = calloc(all->n + 1, sizeof(struct tlat_report *));

	*ret_n = 0;
	for (size_t i = 0; own && i < all->n; i++)
		if (!host || !strcmp(host_of(all->v[i]), host))
			own[(*ret_n)++] = all->v[i];
	return own;
}

static void print(const struct sum *sum, const struct merge_config *config)
{
	if (sum->host) {
		fputs("host ", stdout);
		tlat_text_put(sum->host, stdout);
		fputs(": ", stdout);
	}
	printf("%zu report%s\n", sum->n, sum->n == 1 ? "" : "s");
	tlat_results_print(sum->report, stdout);
	tlat_findings_print(sum->report, config->findings, stdout);
}

/* host: NULL: all of them */
static int add_up(const struct tlat_reports *all, const char *host, struct sum *ret_sum,
		  struct tlat_error *reterr)
{
	struct tlat_report **own = of_host(all, host, &ret_sum->n);
	int r;

	if (!own)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory");
	ret_sum->host = host;
	r = tlat_report_merge(&ret_sum->report, own, ret_sum->n, reterr);
	free(own);
	return r;
}

static bool is_first_of_host(const struct tlat_reports *all, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(host_of(all->v[i]), host_of(all->v[index])))
			return false;
	return true;
}

static int add_up_all(const struct tlat_reports *all, bool by_host, struct sums *sums,
		      struct tlat_error *reterr)
{
	int r = 0;

	sums->v = calloc(all->n + 1, sizeof(*sums->v));
	if (!sums->v)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory");
	for (size_t i = 0; !r && i < (by_host ? all->n : 1); i++) {
		if (!is_first_of_host(all, i))
			continue;
		r = add_up(all, by_host ? host_of(all->v[i]) : NULL, &sums->v[sums->n], reterr);
		sums->n += !r;
	}
	return r;
}

/* Append a report and what parts it from the one before. */
static int put(FILE *out, const char *apart, const struct tlat_report *report)
{
	char *line;
	int r = tlat_report_format(&line, report);

	if (r < 0)
		return r;
	r = fprintf(out, "%s%s", apart, line) < 0 ? -ENOMEM : 0;
	free(line);
	return r;
}

/* A line for each sum, to be freed. 0, -EOPNOTSUPP in a build without JSON, or -ENOMEM. */
static int format(char **ret_text, const struct sums *sums)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r = out ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < sums->n; i++)
		r = put(out, i ? "\n" : "", sums->v[i].report);
	if (out && fclose(out) == EOF)
		r = -ENOMEM;
	if (!r)
		*ret_text = text;
	else
		free(text);
	return r;
}

static int save_sums(const char *path, const struct sums *sums, struct tlat_error *reterr)
{
	char *text = NULL;
	int r = format(&text, sums);

	return tlat_save_formatted(path, r, text, reterr);
}

/* One replacement for all sums: the file holds those from before or those of now. */
static int conclude(const struct sums *sums, const struct merge_config *config,
		    const struct tlat_save *save)
{
	struct tlat_error error;

	for (size_t i = 0; (!save->path || tlat_save_is_file(save)) && i < sums->n; i++)
		print(&sums->v[i], config);
	if (save->path && save_sums(save->path, sums, &error) < 0)
		return tlat_complain("merge", "%s", error.text);
	return TLAT_EXIT_FINE;
}

static int merge(const struct merge_config *config, char *const *paths, int n)
{
	struct tlat_reports all = { 0 };
	struct sums sums = { 0 };
	struct tlat_error error;
	struct tlat_save save;
	int code, r;

	tlat_save_init(&save, config->json, false, TLAT_UNSET);
	r = tlat_save_check(&save, &error);
	for (int i = 0; !r && i < n; i++)
		r = tlat_reports_read(&all, paths[i], &error);
	if (!r)
		r = add_up_all(&all, config->by, &sums, &error);
	code = r < 0 ? tlat_complain("merge", "%s", error.text) : conclude(&sums, config, &save);
	for (size_t i = 0; i < sums.n; i++)
		tlat_report_free(sums.v[i].report);
	free(sums.v);
	tlat_reports_free(&all);
	return code;
}

int tlat_cmd_merge(int argc, char **argv)
{
	struct merge_config config = { 0 };
	int first, r;

	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	if (first == argc)
		return tlat_complain("merge", "no report named; try tlat merge FILE...");
	if (config.by && strcmp(config.by, "host"))
		return tlat_complain("merge", "--by '%s': write host", config.by);
	return merge(&config, argv + first, argc - first);
}
