// SPDX-License-Identifier: MIT
/*
 * test-displaced.c - a measuring thread that is taken off its CPU, as the kernel does when the CPU
 * goes offline or its cpuset is changed: here by setting its mask from outside, and by refusing to
 * set it back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "finding.h"
#include "result.h"
#include "timerlat.h"

static struct tlat_machine *machine;
static struct tlat_cpuset all;
static char cpus[32];

static int open_machine(void **state)
{
	int32_t two[2];

	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) < 0 || tlat_affinity_get(0, &all) < 0)
		return -1;
	if (tlat_machine_cpus(machine, "all", two, 2, NULL) >= 2)
		snprintf(cpus, sizeof(cpus), "%d,%d", two[0], two[1]);
	return 0;
}

static int close_machine(void **state)
{
	(void)state;
	tlat_machine_close(machine);
	return 0;
}

/* Whether this process refuses to pin another thread, as the kernel does where its CPU is gone. */
static atomic_bool refusing;

int __real_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set);
int __wrap_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set);

int __wrap_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set)
{
	if (!atomic_load(&refusing) || tid == 0 || CPU_COUNT_S(size, set) != 1)
		return __real_sched_setaffinity(tid, size, set);
	errno = EINVAL;
	return -1;
}

/* What the kernel does to threads whose only CPU is gone. */
static void widen_all_masks(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			tlat_affinity_set(atoi(entry->d_name), &all);
	closedir(dir);
}

static struct tlat_run *started(const char *probe, int64_t duration_ns)
{
	bool timer = !strncmp(probe, "timer", 5);
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .machine = machine, .warmup = 1,
			      .duration_ns = duration_ns, .interval_ns = timer ? 200000 : 0,
			      .settle_ns = 50000);
	struct tlat_run *run;

	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	return run;
}

static struct tlat_report *ended(struct tlat_run *run)
{
	struct tlat_report *report;

	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	return report;
}

static int count_findings(const struct tlat_result *result, const char *id)
{
	struct tlat_finding finding;
	int n = 0;

	for (size_t i = 0; tlat_result_finding(result, i, &finding) == 0; i++)
		n += !strcmp(finding.id, id);
	return n;
}

static const char *const probes[] = { "timer-nanosleep", "wake-futex", "wake-spin" };

static void a_run_whose_cpu_is_taken_ends_with_what_it_has(void **state)
{
	(void)state;
	if (!cpus[0])
		skip();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		struct tlat_run *run = started(probes[i], 40LL * TLAT_NSEC_PER_SEC);
		const struct tlat_result *result;
		struct tlat_finding finding;
		struct tlat_report *report;

		usleep(300000);
		atomic_store(&refusing, true);
		widen_all_masks();
		report = ended(run);
		atomic_store(&refusing, false);
		result = tlat_report_result(report, 0);
		assert_string_equal(tlat_report_end(report), "error");
		assert_true(get_finding(result, "cpu-lost", &finding));
		assert_non_null(strstr(finding.text, "sched_setaffinity gave EINVAL"));
		assert_int_equal(tlat_counts_balance(&result->counts), 0);
		assert_true(tlat_hist_count(result->latency) > 0);
		tlat_report_free(report);
	}
}

/* As older kernels do with every thread of a cpuset that is changed: three times in a run. */
static void threads_whose_masks_are_widened_are_put_back(void **state)
{
	(void)state;
	if (!cpus[0])
		skip();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		struct tlat_run *run = started(probes[i], 3LL * TLAT_NSEC_PER_SEC);
		const struct tlat_result *result;
		struct tlat_finding finding;
		struct tlat_report *report;

		for (int k = 0; k < 3; k++) {
			usleep(600000);
			widen_all_masks();
		}
		report = ended(run);
		result = tlat_report_result(report, 0);
		assert_string_equal(tlat_report_end(report), "time");
		assert_false(has_finding(result, "cpu-lost"));
		assert_true(get_finding(result, "cpu-displaced", &finding));
		/* each thread of a result says it once */
		assert_int_equal(count_findings(result, "cpu-displaced"), i ? 2 : 1);
		assert_int_equal(finding.severity, TLAT_INFO);
		assert_int_equal(tlat_counts_balance(&result->counts), 0);
		tlat_report_free(report);
	}
}

/* Where a thread is allowed to be; empty once it has ended. */
static struct tlat_cpuset mask_of(int32_t tid)
{
	struct tlat_cpuset set = { 0 };

	tlat_affinity_get(tid, &set);
	return set;
}

static bool is_only(struct tlat_cpuset set, int32_t cpu)
{
	return tlat_cpuset_count(&set) == 1 && tlat_cpuset_has(&set, cpu);
}

/* Of the first thread: it is sent to the CPU of the second, again and again. */
static void samples_of_a_thread_that_was_moved_are_disturbed(void **state)
{
	struct tlat_progress now = { .size = sizeof(now) };
	struct tlat_cpuset other = { 0 };
	const struct tlat_result *result;
	struct tlat_report *report;
	struct tlat_run *run;
	int32_t cpu = atoi(cpus);
	int waits = 0;

	(void)state;
	if (!cpus[0])
		skip();
	run = started("timer-nanosleep", 3LL * TLAT_NSEC_PER_SEC);
	assert_int_equal(tlat_run_progress(run, 0, &now), 0);
	assert_int_equal(now.cpu, cpu);
	tlat_cpuset_add(&other, atoi(strchr(cpus, ',') + 1));
	for (int i = 0; i < 20; i++) {
		assert_int_equal(tlat_affinity_set(now.tid, &other), 0);
		usleep(40000);
	}
	while (!is_only(mask_of(now.tid), cpu) && waits++ < 300)
		usleep(10000);
	assert_true(waits < 300);
	report = ended(run);
	result = tlat_report_result(report, 0);
	assert_string_equal(tlat_report_end(report), "time");
	assert_true(has_finding(result, "cpu-displaced"));
	assert_true(result->counts.disturbed[TLAT_DISTURBED_MIGRATED] > 0);
	assert_true(result->counts.disturbed[TLAT_DISTURBED_MIGRATED] < result->counts.recorded);
	assert_false(has_finding(tlat_report_result(report, 1), "cpu-displaced"));
	tlat_report_free(report);
}

static void an_undisturbed_run_has_lost_nothing(void **state)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = "timer-nanosleep", .machine = machine,
			      .duration_ns = 2LL * TLAT_NSEC_PER_SEC, .interval_ns = 1000000);
	struct tlat_report *report;

	(void)state;
	assert_int_equal(tlat_run(&report, &opts, NULL), 0);
	assert_string_equal(tlat_report_end(report), "time");
	assert_false(has_finding(tlat_report_result(report, 0), "cpu-lost"));
	assert_false(has_finding(tlat_report_result(report, 0), "cpu-displaced"));
	tlat_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_whose_cpu_is_taken_ends_with_what_it_has),
		cmocka_unit_test(threads_whose_masks_are_widened_are_put_back),
		cmocka_unit_test(samples_of_a_thread_that_was_moved_are_disturbed),
		cmocka_unit_test(an_undisturbed_run_has_lost_nothing),
	};

	return cmocka_run_group_tests(tests, open_machine, close_machine);
}
