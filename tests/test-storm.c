// SPDX-License-Identifier: MIT
/* test-storm.c - storms: what is counted, what is conserved, and what a host program keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "storm.h"
#include "storming.h"

#ifdef TLAT_WITH_URING
#include <dlfcn.h>
#include <liburing.h>
#endif

#ifdef __SANITIZE_THREAD__
#define HAS_THREAD_SANITIZER 1
#else
#define HAS_THREAD_SANITIZER 0
#endif

static void every_expiration_is_delivered_or_told_as_an_overrun(void **state)
{
	const int64_t periods_ns[] = { 1000, 20000, 1000000 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(periods_ns); i++) {
		struct tlat_report *report = storm(
			&TLAT_STORM_OPTS(.clocks = "realtime,monotonic,boottime,tai",
					 .interval_ns = periods_ns[i], .duration_ns = 300000000));

		assert_false(has_finding(report, "conservation"));
		assert_true(metric(report, "monotonic.conservation_checks") >= 1);
		assert_true(metric(report, "tai.delivered_hz") > 0);
		assert_true(metric(report, "realtime.delivered_fraction") <= 1);
		assert_true(metric(report, "boottime.delivered_hz") <=
			    metric(report, "boottime.expired_hz"));
		assert_near(metric(report, "monotonic.requested_hz"), 1e9 / (double)periods_ns[i]);
		tlat_report_free(report);
	}
}

static void interval_timers_deliver_no_more_than_expired(void **state)
{
	struct tlat_report *report =
		storm(&TLAT_STORM_OPTS(.clocks = "itimers,monotonic", .interval_ns = 50000,
				       .duration_ns = 300000000));

	(void)state;
	assert_false(has_finding(report, "conservation"));
	assert_true(metric(report, "itimer-real.delivered_hz") > 0);
	assert_true(metric(report, "itimer-real.delivered_hz") <=
		    metric(report, "itimer-real.expired_hz"));
	assert_true(isnan(metric(report, "itimer-real.lateness_p50_ns")));
	tlat_report_free(report);
}

static void what_is_read_is_counted_too(void **state)
{
	struct tlat_report *report =
		storm(&TLAT_STORM_OPTS(.clocks = "timerfd,monotonic", .interval_ns = 1000000,
				       .duration_ns = 200000000));

	(void)state;
	assert_false(has_finding(report, "conservation"));
	assert_true(metric(report, "timerfd.conservation_checks") >= 1);
	assert_true(metric(report, "timerfd.lateness_p50_ns") >= 0);
	tlat_report_free(report);
}

#ifdef TLAT_WITH_URING
static int (*submit)(struct io_uring *ring);
static int spoilt_from; /* submissions before one is spoilt; 0: none is */

/* Takes the place of liburing's: in the worker, timeouts that are no longer valid. */
int io_uring_submit(struct io_uring *ring)
{
	static int n;

	n += io_uring_sq_ready(ring) > 0;
	if (spoilt_from && n > spoilt_from)
		for (unsigned int i = ring->sq.sqe_head; i != ring->sq.sqe_tail; i++)
			ring->sq.sqes[i & *ring->sq.kring_mask].len = 2;
	return submit(ring);
}

static void a_timeout_that_fails_is_told_and_not_counted(void **state)
{
	struct tlat_report *report;

	(void)state;
	*(void **)&submit = dlsym(RTLD_NEXT, "io_uring_submit");
	assert_non_null(submit);
	for (spoilt_from = 0; spoilt_from <= 5; spoilt_from += 5) {
		report = storm(&TLAT_STORM_OPTS(.clocks = "uring,monotonic", .interval_ns = 1000000,
						.duration_ns = 200000000));
		if (has_finding(report, "clock-missing")) {
			tlat_report_free(report);
			skip();
		}
		assert_int_equal(has_finding(report, "clock-failed"), spoilt_from > 0);
		assert_true(metric(report, "uring.delivered_hz") > 0);
		assert_true(metric(report, "uring.delivered_hz") <=
			    metric(report, "uring.requested_hz"));
		assert_true(!spoilt_from || metric(report, "uring.delivered_hz") * 0.2 <= 5.5);
		tlat_report_free(report);
	}
}
#endif

static void many_timers_of_one_clock_are_all_accounted_for(void **state)
{
	struct tlat_report *report =
		storm(&TLAT_STORM_OPTS(.clocks = "monotonic", .timers = 50, .interval_ns = 5000000,
				       .duration_ns = 300000000));

	(void)state;
	assert_false(has_finding(report, "conservation"));
	assert_true(metric(report, "monotonic.conservation_checks") >= 50);
	assert_near(metric(report, "monotonic.requested_hz"), 10000);
	tlat_report_free(report);
}

static void presets_end_in_time_and_conserve(void **state)
{
	static const char *const clocks[] = { "realtime", "boottime" };

	(void)state;
	for (int32_t preset = TLAT_STORM_TIMER; preset <= TLAT_STORM_TIMERMIX; preset++) {
		uint64_t before = tlat_gettime_ns(CLOCK_MONOTONIC);
		struct tlat_report *report = storm(
			&TLAT_STORM_OPTS(.preset = preset, .duration_ns = 500000000, .cpus = "0"));
		char name[64];

		/* a search for progress has 20 steps at most; none of them was killed */
		assert_true(tlat_gettime_ns(CLOCK_MONOTONIC) - before < 40000000000ULL);
		assert_false(has_finding(report, "conservation"));
		assert_false(has_finding(report, "watchdog"));
		snprintf(name, sizeof(name), "%s.delivered_hz", clocks[preset - 1]);
		assert_true(metric(report, name) > 0);
		tlat_report_free(report);
	}
}

static void every_worker_has_a_result(void **state)
{
	struct tlat_report *report =
		storm(&TLAT_STORM_OPTS(.cpus = "all", .duration_ns = 50000000));
	size_t cpus = (size_t)all_cpus();

	(void)state;
	for (size_t i = 0; i < cpus; i++) {
		assert_non_null(tlat_report_result(report, i));
		assert_string_equal(tlat_result_kind(tlat_report_result(report, i)), "storm");
	}
	assert_null(tlat_report_result(report, cpus));
	tlat_report_free(report);
}

/* Kernels from 6.13 on drop what an arming that is replaced had queued; older ones deliver it, and
 * then it is named. */
static void a_handler_that_re_arms_is_named_where_it_gets_stale_signals(void **state)
{
	struct tlat_report *report =
		storm(&TLAT_STORM_OPTS(.handler = TLAT_STORM_REARMING, .duration_ns = 200000000));
	double stale = metric(report, "monotonic.stale");

	(void)state;
	assert_true(metric(report, "monotonic.delivered_hz") > 0);
	assert_true(stale >= 0);
	assert_int_equal(has_finding(report, "stale-signals"), stale > 0);
	assert_true(isnan(metric(report, "monotonic.expired_hz")));
	tlat_report_free(report);
}

static void metrics_survive_a_report(void **state)
{
	struct tlat_report *report = storm(&TLAT_STORM_OPTS(.duration_ns = 50000000)), *again;
	char path[] = "/tmp/tlat-storm-XXXXXX";
	struct tlat_error error;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	if (tlat_report_write(report, path, 0, &error) == -EOPNOTSUPP) {
		unlink(path);
		tlat_report_free(report);
		skip();
	}
	assert_int_equal(tlat_report_read(&again, path, &error), 0);
	assert_string_equal(tlat_result_kind(tlat_report_result(again, 0)), "storm");
	assert_near(metric(again, "monotonic.delivered_hz"),
		    metric(report, "monotonic.delivered_hz"));
	assert_near(metric(again, "progress_hz"), metric(report, "progress_hz"));
	unlink(path);
	tlat_report_free(again);
	tlat_report_free(report);
}

static void a_stop_ends_it_early(void **state)
{
	const volatile int32_t stop = 1;
	uint64_t before = tlat_gettime_ns(CLOCK_MONOTONIC);
	struct tlat_report *report =
		storm(&TLAT_STORM_OPTS(.duration_ns = 50000000000, .stop = &stop));

	(void)state;
	assert_true(tlat_gettime_ns(CLOCK_MONOTONIC) - before < 40000000000ULL);
	assert_string_equal(tlat_report_end(report), "signal");
	tlat_report_free(report);
}

/* == The host program == */

static volatile sig_atomic_t taken;

static void host_handler(int signal)
{
	(void)signal;
	taken++;
}

static size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void a_host_program_keeps_handlers_mask_and_pending_signals(void **state)
{
	const int signals[] = { SIGALRM, SIGVTALRM, SIGPROF, SIGCHLD, SIGRTMIN };
	struct sigaction mine = { .sa_handler = host_handler }, now;
	sigset_t blocked, mask, pending;
	size_t files;

	(void)state;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &mine, NULL);
	raise(SIGRTMIN);
	files = open_files();

	tlat_report_free(
		storm(&TLAT_STORM_OPTS(.preset = TLAT_STORM_TIMERMIX, .duration_ns = 200000000)));

	assert_int_equal(open_files(), files);
	assert_int_equal(taken, 0); /* no SIGCHLD either */
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGRTMIN));
	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_true(sigismember(&mask, SIGRTMIN));
	assert_false(sigismember(&mask, SIGALRM));
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &now);
		assert_ptr_equal(now.sa_handler, host_handler);
	}
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	assert_int_equal(taken, 1);
}

static void timers_beyond_the_signal_limit_are_a_finding(void **state)
{
	struct rlimit before, low;
	struct tlat_report *report;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	low = before;
	low.rlim_cur = 20;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &low), 0);
	report = storm(
		&TLAT_STORM_OPTS(.timers = 100, .interval_ns = 10000000, .duration_ns = 100000000));
	setrlimit(RLIMIT_SIGPENDING, &before);
	assert_true(has_finding(report, "signal-limit"));
	assert_true(metric(report, "monotonic.requested_hz") <= 2000);
	assert_false(has_finding(report, "conservation"));
	tlat_report_free(report);
}

static void *storm_without_privilege(void *arg)
{
	struct tlat_report **report = arg;

	if (tlat_rt_drop_caps(NULL, NULL) < 0)
		return arg;
	*report = storm(&TLAT_STORM_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 40,
					 .duration_ns = 50000000));
	return NULL;
}

/* The command that repeats it asks for what was asked for, granted or not. */
static void a_refused_policy_is_asked_for_again(void **state)
{
	struct tlat_report *report;
	pthread_t thread;
	void *failed;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, storm_without_privilege, &report), 0);
	pthread_join(thread, &failed);
	if (failed)
		skip();
	assert_non_null(
		strstr(tlat_result_repeat(tlat_report_result(report, 0)), " --policy fifo -p 40"));
	tlat_report_free(report);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	const struct tlat_storm_opts bad[] = {
		TLAT_STORM_OPTS(.clocks = "monotonic,sundial"),
		TLAT_STORM_OPTS(.clocks = ""),
		TLAT_STORM_OPTS(.interval_ns = 99),
		TLAT_STORM_OPTS(.timers = 5000),
		TLAT_STORM_OPTS(.preset = 3),
		TLAT_STORM_OPTS(.cpus = "99999"),
		TLAT_STORM_OPTS(.handler = TLAT_STORM_REARMING, .preset = TLAT_STORM_TIMERMIX),
		TLAT_STORM_OPTS(.policy = TLAT_SCHED_DEADLINE),
		TLAT_STORM_OPTS(.duration_ns = -1),
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(bad); i++) {
		struct tlat_report *report = NULL;
		struct tlat_error error = { 0 };

		assert_int_equal(tlat_storm(&report, &bad[i], &error), -EINVAL);
		assert_null(report);
		assert_true(*error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_expiration_is_delivered_or_told_as_an_overrun),
		cmocka_unit_test(interval_timers_deliver_no_more_than_expired),
		cmocka_unit_test(what_is_read_is_counted_too),
#ifdef TLAT_WITH_URING
		cmocka_unit_test(a_timeout_that_fails_is_told_and_not_counted),
#endif
		cmocka_unit_test(many_timers_of_one_clock_are_all_accounted_for),
		cmocka_unit_test(presets_end_in_time_and_conserve),
		cmocka_unit_test(every_worker_has_a_result),
		cmocka_unit_test(a_handler_that_re_arms_is_named_where_it_gets_stale_signals),
		cmocka_unit_test(metrics_survive_a_report),
		cmocka_unit_test(a_stop_ends_it_early),
		cmocka_unit_test(a_host_program_keeps_handlers_mask_and_pending_signals),
		cmocka_unit_test(timers_beyond_the_signal_limit_are_a_finding),
		cmocka_unit_test(a_refused_policy_is_asked_for_again),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
	};

	/* it holds signals back until the next call that it knows, and with them their contexts */
	if (HAS_THREAD_SANITIZER) {
		print_message("skipped: ThreadSanitizer runs handlers of its own\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
