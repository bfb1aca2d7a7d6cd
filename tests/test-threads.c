// SPDX-License-Identifier: MIT
/*
 * test-threads.c - several timer threads in one run: what steps from one to the next, where they
 * may run, that their values can be had one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine_state.h"
#include "result.h"
#include "tree.h"

static struct tlat_machine *machine;
static struct tlat_clock *clock_used;
static char two_cpus[32]; /* "": there is one */

static int open_all(void **state)
{
	int32_t cpus[2];

	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) ||
	    tlat_clock_open(&clock_used, machine, TLAT_CLOCK_GETTIME, NULL))
		return -1;
	if (tlat_machine_cpus(machine, "all", cpus, 2, NULL) > 1)
		snprintf(two_cpus, sizeof(two_cpus), "%d,%d", cpus[0], cpus[1]);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	tlat_clock_close(clock_used);
	tlat_machine_close(machine);
	return 0;
}

static struct tlat_run_opts base(int32_t threads, uint64_t samples)
{
	return TLAT_RUN_OPTS(.probe = "timer-nanosleep", .cpus = "all", .machine = machine,
			     .clock = clock_used, .total_threads = threads, .samples = samples,
			     .interval_ns = 1000000, .warmup = TLAT_ZERO,
			     .flags = TLAT_RUN_NO_FLOOR | TLAT_RUN_COMPLETE);
}

static struct tlat_run *started(const struct tlat_run_opts *opts)
{
	struct tlat_error error;
	struct tlat_run *run;

	if (tlat_run_start(&run, opts, &error) < 0)
		fail_msg("%s", error.text);
	return run;
}

static void wait_for(const struct tlat_run *run)
{
	struct pollfd fd = { .fd = tlat_run_fd(run), .events = POLLIN };

	assert_int_equal(poll(&fd, 1, 30000), 1);
}

static struct tlat_report *ended(struct tlat_run *run)
{
	struct tlat_report *report;
	struct tlat_error error;

	if (tlat_run_wait(run, &report, &error) < 0)
		fail_msg("%s", error.text);
	return report;
}

static void each_thread_has_its_own_step_and_all_have_equal_counts(void **state)
{
	struct tlat_run_opts opts = base(5, 7);
	struct tlat_report *report;
	struct tlat_summary s = { .size = sizeof(s) };

	(void)state;
	opts.interval_step_ns = 250000;
	report = ended(started(&opts));
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(tlat_result_summary(tlat_report_result(report, i), &s), 0);
		assert_int_equal(s.thread, i);
		assert_int_equal(s.recorded, 7);
		assert_int_equal(s.asked, 7 + s.missed);
		assert_int_equal(s.interval_ns, 1000000 + (int64_t)i * 250000);
	}
	assert_null(tlat_report_result(report, 5));
	tlat_report_free(report);
}

/* The period of its own thread, not the first one's, is what each call is given. */
static void a_step_is_slept_whatever_the_call(void **state)
{
	static const char *const probes[] = {
		"timer-nanosleep-rel", "timer-poll",	     "timer-select",
		"timer-epoll-wait",    "timer-epoll-pwait2", "timer-sigtimedwait",
		"timer-sockopt",       "timer-timerfd",	     "timer-posix-sigwait",
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		struct tlat_run_opts opts = base(2, 4);
		struct tlat_summary s = { .size = sizeof(s) };
		uint64_t before = tlat_gettime_ns(CLOCK_MONOTONIC);
		struct tlat_report *report;

		opts.probe = probes[i];
		opts.interval_step_ns = 100000000;
		report = ended(started(&opts));
		assert_int_equal(tlat_result_summary(tlat_report_result(report, 1), &s), 0);
		assert_int_equal(s.recorded, 4);
		assert_true(tlat_gettime_ns(CLOCK_MONOTONIC) - before >=
			    3 * (uint64_t)opts.interval_step_ns);
		tlat_report_free(report);
	}
}

static void priorities_step_down_to_one(void **state)
{
	static const int expected[] = { 4, 2, 1, 1 };
	struct tlat_run_opts opts = base(4, 3);
	struct tlat_report *report;
	struct tlat_summary s = { .size = sizeof(s) };
	char repeated[32];

	(void)state;
	if (geteuid())
		skip();
	opts.policy = TLAT_SCHED_FIFO;
	opts.priority = 4;
	opts.priority_step = 2;
	report = ended(started(&opts));
	for (size_t i = 0; i < 4; i++) {
		tlat_result_summary(tlat_report_result(report, i), &s);
		assert_int_equal(s.priority_asked, expected[i]);
		snprintf(repeated, sizeof(repeated), " --policy fifo -p %d ", expected[i]);
		assert_non_null(
			strstr(tlat_result_repeat(tlat_report_result(report, i)), repeated));
		if (s.policy == TLAT_SCHED_FIFO)
			assert_int_equal(s.priority, expected[i]);
	}
	tlat_report_free(report);
}

/* Nothing moves between the last expiry of the first thread and the first of the second. */
static void a_thread_far_behind_is_waited_for(void **state)
{
	struct tlat_run_opts opts = base(2, 3);
	struct tlat_report *report;
	struct tlat_summary s = { .size = sizeof(s) };

	(void)state;
	opts.offset_ns = 6500000000;
	report = ended(started(&opts));
	assert_int_equal(tlat_result_summary(tlat_report_result(report, 1), &s), 0);
	assert_int_equal(s.recorded, 3);
	assert_string_equal(tlat_report_end(report), "count");
	tlat_report_free(report);
}

/* A cycle may be longer than any run: the run ends when its own time is up. */
static void a_cycle_of_years_is_not_a_stall(void **state)
{
	struct tlat_run_opts pair =
		TLAT_RUN_OPTS(.probe = "wake-futex", .cpus = "all", .machine = machine,
			      .clock = clock_used, .settle_ns = 500000000000000000,
			      .duration_ns = 300000000, .flags = TLAT_RUN_NO_FLOOR);
	struct tlat_report *report;

	(void)state;
	report = ended(started(&pair));
	assert_string_equal(tlat_report_end(report), "time");
	tlat_report_free(report);
}

static void expiries_are_where_they_are_aligned(void **state)
{
	struct tlat_run_opts opts = base(3, 4);
	struct tlat_run *run;

	(void)state;
	opts.align_ns = 1000000;
	opts.phase_ns = 100000;
	opts.offset_ns = 50000;
	opts.stream = 8;
	run = started(&opts);
	wait_for(run);
	for (int i = 0; i < 3; i++) {
		struct tlat_sample samples[8];
		int n = tlat_run_read(run, i, samples, 8, NULL);

		assert_int_equal(n, 4);
		for (int k = 0; k < n; k++)
			assert_int_equal(samples[k].at_ns % 1000000, 100000 + i * 50000);
	}
	tlat_report_free(ended(run));
}

static int cpus_of(int32_t tid)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(tid, sizeof(set), &set), 0);
	return CPU_COUNT(&set);
}

static void a_thread_is_on_one_cpu_unless_it_floats(void **state)
{
	struct tlat_run_opts opts = base(3, 300);
	int32_t cpus[2];

	(void)state;
	if (tlat_machine_cpus(machine, "all", cpus, 2, NULL) < 2)
		skip();
	for (int floats = 0; floats < 2; floats++) {
		struct tlat_progress p = { .size = sizeof(p) };
		struct tlat_run *run;

		if (floats)
			opts.flags |= TLAT_RUN_FLOAT;
		run = started(&opts);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(tlat_run_progress(run, i, &p), 0);
			assert_int_equal(p.threads, 3);
			assert_true(p.tid > 0);
			assert_int_equal(p.cpu < 0, floats);
			assert_int_equal(cpus_of(p.tid) == 1, !floats);
		}
		tlat_run_stop(run);
		tlat_report_free(ended(run));
	}
}

static void the_stream_has_every_value_of_the_report_once(void **state)
{
	struct tlat_run_opts opts = base(2, 200);
	struct tlat_sample samples[64];
	struct tlat_hist *seen[2];
	struct tlat_run *run;
	struct tlat_report *report;

	(void)state;
	opts.stream = 300;
	run = started(&opts);
	wait_for(run);
	for (int i = 0; i < 2; i++) {
		uint64_t lost = 1;
		int n;

		assert_int_equal(tlat_hist_new(&seen[i], 1000000000), 0);
		while ((n = tlat_run_read(run, i, samples, 64, &lost)) > 0)
			for (int k = 0; k < n; k++)
				tlat_hist_record(seen[i], samples[k].value_ns);
		assert_int_equal(n, 0);
		assert_int_equal(lost, 0);
	}
	assert_int_equal(tlat_run_read(run, 2, samples, 64, NULL), -ENOENT);
	report = ended(run);
	for (size_t i = 0; i < 2; i++) {
		const struct tlat_hist *hist = tlat_result_hist(tlat_report_result(report, i));

		assert_int_equal(tlat_hist_count(seen[i]), 200);
		assert_int_equal(tlat_hist_count(seen[i]), tlat_hist_count(hist));
		assert_int_equal(tlat_hist_min(seen[i]), tlat_hist_min(hist));
		assert_int_equal(tlat_hist_max(seen[i]), tlat_hist_max(hist));
		tlat_hist_free(seen[i]);
	}
	tlat_report_free(report);
}

static void a_stream_that_nobody_reads_loses_what_is_new(void **state)
{
	struct tlat_run_opts opts = base(1, 50);
	struct tlat_sample samples[64];
	struct tlat_run *run;
	uint64_t lost;

	(void)state;
	opts.stream = 16;
	run = started(&opts);
	wait_for(run);
	assert_int_equal(tlat_run_read(run, 0, samples, 64, &lost), 16);
	assert_int_equal(lost, 50 - 16);
	tlat_report_free(ended(run));
	opts.stream = 0;
	run = started(&opts);
	assert_int_equal(tlat_run_read(run, 0, samples, 64, &lost), -ENODATA);
	tlat_report_free(ended(run));
}

static void many_threads_are_counted_alike(void **state)
{
	struct tlat_run_opts opts = base(64, 5);
	struct tlat_report *report;
	size_t i;

	(void)state;
	opts.interval_ns = 10000000;
	report = ended(started(&opts));
	for (i = 0; tlat_report_result(report, i); i++) {
		const struct tlat_result *result = tlat_report_result(report, i);

		assert_int_equal(result->counts.recorded, 5);
		assert_int_equal(tlat_counts_balance(&result->counts), 0);
	}
	assert_int_equal(i, 64);
	tlat_report_free(report);
}

/* Of two CPUs, in /proc/stat; the rest of the machine is this one. */
static void put_stolen(const struct tree *tree, uint64_t one, uint64_t other)
{
	char text[160];

	snprintf(text, sizeof(text), "cpu%d 1 1 1 1 1 1 1 %llu 0 0\ncpu%d 1 1 1 1 1 1 1 %llu 0 0\n",
		 atoi(two_cpus), (unsigned long long)one, atoi(strchr(two_cpus, ',') + 1),
		 (unsigned long long)other);
	put(tree, "proc/stat", text);
}

static int real_root;

static int other_root_setup(void **state)
{
	real_root = machine->root_fd;
	return tree_setup(state);
}

/* Also after a failure: what comes next runs on this machine. */
static int other_root_teardown(void **state)
{
	machine->root_fd = real_root;
	return tree_teardown(state);
}

/* No more samples are disturbed than there are. */
static void wait_for_samples(struct tlat_run *run, int threads, uint64_t n)
{
	for (int i = 0; i < threads; i++) {
		struct tlat_progress p = { .size = sizeof(p) };

		for (int ms = 0; ms < 20000; ms++) {
			assert_int_equal(tlat_run_progress(run, i, &p), 0);
			if (p.count >= n)
				break;
			usleep(1000);
		}
		assert_true(p.count >= n);
	}
}

static void each_thread_counts_what_was_stolen_from_its_own_cpu(void **state)
{
	static const uint64_t stolen[] = { 1, 3, 1, 3 };
	const struct tree *tree = *state;
	struct tlat_run_opts opts = base(4, 0);
	struct tlat_report *report;
	struct tlat_run *run;

	if (!*two_cpus)
		skip();
	opts.cpus = two_cpus;
	opts.duration_ns = 30000000000;
	put_stolen(tree, 100, 1000);
	machine->root_fd = tree->fd;
	run = started(&opts);
	put_stolen(tree, 101, 1003);
	wait_for_samples(run, 4, 3);
	tlat_run_stop(run);
	report = ended(run);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(stolen); i++)
		assert_int_equal(
			tlat_report_result(report, i)->counts.disturbed[TLAT_DISTURBED_STEAL],
			stolen[i]);
	tlat_report_free(report);
}

static atomic_int looks;
static atomic_int worst; /* the look at which the clock is slewed */

int64_t __wrap_tlat_slew_ppb(void);

int64_t __wrap_tlat_slew_ppb(void)
{
	return atomic_fetch_add(&looks, 1) == atomic_load(&worst) ? 70000000 : 25000;
}

/* Before the loops begin, or when they have ended. */
static void the_most_that_the_clock_was_slewed_by_in_a_run_counts(void **state)
{
	struct tlat_run_opts opts = base(2, 50);

	(void)state;
	for (int look = 0; look < 2; look++) {
		struct tlat_report *report;

		atomic_store(&looks, 0);
		atomic_store(&worst, look);
		report = ended(started(&opts));
		for (size_t i = 0; i < 2; i++)
			assert_int_equal(tlat_report_result(report, i)->slew_ppb, 70000000);
		tlat_report_free(report);
	}
}

static void refuse(struct tlat_run_opts opts, const char *says)
{
	struct tlat_error error = { 0 };
	struct tlat_run *run;

	assert_int_equal(tlat_run_start(&run, &opts, &error), -EINVAL);
	if (!strstr(error.text, says))
		fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

static void what_makes_no_sense_is_refused_by_name(void **state)
{
	struct tlat_run_opts opts;

	(void)state;
	opts = base(-1, 5);
	refuse(opts, "-1 threads");
	opts = base(8193, 5);
	refuse(opts, "8193 threads");
	opts = base(0, 5);
	opts.threads = 8193;
	refuse(opts, "8193 threads");
	opts = base(0, 5);
	opts.threads = 4097;
	opts.cpus = two_cpus;
	if (*two_cpus)
		refuse(opts, "4097 threads on each of 2 CPUs are more than 8192");
	opts = base(1, 5);
	opts.phase_ns = 5;
	refuse(opts, "align_ns");
	opts = base(1, 5);
	opts.interval_step_ns = -5;
	refuse(opts, "interval step");
	opts = base(1, 5);
	opts.priority_step = 100;
	refuse(opts, "priority step");
	opts = base(1, 5);
	opts.stream = 16777217;
	refuse(opts, "stream of 16777217");
	opts = base(2, 5);
	opts.probe = "wake-futex";
	opts.cpus = NULL;
	refuse(opts, "one-sided");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_its_own_step_and_all_have_equal_counts),
		cmocka_unit_test(a_step_is_slept_whatever_the_call),
		cmocka_unit_test(priorities_step_down_to_one),
		cmocka_unit_test(a_thread_far_behind_is_waited_for),
		cmocka_unit_test(a_cycle_of_years_is_not_a_stall),
		cmocka_unit_test(expiries_are_where_they_are_aligned),
		cmocka_unit_test(a_thread_is_on_one_cpu_unless_it_floats),
		cmocka_unit_test(the_stream_has_every_value_of_the_report_once),
		cmocka_unit_test(a_stream_that_nobody_reads_loses_what_is_new),
		cmocka_unit_test(many_threads_are_counted_alike),
		cmocka_unit_test_setup_teardown(each_thread_counts_what_was_stolen_from_its_own_cpu,
						other_root_setup, other_root_teardown),
		cmocka_unit_test(the_most_that_the_clock_was_slewed_by_in_a_run_counts),
		cmocka_unit_test(what_makes_no_sense_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
