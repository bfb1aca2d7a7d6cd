// SPDX-License-Identifier: MIT
/*
 * test-compare-simulated.c - how often comparisons are wrong, and how often they find what is
 * there: thousands of them, simulated from fixed seeds. Prints the figures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "simulate.h"

#define COMPARISONS 2000

/*
 * A unit is a run of 1e5 samples: a level that all its figures share, noise of each figure, and
 * exceedances that are Poisson around an expectation which varies by 30 % from run to run.
 */
static void draw_run(struct sim *s, int side, size_t i, double sd, double tail, uint64_t *seed)
{
	double level = sd / M_SQRT2 * sim_normal(seed), gamma = exp(0.3 * sim_normal(seed));
	double *row = s->value[side] + i * s->units.k;

	s->first[side][i] = level;
	for (size_t j = 0; j < s->units.k; j++) {
		double count = j == 4 ? 1000 : 100;

		if (j == 4 || j == 5)
			row[j] =
				log((sim_poisson(seed, count * gamma * (j == 5 ? tail : 1)) + 0.5) /
				    100001);
		else
			row[j] = level + 0.01 * (double)(j + 1) * sim_normal(seed) +
				 (j > 1 ? 0.05 * log(gamma) : 0);
	}
}

static void draw(struct sim *s, double sd, double tail, uint64_t *seed)
{
	for (size_t i = 0; i < SIM_PAIRS; i++) {
		draw_run(s, TLAT_BASE, i, sd, 1, seed);
		draw_run(s, TLAT_NEXT, i, sd, tail, seed);
	}
}

static void false_alarms_are_rare_when_nothing_differs(void **state)
{
	size_t primary = 0, tail = 0;
	uint64_t seed = 1;
	struct sim s;

	(void)state;
	for (size_t i = 0; i < COMPARISONS; i++) {
		bool any = false;

		sim_init(&s, SIM_FIGURES);
		draw(&s, 0.01, 1, &seed);
		sim_decide(&s);
		/* Whatever is significant counts, also where it is below the threshold. */
		primary += s.outcome.p <= s.rules.alpha;
		for (size_t j = 0; j < SIM_FIGURES; j++)
			any |= s.found[j].p <= s.rules.alpha;
		tail += any;
	}
	print_message("A/A: %zu primary and %zu tail alarms in %d\n", primary, tail, COMPARISONS);
	assert_true(primary <= 30);
	assert_true(tail <= 30);
}

static size_t verdicts(double shift, double sd, int32_t verdict, uint64_t seed)
{
	size_t n = 0;
	struct sim s;

	for (size_t i = 0; i < COMPARISONS; i++) {
		sim_init(&s, 0);
		for (size_t k = 0; k < SIM_PAIRS; k++) {
			s.first[TLAT_BASE][k] = sim_normal(&seed);
			s.first[TLAT_NEXT][k] =
				s.first[TLAT_BASE][k] + log1p(shift) + sd * sim_normal(&seed);
		}
		n += sim_decide(&s) == verdict;
	}
	return n;
}

static void a_shift_of_one_percent_is_found(void **state)
{
	size_t found = verdicts(0.01, 0.01, TLAT_COMPARE_REGRESSION, 2);
	size_t better = verdicts(-0.01, 0.01, TLAT_COMPARE_IMPROVEMENT, 3);

	(void)state;
	print_message("+1 %% at sd 1 %%: REGRESSION %zu, -1 %%: IMPROVEMENT %zu of %d\n", found,
		      better, COMPARISONS);
	assert_true(found >= COMPARISONS * 9 / 10);
	assert_true(better >= COMPARISONS * 9 / 10);
}

static void a_shift_below_the_threshold_is_no_regression(void **state)
{
	size_t n = verdicts(0.002, 0.005, TLAT_COMPARE_REGRESSION, 4);

	(void)state;
	print_message("+0.2 %% at sd 0.5 %%: REGRESSION %zu of %d\n", n, COMPARISONS);
	assert_true(n <= COMPARISONS / 100);
}

static void a_doubled_tail_rate_is_found(void **state)
{
	size_t found = 0, n = 300;
	uint64_t seed = 5;
	struct sim s;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		sim_init(&s, SIM_FIGURES);
		draw(&s, 0.01, 2, &seed);
		sim_decide(&s);
		found += s.outcome.tail == TLAT_COMPARE_TAIL_REGRESSION;
	}
	print_message("doubled tail rate: found %zu of %zu\n", found, n);
	assert_true(found >= n * 9 / 10);
}

/* Within a session of 40 runs all figures rise by 2 %; nothing differs. */
static bool drifts_to_an_alarm(const char *order, uint64_t *seed, bool *ret_blocked)
{
	bool side[2 * SIM_PAIRS];
	size_t n[2] = { 0 }, changes;
	struct sim s;

	sim_init(&s, 0);
	for (size_t i = 0; i < 2 * SIM_PAIRS; i++) {
		side[i] = order[i % strlen(order)] == 'B';
		s.first[side[i]][n[side[i]]++] =
			0.02 * (double)i / (2 * SIM_PAIRS) + 0.005 * sim_normal(seed);
	}
	*ret_blocked = tlat_order_p(side, 2 * SIM_PAIRS, &changes) < 0.01 || changes < 2;
	sim_decide(&s);
	return s.outcome.p <= s.rules.alpha;
}

static void a_drift_alarms_seldom_when_sides_take_turns(void **state)
{
	char in_blocks[2 * SIM_PAIRS + 1] = { 0 };
	size_t turns = 0, blocks = 0;
	uint64_t seed = 6;
	bool blocked;

	(void)state;
	memset(in_blocks, 'A', SIM_PAIRS);
	memset(in_blocks + SIM_PAIRS, 'B', SIM_PAIRS);
	for (size_t i = 0; i < COMPARISONS; i++) {
		turns += drifts_to_an_alarm(sim_next(&seed) % 2 ? "ABBA" : "BAAB", &seed, &blocked);
		assert_false(blocked);
		blocks += drifts_to_an_alarm(in_blocks, &seed, &blocked);
		assert_true(blocked);
	}
	print_message(
		"2 %% drift: %zu alarms in %d when taking turns, %zu one after the other, all "
		"of these flagged\n",
		turns, COMPARISONS, blocks);
	assert_true(turns * 1000 <= COMPARISONS * 15);
	assert_true(blocks > COMPARISONS / 2);
}

/* Planned looks: an alarm at any of them is an alarm. */
static void looks_together_keep_the_promise(void **state)
{
	static const size_t at[] = { 10, 15, 20 };
	size_t alarms = 0;
	uint64_t seed = 7;
	struct sim s;

	(void)state;
	for (size_t i = 0; i < COMPARISONS; i++) {
		bool any = false;

		sim_init(&s, 0);
		for (size_t k = 0; k < SIM_PAIRS; k++)
			s.first[TLAT_NEXT][k] = 0.01 * sim_normal(&seed);
		for (size_t look = 0; look < 3; look++) {
			size_t next;

			s.units.n[0] = s.units.n[1] = at[look];
			s.rules.alpha = tlat_look_alpha(at[look], 20, 0.01, &next);
			sim_decide(&s);
			any |= s.outcome.p <= s.rules.alpha;
		}
		alarms += any;
	}
	print_message("three looks: %zu alarms in %d\n", alarms, COMPARISONS);
	assert_true(alarms <= 30);
}

enum kind { INDEPENDENT, AUTOREGRESSIVE, BURSTY };

#define SAMPLES 12800

/* One run: lognormal around 1000; bursts raise one block in a hundred tenfold. */
static void draw_hist(struct tlat_hist *hist, struct tlat_blocks *blocks, enum kind kind,
		      uint64_t *seed)
{
	double x = sim_normal(seed), factor = 1;

	for (size_t i = 0; i < SAMPLES; i++) {
		double phi = kind == AUTOREGRESSIVE ? 0.95 : 0;

		x = phi * x + sqrt(1 - phi * phi) * sim_normal(seed);
		if (kind == BURSTY && i % 20 == 0)
			factor = sim_uniform(seed) < 0.01 ? 10 : 1;
		tlat_hist_record(hist, (int64_t)(100000 * factor * exp(0.1 * x)));
		if (i % (SAMPLES / TLAT_BLOCKS_MAX) == SAMPLES / TLAT_BLOCKS_MAX - 1 &&
		    tlat_blocks_cut(blocks, hist) < 0)
			abort();
	}
}

static double normal_cdf(double z)
{
	return 1 - tlat_normal_upper(z);
}

/* The value that a share p of all samples would be below. */
static double truth(enum kind kind, double p)
{
	double lo = 1000, hi = 1e8;

	for (int i = 0; i < 100; i++) {
		double v = sqrt(lo * hi), share = normal_cdf(log(v / 1e5) / 0.1);

		if (kind == BURSTY)
			share = 0.99 * share + 0.01 * normal_cdf(log(v / 1e6) / 0.1);
		*(share < p ? &lo : &hi) = v;
	}
	return lo;
}

static double coverage(enum kind kind, double p, size_t runs, uint64_t seed)
{
	double wanted = truth(kind, p);
	size_t inside = 0;

	for (size_t i = 0; i < runs; i++) {
		struct tlat_blocks *blocks;
		struct tlat_estimate e;
		struct tlat_hist *hist;

		if (tlat_hist_new(&hist, 1000000000) < 0 || tlat_blocks_new(&blocks, 1000) < 0)
			abort();
		draw_hist(hist, blocks, kind, &seed);
		tlat_stats_quantile(hist, blocks, p, &e);
		inside += e.lo <= wanted && wanted <= e.hi;
		tlat_blocks_free(blocks);
		tlat_hist_free(hist);
	}
	return (double)inside / (double)runs;
}

static void intervals_of_one_run_cover_what_they_say(void **state)
{
	static const char *const names[] = { "independent", "AR(1) 0.95", "bursty" };
	static const double quantiles[] = { 0.5, 0.9, 0.99 };

	(void)state;
	for (int kind = INDEPENDENT; kind <= BURSTY; kind++)
		for (size_t q = 0; q < TLAT_ARRAY_SIZE(quantiles); q++) {
			double share;

			/* There p99 lies between two modes, where no value is ever seen. */
			if (kind == BURSTY && quantiles[q] > 0.9)
				continue;
			share = coverage((enum kind)kind, quantiles[q], 1000, 8);
			print_message("95 %% interval of p%g, %s: covers %.1f %%\n",
				      100 * quantiles[q], names[kind], 100 * share);
			assert_true(share >= 0.92 && share <= 0.98);
		}
}

/* The interval of the ratio, at 99 %, from 20 pairs whose differences have various shapes. */
static void intervals_of_ratios_cover_what_they_say(void **state)
{
	uint64_t seed = 9;
	struct sim s;

	(void)state;
	for (int heavy = 0; heavy < 2; heavy++) {
		size_t inside = 0, by_sign = 0;

		for (size_t i = 0; i < COMPARISONS; i++) {
			sim_init(&s, 0);
			for (size_t k = 0; k < SIM_PAIRS; k++)
				s.first[TLAT_NEXT][k] =
					0.01 +
					0.01 * sim_normal(&seed) /
						(heavy ? sqrt(-2 * log(sim_uniform(&seed)) / 2)
						       : 1);
			sim_decide(&s);
			inside += s.outcome.location.lo <= 0.01 && s.outcome.location.hi >= 0.01;
			by_sign += s.outcome.location.sign_lo <= 0.01 &&
				   s.outcome.location.sign_hi >= 0.01;
		}
		print_message("99 %% interval of a ratio, %s: covers %.1f %%, by signs %.1f %%\n",
			      heavy ? "heavy tails" : "normal",
			      100.0 * (double)inside / COMPARISONS,
			      100.0 * (double)by_sign / COMPARISONS);
		assert_true(inside >= COMPARISONS * 98 / 100);
		assert_true(by_sign >= COMPARISONS * 98 / 100);
	}
}

/* An argument is a pattern of the tests to run. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(false_alarms_are_rare_when_nothing_differs),
		cmocka_unit_test(a_shift_of_one_percent_is_found),
		cmocka_unit_test(a_shift_below_the_threshold_is_no_regression),
		cmocka_unit_test(a_doubled_tail_rate_is_found),
		cmocka_unit_test(a_drift_alarms_seldom_when_sides_take_turns),
		cmocka_unit_test(looks_together_keep_the_promise),
		cmocka_unit_test(intervals_of_one_run_cover_what_they_say),
		cmocka_unit_test(intervals_of_ratios_cover_what_they_say),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
