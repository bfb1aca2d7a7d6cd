// SPDX-License-Identifier: MIT
/* test-storm-report.c - from counters to results, of storms that nobody ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <string.h>

#include "finding.h"
#include "storm.h"

#define S      UINT64_C(1000000000)
#define MS     UINT64_C(1000000)
#define BEGAN  (50 * S)
#define CLOCK  1 /* "monotonic" */
#define WORKER 2

/* Two workers with a timer each, on CPUs 3 and 4, that stormed for 2 s at 1 kHz and ended well. */
struct played {
	struct tlat_storm_session session;
	struct tlat_storm storm;
	struct tlat_storm_worker workers[WORKER];
	struct tlat_storm_timer timers[WORKER];
	struct tlat_storm_series series[WORKER];
	struct tlat_report *report;
};

static struct played *play(void)
{
	static struct played p;

	p = (struct played){ .storm = { .n_workers = WORKER, .workers = p.workers } };
	p.storm.plan = (struct tlat_storm_plan){ .clocks = 1u << CLOCK,
						 .interval_ns = 1000000,
						 .itimer_interval_ns = 1000000,
						 .nap_ns = 10000000,
						 .duration_ns = 2 * S,
						 .timers = 1 };
	tlat_storm_set(p.storm.end_ns, BEGAN + 2 * S);
	for (int i = 0; i < WORKER; i++) {
		struct tlat_storm_worker *w = &p.workers[i];

		p.timers[i].clock = CLOCK;
		tlat_storm_set(p.timers[i].delivered, 2000);
		tlat_storm_set(p.timers[i].expired, 2000);
		atomic_store(&w->stage, TLAT_STORM_ENDED);
		tlat_storm_set(w->period_ns, MS);
		w->storm = &p.storm;
		w->cpu = 3 + i;
		w->n_timers = 1;
		w->timers = &p.timers[i];
		w->began_ns = w->asked_until_ns = BEGAN;
		w->ended_ns = w->progress_at_ns = BEGAN + 2 * S;
		w->gone_ns = BEGAN + 2 * S + MS;
	}
	p.session.storm = &p.storm;
	p.session.plan = p.storm.plan;
	p.session.series = p.series;
	return &p;
}

static const struct tlat_result *result_of(struct played *p, size_t worker)
{
	if (!p->report)
		assert_int_equal(tlat_storm_report(&p->session, &p->report), 0);
	return tlat_report_result(p->report, worker);
}

/* NAN: there is none. */
static double metric(struct played *p, size_t worker, const char *name)
{
	struct tlat_metric metric = { .size = sizeof(metric) };

	for (size_t i = 0; tlat_result_metric(result_of(p, worker), i, &metric) == 0; i++)
		if (!strcmp(metric.name, name))
			return metric.value;
	return NAN;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%g is not %g", value, expected);
}

static void rates_are_counts_over_the_time(void **state)
{
	struct played *p = play();

	(void)state;
	for (size_t i = 0; i < WORKER; i++) {
		assert_near(metric(p, i, "monotonic.requested_hz"), 1000);
		assert_near(metric(p, i, "monotonic.delivered_hz"), 1000);
		assert_false(has_finding(result_of(p, i), "worker-lost"));
		assert_false(has_finding(result_of(p, i), "no-progress"));
	}
	assert_string_equal(tlat_report_end(p->report), "time");
	tlat_report_free(p->report);
}

/* == A worker that died == */

static struct played *play_death(uint64_t after_ns)
{
	struct played *p = play();
	struct tlat_storm_worker *w = &p->workers[0];

	atomic_store(&w->stage, TLAT_STORM_READY);
	tlat_storm_set(p->timers[0].delivered, after_ns / MS);
	tlat_storm_set(p->timers[0].expired, after_ns / MS);
	w->ended_ns = 0;
	w->gone_ns = w->progress_at_ns = BEGAN + after_ns;
	w->status = -SIGKILL;
	p->series[0].all[0] = 1000;
	p->series[0].all[1] = 1200;
	p->series[0].idle[1] = 150;
	return p;
}

static void a_worker_that_died_has_the_rates_of_its_life(void **state)
{
	struct played *p = play_death(S / 2);
	struct tlat_finding finding;

	(void)state;
	assert_near(metric(p, 0, "monotonic.delivered_hz"), 1000);
	assert_near(metric(p, 0, "monotonic.expired_hz"), 1000);
	assert_true(isnan(metric(p, 0, "cpu_share")));
	assert_true(isnan(metric(p, 0, "idle_share")));
	assert_true(get_finding(result_of(p, 0), "worker-lost", &finding));
	assert_int_equal(finding.severity, TLAT_ERROR);
	assert_non_null(strstr(finding.text, "signal 9 "));
	assert_non_null(strstr(finding.text, "CPU 3 "));
	assert_non_null(strstr(finding.text, "after 0.500 s"));
	assert_false(has_finding(result_of(p, 0), "watchdog"));
	assert_false(has_finding(result_of(p, 0), "no-progress"));
	assert_near(metric(p, 1, "monotonic.delivered_hz"), 1000);
	assert_false(has_finding(result_of(p, 1), "worker-lost"));
	assert_string_equal(tlat_report_end(p->report), "error");
	tlat_report_free(p->report);
}

/* It was killed although it could have gone on: what the others were is not its end. */
static void a_stop_does_not_hide_a_death(void **state)
{
	struct played *p = play_death(S / 2);

	(void)state;
	p->session.stopped = true;
	p->storm.n_workers = 1;
	assert_true(has_finding(result_of(p, 0), "worker-lost"));
	assert_string_equal(tlat_report_end(p->report), "error");
	tlat_report_free(p->report);
}

static void the_watchdog_is_named_for_those_that_it_killed(void **state)
{
	struct played *p = play_death(3 * S);

	(void)state;
	atomic_store(&p->workers[1].stage, TLAT_STORM_READY);
	p->workers[1].status = -SIGKILL;
	atomic_store(&p->workers[0].killed, true);
	assert_true(has_finding(result_of(p, 0), "watchdog"));
	assert_int_equal(result_of(p, 0)->wait.cpu, 3);
	assert_false(has_finding(result_of(p, 0), "worker-lost"));
	assert_true(has_finding(result_of(p, 1), "worker-lost"));
	assert_false(has_finding(result_of(p, 1), "watchdog"));
	tlat_report_free(p->report);
}

static void one_that_never_began_has_no_rates(void **state)
{
	struct played *p = play_death(0);

	(void)state;
	p->workers[0].began_ns = 0;
	assert_true(isnan(metric(p, 0, "monotonic.delivered_hz")));
	assert_true(isnan(metric(p, 0, "progress_hz")));
	assert_true(has_finding(result_of(p, 0), "worker-lost"));
	tlat_report_free(p->report);
}

/* == What is left out == */

static double idle_share(uint64_t idle, uint64_t idle_after, uint64_t all, uint64_t all_after)
{
	struct played *p = play();
	double share;

	p->series[0].idle[0] = idle;
	p->series[0].idle[1] = idle_after;
	p->series[0].all[0] = all;
	p->series[0].all[1] = all_after;
	share = metric(p, 0, "idle_share");
	tlat_report_free(p->report);
	return share;
}

static void idle_time_that_steps_back_is_no_share(void **state)
{
	(void)state;
	assert_near(idle_share(500, 550, 1000, 1200), 0.25);
	assert_near(idle_share(500, 500, 1000, 1200), 0);
	assert_near(idle_share(500, 499, 1000, 1200), 0); /* I/O wait became less */
	assert_near(idle_share(500, 701, 1000, 1200), 1);
	assert_true(isnan(idle_share(500, 3, 1000, 1200))); /* the CPU was offline */
	assert_true(isnan(idle_share(500, 3, 1000, 700)));
	assert_true(isnan(idle_share(500, 900, 1000, 1200)));
	assert_true(isnan(idle_share(500, 500, 1000, 1000)));
	assert_true(isnan(idle_share(0, 550, 0, 1200))); /* not read before, or not after */
	assert_true(isnan(idle_share(500, 0, 1000, 0)));
}

/* Of 100 values no more is known of the worst hundredth than one of them. */
static void a_quantile_has_the_values_that_it_needs(void **state)
{
	static const struct {
		uint64_t n;
		bool p50, p99;
	} cases[] = { { 1, 0, 0 }, { 19, 0, 0 }, { 20, 1, 0 }, { 999, 1, 0 }, { 1000, 1, 1 } };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		struct played *p = play();
		struct tlat_hist *hist;

		assert_int_equal(tlat_hist_new(&hist, TLAT_NSEC_PER_SEC), 0);
		for (uint64_t n = 0; n < cases[i].n; n++)
			tlat_hist_record(hist, 100 + (int64_t)n);
		p->timers[0].lateness = hist;
		assert_int_equal(!isnan(metric(p, 0, "monotonic.lateness_p50_ns")), cases[i].p50);
		assert_int_equal(!isnan(metric(p, 0, "monotonic.lateness_p99_ns")), cases[i].p99);
		assert_near(metric(p, 0, "monotonic.lateness_max_ns"), 99 + (double)cases[i].n);
		tlat_report_free(p->report);
		tlat_hist_free(hist);
	}
}

/* == Back-off, and its lack == */

/* 100 ns for the first second, 200 ns for the second one; timerfd has the period that was asked. */
static void what_changing_periods_ask_for_is_a_mean(void **state)
{
	struct played *p = play();

	(void)state;
	p->session.plan.body = TLAT_STORM_BACK_OFF;
	p->session.plan.clocks |= 1u << 9;
	p->timers[1].clock = 9; /* "timerfd" */
	p->session.plan.interval_ns = 100;
	for (int i = 0; i < WORKER; i++) {
		p->workers[i].asked = 10000000;
		p->workers[i].asked_until_ns = BEGAN + S;
		tlat_storm_set(p->workers[i].period_ns, 200);
	}
	assert_near(metric(p, 0, "monotonic.requested_hz"), 7.5e6);
	assert_near(metric(p, 1, "timerfd.requested_hz"), 1e7);
	tlat_report_free(p->report);
}

static void a_nap_is_no_lack_of_progress(void **state)
{
	static const struct {
		uint64_t duration_ns, pause_ns;
		bool stuck;
	} cases[] = {
		{ 20 * MS, 10 * MS + 100000, false }, /* a nap, and what the kernel adds */
		{ 5 * MS, 10 * MS, false },	      { 300 * MS, 10 * MS, false },
		{ 300 * MS, 150 * MS, true },	      { 60 * MS, 59 * MS, true },
		{ 3600 * S, 999 * MS, false },	      { 3600 * S, S, true },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		struct played *p = play();

		p->storm.plan.duration_ns = (int64_t)cases[i].duration_ns;
		p->workers[0].longest_pause_ns = cases[i].pause_ns;
		assert_int_equal(tlat_storm_is_stuck(&p->workers[0]), cases[i].stuck);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_counts_over_the_time),
		cmocka_unit_test(a_worker_that_died_has_the_rates_of_its_life),
		cmocka_unit_test(a_stop_does_not_hide_a_death),
		cmocka_unit_test(the_watchdog_is_named_for_those_that_it_killed),
		cmocka_unit_test(one_that_never_began_has_no_rates),
		cmocka_unit_test(idle_time_that_steps_back_is_no_share),
		cmocka_unit_test(a_quantile_has_the_values_that_it_needs),
		cmocka_unit_test(what_changing_periods_ask_for_is_a_mean),
		cmocka_unit_test(a_nap_is_no_lack_of_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
