// SPDX-License-Identifier: MIT
/*
 * test-compare-stats.c - properties that the statistics of a comparison have whatever the values.
 * compare_scipy.py holds the values themselves against another implementation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "simulate.h"

#define ROUNDS 300
#define N_MAX  70

static void same(double a, double b)
{
	if (!(a == b || fabs(a - b) <= 1e-9 * fmax(1, fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

/* Some are of few values, so that there are ties and zeros. */
static size_t draw(double *v, uint64_t *seed)
{
	size_t n = 1 + (size_t)(sim_next(seed) % N_MAX);
	bool coarse = sim_next(seed) % 3 == 0;

	for (size_t i = 0; i < n; i++)
		v[i] = coarse ? (double)(sim_next(seed) % 5) - 2 : sim_normal(seed) + 0.3;
	return n;
}

static void the_sides_can_be_swapped(void **state)
{
	double d[N_MAX], turned[N_MAX], b[N_MAX];
	struct tlat_location l, t;
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t n = draw(d, &seed), m = draw(b, &seed);

		for (size_t i = 0; i < n; i++)
			turned[i] = -d[i];
		assert_int_equal(tlat_location_paired(d, n, 0.01, &l), 0);
		assert_int_equal(tlat_location_paired(turned, n, 0.01, &t), 0);
		same(l.p, t.p);
		same(l.estimate, -t.estimate);
		same(l.lo, -t.hi);
		same(l.sign_lo, -t.sign_hi);
		assert_int_equal(tlat_location_unpaired(d, n, b, m, 0.01, &l), 0);
		assert_int_equal(tlat_location_unpaired(b, m, d, n, 0.01, &t), 0);
		same(l.p, t.p);
		same(l.estimate, -t.estimate);
		same(l.lo, -t.hi);
	}
}

static void a_shift_moves_estimate_and_interval_by_itself(void **state)
{
	double d[N_MAX], moved[N_MAX];
	struct tlat_location l, t;
	uint64_t seed = 2;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t n = draw(d, &seed);

		for (size_t i = 0; i < n; i++)
			moved[i] = d[i] + 8;
		assert_int_equal(tlat_location_paired(d, n, 0.05, &l), 0);
		assert_int_equal(tlat_location_paired(moved, n, 0.05, &t), 0);
		same(l.estimate + 8, t.estimate);
		same(l.lo + 8, t.lo);
		same(l.hi + 8, t.hi);
		if (n > 1)
			same(l.sd, t.sd);
	}
}

static void intervals_hold_the_estimate_and_grow_with_confidence(void **state)
{
	double d[N_MAX];
	struct tlat_location narrow, wide;
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t n = draw(d, &seed);

		assert_int_equal(tlat_location_paired(d, n, 0.05, &narrow), 0);
		assert_int_equal(tlat_location_paired(d, n, 0.01, &wide), 0);
		assert_true(narrow.lo <= narrow.estimate && narrow.estimate <= narrow.hi);
		assert_true(wide.lo <= narrow.lo && narrow.hi <= wide.hi);
		assert_true(wide.sign_lo <= narrow.sign_lo && narrow.sign_hi <= wide.sign_hi);
		assert_true(wide.p >= 0 && wide.p <= 1);
	}
}

/* Without ties, the interval leaves out 0 exactly when the test rejects. */
static void test_and_interval_agree(void **state)
{
	double d[63];
	struct tlat_location l;
	uint64_t seed = 4;
	size_t rejected = 0;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		size_t n = 1 + (size_t)(sim_next(&seed) % 63);

		for (size_t i = 0; i < n; i++)
			d[i] = sim_normal(&seed) + 0.4;
		assert_int_equal(tlat_location_paired(d, n, 0.01, &l), 0);
		assert_int_equal(l.lo > 0 || l.hi < 0, l.p <= 0.01);
		rejected += l.p <= 0.01;
	}
	assert_true(rejected > 200 && rejected < 800);
}

static void one_unit_tells_nothing(void **state)
{
	const double one = 0.3, other = 0.7, zero[4] = { 0 };
	struct tlat_location l;
	double p, mean, half;

	(void)state;
	assert_int_equal(tlat_location_paired(&one, 1, 0.01, &l), 0);
	same(l.p, 1);
	same(l.estimate, one);
	assert_true(isinf(l.lo) && isinf(l.hi) && isinf(l.sign_lo) && isnan(l.sd));
	assert_int_equal(tlat_location_unpaired(&one, 1, &other, 1, 0.01, &l), 0);
	same(l.p, 1);
	same(l.estimate, 0.4);
	assert_true(isinf(l.lo) && isinf(l.hi));
	assert_int_equal(tlat_location_paired(zero, 4, 0.01, &l), 0);
	same(l.p, 1);
	tlat_family_p(&(struct tlat_family){ &one, 1, 1, 0, true }, &p);
	same(p, 1);
	assert_int_equal(
		tlat_family_band(&(struct tlat_family){ &one, 1, 1, 0, true }, 0.01, &mean, &half),
		0);
	assert_true(isinf(half));
	assert_true(isinf(tlat_mde_paired(0.01, 1, 0.01, 0.9)));
}

/* Below 8 pairs no p can be 0.01; from there on it can. */
static void eight_pairs_are_the_fewest(void **state)
{
	double d[8];
	struct tlat_location l;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		d[i] = 1 + (double)i / 100;
	assert_int_equal(tlat_location_paired(d, 7, 0.01, &l), 0);
	assert_true(isinf(l.lo) && l.p > 0.01);
	assert_int_equal(tlat_location_paired(d, 8, 0.01, &l), 0);
	assert_true(l.lo > 0 && l.p < 0.01);
	same(l.p, 1.0 / 128);
}

static void a_family_is_at_least_as_strict_as_its_figures(void **state)
{
	double v[18 * 10], own[18], p[10], alone;
	uint64_t seed = 5;

	(void)state;
	for (int round = 0; round < 40; round++) {
		bool paired = round % 2;
		size_t n = 6 + (size_t)(sim_next(&seed) % 12), k = 1 + (size_t)(round % 10);

		for (size_t i = 0; i < n * k; i++)
			v[i] = sim_normal(&seed) + (i % k ? 0 : 0.7);
		tlat_family_p(&(struct tlat_family){ v, n, k, n / 2, paired }, p);
		for (size_t j = 0; j < k; j++) {
			for (size_t i = 0; i < n; i++)
				own[i] = v[i * k + j];
			tlat_family_p(&(struct tlat_family){ own, n, 1, n / 2, paired }, &alone);
			/* Labelings are drawn anew where there are too many. */
			assert_true(p[j] >= alone - (paired || n < 15 ? 1e-12 : 0.02));
			assert_true(p[j] > 0 && p[j] <= 1);
		}
	}
}

/* With more than 20 pairs flips are drawn; the answer is close to that of all, and repeats. */
static void drawn_flips_are_close_and_repeat(void **state)
{
	double v[42], p, q, twice;
	uint64_t seed = 6;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		v[i] = sim_normal(&seed) + 0.6;
	tlat_family_p(&(struct tlat_family){ v, 20, 1, 0, true }, &p);
	/* A 21st difference of 0 changes nothing but the number. */
	v[20] = 0;
	tlat_family_p(&(struct tlat_family){ v, 21, 1, 0, true }, &q);
	tlat_family_p(&(struct tlat_family){ v, 21, 1, 0, true }, &twice);
	assert_true(fabs(p - q) < 5 * sqrt(p / TLAT_RANDOM_FLIPS) + 1e-4);
	same(q, twice);
}

static void bands_hold_the_truth_as_often_as_they_say(void **state)
{
	size_t outside = 0, rounds = 400;
	uint64_t seed = 7;

	(void)state;
	for (size_t round = 0; round < rounds; round++) {
		double v[20 * 3], mean[3], half[3];
		bool out = false;

		for (size_t i = 0; i < 20 * 3; i++)
			v[i] = 0.5 + sim_normal(&seed);
		assert_int_equal(tlat_family_band(&(struct tlat_family){ v, 20, 3, 0, true }, 0.05,
						  mean, half),
				 0);
		for (size_t j = 0; j < 3; j++)
			out |= fabs(mean[j] - 0.5) > half[j];
		outside += out;
	}
	assert_true(outside >= rounds * 2 / 100 && outside <= rounds * 9 / 100);
}

static void holm_is_between_none_and_bonferroni(void **state)
{
	double p[9], q[9];
	uint64_t seed = 8;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t n = 1 + (size_t)(sim_next(&seed) % 9);

		for (size_t i = 0; i < n; i++)
			p[i] = q[i] = sim_uniform(&seed);
		tlat_holm(q, n);
		for (size_t i = 0; i < n; i++) {
			assert_true(q[i] >= p[i] && q[i] <= fmin(1, (double)n * p[i]) + 1e-15);
			for (size_t k = 0; k < n; k++)
				assert_true(p[i] > p[k] || q[i] <= q[k]);
		}
	}
}

static void looks_spend_alpha_once(void **state)
{
	(void)state;
	for (size_t planned = 4; planned < 100; planned++) {
		double spent = 0;
		size_t next = 0, looks = 0;

		for (size_t n = 0; n <= planned; n++) {
			double part = tlat_look_alpha(n, planned, 0.01, &next);

			assert_true(next > n || (n == planned && next == planned));
			spent += part;
			looks += part > 0;
		}
		same(spent, 0.01);
		assert_int_equal(looks, 3);
	}
}

static void needed_pairs_see_what_they_are_needed_for(void **state)
{
	(void)state;
	for (double sd = 0.001; sd < 0.2; sd *= 1.7)
		for (int paired = 0; paired < 2; paired++) {
			size_t n = tlat_pairs_needed(sd, 0.01, 0.01, 0.9, paired);

			assert_true(n >= (paired ? 8 : 5));
			assert_true((paired ? tlat_mde_paired(sd, n, 0.01, 0.9)
					    : tlat_mde_unpaired(sd, n, n, 0.01, 0.9)) <= 0.01);
			if (n > 8)
				assert_true((paired ? tlat_mde_paired(sd, n - 1, 0.01, 0.9)
						    : tlat_mde_unpaired(sd, n - 1, n - 1, 0.01,
									0.9)) > 0.01);
		}
	/* The reference: 20 pairs, power 90 %, alpha 1 %: 0.937 sd; 10: 1.46; 40: 0.63. */
	assert_true(fabs(tlat_mde_paired(1, 20, 0.01, 0.9) - 0.937) < 0.001);
	assert_true(fabs(tlat_mde_paired(1, 10, 0.01, 0.9) - 1.46) < 0.01);
	assert_true(fabs(tlat_mde_paired(1, 40, 0.01, 0.9) - 0.63) < 0.01);
	assert_int_equal(tlat_pairs_needed(100, 0.0001, 0.01, 0.9, true), 0);
	/* Exact tests have a least p: 2 / 2^n of pairs, 2 / (2n over n) without. */
	for (size_t n = 2; n < 20; n++) {
		assert_int_equal(isinf(tlat_mde_paired(0.01, n, 0.01, 0.9)) != 0, n < 8);
		assert_int_equal(isinf(tlat_mde_paired(0.01, n, 0.001, 0.9)) != 0, n < 11);
		assert_int_equal(isinf(tlat_mde_unpaired(0.01, n, n, 0.01, 0.9)) != 0, n < 5);
	}
	for (double alpha = 0.1; alpha > 1e-8; alpha /= 3)
		for (int paired = 0; paired < 2; paired++) {
			size_t n = tlat_pairs_needed(1e-6, 0.01, alpha, 0.9, paired);

			assert_true(isfinite(paired ? tlat_mde_paired(1e-6, n, alpha, 0.9)
						    : tlat_mde_unpaired(1e-6, n, n, alpha, 0.9)));
		}
}

static void an_order_in_blocks_is_improbable(void **state)
{
	bool blocks[40], turns[40];
	size_t changes;

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		blocks[i] = i >= 20;
		turns[i] = i % 4 == 1 || i % 4 == 2;
	}
	assert_true(tlat_order_p(blocks, 40, &changes) < 1e-9);
	assert_int_equal(changes, 1);
	assert_true(tlat_order_p(turns, 40, &changes) > 0.3);
	assert_int_equal(changes, 20);
	/* A A B B: 2 of the 6 orders change side once. */
	same(tlat_order_p(&blocks[18], 4, &changes), 2.0 / 6);
}

static void a_trend_is_seen_and_noise_is_none(void **state)
{
	size_t seen = 0;
	uint64_t seed = 9;
	double v[64];

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct tlat_trend t;

		for (size_t i = 0; i < 64; i++)
			v[i] = sim_normal(&seed);
		assert_int_equal(tlat_trend(v, 64, &t), 0);
		seen += t.p < 0.01;
		for (size_t i = 0; i < 64; i++)
			v[i] += 3.0 * (double)i / 63;
		assert_int_equal(tlat_trend(v, 64, &t), 0);
		assert_true(t.p < 0.05 && t.total > 1 && t.total < 5);
	}
	assert_true(seen <= 20);
}

/* Levels of 3, 2 and 1 %, from 60 boots of 5 runs of 16 blocks. */
static void levels_of_noise_are_told_apart(void **state)
{
	static double v[300][16];
	const double *blocks[300];
	size_t n_blocks[300], group[300];
	struct tlat_levels levels;
	uint64_t seed = 10;

	(void)state;
	for (size_t b = 0; b < 60; b++) {
		double boot = 0.03 * sim_normal(&seed);

		for (size_t r = 0; r < 5; r++) {
			double run = boot + 0.02 * sim_normal(&seed);
			size_t i = b * 5 + r;

			for (size_t k = 0; k < 16; k++)
				v[i][k] = run + 0.01 * sim_normal(&seed);
			blocks[i] = v[i];
			n_blocks[i] = 16;
			group[i] = b;
		}
	}
	tlat_levels(blocks, n_blocks, group, 300, &levels);
	assert_true(fabs(levels.boot - 0.03) < 0.008);
	assert_true(fabs(levels.run - 0.02) < 0.003);
	assert_true(fabs(levels.block - 0.01) < 0.001);
	assert_int_equal(levels.n_boots, 60);
	memset(group, 0, sizeof(group));
	tlat_levels(blocks, n_blocks, group, 300, &levels);
	assert_true(isnan(levels.boot));
}

/* 20 pairs around a shift, with that spread; as exact as they can be. */
static void set_pairs(struct sim *s, double shift, double sd)
{
	sim_init(s, 0);
	for (size_t i = 0; i < SIM_PAIRS; i++)
		s->first[TLAT_NEXT][i] = shift + sd * ((double)i - 9.5) / 5.9;
}

static void verdicts_follow_from_interval_and_threshold(void **state)
{
	static const struct {
		double shift, sd;
		int32_t better, verdict;
	} cases[] = {
		{ 0.02, 0.005, -1, TLAT_COMPARE_REGRESSION },
		{ -0.02, 0.005, -1, TLAT_COMPARE_IMPROVEMENT },
		{ 0.02, 0.005, 1, TLAT_COMPARE_IMPROVEMENT },
		{ -0.02, 0.005, 1, TLAT_COMPARE_REGRESSION },
		{ 0.02, 0.005, 0, TLAT_COMPARE_INCONCLUSIVE },
		{ 0.003, 0.001, -1, TLAT_COMPARE_TRIVIAL },
		{ 0.0001, 0.002, -1, TLAT_COMPARE_EQUIVALENT },
		{ 0.003, 0.02, -1, TLAT_COMPARE_INCONCLUSIVE },
	};
	struct sim s;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		set_pairs(&s, cases[i].shift, cases[i].sd);
		s.units.better = cases[i].better;
		if (sim_decide(&s) != cases[i].verdict)
			fail_msg("case %zu: %s", i, tlat_compare_verdict_name(s.outcome.verdict));
	}
	set_pairs(&s, 0.02, 0.005);
	s.units.n[0] = s.units.n[1] = 1;
	assert_int_equal(sim_decide(&s), TLAT_COMPARE_INDICATIVE);
}

static void a_worse_tail_is_a_verdict_of_its_own(void **state)
{
	uint64_t seed = 11;
	struct sim s;

	(void)state;
	for (int upward = 0; upward < 2; upward++) {
		set_pairs(&s, 0.0001, 0.002);
		s.units.k = SIM_FIGURES;
		for (size_t j = 0; j < SIM_FIGURES; j++)
			s.quantities[j] = (struct tlat_quantity){ .role = TLAT_COMPARE_TAIL,
								  .threshold = log(1.25) };
		for (size_t i = 0; i < SIM_PAIRS * SIM_FIGURES; i++)
			s.value[TLAT_NEXT][i] = 0.1 * sim_normal(&seed);
		for (size_t i = 0; i < SIM_PAIRS; i++)
			s.value[TLAT_NEXT][i * SIM_FIGURES + 5] += upward ? 0.7 : -0.7;
		assert_int_equal(sim_decide(&s),
				 upward ? TLAT_COMPARE_TAIL_REGRESSION : TLAT_COMPARE_EQUIVALENT);
		assert_int_equal(s.outcome.tail,
				 upward ? TLAT_COMPARE_TAIL_REGRESSION : TLAT_COMPARE_NONE);
		assert_int_equal(s.found[5].worse, upward ? 1 : -1);
		assert_int_equal(s.found[4].worse, 0);
		assert_true(fabs(s.found[5].mean) - s.found[5].half > 0);
	}
}

/* As far apart as can be. */
static void no_p_value_is_below_the_least(void **state)
{
	double v[24];

	(void)state;
	for (size_t n = 1; n <= 21; n++) {
		const struct tlat_family pairs = { v, n, 1, n, true };
		double p;

		for (size_t i = 0; i < n; i++)
			v[i] = 1;
		tlat_family_p(&pairs, &p);
		if (n < 21)
			assert_true(p == tlat_family_least_p(n, n, true));
		else
			assert_true(p >= tlat_family_least_p(n, n, true));
	}
	for (size_t n = 1; n <= 12; n++)
		for (size_t m = 1; m <= 12; m++) {
			const struct tlat_family sides = { v, n + m, 1, n, false };
			double p, least = tlat_family_least_p(n, m, false);

			for (size_t i = 0; i < n + m; i++)
				v[i] = i < n;
			tlat_family_p(&sides, &p);
			if (least * TLAT_LABELINGS_EXACT < 1 ? p < least : p != least)
				fail_msg("%zu and %zu: %g, least %g", n, m, p, least);
		}
	assert_true(tlat_family_least_p(7, 7, true) > 0.01);
	assert_true(tlat_family_least_p(8, 8, true) <= 0.01);
	assert_true(tlat_family_least_p(4, 4, false) > 0.01);
	assert_true(tlat_family_least_p(5, 5, false) <= 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sides_can_be_swapped),
		cmocka_unit_test(a_shift_moves_estimate_and_interval_by_itself),
		cmocka_unit_test(intervals_hold_the_estimate_and_grow_with_confidence),
		cmocka_unit_test(test_and_interval_agree),
		cmocka_unit_test(one_unit_tells_nothing),
		cmocka_unit_test(eight_pairs_are_the_fewest),
		cmocka_unit_test(a_family_is_at_least_as_strict_as_its_figures),
		cmocka_unit_test(drawn_flips_are_close_and_repeat),
		cmocka_unit_test(bands_hold_the_truth_as_often_as_they_say),
		cmocka_unit_test(holm_is_between_none_and_bonferroni),
		cmocka_unit_test(looks_spend_alpha_once),
		cmocka_unit_test(needed_pairs_see_what_they_are_needed_for),
		cmocka_unit_test(an_order_in_blocks_is_improbable),
		cmocka_unit_test(a_trend_is_seen_and_noise_is_none),
		cmocka_unit_test(levels_of_noise_are_told_apart),
		cmocka_unit_test(verdicts_follow_from_interval_and_threshold),
		cmocka_unit_test(a_worse_tail_is_a_verdict_of_its_own),
		cmocka_unit_test(no_p_value_is_below_the_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
