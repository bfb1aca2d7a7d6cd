/* SPDX-License-Identifier: MIT */
/*
 * options.h - one table per subcommand feeds the parser, --help and the repeat
 * command, so that the three cannot drift apart.
 */
#ifndef TLAT_OPTIONS_H
#define TLAT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Numeric fields are int64_t and start as one of these when the user said nothing. */
#define TLAT_UNSET   INT64_MIN
#define TLAT_DEFAULT (INT64_MIN + 1) /* the word "default" */

struct tlat_option;

/* How the value of an option is read into its field and written back. */
struct tlat_option_type {
	/* 0, or -EINVAL with reason and remedy in why[TLAT_WHY_TEXT]; value is NULL for flags */
	int (*parse)(const struct tlat_option *option, const char *value, void *field, char *why);
	bool (*is_set)(const void *field);
	/* the value as the shell is to read it; NULL: the option has none */
	void (*format)(const void *field, FILE *out);
};

extern const struct tlat_option_type tlat_option_flag;	       /* bool */
extern const struct tlat_option_type tlat_option_text;	       /* const char * */
extern const struct tlat_option_type tlat_option_time;	       /* int64_t ns */
extern const struct tlat_option_type tlat_option_time_default; /* ns, or the word "default" */
extern const struct tlat_option_type tlat_option_count;	       /* int64_t */
extern const struct tlat_option_type tlat_option_ratio;	       /* double, 0: unset */
extern const struct tlat_option_type tlat_option_policy;       /* enum tlat_policy */
extern const struct tlat_option_type tlat_option_target;       /* enum tlat_target */
extern const struct tlat_option_type tlat_option_clock;	       /* enum tlat_clock_source */

struct tlat_option {
	const char *name; /* long name */
	const char *arg;  /* "TIME"; NULL for flags */
	const char *help; /* one line */
	const struct tlat_option_type *type;
	size_t offset;	  /* of the field in the command's config */
	int64_t min, max; /* numeric fields; both 0: any */
	char letter;	  /* 0: none */
	bool repeat;	  /* part of the command that repeats a measurement */
};

struct tlat_command {
	const char *name;     /* "run" */
	const char *operands; /* "PROBE...", or "" */
	const char *summary;
	const char *notes; /* below the options; may be NULL */
	const struct tlat_option *options;
	size_t n_options;
	int max_operands; /* -1: any number */
};

/*
 * Parse argv from argv[2] on; operands end up last, from *ret_first. Returns 0; 1 when --help was
 * asked for and printed; -EINVAL after one line on stderr.
 */
int tlat_options_parse(const struct tlat_command *command, int argc, char **argv, void *config,
		       int *ret_first);

/* argv as it was typed, for the report: parsing moves operands to the end. To be given to free(3);
 * NULL after one line on stderr. */
char **tlat_options_typed(const struct tlat_command *command, int argc, char **argv);

/* A numeric field, or 0 when the user said nothing. */
static inline int64_t tlat_option_or_zero(int64_t value)
{
	return value == TLAT_UNSET ? 0 : value;
}

/* What a numeric field means when the user said nothing. */
static inline void tlat_option_default(int64_t *field, int64_t value)
{
	if (*field == TLAT_UNSET)
		*field = value;
}

/* Every option that is set and belongs to the repeat command, each preceded by a space. */
void tlat_options_repeat(const struct tlat_command *command, const void *config, FILE *out);

#endif /* TLAT_OPTIONS_H */
