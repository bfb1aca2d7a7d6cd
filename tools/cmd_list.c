// SPDX-License-Identifier: MIT
/* cmd_list.c - "tlat list": every probe, with its interval in words and whether it runs here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "text.h"
#include "tool.h"

#define INDENT "    " /* of what belongs to the row above */
#define BESIDE 100    /* columns that most intervals do with */

struct list_config {
	bool json;
};

static const struct tlat_option options[] = {
	{ "json", NULL, "one JSON document on stdout", &tlat_option_flag,
	  offsetof(struct list_config, json), 0, 0, 0, false },
};

static const struct tlat_command command = {
	.name = "list",
	.operands = "",
	.summary = "Every probe: where its interval begins and ends, and whether it runs here.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
};

/* Texts come from the library and the kernel; only control characters need care. */
static void print_json_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_json_member(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	if (text)
		print_json_text(text);
	else
		fputs("null", stdout);
}

static void print_json_probe(const struct tlat_probe_facts *facts, const char *why_not)
{
	fputs("{\"name\":", stdout);
	print_json_text(facts->name);
	printf(",\"pair\":%s", facts->pair == 1 ? "true" : "false");
	print_json_member("from", facts->from);
	print_json_member("to", facts->to);
	printf(",\"supported\":%s", why_not ? "false" : "true");
	print_json_member("why_not", why_not);
	putchar('}');
}

static const char *why_not(const char *probe, struct tlat_error *error)
{
	return tlat_probe_check(probe, error) < 0 ? error->text : NULL;
}

static void print_json(void)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };
	struct tlat_error error;

	printf("{\"schema\":\"timerlat-list/1\",\"version\":\"%s\",\"probes\":[", tlat_version());
	for (size_t i = 0; tlat_probe_facts(i, &facts) == 0; i++) {
		if (i)
			putchar(',');
		print_json_probe(&facts, why_not(facts.name, &error));
	}
	puts("]}");
}

static int longest_name(void)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };
	int longest = 0;

	for (size_t i = 0; tlat_probe_facts(i, &facts) == 0; i++)
		if ((int)strlen(facts.name) > longest)
			longest = (int)strlen(facts.name);
	return longest;
}

/* The interval stands beside the row where there is room for most of them, else below. */
static void print_row(int name_columns, const char *name, const char *threads, const char *runs,
		      const char *from, const char *to)
{
	char row[160], *interval;
	int n = snprintf(row, sizeof(row), "%-*.100s  %-7s  %-9s  ", name_columns, name, threads,
			 runs);

	if (asprintf(&interval, "%s -> %s", from, to) < 0)
		interval = NULL;
	if (tlat_text_width(stdout) >= n + BESIDE) {
		tlat_text_wrap(row, n, interval, stdout);
	} else {
		printf("%-*s  %-7s  %s\n", name_columns, name, threads, runs);
		tlat_text_wrap(INDENT, sizeof(INDENT) - 1, interval, stdout);
	}
	free(interval);
}

static void print_table(void)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };
	struct tlat_error error;
	int columns = longest_name();

	print_row(columns, "probe", "threads", "runs here", "from", "to");
	for (size_t i = 0; tlat_probe_facts(i, &facts) == 0; i++) {
		const char *why = why_not(facts.name, &error);

		print_row(columns, facts.name, facts.pair == 1 ? "pair" : "one", why ? "no" : "yes",
			  facts.from, facts.to);
		if (why)
			tlat_text_wrap(INDENT "no: ", sizeof(INDENT) - 1, why, stdout);
	}
}

int tlat_cmd_list(int argc, char **argv)
{
	struct list_config config = { 0 };
	int first, r;

	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	if (config.json)
		print_json();
	else
		print_table();
	return TLAT_EXIT_FINE;
}
