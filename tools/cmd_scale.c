// SPDX-License-Identifier: MIT
/* cmd_scale.c - "tlat scale": what many timers, waiters or pairs cost. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conclude.h"
#include "options.h"
#include "quantity.h"
#include "results.h"
#include "rights.h"
#include "stop.h"
#include "tool.h"

#define SIZES_MAX 32

struct scale_config {
	const char *cpus, *sizes_text, *json;
	int64_t rounds, duration_ns, policy, priority;
	bool threads, append, findings, strict;

	/* derived */
	int64_t sizes[SIZES_MAX];
	size_t n_sizes;
	int32_t what;
};

#define FIELD(name) offsetof(struct scale_config, name)

static const struct tlat_option options[] = {
	{ "cpus", "LIST", "timers: a worker on each; wakeups: the waker's first", &tlat_option_text,
	  FIELD(cpus), 0, 0, 'c', true },
	{ "sizes", "A,B,..", "N, ascending: 1k,5k,20k timers; 1 to 256 waiters", &tlat_option_text,
	  FIELD(sizes_text), 0, 0, 0, true },
	{ "rounds", "N", "timers, wakeups: repetitions of each (5; 50)", &tlat_option_count,
	  FIELD(rounds), 1, 10000, 0, true },
	{ "duration", "TIME", "pairs: of each number (500ms)", &tlat_option_time,
	  FIELD(duration_ns), 1, 0, 'd', true },
	{ "threads", NULL, "timers: workers are threads, not processes", &tlat_option_flag,
	  FIELD(threads), 0, 0, 0, true },
	{ "policy", "NAME", "other (default), fifo, rr, batch, inherit", &tlat_option_policy,
	  FIELD(policy), 0, 0, 0, true },
	{ "prio", "N", "real-time priority, 1 to 99", &tlat_option_count, FIELD(priority), 1, 99,
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
	.name = "scale",
	.operands = "timers|wakeups|pairs",
	.summary = "What many cost: N timers, one wake of N waiters, wakes in N pairs at a time.",
	.notes = "Exponents say how a cost grows with N: 1.0 is constant for each of them.\n"
		 "Exit: 0 fine, 2 no answer.",
	.options = options,
	.n_options = TLAT_ARRAY_SIZE(options),
	.max_operands = 1,
};

#define REFUSE(...) (tlat_complain("scale", __VA_ARGS__), -EINVAL)

/* "20k", "5000" */
static int parse_size(const char *text, size_t length, int64_t *ret_size)
{
	char *end;
	long long n = strtoll(text, &end, 10);

	if (end < text + length && *end == 'k') {
		n = n > 1000000 ? 0 : n * 1000;
		end++;
	}
	if (length == 0 || end != text + length || n < 1 || *text < '0' || *text > '9')
		return REFUSE("--sizes '%.*s': write ascending numbers, such as 1k,5k,20k",
			      (int)(length > 40 ? 40 : length), text);
	*ret_size = n;
	return 0;
}

static int parse_sizes(struct scale_config *c)
{
	for (const char *word = c->sizes_text; word; word++) {
		size_t length = strcspn(word, ",");

		if (c->n_sizes == SIZES_MAX)
			return REFUSE("--sizes: more than %d numbers; leave some out", SIZES_MAX);
		if (parse_size(word, length, &c->sizes[c->n_sizes]) < 0)
			return -EINVAL;
		c->n_sizes++;
		word += length;
		if (!*word)
			break;
	}
	return 0;
}

static int find_what(struct scale_config *c, const char *name)
{
	if (!name)
		return REFUSE("nothing named to scale; use timers, wakeups or pairs");
	c->what = tlat_scale_what_from_name(name);
	if (c->what < 0)
		return REFUSE("no '%.40s' to scale; use timers, wakeups or pairs", name);
	return 0;
}

/* What would not be heeded. */
static int check_effect(const struct scale_config *c)
{
	if (c->threads && c->what != TLAT_SCALE_TIMERS)
		return REFUSE("--threads is for timers; leave it out");
	if (c->duration_ns != TLAT_UNSET && c->what != TLAT_SCALE_PAIRS)
		return REFUSE("-d is for pairs; use --rounds");
	if (c->rounds != TLAT_UNSET && c->what == TLAT_SCALE_PAIRS)
		return REFUSE("--rounds is not for pairs; use -d");
	return 0;
}

static int check(struct scale_config *c, const char *what)
{
	bool real_time = c->policy == TLAT_SCHED_FIFO || c->policy == TLAT_SCHED_RR;

	if (find_what(c, what) < 0 || parse_sizes(c) < 0 || check_effect(c) < 0)
		return -EINVAL;
	if (real_time != (c->priority != TLAT_UNSET))
		return REFUSE("--policy fifo or rr and -p N go together; give both");
	if (c->policy == TLAT_UNSET)
		c->policy = TLAT_SCHED_OTHER;
	return 0;
}

static int measure(const struct scale_config *c, struct tlat_report **ret_report,
		   struct tlat_error *reterr)
{
	const struct tlat_scale_opts opts =
		TLAT_SCALE_OPTS(.cpus = c->cpus, .stop = tlat_stop_flag(), .sizes = c->sizes,
				.n_sizes = c->n_sizes, .rounds = tlat_option_or_zero(c->rounds),
				.duration_ns = tlat_option_or_zero(c->duration_ns), .what = c->what,
				.threads = c->threads, .policy = (int32_t)c->policy,
				.priority = (int32_t)tlat_option_or_zero(c->priority));

	return tlat_scale(ret_report, &opts, reterr);
}

/* What came of it, a line each; to be given to free(3). */
static char *verdicts(const struct tlat_report *report)
{
	const struct tlat_result *result = tlat_report_result(report, 0);
	struct tlat_finding finding;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && tlat_result_finding(result, i, &finding) == 0; i++)
		if (!strcmp(finding.id, "scaling"))
			fprintf(out, "%s\n", finding.text);
	if (out)
		fclose(out);
	return text;
}

static int scale(const struct scale_config *c, int argc, char **argv)
{
	struct tlat_report *report = NULL;
	struct tlat_error error;
	struct tlat_save save;
	char *summary;
	int code, r;

	tlat_save_init(&save, c->json, c->append, TLAT_UNSET);
	r = tlat_save_check(&save, &error);
	if (r == 0) {
		tlat_stop_install();
		tlat_rights_heed_limits("tlat scale", TLAT_EXIT_NO_ANSWER);
		tlat_rights_for_probes(tlat_save_is_file(&save));
		r = measure(c, &report, &error);
	}
	if (r < 0)
		return tlat_complain("scale", "%s", error.text);
	summary = verdicts(report);
	code = tlat_conclude(
		&(struct tlat_conclusion){
			.command = "scale",
			.save = &save,
			.findings = c->findings,
			.strict = c->strict,
			.argc = argc,
			.argv = argv,
			.repeat = tlat_result_repeat(tlat_report_result(report, 0)),
			.summary = summary,
		},
		report);
	tlat_report_free(report);
	free(summary);
	return code;
}

int tlat_cmd_scale(int argc, char **argv)
{
	struct scale_config config = {
		.rounds = TLAT_UNSET,
		.duration_ns = TLAT_UNSET,
		.policy = TLAT_UNSET,
		.priority = TLAT_UNSET,
	};
	char **typed = tlat_options_typed(&command, argc, argv);
	int code = TLAT_EXIT_NO_ANSWER, first, r;

	if (!typed)
		return code;
	r = tlat_options_parse(&command, argc, argv, &config, &first);
	if (r == 0 && check(&config, first < argc ? argv[first] : NULL) == 0)
		code = scale(&config, argc, typed);
	free(typed);
	return r > 0 ? TLAT_EXIT_FINE : code;
}
