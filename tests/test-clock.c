// SPDX-License-Identifier: MIT
/*
 * test-clock.c - the clock on this machine, and with the machine's answers
 * replaced: another root, stamps with a known offset, a clock that moved on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock_crew.h"
#include "clock_state.h"

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

static struct tlat_clock *open_clock(int source)
{
	struct tlat_error error = { 0 };
	struct tlat_clock *clock = NULL;

	if (tlat_clock_open(&clock, NULL, source, &error) < 0)
		fail_msg("%s", error.text);
	return clock;
}

static bool has_finding(const struct tlat_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->v[i].id, id))
			return true;
	return false;
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

static void source_names_lead_back_to_sources(void **state)
{
	(void)state;
	for (int source = TLAT_CLOCK_AUTO; source <= TLAT_CLOCK_GETTIME; source++)
		assert_int_equal(tlat_clock_source_from_name(tlat_clock_source_name(source)), source);
	assert_null(tlat_clock_source_name(-1));
	assert_null(tlat_clock_source_name(TLAT_CLOCK_GETTIME + 1));
	assert_int_equal(tlat_clock_source_from_name("hpet"), -EINVAL);
	assert_int_equal(tlat_clock_source_from_name(""), -EINVAL);
}

static void the_clock_of_choice_is_calibrated_and_gives_its_reason(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
	const struct tlat_calibration *cal = tlat_clock_calibration(clock);
	const char *name = tlat_clock_source_name(cal->source);

	(void)state;
	assert_int_not_equal(cal->source, TLAT_CLOCK_AUTO);
	assert_int_equal(strncmp(cal->reason, name, strlen(name)), 0);
	assert_true(cal->hz >= 1000);
	assert_true(cal->hz_error_ppb >= 0);
	assert_true(cal->quantum_ticks >= 1);
	assert_true(fabs(cal->quantum_ns - cal->quantum_ticks * 1e9 / (double)cal->hz) < 1e-6);
	assert_true(cal->read_cost_ns > 0 && cal->read_min_ns <= cal->read_cost_ns);
	assert_true(cal->read_min_ns <= cal->read_p99_ns);
	assert_true(cal->gettime_cost_ns > 0);
	if (cal->source == TLAT_CLOCK_GETTIME) {
		assert_string_equal(cal->method, "nominal");
	} else {
		assert_string_equal(cal->method, "measured");
		assert_true(cal->span_ms >= 100);
		assert_true(cal->hz_error_ppb > 0);
	}
	tlat_clock_close(clock);
}

static void two_calibrations_agree_within_their_bounds(void **state)
{
	struct tlat_clock *one = open_clock(TLAT_CLOCK_AUTO), *two = open_clock(TLAT_CLOCK_AUTO);
	const struct tlat_calibration *a = tlat_clock_calibration(one);
	const struct tlat_calibration *b = tlat_clock_calibration(two);
	double off_ppb = fabs((double)a->hz / (double)b->hz - 1) * 1e9;

	(void)state;
	assert_true(off_ppb <= (double)(a->hz_error_ppb + b->hz_error_ppb));
	tlat_clock_close(one);
	tlat_clock_close(two);
}

static void stamps_agree_with_the_kernel_on_a_sleep(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
	struct tlat_stamper stamper = tlat_clock_stamper(clock);
	uint64_t before_ns, inner_ns, outer_ns, begin_ticks, end_ticks;
	double stamped_ns;

	(void)state;
	before_ns = tlat_gettime_ns(CLOCK_MONOTONIC_RAW);
	begin_ticks = tlat_stamp_begin(&stamper);
	inner_ns = tlat_gettime_ns(CLOCK_MONOTONIC_RAW);
	usleep(20000);
	inner_ns = tlat_gettime_ns(CLOCK_MONOTONIC_RAW) - inner_ns;
	end_ticks = tlat_stamp_end(&stamper);
	outer_ns = tlat_gettime_ns(CLOCK_MONOTONIC_RAW) - before_ns;
	stamped_ns = (double)(end_ticks - begin_ticks) * 1e9 / (double)tlat_clock_hz(clock);
	/* 100 us: another CPU's counter may be ahead or behind */
	assert_true(stamped_ns >= (double)inner_ns - 100e3);
	assert_true(stamped_ns <= (double)outer_ns + 100e3);
	tlat_clock_close(clock);
}

static void clock_gettime_is_in_nanoseconds_without_error(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_GETTIME);
	struct tlat_clock_facts facts = { .size = sizeof(facts) };
	struct tlat_stamper stamper = tlat_clock_stamper(clock);

	(void)state;
	assert_int_equal(tlat_clock_facts(clock, &facts), 0);
	assert_int_equal(facts.source, TLAT_CLOCK_GETTIME);
	assert_int_equal(facts.hz, 1000000000);
	assert_int_equal(facts.hz_error_ppb, 0);
	assert_true(facts.quantum_ns >= 1);
	assert_string_equal(facts.reason, "clock_gettime: as asked");
	assert_int_equal(stamper.kind, TLAT_STAMP_GETTIME);
	assert_int_equal(stamper.id, CLOCK_MONOTONIC_RAW);
	tlat_clock_close(clock);
}

static void a_source_of_another_machine_is_refused_with_the_remedy(void **state)
{
	struct tlat_clock *clock = NULL;

	(void)state;
	for (int source = TLAT_CLOCK_TSC; source < TLAT_CLOCK_GETTIME; source++) {
		struct tlat_error error = { 0 };

		if (source == (int)TLAT_ARCH_SOURCE)
			continue;
		assert_int_equal(tlat_clock_open(&clock, NULL, source, &error), -EINVAL);
		assert_int_equal(error.code, -EINVAL);
		assert_non_null(strstr(error.text, tlat_clock_source_name(source)));
		assert_non_null(strstr(error.text, "use auto or clock_gettime"));
	}
	assert_int_equal(tlat_clock_open(&clock, NULL, 99, NULL), -EINVAL);
	assert_int_equal(tlat_clock_open(&clock, NULL, -1, NULL), -EINVAL);
	assert_null(clock);
}

static void facts_are_filled_up_to_the_callers_size(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_GETTIME);
	struct tlat_clock_facts facts = { .size = offsetof(struct tlat_clock_facts, quantum_ns),
					  .quantum_ns = -1 };

	(void)state;
	assert_int_equal(tlat_clock_facts(clock, &facts), 0);
	assert_int_equal(facts.hz, 1000000000);
	assert_true(facts.quantum_ns == -1);
	facts.size = 0;
	assert_int_equal(tlat_clock_facts(clock, &facts), -EINVAL);
	tlat_clock_close(clock);
}

/* A root with one CPU whose kernel names that clocksource. */
static void make_root(char *root, const char *clocksource)
{
	static const char *const dirs[] = {
		"sys", "sys/devices", "sys/devices/system", "sys/devices/system/cpu",
		"sys/devices/system/clocksource", "sys/devices/system/clocksource/clocksource0",
	};
	char path[256];
	FILE *f;

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", root);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "0\n");
	fclose(f);
	snprintf(path, sizeof(path), "%s/%s", root, TLAT_CLOCKSOURCE_PATH);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", clocksource);
	fclose(f);
}

static void remove_root(const char *root)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

static struct tlat_clock *open_below(char *root, const char *clocksource, int source)
{
	struct tlat_machine *machine = NULL;
	struct tlat_clock *clock = NULL;
	struct tlat_error error = { 0 };

	make_root(root, clocksource);
	if (tlat_machine_open(&machine, root, &error) < 0 ||
	    tlat_clock_open(&clock, machine, source, &error) < 0)
		fail_msg("%s", error.text);
	tlat_machine_close(machine);
	return clock;
}

static void need_invariant_tsc(void)
{
	if ((int)TLAT_ARCH_SOURCE != (int)TLAT_CLOCK_TSC || !tlat_arch_invariant())
		skip();
}

static void the_tsc_is_used_when_the_kernel_keeps_time_by_it(void **state)
{
	char root[] = "/tmp/tlat-clock-XXXXXX";
	struct tlat_clock *clock;

	(void)state;
	need_invariant_tsc();
	clock = open_below(root, "tsc", TLAT_CLOCK_AUTO);
	assert_int_equal(tlat_clock_calibration(clock)->source, TLAT_CLOCK_TSC);
	assert_string_equal(tlat_clock_calibration(clock)->kernel_clocksource, "tsc");
	tlat_clock_close(clock);
	remove_root(root);
}

static void the_tsc_is_not_trusted_when_the_kernel_uses_another_clock(void **state)
{
	static const char *const others[] = { "kvm-clock", "hyperv_clocksource_tsc_page", "hpet" };

	(void)state;
	need_invariant_tsc();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(others); i++) {
		char root[] = "/tmp/tlat-clock-XXXXXX";
		struct tlat_clock *clock = open_below(root, others[i], TLAT_CLOCK_AUTO);
		const struct tlat_calibration *cal = tlat_clock_calibration(clock);

		assert_int_equal(cal->source, TLAT_CLOCK_GETTIME);
		assert_non_null(strstr(cal->reason, others[i]));
		assert_non_null(strstr(cal->reason, "tsc"));
		tlat_clock_close(clock);
		remove_root(root);
	}
}

static void a_tsc_that_was_asked_for_in_spite_of_the_kernel_is_a_finding(void **state)
{
	char root[] = "/tmp/tlat-clock-XXXXXX";
	struct tlat_findings findings = { 0 };
	struct tlat_clock *clock;

	(void)state;
	need_invariant_tsc();
	clock = open_below(root, "kvm-clock", TLAT_CLOCK_TSC);
	assert_int_equal(tlat_clock_calibration(clock)->source, TLAT_CLOCK_TSC);
	assert_non_null(strstr(tlat_clock_calibration(clock)->reason, "kvm-clock"));
	tlat_clock_check_end(clock, &findings);
	assert_true(has_finding(&findings, "clock-not-vouched"));
	tlat_findings_free(&findings);
	tlat_clock_close(clock);
	remove_root(root);
}

static void calibration_leaves_the_calling_thread_as_it_was(void **state)
{
	cpu_set_t cpus_before, cpus_after;
	sigset_t mask_before, mask_after;
	int threads_before = count_threads();
	struct tlat_clock_offset offset;
	struct tlat_clock *clock;

	(void)state;
	sched_getaffinity(0, sizeof(cpus_before), &cpus_before);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	clock = open_clock(TLAT_CLOCK_AUTO);
	assert_int_equal(tlat_clock_gap(clock, cpu_a, 1000000, 1000), 0);
	if (cpu_b >= 0)
		assert_int_equal(tlat_clock_pair(clock, cpu_a, cpu_b, &offset, NULL), 0);
	tlat_clock_close(clock);
	sched_getaffinity(0, sizeof(cpus_after), &cpus_after);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	assert_true(CPU_EQUAL(&cpus_before, &cpus_after));
	for (int sig = 1; sig < 32; sig++)
		assert_int_equal(sigismember(&mask_before, sig), sigismember(&mask_after, sig));
	assert_int_equal(count_threads(), threads_before);
}

static void ticks_are_nanoseconds_rounded_up(void **state)
{
	static const uint64_t rates_hz[] = { 1, 999999, 1000000, 24000000, 1000000000, 2596120129,
					     5999999999 };
	uint64_t random = 88172645463325252u;
	struct tlat_clock clock = { .root_fd = -1 };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t hz = rates_hz[i % 7], ticks;
		int64_t ns;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		ns = (int64_t)(random >> (2 + random % 60));
		if (ns > 1000000000000000000 / 6)
			ns %= 1000000000000000000 / 6;
		clock.calibration.hz = hz;
		ticks = tlat_clock_ticks(&clock, ns);
		/* long double holds 64 bits exactly; the product is off by half a unit at most */
		assert_true(fabsl((long double)ticks - ceill((long double)ns * hz / 1e9L)) <= 1);
		/* never early: exact while the products fit */
		if (ns < 1000000000)
			assert_true(ticks * 1000000000u >= (uint64_t)ns * hz &&
				    (!ticks || (ticks - 1) * 1000000000u < (uint64_t)ns * hz));
	}
	assert_int_equal(tlat_clock_ticks(&clock, 0), 0);
	assert_int_equal(tlat_clock_ticks(&clock, -5), 0);
}

static uint64_t count_up(void *data, enum tlat_stamp_edge edge)
{
	uint64_t *now = data;

	return *now += edge == TLAT_EDGE_BEGIN ? 10 : 7;
}

static void a_script_plays_every_stamp(void **state)
{
	uint64_t now = 0;
	struct tlat_clock *clock;
	struct tlat_stamper pair, solo;
	struct tlat_clock_offset offset;
	struct tlat_findings findings = { 0 };

	(void)state;
	assert_int_equal(tlat_clock_open_script(&clock, count_up, &now, 2000000000), 0);
	pair = tlat_clock_stamper(clock);
	solo = tlat_clock_stamper_for(clock, CLOCK_REALTIME);
	assert_int_equal(tlat_stamp_begin(&pair), 10);
	assert_int_equal(tlat_stamp_end(&pair), 17);
	assert_int_equal(tlat_stamp_begin(&solo), 27);
	assert_int_equal(tlat_clock_hz(clock), 2000000000);
	assert_int_equal(tlat_clock_ticks(clock, 1), 2);
	assert_int_equal(tlat_clock_pair(clock, 3, 4000, &offset, NULL), 0);
	assert_true(offset.a == 3 && offset.b == 4000 && offset.lo_ns == 0 && offset.hi_ns == 0);
	assert_int_equal(tlat_clock_check_order(clock, (int32_t[]){ 3, 4000 }, 2), 0);
	assert_int_equal(tlat_clock_gap(clock, 3, 1000, 10), 0);
	assert_false(tlat_clock_calibration(clock)->gap_known);
	tlat_clock_check_end(clock, &findings);
	assert_int_equal(findings.n, 0);
	assert_int_equal(now, 27);
	tlat_clock_close(clock);
}

static void a_solo_probe_is_stamped_by_its_own_kernel_clock(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
	struct tlat_stamper stamper = tlat_clock_stamper_for(clock, CLOCK_BOOTTIME);

	(void)state;
	assert_int_equal(stamper.kind, TLAT_STAMP_GETTIME);
	assert_int_equal(stamper.id, CLOCK_BOOTTIME);
	tlat_clock_close(clock);
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

	return sched_getcpu() == cpu_b ? ticks + (uint64_t)*(int64_t *)data : ticks;
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
						.script = stamp_with_gaps, .data = &n };
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
	tlat_clock_close(clock);
}

static void a_steady_clock_has_nothing_to_report_at_the_end(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
	struct tlat_findings findings = { 0 };

	(void)state;
	usleep(20000);
	tlat_clock_check_end(clock, &findings);
	for (size_t i = 0; i < findings.n; i++)
		fail_msg("%s: %s", findings.v[i].id, findings.v[i].text);
	assert_true(tlat_clock_calibration(clock)->end_checked);
	tlat_clock_close(clock);
}

static void a_counter_that_drifted_is_a_finding(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
	struct tlat_findings findings = { 0 };

	(void)state;
	if (clock->stamper.kind == TLAT_STAMP_COUNTER) {
		/* As if the rate had been 1 % lower during calibration. */
		clock->calibration.hz -= clock->calibration.hz / 100;
		usleep(20000);
		tlat_clock_check_end(clock, &findings);
		assert_true(has_finding(&findings, "clock-drift"));
		assert_true(clock->calibration.end_drift_ppm > 9000);
		assert_true(clock->calibration.end_drift_ppm < 11000);
		tlat_findings_free(&findings);
		/* As if it had been reset since. */
		clock->anchor.before_ticks += UINT64_MAX / 2;
		clock->anchor.after_ticks += UINT64_MAX / 2;
		tlat_clock_check_end(clock, &findings);
		assert_true(has_finding(&findings, "clock-drift"));
	}
	tlat_findings_free(&findings);
	tlat_clock_close(clock);
}

static void a_rate_other_than_the_stated_one_is_a_finding(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
	struct tlat_findings findings = { 0 };

	(void)state;
	clock->stated_hz = clock->calibration.hz;
	tlat_clock_check_end(clock, &findings);
	assert_false(has_finding(&findings, "clock-rate-stated"));
	clock->stated_hz += clock->stated_hz / 1000;
	tlat_clock_check_end(clock, &findings);
	assert_true(has_finding(&findings, "clock-rate-stated") ==
		    (clock->stamper.kind == TLAT_STAMP_COUNTER));
	tlat_findings_free(&findings);
	tlat_clock_close(clock);
}

static void a_changed_clocksource_is_a_finding(void **state)
{
	char root[] = "/tmp/tlat-clock-XXXXXX", path[256];
	struct tlat_clock *clock = open_below(root, "tsc", TLAT_CLOCK_AUTO);
	struct tlat_findings findings = { 0 };
	FILE *f;

	(void)state;
	tlat_clock_check_end(clock, &findings);
	assert_false(has_finding(&findings, "clocksource-changed"));
	snprintf(path, sizeof(path), "%s/%s", root, TLAT_CLOCKSOURCE_PATH);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "hpet\n");
	fclose(f);
	tlat_clock_check_end(clock, &findings);
	assert_true(has_finding(&findings, "clocksource-changed"));
	tlat_findings_free(&findings);
	tlat_clock_close(clock);
	remove_root(root);
}

static void a_suspend_is_a_finding_once_and_no_step(void **state)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_GETTIME);
	struct tlat_findings findings = { 0 };

	(void)state;
	clock->relation.suspended_ns -= 5000000000;
	clock->relation.wall_ns -= 5000000000;
	tlat_clock_check_end(clock, &findings);
	assert_true(has_finding(&findings, "suspended"));
	assert_false(has_finding(&findings, "clock-stepped"));
	tlat_findings_free(&findings);
	tlat_clock_check_end(clock, &findings);
	assert_int_equal(findings.n, 0);
	tlat_clock_close(clock);
}

static void a_step_of_the_wall_clock_is_worth_knowing(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct tlat_clock *clock = open_clock(TLAT_CLOCK_GETTIME);
		struct tlat_findings findings = { 0 };

		clock->relation.wall_ns -= sign * 1000000000;
		tlat_clock_check_end(clock, &findings);
		assert_true(has_finding(&findings, "clock-stepped"));
		assert_false(tlat_findings_reach(&findings, TLAT_WARN));
		tlat_findings_free(&findings);
		tlat_clock_close(clock);
	}
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
	assert_int_equal(tlat_crew_run((int32_t[]){ cpu_b, cpu_a }, 2, 10000000000, note_place, &r,
				       NULL), 0);
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
	assert_int_equal(tlat_crew_run((int32_t[]){ cpu_a, 8000 }, 2, 10000000000, note_place, &r,
				       &error), -EINVAL);
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
	if (!ran || !still_runs || !rc)
		skip();
	assert_int_equal(rc, -ETIMEDOUT);
	assert_int_equal(r.present, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(source_names_lead_back_to_sources),
		cmocka_unit_test(the_clock_of_choice_is_calibrated_and_gives_its_reason),
		cmocka_unit_test(two_calibrations_agree_within_their_bounds),
		cmocka_unit_test(stamps_agree_with_the_kernel_on_a_sleep),
		cmocka_unit_test(clock_gettime_is_in_nanoseconds_without_error),
		cmocka_unit_test(a_source_of_another_machine_is_refused_with_the_remedy),
		cmocka_unit_test(facts_are_filled_up_to_the_callers_size),
		cmocka_unit_test(the_tsc_is_used_when_the_kernel_keeps_time_by_it),
		cmocka_unit_test(the_tsc_is_not_trusted_when_the_kernel_uses_another_clock),
		cmocka_unit_test(a_tsc_that_was_asked_for_in_spite_of_the_kernel_is_a_finding),
		cmocka_unit_test(calibration_leaves_the_calling_thread_as_it_was),
		cmocka_unit_test(ticks_are_nanoseconds_rounded_up),
		cmocka_unit_test(a_script_plays_every_stamp),
		cmocka_unit_test(a_solo_probe_is_stamped_by_its_own_kernel_clock),
		cmocka_unit_test(a_cpu_has_no_offset_to_itself),
		cmocka_unit_test(one_clock_seen_from_two_cpus_may_have_no_offset),
		cmocka_unit_test(an_injected_offset_lies_inside_the_interval),
		cmocka_unit_test(an_offset_that_changed_is_a_contradiction_once),
		cmocka_unit_test(a_cpu_that_does_not_exist_is_named),
		cmocka_unit_test(the_kernels_clock_is_ordered_over_cpus),
		cmocka_unit_test(a_counter_that_is_far_behind_on_one_cpu_violates_the_order),
		cmocka_unit_test(gaps_above_the_threshold_are_counted),
		cmocka_unit_test(a_steady_clock_has_nothing_to_report_at_the_end),
		cmocka_unit_test(a_counter_that_drifted_is_a_finding),
		cmocka_unit_test(a_rate_other_than_the_stated_one_is_a_finding),
		cmocka_unit_test(a_changed_clocksource_is_a_finding),
		cmocka_unit_test(a_suspend_is_a_finding_once_and_no_step),
		cmocka_unit_test(a_step_of_the_wall_clock_is_worth_knowing),
		cmocka_unit_test(a_crew_runs_each_member_on_its_cpu),
		cmocka_unit_test(a_crew_with_one_bad_cpu_does_not_run),
		cmocka_unit_test(a_crew_that_spins_beyond_its_limit_is_ended),
		cmocka_unit_test(
			a_crew_is_called_back_from_a_cpu_that_a_realtime_thread_occupies),
	};

	return cmocka_run_group_tests(tests, find_cpus, NULL);
}
