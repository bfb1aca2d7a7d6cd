// SPDX-License-Identifier: MIT
/* cmd_check.c - "tlat check": what this machine is, what it lacks, and whether we measure right. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "privileges.h"
#include "results.h"
#include "rights.h"
#include "save.h"
#include "selftest.h"
#include "stop.h"
#include "text.h"
#include "tool.h"

struct check_config {
	const char *json;
	int64_t trials;
	bool self_test, strict;
};

#define FIELD(name) offsetof(struct check_config, name)

static const struct tlat_option options[] = {
	{ "json", "FILE", "write the audit; -: to stdout, nothing else there", &tlat_option_text,
	  FIELD(json), 0, 0, 0, false },
	{ "self-test", NULL, "inject known delays, see whether they come back", &tlat_option_flag,
	  FIELD(self_test), 0, 0, 0, true },
	{ "trials", "N", "self-test: trials per delay (20; fewer: no verdict)", &tlat_option_count,
	  FIELD(trials), 1, 100000, 0, true },
	{ "strict", NULL, "exit 2 when there is a warning or an error", &tlat_option_flag,
	  FIELD(strict), 0, 0, 0, true },
};

static const struct tlat_command command = {
	.name = "check",
	.operands = "",
	.summary = "Audit machine, isolation and privileges: what is missing, what to type.",
	.notes = "The self-test takes about 10 s; its result is kept in ~/.cache/timerlat for\n"
		 "this boot, and reports quote it. Exit: 0 fine, 1 self-test failed, 2 no answer.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
};

struct checker {
	struct tlat_machine *machine;
	struct tlat_clock *clock;
	struct tlat_report *report;
};

#define NAME_COLUMNS 20
#define VALUE_COLUMN (NAME_COLUMNS + 3)

static void print_row(const char *name, const char *value, FILE *out)
{
	char first[128];

	snprintf(first, sizeof(first), "  %-*.100s ", NAME_COLUMNS, name);
	tlat_text_wrap(tlat_text_clean(first), VALUE_COLUMN, value, out);
}

/* Facts are called GROUP.NAME; what is not known has no row. */
static void print_facts(const struct tlat_report *report, FILE *out)
{
	struct tlat_fact fact;
	char last[32] = "";

	for (size_t i = 0; tlat_report_fact(report, i, &fact) == 0; i++) {
		size_t length = strcspn(fact.name, ".");

		if (!*fact.value || !fact.name[length] || length >= sizeof(last))
			continue;
		if (strncmp(last, fact.name, length) || last[length]) {
			snprintf(last, sizeof(last), "%.*s", (int)length, fact.name);
			fprintf(out, "%s\n", last);
		}
		print_row(fact.name + length + 1, fact.value, out);
	}
}

static void print_privileges(const struct tlat_report *report, FILE *out)
{
	char text[TLAT_PRIVILEGE_TEXT];
	const char *name;

	fputs("privileges\n", out);
	for (size_t i = 0; (name = tlat_privilege(report, i, text)); i++)
		print_row(name, text, out);
}

static void print_choice(const struct tlat_machine *machine, const char *name, bool pair, FILE *out)
{
	struct tlat_error error;
	int32_t cpus[2];
	char text[128];
	int n = tlat_machine_choose(machine, pair, cpus, &error);

	if (n < 0)
		snprintf(text, sizeof(text), "none: %.100s", error.text);
	else if (n == 1)
		snprintf(text, sizeof(text), "cpu %" PRId32, cpus[0]);
	else
		snprintf(text, sizeof(text), "cpu %" PRId32 " -> cpu %" PRId32 " (%s)", cpus[0],
			 cpus[1], tlat_machine_relation(machine, cpus[0], cpus[1]));
	print_row(name, text, out);
}

static void print_audit(const struct checker *c, FILE *out)
{
	print_facts(c->report, out);
	print_privileges(c->report, out);
	fputs("cpus chosen without -c\n", out);
	print_choice(c->machine, "pairs", true, out);
	print_choice(c->machine, "timers", false, out);
	fputc('\n', out);
}

static int audit(struct checker *c, struct tlat_error *reterr)
{
	int r = tlat_machine_open(&c->machine, NULL, reterr);

	if (r == 0)
		r = tlat_clock_open(&c->clock, c->machine, TLAT_CLOCK_AUTO, reterr);
	if (r == 0)
		r = tlat_check(&c->report, c->machine, c->clock, reterr);
	return r;
}

static void set_origin(struct checker *c, const struct check_config *config, int argc, char **argv)
{
	char *repeat = NULL;
	size_t size;
	FILE *out = open_memstream(&repeat, &size);

	if (!out)
		return;
	fputs("tlat check", out);
	tlat_options_repeat(&command, config, out);
	fclose(out);
	tlat_report_set_origin(c->report, argc, argv, repeat);
	free(repeat);
}

static int conclude(const struct checker *c, const struct check_config *config,
		    const struct tlat_save *save, int passed)
{
	struct tlat_error error;

	tlat_stop_finish();
	if (!save->path || tlat_save_is_file(save))
		tlat_findings_print(c->report, true, stdout);
	if (tlat_save_end(save, c->report, &error) < 0)
		return tlat_complain("check", "%s", error.text);
	if (config->strict && tlat_findings_worst(c->report) >= TLAT_WARN)
		return tlat_complain("check", "--strict: there are warnings; see the findings");
	return passed == 0 ? TLAT_EXIT_BAD : TLAT_EXIT_FINE;
}

/* The audit looks at the rights as they were given; from here on only probes need some. */
static int self_test(struct checker *c, const struct check_config *config, FILE *out,
		     struct tlat_error *reterr)
{
	tlat_rights_for_probes(config->json && out);
	tlat_rights_limit_rt(0, "tlat check", TLAT_EXIT_NO_ANSWER);
	return tlat_selftest(c->report, c->machine, c->clock, (int)config->trials, out, reterr);
}

static int check(struct checker *c, const struct check_config *config, int argc, char **argv)
{
	FILE *out = config->json && !strcmp(config->json, "-") ? NULL : stdout;
	struct tlat_error error;
	struct tlat_save save;
	int passed = 1;

	tlat_save_init(&save, config->json, false, TLAT_UNSET);
	if (tlat_save_check(&save, &error) < 0)
		return tlat_complain("check", "%s", error.text);
	tlat_rights_raise_priority();
	if (audit(c, &error) < 0)
		return tlat_complain("check", "%s", error.text);
	set_origin(c, config, argc, argv);
	if (out)
		print_audit(c, out);
	if (config->self_test)
		passed = self_test(c, config, out, &error);
	else
		tlat_selftest_quote(c->report);
	if (passed < 0)
		return tlat_complain("check", "%s", error.text);
	return conclude(c, config, &save, passed);
}

int tlat_cmd_check(int argc, char **argv)
{
	struct check_config config = { .trials = 20 };
	struct checker checker = { 0 };
	int code, first, r;

	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	if (config.self_test)
		tlat_stop_install();
	code = check(&checker, &config, argc, argv);
	tlat_report_free(checker.report);
	tlat_clock_close(checker.clock);
	tlat_machine_close(checker.machine);
	return code;
}
