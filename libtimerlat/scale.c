// SPDX-License-Identifier: MIT
/* scale.c - a scale measurement from its options to its report. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repeat.h"
#include "rt.h"
#include "scale.h"

#define MAX_N	   10000000
#define MAX_NS	   1000000000000000000LL
#define PAIRS_EACH 8 /* pairs per CPU, at most by default */

TLAT_ASSERT_LAYOUT(struct tlat_scale_opts, 9 * 8 + 4 * 4);

static const struct {
	const char *name, *from, *to;
	int64_t sizes[9]; /* 0: the end */
	int64_t rounds, most;
	int (*measure)(struct tlat_scale *scale, struct tlat_error *reterr);
} kinds[] = {
	[TLAT_SCALE_TIMERS] = { "timers",
				"the first call of a phase",
				"the last one's return",
				{ 1000, 5000, 20000 },
				5,
				MAX_N,
				tlat_scale_timers },
	[TLAT_SCALE_WAKEUPS] = { "wakeups",
				 "before futex(FUTEX_WAKE)",
				 "after it returned, or after a waiter's futex(FUTEX_WAIT) did",
				 { 1, 2, 4, 8, 16, 32, 64, 128, 256 },
				 50,
				 4096,
				 tlat_scale_wakeups },
	[TLAT_SCALE_PAIRS] = { "pairs",
			       "before futex(FUTEX_WAKE)",
			       "after futex(FUTEX_WAIT) returned on the other side",
			       { 0 },
			       1,
			       1024,
			       tlat_scale_pairs },
};

const char *tlat_scale_what_name(int what)
{
	return what >= 0 && what < (int)TLAT_ARRAY_SIZE(kinds) ? kinds[what].name : NULL;
}

int tlat_scale_what_from_name(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return (int)i;
	return -EINVAL;
}

/* == Series == */

int tlat_scale_series_init(struct tlat_scale_series *series, size_t max)
{
	*series = (struct tlat_scale_series){ .max = max };
	series->x = calloc(max, sizeof(*series->x));
	series->y = calloc(max, sizeof(*series->y));
	return series->x && series->y ? 0 : -ENOMEM;
}

void tlat_scale_series_add(struct tlat_scale_series *series, double x, double y)
{
	if (series->n == series->max || !(y > 0))
		return;
	series->x[series->n] = x;
	series->y[series->n++] = y;
}

void tlat_scale_series_free(struct tlat_scale_series *series)
{
	free(series->x);
	free(series->y);
}

void tlat_scale_put(struct tlat_result *result, const struct tlat_scale_series *series,
		    const char *phase, const char *what, int64_t n)
{
	struct tlat_number number = { .unit = "ns", .better = TLAT_LOWER };
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < series->n; i++)
		if (series->x[i] == (double)n) {
			sum += series->y[i];
			number.n++;
		}
	if (!number.n)
		return;
	mean = sum / (double)number.n;
	for (size_t i = 0; i < series->n; i++)
		if (series->x[i] == (double)n)
			squares += (series->y[i] - mean) * (series->y[i] - mean);
	number.value = mean;
	number.sd = number.n > 1 ? sqrt(squares / (double)(number.n - 1)) : (double)NAN;
	snprintf(number.name, sizeof(number.name), "%s.N%" PRId64 ".%s", phase, n, what);
	tlat_result_add_metric(result, &number);
}

bool tlat_scale_exponent(struct tlat_result *result, const struct tlat_scale_series *series,
			 const char *phase, struct tlat_fit *ret_fit)
{
	struct tlat_number number = { .unit = "1", .better = TLAT_LOWER, .n = series->n };

	if (!tlat_fit_power(series->x, series->y, series->n, ret_fit))
		return false;
	number.value = ret_fit->slope;
	number.sd = ret_fit->se;
	snprintf(number.name, sizeof(number.name), "%s.exponent", phase);
	tlat_result_add_metric(result, &number);
	tlat_result_put_metric(result, ret_fit->lo, "1", TLAT_NEITHER, "%s.exponent_lo", phase);
	tlat_result_put_metric(result, ret_fit->hi, "1", TLAT_NEITHER, "%s.exponent_hi", phase);
	return true;
}

/* == Stops == */

uint64_t tlat_scale_nap(int64_t ns)
{
	const struct timespec nap = tlat_timespec_of_ns(ns);
	uint64_t began = tlat_gettime_ns(CLOCK_MONOTONIC), late;

	nanosleep(&nap, NULL);
	late = tlat_gettime_ns(CLOCK_MONOTONIC) - began - (uint64_t)ns;
	return (int64_t)late > TLAT_AWAY_NS ? late : 0;
}

void tlat_scale_note_away(struct tlat_scale *s, uint64_t away_ns)
{
	s->n_away += away_ns > 0;
	if (away_ns > s->longest_away_ns)
		s->longest_away_ns = away_ns;
}

static void find_away(struct tlat_scale *s)
{
	if (s->n_away)
		tlat_findings_add(
			&s->result->findings, TLAT_WARN, "stopped",
			"measure again; look for throttling, steal and stop signals",
			"the thread that times the measurement was kept from its CPU "
			"%" PRIu64 " time%s, up to %.0f ms, and the figures contain that: "
			"real-time throttling, another thread, the hypervisor, or a stop "
			"signal",
			s->n_away, s->n_away == 1 ? "" : "s", (double)s->longest_away_ns / 1e6);
}

/* == Options == */

static int check_sizes(const struct tlat_scale_opts *o, struct tlat_error *reterr)
{
	if (o->n_sizes > TLAT_SCALE_SIZES_MAX || (o->n_sizes && !o->sizes))
		return tlat_fail(reterr, -EINVAL,
				 "%zu sizes are too many, or not there; at most %d", o->n_sizes,
				 TLAT_SCALE_SIZES_MAX);
	for (size_t i = 0; i < o->n_sizes; i++)
		if (o->sizes[i] < 1 || o->sizes[i] > kinds[o->what].most ||
		    (i && o->sizes[i] <= o->sizes[i - 1]))
			return tlat_fail(reterr, -EINVAL,
					 "size %" PRId64 " is outside 1..%" PRId64
					 ", or not above the one before; give ascending numbers",
					 o->sizes[i], kinds[o->what].most);
	return 0;
}

static int check_opts(const struct tlat_scale_opts *o, struct tlat_error *reterr)
{
	const struct tlat_rt_opts rt = TLAT_RT_OPTS(.policy = o->policy, .priority = o->priority);

	if (!tlat_scale_what_name(o->what) || (o->threads && o->what != TLAT_SCALE_TIMERS))
		return tlat_fail(reterr, -EINVAL,
				 "scale %d with threads %d is not known to libtimerlat %s; threads "
				 "are for timers",
				 o->what, o->threads, TLAT_VERSION);
	if (o->policy == TLAT_SCHED_DEADLINE)
		return tlat_fail(reterr, -EINVAL,
				 "policy deadline cannot be scaled; use fifo, rr, "
				 "other or batch");
	if (o->rounds < 0 || o->rounds > TLAT_SCALE_ROUNDS_MAX || o->duration_ns < 0 ||
	    o->duration_ns > MAX_NS)
		return tlat_fail(reterr, -EINVAL,
				 "%" PRId64 " rounds of %" PRId64 " ns: at most %d rounds",
				 o->rounds, o->duration_ns, TLAT_SCALE_ROUNDS_MAX);
	if (tlat_rt_opts_check(&rt, reterr) < 0)
		return -EINVAL;
	return check_sizes(o, reterr);
}

static void choose_sizes(struct tlat_scale *s)
{
	const struct tlat_scale_opts *o = &s->opts;
	const int64_t *from = o->n_sizes ? o->sizes : kinds[o->what].sizes;
	size_t max = o->n_sizes ? o->n_sizes : TLAT_ARRAY_SIZE(kinds[0].sizes);

	for (size_t i = 0; i < max && from[i]; i++)
		s->sizes[s->n_sizes++] = from[i];
	for (int64_t n = 1; o->what == TLAT_SCALE_PAIRS && !o->n_sizes && n <= 1024 &&
			    n <= (int64_t)s->place->n * PAIRS_EACH;
	     n *= 2)
		s->sizes[s->n_sizes++] = n;
	s->rounds = o->rounds ? o->rounds : kinds[o->what].rounds;
}

static int place(struct tlat_scale *s, struct tlat_error *reterr)
{
	const char *cpus = s->opts.cpus;

	s->place = malloc(sizeof(*s->place));
	if (!s->place)
		return tlat_fail(reterr, -ENOMEM, "no memory for a list of CPUs");
	if (s->opts.what == TLAT_SCALE_WAKEUPS && !cpus)
		return tlat_machine_place_pair(s->machine, NULL, s->place, &s->findings, reterr);
	if (s->opts.what == TLAT_SCALE_PAIRS && !cpus)
		cpus = "all";
	return tlat_machine_place_solo(s->machine, cpus, s->place, &s->findings, reterr);
}

static int prepare(struct tlat_scale *s, const struct tlat_scale_opts *opts,
		   struct tlat_error *reterr)
{
	int error = tlat_opts_copy(&s->opts, sizeof(s->opts), opts, reterr);

	if (!error)
		error = check_opts(&s->opts, reterr);
	if (error)
		return error;
	s->machine = s->opts.machine;
	if (!s->machine)
		error = tlat_machine_open(&s->own_machine, NULL, reterr);
	if (s->own_machine)
		s->machine = s->own_machine;
	if (!error)
		error = place(s, reterr);
	if (error)
		return error;
	s->result = tlat_result_new();
	if (!s->result)
		return tlat_fail(reterr, -ENOMEM, "no memory for a result");
	choose_sizes(s);
	s->priority = s->opts.priority;
	s->policy = tlat_rt_grant(s->opts.policy, &s->priority, &s->result->findings);
	return 0;
}

/* == Report == */

static char *repeat(const struct tlat_scale *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "tlat scale %s -c ", kinds[s->opts.what].name);
	for (int32_t i = 0; i < s->place->n; i++)
		fprintf(out, "%s%d", i ? "," : "", s->place->cpus[i]);
	fputs(" --sizes ", out);
	for (size_t i = 0; i < s->n_sizes; i++)
		fprintf(out, "%s%" PRId64, i ? "," : "", s->sizes[i]);
	if (s->opts.what == TLAT_SCALE_PAIRS)
		tlat_repeat_time(out, "-d", s->opts.duration_ns);
	else
		fprintf(out, " --rounds %" PRId64, s->rounds);
	if (s->opts.threads)
		fputs(" --threads", out);
	tlat_repeat_policy(out, s->opts.policy, s->opts.priority);
	fclose(out);
	return text;
}

static void describe(struct tlat_scale *s, uint64_t began)
{
	struct tlat_result *result = s->result;

	result->kind = "scale";
	snprintf(result->probe, sizeof(result->probe), "scale-%s", kinds[s->opts.what].name);
	snprintf(result->from, sizeof(result->from), "%s", kinds[s->opts.what].from);
	snprintf(result->to, sizeof(result->to), "%s", kinds[s->opts.what].to);
	result->policy_asked = s->opts.policy;
	result->priority_asked = s->opts.priority;
	result->duration_ns = (int64_t)(tlat_gettime_ns(CLOCK_MONOTONIC) - began);
	result->end = s->stopped ? TLAT_END_SIGNAL : TLAT_END_COUNT;
	result->repeat = repeat(s);
}

static int make_report(struct tlat_scale *s, struct tlat_report **ret_report, int64_t started)
{
	struct tlat_report *report;
	int error = tlat_report_new(&report, s->machine, s->opts.clock, 0);

	if (error)
		return error;
	error = tlat_report_add(report, s->result);
	s->result = NULL;
	tlat_report_started(report, started);
	return tlat_report_hand_over(report, error, &s->findings, ret_report);
}

static int measure(struct tlat_scale *s, struct tlat_report **ret_report, struct tlat_error *reterr)
{
	int64_t started = (int64_t)tlat_gettime_ns(CLOCK_REALTIME);
	uint64_t began = tlat_gettime_ns(CLOCK_MONOTONIC);
	int error = kinds[s->opts.what].measure(s, reterr);

	if (error)
		return error;
	describe(s, began);
	find_away(s);
	tlat_machine_audit(s->machine, s->place, &s->findings);
	error = make_report(s, ret_report, started);
	return error ? tlat_fail(reterr, error, "no report: %s", strerror(-error)) : 0;
}

int tlat_scale(struct tlat_report **ret_report, const struct tlat_scale_opts *opts,
	       struct tlat_error *reterr)
{
	struct tlat_scale s = { 0 };
	int error;

	tlat_error_begin(reterr);
	error = prepare(&s, opts, reterr);
	if (!error)
		error = measure(&s, ret_report, reterr);
	tlat_result_free(s.result);
	tlat_findings_free(&s.findings);
	tlat_machine_close(s.own_machine);
	free(s.place);
	return tlat_error_end(reterr, error);
}
