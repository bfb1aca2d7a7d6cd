// SPDX-License-Identifier: MIT
/*
 * test-deadline.c - runs under SCHED_DEADLINE: what is refused and why, what is read back, and that
 * a thread which cannot be pinned says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "result.h"

#define MS 1000000LL

static struct tlat_run_opts base(const char *probe)
{
	return TLAT_RUN_OPTS(.probe = probe, .samples = 50, .warmup = 5, .interval_ns = 2 * MS,
			     .policy = TLAT_SCHED_DEADLINE, .runtime_ns = MS / 5,
			     .flags = TLAT_RUN_NO_FLOOR);
}

static struct tlat_report *measured(const struct tlat_run_opts *opts)
{
	struct tlat_report *report;
	struct tlat_error error;

	if (tlat_run(&report, opts, &error) < 0)
		fail_msg("%s", error.text);
	return report;
}

static bool find(const struct tlat_result *result, const char *id, struct tlat_finding *finding)
{
	for (size_t i = 0; !tlat_result_finding(result, i, finding); i++)
		if (!strcmp(finding->id, id))
			return true;
	return false;
}

/* Skips where the kernel or the privileges have no deadline to give; the cause must be known. */
static struct tlat_report *admitted(const struct tlat_run_opts *opts)
{
	struct tlat_report *report = measured(opts);
	struct tlat_finding finding;

	if (!find(tlat_report_result(report, 0), "policy-refused", &finding))
		return report;
	assert_null(strstr(finding.text, "see sched_setattr(2)"));
	print_message("%s\n", finding.text);
	tlat_report_free(report);
	skip();
	return NULL;
}

static void assert_refused(const struct tlat_run_opts *opts, const char *why)
{
	struct tlat_report *report;
	struct tlat_error error;

	assert_int_equal(tlat_run(&report, opts, &error), -EINVAL);
	if (!strstr(error.text, why))
		fail_msg("\"%s\" does not say \"%s\"", error.text, why);
}

static void what_makes_no_sense_is_refused_by_name(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");

	(void)state;
	opts.runtime_ns = 0;
	assert_refused(&opts, "without a runtime");
	opts.runtime_ns = 3 * MS; /* the period is the interval */
	assert_refused(&opts, "runtime 3000000 ns, deadline 2000000 ns, period 2000000 ns");
	opts.runtime_ns = MS;
	opts.deadline_ns = MS / 2;
	assert_refused(&opts, "runtime <= deadline");
	opts.deadline_ns = 0;
	opts.priority = 5;
	assert_refused(&opts, "priority");
	opts.priority = 0;
	opts.policy = TLAT_SCHED_OTHER;
	assert_refused(&opts, "SCHED_DEADLINE");
	opts = base("wake-futex");
	assert_refused(&opts, "ordered by priority");
}

static void a_probe_that_spins_is_not_measured(void **state)
{
	struct tlat_run_opts opts = base("null");
	struct tlat_report *report = measured(&opts);
	struct tlat_finding finding;

	(void)state;
	assert_true(find(tlat_report_result(report, 0), "unsupported", &finding));
	assert_non_null(strstr(finding.text, "throttled"));
	tlat_report_free(report);
}

static void the_times_in_force_are_reported(void **state)
{
	struct tlat_summary summary = { .size = sizeof(summary) };
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_report *report;
	const struct tlat_result *result;
	struct tlat_finding finding;
	char *json;

	(void)state;
	opts.deadline_ns = MS;
	report = admitted(&opts);
	result = tlat_report_result(report, 0);
	tlat_result_summary(result, &summary);
	assert_int_equal(summary.policy, TLAT_SCHED_DEADLINE);
	assert_int_equal(summary.runtime_ns, MS / 5);
	assert_int_equal(summary.deadline_ns, MS);
	assert_int_equal(summary.period_ns, 2 * MS);
	assert_int_equal(summary.asked, 50);
	assert_int_equal(tlat_counts_balance(&result->counts), 0);
	assert_non_null(strstr(tlat_result_repeat(result),
			       " --policy deadline --runtime 200us --deadline 1ms --period 2ms"));
	assert_int_equal(find(result, "deadline-not-pinned", &finding) ? finding.severity
								       : TLAT_INFO,
			 TLAT_INFO);
	if (tlat_report_format(&json, report) == 0) {
		assert_non_null(strstr(json, "\"policy\":\"deadline\""));
		assert_non_null(strstr(json, "\"runtime_ns\":200000,"));
		assert_non_null(strstr(json, "\"period_ns\":2000000"));
		free(json);
	}
	tlat_report_free(report);
}

static void a_cpu_that_was_asked_for_and_not_kept_is_a_warning(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_report *report;
	struct tlat_finding finding;
	struct tlat_cpuset mask;
	char cpu[16];
	bool roams;

	(void)state;
	assert_int_equal(tlat_affinity_get(0, &mask), 0);
	snprintf(cpu, sizeof(cpu), "%d", tlat_cpuset_last(&mask));
	opts.cpus = cpu;
	report = admitted(&opts);
	roams = find(tlat_report_result(report, 0), "deadline-not-pinned", &finding);
	assert_int_equal(roams, tlat_cpuset_count(&mask) > 1);
	if (roams)
		assert_int_equal(finding.severity, TLAT_WARN);
	tlat_report_free(report);
}

/* The mask of a run is that of its caller: narrower than the root domain, it is the cause. */
static void an_affinity_that_is_too_narrow_is_named(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_cpuset before, one = { 0 };
	struct tlat_report *report;
	struct tlat_finding finding;
	bool refused;

	(void)state;
	tlat_report_free(admitted(&opts));
	assert_int_equal(tlat_affinity_get(0, &before), 0);
	if (tlat_cpuset_count(&before) < 2)
		skip();
	tlat_cpuset_add(&one, tlat_cpuset_last(&before));
	assert_int_equal(tlat_affinity_set(0, &one), 0);
	report = measured(&opts);
	tlat_affinity_set(0, &before);
	refused = find(tlat_report_result(report, 0), "policy-refused", &finding);
	assert_true(refused);
	assert_non_null(strstr(finding.text, "all of its root domain"));
	assert_int_equal(tlat_report_result(report, 0)->wait.policy, TLAT_SCHED_OTHER);
	tlat_report_free(report);
}

/* Skips where the kernel has no limit on the sum of all deadlines, or gives none. */
static void need_a_limit(const struct tlat_run_opts *opts)
{
	int64_t limit_us = 0;
	int root = tlat_root_open(NULL);

	tlat_root_read_int(root, "proc/sys/kernel/sched_rt_runtime_us", &limit_us);
	close(root);
	if (limit_us < 0)
		skip();
	tlat_report_free(admitted(opts));
}

static void assert_refused_by_the_limit(const struct tlat_run_opts *opts)
{
	struct tlat_run_opts strict = *opts;
	struct tlat_report *report;
	struct tlat_finding finding;
	struct tlat_error error;
	const struct tlat_result *result;
	int code;

	strict.flags |= TLAT_RUN_STRICT;
	code = tlat_run(&report, &strict, &error);
	assert_int_equal(code, -EBUSY);
	assert_non_null(strstr(error.text, "sched_rt_runtime_us"));
	report = measured(opts);
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		bool refused = find(result, "policy-refused", &finding);

		assert_true(refused);
		assert_non_null(strstr(finding.text, "sched_rt_runtime_us"));
		assert_false(find(result, "deadline-not-pinned", &finding));
		assert_int_equal(result->policy_asked, TLAT_SCHED_DEADLINE);
		assert_int_equal(result->wait.policy, TLAT_SCHED_OTHER);
		assert_int_equal(result->counts.asked, 50);
		assert_int_equal(tlat_counts_balance(&result->counts), 0);
	}
	tlat_report_free(report);
}

static void what_the_cpus_cannot_give_is_named(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");

	(void)state;
	need_a_limit(&opts);
	opts.cpus = "all";
	opts.runtime_ns = 2 * MS; /* all of every CPU */
	assert_refused_by_the_limit(&opts);
}

/* One thread would be admitted, and so would one with all that a CPU has: it is the sum. */
static void what_all_threads_cannot_have_has_none_of_them(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");

	(void)state;
	need_a_limit(&opts);
	opts.cpus = "all";
	opts.threads = 2;
	opts.runtime_ns = 6 * MS / 5;
	assert_refused_by_the_limit(&opts);
}

static void a_caller_keeps_its_own_attributes(void **state)
{
	struct tlat_rt_state before = { .size = sizeof(before) }, after = { .size = sizeof(after) };
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_cpuset mask, now;

	(void)state;
	assert_int_equal(tlat_affinity_get(0, &mask), 0);
	tlat_rt_state(&before);
	tlat_report_free(measured(&opts));
	tlat_rt_state(&after);
	assert_int_equal(tlat_affinity_get(0, &now), 0);
	assert_true(tlat_cpuset_equal(&mask, &now));
	assert_int_equal(before.policy, after.policy);
	assert_int_equal(before.slack_ns, after.slack_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_makes_no_sense_is_refused_by_name),
		cmocka_unit_test(a_probe_that_spins_is_not_measured),
		cmocka_unit_test(the_times_in_force_are_reported),
		cmocka_unit_test(a_cpu_that_was_asked_for_and_not_kept_is_a_warning),
		cmocka_unit_test(an_affinity_that_is_too_narrow_is_named),
		cmocka_unit_test(what_the_cpus_cannot_give_is_named),
		cmocka_unit_test(what_all_threads_cannot_have_has_none_of_them),
		cmocka_unit_test(a_caller_keeps_its_own_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
