// SPDX-License-Identifier: MIT
/*
 * test-storm-clocks.c - storms on clocks that are set meanwhile, and handlers whose time is played.
 * What this program calls clock_gettime(2) by takes the place of the C library's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "storm.h"
#include "storming.h"

#ifdef __SANITIZE_THREAD__
#define HAS_THREAD_SANITIZER 1
#else
#define HAS_THREAD_SANITIZER 0
#endif

#ifdef SYS_clock_gettime64
#define CLOCK_GETTIME (sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime)
#else
#define CLOCK_GETTIME SYS_clock_gettime
#endif

#define S_NS	   INT64_C(1000000000)
#define READING_NS 100 /* what a reading of the played clock takes */
#define PERIOD_NS  5000

#define BIT(id)	  (1u << (id))
#define UNDER_WAY 20 /* readings of workers, which make none before they are let loose */

static struct {
	unsigned int clocks; /* bits: those that are set, when workers are under way */
	int64_t by_ns;
	pid_t own;	      /* this process, which is none of the workers */
	atomic_int *readings; /* of the others; shared */
} step;

static uint64_t played_ns; /* the time on every clock; 0: their own */

static bool is_set(clockid_t id)
{
	if (!step.clocks)
		return false;
	if (getpid() != step.own)
		atomic_fetch_add(step.readings, 1);
	return id >= 0 && id <= CLOCK_TAI && step.clocks & BIT(id) &&
	       atomic_load(step.readings) >= UNDER_WAY;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	if (played_ns) {
		*now = tlat_timespec_of_ns((int64_t)(played_ns += READING_NS));
		return 0;
	}
	if (syscall(CLOCK_GETTIME, id, now) < 0)
		return -1;
	if (is_set(id))
		*now = tlat_timespec_of_ns(tlat_ns_of_timespec(now) + step.by_ns);
	return 0;
}

/* == Clocks that are set == */

static struct tlat_report *storm_in_which(unsigned int clocks, int64_t by_ns, const char *names)
{
	struct tlat_report *report;

	atomic_store(step.readings, 0);
	step.clocks = clocks;
	step.by_ns = by_ns;
	report = storm(
		&TLAT_STORM_OPTS(.clocks = names, .interval_ns = 1000000, .duration_ns = S_NS / 2));
	step.clocks = 0;
	return report;
}

static bool has_finding_of_all(const struct tlat_report *report, const char *id)
{
	struct tlat_finding finding;

	for (size_t i = 0; tlat_report_finding(report, i, &finding) == 0; i++)
		if (!strcmp(finding.id, id))
			return true;
	return false;
}

static void a_clock_that_is_set_under_a_storm_is_told(void **state)
{
	static const struct {
		unsigned int clocks;
		const char *names;
		bool told;
	} cases[] = {
		{ BIT(CLOCK_REALTIME) | BIT(CLOCK_TAI), "realtime", true },
		{ BIT(CLOCK_TAI), "monotonic,tai", true },
		{ BIT(CLOCK_REALTIME) | BIT(CLOCK_TAI), "monotonic,timerfd,itimer-real", false },
		{ 0, "realtime,tai", false },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++)
		for (int64_t by_ns = -5 * S_NS; by_ns <= 5 * S_NS; by_ns += 10 * S_NS) {
			struct tlat_report *report =
				storm_in_which(cases[i].clocks, by_ns, cases[i].names);

			assert_int_equal(has_finding(report, "clock-set"), cases[i].told);
			assert_int_equal(has_finding_of_all(report, "clock-stepped"),
					 cases[i].clocks & BIT(CLOCK_REALTIME) ? 1 : 0);
			tlat_report_free(report);
		}
}

/* All clocks but CLOCK_MONOTONIC go on meanwhile: none of them was set. */
static void a_suspend_under_a_storm_is_told(void **state)
{
	struct tlat_report *report =
		storm_in_which(BIT(CLOCK_REALTIME) | BIT(CLOCK_TAI) | BIT(CLOCK_BOOTTIME), S_NS,
			       "realtime,monotonic");

	(void)state;
	assert_true(has_finding_of_all(report, "suspended"));
	assert_false(has_finding(report, "clock-set"));
	tlat_report_free(report);
}

/* == Handlers == */

/* A worker of this very process, whose timer the kernel does not know: the signals are the test's,
 * each delivered before sigqueue(3) returns. */
static struct tlat_storm_worker *play_worker(uint32_t body)
{
	static struct tlat_storm_timer timer;
	static struct tlat_storm_worker worker;
	static struct tlat_storm storm;

	timer = (struct tlat_storm_timer){ .clock = 1 }; /* "monotonic" */
	storm = (struct tlat_storm){
		.plan = { .body = body, .clocks = 1u << 1, .interval_ns = PERIOD_NS, .timers = 1 }
	};
	tlat_storm_set(storm.end_ns, UINT64_MAX);
	worker = (struct tlat_storm_worker){ .storm = &storm, .timers = &timer, .n_timers = 1 };
	tlat_storm_set(worker.period_ns, PERIOD_NS);
	tlat_storm_signals(&worker);
	played_ns = 1000 * S_NS;
	worker.progress_at_ns = worker.asked_until_ns = worker.began_ns = played_ns;
	tlat_storm_arm(&worker);
	tlat_storm_block(false);
	return &worker;
}

static void send(int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }), 0);
}

/* Signals that come before the timer armed anew can have expired. */
static void every_delivery_of_a_handler_that_re_arms_is_looked_at(void **state)
{
	struct tlat_storm_worker *w = play_worker(TLAT_STORM_REARM);

	(void)state;
	send(1);
	assert_int_equal(tlat_storm_get(w->timers->stale), 0);
	for (int i = 0; i < 40; i++) {
		played_ns += PERIOD_NS;
		send(4);
	}
	tlat_storm_block(true);
	played_ns = 0;
	assert_int_equal(tlat_storm_get(w->timers->delivered), 161);
	assert_int_equal(tlat_storm_get(w->timers->stale), 120);
}

static void what_each_period_asked_for_is_kept(void **state)
{
	struct tlat_storm_worker *w = play_worker(TLAT_STORM_BACK_OFF);
	uint64_t began_ns = w->asked_until_ns, first;

	(void)state;
	send(8191);
	assert_int_equal(w->asked, 0);
	first = (played_ns - began_ns) / PERIOD_NS;
	send(1);
	assert_int_equal(tlat_storm_get(w->period_ns), PERIOD_NS * 95 / 100);
	assert_true(first > 0 && w->asked >= first);
	assert_true(w->asked <= first + 1);
	assert_int_equal(w->asked_until_ns - began_ns, w->asked * PERIOD_NS);
	first = w->asked;
	began_ns = w->asked_until_ns;
	send(8192);
	tlat_storm_block(true);
	assert_true(w->asked > first);
	assert_int_equal(w->asked_until_ns - began_ns, (w->asked - first) * PERIOD_NS * 95 / 100);
	assert_true(w->asked_until_ns < played_ns);
	played_ns = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_is_set_under_a_storm_is_told),
		cmocka_unit_test(a_suspend_under_a_storm_is_told),
		cmocka_unit_test(every_delivery_of_a_handler_that_re_arms_is_looked_at),
		cmocka_unit_test(what_each_period_asked_for_is_kept),
	};

	/* it holds signals back until the next call that it knows, and with them their contexts */
	if (HAS_THREAD_SANITIZER) {
		print_message("skipped: ThreadSanitizer runs handlers of its own\n");
		return 77;
	}
	step.own = getpid();
	step.readings = tlat_shared_new(sizeof(*step.readings));
	return step.readings ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
