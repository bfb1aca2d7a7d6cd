// SPDX-License-Identifier: MIT
/* cmd_storm.c - "tlat storm": one storm, or one at each rate of a list. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conclude.h"
#include "options.h"
#include "quantity.h"
#include "results.h"
#include "rights.h"
#include "save.h"
#include "stop.h"
#include "tool.h"

#define RATES_MAX 64
#define SATURATED 0.99

struct storm_config {
	const char *cpus, *preset, *clocks, *rates, *handler, *json;
	int64_t interval_ns, itimer_interval_ns, duration_ns, timers, policy, priority;
	bool append, findings, strict;

	/* derived */
	int64_t intervals_ns[RATES_MAX]; /* 0: the library's default, or the preset's */
	size_t n;
	int32_t preset_id, handler_id;
};

#define FIELD(name) offsetof(struct storm_config, name)

static const struct tlat_option options[] = {
	{ "cpus", "LIST", "one worker on each (the best one)", &tlat_option_text, FIELD(cpus), 0, 0,
	  'c', false },
	{ "preset", "NAME", "what stress-ng arms: timer or timermix (custom)", &tlat_option_text,
	  FIELD(preset), 0, 0, 0, true },
	{ "clocks", "LIST", "realtime, .. itimer-real, .. timerfd, uring; all", &tlat_option_text,
	  FIELD(clocks), 0, 0, 0, true },
	{ "rate", "A,B,..", "of each timer: 1k,10k,100k,1M; a storm at each (10k)",
	  &tlat_option_text, FIELD(rates), 0, 0, 0, true },
	{ "interval", "TIME", "the period instead of --rate (100us)", &tlat_option_time,
	  FIELD(interval_ns), 100, 0, 'i', true },
	{ "itimer-interval", "TIME", "the period of interval timers (as the others)",
	  &tlat_option_time, FIELD(itimer_interval_ns), 1000, 0, 0, true },
	{ "timers", "N", "timers of each clock and worker (1)", &tlat_option_count, FIELD(timers),
	  1, 4096, 0, true },
	{ "handler", "NAME", "plain (default), or rearm: arms its timer again", &tlat_option_text,
	  FIELD(handler), 0, 0, 0, true },
	{ "duration", "TIME", "length of each storm (2s)", &tlat_option_time, FIELD(duration_ns), 1,
	  0, 'd', true },
	{ "policy", "NAME", "other (default), fifo, rr, batch, inherit", &tlat_option_policy,
	  FIELD(policy), 0, 0, 0, true },
	{ "prio", "N", "real-time priority, 1 to 98", &tlat_option_count, FIELD(priority), 1, 98,
	  'p', true },
	{ "json", "FILE", "write the report; -: to stdout, nothing else there", &tlat_option_text,
	  FIELD(json), 0, 0, 0, false },
	{ "append", NULL, "add a line to the file of --json", &tlat_option_flag, FIELD(append), 0,
	  0, 0, false },
	{ "findings", NULL, "print every finding in full", &tlat_option_flag, FIELD(findings), 0, 0,
	  0, false },
	{ "strict", NULL, "exit 2 when anything degrades the measurement", &tlat_option_flag,
	  FIELD(strict), 0, 0, 0, true },
};

static const struct tlat_command command = {
	.name = "storm",
	.operands = "",
	.summary = "Let timers loose: rates requested, expired, delivered, and what is left.",
	.notes = "Workers are processes, and a watchdog ends what does not end. Rates are per\n"
		 "second; what is delivered below 99 % of what expired is saturated. Exit: 0\n"
		 "fine, 2 no answer, such as when no timer could be armed or a worker died.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
};

#define REFUSE(...) (tlat_complain("storm", __VA_ARGS__), -EINVAL)

/* == The command line == */

/* "10k", "1M", "2500" per second, as a period. */
static int parse_rate(const char *text, size_t length, int64_t *ret_ns)
{
	char *end;
	double hz = strtod(text, &end), ns;

	if (end < text + length && (*end == 'k' || *end == 'M')) {
		hz *= *end == 'k' ? 1e3 : 1e6;
		end++;
	}
	ns = round(1e9 / hz);
	if (end != text + length || !(hz > 0) || !(ns >= 100 && ns <= 1e15))
		return REFUSE("--rate '%.*s': write a number from 1e-6 up to 10M, such as 10k",
			      (int)(length > 40 ? 40 : length), text);
	*ret_ns = (int64_t)ns;
	return 0;
}

static int parse_rates(struct storm_config *c)
{
	const char *word = c->rates;

	if (!word) {
		c->intervals_ns[c->n++] = c->interval_ns == TLAT_UNSET ? 0 : c->interval_ns;
		return 0;
	}
	if (c->interval_ns != TLAT_UNSET)
		return REFUSE("--rate and -i contradict each other; use one");
	for (;; word++) {
		size_t length = strcspn(word, ",");

		if (c->n == RATES_MAX)
			return REFUSE("--rate: more than %d rates; split the sweep", RATES_MAX);
		if (parse_rate(word, length, &c->intervals_ns[c->n]) < 0)
			return -EINVAL;
		c->n++;
		word += length;
		if (!*word)
			return 0;
	}
}

static int find_words(struct storm_config *c)
{
	if (c->preset)
		c->preset_id = tlat_storm_preset_from_name(c->preset);
	if (c->preset_id < 0)
		return REFUSE("--preset '%.40s': use custom, timer or timermix", c->preset);
	if (c->handler)
		c->handler_id = tlat_storm_handler_from_name(c->handler);
	if (c->handler_id < 0)
		return REFUSE("--handler '%.40s': use plain or rearm", c->handler);
	return 0;
}

/* So that the command that repeats it says them. */
static void resolve(struct storm_config *c)
{
	tlat_option_default(&c->duration_ns, 2000000000);
	tlat_option_default(&c->timers, 1);
	tlat_option_default(&c->policy, TLAT_SCHED_OTHER);
	c->handler = tlat_storm_handler_name(c->handler_id);
	if (c->preset_id == TLAT_STORM_CUSTOM && !c->clocks)
		c->clocks = "monotonic";
}

static int check(struct storm_config *c)
{
	bool real_time = c->policy == TLAT_SCHED_FIFO || c->policy == TLAT_SCHED_RR;

	if (parse_rates(c) < 0 || find_words(c) < 0)
		return -EINVAL;
	if (real_time != (c->priority != TLAT_UNSET))
		return REFUSE("--policy fifo or rr and -p N go together; give both");
	resolve(c);
	return 0;
}

static struct tlat_storm_opts opts_of(const struct storm_config *c, size_t point,
				      const struct tlat_machine *machine)
{
	return TLAT_STORM_OPTS(.clocks = c->clocks, .cpus = c->cpus, .machine = machine,
			       .stop = tlat_stop_flag(),
			       .duration_ns = tlat_option_or_zero(c->duration_ns),
			       .interval_ns = c->intervals_ns[point],
			       .itimer_interval_ns = tlat_option_or_zero(c->itimer_interval_ns),
			       .timers = tlat_option_or_zero(c->timers), .preset = c->preset_id,
			       .handler = c->handler_id, .policy = (int32_t)c->policy,
			       .priority = (int32_t)tlat_option_or_zero(c->priority));
}

/* == Saturation == */

static double metric_of(const struct tlat_result *result, const char *name)
{
	struct tlat_metric metric = { .size = sizeof(metric) };

	for (size_t i = 0; tlat_result_metric(result, i, &metric) == 0; i++)
		if (!strcmp(metric.name, name))
			return metric.value;
	return NAN;
}

/* The clock of a "<clock>.delivered_fraction"; false: another metric. */
static bool clock_of(const char *name, char clock[64])
{
	const char *dot = strrchr(name, '.');

	if (!dot || strcmp(dot, ".delivered_fraction"))
		return false;
	snprintf(clock, 64, "%.*s", (int)(dot - name), name);
	return true;
}

/* The lowest rate at which any worker delivered too little of that clock; 0: none. */
static double saturation_hz(const struct tlat_report *report, const char *fraction,
			    const char *requested)
{
	const struct tlat_result *result;
	double lowest = 0;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		double hz = metric_of(result, requested);

		if (metric_of(result, fraction) < SATURATED && (!lowest || hz < lowest))
			lowest = hz;
	}
	return lowest;
}

/* Returns the text, to be given to free(3): one clock after the other. */
static char *saturation_text(const struct tlat_report *report)
{
	const struct tlat_result *first = tlat_report_result(report, 0);
	struct tlat_metric metric = { .size = sizeof(metric) };
	char clock[64], requested[96], *text = NULL;
	const char *before =
		"saturated, less than 99 % of what expired delivered one by one, from: ";
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && tlat_result_metric(first, i, &metric) == 0; i++) {
		double hz;

		if (!clock_of(metric.name, clock))
			continue;
		snprintf(requested, sizeof(requested), "%s.requested_hz", clock);
		hz = saturation_hz(report, metric.name, requested);
		if (hz > 0) {
			fprintf(out, "%s%s %.6g Hz", before, clock, hz);
			before = ", ";
		}
	}
	if (out)
		fclose(out);
	return text;
}

/* == The whole == */

/* The period of what has no rates, whoever chose it. */
static void resolve_interval(struct storm_config *c, const struct tlat_report *report)
{
	struct tlat_summary first;

	tlat_results_summary(tlat_report_result(report, 0), &first);
	if (!c->rates)
		tlat_option_default(&c->interval_ns, first.interval_ns);
}

static int measure(const struct storm_config *c, const struct tlat_machine *machine,
		   struct tlat_report **ret_report, struct tlat_error *reterr)
{
	int r = 0;

	for (size_t i = 0; i < c->n && r == 0 && !(i && tlat_stop_requested()); i++) {
		struct tlat_storm_opts opts = opts_of(c, i, machine);
		struct tlat_report *report;

		r = tlat_storm(&report, &opts, reterr);
		if (r < 0)
			return r;
		if (*ret_report)
			r = tlat_report_append(*ret_report, report);
		else
			*ret_report = report;
		if (r < 0)
			tlat_tool_fail(reterr, r, "results cannot be joined: %s", strerror(-r));
	}
	return r;
}

static int conclude(const struct storm_config *c, const struct tlat_save *save,
		    struct tlat_report *report, int argc, char **argv)
{
	char *repeat = tlat_conclude_repeat(&command, c, report),
	     *saturation = c->rates ? saturation_text(report) : NULL;
	const struct tlat_finding finding = { .id = "saturated",
					      .text = saturation,
					      .severity = TLAT_INFO };
	const struct tlat_conclusion conclusion = {
		.command = "storm",
		.save = save,
		.findings = c->findings,
		.strict = c->strict,
		.argc = argc,
		.argv = argv,
		.repeat = repeat,
		.summary = saturation,
	};
	int code;

	if (saturation && *saturation)
		tlat_report_add_finding(report, &finding);
	code = tlat_conclude(&conclusion, report);
	free(repeat);
	free(saturation);
	return code;
}

static int storm(struct storm_config *c, int argc, char **argv)
{
	struct tlat_report *report = NULL;
	struct tlat_machine *machine = NULL;
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
		r = measure(c, machine, &report, &error);
	}
	if (report) {
		resolve_interval(c, report);
		code = conclude(c, &save, report, argc, argv);
	}
	if (r < 0)
		code = tlat_complain("storm", "%s", error.text);
	tlat_report_free(report);
	tlat_machine_close(machine);
	return code;
}

int tlat_cmd_storm(int argc, char **argv)
{
	struct storm_config config = {
		.interval_ns = TLAT_UNSET,
		.itimer_interval_ns = TLAT_UNSET,
		.duration_ns = TLAT_UNSET,
		.timers = TLAT_UNSET,
		.policy = TLAT_UNSET,
		.priority = TLAT_UNSET,
	};
	char **typed = tlat_options_typed(&command, argc, argv);
	int code = TLAT_EXIT_NO_ANSWER, first, r;

	if (!typed)
		return code;
	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r == 0 && check(&config) == 0)
		code = storm(&config, argc, typed);
	free(typed);
	return r > 0 ? TLAT_EXIT_FINE : code;
}
