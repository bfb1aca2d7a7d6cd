// SPDX-License-Identifier: MIT
/* options.c - from a table of options to getopt_long, to --help, to the repeat command. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "quantity.h"
#include "tool.h"

/* Long options without a letter are told apart by values that no letter has. */
#define LONG_ONLY   256
#define OPTIONS_MAX 48

struct getopt_tables {
	struct option longs[OPTIONS_MAX + 2];
	char letters[2 * OPTIONS_MAX + 4];
};

static int code_of(const struct tlat_command *command, size_t i)
{
	return command->options[i].letter ? command->options[i].letter : LONG_ONLY + (int)i;
}

static void fill_tables(const struct tlat_command *command, struct getopt_tables *t)
{
	char *letter = t->letters;
	size_t i;

	*letter++ = ':'; /* a missing argument is told apart from an unknown option */
	for (i = 0; i < command->n_options && i < OPTIONS_MAX; i++) {
		const struct tlat_option *o = &command->options[i];

		t->longs[i] = (struct option){ o->name, o->arg ? required_argument : no_argument,
					       NULL, code_of(command, i) };
		if (!o->letter)
			continue;
		*letter++ = o->letter;
		if (o->arg)
			*letter++ = ':';
	}
	*letter++ = 'h';
	*letter = '\0';
	t->longs[i++] = (struct option){ "help", no_argument, NULL, 'h' };
	t->longs[i] = (struct option){ 0 };
}

static const struct tlat_option *find_code(const struct tlat_command *command, int code)
{
	for (size_t i = 0; i < command->n_options; i++)
		if (code_of(command, i) == code)
			return &command->options[i];
	return NULL;
}

static void print_option(const char *name, char letter, const char *arg, const char *help,
			 FILE *out)
{
	char left[64];

	if (letter)
		snprintf(left, sizeof(left), "-%c, --%s%s%s", letter, name, arg ? " " : "",
			 arg ? arg : "");
	else
		snprintf(left, sizeof(left), "    --%s%s%s", name, arg ? " " : "", arg ? arg : "");
	fprintf(out, "  %-24s %s\n", left, help);
}

static void print_help(const struct tlat_command *command, FILE *out)
{
	fprintf(out, "Usage: tlat %s%s%s [options]; -h, --help: this\n%s\n", command->name,
		*command->operands ? " " : "", command->operands, command->summary);
	for (size_t i = 0; i < command->n_options; i++) {
		const struct tlat_option *o = &command->options[i];

		print_option(o->name, o->letter, o->arg, o->help, out);
	}
	if (command->notes)
		fprintf(out, "%s\n", command->notes);
}

static int complain_unknown(const struct tlat_command *command, char **argv)
{
	const char *word = argv[optind - 1];

	/* getopt stays at a word of letters, and has passed a bad long option. */
	if (strncmp(word, "--", 2) && isgraph(optopt))
		tlat_complain(command->name, "no option -%c; see tlat %s --help", optopt,
			      command->name);
	else if (optopt)
		tlat_complain(command->name, "%s: this option takes no value; see tlat %s --help",
			      word, command->name);
	else
		tlat_complain(command->name, "no option %s, or not a whole one; see tlat %s --help",
			      word, command->name);
	return -EINVAL;
}

static int complain_argument(const struct tlat_command *command, char **argv)
{
	const struct tlat_option *o = find_code(command, optopt);

	tlat_complain(command->name, "%s needs a value (%s); see tlat %s --help", argv[optind - 1],
		      o ? o->arg : "text", command->name);
	return -EINVAL;
}

static int complain_value(const struct tlat_command *command, const struct tlat_option *o,
			  const char *why)
{
	if (o->arg)
		tlat_complain(command->name, "--%s '%s': %s", o->name, optarg, why);
	else
		tlat_complain(command->name, "--%s: %s", o->name, why);
	return -EINVAL;
}

/* The last of two values would silently be the one that counts. */
static int complain_twice(const struct tlat_command *command, const struct tlat_option *o)
{
	tlat_complain(command->name, "--%s is given twice, the second time as '%s'; leave one out",
		      o->name, optarg);
	return -EINVAL;
}

static int take(const struct tlat_command *command, int code, char **argv, uint64_t *seen,
		void *config)
{
	const struct tlat_option *o;
	char why[TLAT_WHY_TEXT];
	uint64_t bit;

	if (code == 'h') {
		print_help(command, stdout);
		return 1;
	}
	if (code == ':')
		return complain_argument(command, argv);
	o = code == '?' ? NULL : find_code(command, code);
	if (!o)
		return complain_unknown(command, argv);
	bit = UINT64_C(1) << (o - command->options);
	if (o->arg && *seen & bit)
		return complain_twice(command, o);
	*seen |= bit;
	if (o->type->parse(o, o->arg ? optarg : NULL, (char *)config + o->offset, why) < 0)
		return complain_value(command, o, why);
	return 0;
}

int tlat_options_parse(const struct tlat_command *command, int argc, char **argv, void *config,
		       int *ret_first)
{
	struct getopt_tables tables;
	uint64_t seen = 0; /* bit i: option number i; there are fewer than OPTIONS_MAX */
	int code, r;

	fill_tables(command, &tables);
	opterr = 0;
	optind = 2;
	while ((code = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
		r = take(command, code, argv, &seen, config);
		if (r)
			return r;
	}
	if (command->max_operands >= 0 && argc - optind > command->max_operands) {
		tlat_complain(command->name, "'%s' is one operand too many; see tlat %s --help",
			      argv[optind + command->max_operands], command->name);
		return -EINVAL;
	}
	*ret_first = optind;
	return 0;
}

char **tlat_options_typed(const struct tlat_command *command, int argc, char **argv)
{
	char **typed = calloc((size_t)argc + 1, sizeof(*typed));

	if (!typed)
		tlat_complain(command->name, "out of memory for the command line");
	else
		memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	return typed;
}

void tlat_options_repeat(const struct tlat_command *command, const void *config, FILE *out)
{
	for (size_t i = 0; i < command->n_options; i++) {
		const struct tlat_option *o = &command->options[i];
		const void *field = (const char *)config + o->offset;

		if (!o->repeat || !o->type->is_set(field))
			continue;
		if (o->letter)
			fprintf(out, " -%c", o->letter);
		else
			fprintf(out, " --%s", o->name);
		if (!o->type->format)
			continue;
		fputc(' ', out);
		o->type->format(field, out);
	}
}
