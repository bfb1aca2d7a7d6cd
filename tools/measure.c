// SPDX-License-Identifier: MIT
/* measure.c - the order of runs: sweep points, probes, directions. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "measure.h"
#include "quantity.h"
#include "results.h"
#include "rights.h"
#include "stop.h"
#include "tool.h"

static bool is_last(const struct tlat_session *s, size_t point, size_t probe)
{
	return point + 1 == s->config.sweep.n && probe + 1 == s->config.selection.n;
}

static int add_report(struct tlat_session *s, struct tlat_report *report, struct tlat_error *reterr)
{
	int r;

	if (!s->report) {
		s->report = report;
		return 0;
	}
	r = tlat_report_append(s->report, report);
	return r < 0 ? tlat_tool_fail(reterr, r, "results cannot be joined: %s", strerror(-r)) : 0;
}

/* The CPUs that were asked for, by number: words mean others on another machine. */
static const char *asked_cpus(const struct tlat_session *s, char *text, size_t size)
{
	int32_t *cpus = calloc(TLAT_CPUS_MAX, sizeof(*cpus));
	struct tlat_error error;
	size_t used = 0;
	int n = cpus ? tlat_machine_cpus(s->machine, s->config.cpus, cpus, TLAT_CPUS_MAX, &error)
		     : 0;

	for (int i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRId32, i ? "," : "",
					 cpus[i]);
	free(cpus);
	/* A list that is too long stays as it was typed. */
	return n > 0 && used < size ? text : NULL;
}

/* As -c takes them: "0,1"; a pair on one CPU, and a timer: "1". */
static void cpus_list(const struct tlat_summary *s, char *text, size_t size)
{
	if (s->kick_cpu < 0 || s->kick_cpu == s->wait_cpu)
		snprintf(text, size, "%" PRId32, s->wait_cpu);
	else
		snprintf(text, size, "%" PRId32 ",%" PRId32, s->kick_cpu, s->wait_cpu);
}

/* The CPUs of all runs when one list means them; else the default choice repeats itself. */
static const char *common_cpus(const struct tlat_session *s, const struct tlat_report *report,
			       char *text, size_t size)
{
	const struct tlat_result *result;
	struct tlat_summary summary;
	char other[32];

	*text = '\0';
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		tlat_results_summary(result, &summary);
		if (!summary.asked)
			continue;
		cpus_list(&summary, other, sizeof(other));
		if (!*text)
			snprintf(text, size, "%s", other);
		else if (!s->config.two_way && strcmp(text, other))
			return NULL;
	}
	return *text ? text : NULL;
}

static void set_origin(const struct tlat_session *s, struct tlat_report *report)
{
	char text[256], *repeat;
	const char *cpus;

	if (!report)
		return;
	cpus = s->config.cpus ? asked_cpus(s, text, sizeof(text))
			      : common_cpus(s, report, text, sizeof(text));
	repeat = tlat_run_config_repeat(&s->config, cpus);
	tlat_report_set_origin(report, s->argc, s->argv, repeat);
	free(repeat);
}

/* The runs before, then this one so far. NULL: it is over, or memory is short. */
static struct tlat_report *so_far(const struct tlat_session *s, struct tlat_run *run)
{
	struct tlat_report *whole, *now;

	if (tlat_run_snapshot(run, &now, NULL) < 0)
		return NULL;
	if (!s->report)
		return now;
	if (tlat_report_copy(&whole, s->report) < 0) {
		tlat_report_free(now);
		return NULL;
	}
	if (!tlat_report_append(whole, now))
		return whole;
	tlat_report_free(whole);
	return NULL;
}

static void save_so_far(struct tlat_session *s, struct tlat_run *run)
{
	struct tlat_report *report = so_far(s, run);

	if (!report)
		return;
	set_origin(s, report);
	tlat_save_now(&s->save, report);
	tlat_report_free(report);
}

/* The shorter of two pauses, of which -1 is the longest. */
static int shorter_ms(int a_ms, int b_ms)
{
	return (unsigned int)a_ms < (unsigned int)b_ms ? a_ms : b_ms;
}

/* What is due while a run goes on is due here. */
static void wait_for_end(struct tlat_session *s, struct tlat_run *run, const char *label)
{
	struct tlat_live live;

	tlat_live_init(&live, label, !s->config.quiet, s->config.sort);
	while (!tlat_stop_poll(
		run, shorter_ms(tlat_live_pause_ms(&live), tlat_save_pause_ms(&s->save)))) {
		tlat_live_draw(&live, run);
		if (!tlat_save_pause_ms(&s->save))
			save_so_far(s, run);
	}
	tlat_live_end(&live);
}

/* The first run starts even after a signal, and is then stopped: its report says so. */
static int run_once(struct tlat_session *s, const struct tlat_run_opts *opts, bool last,
		    struct tlat_error *reterr)
{
	struct tlat_report *report;
	struct tlat_run *run;
	int r;

	r = tlat_run_start(&run, opts, reterr);
	if (r < 0)
		return r;
	if (last)
		tlat_rights_for_writing(tlat_save_is_file(&s->save));
	wait_for_end(s, run, opts->probe);
	r = tlat_run_wait(run, &report, reterr);
	return r < 0 ? r : add_report(s, report, reterr);
}

/* The offset of the two CPUs' clocks enters both directions with opposite signs. */
static void note_two_way(struct tlat_session *s, const struct tlat_summary *there,
			 const struct tlat_summary *back, const char *probe)
{
	char text[300], mean[TLAT_QUANTITY_TEXT], a[TLAT_QUANTITY_TEXT], b[TLAT_QUANTITY_TEXT];
	const struct tlat_finding finding = { .id = "two-way",
					      .text = text,
					      .severity = TLAT_INFO };

	snprintf(text, sizeof(text),
		 "%s: mean of both means %s (%" PRId32 "->%" PRId32 " %s, back %s), free of the "
		 "clock offset between the CPUs",
		 probe, tlat_time_short((there->mean_ns + back->mean_ns) / 2, 4, mean),
		 there->kick_cpu, there->wait_cpu, tlat_time_short(there->mean_ns, 4, a),
		 tlat_time_short(back->mean_ns, 4, b));
	tlat_report_add_finding(s->report, &finding);
}

static void note_no_way_back(struct tlat_session *s)
{
	const struct tlat_finding finding = {
		.id = "two-way",
		.severity = TLAT_WARN,
		.text = "--two-way had only one CPU to use, so there is no way back",
		.remedy = "name two CPUs: -c 0,1",
	};

	tlat_report_add_finding(s->report, &finding);
}

static int run_back(struct tlat_session *s, const struct tlat_run_opts *opts, size_t first,
		    bool last, struct tlat_error *reterr)
{
	const struct tlat_result *result = tlat_report_result(s->report, first);
	struct tlat_run_opts other_way = *opts;
	struct tlat_summary there, back;
	char cpus[32];
	int r;

	if (!result || tlat_stop_requested() || tlat_measure_broke(s))
		return 0;
	tlat_results_summary(result, &there);
	if (!there.asked) /* an unsupported probe has no direction */
		return 0;
	if (there.kick_cpu == there.wait_cpu) {
		note_no_way_back(s);
		return 0;
	}
	snprintf(cpus, sizeof(cpus), "%" PRId32 ",%" PRId32, there.wait_cpu, there.kick_cpu);
	other_way.cpus = cpus;
	r = run_once(s, &other_way, last, reterr);
	if (r < 0)
		return r;
	tlat_results_summary(tlat_report_result(s->report, tlat_results_count(s->report) - 1),
			     &back);
	if (isfinite(there.mean_ns) && isfinite(back.mean_ns))
		note_two_way(s, &there, &back, opts->probe);
	return 0;
}

static int run_probe(struct tlat_session *s, size_t point, size_t probe, struct tlat_error *reterr)
{
	size_t before = s->report ? tlat_results_count(s->report) : 0;
	bool last = is_last(s, point, probe);
	struct tlat_run_opts opts;
	int r;

	tlat_run_config_opts(&s->config, s->config.selection.probes[probe].name, point, &opts);
	opts.machine = s->machine;
	opts.clock = s->clock;
	r = run_once(s, &opts, last && !s->config.two_way, reterr);
	if (r < 0 || !s->config.two_way)
		return r;
	return run_back(s, &opts, before, last, reterr);
}

static void name_run(const struct tlat_session *s, size_t point, size_t probe, FILE *out)
{
	const struct tlat_sweep *sweep = &s->config.sweep;
	char value[TLAT_QUANTITY_TEXT];

	fputs(s->config.selection.probes[probe].name, out);
	if (sweep->kind == TLAT_SWEEP_NONE)
		return;
	fprintf(out, " at %s %s", sweep->kind == TLAT_SWEEP_SETTLE ? "settle" : "cpu-latency",
		sweep->points_ns[point] == TLAT_DEFAULT
			? "default"
			: tlat_time_exact(sweep->points_ns[point], value));
}

/* Runs are numbered in their order: the probes of the first point, those of the second. */
static void note_not_started(struct tlat_session *s, size_t from, const char *cause)
{
	size_t probes = s->config.selection.n, runs = probes * s->config.sweep.n, size;
	struct tlat_finding finding = { .id = "not-started", .severity = TLAT_INFO };
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "%s ended the measurement before these were started: ", cause);
	for (size_t i = from; i < runs; i++) {
		if (i > from)
			fputs(", ", out);
		name_run(s, i / probes, i % probes, out);
	}
	fclose(out);
	finding.text = text;
	if (text)
		tlat_report_add_finding(s->report, &finding);
	free(text);
}

bool tlat_measure_broke(const struct tlat_session *s)
{
	return s->report && !strcmp(tlat_report_end(s->report), "break");
}

/* What keeps the next run from being started; NULL: nothing. */
static const char *cause_of_end(const struct tlat_session *s)
{
	if (s->report && tlat_stop_requested())
		return "a signal";
	return tlat_measure_broke(s) ? "a value above --break" : NULL;
}

int tlat_measure(struct tlat_session *s, struct tlat_error *reterr)
{
	size_t probes = s->config.selection.n;

	for (size_t i = 0; i < probes * s->config.sweep.n; i++) {
		const char *cause = cause_of_end(s);
		int r;

		if (cause) {
			note_not_started(s, i, cause);
			return 0;
		}
		r = run_probe(s, i / probes, i % probes, reterr);
		set_origin(s, s->report);
		if (r < 0)
			return r;
		if (!tlat_save_pause_ms(&s->save))
			tlat_save_now(&s->save, s->report);
	}
	return 0;
}
