// SPDX-License-Identifier: MIT
/* test-stats.c - intervals against exact values, and against what they promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "stats.h"

static uint64_t seed;

/* xorshift64*: the same numbers on every machine. */
static double uniform(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return ((double)((seed * UINT64_C(0x2545f4914f6cdd1d)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static struct tlat_hist *new_hist(void)
{
	struct tlat_hist *hist;

	assert_int_equal(tlat_hist_new(&hist, 1000000000), 0);
	return hist;
}

static struct tlat_blocks *new_blocks(void)
{
	struct tlat_blocks *blocks;

	assert_int_equal(tlat_blocks_new(&blocks, 1000000), 0);
	return blocks;
}

static void assert_close(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-12 + 1e-10 * fabs(expected)))
		fail_msg("%.15g, expected %.15g", value, expected);
}

/* Expected values: sums of exact fractions. */
static void the_beta_function_has_its_known_values(void **state)
{
	(void)state;
	assert_close(tlat_stats_beta(1, 1, 0.3), 0.3);
	assert_close(tlat_stats_beta(2, 1, 0.3), 0.09);
	assert_close(tlat_stats_beta(2, 5, 1.0 / 3), 0.6488340192043895);
	assert_close(tlat_stats_beta(50, 7, 0.9), 0.6738420643196649);
	assert_close(tlat_stats_beta(1, 3000, 0.001), 0.9502876060019637);
	/* I_x(1/2, 1/2) = 2/pi asin(sqrt(x)) */
	assert_close(tlat_stats_beta(0.5, 0.5, 0.3), 0.3690101195655453);
	assert_close(tlat_stats_beta(3, 4, 0), 0);
	assert_close(tlat_stats_beta(3, 4, 1), 1);
}

static void the_beta_function_is_symmetric_and_rises(void **state)
{
	(void)state;
	seed = 31;
	for (int i = 0; i < 3000; i++) {
		double a = exp(12 * uniform() - 2), b = exp(12 * uniform() - 2);
		double x = uniform(), more = x + (1 - x) * uniform();
		double value = tlat_stats_beta(a, b, x);

		assert_true(value >= -1e-12 && value <= 1 + 1e-12);
		assert_float_equal(value + tlat_stats_beta(b, a, 1 - x), 1, 1e-9);
		assert_true(tlat_stats_beta(a, b, more) >= value - 1e-12);
	}
}

static void the_binomial_distribution_has_its_known_values(void **state)
{
	(void)state;
	assert_close(tlat_stats_binomial_cdf(3, 10, 0.5), 0.171875);
	assert_close(tlat_stats_binomial_cdf(95, 100, 0.9), 0.9762889173365232);
	assert_close(tlat_stats_binomial_cdf(994, 1000, 0.99), 0.933860488392748);
	assert_close(tlat_stats_binomial_cdf(0, 299, 0.01), 0.04953625663766248);
	assert_close(tlat_stats_binomial_cdf(2, 5000, 0.001), 0.12452565419774847);
	assert_close(tlat_stats_binomial_cdf(-1, 10, 0.5), 0);
	assert_close(tlat_stats_binomial_cdf(10, 10, 0.5), 1);
}

static void large_numbers_stay_near_the_normal_distribution(void **state)
{
	double n = 1e9, p = 0.25, sd = sqrt(n * p * (1 - p));

	(void)state;
	assert_float_equal(tlat_stats_binomial_cdf(n * p, n, p), 0.5, 1e-4);
	assert_float_equal(tlat_stats_binomial_cdf(n * p + 1.96 * sd, n, p), 0.975, 1e-4);
	assert_float_equal(tlat_stats_binomial_cdf(n * p - 1.96 * sd, n, p), 0.025, 1e-4);
}

static void shares_have_clopper_pearson_bounds(void **state)
{
	static const struct {
		double k, n, lo, hi;
	} cases[] = {
		{ 0, 100, 0, 0.036216692645176414 },
		{ 1, 100, 0.0002531460329774195, 0.05445938539208048 },
		{ 3, 50, 0.012548587835335051, 0.16548194660377355 },
		{ 10, 1000, 0.004805510691037102, 0.018313243055111367 },
		{ 50, 50, 0.9288782635358153, 1 },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		double lo, hi;

		tlat_stats_share(cases[i].k, cases[i].n, 0.95, &lo, &hi);
		assert_float_equal(lo, cases[i].lo, 1e-9);
		assert_float_equal(hi, cases[i].hi, 1e-9);
	}
}

static void no_event_in_n_obeys_the_rule_of_three(void **state)
{
	static const double expected[] = { 3.00, 4.74, 6.30, 7.75 };
	double lo, hi;

	(void)state;
	for (int k = 0; k < 4; k++) {
		tlat_stats_share(k, 3e9, 0.90, &lo, &hi);
		assert_float_equal(hi * 3e9, expected[k], 0.006);
	}
	tlat_stats_share(0, 3e9, 0.98, &lo, &hi);
	assert_float_equal(hi * 3e9, 4.61, 0.006);
}

static void samples_needed_are_ten_beyond_the_quantile(void **state)
{
	(void)state;
	assert_int_equal(tlat_stats_needed(0.5), 20);
	assert_int_equal(tlat_stats_needed(0.9), 100);
	assert_int_equal(tlat_stats_needed(0.95), 200);
	assert_int_equal(tlat_stats_needed(0.99), 1000);
	assert_int_equal(tlat_stats_needed(0.999), 10000);
	assert_int_equal(tlat_stats_needed(0.9999), 100000);
	assert_int_equal(tlat_stats_needed(0.99999), 1000000);
	assert_int_equal(tlat_stats_needed(0.97), 334);
}

/* Values 1 .. n: a value is its own rank. */
static struct tlat_hist *ranks(int n)
{
	struct tlat_hist *hist = new_hist();

	for (int i = 1; i <= n; i++)
		tlat_hist_record(hist, i);
	return hist;
}

static void intervals_are_the_exact_order_statistics(void **state)
{
	static const struct {
		int n;
		double p, lo, hi;
	} cases[] = {
		{ 1000, 0.5, 469, 532 },
		{ 1000, 0.99, 983, 997 },
		{ 20, 0.5, 6, 15 },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		struct tlat_hist *hist = ranks(cases[i].n);
		struct tlat_estimate e;

		tlat_stats_quantile(hist, NULL, cases[i].p, &e);
		assert_true(e.supported);
		assert_float_equal(e.lo, cases[i].lo, 1e-6);
		assert_float_equal(e.hi, cases[i].hi, 1e-6);
		assert_float_equal(e.value, cases[i].n * cases[i].p + 0.5, 1e-6);
		assert_float_equal(e.tau, 1, 0);
		assert_float_equal(e.n_eff, cases[i].n, 0);
		tlat_hist_free(hist);
	}
}

static void too_few_samples_give_the_maximum_and_no_support(void **state)
{
	static const double p[] = { 0.99, 0.01 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tlat_hist *hist = ranks(999);
		struct tlat_estimate e;

		tlat_stats_quantile(hist, NULL, p[i], &e);
		assert_false(e.supported);
		assert_float_equal(e.value, 999, 0);
		assert_float_equal(e.lo, 1, 0);
		assert_float_equal(e.hi, 999, 0);
		tlat_hist_record(hist, 1000);
		tlat_stats_quantile(hist, NULL, p[i], &e);
		assert_true(e.supported);
		tlat_hist_free(hist);
	}
}

/* Of what is too long for the histogram only the largest value is known exactly. */
static void beyond_the_range_an_interval_is_as_wide_as_what_is_not_known(void **state)
{
	const double end = (double)((INT64_C(1) << 37) - 1);
	struct tlat_hist *hist = ranks(50);
	struct tlat_estimate e;

	(void)state;
	for (int64_t i = 0; i < 150; i++) {
		tlat_hist_record(hist, (INT64_C(1) << 38) + i);
		tlat_hist_record(hist, -(INT64_C(1) << 30) - i);
	}
	tlat_stats_quantile(hist, NULL, 0.75, &e);
	assert_true(e.supported && e.hi == e.value);
	assert_float_equal(e.value, (double)((INT64_C(1) << 38) + 149), 0);
	assert_float_equal(e.lo, end, 0);
	tlat_stats_quantile(hist, NULL, 0.25, &e);
	assert_true(e.supported && e.lo == e.value);
	assert_float_equal(e.value, -(double)(INT64_C(1) << 30) - 149, 0);
	assert_true(e.hi > e.value);
	tlat_hist_free(hist);
}

static void an_empty_histogram_supports_nothing(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_estimate e;

	(void)state;
	tlat_stats_quantile(hist, NULL, 0.5, &e);
	assert_false(e.supported);
	assert_float_equal(e.value, 0, 0);
	assert_float_equal(e.n_eff, 0, 0);
	tlat_hist_free(hist);
}

static void a_bound_needs_the_samples_that_make_it_finite(void **state)
{
	(void)state;
	for (int n = 290; n < 310; n++) {
		struct tlat_hist *hist = ranks(n);
		struct tlat_bounds bounds;

		tlat_stats_bounds(hist, NULL, 0.99, 0.05, 1, &bounds);
		assert_int_equal(bounds.p_hi < 1, n >= 299);
		assert_true(bounds.p_lo > 0 && bounds.p_lo < 0.99);
		tlat_hist_free(hist);
	}
}

static void tau_is_the_size_of_clusters(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();
	struct tlat_estimate e;

	(void)state;
	seed = 32;
	/* every value comes 20 times in a row */
	for (int i = 0; i < 64 * 50; i++) {
		int64_t value = 1000 + (int64_t)(500 * uniform());

		for (int k = 0; k < 20; k++)
			tlat_hist_record(hist, value);
		if (i % 50 == 49)
			assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	}
	tlat_stats_quantile(hist, blocks, 0.5, &e);
	assert_true(e.tau > 12 && e.tau < 30);
	assert_float_equal(e.n_eff, 64000 / e.tau, 1e-6);
	assert_true(e.lo <= e.value && e.value <= e.hi);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

/* Values in rows of 20, of which the first block has nine in ten. */
static double tau_of_unequal_blocks(void)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();
	double tau;

	for (int i = 0; i < 1000; i++) {
		int64_t value = 1000 + (int64_t)(500 * uniform());

		for (int k = 0; k < 20; k++)
			tlat_hist_record(hist, value);
		if (i >= 899 && i % 10 == 9)
			assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	}
	assert_int_equal(tlat_blocks_count(blocks), 11);
	assert_float_equal(tlat_stats_blocks(blocks), 1 / (0.81 + 10 * 0.0001), 1e-6);
	tau = tlat_stats_tau(blocks, 1249.5, 0.5);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
	return tau;
}

static void blocks_of_any_size_have_the_same_tau_on_the_average(void **state)
{
	double sum = 0;

	(void)state;
	seed = 34;
	for (int i = 0; i < 200; i++)
		sum += tau_of_unequal_blocks();
	print_message("tau of unequal blocks: %.1f\n", sum / 200);
	assert_true(sum / 200 > 15 && sum / 200 < 25);
}

static void without_variance_or_blocks_samples_count_as_independent(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();

	(void)state;
	assert_float_equal(tlat_stats_tau(NULL, 5, 0.5), 1, 0);
	assert_float_equal(tlat_stats_tau(blocks, 5, 0.5), 1, 0);
	for (int i = 0; i < 64; i++) {
		tlat_hist_record(hist, 5);
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	}
	assert_float_equal(tlat_stats_tau(blocks, 5, 0.5), 1, 0);
	assert_float_equal(tlat_stats_tau(blocks, 9, 0), 1, 0);
	assert_float_equal(tlat_stats_tau(blocks, 9, 1), 1, 0);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

/* Coverage: how often the interval holds the quantile of the distribution drawn from */

#define RUN_N 12800
#define RUNS  200

struct source {
	const char *name;
	double (*next)(int i);
	double burst; /* share of samples that are ten times as large */
};

static double ar1;

static double next_independent(int i)
{
	(void)i;
	return 1500 * exp(0.3 * normal());
}

/* Successive values correlate with 0.95: one in 39 is independent. */
static double next_correlated(int i)
{
	ar1 = i ? 0.95 * ar1 + sqrt(1 - 0.95 * 0.95) * normal() : normal();
	return 1500 * exp(0.3 * ar1);
}

/* 50 in a row are ten times as large, once in a hundred times. */
static double next_bursty(int i)
{
	static double factor;

	if (i % 50 == 0)
		factor = uniform() < 0.01 ? 10 : 1;
	return factor * next_independent(i);
}

static double share_below(double x, double burst)
{
	double z = log(x / 1500) / 0.3, z_burst = log(x / 15000) / 0.3;

	return (1 - burst) * erfc(-z / sqrt(2)) / 2 + burst * erfc(-z_burst / sqrt(2)) / 2;
}

static double true_quantile(double p, double burst)
{
	double lo = 1, hi = 1e6;

	for (int i = 0; i < 100; i++) {
		double x = (lo + hi) / 2;

		if (share_below(x, burst) < p)
			lo = x;
		else
			hi = x;
	}
	return lo;
}

static bool covers(const struct source *source, double p, bool with_blocks)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();
	double expected = true_quantile(p, source->burst);
	struct tlat_estimate e;

	for (int i = 0; i < RUN_N; i++) {
		/* a value is the middle of what is rounded to it */
		tlat_hist_record(hist, (int64_t)floor(source->next(i) + 0.5));
		if (i % (RUN_N / 64) == RUN_N / 64 - 1)
			assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	}
	tlat_stats_quantile(hist, with_blocks ? blocks : NULL, p, &e);
	assert_true(e.supported && e.lo <= e.value && e.value <= e.hi);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
	return e.lo <= expected && expected <= e.hi;
}

static double coverage(const struct source *source, double p, bool with_blocks)
{
	int n = 0;

	seed = 33;
	for (int run = 0; run < RUNS; run++)
		n += covers(source, p, with_blocks);
	print_message("%s, p%g%s: %d of %d intervals\n", source->name, 100 * p,
		      with_blocks ? "" : ", blocks ignored", n, RUNS);
	return (double)n / RUNS;
}

static void intervals_of_95_percent_hold_the_quantile_that_often(void **state)
{
	static const struct source sources[] = {
		{ "independent", next_independent, 0 },
		{ "correlated", next_correlated, 0 },
		{ "bursty", next_bursty, 0.01 },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(sources); i++) {
		for (int k = 0; k < 2; k++) {
			double share = coverage(&sources[i], k ? 0.9 : 0.5, true);

			assert_true(share >= 0.90 && share <= 0.99);
		}
	}
	/* what it would be if correlation were ignored */
	assert_true(coverage(&sources[1], 0.5, false) < 0.6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_beta_function_has_its_known_values),
		cmocka_unit_test(the_beta_function_is_symmetric_and_rises),
		cmocka_unit_test(the_binomial_distribution_has_its_known_values),
		cmocka_unit_test(large_numbers_stay_near_the_normal_distribution),
		cmocka_unit_test(shares_have_clopper_pearson_bounds),
		cmocka_unit_test(no_event_in_n_obeys_the_rule_of_three),
		cmocka_unit_test(samples_needed_are_ten_beyond_the_quantile),
		cmocka_unit_test(intervals_are_the_exact_order_statistics),
		cmocka_unit_test(too_few_samples_give_the_maximum_and_no_support),
		cmocka_unit_test(beyond_the_range_an_interval_is_as_wide_as_what_is_not_known),
		cmocka_unit_test(an_empty_histogram_supports_nothing),
		cmocka_unit_test(a_bound_needs_the_samples_that_make_it_finite),
		cmocka_unit_test(tau_is_the_size_of_clusters),
		cmocka_unit_test(blocks_of_any_size_have_the_same_tau_on_the_average),
		cmocka_unit_test(without_variance_or_blocks_samples_count_as_independent),
		cmocka_unit_test(intervals_of_95_percent_hold_the_quantile_that_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
