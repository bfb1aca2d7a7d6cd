// SPDX-License-Identifier: MIT
/*
 * test-storm-deaf.c - workers that ignore the end of the storm, or do not live to see it. This
 * object takes the place of the library's stop test: with 100 ns periods on one CPU, or a loop that
 * goes on, nothing but the watchdog is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "rt.h"
#include "storm.h"
#include "storming.h"

#ifdef __SANITIZE_THREAD__
#define HAS_THREAD_SANITIZER 1
#else
#define HAS_THREAD_SANITIZER 0
#endif

#define DURATION_NS 2000000000
#define LIFE_NS	    300000000

static int32_t mortal =
	-1; /* the CPU of a worker that dies while the others hear; -1: all are deaf */

static atomic_int *watched_by; /* priority of the watchdog, as the workers know it */

bool tlat_storm_stopping(struct tlat_storm *storm, uint64_t seen)
{
	uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC), end = tlat_storm_get(storm->end_ns);

	(void)seen;
	atomic_store(watched_by, storm->watch_priority);
	if (mortal < 0)
		return false;
	if (sched_getcpu() == mortal && now >= end - DURATION_NS + LIFE_NS)
		raise(SIGKILL);
	return now >= end;
}

static void the_watchdog_ends_what_does_not_end(void **state)
{
	uint64_t before = tlat_gettime_ns(CLOCK_MONOTONIC);
	struct tlat_report *report = storm(
		&TLAT_STORM_OPTS(.clocks = "posix", .interval_ns = 100, .duration_ns = 300000000));

	(void)state;
	assert_true(has_finding(report, "watchdog"));
	/* what had been counted is there all the same */
	assert_true(metric(report, "monotonic.delivered_hz") > 0);
	assert_string_equal(tlat_report_end(report), "error");
	assert_true(tlat_gettime_ns(CLOCK_MONOTONIC) - before < 50000000000ULL);
	tlat_report_free(report);
}

/* They are counted when their books are closed, which nobody did. */
static void interval_timers_of_a_killed_worker_expired_nobody_knows_how_often(void **state)
{
	struct tlat_report *report =
		storm(&TLAT_STORM_OPTS(.clocks = "itimer-real,monotonic", .interval_ns = 1000000,
				       .duration_ns = 300000000));

	(void)state;
	assert_true(has_finding(report, "watchdog"));
	assert_true(metric(report, "itimer-real.delivered_hz") > 0);
	assert_true(isnan(metric(report, "itimer-real.expired_hz")));
	assert_true(isnan(metric(report, "itimer-real.overrun_hz")));
	assert_true(isnan(metric(report, "itimer-real.delivered_fraction")));
	/* the others count as they go: at most one was not counted yet */
	assert_true(metric(report, "monotonic.expired_hz") > 0);
	assert_true(metric(report, "monotonic.overrun_hz") <=
		    metric(report, "monotonic.expired_hz"));
	tlat_report_free(report);
}

static int32_t first_cpu(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return -1;
}

/* As the out-of-memory killer would have it. Those on other CPUs storm on. */
static void a_worker_that_dies_is_named_and_the_others_go_on(void **state)
{
	struct tlat_report *report;
	const struct tlat_result *result;
	size_t lost = 0;

	(void)state;
	mortal = first_cpu();
	report = storm(&TLAT_STORM_OPTS(.cpus = "all", .interval_ns = 1000000,
					.duration_ns = DURATION_NS));
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		bool died = result->wait.cpu == mortal;

		assert_int_equal(tlat_findings_get(&result->findings, "worker-lost") != NULL, died);
		assert_int_equal(result->end, died ? TLAT_END_ERROR : TLAT_END_TIME);
		assert_true(!died || result->duration_ns < DURATION_NS - LIFE_NS);
		lost += died;
	}
	assert_int_equal(lost, 1);
	assert_false(has_finding(report, "watchdog"));
	assert_string_equal(tlat_report_end(report), "error");
	tlat_report_free(report);
	mortal = -1;
}

static int32_t watched_at(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	int error = pthread_setschedparam(pthread_self(), policy, &param);

	assert_int_equal(error, 0);
	mortal = INT32_MAX; /* none */
	tlat_report_free(storm(&TLAT_STORM_OPTS(.interval_ns = 10000000, .duration_ns = 100000000,
						.policy = TLAT_SCHED_INHERIT)));
	mortal = -1;
	return atomic_load(watched_by);
}

/* Also where they have their policy from the caller: an equal does not get at them. */
static void the_watchdog_outranks_the_workers(void **state)
{
	(void)state;
	if (!tlat_rt_capable("cap_sys_nice"))
		skip();
	assert_int_equal(watched_at(SCHED_FIFO, 2), 3);
	assert_int_equal(watched_at(SCHED_OTHER, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_watchdog_ends_what_does_not_end),
		cmocka_unit_test(interval_timers_of_a_killed_worker_expired_nobody_knows_how_often),
		cmocka_unit_test(a_worker_that_dies_is_named_and_the_others_go_on),
		cmocka_unit_test(the_watchdog_outranks_the_workers),
	};

	watched_by = mmap(NULL, sizeof(*watched_by), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(watched_by, MAP_FAILED);

	/* it holds signals back until the next call that it knows, and with them their contexts */
	if (HAS_THREAD_SANITIZER) {
		print_message("skipped: ThreadSanitizer runs handlers of its own\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
