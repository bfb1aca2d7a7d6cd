// SPDX-License-Identifier: MIT
/*
 * test-storm-deaf.c - workers that ignore the end of the storm. This object takes the place of the
 * library's stop test: with 100 ns periods on one CPU, or a loop that goes on, nothing but the
 * watchdog is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm.h"
#include "storming.h"

#ifdef __SANITIZE_THREAD__
#define HAS_THREAD_SANITIZER 1
#else
#define HAS_THREAD_SANITIZER 0
#endif

bool tlat_storm_stopping(struct tlat_storm *storm, uint64_t seen)
{
	(void)storm;
	(void)seen;
	return false;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_watchdog_ends_what_does_not_end),
		cmocka_unit_test(interval_timers_of_a_killed_worker_expired_nobody_knows_how_often),
	};

	/* it holds signals back until the next call that it knows, and with them their contexts */
	if (HAS_THREAD_SANITIZER) {
		print_message("skipped: ThreadSanitizer runs handlers of its own\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
