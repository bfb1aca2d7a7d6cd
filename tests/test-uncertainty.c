// SPDX-License-Identifier: MIT
/* test-uncertainty.c - the budget of a figure against values worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "slew.h"
#include "uncertainty.h"

/* A machine that was really measured: 10 ns steps, stamps of 20 to 30 ns, offset within 264 ns. */
static const struct tlat_calibration clock_2596mhz = {
	.source = TLAT_CLOCK_TSC,
	.hz = 2596120129,
	.quantum_ns = 10,
	.read_cost_ns = 20,
	.read_min_ns = 20,
	.read_p99_ns = 30,
	.gettime_cost_ns = 25,
};

static const struct tlat_clock_offset offset_264 = { .a = 0, .b = 1, .lo_ns = -226, .hi_ns = 264 };

static struct tlat_uncertainty_input single_wake(void)
{
	return (struct tlat_uncertainty_input){
		.clock = &clock_2596mhz,
		.offset = &offset_264,
		.hz = clock_2596mhz.hz,
		.value_ns = 1080,
		.lo_ns = NAN,
		.hi_ns = NAN,
		.n = 1,
	};
}

static struct tlat_uncertainty of(struct tlat_uncertainty_input in)
{
	struct tlat_uncertainty u;

	tlat_uncertainty(&in, &u);
	return u;
}

static void near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.6f is not %.6f", value, expected);
}

static void the_worked_example_of_a_one_way_wake(void **state)
{
	struct tlat_uncertainty u = of(single_wake());

	(void)state;
	near(u.component_ns[TLAT_U_QUANTUM], 4.08, 0.01);
	near(u.component_ns[TLAT_U_READ], 2.89, 0.01);
	near(u.component_ns[TLAT_U_ORDERING], 11.55, 0.01);
	near(u.component_ns[TLAT_U_OFFSET], 152.42, 0.01);
	near(u.component_ns[TLAT_U_FREQUENCY], 0, 0);
	near(u.component_ns[TLAT_U_BIN], 1080.0 / 1024 / sqrt(12), 1e-9);
	near(u.component_ns[TLAT_U_SAMPLING], 0, 0);
	near(u.u_ns / 2, 153, 0.5);
	/* 264 ns outweigh the rest: the bounds add up to 300 ns, less than U */
	near(u.worst_ns, u.u_ns, 0);
	assert_true(u.worst_ns > 10 + 5 + 20 + 264 + 1080.0 / 1024);
}

static void without_an_offset_the_stamps_are_what_is_left(void **state)
{
	struct tlat_uncertainty_input in = single_wake();
	struct tlat_uncertainty u;

	(void)state;
	in.offset = NULL;
	u = of(in);
	near(u.component_ns[TLAT_U_OFFSET], 0, 0);
	near(u.u_ns / 2, 13, 0.5);
	near(u.worst_ns, 10 + 5 + 20 + 1080.0 / 1024, 1e-9);
}

static void the_larger_end_of_the_offset_counts(void **state)
{
	const struct tlat_clock_offset offset = { .lo_ns = -300, .hi_ns = 10 };
	struct tlat_uncertainty_input in = single_wake();

	(void)state;
	in.offset = &offset;
	near(of(in).component_ns[TLAT_U_OFFSET], 300 / sqrt(3), 1e-9);
}

static void dithered_samples_average_the_quantum_and_a_locked_phase_does_not(void **state)
{
	struct tlat_uncertainty_input in = single_wake();

	(void)state;
	in.n = 10000;
	near(of(in).component_ns[TLAT_U_QUANTUM], 10 / sqrt(60000), 1e-9);
	in.locked = true;
	near(of(in).component_ns[TLAT_U_QUANTUM], sqrt(100 / 60000.0 + 100 / 12.0), 1e-9);
}

static void the_sampling_part_is_the_half_interval_over_1_96(void **state)
{
	struct tlat_uncertainty_input in = single_wake();
	double without;

	(void)state;
	in.offset = NULL;
	without = of(in).worst_ns;
	in.lo_ns = 1070;
	in.hi_ns = 1110;
	near(of(in).component_ns[TLAT_U_SAMPLING], 20 / 1.96, 1e-3);
	near(of(in).worst_ns - without, 2 * 20 / 1.96, 1e-3);
}

static void a_timer_has_one_stamp_half_a_pair_and_no_offset(void **state)
{
	struct tlat_uncertainty_input in = single_wake();
	struct tlat_uncertainty u;

	(void)state;
	in.solo = true;
	in.hz = 1000000000;
	in.value_ns = 60000;
	in.slew_ppb = 500000;
	u = of(in);
	near(u.component_ns[TLAT_U_QUANTUM], 10 / sqrt(12), 1e-9);
	near(u.component_ns[TLAT_U_READ], 2.5 / sqrt(3), 1e-9);
	near(u.component_ns[TLAT_U_ORDERING], 25 / sqrt(3), 1e-9);
	near(u.component_ns[TLAT_U_OFFSET], 0, 0);
	near(u.component_ns[TLAT_U_FREQUENCY], 30, 1e-9);
}

static void the_frequency_error_grows_with_the_value(void **state)
{
	struct tlat_calibration clock = clock_2596mhz;
	struct tlat_uncertainty_input in = single_wake();

	(void)state;
	clock.hz_error_ppb = 1000;
	in.clock = &clock;
	in.value_ns = -5e6;
	near(of(in).component_ns[TLAT_U_FREQUENCY], 5, 1e-9);
}

static void a_bin_is_one_tick_wide_below_1024_ticks_and_exact_values_have_none(void **state)
{
	struct tlat_uncertainty_input in = single_wake();

	(void)state;
	in.value_ns = 100;
	near(of(in).component_ns[TLAT_U_BIN], 1e9 / 2596120129 / sqrt(12), 1e-9);
	in.exact = true;
	near(of(in).component_ns[TLAT_U_BIN], 0, 0);
}

static struct timex clock_state(long freq, long tick)
{
	return (struct timex){ .freq = freq, .tick = tick, .constant = 2, .status = STA_NANO };
}

/* adjtimex(2) in its own units: ppm * 2^16 of frequency, us in a tick of 1/100 s. */
static void the_clock_is_slewed_by_frequency_and_tick_together(void **state)
{
	struct timex now = clock_state(65536, 10000);

	(void)state;
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 1000);
	now = clock_state(-500 * 65536, 10000);
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 500000);
	now = clock_state(0, 10001);
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 100000);
	now = clock_state(0, 9000);
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 100000000);
	now = clock_state(-30 * 65536, 10001); /* as chronyd does: the sum is what it wants */
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 70000);
	now = clock_state(0, 978); /* 1024 ticks in a second, 976.56 us each: the nominal is 977 */
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 1024), 1024000);
}

static void an_offset_that_is_worked_off_counts_as_long_as_there_is_some_left(void **state)
{
	struct timex now = clock_state(-20 * 65536, 10000);

	(void)state;
	assert_int_equal(tlat_slew_bound_ppb(&now, -1, 100), 20000 + 500000);
	now.offset = -1600000; /* 1.6 ms, of which a sixteenth goes in the next second */
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 20000 + 100000);
	assert_int_equal(tlat_slew_bound_ppb(&now, 5, 100), 20000 + 100000 + 500000);
	now.offset = 1600;
	now.status = STA_PLL; /* in us */
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 20000 + 100000);
	now.status |= STA_PPSTIME | STA_PPSSIGNAL;
	assert_int_equal(tlat_slew_bound_ppb(&now, 0, 100), 20000 + 1600000);
}

static double unit(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*seed >> 11) / 9007199254740992.0;
}

static void the_linear_sum_is_never_below_the_expanded_uncertainty(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		struct tlat_calibration clock = clock_2596mhz;
		struct tlat_uncertainty_input in = single_wake();
		struct tlat_uncertainty u;
		double square = 0;

		clock.quantum_ns = 40 * unit(&seed);
		clock.read_p99_ns = 60 * unit(&seed);
		clock.hz_error_ppb = (int64_t)(1000 * unit(&seed));
		in.clock = &clock;
		in.solo = unit(&seed) < 0.5;
		in.n = 1 + 1e6 * unit(&seed);
		in.value_ns = 1e6 * unit(&seed);
		in.lo_ns = in.value_ns * (1 - unit(&seed));
		in.hi_ns = in.value_ns * (1 + unit(&seed));
		if (unit(&seed) < 0.5)
			in.offset = NULL;
		u = of(in);
		for (size_t c = 0; c < TLAT_U_COUNT; c++) {
			assert_true(u.component_ns[c] >= 0);
			square += u.component_ns[c] * u.component_ns[c];
		}
		near(u.u_ns, 2 * sqrt(square), 1e-6);
		assert_true(u.worst_ns >= u.u_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example_of_a_one_way_wake),
		cmocka_unit_test(without_an_offset_the_stamps_are_what_is_left),
		cmocka_unit_test(the_larger_end_of_the_offset_counts),
		cmocka_unit_test(dithered_samples_average_the_quantum_and_a_locked_phase_does_not),
		cmocka_unit_test(the_sampling_part_is_the_half_interval_over_1_96),
		cmocka_unit_test(a_timer_has_one_stamp_half_a_pair_and_no_offset),
		cmocka_unit_test(the_frequency_error_grows_with_the_value),
		cmocka_unit_test(
			a_bin_is_one_tick_wide_below_1024_ticks_and_exact_values_have_none),
		cmocka_unit_test(the_clock_is_slewed_by_frequency_and_tick_together),
		cmocka_unit_test(an_offset_that_is_worked_off_counts_as_long_as_there_is_some_left),
		cmocka_unit_test(the_linear_sum_is_never_below_the_expanded_uncertainty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
