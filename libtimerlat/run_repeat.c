// SPDX-License-Identifier: MIT
/*
 * run_repeat.c - the command line that repeats a result, every option resolved; but the default
 * warm-up, which ends by cycles or by time, is what no option says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "repeat.h"
#include "run_thread.h"

static void put_placement(FILE *out, const struct tlat_result *result)
{
	if (result->pair && result->kick.cpu != result->wait.cpu)
		fprintf(out, " --pair %d:%d", result->kick.cpu, result->wait.cpu);
	else
		fprintf(out, " -c %d", result->wait.cpu);
}

static void put_policy(FILE *out, const struct tlat_run_opts *opts,
		       const struct tlat_result *result)
{
	tlat_repeat_policy(out, opts->policy, result->priority_asked);
	if (opts->policy != TLAT_SCHED_DEADLINE)
		return;
	tlat_repeat_time(out, "--runtime", opts->runtime_ns);
	tlat_repeat_time(out, "--deadline", opts->deadline_ns);
	tlat_repeat_time(out, "--period", opts->period_ns);
}

static void put_limits(FILE *out, const struct tlat_run_opts *opts)
{
	if (opts->samples)
		fprintf(out, " -n %" PRIu64, opts->samples);
	if (opts->duration_ns)
		tlat_repeat_time(out, "-d", opts->duration_ns);
	if (opts->warmup)
		fprintf(out, " --warmup %" PRId64, opts->warmup > 0 ? opts->warmup : 0);
	if (opts->break_ns)
		tlat_repeat_time(out, "--break", opts->break_ns);
}

static void put_times(FILE *out, const struct tlat_run_opts *opts, const struct tlat_result *result)
{
	if (result->pair || result->periodic)
		tlat_repeat_time(out, "-i", result->interval_ns);
	if (result->pair)
		tlat_repeat_time(out, "--settle", opts->settle_ns);
	if (opts->slack_ns)
		tlat_repeat_time(out, "--slack", opts->slack_ns);
	else
		fputs(" --slack default", out);
	if (opts->cpu_latency_ns)
		tlat_repeat_time(out, "--cpu-latency",
				 opts->cpu_latency_ns > 0 ? opts->cpu_latency_ns : 0);
	else
		fputs(" --cpu-latency default", out);
}

static void put_flags(FILE *out, const struct tlat_run_opts *opts)
{
	static const struct {
		uint32_t flag;
		const char *option;
	} flags[] = {
		{ TLAT_RUN_ROUND_TRIP, "--round-trip" }, { TLAT_RUN_VERIFY, "--verify" },
		{ TLAT_RUN_STRICT, "--strict" },	 { TLAT_RUN_LOCK_ALL, "--lock-all" },
		{ TLAT_RUN_TRACE_MARK, "--trace-mark" },
	};

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(flags); i++)
		if (opts->flags & flags[i].flag)
			fprintf(out, " %s", flags[i].option);
	if (opts->target)
		fprintf(out, " --target %s", tlat_target_name(opts->target));
	if (opts->chain_adds)
		fprintf(out, " --chain %" PRIu64, opts->chain_adds);
	if (opts->raw)
		fprintf(out, " --raw %" PRIu64, opts->raw);
}

char *tlat_repeat_format(const struct tlat_run_opts *opts, const struct tlat_result *result,
			 const char *clock_source, uint64_t seed)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "tlat run %s", result->probe);
	put_placement(out, result);
	put_policy(out, opts, result);
	put_limits(out, opts);
	put_times(out, opts, result);
	put_flags(out, opts);
	fprintf(out, " --clock %s --seed %" PRIu64, clock_source, seed);
	fclose(out);
	return text;
}
