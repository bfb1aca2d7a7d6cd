/* SPDX-License-Identifier: MIT */
/*
 * cyclictest_table.h - one table of options feeds the parser and --help, so that the two cannot
 * drift apart.
 */
#ifndef TLAT_CYCLICTEST_TABLE_H
#define TLAT_CYCLICTEST_TABLE_H

#include "cyclictest.h"

enum tlat_cyc_arg {
	TLAT_CYC_NONE,
	TLAT_CYC_NEEDS,
	/* Also as the next word, when that looks like one. */
	TLAT_CYC_MAY,
};

struct tlat_cyc_option {
	const char *name; /* long name */
	char letter;	  /* 0: none */
	enum tlat_cyc_arg kind;
	const char *arg;   /* "US"; NULL: none */
	const char *group; /* heading in --help; NULL: obsolete, help is the note then */
	const char *help;
	/*
	 * Put value (NULL: none given) where it belongs. Returns 0, or -EINVAL with the reason in
	 * why[TLAT_WHY_TEXT]. NULL: obsolete and without effect.
	 */
	int (*take)(const struct tlat_cyc_option *option, const char *value,
		    struct tlat_cyc_config *config, char *why);
	size_t offset; /* of the field in the config */
	int64_t min, max;
};

extern const struct tlat_cyc_option tlat_cyc_table[];
extern const size_t tlat_cyc_table_size;

void tlat_cyc_print_help(void);

/* cyclictest_values.c: how values are read. */
int tlat_cyc_take_flag(const struct tlat_cyc_option *option, const char *value,
		       struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_number(const struct tlat_cyc_option *option, const char *value,
			 struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_text(const struct tlat_cyc_option *option, const char *value,
		       struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_affinity(const struct tlat_cyc_option *option, const char *value,
			   struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_policy(const struct tlat_cyc_option *option, const char *value,
			 struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_priority(const struct tlat_cyc_option *option, const char *value,
			   struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_clock(const struct tlat_cyc_option *option, const char *value,
			struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_duration(const struct tlat_cyc_option *option, const char *value,
			   struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_histogram(const struct tlat_cyc_option *option, const char *value,
			    struct tlat_cyc_config *config, char *why);
int tlat_cyc_take_shape(const struct tlat_cyc_option *option, const char *value,
			struct tlat_cyc_config *config, char *why);

/* A policy that has priorities, whatever was named. */
void tlat_cyc_rank(struct tlat_cyc_config *config);

#endif /* TLAT_CYCLICTEST_TABLE_H */
