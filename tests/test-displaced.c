// SPDX-License-Identifier: MIT
/*
 * test-displaced.c - a measuring thread that is taken off its CPU, as the kernel does when the CPU
 * goes offline: here by widening its mask from outside, which needs no other CPU to fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
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

static void a_run_whose_cpu_is_taken_ends_with_what_it_has(void **state)
{
	static const char *const probes[] = { "timer-nanosleep", "wake-futex", "wake-spin" };

	(void)state;
	if (!cpus[0])
		skip();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		struct tlat_run_opts opts =
			TLAT_RUN_OPTS(.probe = probes[i], .cpus = cpus, .machine = machine,
				      .warmup = 1, .duration_ns = 40LL * TLAT_NSEC_PER_SEC,
				      .interval_ns = i ? 0 : 200000, .settle_ns = 50000);
		struct tlat_report *report;
		const struct tlat_result *result;
		struct tlat_run *run;

		assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
		usleep(300000);
		widen_all_masks();
		assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
		result = tlat_report_result(report, 0);
		assert_string_equal(tlat_report_end(report), "error");
		assert_true(has_finding(result, "cpu-lost"));
		assert_int_equal(tlat_counts_balance(&result->counts), 0);
		assert_true(tlat_hist_count(result->latency) > 0);
		tlat_report_free(report);
	}
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
	tlat_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_whose_cpu_is_taken_ends_with_what_it_has),
		cmocka_unit_test(an_undisturbed_run_has_lost_nothing),
	};

	return cmocka_run_group_tests(tests, open_machine, close_machine);
}
