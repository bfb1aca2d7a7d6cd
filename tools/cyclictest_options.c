// SPDX-License-Identifier: MIT
/*
 * cyclictest_options.c - the command line: getopt's bundles and long names, optional arguments in
 * the next word, what follows from several options together.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <timerlat.h>

#include "cyclictest_table.h"
#include "quantity.h"
#include "tool.h"

#define OPTIONS_MAX  96
#define PRIORITY_MAX 99
#define LONG_BASE    256 /* above every letter */
#define HELP	     (LONG_BASE - 1)
#define VERSION	     (LONG_BASE - 2)

/* Our table in getopt's words. */
struct words {
	struct option longs[OPTIONS_MAX + 2];
	struct option in_full[OPTIONS_MAX + 2]; /* those that cannot be shortened */
	char letters[3 * OPTIONS_MAX];
};

/* The table has some long names twice, for the letter that they once had: the first is meant. */
static bool is_named_before(size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(tlat_cyc_table[i].name, tlat_cyc_table[index].name))
			return true;
	return false;
}

static void make_words(struct words *words)
{
	static const int has_arg[] = { no_argument, required_argument, optional_argument };
	char *letter = words->letters;
	size_t n = 0, n_full = 0;

	*letter++ = ':'; /* a missing argument is told from an unknown option */
	for (size_t i = 0; i < tlat_cyc_table_size; i++) {
		const struct tlat_cyc_option *option = &tlat_cyc_table[i];
		struct option word = { option->name, has_arg[option->kind], NULL,
				       LONG_BASE + (int)i };

		if (option->group)
			words->longs[n++] = word;
		else if (!is_named_before(i))
			words->in_full[n_full++] = word;
		if (!option->letter)
			continue;
		*letter++ = option->letter;
		for (int k = 0; k < has_arg[option->kind]; k++)
			*letter++ = ':';
	}
	*letter = '\0';
	words->longs[n++] = (struct option){ "help", no_argument, NULL, HELP };
	words->longs[n] = (struct option){ 0 };
	words->in_full[n_full++] = (struct option){ "version", no_argument, NULL, VERSION };
	words->in_full[n_full] = (struct option){ 0 };
}

/* The word that getopt takes next, unless it is within one of letters. */
static const char *next_option(int argc, char **argv)
{
	for (int i = optind; i < argc; i++)
		if (argv[i][0] == '-' && argv[i][1])
			return argv[i];
	return "";
}

/* A name that rt-tests does not have must not make a shortened one ambiguous. */
static const struct option *longs_for(const struct words *words, const char *word)
{
	size_t length = strcspn(word, "=");

	for (const struct option *o = words->in_full; o->name && length > 2; o++)
		if (strlen(o->name) == length - 2 && !strncmp(word + 2, o->name, length - 2))
			return words->in_full;
	return words->longs;
}

static int next_of(const struct words *words, int argc, char **argv)
{
	return getopt_long(argc, argv, words->letters, longs_for(words, next_option(argc, argv)),
			   NULL);
}

static const struct tlat_cyc_option *option_of(int c)
{
	if (c >= LONG_BASE)
		return &tlat_cyc_table[c - LONG_BASE];
	for (size_t i = 0; i < tlat_cyc_table_size; i++)
		if (tlat_cyc_table[i].letter == c)
			return &tlat_cyc_table[i];
	return NULL;
}

/* Whether a word can be the argument of an option that may have one. */
static bool is_argument(const struct tlat_cyc_option *option, const char *word)
{
	static const char *const lists[] = { "!",	 "+",	      "all",
					     "isolated", "nohz-full", "housekeeping",
					     "node:",	 "core:" };

	word += strspn(word, " \t");
	if (isdigit((unsigned char)*word))
		return true;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(lists); i++)
		if (!strncmp(word, lists[i], strlen(lists[i])))
			return option->take == tlat_cyc_take_affinity;
	return false;
}

/* "-t 4" as well as "-t4". */
static const char *argument_of(const struct tlat_cyc_option *option, int argc, char **argv)
{
	if (optarg || option->kind != TLAT_CYC_MAY || optind >= argc ||
	    !is_argument(option, argv[optind]))
		return optarg;
	return argv[optind++];
}

/* A word that an option may have, but cannot: it was meant for it. */
static int check_argument(const struct tlat_cyc_option *option, const char *value, int argc,
			  char **argv)
{
	if (value || option->kind != TLAT_CYC_MAY || optind >= argc || !*argv[optind] ||
	    *argv[optind] == '-')
		return 0;
	tlat_cyc_say("--%s '%s': cannot be read; see --help", option->name, argv[optind]);
	return -EINVAL;
}

static int take(const struct tlat_cyc_option *option, const char *value,
		struct tlat_cyc_config *config)
{
	char why[TLAT_WHY_TEXT] = "", name[64];
	int error;

	if (option->group)
		snprintf(name, sizeof(name), "--%s", option->name);
	else if (option->letter)
		snprintf(name, sizeof(name), "-%c (--%s)", option->letter, option->name);
	else
		snprintf(name, sizeof(name), "--%s", option->name);
	if (!option->group)
		tlat_cyc_say("%s is obsolete and %s", name, option->help);
	error = option->take ? option->take(option, value, config, why) : 0;
	if (error)
		tlat_cyc_say("%s '%s': %s", name, value ? value : "", why);
	return error;
}

static int refuse(int c, char **argv)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		tlat_cyc_say("%s needs an argument; see --help", word);
	else if (optopt && optopt < LONG_BASE)
		tlat_cyc_say("no option -%c; see --help", optopt);
	else
		tlat_cyc_say("no option %s, or not as it stands there; see --help", word);
	return -EINVAL;
}

/* Callers leave empty words where an option was not wanted; any other may be one that got lost. */
static void say_operands(int argc, char **argv)
{
	for (int i = optind; i < argc; i++)
		if (*argv[i])
			tlat_cyc_say("'%s' is no option and belongs to none: it is left out of "
				     "account",
				     argv[i]);
}

static int parse(struct tlat_cyc_config *config, int argc, char **argv)
{
	struct words words;
	int c, error = 0;

	make_words(&words);
	opterr = 0;
	while (!error && (c = next_of(&words, argc, argv)) >= 0) {
		const struct tlat_cyc_option *option;
		const char *value;

		if (c == HELP || c == VERSION) {
			if (c == HELP)
				tlat_cyc_print_help();
			else
				printf(TLAT_CYC_NAME " %s\n", tlat_version());
			return 1;
		}
		if (c == ':' || c == '?')
			return refuse(c, argv);
		option = option_of(c);
		value = argument_of(option, argc, argv);
		error = check_argument(option, value, argc, argv);
		if (!error)
			error = take(option, value, config);
	}
	if (!error)
		say_operands(argc, argv);
	return error;
}

static void settle_policy(struct tlat_cyc_config *config)
{
	if (config->priority || config->priospread)
		tlat_cyc_rank(config);
	else if (config->policy == TLAT_CYC_UNSET)
		config->policy = TLAT_SCHED_OTHER;
}

/* Room for --priospread, down to 2: as it always was. */
void tlat_cyc_choose_priority(struct tlat_cyc_config *config, int32_t threads)
{
	if (!tlat_cyc_is_ranked(config) || config->priority)
		return;
	config->priority = threads < PRIORITY_MAX ? threads + 1 : PRIORITY_MAX;
	tlat_cyc_say("priority %d is used, as none above 0 was given", (int)config->priority);
}

static void settle_threads(struct tlat_cyc_config *config)
{
	if (config->smp) {
		if (config->threads != TLAT_CYC_UNSET)
			tlat_cyc_say("-t is left out of account: -S is one thread per CPU");
		config->threads = TLAT_CYC_ALL;
		if (config->affinity && *config->affinity)
			tlat_cyc_say("-a is left out of account: -S is one thread on each CPU; "
				     "leave -S out and give -t -a %s",
				     config->affinity);
		config->affinity = "";
		config->announced = false;
	}
	if (config->threads == TLAT_CYC_UNSET)
		config->threads = 1;
	if (config->rows) {
		if (config->distance_us && config->distance_us != TLAT_CYC_UNSET)
			tlat_cyc_say("distance is 0, as there is a histogram");
		config->distance_us = 0;
	}
	if (config->distance_us == TLAT_CYC_UNSET)
		config->distance_us = 500;
}

/* Over before it begins: each thread looks at the time after a cycle. */
static void settle_length(struct tlat_cyc_config *config)
{
	if (config->duration_s >= 0)
		return;
	tlat_cyc_say("the duration is below 0: each thread has one cycle");
	config->duration_s = 0;
	config->loops = 1;
}

/* What makes no sense together. */
static int check_pairs(const struct tlat_cyc_config *config)
{
	if (config->oscope && !config->verbose)
		tlat_cyc_say("-o reduces what -v prints; give both");
	else if (config->aligned_us != TLAT_CYC_UNSET && config->secaligned_us != TLAT_CYC_UNSET)
		tlat_cyc_say("-A and --secaligned exclude each other, as each says when threads "
			     "begin; give one");
	else
		return 0;
	return -EINVAL;
}

static int settle(struct tlat_cyc_config *config)
{
	if (check_pairs(config) < 0)
		return -EINVAL;
	settle_policy(config);
	settle_threads(config);
	settle_length(config);
	if (config->system && config->posix_timers) {
		tlat_cyc_say("-s and -x exclude each other: clock_nanosleep is used");
		config->system = config->posix_timers = false;
	}
	if (config->tracemark && config->break_above == TLAT_CYC_UNSET)
		tlat_cyc_say("--tracemark has no effect without -b");
	return 0;
}

int tlat_cyc_options(struct tlat_cyc_config *config, int argc, char **argv)
{
	int r;

	*config = (struct tlat_cyc_config){
		.threads = TLAT_CYC_UNSET,
		.interval_us = 1000,
		.distance_us = TLAT_CYC_UNSET,
		.policy = TLAT_CYC_UNSET,
		.aligned_us = TLAT_CYC_UNSET,
		.secaligned_us = TLAT_CYC_UNSET,
		.break_above = TLAT_CYC_UNSET,
		.spike_above = TLAT_CYC_UNSET,
		.spike_nodes = 1024,
		.shape = 4,
	};
	r = parse(config, argc, argv);
	return r ? r : settle(config);
}
