// SPDX-License-Identifier: MIT
/* cmd_noise.c - "tlat noise": spin on CPUs, and say what kept the spinning threads from them. */
#include <errno.h>
#include <stdlib.h>

#include "conclude.h"
#include "options.h"
#include "results.h"
#include "rights.h"
#include "save.h"
#include "stop.h"
#include "tool.h"

struct noise_config {
	const char *cpus, *json;
	int64_t duration_ns, threshold_ns, policy, priority, clock;
	bool append, findings, strict;
};

#define FIELD(name) offsetof(struct noise_config, name)

static const struct tlat_option options[] = {
	{ "cpus", "LIST", "one spinning thread on each (the best one)", &tlat_option_text,
	  FIELD(cpus), 0, 0, 'c', false },
	{ "duration", "TIME", "how long to spin (2s)", &tlat_option_time, FIELD(duration_ns), 1, 0,
	  'd', true },
	{ "threshold", "TIME", "shorter gaps are none (1us; 100ns or more)", &tlat_option_time,
	  FIELD(threshold_ns), 100, 1000000000, 0, true },
	{ "policy", "NAME", "fifo (default), rr, other, batch, inherit", &tlat_option_policy,
	  FIELD(policy), 0, 0, 0, true },
	{ "prio", "N", "real-time priority, 1 to 99 (40)", &tlat_option_count, FIELD(priority), 1,
	  99, 'p', true },
	{ "json", "FILE", "write the report; -: to stdout, nothing else there", &tlat_option_text,
	  FIELD(json), 0, 0, 0, false },
	{ "append", NULL, "add a line to the file of --json", &tlat_option_flag, FIELD(append), 0,
	  0, 0, false },
	{ "findings", NULL, "print every finding in full", &tlat_option_flag, FIELD(findings), 0, 0,
	  0, false },
	{ "strict", NULL, "exit 2 when anything degrades the measurement", &tlat_option_flag,
	  FIELD(strict), 0, 0, 0, true },
	{ "clock", "SOURCE", "auto, tsc, cntvct, rdtime, clock_gettime", &tlat_option_clock,
	  FIELD(clock), 0, 0, 0, true },
};

static const struct tlat_command command = {
	.name = "noise",
	.operands = "",
	.summary = "Spin on CPUs, and see the gaps: how many, how long, from what.",
	.notes = "Gaps are put down to interrupts, switches, real-time throttling, time that the\n"
		 "hypervisor stole, or to nothing that was counted. A thread under fifo takes its\n"
		 "CPU for itself while it spins. Exit: 0 fine, 2 no answer.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
};

#define REFUSE(...) (tlat_complain("noise", __VA_ARGS__), -EINVAL)

static int check(struct noise_config *c)
{
	bool real_time = c->policy == TLAT_UNSET || c->policy == TLAT_SCHED_FIFO ||
			 c->policy == TLAT_SCHED_RR;

	if (c->priority != TLAT_UNSET && !real_time)
		return REFUSE("-p %d needs --policy fifo or rr, not %s", (int)c->priority,
			      tlat_policy_name((int)c->policy));
	tlat_option_default(&c->duration_ns, 2000000000);
	tlat_option_default(&c->threshold_ns, 1000);
	tlat_option_default(&c->policy, TLAT_SCHED_FIFO);
	if (real_time)
		tlat_option_default(&c->priority, 40);
	tlat_option_default(&c->clock, TLAT_CLOCK_AUTO);
	return 0;
}

static int conclude(const struct noise_config *c, const struct tlat_save *save,
		    struct tlat_report *report, int argc, char **argv)
{
	char *repeat = tlat_conclude_repeat(&command, c, report);
	const struct tlat_conclusion conclusion = {
		.command = "noise",
		.save = save,
		.findings = c->findings,
		.strict = c->strict,
		.argc = argc,
		.argv = argv,
		.repeat = repeat,
	};
	int code = tlat_conclude(&conclusion, report);

	free(repeat);
	return code;
}

static int measure(const struct noise_config *c, const struct tlat_machine *machine,
		   struct tlat_clock *clock, struct tlat_report **ret_report,
		   struct tlat_error *reterr)
{
	const struct tlat_noise_opts opts =
		TLAT_NOISE_OPTS(.cpus = c->cpus, .machine = machine, .clock = clock,
				.stop = tlat_stop_flag(), .duration_ns = c->duration_ns,
				.threshold_ns = c->threshold_ns, .policy = (int32_t)c->policy,
				.priority = (int32_t)tlat_option_or_zero(c->priority));

	return tlat_noise(ret_report, &opts, reterr);
}

/* The repeat command names the source that was used, not the wish for one. */
static int open_clock(struct noise_config *c, const struct tlat_machine *machine,
		      struct tlat_clock **ret_clock, struct tlat_error *reterr)
{
	struct tlat_clock_facts facts = { .size = sizeof(facts) };
	int r = tlat_clock_open(ret_clock, machine, (int)c->clock, reterr);

	if (r == 0 && tlat_clock_facts(*ret_clock, &facts) == 0)
		c->clock = facts.source;
	return r;
}

static int noise(struct noise_config *c, int argc, char **argv)
{
	struct tlat_report *report = NULL;
	struct tlat_machine *machine = NULL;
	struct tlat_clock *clock = NULL;
	struct tlat_error error;
	struct tlat_save save;
	int code = TLAT_EXIT_NO_ANSWER, r;

	tlat_save_init(&save, c->json, c->append, TLAT_UNSET);
	r = tlat_save_check(&save, &error);
	if (r == 0)
		r = tlat_machine_open(&machine, NULL, &error);
	if (r == 0) {
		tlat_stop_install();
		tlat_rights_for_probes(tlat_save_is_file(&save));
		tlat_rights_limit_rt(c->duration_ns, "tlat noise", TLAT_EXIT_NO_ANSWER);
		r = open_clock(c, machine, &clock, &error);
	}
	if (r == 0)
		r = measure(c, machine, clock, &report, &error);
	if (report)
		code = conclude(c, &save, report, argc, argv);
	if (r < 0)
		code = tlat_complain("noise", "%s", error.text);
	tlat_report_free(report);
	tlat_clock_close(clock);
	tlat_machine_close(machine);
	return code;
}

int tlat_cmd_noise(int argc, char **argv)
{
	struct noise_config config = {
		.duration_ns = TLAT_UNSET,
		.threshold_ns = TLAT_UNSET,
		.policy = TLAT_UNSET,
		.priority = TLAT_UNSET,
		.clock = TLAT_UNSET,
	};
	char **typed = tlat_options_typed(&command, argc, argv);
	int code = TLAT_EXIT_NO_ANSWER, first, r;

	if (!typed)
		return code;
	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r == 0 && check(&config) == 0)
		code = noise(&config, argc, typed);
	free(typed);
	return r > 0 ? TLAT_EXIT_FINE : code;
}
