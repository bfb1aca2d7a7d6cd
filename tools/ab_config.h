/* SPDX-License-Identifier: MIT */
/* ab_config.h - the command lines of "tlat ab" and "tlat plan", checked. */
#ifndef TLAT_AB_CONFIG_H
#define TLAT_AB_CONFIG_H

#include <regex.h>

#include <timerlat.h>

#include "options.h"

struct tlat_ab_config {
	const char *a, *b, *opt, *a_opt, *b_opt, *a_setup, *b_setup;
	const char *metric, *unit, *better, *state, *side, *json;
	double mde, threshold;
	int64_t pairs, runs, seed; /* seed: TLAT_UNSET when none was asked for */
	bool early, quiet;

	/* derived */
	char *command[2]; /* of either side, for sh -c */
	const char *setup[2];
	regex_t regex;	/* of metric, when there is one */
	int32_t higher; /* as tlat_metric.better */
	int only;	/* 0, 1: that side alone, in this boot; -1: both in turn */
};

/*
 * Parse and check; argv is permuted. Returns as tlat_options_parse() does; after 0 to be freed with
 * tlat_ab_config_free().
 */
int tlat_ab_config(struct tlat_ab_config *config, bool plan, int argc, char **argv);
void tlat_ab_config_free(struct tlat_ab_config *config);

#endif /* TLAT_AB_CONFIG_H */
