// SPDX-License-Identifier: MIT
/*
 * cmd_run.c - "tlat run" from the command line to the exit code. The order of the steps matters:
 * the load is forked with the user's rights, capabilities shrink before threads exist, and
 * signals are held back from then on.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "conclude.h"
#include "measure.h"
#include "results.h"
#include "rights.h"
#include "selftest.h"
#include "stop.h"
#include "tool.h"
#include "verdict.h"

/* A CPU word that means nothing here is said before anything is started. */
static int check_cpus(const struct tlat_session *s, struct tlat_error *reterr)
{
	const char *cpus = s->config.cpus;
	int32_t pair[2];
	int n;

	if (!cpus)
		return 0;
	n = tlat_machine_cpus(s->machine, cpus, pair, 2, reterr);
	if (n < 0)
		return n;
	if (tlat_select_pairs(&s->config.selection) && n > 2)
		return tlat_tool_fail(reterr, -EINVAL,
				      "-c %.100s: %d CPUs for a pair; name two (KICK,WAIT) or one",
				      cpus, n);
	if (s->config.two_way && n == 1)
		return tlat_tool_fail(
			reterr, -EINVAL,
			"-c %.100s: --two-way needs two CPUs; name them, such as -c 0,1", cpus);
	return 0;
}

/* CPUs that the runs will be on, as far as that is known before they start. */
static size_t measuring_cpus(const struct tlat_session *s, int32_t *cpus, size_t max)
{
	struct tlat_error error;
	size_t pairs = tlat_select_pairs(&s->config.selection);
	int n;

	if (s->config.cpus)
		n = tlat_machine_cpus(s->machine, s->config.cpus, cpus, max, &error);
	else
		n = tlat_machine_choose(s->machine, pairs > 0, cpus, &error);
	return n < 0 ? 0 : (size_t)n < max ? (size_t)n : max;
}

static int start_load(struct tlat_session *s, struct tlat_error *reterr)
{
	int32_t *cpus;
	size_t n;
	int r;

	if (!s->config.load)
		return 0;
	cpus = calloc(TLAT_CPUS_MAX, sizeof(*cpus));
	if (!cpus)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory for a CPU list");
	n = measuring_cpus(s, cpus, TLAT_CPUS_MAX);
	r = tlat_load_start(&s->load, s->config.load, s->machine, cpus, n, reterr);
	free(cpus);
	return r;
}

/* The repeat command names the source that was used, not the wish for one. */
static int open_clock(struct tlat_session *s, struct tlat_error *reterr)
{
	struct tlat_clock_facts facts = { .size = sizeof(facts) };
	int r = tlat_clock_open(&s->clock, s->machine, (int)s->config.clock, reterr);

	if (r < 0)
		return r;
	if (tlat_clock_facts(s->clock, &facts) == 0)
		s->config.clock = facts.source;
	return 0;
}

/* As a part of tlat ab, that is not to go on alone, whatever ends the rest. */
static void end_with_parent(void)
{
	if (getenv(TLAT_AB_ENV))
		prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* Whether a run writes to /dev/cpu_dma_latency. */
static bool holds_idle(const struct tlat_run_config *c)
{
	return c->cpu_latency_ns != TLAT_DEFAULT;
}

/* Whether a thread takes CPU time for as long as it waits. */
static bool waits_awake(const struct tlat_run_config *c)
{
	for (size_t i = 0; i < c->selection.n; i++)
		if (c->selection.probes[i].spins)
			return true;
	return c->target == TLAT_TARGET_BUSY;
}

/* For how long one of its real-time threads may run without a rest: a waker settles, a thread that
 * spins does so until its expiry or its kick. */
static int64_t longest_spin_ns(const struct tlat_run_config *c)
{
	int64_t settle_ns = tlat_sweep_max_settle_ns(&c->sweep, tlat_option_or_zero(c->settle_ns));
	int64_t wait_ns = waits_awake(c) ? tlat_option_or_zero(c->interval_ns) : 0;

	return settle_ns > wait_ns ? settle_ns : wait_ns;
}

static int prepare(struct tlat_session *s, struct tlat_error *reterr)
{
	int r;

	tlat_save_init(&s->save, s->config.json, s->config.append, s->config.save_every_ns);
	r = tlat_save_check(&s->save, reterr);
	if (r < 0)
		return r;
	r = tlat_machine_open(&s->machine, NULL, reterr);
	if (r < 0)
		return r;
	r = check_cpus(s, reterr);
	if (r < 0)
		return r;
	tlat_stop_install();
	r = start_load(s, reterr);
	if (r < 0)
		return r;
	tlat_rights_for_probes(tlat_save_is_file(&s->save) || holds_idle(&s->config) ||
			       s->config.trace_mark);
	end_with_parent();
	tlat_rights_limit_rt(longest_spin_ns(&s->config), "tlat run", TLAT_EXIT_NO_ANSWER);
	return open_clock(s, reterr);
}

static int exit_code(int verdict)
{
	static const int codes[] = {
		[TLAT_PASS] = TLAT_EXIT_FINE,
		[TLAT_INCONCLUSIVE] = TLAT_EXIT_INCONCLUSIVE,
		[TLAT_FAIL] = TLAT_EXIT_BAD,
	};

	return codes[verdict];
}

static void print_report(const struct tlat_session *s, FILE *out)
{
	tlat_results_machine(s->report, out);
	tlat_results_print(s->report, out);
	tlat_findings_print(s->report, s->config.findings, out);
}

static void print_end(const struct tlat_session *s, FILE *out)
{
	if (tlat_stop_requested())
		fputs("ended by a signal; this is what had been measured\n", out);
	tlat_findings_say(s->report, "break", out);
	tlat_results_repeat(s->report, out);
}

/* Table, verdict, JSON. Returns the exit code. */
static int conclude(struct tlat_session *s)
{
	FILE *out = s->save.path && !tlat_save_is_file(&s->save) ? NULL : stdout;
	struct tlat_error error;
	int code = TLAT_EXIT_FINE, verdict, measured;

	tlat_stop_finish();
	if (s->load)
		tlat_load_note(s->load, s->report);
	tlat_selftest_quote(s->report);
	if (out)
		print_report(s, out);
	if (s->config.budget) {
		verdict = tlat_verdict(s->report, s->config.budget, !tlat_stop_requested(), out,
				       &error);
		code = verdict < 0 ? tlat_complain("run", "--budget: %s", error.text)
				   : exit_code(verdict);
	}
	if (out)
		print_end(s, out);
	if (tlat_save_end(&s->save, s->report, &error) < 0)
		return tlat_complain("run", "%s", error.text);
	if (code == TLAT_EXIT_NO_ANSWER)
		return code;
	if (tlat_measure_broke(s) || code == TLAT_EXIT_BAD) /* whatever degraded it */
		return TLAT_EXIT_BAD;
	measured = tlat_conclude_measured("run", s->config.strict, s->report);
	return measured == TLAT_EXIT_FINE ? code : measured;
}

static void close_session(struct tlat_session *s)
{
	tlat_report_free(s->report);
	tlat_clock_close(s->clock);
	tlat_machine_close(s->machine);
	tlat_run_config_free(&s->config);
}

static int run_session(struct tlat_session *s)
{
	struct tlat_error error = { 0 };
	int code = TLAT_EXIT_FINE, r;

	r = prepare(s, &error);
	if (r == 0)
		r = tlat_measure(s, &error);
	if (s->report)
		code = conclude(s);
	tlat_load_stop(s->load);
	return r < 0 ? tlat_complain("run", "%s", error.text) : code;
}

int tlat_cmd_run(int argc, char **argv)
{
	struct tlat_session session = { .argc = argc };
	int code = TLAT_EXIT_NO_ANSWER, r;

	session.argv = tlat_options_typed(&tlat_run_command, argc, argv);
	if (!session.argv)
		return code;
	r = tlat_run_config(&session.config, argc, argv);
	if (r == 0) {
		code = run_session(&session);
		close_session(&session);
	}
	free(session.argv);
	return r > 0 ? TLAT_EXIT_FINE : code;
}
