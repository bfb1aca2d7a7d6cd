/* SPDX-License-Identifier: MIT */
/*
 * run_config.h - the command line of "tlat run", checked and with every default resolved.
 */
#ifndef TLAT_RUN_CONFIG_H
#define TLAT_RUN_CONFIG_H

#include "options.h"
#include "select.h"
#include "sweep.h"

struct tlat_run_config {
	const char *cpus, *pair;
	const char *load, *budget, *json, *sweep_text, *sort;
	int64_t priority, policy, clock;
	int64_t samples, duration_ns, interval_ns, settle_ns, slack_ns, cpu_latency_ns;
	int64_t runtime_ns, deadline_ns, period_ns, break_ns;
	int64_t seed, raw, warmup, save_every_ns, threads, offset_ns, target, chain;
	bool two_way, round_trip, verify, append, quiet, strict, lock_all, findings, trace_mark;

	/* derived */
	struct tlat_sweep sweep;
	struct tlat_selection selection;
	char pair_cpus[32]; /* --pair K:W as the library wants it: "K,W" */
};

extern const struct tlat_command tlat_run_command;

/*
 * Parse, check and resolve; argv is permuted. Returns as tlat_options_parse() does. Free with
 * tlat_run_config_free() after a return of 0.
 */
int tlat_run_config(struct tlat_run_config *config, int argc, char **argv);
void tlat_run_config_free(struct tlat_run_config *config);

/* The options of one run at one point of the sweep. Machine and clock are the caller's. */
void tlat_run_config_opts(const struct tlat_run_config *config, const char *probe, size_t point,
			  struct tlat_run_opts *opts);

/*
 * The one command that repeats it, to be given to free(3); NULL when memory is short. Globs are
 * names there. cpus: the list that serves all probes; NULL when none does (the default choice
 * repeats itself).
 */
char *tlat_run_config_repeat(const struct tlat_run_config *config, const char *cpus);

#endif /* TLAT_RUN_CONFIG_H */
