// SPDX-License-Identifier: MIT
/*
 * test-clock-cpus.c - what threads on several CPUs find out about a clock, with
 * offsets and gaps injected into their stamps; and that such threads neither
 * hang nor leave anything behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock_crew.h"
#include "open-clock.h"

/* The first two CPUs that this thread may use; cpu_b is -1 when there is one. */
static int32_t cpu_a = -1, cpu_b = -1;

static int find_cpus(void **state)
{
	cpu_set_t set;

	(void)state;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -1;
	for (int32_t cpu = 0; cpu < CPU_SETSIZE && cpu_b < 0; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (cpu_a < 0)
			cpu_a = cpu;
		else
			cpu_b = cpu;
	}
	return 0;
}

static void need_two_cpus(void)
{
	if (cpu_b < 0)
		skip();
}

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void calibration_leaves_the_calling_thread_as_it_was(void **state)
{
	cpu_set_t cpus_before, cpus_after;
	sigset_t mask_before, mask_after;
	struct tlat_clock_offset offset;
	struct tlat_clock *clock;
	int threads_before;

	(void)state;
	sched_getaffinity(0, sizeof(cpus_before), &cpus_before);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	/* A sanitizer's own thread starts with the first of ours. */
	tlat_clock_close(open_clock(TLAT_CLOCK_GETTIME));
	threads_before = count_threads();
	clock = open_clock(TLAT_CLOCK_AUTO);
	assert_int_equal(tlat_clock_gap(clock, cpu_a, 1000000, 1000), 0);
	if (cpu_b >= 0)
		assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &offset, NULL), 0);
	tlat_clock_close(clock);
	sched_getaffinity(0, sizeof(cpus_after), &cpus_after);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	assert_true(CPU_EQUAL(&cpus_before, &cpus_after));
	for (int sig = 1; sig < 32; sig++)
		assert_int_equal(sigismember(&mask_after, sig), sigismember(&mask_before, sig));
	/* A joined thread may be listed for a moment longer. */
	for (int i = 0; i < 1000 && count_threads() > threads_before; i++)
		usleep(1000);
	assert_true(count_threads() <= threads_before);
}

static void a_cpu_has_no_offset_to_itself(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_GETTIME);
	struct tlat_clock_offset offset = { .lo_ns = 1 };

	(void)state;
	assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_a, &offset, NULL), 0);
	assert_true(offset.lo_ns == 0 && offset.hi_ns == 0 && offset.rtt_min_ns == 0);
	tlat_clock_close(clock);
}

static void one_clock_seen_from_two_cpus_may_have_no_offset(void **state)
{
	struct tlat_clock *clock;
	struct tlat_clock_offset o, again, mirrored;

	(void)state;
	need_two_cpus();
	clock = open_clock(TLAT_CLOCK_GETTIME);
	assert_false(tlat_clock_pair_known(clock, cpu_a, cpu_b, &o));
	assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &o, NULL), 0);
	assert_true(o.lo_ns <= 0 && o.hi_ns >= 0 && o.rtt_min_ns > 0);
	assert_true((o.hi_ns - o.lo_ns) / 2 <=
		    o.rtt_min_ns / 2 + tlat_clock_calibration(clock)->quantum_ns + 1);
	assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &again, NULL), 0);
	assert_true(again.lo_ns >= o.lo_ns && again.hi_ns <= o.hi_ns);
	assert_true(tlat_clock_pair_known(clock, cpu_b, cpu_a, &mirrored));
	assert_true(mirrored.lo_ns == -again.hi_ns && mirrored.hi_ns == -again.lo_ns);
	tlat_clock_close(clock);
}

/* Real stamps, ahead by data ticks on cpu_b. */
static uint64_t stamp_with_offset(void *data, enum tlat_stamp_edge edge)
{
	uint64_t ticks = edge == TLAT_EDGE_BEGIN ? tlat_arch_ticks_begin() : tlat_arch_ticks_end();

	return sched_getcpu() == cpu_b ? ticks + (uint64_t) * (int64_t *)data : ticks;
}

static void an_injected_offset_lies_inside_the_interval(void **state)
{
	static int64_t offsets_ticks[] = { 50, -50, 200, -200, 1000, -1000, 1000000 };

	(void)state;
	need_two_cpus();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(offsets_ticks); i++) {
		struct tlat_clock *clock;
		struct tlat_clock_offset own, o;
		double injected_ns;

		clock = open_clock(TLAT_CLOCK_AUTO);
		assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &own, NULL), 0);
		free(clock->pairs);
		clock->pairs = NULL;
		clock->pair_count = 0;
		clock->stamper = (struct tlat_stamper){ .kind = TLAT_STAMP_SCRIPT,
							.script = stamp_with_offset,
							.data = &offsets_ticks[i] };
		injected_ns = (double)offsets_ticks[i] * 1e9 / (double)tlat_clock_hz(clock);
		assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &o, NULL), 0);
		/* The true offset is the injected one plus the machine's own. */
		assert_true(o.lo_ns <= injected_ns + own.hi_ns);
		assert_true(o.hi_ns >= injected_ns + own.lo_ns);
		assert_true(offsets_ticks[i] != 1000000 || o.lo_ns > 0);
		tlat_clock_close(clock);
	}
}

static void an_offset_that_changed_is_a_contradiction_once(void **state)
{
	struct tlat_error error = { 0 };
	struct tlat_clock_offset o;
	struct tlat_clock *clock;

	(void)state;
	need_two_cpus();
	clock = open_clock(TLAT_CLOCK_GETTIME);
	assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &o, NULL), 0);
	clock->pairs[0].offset.lo_ticks += 1000000000;
	clock->pairs[0].offset.hi_ticks += 1000000000;
	assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &o, &error), -ERANGE);
	assert_non_null(strstr(error.text, "contradict"));
	assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &o, &error), 0);
	tlat_clock_close(clock);
}

static void a_cpu_that_does_not_exist_is_named(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_GETTIME);
	struct tlat_error error = { 0 };
	struct tlat_clock_offset o;

	(void)state;
	assert_int_equal(tlat_clock_pair(clock, cpu_a, 8000, &o, &error), -EINVAL);
	assert_non_null(strstr(error.text, "CPU 8000"));
	assert_int_equal(tlat_clock_pair(clock, -1, cpu_a, &o, &error), -EINVAL);
	assert_non_null(strstr(error.text, "CPU -1"));
	assert_false(tlat_clock_pair_known(clock, cpu_a, 8000, &o));
	assert_int_equal(tlat_clock_check_order(clock, (int32_t[]){ cpu_a, 8000 }, 2), -EINVAL);
	assert_int_equal(tlat_clock_gap(clock, 8000, 1000000, 1000), -EINVAL);
	assert_int_equal(tlat_clock_gap(clock, cpu_a, 0, 1000), -EINVAL);
	tlat_clock_close(clock);
}

static void the_kernels_clock_is_ordered_over_cpus(void **state)
{
	struct tlat_clock *clock;

	(void)state;
	need_two_cpus();
	clock = open_clock(TLAT_CLOCK_GETTIME);
	assert_int_equal(tlat_clock_check_order(clock, (int32_t[]){ cpu_a, cpu_b }, 2), 0);
	assert_int_equal(tlat_clock_check_order(clock, &cpu_a, 1), 0);
	tlat_clock_close(clock);
}

static void a_counter_that_is_far_behind_on_one_cpu_violates_the_order(void **state)
{
	static int64_t behind_ticks = -1000000000000;
	struct tlat_clock *clock;
	int violations = 0;

	(void)state;
	need_two_cpus();
	clock = open_clock(TLAT_CLOCK_GETTIME);
	clock->stamper = (struct tlat_stamper){ .kind = TLAT_STAMP_SCRIPT,
						.script = stamp_with_offset,
						.data = &behind_ticks };
	/* One of the two may be preempted until the other has had all its turns. */
	for (int i = 0; i < 20 && !violations; i++)
		violations = tlat_clock_check_order(clock, (int32_t[]){ cpu_a, cpu_b }, 2);
	assert_true(violations > 0);
	tlat_clock_close(clock);
}

/* 100 ns a stamp, and 5 us more at every 999th. */
static uint64_t stamp_with_gaps(void *data, enum tlat_stamp_edge edge)
{
	uint64_t *n = data;

	(void)edge;
	(*n)++;
	return *n * 100 + *n / 999 * 5000;
}

static void gaps_above_the_threshold_are_counted(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_GETTIME);
	const struct tlat_calibration *cal = tlat_clock_calibration(clock);
	uint64_t n = 0;

	(void)state;
	clock->stamper = (struct tlat_stamper){ .kind = TLAT_STAMP_SCRIPT,
						.script = stamp_with_gaps,
						.data = &n };
	assert_int_equal(tlat_clock_gap(clock, cpu_a, 10000000, 1000), 0);
	assert_true(cal->gap_known);
	assert_int_equal(cal->gap_cpu, cpu_a);
	assert_true(cal->gap_duration_ms >= 10);
	assert_true(cal->gap_max_ns == 5100);
	/* A gap that falls into a look at the time is not counted: one at most in so few. */
	assert_true(cal->gap_count >= n / 999 - 1 && cal->gap_count <= n / 999);
	assert_true(fabs(cal->gap_rate_hz - (double)cal->gap_count / cal->gap_duration_ms * 1e3) <
		    1e-3);
	assert_int_equal(tlat_clock_gap(clock, cpu_a, 10000000, 5100), 0);
	assert_int_equal(cal->gap_count, 0);
	/* what the clock does itself is no gap of the CPU's */
	clock->calibration.quantum_ns = 5000;
	assert_int_equal(tlat_clock_gap(clock, cpu_a, 10000000, 1000), 0);
	assert_true(cal->gap_threshold_ns >= 10000);
	assert_int_equal(cal->gap_count, 0);
	tlat_clock_close(clock);
}

struct roll_call {
	int32_t cpu[2];
	int policy[2];
	atomic_int present;
};

static void note_place(struct tlat_crew *crew, size_t member, void *data)
{
	struct roll_call *r = data;

	(void)crew;
	r->cpu[member] = sched_getcpu();
	r->policy[member] = sched_getscheduler(0);
	r->present++;
}

static void a_crew_runs_each_member_on_its_cpu(void **state)
{
	struct roll_call r = { 0 };

	(void)state;
	need_two_cpus();
	assert_int_equal(
		tlat_crew_run((int32_t[]){ cpu_b, cpu_a }, 2, 10000000000, note_place, &r, NULL),
		0);
	assert_int_equal(r.present, 2);
	assert_int_equal(r.cpu[0], cpu_b);
	assert_int_equal(r.cpu[1], cpu_a);
	assert_int_equal(r.policy[0], SCHED_OTHER);
}

static void a_crew_with_one_bad_cpu_does_not_run(void **state)
{
	struct tlat_error error = { 0 };
	struct roll_call r = { 0 };

	(void)state;
	assert_int_equal(
		tlat_crew_run((int32_t[]){ cpu_a, 8000 }, 2, 10000000000, note_place, &r, &error),
		-EINVAL);
	assert_int_equal(r.present, 0);
	assert_non_null(strstr(error.text, "CPU 8000"));
}

static void spin_until_expired(struct tlat_crew *crew, size_t member, void *data)
{
	(void)member;
	(void)data;
	while (!tlat_crew_expired(crew))
		;
}

static void a_crew_that_spins_beyond_its_limit_is_ended(void **state)
{
	struct tlat_error error = { 0 };

	(void)state;
	assert_int_equal(tlat_crew_run(&cpu_a, 1, 20000000, spin_until_expired, NULL, &error),
			 -ETIMEDOUT);
	assert_non_null(strstr(error.text, "20 ms"));
}

static atomic_bool hog_runs, hog_stop;

/* Occupies cpu_b for at most 0.15 s. */
static void *hog(void *arg)
{
	cpu_set_t set;
	uint64_t end_ns;

	CPU_ZERO(&set);
	CPU_SET(cpu_b, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0 ||
	    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }) < 0)
		return arg;
	end_ns = tlat_gettime_ns(CLOCK_MONOTONIC) + 150000000;
	hog_runs = true;
	while (!hog_stop && tlat_gettime_ns(CLOCK_MONOTONIC) < end_ns)
		;
	hog_runs = false;
	return NULL;
}

static void a_crew_is_called_back_from_a_cpu_that_a_realtime_thread_occupies(void **state)
{
	struct roll_call r = { 0 };
	cpu_set_t before, only_a;
	bool ran, still_runs;
	pthread_t thread;
	int rc = 0;

	(void)state;
	need_two_cpus();
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&only_a);
	CPU_SET(cpu_a, &only_a);
	assert_int_equal(sched_setaffinity(0, sizeof(only_a), &only_a), 0);
	hog_runs = hog_stop = false;
	assert_int_equal(pthread_create(&thread, NULL, hog, &r), 0);
	usleep(10000);
	ran = hog_runs;
	if (ran)
		rc = tlat_crew_run((int32_t[]){ cpu_a, cpu_b }, 2, 30000000, note_place, &r, NULL);
	still_runs = hog_runs;
	hog_stop = true;
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(before), &before);
	/* Without the privilege, or where throttling let the member through, nothing was shown. */
	if (!ran || !rc)
		skip();
	assert_int_equal(rc, -ETIMEDOUT);
	assert_true(still_runs);
	assert_int_equal(r.present, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calibration_leaves_the_calling_thread_as_it_was),
		cmocka_unit_test(a_cpu_has_no_offset_to_itself),
		cmocka_unit_test(one_clock_seen_from_two_cpus_may_have_no_offset),
		cmocka_unit_test(an_injected_offset_lies_inside_the_interval),
		cmocka_unit_test(an_offset_that_changed_is_a_contradiction_once),
		cmocka_unit_test(a_cpu_that_does_not_exist_is_named),
		cmocka_unit_test(the_kernels_clock_is_ordered_over_cpus),
		cmocka_unit_test(a_counter_that_is_far_behind_on_one_cpu_violates_the_order),
		cmocka_unit_test(gaps_above_the_threshold_are_counted),
		cmocka_unit_test(a_crew_runs_each_member_on_its_cpu),
		cmocka_unit_test(a_crew_with_one_bad_cpu_does_not_run),
		cmocka_unit_test(a_crew_that_spins_beyond_its_limit_is_ended),
		cmocka_unit_test(a_crew_is_called_back_from_a_cpu_that_a_realtime_thread_occupies),
	};

	return cmocka_run_group_tests(tests, find_cpus, NULL);
}
