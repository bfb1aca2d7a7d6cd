// SPDX-License-Identifier: MIT
/* test-calib.c - calibration arithmetic against synthetic clocks whose truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "calib.h"

#define STAMPS 20000
#define TRIALS 200

static uint64_t random_state;

static int seed(void **state)
{
	(void)state;
	random_state = 0x9e3779b97f4a7c15u;
	return 0;
}

/* xorshift64 */
static uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t draw_below(uint64_t n)
{
	return draw() % n;
}

static double draw_unit(void)
{
	return (double)(draw() >> 11) / 9007199254740992.0;
}

/* A counter that steps by quantum, and answers with 1 tick more within a step. */
struct counter {
	double now_ticks;
	double quantum_ticks;
	uint64_t last_ticks;
};

static uint64_t counter_read(struct counter *c)
{
	uint64_t grid = (uint64_t)(floor(c->now_ticks / c->quantum_ticks) * c->quantum_ticks);

	c->last_ticks = grid > c->last_ticks ? grid : c->last_ticks + 1;
	return c->last_ticks;
}

enum outlier { OUTLIER_NONE, OUTLIER_GAP, OUTLIER_OFF_GRID };

/* Stamps with random work of up to work_ticks between them, 1 % of them outliers. */
static void take_stamps(uint64_t *v, struct counter *c, double work_ticks, enum outlier outlier)
{
	for (size_t i = 0; i < STAMPS; i++) {
		bool odd = draw_below(100) == 0;

		c->now_ticks += 20 + draw_unit() * work_ticks;
		if (odd && outlier == OUTLIER_GAP)
			c->now_ticks += draw_unit() * 100000;
		v[i] = counter_read(c);
		if (odd && outlier == OUTLIER_OFF_GRID)
			v[i] += draw_below((uint64_t)c->quantum_ticks + 1);
	}
}

static void assert_quantum_exact(double quantum_ticks, double work_ticks, enum outlier outlier)
{
	static uint64_t v[STAMPS];
	struct counter c = { 1e12 + draw_unit() * 1e9, quantum_ticks, 0 };
	struct tlat_calib_quantum q;

	take_stamps(v, &c, work_ticks, outlier);
	tlat_calib_quantum(v, STAMPS, &q);
	if (q.ticks != quantum_ticks)
		fail_msg("quantum %g ticks, work %g, outliers %d: found %.9g (R %.3f)",
			 quantum_ticks, work_ticks, outlier, q.ticks, q.concentration);
	assert_true(q.concentration >= 0.9);
	assert_true(q.share >= 0.9);
}

static void the_quantum_is_exact_with_monotonic_reads_and_outliers(void **state)
{
	/* 26: a 2.6 GHz counter fed by 100 MHz; 104, 2596: 40 ns and 1 us of it; 40, 1000: of 1 GHz
	 */
	static const double quanta[] = { 1, 2, 3, 10, 26, 40, 104, 1000, 2596 };

	(void)state;
	for (size_t i = 0; i < sizeof(quanta) / sizeof(quanta[0]); i++)
		for (int outlier = OUTLIER_NONE; outlier <= OUTLIER_OFF_GRID; outlier++)
			for (double work = 150; work < 1000; work *= 2)
				assert_quantum_exact(quanta[i], work, outlier);
}

static void a_quantum_that_is_no_integer_is_found(void **state)
{
	static uint64_t v[STAMPS];
	/* ns of HPET at 14.318 MHz, of the ACPI timer, of 26 ticks of 2596.12 MHz */
	static const double quanta[] = { 69.841279, 279.365113, 10.014946 };
	struct tlat_calib_quantum q;

	(void)state;
	for (size_t i = 0; i < sizeof(quanta) / sizeof(quanta[0]); i++) {
		struct counter c = { 1e12, quanta[i], 0 };

		take_stamps(v, &c, 200, OUTLIER_GAP);
		tlat_calib_quantum(v, STAMPS, &q);
		assert_true(fabs(q.ticks / quanta[i] - 1) < 1e-5);
	}
}

static void a_clock_that_hardly_moves_gets_its_largest_step(void **state)
{
	uint64_t v[100];
	struct tlat_calib_quantum q;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		v[i] = 5000000 + (i >= 50) * 4000000;
	tlat_calib_quantum(v, 100, &q);
	assert_true(q.ticks == 4000000);
	assert_true(q.concentration == 0);
}

static void a_random_walk_has_a_quantum_of_one_tick(void **state)
{
	static uint64_t v[STAMPS];
	struct tlat_calib_quantum q;
	uint64_t now = 0;

	(void)state;
	for (size_t i = 0; i < STAMPS; i++)
		v[i] = now += 1 + draw_below(400);
	tlat_calib_quantum(v, STAMPS, &q);
	assert_true(q.ticks == 1);
}

/* A bracket around time t_ns on a counter of that rate; the reference loses its fraction. */
static struct tlat_bracket bracket_at(double t_ns, double hz, double width_ns)
{
	double share = draw_unit(), before_ns = t_ns - share * width_ns;

	return (struct tlat_bracket){
		.before_ticks = (uint64_t)(before_ns * hz / 1e9),
		.ref_ns = (uint64_t)t_ns,
		.after_ticks = (uint64_t)((before_ns + width_ns) * hz / 1e9),
	};
}

/* The tightest of 50, most of which were disturbed. */
static struct tlat_bracket anchor_at(double t_ns, double hz)
{
	struct tlat_bracket b[50];

	for (size_t i = 0; i < 50; i++) {
		double disturbed_ns = draw_below(10) ? 0 : draw_unit() * 1e5;

		b[i] = bracket_at(t_ns + (double)i * 300, hz, 40 + draw_unit() * 40 + disturbed_ns);
	}
	return *tlat_calib_tightest(b, 50);
}

static void the_rate_is_within_its_bound_and_1_ppm_in_100_ms(void **state)
{
	static const double rates_hz[] = { 2596120129.3, 1e9, 24e6, 54e6, 3.7e9, 121.9e6 };

	(void)state;
	for (int i = 0; i < TRIALS; i++) {
		double hz = rates_hz[draw_below(6)], off_ppb, start_ns = 1e9 + draw_unit() * 1e12;
		struct tlat_bracket first = anchor_at(start_ns, hz);
		struct tlat_bracket last = anchor_at(start_ns + 1e8, hz);
		struct tlat_calib_rate rate;

		assert_int_equal(tlat_calib_rate(&first, &last, 1, &rate), 0);
		off_ppb = fabs((double)rate.hz / hz - 1) * 1e9;
		assert_true(off_ppb <= (double)rate.error_ppb);
		if (hz >= 1e9)
			assert_true(rate.error_ppb <= 1000);
	}
}

/* A counter that is read faster than it steps, against a reference of its own. */
static void the_rate_of_a_coarse_counter_is_within_its_bound(void **state)
{
	static const double steps_ns[] = { 37, 250, 1000 };

	(void)state;
	for (int i = 0; i < TRIALS; i++) {
		double step_ns = steps_ns[i % 3], hz = 1e9 / step_ns * (1 + draw_unit() * 1e-4);
		double start_ns = 1e9 + draw_unit() * 1e12;
		struct tlat_bracket first = anchor_at(start_ns, hz);
		struct tlat_bracket last = anchor_at(start_ns + 1e8, hz);
		struct tlat_calib_rate rate;

		assert_int_equal(tlat_calib_rate(&first, &last, 1, &rate), 0);
		assert_true(fabs((double)rate.hz / hz - 1) * 1e9 <= (double)rate.error_ppb);
	}
}

static void a_longer_span_gives_a_tighter_bound(void **state)
{
	struct tlat_bracket first = anchor_at(1e9, 2.5e9);
	struct tlat_bracket near = anchor_at(1e9 + 1e8, 2.5e9), far = anchor_at(1e9 + 1e9, 2.5e9);
	struct tlat_calib_rate in_100ms, in_1s;

	(void)state;
	assert_int_equal(tlat_calib_rate(&first, &near, 1, &in_100ms), 0);
	assert_int_equal(tlat_calib_rate(&first, &far, 1, &in_1s), 0);
	assert_true(in_1s.error_ppb < in_100ms.error_ppb / 5);
	assert_true(in_1s.error_ppb <= 200);
}

static void the_bound_is_half_of_both_brackets_and_a_quantum_over_the_span(void **state)
{
	struct tlat_bracket first = { 1000, 1000000000, 1104 };
	struct tlat_bracket last = { 250001000, 1100000000, 250001104 };
	struct tlat_calib_rate rate;

	(void)state;
	assert_int_equal(tlat_calib_rate(&first, &last, 25, &rate), 0);
	assert_int_equal(rate.hz, 2500000000);
	/* 104 + 25 ticks of 250e6: 516 ppb; 1 ns of 100 ms: 10 ppb; rounding: 0.2, rounded up */
	assert_int_equal(rate.error_ppb, 527);
	assert_true(fabs(rate.width_ns[0] - 41.6) < 1e-9);
	assert_true(rate.span_ns == 1e8);
}

static void drift_between_two_spans_exceeds_both_bounds(void **state)
{
	struct tlat_bracket a = anchor_at(1e9, 2e9), b = anchor_at(1.1e9, 2e9), c;
	struct tlat_calib_rate before, after;
	double drift_ppb;

	(void)state;
	/* From b on the counter runs 20 ppm faster. */
	c = anchor_at(2.1e9, 2e9);
	c.before_ticks += 40000;
	c.after_ticks += 40000;
	assert_int_equal(tlat_calib_rate(&a, &b, 1, &before), 0);
	assert_int_equal(tlat_calib_rate(&b, &c, 1, &after), 0);
	drift_ppb = ((double)after.hz / (double)before.hz - 1) * 1e9;
	assert_true(drift_ppb > (double)(before.error_ppb + after.error_ppb));
	assert_true(fabs(drift_ppb - 20000) <= (double)(before.error_ppb + after.error_ppb));
}

static void a_counter_that_stands_still_or_steps_back_has_no_rate(void **state)
{
	struct tlat_bracket ok = { 100, 100, 110 }, still = { 100, 200, 110 };
	struct tlat_bracket back = { 50, 200, 60 }, torn = { 300, 200, 290 },
			    late = { 200, 100, 210 };
	struct tlat_calib_rate rate;

	(void)state;
	assert_int_equal(tlat_calib_rate(&ok, &still, 1, &rate), -ENODATA);
	assert_int_equal(tlat_calib_rate(&ok, &back, 1, &rate), -ENODATA);
	assert_int_equal(tlat_calib_rate(&ok, &torn, 1, &rate), -ENODATA);
	assert_int_equal(tlat_calib_rate(&ok, &late, 1, &rate), -ENODATA);
}

static void a_torn_bracket_is_never_the_tightest(void **state)
{
	struct tlat_bracket b[] = { { 10, 1, 5 }, { 10, 2, 60 }, { 70, 3, 100 }, { 110, 4, 140 } };

	(void)state;
	assert_ptr_equal(tlat_calib_tightest(b, 4), &b[2]);
}

/* Exchanges of two counters that differ by offset; paths of unequal, random length. */
struct link {
	double now_ticks;
	double ask_ticks, answer_ticks; /* shortest path each way */
	int64_t offset_ticks;
	double quantum_ticks;
};

static uint64_t stamp_of(const struct link *link, bool b)
{
	double t = link->now_ticks + (b ? (double)link->offset_ticks : 0);

	return (uint64_t)(floor(t / link->quantum_ticks) * link->quantum_ticks);
}

static double path(double shortest_ticks)
{
	return shortest_ticks + draw_unit() * 200 + (draw_below(50) ? 0 : draw_unit() * 1e6);
}

static struct tlat_exchange exchange(struct link *link, bool b_asks)
{
	struct tlat_exchange e;

	link->now_ticks += 100 + draw_unit() * 100;
	e.asked_ticks = stamp_of(link, b_asks);
	link->now_ticks += path(link->ask_ticks);
	e.answered_ticks = stamp_of(link, !b_asks);
	link->now_ticks += path(link->answer_ticks);
	e.heard_ticks = stamp_of(link, b_asks);
	return e;
}

static struct tlat_calib_offset measure(struct link *link, size_t rounds)
{
	struct tlat_calib_offset offset = TLAT_CALIB_OFFSET_ANY;

	for (size_t i = 0; i < 2 * rounds; i++) {
		struct tlat_exchange e = exchange(link, i >= rounds);

		tlat_calib_offset_add(&offset, &e, i >= rounds);
	}
	return tlat_calib_offset_widen(&offset, link->quantum_ticks);
}

static void the_interval_always_contains_the_true_offset(void **state)
{
	static const int64_t offsets[] = { 0, 50, -50, 200, -200, 1000, -1000, 1000000 };
	static const double quanta[] = { 1, 26, 104 };

	(void)state;
	for (int i = 0; i < TRIALS; i++) {
		struct link link = {
			.now_ticks = 1e12,
			.ask_ticks = 50 + draw_unit() * 500,
			.answer_ticks = 50 + draw_unit() * 500,
			.offset_ticks = offsets[i % 8],
			.quantum_ticks = quanta[i % 3],
		};
		struct tlat_calib_offset o = measure(&link, 500);

		assert_true(o.lo_ticks <= link.offset_ticks);
		assert_true(o.hi_ticks >= link.offset_ticks);
		assert_true((double)(o.hi_ticks - o.lo_ticks) / 2 <=
			    (double)o.rtt_min_ticks / 2 + link.quantum_ticks);
	}
}

static void an_exchange_bounds_the_offset_from_both_roles(void **state)
{
	struct tlat_exchange by_a = { 1000, 1350, 1500 }, by_b = { 2300, 2200, 2700 };
	struct tlat_calib_offset o = TLAT_CALIB_OFFSET_ANY;

	(void)state;
	tlat_calib_offset_add(&o, &by_a, false);
	assert_int_equal(o.lo_ticks, -150);
	assert_int_equal(o.hi_ticks, 350);
	assert_int_equal(o.rtt_min_ticks, 500);
	tlat_calib_offset_add(&o, &by_b, true);
	assert_int_equal(o.lo_ticks, 100);
	assert_int_equal(o.hi_ticks, 350);
	assert_int_equal(o.rtt_min_ticks, 400);
}

static void the_mirrored_interval_is_that_of_the_swapped_pair(void **state)
{
	struct tlat_calib_offset o = { -30, 70, 90 }, m = tlat_calib_offset_mirror(&o);

	(void)state;
	assert_int_equal(m.lo_ticks, -70);
	assert_int_equal(m.hi_ticks, 30);
	assert_int_equal(m.rtt_min_ticks, 90);
}

static void the_interval_is_widened_by_a_whole_quantum_each_way(void **state)
{
	struct tlat_calib_offset o = { -30, 70, 90 }, w = tlat_calib_offset_widen(&o, 25.5);

	(void)state;
	assert_int_equal(w.lo_ticks, -56);
	assert_int_equal(w.hi_ticks, 96);
	assert_int_equal(w.rtt_min_ticks, 90);
}

static void a_step_between_two_measurements_is_a_contradiction(void **state)
{
	struct link link = { 1e12, 100, 100, 0, 26 };
	struct tlat_calib_offset before = measure(&link, 500), again, after;

	(void)state;
	again = measure(&link, 500);
	tlat_calib_offset_intersect(&again, &before);
	assert_true(again.lo_ticks <= again.hi_ticks);
	link.offset_ticks = 5000;
	after = measure(&link, 500);
	tlat_calib_offset_intersect(&after, &before);
	assert_true(after.lo_ticks > after.hi_ticks);
}

static void drift_within_one_measurement_is_a_contradiction(void **state)
{
	struct link link = { 1e12, 100, 100, 0, 1 };
	struct tlat_calib_offset o = TLAT_CALIB_OFFSET_ANY;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct tlat_exchange e = exchange(&link, i % 2);

		link.offset_ticks += 10;
		tlat_calib_offset_add(&o, &e, i % 2);
	}
	assert_true(o.lo_ticks > o.hi_ticks);
}

static void ordered_stamps_have_no_violation_in_whatever_order_they_come(void **state)
{
	struct tlat_order_entry e[1000];

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		e[i] = (struct tlat_order_entry){ i, 5000 + i / 2 };
	for (size_t i = 0; i < 1000; i++) {
		size_t k = draw_below(1000);
		struct tlat_order_entry t = e[i];

		e[i] = e[k];
		e[k] = t;
	}
	assert_int_equal(tlat_calib_order(e, 1000), 0);
	assert_int_equal(tlat_calib_order(e, 0), 0);
}

static void a_counter_that_is_behind_on_one_cpu_is_counted(void **state)
{
	struct tlat_order_entry e[1000];

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		e[i] = (struct tlat_order_entry){ i, 5000 + 10 * i - (i % 2) * 15 };
	assert_int_equal(tlat_calib_order(e, 1000), 500);
}

static void costs_are_order_statistics(void **state)
{
	uint64_t costs[200];
	struct tlat_calib_cost c;
	uint64_t one = 7;

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		costs[(i * 77) % 200] = i + 1;
	tlat_calib_cost(costs, 200, &c);
	assert_true(c.min_ticks == 1 && c.median_ticks == 100 && c.p99_ticks == 198);
	assert_true(c.mean_ticks == 100.5);
	tlat_calib_cost(&one, 1, &c);
	assert_true(c.min_ticks == 7 && c.median_ticks == 7 && c.p99_ticks == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_quantum_is_exact_with_monotonic_reads_and_outliers,
				       seed),
		cmocka_unit_test_setup(a_quantum_that_is_no_integer_is_found, seed),
		cmocka_unit_test_setup(a_clock_that_hardly_moves_gets_its_largest_step, seed),
		cmocka_unit_test_setup(a_random_walk_has_a_quantum_of_one_tick, seed),
		cmocka_unit_test_setup(the_rate_is_within_its_bound_and_1_ppm_in_100_ms, seed),
		cmocka_unit_test_setup(the_rate_of_a_coarse_counter_is_within_its_bound, seed),
		cmocka_unit_test_setup(a_longer_span_gives_a_tighter_bound, seed),
		cmocka_unit_test_setup(
			the_bound_is_half_of_both_brackets_and_a_quantum_over_the_span, seed),
		cmocka_unit_test_setup(drift_between_two_spans_exceeds_both_bounds, seed),
		cmocka_unit_test_setup(a_counter_that_stands_still_or_steps_back_has_no_rate, seed),
		cmocka_unit_test_setup(a_torn_bracket_is_never_the_tightest, seed),
		cmocka_unit_test_setup(the_interval_always_contains_the_true_offset, seed),
		cmocka_unit_test_setup(an_exchange_bounds_the_offset_from_both_roles, seed),
		cmocka_unit_test_setup(the_mirrored_interval_is_that_of_the_swapped_pair, seed),
		cmocka_unit_test_setup(the_interval_is_widened_by_a_whole_quantum_each_way, seed),
		cmocka_unit_test_setup(a_step_between_two_measurements_is_a_contradiction, seed),
		cmocka_unit_test_setup(drift_within_one_measurement_is_a_contradiction, seed),
		cmocka_unit_test_setup(ordered_stamps_have_no_violation_in_whatever_order_they_come,
				       seed),
		cmocka_unit_test_setup(a_counter_that_is_behind_on_one_cpu_is_counted, seed),
		cmocka_unit_test_setup(costs_are_order_statistics, seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
