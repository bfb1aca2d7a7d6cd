// SPDX-License-Identifier: MIT
/*
 * test-clock.c - choice of source, calibration, script and end check, on this
 * machine and with its answers replaced: another root, a clock that moved on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"
#include "open-clock.h"

static bool has_finding(const struct tlat_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->v[i].id, id))
			return true;
	return false;
}

static void source_names_lead_back_to_sources(void **state)
{
	(void)state;
	for (int source = TLAT_CLOCK_AUTO; source <= TLAT_CLOCK_GETTIME; source++)
		assert_int_equal(tlat_clock_source_from_name(tlat_clock_source_name(source)),
				 source);
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
		"sys",
		"sys/devices",
		"sys/devices/system",
		"sys/devices/system/cpu",
		"sys/devices/system/clocksource",
		"sys/devices/system/clocksource/clocksource0",
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
	if ((int)TLAT_ARCH_SOURCE != (int)TLAT_CLOCK_TSC || !tlat_arch_invariant() ||
	    tlat_arch_unreadable())
		skip();
}

/* Whether a line of /proc/cpuinfo has that word; without flags, skips. */
static bool cpu_has(const char *flag)
{
	char line[8192], *found = NULL;
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && !found && fgets(line, sizeof(line), f))
		if (!strncmp(line, "flags", 5))
			found = line;
	if (f)
		fclose(f);
	if (!found)
		skip();
	for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n"))
		if (!strcmp(word, flag))
			return true;
	return false;
}

static void the_tsc_can_be_read_where_the_kernel_sees_rdtscp(void **state)
{
	(void)state;
	if ((int)TLAT_ARCH_SOURCE != (int)TLAT_CLOCK_TSC)
		skip();
	assert_int_equal(tlat_arch_unreadable() == NULL, cpu_has("rdtscp"));
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

static void ticks_are_nanoseconds_rounded_up(void **state)
{
	static const uint64_t rates_hz[] = { 1,		 999999,     1000000,	24000000,
					     1000000000, 2596120129, 5999999999 };
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
		/* What is rounded up is less than a tick; both products wrap alike. */
		assert_true(ticks * 1000000000u - (uint64_t)ns * hz < 1000000000u);
		assert_true(fabs((double)ticks - (double)ns * (double)hz / 1e9) <=
			    1 + (double)ticks * 1e-12);
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
		assert_true(has_finding(&findings, "clock-broken"));
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
	clock->relation.suspended_ns -= 6600000000000;
	clock->relation.wall_ns -= 6600000000000;
	tlat_clock_check_end(clock, &findings);
	assert_true(has_finding(&findings, "suspended"));
	assert_true(tlat_findings_reach(&findings, TLAT_WARN));
	assert_non_null(strstr(findings.v[0].text, "was suspended for 6600.0"));
	assert_false(has_finding(&findings, "clock-stepped"));
	tlat_findings_free(&findings);
	tlat_clock_check_end(clock, &findings);
	assert_int_equal(findings.n, 0);
	tlat_clock_close(clock);
}

/* The kernel's clocks stood still; the counter went on, or began anew. */
static void the_run_after_a_suspend_finds_no_drift(void **state)
{
	(void)state;
	for (int reset = 0; reset <= 1; reset++) {
		struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
		const struct tlat_calibration *cal = tlat_clock_calibration(clock);
		struct tlat_findings findings = { 0 };
		uint64_t ticks = reset ? UINT64_MAX / 2 : -10 * cal->hz;

		clock->anchor.before_ticks += ticks;
		clock->anchor.after_ticks += ticks;
		clock->relation.suspended_ns -= 10000000000;
		clock->relation.wall_ns -= 10000000000;
		tlat_clock_check_end(clock, &findings);
		assert_int_equal(findings.n, 1);
		assert_true(has_finding(&findings, "suspended"));
		assert_int_equal(cal->end_checked, clock->stamper.kind != TLAT_STAMP_COUNTER);
		tlat_findings_free(&findings);
		usleep(20000);
		tlat_clock_check_end(clock, &findings);
		assert_int_equal(findings.n, 0);
		assert_true(cal->end_checked);
		tlat_clock_close(clock);
	}
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

/* Steps by which time daemons begin, and the offset of TAI alone; what is slewed is no step. */
static void a_set_clock_spoils_what_is_measured_on_it(void **state)
{
	static const clockid_t ids[] = { CLOCK_REALTIME, CLOCK_TAI };
	static const int64_t steps_ns[] = { 8000000, -8000000, 100000, -37000000000 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(ids) * TLAT_ARRAY_SIZE(steps_ns); i++) {
		struct tlat_stamper stamper = { .kind = TLAT_STAMP_GETTIME,
						.id = ids[i % TLAT_ARRAY_SIZE(ids)] };
		struct tlat_clock_lead before = tlat_clock_measure_lead(&stamper);
		struct tlat_findings findings = { 0 };

		assert_false(tlat_clock_check_set(&stamper, &before, &findings));
		before.ns -= 5000;
		assert_false(tlat_clock_check_set(&stamper, &before, &findings));
		assert_int_equal(findings.n, 0);
		before.ns -= steps_ns[i / TLAT_ARRAY_SIZE(ids)];
		assert_true(tlat_clock_check_set(&stamper, &before, &findings));
		assert_true(has_finding(&findings, "clock-set"));
		assert_non_null(tlat_findings_distrust(&findings));
		assert_true(tlat_findings_reach(&findings, TLAT_WARN));
		tlat_findings_free(&findings);
	}
}

/* Nor do the counter's stamps come from clock 0, which is CLOCK_REALTIME. */
static void a_clock_that_cannot_be_set_was_not(void **state)
{
	static const struct tlat_stamper stampers[] = {
		{ .kind = TLAT_STAMP_COUNTER },
		{ .kind = TLAT_STAMP_SCRIPT },
		{ .kind = TLAT_STAMP_GETTIME, .id = CLOCK_MONOTONIC },
		{ .kind = TLAT_STAMP_GETTIME, .id = CLOCK_BOOTTIME },
	};
	struct tlat_clock_lead before = { .ns = 1 };
	struct tlat_findings findings = { 0 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(stampers); i++)
		assert_false(tlat_clock_check_set(&stampers[i], &before, &findings));
	assert_int_equal(findings.n, 0);
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
		cmocka_unit_test(the_tsc_can_be_read_where_the_kernel_sees_rdtscp),
		cmocka_unit_test(the_tsc_is_used_when_the_kernel_keeps_time_by_it),
		cmocka_unit_test(the_tsc_is_not_trusted_when_the_kernel_uses_another_clock),
		cmocka_unit_test(a_tsc_that_was_asked_for_in_spite_of_the_kernel_is_a_finding),
		cmocka_unit_test(ticks_are_nanoseconds_rounded_up),
		cmocka_unit_test(a_script_plays_every_stamp),
		cmocka_unit_test(a_solo_probe_is_stamped_by_its_own_kernel_clock),
		cmocka_unit_test(a_steady_clock_has_nothing_to_report_at_the_end),
		cmocka_unit_test(a_counter_that_drifted_is_a_finding),
		cmocka_unit_test(a_rate_other_than_the_stated_one_is_a_finding),
		cmocka_unit_test(a_changed_clocksource_is_a_finding),
		cmocka_unit_test(a_suspend_is_a_finding_once_and_no_step),
		cmocka_unit_test(the_run_after_a_suspend_finds_no_drift),
		cmocka_unit_test(a_step_of_the_wall_clock_is_worth_knowing),
		cmocka_unit_test(a_set_clock_spoils_what_is_measured_on_it),
		cmocka_unit_test(a_clock_that_cannot_be_set_was_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
