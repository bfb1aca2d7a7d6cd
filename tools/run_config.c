// SPDX-License-Identifier: MIT
/* run_config.c - options of "tlat run": their table, what contradicts what, and the defaults. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "run_config.h"
#include "seed.h"
#include "text.h"
#include "tool.h"

#define FIELD(name) offsetof(struct tlat_run_config, name)

static const struct tlat_option options[] = {
	{ "cpus", "LIST", "pairs: KICK,WAIT, or one CPU; else one thread on each",
	  &tlat_option_text, FIELD(cpus), 0, 0, 'c', false },
	{ "pair", "KICK:WAIT", "the same as -c KICK,WAIT", &tlat_option_text, FIELD(pair), 0, 0, 0,
	  false },
	{ "policy", "NAME", "fifo (default) rr other batch idle deadline inherit",
	  &tlat_option_policy, FIELD(policy), 0, 0, 0, true },
	{ "prio", "N", "real-time priority, 1 to 99 (40)", &tlat_option_count, FIELD(priority), 1,
	  99, 'p', true },
	{ "runtime", "TIME", "deadline: CPU time in each period", &tlat_option_time,
	  FIELD(runtime_ns), 1, 0, 0, true },
	{ "deadline", "TIME", "deadline: relative deadline (the period)", &tlat_option_time,
	  FIELD(deadline_ns), 1, 0, 0, true },
	{ "period", "TIME", "deadline: its period (the interval)", &tlat_option_time,
	  FIELD(period_ns), 1, 0, 0, true },
	{ "samples", "N", "cycles per thread", &tlat_option_count, FIELD(samples), 1, 0, 'n',
	  true },
	{ "duration", "TIME", "length of each measurement (2s, unless -n)", &tlat_option_time,
	  FIELD(duration_ns), 1, 0, 'd', true },
	{ "interval", "TIME", "period (1ms); pairs: slot, 0: closed loop (0)", &tlat_option_time,
	  FIELD(interval_ns), 0, 0, 'i', true },
	{ "threads", "N", "timers: threads on each CPU (1)", &tlat_option_count, FIELD(threads), 1,
	  TLAT_THREADS_MAX, 0, true },
	{ "offset", "TIME", "timers: from thread to thread, 0: all at once (drawn)",
	  &tlat_option_time, FIELD(offset_ns), 0, 0, 0, true },
	{ "settle", "TIME", "pairs: from going to sleep to the kick (50us)", &tlat_option_time,
	  FIELD(settle_ns), 0, 0, 0, true },
	{ "slack", "TIME", "timer slack (1ns); default: as applications have it",
	  &tlat_option_time_default, FIELD(slack_ns), 1, 0, 0, true },
	{ "cpu-latency", "TIME", "hold /dev/cpu_dma_latency (default: untouched)",
	  &tlat_option_time_default, FIELD(cpu_latency_ns), 0, 0, 0, true },
	{ "target", "STATE", "signal-*-handler: sleeping, or busy: spins till then",
	  &tlat_option_target, FIELD(target), 0, 0, 0, true },
	{ "two-way", NULL, "pairs: also with the CPUs swapped", &tlat_option_flag, FIELD(two_way),
	  0, 0, 0, true },
	{ "round-trip", NULL, "pairs: A wakes B wakes A, on one clock", &tlat_option_flag,
	  FIELD(round_trip), 0, 0, 0, true },
	{ "verify", NULL, "check in every cycle that the waiter slept", &tlat_option_flag,
	  FIELD(verify), 0, 0, 0, true },
	{ "sweep", "WHAT=A,B,..", "settle=0,100ns,1us or cpu-latency=default,0", &tlat_option_text,
	  FIELD(sweep_text), 0, 0, 0, true },
	{ "load", "CMD", "a background load, off the measuring CPUs", &tlat_option_text,
	  FIELD(load), 0, 0, 0, true },
	{ "budget", "EXPR", "such as 'p99<50us, max<=200us, n>=1e6'", &tlat_option_text,
	  FIELD(budget), 0, 0, 0, true },
	{ "break", "TIME", "end at the first value above it; exit 1", &tlat_option_time,
	  FIELD(break_ns), 1, 0, 0, true },
	{ "trace-mark", NULL, "--break: mark the kernel's trace and stop it", &tlat_option_flag,
	  FIELD(trace_mark), 0, 0, 0, true },
	{ "json", "FILE", "write the report; -: to stdout, nothing else there", &tlat_option_text,
	  FIELD(json), 0, 0, 0, false },
	{ "save-every", "TIME", "rewrite the file of --json so often (60s)", &tlat_option_time,
	  FIELD(save_every_ns), 1000000, 0, 0, false },
	{ "append", NULL, "add a line to the file of --json", &tlat_option_flag, FIELD(append), 0,
	  0, 0, false },
	{ "findings", NULL, "print every finding in full", &tlat_option_flag, FIELD(findings), 0, 0,
	  0, false },
	{ "sort", "max", "largest value first in the progress display", &tlat_option_text,
	  FIELD(sort), 0, 0, 0, false },
	{ "quiet", NULL, "no progress display", &tlat_option_flag, FIELD(quiet), 0, 0, 'q', false },
	{ "strict", NULL, "exit 2 when anything degrades the measurement", &tlat_option_flag,
	  FIELD(strict), 0, 0, 0, true },
	{ "clock", "SOURCE", "auto, tsc, cntvct, rdtime, clock_gettime", &tlat_option_clock,
	  FIELD(clock), 0, 0, 0, true },
	{ "seed", "N", "of phase and dither (chosen, and reported)", &tlat_option_count,
	  FIELD(seed), 1, 0, 0, true },
	{ "raw", "N", "keep the first N values in the report", &tlat_option_count, FIELD(raw), 1, 0,
	  0, true },
	{ "warmup", "N", "cycles before measuring (1000 or 0.2s, the shorter)", &tlat_option_count,
	  FIELD(warmup), 0, 0, 0, true },
	{ "chain", "N", "test, pairs: N dependent additions before each kick", &tlat_option_count,
	  FIELD(chain), 1, 1000000, 0, true },
	{ "lock-all", NULL, "mlockall() for the whole process", &tlat_option_flag, FIELD(lock_all),
	  0, 0, 0, true },
};

const struct tlat_command tlat_run_command = {
	.name = "run",
	.operands = "PROBE...",
	.summary = "Measure probes, 2 s each; tlat list names them, globs such as 'wake-*' do too.",
	.notes = "Times carry a unit (250us). Exit: 0 fine, 1 bad answer, 2 none, 77 inconclusive.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
	.max_operands = -1,
};

#define REFUSE(...) (tlat_complain("run", __VA_ARGS__), -EINVAL)

/* Two plain CPU numbers with a colon between: how many digits the first has, or 0. The words of
 * CPU lists contain colons of their own. */
static size_t pair_digits(const char *text)
{
	size_t kick = strspn(text, "0123456789");
	size_t wait = text[kick] == ':' ? strspn(text + kick + 1, "0123456789") : 0;

	return wait && !text[kick + 1 + wait] && kick + wait <= 16 ? kick : 0;
}

static int check_pair(struct tlat_run_config *c)
{
	size_t kick;

	if (c->cpus && pair_digits(c->cpus))
		return REFUSE("-c '%s': no CPU list; write --pair %s, or a comma", c->cpus,
			      c->cpus);
	if (!c->pair)
		return 0;
	kick = pair_digits(c->pair);
	if (!kick)
		return REFUSE("--pair '%s': write two CPU numbers, such as 0:1", c->pair);
	snprintf(c->pair_cpus, sizeof(c->pair_cpus), "%.*s,%s", (int)kick, c->pair,
		 c->pair + kick + 1);
	if (c->cpus)
		return REFUSE("-c %s and --pair %s contradict each other; use one", c->cpus,
			      c->pair);
	c->cpus = c->pair_cpus;
	return 0;
}

static int check_output(const struct tlat_run_config *c)
{
	if (c->load && !c->load[strspn(c->load, " \t\n")])
		return REFUSE("--load '': empty; give a command, such as 'make -j8'");
	if (c->trace_mark && c->break_ns == TLAT_UNSET)
		return REFUSE("--trace-mark needs --break TIME, at which it is made");
	if (c->sort && strcmp(c->sort, "max"))
		return REFUSE(
			"--sort '%s': there is only max; leave it out for the order of threads",
			c->sort);
	return 0;
}

static int check_sweep(struct tlat_run_config *c)
{
	struct tlat_error error;

	if (tlat_sweep_parse(&c->sweep, c->sweep_text, &error) < 0)
		return REFUSE("%s", error.text);
	if (c->sweep.kind == TLAT_SWEEP_SETTLE && c->settle_ns != TLAT_UNSET)
		return REFUSE("--settle and its sweep contradict each other; use one");
	if (c->sweep.kind == TLAT_SWEEP_CPU_LATENCY && c->cpu_latency_ns != TLAT_UNSET)
		return REFUSE("--cpu-latency and its sweep contradict each other; use one");
	return 0;
}

static int check_deadline(const struct tlat_run_config *c)
{
	const char *time = c->runtime_ns != TLAT_UNSET	  ? "--runtime"
			   : c->deadline_ns != TLAT_UNSET ? "--deadline"
			   : c->period_ns != TLAT_UNSET	  ? "--period"
							  : NULL;

	if (c->policy != TLAT_SCHED_DEADLINE)
		return time ? REFUSE("%s needs --policy deadline", time) : 0;
	if (c->runtime_ns == TLAT_UNSET)
		return REFUSE("--policy deadline needs --runtime TIME, such as --runtime 100us");
	for (size_t i = 0; i < c->selection.n; i++)
		if (c->selection.probes[i].pair)
			return REFUSE("--policy deadline is not for %s: the threads of a pair are "
				      "ordered by priority, which a deadline has not; use fifo",
				      c->selection.probes[i].name);
	return 0;
}

static int check_policy(const struct tlat_run_config *c)
{
	bool real_time = c->policy == TLAT_UNSET || c->policy == TLAT_SCHED_FIFO ||
			 c->policy == TLAT_SCHED_RR;

	if (c->priority != TLAT_UNSET && !real_time)
		return REFUSE("-p %d needs --policy fifo or rr, not %s", (int)c->priority,
			      tlat_policy_name((int)c->policy));
	return check_deadline(c);
}

/* What no probe of this command line would heed. */
static int check_effect(const struct tlat_run_config *c)
{
	const char *option = c->settle_ns != TLAT_UNSET ? "--settle"
			     : c->pair			? "--pair"
			     : c->chain != TLAT_UNSET	? "--chain"
			     : c->verify		? "--verify"
							: NULL;
	const struct tlat_probe_facts *probes = c->selection.probes;

	if (option && !tlat_select_pairs(&c->selection))
		return REFUSE("%s is for pairs, and %s has one thread; leave it out", option,
			      probes[0].name);
	for (size_t i = 0; c->interval_ns == 0 && i < c->selection.n; i++)
		if (probes[i].pair != 1)
			return REFUSE("-i 0 is for pairs, and %s needs a period, such as -i 1ms",
				      probes[i].name);
	return 0;
}

/* Only a handler can interrupt a thread that waits for nothing. */
static int check_target(const struct tlat_run_config *c)
{
	for (size_t i = 0; c->target != TLAT_UNSET && i < c->selection.n; i++)
		if (fnmatch("signal-*-handler", c->selection.probes[i].name, 0))
			return REFUSE("--target %s is for signal-*-handler, and %s has no handler "
				      "that interrupts; leave one out",
				      tlat_target_name((int)c->target),
				      c->selection.probes[i].name);
	return 0;
}

static int check_pairs_only(const struct tlat_run_config *c)
{
	const char *option = c->two_way				  ? "--two-way"
			     : c->round_trip			  ? "--round-trip"
			     : c->sweep.kind == TLAT_SWEEP_SETTLE ? "--sweep settle"
								  : NULL;

	if (c->two_way && c->round_trip)
		return REFUSE("--two-way and --round-trip contradict each other; use one");
	for (size_t i = 0; option && i < c->selection.n; i++)
		if (c->selection.probes[i].pair != 1)
			return REFUSE("%s is for pairs, and %s has one thread; leave one out",
				      option, c->selection.probes[i].name);
	return 0;
}

static int check_timers_only(const struct tlat_run_config *c)
{
	const char *option = c->threads != TLAT_UNSET	  ? "--threads"
			     : c->offset_ns != TLAT_UNSET ? "--offset"
							  : NULL;

	for (size_t i = 0; option && i < c->selection.n; i++)
		if (c->selection.probes[i].pair == 1)
			return REFUSE("%s is for timers, and %s is a pair; leave one out", option,
				      c->selection.probes[i].name);
	return 0;
}

static int check_budget(const struct tlat_run_config *c)
{
	struct tlat_error error;

	if (c->budget && tlat_budget_check(c->budget, NULL, NULL, 0, &error) < 0)
		return REFUSE("--budget: %s", error.text);
	return 0;
}

static int check(struct tlat_run_config *c)
{
	if (check_pair(c) < 0 || check_output(c) < 0 || check_sweep(c) < 0 || check_policy(c) < 0 ||
	    check_pairs_only(c) < 0 || check_timers_only(c) < 0 || check_target(c) < 0 ||
	    check_effect(c) < 0)
		return -EINVAL;
	return check_budget(c);
}

static void resolve(struct tlat_run_config *c)
{
	size_t pairs = tlat_select_pairs(&c->selection);

	tlat_option_default(&c->policy, TLAT_SCHED_FIFO);
	if (c->policy == TLAT_SCHED_FIFO || c->policy == TLAT_SCHED_RR)
		tlat_option_default(&c->priority, 40);
	if (c->samples == TLAT_UNSET)
		tlat_option_default(&c->duration_ns, 2000000000);
	if (pairs && c->sweep.kind != TLAT_SWEEP_SETTLE)
		tlat_option_default(&c->settle_ns, 50000);
	if (pairs == tlat_select_count(&c->selection))
		tlat_option_default(&c->interval_ns, 0);
	else if (!pairs)
		tlat_option_default(&c->interval_ns, 1000000);
	tlat_option_default(&c->slack_ns, 1);
	if (c->sweep.kind != TLAT_SWEEP_CPU_LATENCY)
		tlat_option_default(&c->cpu_latency_ns, TLAT_DEFAULT);
	tlat_option_default(&c->clock, TLAT_CLOCK_AUTO);
	tlat_option_default(&c->seed, tlat_seed_choose());
}

static void unset_all(struct tlat_run_config *c)
{
	*c = (struct tlat_run_config){ 0 };
	c->runtime_ns = c->deadline_ns = c->period_ns = c->break_ns = TLAT_UNSET;
	c->priority = c->policy = c->clock = c->samples = c->duration_ns = c->interval_ns =
		c->settle_ns = c->slack_ns = c->cpu_latency_ns = c->seed = c->raw = c->warmup =
			c->save_every_ns = c->threads = c->offset_ns = c->target = c->chain =
				TLAT_UNSET;
}

/* The file of TLAT_JSON. Several runs under one command of tlat ab share it. */
static void take_environment(struct tlat_run_config *c)
{
	const char *json = getenv("TLAT_JSON"), *of_ab = getenv(TLAT_AB_ENV);

	if (c->json || !json || !*json)
		return;
	c->json = json;
	c->append |= of_ab && !strcmp(json, of_ab);
}

int tlat_run_config(struct tlat_run_config *c, int argc, char **argv)
{
	struct tlat_error error;
	int first, r;

	unset_all(c);
	r = tlat_options_parse(&tlat_run_command, argc, argv, c, &first);
	if (r)
		return r;
	take_environment(c);
	if (first == argc)
		return REFUSE("no probe named; try tlat run 'wake-*', or see tlat list");
	if (tlat_select(&c->selection, argv + first, (size_t)(argc - first), &error) < 0)
		return REFUSE("%s", error.text);
	if (check(c) < 0) {
		tlat_run_config_free(c);
		return -EINVAL;
	}
	resolve(c);
	return 0;
}

void tlat_run_config_free(struct tlat_run_config *config)
{
	tlat_select_free(&config->selection);
}

static int64_t or_zero(int64_t value)
{
	return value == TLAT_DEFAULT ? 0 : tlat_option_or_zero(value);
}

/* Where 0 is a real request. */
static int64_t real_zero(int64_t value)
{
	return value == 0 ? TLAT_ZERO : or_zero(value);
}

static uint32_t flags_of(const struct tlat_run_config *c)
{
	return (c->round_trip ? TLAT_RUN_ROUND_TRIP : 0) | (c->verify ? TLAT_RUN_VERIFY : 0) |
	       (c->strict ? TLAT_RUN_STRICT : 0) | (c->lock_all ? TLAT_RUN_LOCK_ALL : 0) |
	       (c->trace_mark ? TLAT_RUN_TRACE_MARK : 0);
}

void tlat_run_config_opts(const struct tlat_run_config *c, const char *probe, size_t point,
			  struct tlat_run_opts *opts)
{
	tlat_run_opts_init(opts);
	opts->probe = probe;
	opts->cpus = c->cpus;
	opts->samples = (uint64_t)or_zero(c->samples);
	opts->duration_ns = or_zero(c->duration_ns);
	opts->interval_ns = or_zero(c->interval_ns);
	opts->threads = (int32_t)or_zero(c->threads);
	opts->offset_ns = real_zero(c->offset_ns);
	opts->settle_ns = real_zero(c->settle_ns);
	opts->slack_ns = or_zero(c->slack_ns);
	opts->cpu_latency_ns = real_zero(c->cpu_latency_ns);
	opts->warmup = real_zero(c->warmup);
	opts->seed = (uint64_t)c->seed;
	opts->raw = (uint64_t)or_zero(c->raw);
	opts->chain_adds = (uint64_t)or_zero(c->chain);
	opts->policy = (int32_t)c->policy;
	opts->target = (int32_t)or_zero(c->target);
	opts->priority = (int32_t)or_zero(c->priority);
	opts->runtime_ns = or_zero(c->runtime_ns);
	opts->deadline_ns = or_zero(c->deadline_ns);
	opts->period_ns = or_zero(c->period_ns);
	opts->break_ns = or_zero(c->break_ns);
	opts->flags = flags_of(c);
	tlat_sweep_apply(&c->sweep, point, opts);
}

char *tlat_run_config_repeat(const struct tlat_run_config *c, const char *cpus)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("tlat run", out);
	for (size_t i = 0; i < c->selection.n; i++)
		if (tlat_select_repeats(&c->selection, i))
			fprintf(out, " %s", c->selection.probes[i].name);
	if (cpus || c->cpus) {
		fputs(" -c ", out);
		tlat_shell_quote(cpus ? cpus : c->cpus, out);
	}
	tlat_options_repeat(&tlat_run_command, c, out);
	fclose(out);
	return text;
}
