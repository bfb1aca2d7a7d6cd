// SPDX-License-Identifier: MIT
/*
 * test-noise-displaced.c - a spinning thread that is taken off its CPU, as the kernel does when the
 * CPU goes offline or leaves the cpuset: here by setting its mask from outside, and by refusing it
 * the way back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "clock.h"
#include "finding.h"
#include "result.h"
#include "timerlat.h"

static struct tlat_machine *machine;
static int32_t cpus[2];
static int n_cpus;

static int open_machine(void **state)
{
	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) < 0)
		return -1;
	n_cpus = tlat_machine_cpus(machine, "all", cpus, 2, NULL);
	return 0;
}

static int close_machine(void **state)
{
	(void)state;
	tlat_machine_close(machine);
	return 0;
}

/* == The library's calls for a mask == */

static atomic_bool refuses; /* to the calling thread */

int __real_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set);
int __wrap_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set);

int __wrap_sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set)
{
	if (!tid && atomic_load(&refuses)) {
		errno = EINVAL;
		return -1;
	}
	return __real_sched_setaffinity(tid, size, set);
}

/* == A spinning thread, and one that moves it == */

static atomic_int spinner; /* the first thread that takes a stamp */

struct move {
	bool refuse; /* the way back */
	bool done;
};

static uint64_t time_of(void *data, enum tlat_stamp_edge edge)
{
	int nobody = 0;

	(void)data;
	(void)edge;
	if (!atomic_load_explicit(&spinner, memory_order_relaxed))
		atomic_compare_exchange_strong(&spinner, &nobody, (int)syscall(SYS_gettid));
	return tlat_gettime_ns(CLOCK_MONOTONIC);
}

static void *move_away(void *arg)
{
	struct tlat_cpuset own = { 0 }, other = { 0 }, mask;
	struct move *move = arg;
	int tid;

	while (!(tid = atomic_load(&spinner)))
		usleep(1000);
	tlat_cpuset_add(&own, cpus[1]);
	tlat_cpuset_add(&other, cpus[0]);
	atomic_store(&refuses, move->refuse);
	move->done = tlat_affinity_get(tid, &mask) == 0 && tlat_cpuset_equal(&mask, &own) &&
		     tlat_affinity_set(tid, &other) == 0;
	return NULL;
}

/* The report of a spin on the second CPU, whose thread was moved to the first. */
static struct tlat_report *report_of_moved(int64_t duration_ns, bool refuse)
{
	struct tlat_noise_opts opts =
		TLAT_NOISE_OPTS(.machine = machine, .duration_ns = duration_ns,
				.policy = TLAT_SCHED_OTHER);
	struct tlat_report *report;
	char cpu[16];
	struct move move = { .refuse = refuse };
	pthread_t mover;

	snprintf(cpu, sizeof(cpu), "%d", cpus[1]);
	opts.cpus = cpu;
	atomic_store(&spinner, 0);
	assert_int_equal(tlat_clock_open_script(&opts.clock, time_of, NULL, TLAT_NSEC_PER_SEC), 0);
	assert_int_equal(pthread_create(&mover, NULL, move_away, &move), 0);
	assert_int_equal(tlat_noise(&report, &opts, NULL), 0);
	pthread_join(mover, NULL);
	tlat_clock_close(opts.clock);
	atomic_store(&refuses, false);
	assert_true(move.done);
	return report;
}

static void a_thread_that_is_moved_goes_back(void **state)
{
	struct tlat_finding finding;
	struct tlat_report *report;
	const struct tlat_result *result;

	(void)state;
	if (n_cpus < 2)
		skip();
	report = report_of_moved(TLAT_NSEC_PER_SEC, false);
	result = tlat_report_result(report, 0);
	assert_string_equal(tlat_report_end(report), "time");
	assert_int_equal(result->wait.cpu, cpus[1]);
	assert_true(get_finding(result, "cpu-displaced", &finding));
	assert_int_equal(finding.severity, TLAT_INFO);
	assert_false(has_finding(result, "cpu-lost"));
	tlat_report_free(report);
}

static void a_thread_that_cannot_go_back_ends_all_with_what_it_has(void **state)
{
	struct tlat_finding finding;
	struct tlat_report *report;
	const struct tlat_result *result;

	(void)state;
	if (n_cpus < 2)
		skip();
	report = report_of_moved(40LL * TLAT_NSEC_PER_SEC, true);
	result = tlat_report_result(report, 0);
	assert_string_equal(tlat_report_end(report), "error");
	assert_true(get_finding(result, "cpu-lost", &finding));
	assert_int_equal(finding.severity, TLAT_ERROR);
	assert_non_null(strstr(finding.text, "went offline"));
	assert_false(has_finding(result, "cpu-displaced"));
	tlat_report_free(report);
}

static void an_undisturbed_one_stays(void **state)
{
	struct tlat_noise_opts opts =
		TLAT_NOISE_OPTS(.machine = machine, .policy = TLAT_SCHED_OTHER,
				.duration_ns = TLAT_NSEC_PER_SEC / 4);
	struct tlat_report *report;

	(void)state;
	assert_int_equal(tlat_noise(&report, &opts, NULL), 0);
	assert_string_equal(tlat_report_end(report), "time");
	assert_false(has_finding(tlat_report_result(report, 0), "cpu-displaced"));
	assert_false(has_finding(tlat_report_result(report, 0), "cpu-lost"));
	tlat_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_is_moved_goes_back),
		cmocka_unit_test(a_thread_that_cannot_go_back_ends_all_with_what_it_has),
		cmocka_unit_test(an_undisturbed_one_stays),
	};

	return cmocka_run_group_tests(tests, open_machine, close_machine);
}
