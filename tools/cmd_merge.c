// SPDX-License-Identifier: MIT
/* cmd_merge.c - "tlat merge": reports of the same measurement made one, or one for each host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "reports.h"
#include "results.h"
#include "save.h"
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

static void print(const struct tlat_report *sum, const struct merge_config *config,
		  const char *host, size_t n)
{
	if (host) {
		fputs("host ", stdout);
		tlat_text_put(host, stdout);
		fputs(": ", stdout);
	}
	printf("%zu report%s\n", n, n == 1 ? "" : "s");
	tlat_results_print(sum, stdout);
	tlat_findings_print(sum, config->findings, stdout);
}

/* append: a sum is written already. */
static int merge(const struct tlat_reports *all, const struct merge_config *config,
		 const char *host, bool append)
{
	struct tlat_report *sum, **own;
	struct tlat_error error;
	struct tlat_save save;
	size_t n;
	int code = TLAT_EXIT_FINE;

	own = of_host(all, host, &n);
	if (!own)
		return tlat_complain("merge", "out of memory");
	if (tlat_report_merge(&sum, own, n, &error) < 0) {
		free(own);
		return tlat_complain("merge", "%s", error.text);
	}
	free(own);
	tlat_save_init(&save, config->json, append, TLAT_UNSET);
	if (!save.path || tlat_save_is_file(&save))
		print(sum, config, host, n);
	if (tlat_save_check(&save, &error) < 0 || tlat_save_end(&save, sum, &error) < 0)
		code = tlat_complain("merge", "%s", error.text);
	tlat_report_free(sum);
	return code;
}

static bool is_first_of_host(const struct tlat_reports *all, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(host_of(all->v[i]), host_of(all->v[index])))
			return false;
	return true;
}

static int merge_all(const struct tlat_reports *all, const struct merge_config *config)
{
	int code = TLAT_EXIT_FINE;

	if (!config->by)
		return merge(all, config, NULL, false);
	for (size_t i = 0; code == TLAT_EXIT_FINE && i < all->n; i++)
		if (is_first_of_host(all, i))
			code = merge(all, config, host_of(all->v[i]), i > 0);
	return code;
}

int tlat_cmd_merge(int argc, char **argv)
{
	struct merge_config config = { 0 };
	struct tlat_reports all = { 0 };
	struct tlat_error error;
	int code = TLAT_EXIT_FINE, first, r;

	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	if (first == argc)
		return tlat_complain("merge", "no report named; try tlat merge FILE...");
	if (config.by && strcmp(config.by, "host"))
		return tlat_complain("merge", "--by '%s': write host", config.by);
	for (int i = first; code == TLAT_EXIT_FINE && i < argc; i++)
		if (tlat_reports_read(&all, argv[i], &error) < 0)
			code = tlat_complain("merge", "%s", error.text);
	if (code == TLAT_EXIT_FINE)
		code = merge_all(&all, &config);
	tlat_reports_free(&all);
	return code;
}
