// SPDX-License-Identifier: MIT
/* conclude.c - what subcommands do with the report of what they measured. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conclude.h"
#include "results.h"
#include "stop.h"
#include "text.h"
#include "tool.h"

static void print_lines(const char *text, FILE *out)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		if (line)
			tlat_text_wrap("", 2, line, out);
		free(line);
		text += length + (text[length] == '\n');
	}
}

static void print(const struct tlat_conclusion *c, const struct tlat_report *report, FILE *out)
{
	tlat_results_machine(report, out);
	tlat_results_print(report, out);
	print_lines(c->summary, out);
	tlat_findings_print(report, c->findings, out);
	if (!strcmp(tlat_report_end(report), "signal")) /* not one that came too late */
		fputs("ended by a signal; this is what had been measured\n", out);
	tlat_results_repeat(report, out);
}

int tlat_conclude_measured(const char *command, bool strict, const struct tlat_report *report)
{
	if (strict && tlat_findings_worst(report) >= TLAT_WARN)
		return tlat_complain(command,
				     "--strict: the measurement is degraded; see findings");
	if (!tlat_results_measured(report) && !tlat_stop_requested())
		return tlat_complain(command, "nothing could be measured; see the findings");
	if (!strcmp(tlat_report_end(report), "error"))
		return tlat_complain(command, "a measurement broke off; see the findings");
	return TLAT_EXIT_FINE;
}

/* Each once: a sweep has results of all of them at each of its points. */
static void put_cpus(const struct tlat_report *report, FILE *out)
{
	const struct tlat_result *result;
	struct tlat_summary summary;
	int32_t first = -1;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		tlat_results_summary(result, &summary);
		if (i && summary.wait_cpu == first)
			return;
		first = i ? first : summary.wait_cpu;
		fprintf(out, "%s%" PRId32, i ? "," : " -c ", summary.wait_cpu);
	}
}

char *tlat_conclude_repeat(const struct tlat_command *command, const void *config,
			   const struct tlat_report *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "tlat %s", command->name);
	put_cpus(report, out);
	tlat_options_repeat(command, config, out);
	fclose(out);
	return text;
}

int tlat_conclude(const struct tlat_conclusion *c, struct tlat_report *report)
{
	struct tlat_error error;

	tlat_stop_finish();
	tlat_report_set_origin(report, c->argc, c->argv, c->repeat);
	if (!c->save->path || tlat_save_is_file(c->save))
		print(c, report, stdout);
	if (tlat_save_end(c->save, report, &error) < 0)
		return tlat_complain(c->command, "%s", error.text);
	return tlat_conclude_measured(c->command, c->strict, report);
}
