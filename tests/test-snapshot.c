// SPDX-License-Identifier: MIT
/* test-snapshot.c - what a run says of itself while it goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "finding.h"
#include "result.h"
#include "timerlat.h"

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static struct tlat_run *begin(const struct tlat_run_opts *opts)
{
	struct tlat_error error;
	struct tlat_run *run = NULL;

	if (tlat_run_start(&run, opts, &error) < 0)
		fail_msg("%s", error.text);
	return run;
}

static struct tlat_run *start(const char *probe, const char *cpus)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .duration_ns = 20000000000, .warmup = 5,
			      .settle_ns = 100000, .policy = TLAT_SCHED_OTHER,
			      .flags = TLAT_RUN_NO_FLOOR);

	return begin(&opts);
}

static struct tlat_report *finish(struct tlat_run *run)
{
	struct tlat_report *report = NULL;

	tlat_run_stop(run);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	return report;
}

/* Snapshots until one has samples, or for at most 10 s. */
static struct tlat_report *first_samples(struct tlat_run *run)
{
	for (int i = 0; i < 500; i++) {
		struct tlat_report *report = NULL;

		assert_int_equal(tlat_run_snapshot(run, &report, NULL), 0);
		if (tlat_report_result(report, 0)->counts.recorded)
			return report;
		tlat_report_free(report);
		pause_ms(20);
	}
	fail_msg("no sample in 10 s");
	return NULL;
}

static void assert_all_in_blocks(const struct tlat_result *result)
{
	uint64_t samples = 0;

	assert_non_null(result->blocks);
	for (size_t i = 0; i < tlat_blocks_count(result->blocks); i++)
		samples += tlat_blocks_samples(result->blocks, i);
	assert_int_equal(samples, tlat_hist_count(result->latency));
}

static void check_running(const struct tlat_report *report)
{
	const struct tlat_result *result = tlat_report_result(report, 0);

	assert_string_equal(tlat_report_end(report), "running");
	assert_int_equal(result->end, TLAT_END_RUNNING);
	assert_int_equal(tlat_counts_balance(&result->counts), 0);
	assert_int_equal(tlat_hist_count(result->latency),
			 result->counts.recorded + result->counts.early + result->counts.overflow);
	assert_in_range(result->duration_ns, 1, 60 * TLAT_NSEC_PER_SEC);
	assert_true(has_finding(result, "running"));
	assert_all_in_blocks(result);
}

static void assert_extremes_only_spread(const struct tlat_report *early,
					const struct tlat_report *late)
{
	const struct tlat_hist *before = tlat_report_result(early, 0)->latency;
	const struct tlat_hist *after = tlat_report_result(late, 0)->latency;

	assert_true(tlat_hist_max(after) >= tlat_hist_max(before));
	assert_true(tlat_hist_min(after) <= tlat_hist_min(before));
}

static void grows_and_adds_up(const char *probe, const char *cpus)
{
	struct tlat_run *run = start(probe, cpus);
	struct tlat_report *first = first_samples(run), *second, *last;
	uint64_t asked = tlat_report_result(first, 0)->counts.asked;

	check_running(first);
	pause_ms(100);
	assert_int_equal(tlat_run_snapshot(run, &second, NULL), 0);
	check_running(second);
	assert_true(tlat_report_result(second, 0)->counts.asked > asked);
	assert_extremes_only_spread(first, second);
	last = finish(run);
	assert_string_equal(tlat_report_end(last), "signal");
	assert_true(tlat_report_result(last, 0)->counts.asked >=
		    tlat_report_result(second, 0)->counts.asked);
	assert_extremes_only_spread(second, last);
	/* it outlives the run */
	check_running(first);
	tlat_report_free(first);
	tlat_report_free(second);
	tlat_report_free(last);
}

static void a_snapshot_of_a_pair_adds_up_and_grows(void **state)
{
	(void)state;
	grows_and_adds_up("wake-futex", NULL);
}

static void a_snapshot_of_a_timer_adds_up_and_grows(void **state)
{
	(void)state;
	grows_and_adds_up("timer-nanosleep", NULL);
}

static void a_snapshot_of_a_loopback_adds_up_and_grows(void **state)
{
	(void)state;
	grows_and_adds_up("null", NULL);
}

/* Its stamps are of a clock that the controller cannot read. */
static void a_snapshot_of_a_cpu_timer_adds_up_and_grows(void **state)
{
	(void)state;
	if (tlat_probe_check("timer-cputime", NULL) < 0)
		skip();
	grows_and_adds_up("timer-cputime", NULL);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * TLAT_NSEC_PER_SEC + now.tv_nsec;
}

/* Until the run is over. */
static void look_all_the_time(struct tlat_run *run)
{
	struct tlat_report *report;

	while (!tlat_run_snapshot(run, &report, NULL))
		tlat_report_free(report);
}

static void one_who_looks_all_the_time_does_not_make_a_run_stall(void **state)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = "timer-nanosleep", .interval_ns = 700000000, .samples = 2,
			      .warmup = TLAT_ZERO, .policy = TLAT_SCHED_OTHER,
			      .flags = TLAT_RUN_NO_FLOOR);
	struct tlat_run *run = begin(&opts);
	struct tlat_report *report;

	(void)state;
	look_all_the_time(run);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	assert_false(has_finding(tlat_report_result(report, 0), "stalled"));
	assert_string_equal(tlat_report_end(report), "count");
	tlat_report_free(report);
}

static bool block_holds(const struct tlat_blocks *blocks, int64_t i, int64_t value)
{
	struct tlat_block_bin bin;
	size_t cursor = 0;

	while (i >= 0 && i < (int64_t)tlat_blocks_count(blocks) &&
	       tlat_blocks_next(blocks, (size_t)i, &cursor, &bin))
		if (bin.index == tlat_hist_slot(value))
			return true;
	return false;
}

/* By its time, an outlier is in its block or next door. */
static bool outliers_are_in_their_blocks(const struct tlat_result *result)
{
	assert_true(result->outliers->n > 0);
	for (size_t i = 0; i < result->outliers->n; i++) {
		const struct tlat_outlier *outlier = &result->outliers->v[i];
		int64_t block = outlier->t_ns / tlat_blocks_length_ns(result->blocks);

		if (!block_holds(result->blocks, block - 1, outlier->value) &&
		    !block_holds(result->blocks, block, outlier->value) &&
		    !block_holds(result->blocks, block + 1, outlier->value))
			return false;
	}
	return true;
}

/* Whether the blocks were cut in time as well, as they are unless the controller has to wait. */
static bool blocks_are_whole(void)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = "timer-nanosleep", .interval_ns = 1000000, .samples = 1300,
			      .policy = TLAT_SCHED_OTHER, .flags = TLAT_RUN_NO_FLOOR);
	int64_t began = now_ns(), span;
	struct tlat_run *run = begin(&opts);
	const struct tlat_result *result;
	struct tlat_report *report;
	bool in_time;

	look_all_the_time(run);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	span = now_ns() - began;
	result = tlat_report_result(report, 0);
	/* the last one is as short as it comes */
	assert_true(((int64_t)tlat_blocks_count(result->blocks) - 1) *
			    tlat_blocks_length_ns(result->blocks) <=
		    span);
	assert_all_in_blocks(result);
	in_time = outliers_are_in_their_blocks(result);
	tlat_report_free(report);
	return in_time;
}

static void one_who_looks_all_the_time_does_not_shorten_the_blocks(void **state)
{
	bool in_time = false;

	(void)state;
	for (int i = 0; i < 5 && !in_time; i++)
		in_time = blocks_are_whole();
	assert_true(in_time);
}

static void a_budget_does_not_pass_on_a_snapshot(void **state)
{
	struct tlat_run *run = start("timer-nanosleep", NULL);
	struct tlat_report *report = first_samples(run);

	(void)state;
	assert_int_equal(tlat_report_judge(report, 0, "max<1000s", NULL), TLAT_INCONCLUSIVE);
	tlat_report_free(report);
	tlat_report_free(finish(run));
}

static void a_run_that_is_over_has_a_report_but_no_snapshot(void **state)
{
	struct tlat_run *run = start("timer-nanosleep", NULL);
	struct pollfd over = { .fd = tlat_run_fd(run), .events = POLLIN };
	struct tlat_report *report = NULL;
	struct tlat_error error;

	(void)state;
	tlat_run_stop(run);
	assert_int_equal(poll(&over, 1, 30000), 1);
	assert_int_equal(tlat_run_snapshot(run, &report, &error), -EALREADY);
	assert_non_null(strstr(error.text, "over"));
	assert_null(report);
	tlat_report_free(finish(run));
}

static void a_copy_of_a_report_says_the_same(void **state)
{
	struct tlat_run *run = start("timer-nanosleep", NULL);
	struct tlat_report *report = first_samples(run), *copy = NULL;
	char *a, *b;

	(void)state;
	tlat_report_free(finish(run));
	assert_int_equal(tlat_report_copy(&copy, report), 0);
	assert_int_equal(tlat_report_format(&a, report), 0);
	assert_int_equal(tlat_report_format(&b, copy), 0);
	assert_string_equal(a, b);
	free(a);
	free(b);
	tlat_report_free(report);
	tlat_report_free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_snapshot_of_a_pair_adds_up_and_grows),
		cmocka_unit_test(a_snapshot_of_a_timer_adds_up_and_grows),
		cmocka_unit_test(a_snapshot_of_a_loopback_adds_up_and_grows),
		cmocka_unit_test(a_snapshot_of_a_cpu_timer_adds_up_and_grows),
		cmocka_unit_test(one_who_looks_all_the_time_does_not_make_a_run_stall),
		cmocka_unit_test(one_who_looks_all_the_time_does_not_shorten_the_blocks),
		cmocka_unit_test(a_budget_does_not_pass_on_a_snapshot),
		cmocka_unit_test(a_run_that_is_over_has_a_report_but_no_snapshot),
		cmocka_unit_test(a_copy_of_a_report_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
