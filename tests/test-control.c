// SPDX-License-Identifier: MIT
/*
 * test-control.c - whole runs through the public calls: what they report, and
 * that they leave the process as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock_state.h"
#include "finding.h"
#include "run_control.h"
#include "timerlat.h"

static struct tlat_machine *machine;
static struct tlat_clock *clock_used;
static char one_cpu[16], two_cpus[32];
static bool has_two;

static int open_all(void **state)
{
	int32_t cpus[2];
	int n;

	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) < 0 ||
	    tlat_clock_open(&clock_used, machine, TLAT_CLOCK_AUTO, NULL) < 0)
		return -1;
	n = tlat_machine_cpus(machine, "all", cpus, 2, NULL);
	has_two = n >= 2;
	snprintf(one_cpu, sizeof(one_cpu), "%d", cpus[has_two]);
	snprintf(two_cpus, sizeof(two_cpus), "%d,%d", cpus[0], cpus[has_two]);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	tlat_clock_close(clock_used);
	tlat_machine_close(machine);
	return 0;
}

static struct tlat_run_opts base(const char *probe, const char *cpus)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .machine = machine, .clock = clock_used,
			      .samples = 300, .warmup = 20,
			      .interval_ns = strncmp(probe, "timer", 5) ? 0 : 200000);

	return opts;
}

static struct tlat_report *measured(const struct tlat_run_opts *opts)
{
	struct tlat_report *report;
	struct tlat_error error;

	if (tlat_run(&report, opts, &error) < 0)
		fail_msg("%s", error.text);
	return report;
}

static void assert_adds_up(const struct tlat_result *result)
{
	assert_int_equal(tlat_counts_balance(&result->counts), 0);
	assert_true(result->counts.unfinished <= 1);
	assert_int_equal(tlat_hist_count(result->latency),
			 result->counts.recorded + result->counts.early + result->counts.overflow);
}

/* == What is measured == */

static void check_probe(const char *probe, const char *cpus)
{
	struct tlat_run_opts opts = base(probe, cpus);
	struct tlat_report *report = measured(&opts);
	const struct tlat_result *result = tlat_report_result(report, 0);
	struct tlat_summary summary = { .size = sizeof(summary) };

	assert_non_null(result);
	assert_string_equal(tlat_result_probe(result), probe);
	assert_string_equal(tlat_report_end(report), "count");
	assert_adds_up(result);
	assert_int_equal(result->counts.asked, 300);
	assert_int_equal(tlat_result_summary(result, &summary), 0);
	assert_true(summary.min_ns <= summary.max_ns);
	/* On a busy machine samples may hang together so much that they carry no median. */
	if (!isnan(summary.p50_ns)) {
		assert_true(summary.min_ns <= summary.p50_ns && summary.p50_ns <= summary.max_ns);
		assert_true(summary.u_ns > 0);
	}
	assert_true(summary.floor_p50_ns >= 0);
	assert_non_null(result->repeat);
	tlat_report_free(report);
}

static void every_probe_adds_up(void **state)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };

	(void)state;
	for (size_t i = 0; !tlat_probe_facts(i, &facts); i++) {
		bool spins = !strcmp(facts.name, "wake-spin");

		if (tlat_probe_check(facts.name, NULL) < 0)
			continue; /* test-timers.c says which may be refused */
		if (!spins)
			check_probe(facts.name, one_cpu);
		if (facts.pair && has_two)
			check_probe(facts.name, two_cpus);
	}
}

/* A timer never fires early, and an absolute sleep never ends before its deadline. */
static void timers_are_never_early(void **state)
{
	const char *const probes[] = { "timer-nanosleep", "timer-timerfd" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tlat_run_opts opts = base(probes[i], one_cpu);
		struct tlat_report *report = measured(&opts);
		const struct tlat_result *result = tlat_report_result(report, 0);

		assert_int_equal(result->counts.early, 0);
		assert_true(tlat_hist_min(result->latency) >= 0);
		tlat_report_free(report);
	}
}

/* mechanisms: under SCHED_OTHER the interrupt is programmed at expiry + slack. */
static void timer_slack_is_a_lower_bound(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep", one_cpu);
	struct tlat_report *report;
	const struct tlat_result *result;

	(void)state;
	opts.policy = TLAT_SCHED_OTHER;
	opts.slack_ns = 300000;
	opts.interval_ns = 2000000;
	opts.samples = 50;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	assert_int_equal(result->wait.slack_ns, 300000);
	/* on a busy machine other interrupts serve many of them sooner, but hardly all */
	assert_true(tlat_hist_max(result->latency) >= 300000);
	tlat_report_free(report);
}

static void dwell_is_never_below_settle(void **state)
{
	const int64_t settles[] = { 1000, 10000, 200000 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tlat_run_opts opts = base("wake-futex", one_cpu);
		struct tlat_report *report;
		const struct tlat_result *result;

		opts.settle_ns = settles[i];
		report = measured(&opts);
		result = tlat_report_result(report, 0);
		assert_true((double)tlat_hist_min(result->dwell) * 1e9 /
				    (double)tlat_hist_hz(result->dwell) >=
			    (double)settles[i] - 20);
		tlat_report_free(report);
	}
}

/* Wakes from CPU to CPU; the report is to be freed. */
static const struct tlat_result *across(uint32_t flags, struct tlat_report **ret_report)
{
	struct tlat_run_opts opts;

	if (!has_two)
		skip();
	opts = base("wake-futex", two_cpus);
	opts.flags = flags;
	*ret_report = measured(&opts);
	return tlat_report_result(*ret_report, 0);
}

static void a_round_trip_is_offset_free(void **state)
{
	struct tlat_report *report;
	const struct tlat_result *result = across(TLAT_RUN_ROUND_TRIP, &report);

	(void)state;
	assert_adds_up(result);
	assert_false(result->has_offset);
	tlat_report_free(report);
}

/* Its remedy is a round trip: that must not be told to use one. */
static void a_round_trip_needs_no_clock_in_common(void **state)
{
	static struct tlat_run run;

	(void)state;
	run.clock = clock_used;
	run.opts.flags = TLAT_RUN_ROUND_TRIP;
	run.place = (struct tlat_placement){ .kick = 0, .wait = 8000, .n = 2, .cpus = { 0, 8000 } };
	tlat_run_offset_begin(&run);
	tlat_run_offset_end(&run);
	assert_int_equal(run.of_result.n + run.findings.n, 0);
}

static double floor_across(uint32_t flags)
{
	struct tlat_report *report;
	const struct tlat_result *result = across(flags, &report);
	double median = tlat_hist_quantile(result->floor_pair, 0.5);

	tlat_report_free(report);
	return median;
}

/* There and back again is about twice as far. */
static void the_floor_of_a_round_trip_is_one(void **state)
{
	double there = 0, both_ways = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		there += floor_across(0);
		both_ways += floor_across(TLAT_RUN_ROUND_TRIP);
	}
	assert_true(both_ways > 1.3 * there);
}

static void the_offset_of_a_steady_clock_stays(void **state)
{
	struct tlat_report *report;
	const struct tlat_result *result = across(0, &report);

	(void)state;
	assert_true(result->has_offset);
	assert_true(result->offset.lo_ns <= result->offset.hi_ns);
	assert_false(has_finding(result, "clock-offset-changed"));
	assert_false(has_finding(result, "clock-unchecked"));
	assert_false(has_finding(result, "early"));
	tlat_report_free(report);
}

/* The floor of the pair, measured in between, makes the clock forget what it knew. */
static void an_offset_that_changed_is_found_at_the_end(void **state)
{
	static const uint32_t flags[] = { 0, TLAT_RUN_NO_FLOOR };

	(void)state;
	if (!has_two)
		skip();
	for (size_t i = 0; i < 2; i++) {
		struct tlat_run_opts opts = base("wake-futex", two_cpus);
		struct tlat_clock_offset offset;
		struct tlat_report *report;
		const struct tlat_result *result;
		int32_t cpus[2];

		assert_int_equal(tlat_machine_cpus(machine, two_cpus, cpus, 2, NULL), 2);
		assert_int_equal(tlat_clock_open(&opts.clock, machine, TLAT_CLOCK_AUTO, NULL), 0);
		assert_int_equal(tlat_clock_pair(opts.clock, cpus[0], cpus[1], &offset, NULL), 0);
		opts.clock->pairs[0].offset.lo_ticks += (int64_t)tlat_clock_hz(opts.clock);
		opts.clock->pairs[0].offset.hi_ticks += (int64_t)tlat_clock_hz(opts.clock);
		opts.flags = flags[i];
		report = measured(&opts);
		result = tlat_report_result(report, 0);
		assert_adds_up(result);
		assert_true(has_finding(result, "clock-offset-changed"));
		assert_non_null(tlat_findings_distrust(&result->findings));
		/* the waiter was said to be a second ahead, but no wake seemed to take that long */
		assert_true(has_finding(result, "early"));
		tlat_report_free(report);
		tlat_clock_close(opts.clock);
	}
}

static bool is_listed(const struct tlat_findings *findings, const char *id, int severity)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->v[i].id, id))
			return findings->v[i].severity == severity;
	return false;
}

/* Where no thread can be pinned nothing fails, but it is said. */
static void what_cannot_be_checked_is_said(void **state)
{
	static struct tlat_run run;

	(void)state;
	run.clock = clock_used;
	run.place = (struct tlat_placement){ .kick = 0, .wait = 8000, .n = 2, .cpus = { 0, 8000 } };
	tlat_run_offset_begin(&run);
	assert_false(run.has_offset || run.ordered);
	assert_true(is_listed(&run.of_result, "clock-offset", TLAT_WARN));
	assert_true(is_listed(&run.of_result, "clock-unchecked", TLAT_INFO));
	tlat_findings_free(&run.of_result);
	tlat_run_offset_end(&run);
	assert_int_equal(run.of_result.n, 0);
	run.has_offset = true;
	tlat_run_offset_end(&run);
	assert_true(is_listed(&run.of_result, "clock-unchecked", TLAT_INFO));
	assert_false(tlat_findings_reach(&run.of_result, TLAT_WARN));
	tlat_findings_free(&run.of_result);
}

static void raw_values_are_the_distribution(void **state)
{
	struct tlat_run_opts opts = base("wake-eventfd", one_cpu);
	struct tlat_report *report;
	const struct tlat_result *result;
	int64_t max = INT64_MIN;

	(void)state;
	opts.raw = 1000;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	assert_int_equal(result->n_raw, tlat_hist_count(result->latency));
	for (size_t i = 0; i < result->n_raw; i++)
		max = result->raw[i] > max ? result->raw[i] : max;
	assert_int_equal(max, tlat_hist_max(result->latency));
	tlat_report_free(report);
}

/* The cycle under test can be seen: a delay put before the kick comes back. */
static void an_injected_delay_comes_back(void **state)
{
	struct tlat_run_opts opts = base("wake-futex", one_cpu);
	struct tlat_summary summary = { .size = sizeof(summary) };
	struct tlat_report *report;
	const struct tlat_result *result;

	(void)state;
	opts.inject_ns = 40000;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	tlat_result_summary(result, &summary);
	assert_true(summary.injected_ns > 30000);
	assert_int_equal(result->n_raw, 300);
	for (size_t i = 1; i < result->n_raw; i += 2)
		assert_true((double)result->raw[i] * 1e9 / (double)tlat_hist_hz(result->latency) >=
			    40000);
	assert_true(summary.recovered_u_ns > 0);
	tlat_report_free(report);
}

static void one_thread_per_cpu_and_equal_counts(void **state)
{
	struct tlat_run_opts opts;
	struct tlat_report *report;

	(void)state;
	if (!has_two)
		skip();
	opts = base("timer-nanosleep", two_cpus);
	report = measured(&opts);
	for (size_t i = 0; i < 2; i++) {
		const struct tlat_result *result = tlat_report_result(report, i);

		assert_non_null(result);
		assert_int_equal(result->thread, i);
		assert_int_equal(result->counts.asked, 300);
		assert_adds_up(result);
	}
	assert_null(tlat_report_result(report, 2));
	tlat_report_free(report);
}

static void a_probe_that_cannot_run_here_is_a_result(void **state)
{
	struct tlat_run_opts opts = base("wake-spin", one_cpu);
	struct tlat_report *report = measured(&opts);
	const struct tlat_result *result = tlat_report_result(report, 0);

	(void)state;
	assert_true(has_finding(result, "unsupported"));
	assert_null(tlat_result_hist(result));
	assert_int_equal(result->counts.asked, 0);
	tlat_report_free(report);
}

static void a_probe_that_cannot_run_here_can_be_stopped_and_looked_at(void **state)
{
	struct tlat_run_opts opts = base("wake-spin", one_cpu);
	struct tlat_progress progress = { .size = sizeof(progress) };
	struct tlat_report *report;
	struct tlat_run *run;

	(void)state;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	tlat_run_stop(run);
	assert_int_equal(tlat_run_progress(run, 0, &progress), -ENOENT);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	assert_true(has_finding(tlat_report_result(report, 0), "unsupported"));
	tlat_report_free(report);
}

static rlim_t limit_queued_signals(rlim_t soft)
{
	struct rlimit limit;
	rlim_t before;

	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = soft;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
	return before;
}

/* Whether timer_create(2) is bound by the limit at all. */
static bool can_make_a_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX };
	timer_t timer;

	return !timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_delete(timer);
}

/* What its threads cannot have is found out late, and is a result as well. */
static void a_probe_whose_threads_cannot_be_set_up_is_a_result(void **state)
{
	struct tlat_run_opts opts = base("timer-posix-sigwait", one_cpu);
	rlim_t before = limit_queued_signals(0);
	bool unlimited = can_make_a_timer();
	struct tlat_report *report = NULL;
	struct tlat_error error;
	struct tlat_finding finding;
	int code;

	(void)state;
	opts.threads = 3;
	code = tlat_run(&report, &opts, &error);
	limit_queued_signals(before);
	if (unlimited)
		skip();
	if (code)
		fail_msg("%s", error.text);
	for (size_t i = 0; i < 3; i++) {
		const struct tlat_result *result = tlat_report_result(report, i);

		assert_true(get_finding(result, "unsupported", &finding));
		assert_non_null(strstr(finding.text, "RLIMIT_SIGPENDING"));
		assert_null(tlat_result_hist(result));
		assert_int_equal(result->counts.asked, 0);
	}
	tlat_report_free(report);
}

/* == Ends == */

static void a_stop_ends_a_run_and_keeps_what_was_measured(void **state)
{
	const char *const probes[] = { "wake-futex", "timer-nanosleep", "null" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tlat_run_opts opts = base(probes[i], one_cpu);
		struct tlat_report *report;
		struct tlat_run *run;
		struct pollfd fd = { .events = POLLIN };

		opts.samples = 0;
		opts.duration_ns = 60LL * TLAT_NSEC_PER_SEC;
		assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
		fd.fd = tlat_run_fd(run);
		assert_int_equal(poll(&fd, 1, 100), 0);
		tlat_run_stop(run);
		assert_int_equal(poll(&fd, 1, 10000), 1);
		assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
		assert_string_equal(tlat_report_end(report), "signal");
		assert_adds_up(tlat_report_result(report, 0));
		tlat_report_free(report);
	}
}

static void stop_in_mid_wait(const char *probe)
{
	struct tlat_run_opts opts = base(probe, one_cpu);
	struct tlat_report *report;
	struct tlat_run *run;
	const struct tlat_result *result;

	opts.interval_ns = 3600LL * TLAT_NSEC_PER_SEC;
	opts.warmup = TLAT_ZERO;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	usleep(20000);
	tlat_run_stop(run);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	result = tlat_report_result(report, 0);
	assert_int_equal(result->counts.asked, 1);
	assert_int_equal(result->counts.unfinished, 1);
	assert_adds_up(result);
	tlat_report_free(report);
}

/* A timer that fires in an hour is not waited for. */
static void a_stop_ends_a_wait_that_nothing_else_ends(void **state)
{
	(void)state;
	stop_in_mid_wait("timer-nanosleep");
	stop_in_mid_wait("timer-timerfd");
}

/* Other programs of the same user may have used it up. */
static void a_full_queue_of_signals_keeps_no_run_from_its_end(void **state)
{
	struct tlat_run_opts opts = base("signal-tgkill-handler", one_cpu);
	rlim_t before = limit_queued_signals(0);
	struct tlat_report *report = NULL;

	(void)state;
	stop_in_mid_wait("timer-nanosleep");
	tlat_run(&report, &opts, NULL);
	limit_queued_signals(before);
	tlat_report_free(report);
}

static void progress_is_seen_from_outside(void **state)
{
	struct tlat_run_opts opts = base("wake-futex", one_cpu);
	struct tlat_progress progress = { .size = sizeof(progress) };
	struct tlat_report *report;
	struct tlat_run *run;

	(void)state;
	opts.samples = 0;
	opts.duration_ns = 300000000;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	for (int i = 0; i < 100 && !progress.count; i++) {
		usleep(10000);
		assert_int_equal(tlat_run_progress(run, 0, &progress), 0);
	}
	assert_true(progress.count > 0);
	assert_true(progress.min_ns <= progress.max_ns);
	assert_int_equal(tlat_run_progress(run, 1, &progress), -ENOENT);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	assert_string_equal(tlat_report_end(report), "time");
	tlat_report_free(report);
}

/* Neither warm-up nor the rests of a thread that spins are part of its time. */
static void a_timer_is_done_when_its_slots_are_served(void **state)
{
	struct tlat_run_opts opts = base("timer-spin", one_cpu);
	struct tlat_progress progress = { .size = sizeof(progress) };
	const struct tlat_result *result;
	struct tlat_report *report;
	struct tlat_run *run;

	(void)state;
	opts.policy = TLAT_SCHED_FIFO;
	opts.priority = 2;
	opts.interval_ns = 1000000;
	opts.samples = 0;
	opts.duration_ns = 400 * opts.interval_ns;
	opts.warmup = 100;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	for (int i = 0; i < 20000 && progress.done < 1; i++) {
		usleep(1000);
		assert_int_equal(tlat_run_progress(run, 0, &progress), 0);
	}
	assert_int_equal(tlat_run_progress(run, 0, &progress), 0);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	result = tlat_report_result(report, 0);
	assert_adds_up(result);
	assert_int_equal(result->counts.asked, 400);
	assert_true(progress.count + result->counts.missed >= 400);
	tlat_report_free(report);
}

static const struct tlat_result *warmed_up(struct tlat_run_opts *opts, int64_t cycles,
					   struct tlat_report **ret_report)
{
	const struct tlat_result *result;

	opts->warmup = cycles;
	opts->samples = 20;
	*ret_report = measured(opts);
	result = tlat_report_result(*ret_report, 0);
	assert_adds_up(result);
	return result;
}

/* The default has 0.2 s at most: 100 cycles of 2 ms. Who asks for a number gets that number, and
 * the command that repeats the run says it. */
static void warm_up_has_the_cycles_that_were_asked_for(void **state)
{
	static const char *const probes[] = { "timer-nanosleep", "timer-nanosleep-rel",
					      "wake-futex" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tlat_run_opts opts = base(probes[i], one_cpu);
		struct tlat_report *report;
		const struct tlat_result *result;
		uint64_t began;

		opts.interval_ns = 2000000;
		began = tlat_gettime_ns(CLOCK_MONOTONIC);
		result = warmed_up(&opts, 400, &report);
		/* on a grid slots that were missed count as well */
		assert_true(i == 0 || result->warmup >= 400);
		assert_true(tlat_gettime_ns(CLOCK_MONOTONIC) - began >= 800000000);
		assert_non_null(strstr(result->repeat, " --warmup 400 "));
		tlat_report_free(report);
		result = warmed_up(&opts, 0, &report);
		assert_true(result->warmup <= 110);
		assert_null(strstr(result->repeat, "--warmup"));
		tlat_report_free(report);
		result = warmed_up(&opts, TLAT_ZERO, &report);
		assert_non_null(strstr(result->repeat, " --warmup 0 "));
		tlat_report_free(report);
	}
}

static struct tlat_report *measured_at(int64_t interval_ns, uint64_t samples)
{
	struct tlat_run_opts opts = base("timer-nanosleep", one_cpu);

	opts.interval_ns = interval_ns;
	opts.samples = samples;
	return measured(&opts);
}

/* A run that is limited by a number is not known to be long: without blocks that are short enough
 * nothing could be said of clusters. */
static void a_short_run_has_blocks_of_time(void **state)
{
	struct tlat_report *report;
	const struct tlat_result *result;

	(void)state;
	if (!has_two) /* or the controller must not wake more often */
		skip();
	report = measured_at(200000, 2000);
	result = tlat_report_result(report, 0);
	assert_true(tlat_blocks_count(result->blocks) >= 8);
	assert_false(has_finding(result, "few-blocks"));
	tlat_report_free(report);
	report = measured_at(1000000, 30);
	result = tlat_report_result(report, 0);
	assert_true(has_finding(result, "few-blocks"));
	tlat_report_free(report);
	report = measured_at(1000000, 19); /* no interval that could mislead */
	assert_false(has_finding(tlat_report_result(report, 0), "few-blocks"));
	tlat_report_free(report);
}

static void a_long_run_does_not_wake_its_controller_all_the_time(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep", one_cpu);
	struct tlat_report *report;
	struct tlat_run *run;

	(void)state;
	opts.samples = 1000000;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	usleep(50000);
	tlat_run_stop(run);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	assert_int_equal(tlat_blocks_length_ns(tlat_report_result(report, 0)->blocks), 200000000);
	tlat_report_free(report);
}

/* == What is left behind: nothing == */

static int open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static int threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	int n = 0;

	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

/* What is left once no more than n are: a thread that was joined may be listed for a moment. */
static int threads_left(int n)
{
	for (int i = 0; i < 1000 && threads() > n; i++)
		usleep(5000);
	return threads();
}

static void count_alarm(int signal)
{
	(void)signal;
}

static void a_run_leaves_the_process_as_it_was(void **state)
{
	struct sigaction mine = { .sa_handler = count_alarm, .sa_flags = SA_RESTART };
	struct sigaction before[65], after;
	int fds = open_descriptors(), tasks = threads(), slack = prctl(PR_GET_TIMERSLACK);
	struct tlat_run_opts opts = base("timer-nanosleep", one_cpu);
	cpu_set_t set, set_after;
	sigset_t mask = { 0 }, mask_after = { 0 };
	struct tlat_run *run;
	struct tlat_report *report;

	(void)state;
	sigaction(SIGALRM, &mine, NULL);
	sigaction(SIGRTMAX - 1, &mine, NULL);
	for (int s = 1; s < 65; s++)
		sigaction(s, NULL, &before[s]);
	sched_getaffinity(0, sizeof(set), &set);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	opts.interval_ns = 3600LL * TLAT_NSEC_PER_SEC;
	opts.policy = TLAT_SCHED_FIFO;
	opts.priority = 40;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	tlat_run_stop(run);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	tlat_report_free(report);
	for (int s = 1; s < 65; s++) {
		if (s >= 32 && s < SIGRTMIN)
			continue; /* the C library's own */
		sigaction(s, NULL, &after);
		assert_ptr_equal(after.sa_handler, before[s].sa_handler);
	}
	sched_getaffinity(0, sizeof(set_after), &set_after);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	assert_memory_equal(&set, &set_after, sizeof(set));
	assert_memory_equal(&mask, &mask_after, sizeof(mask));
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	assert_int_equal(prctl(PR_GET_TIMERSLACK), slack);
	assert_int_equal(open_descriptors(), fds);
	assert_true(threads_left(tasks) <= tasks);
}

static void *start_and_stop(void *arg)
{
	struct tlat_run_opts opts = base("timer-nanosleep", one_cpu);
	struct tlat_report *report;
	struct tlat_run *run;

	opts.interval_ns = 3600LL * TLAT_NSEC_PER_SEC;
	opts.warmup = TLAT_ZERO;
	opts.flags = TLAT_RUN_NO_FLOOR;
	opts.clock = arg;
	for (int i = 0; i < 5; i++) {
		if (tlat_run_start(&run, &opts, NULL) < 0)
			return arg;
		tlat_run_stop(run);
		if (tlat_run_wait(run, &report, NULL) < 0)
			return arg;
		tlat_report_free(report);
	}
	return NULL;
}

/* They share one signal to end their waits; the first to finish must not take it from the others.
 */
static void runs_can_end_at_the_same_time(void **state)
{
	struct tlat_clock *clocks[4];
	pthread_t starters[4];
	void *failed;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(tlat_clock_open(&clocks[i], machine, TLAT_CLOCK_GETTIME, NULL), 0);
		pthread_create(&starters[i], NULL, start_and_stop, clocks[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(starters[i], &failed);
		assert_null(failed);
		tlat_clock_close(clocks[i]);
	}
}

static long locked_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmLck: %ld", &kib) == 1)
			break;
	if (status)
		fclose(status);
	return kib;
}

static void no_memory_stays_locked(void **state)
{
	struct tlat_run_opts opts = base("wake-futex", has_two ? two_cpus : one_cpu);
	long before = locked_kib();

	(void)state;
	opts.raw = 1000;
	for (int i = 0; i < 3; i++)
		tlat_report_free(measured(&opts));
	assert_int_equal(locked_kib(), before);
}

static void *inherit_on_a_real_time_thread(void *arg)
{
	struct sched_param param = { .sched_priority = 10 };
	struct tlat_run_opts opts = base("timer-nanosleep", one_cpu);
	struct tlat_report **report = arg;

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		return arg;
	*report = measured(&opts);
	return NULL;
}

/* Zero means inherit, and the slack of an ordinary thread is not that of its real-time parent. */
static void attributes_are_those_of_the_caller(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep", one_cpu);
	struct tlat_report *report = measured(&opts);
	pthread_t thread;
	void *refused;

	(void)state;
	assert_int_equal(tlat_report_result(report, 0)->wait.policy, TLAT_SCHED_OTHER);
	assert_int_equal(tlat_report_result(report, 0)->wait.slack_ns, prctl(PR_GET_TIMERSLACK));
	tlat_report_free(report);
	pthread_create(&thread, NULL, inherit_on_a_real_time_thread, &report);
	pthread_join(thread, &refused);
	if (refused)
		skip();
	assert_int_equal(tlat_report_result(report, 0)->wait.policy, TLAT_SCHED_FIFO);
	assert_int_equal(tlat_report_result(report, 0)->wait.priority, 10);
	tlat_report_free(report);
}

static void *measure_without_privilege(void *arg)
{
	struct tlat_run_opts opts = base("wake-futex", one_cpu);
	struct tlat_report **report = arg;

	if (tlat_rt_drop_caps(NULL, NULL) < 0)
		return arg;
	opts.policy = TLAT_SCHED_FIFO;
	opts.priority = 40;
	*report = measured(&opts);
	return NULL;
}

/* Both sides go without, the finding says why, and what was asked for stays on record. */
static void a_refused_policy_is_refused_to_all_threads(void **state)
{
	struct tlat_report *report;
	const struct tlat_result *result;
	pthread_t thread;
	void *failed;

	(void)state;
	pthread_create(&thread, NULL, measure_without_privilege, &report);
	pthread_join(thread, &failed);
	if (failed)
		skip();
	result = tlat_report_result(report, 0);
	if (has_finding(result, "policy-refused")) {
		assert_int_equal(result->wait.policy, TLAT_SCHED_OTHER);
		assert_int_equal(result->kick.policy, TLAT_SCHED_OTHER);
	} else { /* a generous RLIMIT_RTPRIO */
		assert_int_equal(result->wait.policy, TLAT_SCHED_FIFO);
		assert_int_equal(result->kick.policy, TLAT_SCHED_FIFO);
	}
	assert_int_equal(result->policy_asked, TLAT_SCHED_FIFO);
	assert_int_equal(result->priority_asked, 40);
	assert_int_equal(result->kick_priority_asked, 39);
	tlat_report_free(report);
}

/* == Requests that make no sense == */

static void refuse(struct tlat_run_opts opts, const char *named)
{
	struct tlat_error error = { 0 };
	struct tlat_report *report;

	assert_true(tlat_run(&report, &opts, &error) < 0);
	assert_true(error.code < 0);
	if (!strstr(error.text, named))
		fail_msg("'%s' does not name '%s'", error.text, named);
	assert_null(strchr(error.text, '\n'));
}

static void nonsense_is_refused_by_name(void **state)
{
	struct tlat_run_opts opts = base("wake-futex", one_cpu);

	(void)state;
	opts.probe = NULL;
	refuse(opts, "no probe");
	opts.probe = "wake-nothing";
	refuse(opts, "wake-nothing");
	opts = base("wake-futex", one_cpu);
	opts.settle_ns = -7;
	refuse(opts, "settle");
	opts = base("wake-futex", one_cpu);
	opts.policy = TLAT_SCHED_FIFO;
	refuse(opts, "priority is 0");
	opts.priority = 100;
	refuse(opts, "priority is 100");
	opts.priority = 1;
	refuse(opts, "priority");
	opts.policy = TLAT_SCHED_OTHER;
	refuse(opts, "priority");
	opts = base("wake-futex", one_cpu);
	opts.flags = TLAT_RUN_ROUND_TRIP;
	refuse(opts, "two CPUs");
	opts = base("timer-nanosleep", one_cpu);
	opts.flags = TLAT_RUN_ROUND_TRIP;
	refuse(opts, "timer-nanosleep");
	opts = base("timer-nanosleep", "foo");
	refuse(opts, "foo");
	opts = base("timer-nanosleep", one_cpu);
	opts.interval_ns = 10;
	refuse(opts, "interval");
	opts = base("wake-futex", one_cpu);
	opts.inject_ns = 60000; /* more than the settle time */
	refuse(opts, "injected delay");
	opts = base("wake-futex", one_cpu);
	opts.flags = 1u << 20;
	refuse(opts, "flags");
	opts = base("wake-futex", one_cpu);
	opts.policy = TLAT_SCHED_EXT;
	refuse(opts, "SCHED_EXT");
	opts = base("timer-nanosleep", one_cpu);
	opts.flags = TLAT_RUN_VERIFY;
	refuse(opts, "verify");
	opts = base("wake-futex", one_cpu);
	opts.size = 0;
	refuse(opts, "size");
}

static void numbers_out_of_range_are_refused_by_name(void **state)
{
	struct tlat_run_opts opts = base("wake-futex", one_cpu);

	(void)state;
	opts.raw = UINT64_MAX;
	refuse(opts, "raw");
	opts = base("wake-futex", one_cpu);
	opts.seed = UINT64_C(1) << 63;
	refuse(opts, "seed 9223372036854775808 is above 9223372036854775807");
	opts = base("wake-futex", one_cpu);
	opts.chain_adds = 1000001;
	refuse(opts, "1000001 additions");
	opts = base("wake-futex", one_cpu);
	opts.inject_ns = -1;
	refuse(opts, "injected delay");
	opts = base("wake-futex", one_cpu);
	opts.duration_ns = -1;
	refuse(opts, "duration");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_probe_adds_up),
		cmocka_unit_test(timers_are_never_early),
		cmocka_unit_test(timer_slack_is_a_lower_bound),
		cmocka_unit_test(dwell_is_never_below_settle),
		cmocka_unit_test(a_round_trip_is_offset_free),
		cmocka_unit_test(a_round_trip_needs_no_clock_in_common),
		cmocka_unit_test(the_floor_of_a_round_trip_is_one),
		cmocka_unit_test(the_offset_of_a_steady_clock_stays),
		cmocka_unit_test(an_offset_that_changed_is_found_at_the_end),
		cmocka_unit_test(what_cannot_be_checked_is_said),
		cmocka_unit_test(raw_values_are_the_distribution),
		cmocka_unit_test(an_injected_delay_comes_back),
		cmocka_unit_test(one_thread_per_cpu_and_equal_counts),
		cmocka_unit_test(a_probe_that_cannot_run_here_is_a_result),
		cmocka_unit_test(a_probe_that_cannot_run_here_can_be_stopped_and_looked_at),
		cmocka_unit_test(a_probe_whose_threads_cannot_be_set_up_is_a_result),
		cmocka_unit_test(a_stop_ends_a_run_and_keeps_what_was_measured),
		cmocka_unit_test(a_stop_ends_a_wait_that_nothing_else_ends),
		cmocka_unit_test(a_full_queue_of_signals_keeps_no_run_from_its_end),
		cmocka_unit_test(progress_is_seen_from_outside),
		cmocka_unit_test(a_timer_is_done_when_its_slots_are_served),
		cmocka_unit_test(warm_up_has_the_cycles_that_were_asked_for),
		cmocka_unit_test(a_short_run_has_blocks_of_time),
		cmocka_unit_test(a_long_run_does_not_wake_its_controller_all_the_time),
		cmocka_unit_test(a_run_leaves_the_process_as_it_was),
		cmocka_unit_test(runs_can_end_at_the_same_time),
		cmocka_unit_test(no_memory_stays_locked),
		cmocka_unit_test(attributes_are_those_of_the_caller),
		cmocka_unit_test(a_refused_policy_is_refused_to_all_threads),
		cmocka_unit_test(nonsense_is_refused_by_name),
		cmocka_unit_test(numbers_out_of_range_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
