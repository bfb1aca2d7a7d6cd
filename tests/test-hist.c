// SPDX-License-Identifier: MIT
/* test-hist.c - the histogram against sorted arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hist.h"

#define HZ 2600000000u

static uint64_t seed;

/* xorshift64*: the same numbers on every machine. */
static uint64_t random_bits(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static double uniform(void)
{
	return ((double)(random_bits() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static int64_t below(int64_t n)
{
	return (int64_t)(random_bits() % (uint64_t)n);
}

static struct tlat_hist *new_hist(void)
{
	struct tlat_hist *hist;

	assert_int_equal(tlat_hist_new(&hist, HZ), 0);
	return hist;
}

static void assert_same(const struct tlat_hist *a, const struct tlat_hist *b)
{
	for (int32_t slot = TLAT_HIST_SLOT_FIRST; slot <= TLAT_HIST_SLOT_OVERFLOW; slot++)
		assert_true(tlat_hist_slot_count(a, slot) == tlat_hist_slot_count(b, slot));
	assert_true(tlat_hist_count(a) == tlat_hist_count(b));
	assert_true(tlat_hist_early(a) == tlat_hist_early(b));
	assert_true(tlat_hist_overflow(a) == tlat_hist_overflow(b));
	assert_true(tlat_hist_min(a) == tlat_hist_min(b));
	assert_true(tlat_hist_max(a) == tlat_hist_max(b));
}

/* Bins */

static void bins_follow_one_another_without_a_gap(void **state)
{
	uint64_t next = 0;

	(void)state;
	for (uint32_t i = 0; i < TLAT_HIST_BINS; i++) {
		uint64_t low = tlat_hist_bin_low(i), width = tlat_hist_bin_width(i);

		assert_int_equal(low, next);
		assert_int_equal(tlat_hist_index(low), i);
		assert_int_equal(tlat_hist_index(low + width - 1), i);
		assert_true(low < 2048 ? width == 1 : width * 1024 <= low);
		next = low + width;
	}
	assert_true(next == UINT64_C(1) << 37);
}

static void a_walk_meets_every_value_in_a_bin_that_holds_it(void **state)
{
	static const int64_t values[] = { INT64_MIN, -5000, -2, -1, 0, 1, 2047, 2048, 1 << 20 };
	struct tlat_hist *hist = new_hist();
	struct tlat_bin bin;
	size_t cursor = 0;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(values); i++)
		tlat_hist_record(hist, values[i]);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(values); i++) {
		assert_int_equal(tlat_hist_next(hist, &cursor, &bin), 1);
		assert_true(bin.low <= values[i] && values[i] <= bin.high);
		assert_true(bin.count == 1);
	}
	assert_int_equal(tlat_hist_next(hist, &cursor, &bin), 0);
	tlat_hist_free(hist);
}

static void slots_are_in_the_order_of_values(void **state)
{
	(void)state;
	seed = 11;
	for (int i = 0; i < 200000; i++) {
		int64_t value = (int64_t)(random_bits() >> below(63)) - (below(2) ? 1 << 20 : 0);
		int32_t slot = tlat_hist_slot(value);

		assert_true(value <= tlat_hist_slot_last(slot));
		if (slot > TLAT_HIST_SLOT_FIRST && slot != 0)
			assert_true(slot == -2 || value > tlat_hist_slot_last(slot - 1));
	}
	assert_int_equal(tlat_hist_slot(INT64_MIN), TLAT_HIST_SLOT_FIRST);
	assert_int_equal(tlat_hist_slot(INT64_MAX), TLAT_HIST_SLOT_OVERFLOW);
}

static void the_mass_of_a_slot_lies_evenly_over_its_width(void **state)
{
	(void)state;
	assert_float_equal(tlat_hist_slot_below(100, 100), 0.5, 0);
	assert_float_equal(tlat_hist_slot_below(100, 99), 0, 0);
	assert_float_equal(tlat_hist_slot_below(100, 101), 1, 0);
	assert_float_equal(tlat_hist_slot_below(tlat_hist_slot(4096), 4097.5), 0.5, 0);
	assert_float_equal(tlat_hist_slot_below(tlat_hist_slot(-5), -5), 0.5, 0);
	assert_float_equal(tlat_hist_slot_below(tlat_hist_slot(-5), -6), 0, 0);
	assert_float_equal(tlat_hist_slot_below(TLAT_HIST_SLOT_OVERFLOW, 1e6), 0, 0);
}

/* Life */

static void an_empty_histogram_answers_zero(void **state)
{
	struct tlat_hist *hist = new_hist();

	(void)state;
	assert_int_equal(tlat_hist_count(hist), 0);
	assert_int_equal(tlat_hist_min(hist), 0);
	assert_int_equal(tlat_hist_max(hist), 0);
	assert_float_equal(tlat_hist_quantile(hist, 0.5), 0, 0);
	assert_int_equal(tlat_hist_quantile_bound(hist, 0.5), 0);
	assert_float_equal(tlat_hist_mean(hist), 0, 0);
	assert_float_equal(tlat_hist_sd(hist), 0, 0);
	assert_int_equal(tlat_hist_count_above(hist, -5), 0);
	tlat_hist_free(hist);
	tlat_hist_free(NULL);
}

static void a_histogram_can_be_used_at_two_addresses(void **state)
{
	size_t bytes = tlat_hist_bytes();
	int fd = memfd_create("hist", 0);
	struct tlat_hist *here, *there;

	(void)state;
	assert_int_equal(bytes % 64, 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	here = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	there = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_equal(tlat_hist_init(here, HZ), here);
	for (int i = 0; i < 1000; i++)
		tlat_hist_record(here, i * 37 - 500);
	assert_int_equal(tlat_hist_hz(there), HZ);
	assert_same(here, there);
	munmap(here, bytes);
	munmap(there, bytes);
	close(fd);
}

static void init_touches_every_page(void **state)
{
	size_t bytes = tlat_hist_bytes(), page = 4096, pages = (bytes + page - 1) / page;
	unsigned char resident[4096];
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(pages <= sizeof(resident));
	tlat_hist_init(mem, HZ);
	assert_int_equal(mincore(mem, bytes, resident), 0);
	for (size_t i = 0; i < pages; i++)
		assert_true(resident[i] & 1);
	munmap(mem, bytes);
}

static void reset_forgets_all_values(void **state)
{
	struct tlat_hist *used = new_hist(), *fresh = new_hist();

	(void)state;
	tlat_hist_record(used, -5);
	tlat_hist_record(used, 70);
	tlat_hist_record(used, INT64_MAX);
	tlat_hist_reset(used);
	assert_same(used, fresh);
	tlat_hist_record(used, 9);
	assert_int_equal(tlat_hist_min(used), 9);
	tlat_hist_free(used);
	tlat_hist_free(fresh);
}

static void values_out_of_range_are_counted_and_their_extremes_exact(void **state)
{
	struct tlat_hist *hist = new_hist();

	(void)state;
	tlat_hist_record(hist, (INT64_C(1) << 37) - 1);
	tlat_hist_record(hist, INT64_C(1) << 37);
	tlat_hist_record(hist, (INT64_C(1) << 40) + 12345);
	tlat_hist_record(hist, -1);
	tlat_hist_record(hist, -(INT64_C(1) << 18));
	tlat_hist_record(hist, -(INT64_C(1) << 30) - 77);
	assert_int_equal(tlat_hist_count(hist), 6);
	assert_int_equal(tlat_hist_overflow(hist), 2);
	assert_int_equal(tlat_hist_early(hist), 3);
	assert_int_equal(tlat_hist_slot_count(hist, ~1), 1);
	assert_int_equal(tlat_hist_slot_count(hist, TLAT_HIST_SLOT_FIRST), 2);
	assert_int_equal(tlat_hist_slot_count(hist, TLAT_HIST_BINS - 1), 1);
	assert_true(tlat_hist_max(hist) == (INT64_C(1) << 40) + 12345);
	assert_true(tlat_hist_min(hist) == -(INT64_C(1) << 30) - 77);
	tlat_hist_record(hist, INT64_MIN);
	tlat_hist_record(hist, INT64_MAX);
	assert_true(tlat_hist_min(hist) == INT64_MIN && tlat_hist_max(hist) == INT64_MAX);
	tlat_hist_free(hist);
}

/* From nothing to the largest there is, one by one: no sum and no shift overflows. */
static void values_up_to_the_largest_have_exact_extremes(void **state)
{
	static const int64_t values[] = {
		0, 1, INT64_C(1) << 31, INT64_C(5000000000), INT64_C(1) << 62, INT64_MAX
	};
	struct tlat_hist *hist = new_hist(), *lone = new_hist();

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(values); i++) {
		tlat_hist_record(hist, values[i]);
		assert_int_equal(tlat_hist_count(hist), i + 1);
		assert_true(tlat_hist_max(hist) == values[i] && tlat_hist_min(hist) == 0);
		assert_true(tlat_hist_quantile(hist, 1) == (double)values[i]);
		tlat_hist_reset(lone);
		tlat_hist_record(lone, values[i]);
		assert_true(tlat_hist_quantile(lone, 0.5) == (double)values[i]);
		assert_true(tlat_hist_quantile_bound(lone, 0.99) == values[i]);
		assert_true(tlat_hist_mean(lone) == (double)values[i]);
	}
	tlat_hist_free(lone);
	tlat_hist_free(hist);
}

/* Merging */

static void record_some(struct tlat_hist *hist, struct tlat_hist *all)
{
	for (int i = 0; i < 3000; i++) {
		int64_t value = (int64_t)(random_bits() >> below(60)) - below(300);

		tlat_hist_record(hist, value);
		tlat_hist_record(all, value);
	}
}

static void merging_is_exact_in_any_order(void **state)
{
	struct tlat_hist *part[3], *all = new_hist(), *one = new_hist(), *two = new_hist();

	(void)state;
	seed = 12;
	for (int i = 0; i < 3; i++)
		record_some(part[i] = new_hist(), all);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tlat_hist_merge(one, part[i]), 0);
		assert_int_equal(tlat_hist_merge(two, part[2 - i]), 0);
	}
	assert_same(one, all);
	assert_same(two, all);
	for (int i = 0; i < 3; i++)
		tlat_hist_free(part[i]);
	tlat_hist_free(all);
	tlat_hist_free(one);
	tlat_hist_free(two);
}

static void merging_an_empty_histogram_changes_nothing(void **state)
{
	struct tlat_hist *hist = new_hist(), *empty = new_hist(), *other = new_hist();

	(void)state;
	tlat_hist_record(hist, 5);
	tlat_hist_record(other, 5);
	assert_int_equal(tlat_hist_merge(hist, empty), 0);
	assert_same(hist, other);
	tlat_hist_free(hist);
	tlat_hist_free(empty);
	tlat_hist_free(other);
}

static void units_that_differ_by_more_than_100_ppm_do_not_merge(void **state)
{
	static const struct {
		uint64_t hz;
		int expected;
	} cases[] = {
		{ 1000100000, 0 },	{ 999900000, 0 }, { 1000100001, -EINVAL },
		{ 999899999, -EINVAL }, { HZ, -EINVAL },  { 1, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		struct tlat_hist *into, *from;

		assert_int_equal(tlat_hist_new(&into, 1000000000), 0);
		assert_int_equal(tlat_hist_new(&from, cases[i].hz), 0);
		tlat_hist_record(from, 1);
		assert_int_equal(tlat_hist_merge(into, from), cases[i].expected);
		assert_int_equal(tlat_hist_count(into), cases[i].expected ? 0 : 1);
		assert_int_equal(tlat_hist_hz(into), 1000000000);
		tlat_hist_free(into);
		tlat_hist_free(from);
	}
}

static void a_histogram_rebuilt_from_its_bins_is_the_same(void **state)
{
	struct tlat_hist *hist = new_hist(), *all = new_hist(), *again = new_hist();

	(void)state;
	seed = 13;
	record_some(hist, all);
	for (int32_t slot = TLAT_HIST_SLOT_FIRST; slot <= TLAT_HIST_SLOT_OVERFLOW; slot++)
		tlat_hist_add_slot(again, slot, tlat_hist_slot_count(hist, slot));
	tlat_hist_set_extremes(again, tlat_hist_min(hist), tlat_hist_max(hist));
	assert_same(again, hist);
	tlat_hist_free(hist);
	tlat_hist_free(all);
	tlat_hist_free(again);
}

/* Quantiles against sorted arrays */

#define SHAPE_N 20000

struct shape {
	const char *name;
	int64_t (*value)(int i);
	int n;
	double step; /* of the values: what a quantile may be off beyond half a bin */
};

static int64_t shape_uniform(int i)
{
	(void)i;
	return 1000 + below(100000);
}

static int64_t shape_exponential(int i)
{
	(void)i;
	return (int64_t)(-60000 * log(uniform()));
}

static int64_t shape_lognormal(int i)
{
	(void)i;
	return (int64_t)(4420 * exp(0.3 * normal()));
}

static int64_t shape_bimodal(int i)
{
	return (int64_t)(i % 3 ? 3000 + 5 * normal() : 150000 + 2000 * normal());
}

static int64_t shape_constant(int i)
{
	(void)i;
	return 1234567;
}

static int64_t shape_two_valued(int i)
{
	return i % 10 ? 1000 : 5000;
}

static int64_t shape_quantised(int i)
{
	(void)i;
	return 26 * (int64_t)floor((1600 + 60 * normal()) / 26);
}

static int64_t shape_heavy_tail(int i)
{
	(void)i;
	return (int64_t)fmin(1e10, 2000 / uniform());
}

static int64_t shape_early(int i)
{
	(void)i;
	return (int64_t)(100 + 200 * normal());
}

static int64_t shape_overflow(int i)
{
	return i % 50 ? shape_uniform(i) : (INT64_C(1) << 37) + 1000;
}

static int64_t shape_ramp(int i)
{
	return 7 * (int64_t)i;
}

static int64_t shape_ramp_down(int i)
{
	return 3 * (int64_t)(SHAPE_N - i);
}

static const struct shape shapes[] = {
	{ "uniform", shape_uniform, SHAPE_N, 1 },
	{ "exponential", shape_exponential, SHAPE_N, 1 },
	{ "lognormal", shape_lognormal, SHAPE_N, 1 },
	{ "bimodal", shape_bimodal, SHAPE_N, 1 },
	{ "constant", shape_constant, SHAPE_N, 0 },
	{ "two values", shape_two_valued, SHAPE_N, 0 },
	{ "quantised at 26", shape_quantised, SHAPE_N, 26 },
	{ "heavy tail", shape_heavy_tail, SHAPE_N, 1 },
	{ "early", shape_early, SHAPE_N, 1 },
	{ "overflow", shape_overflow, SHAPE_N, 1 },
	{ "ramp", shape_ramp, SHAPE_N, 7 },
	{ "ramp down", shape_ramp_down, SHAPE_N, 3 },
	{ "one", shape_lognormal, 1, 1 },
	{ "two", shape_heavy_tail, 2, 1 },
	{ "three", shape_exponential, 3, 1 },
	{ "four", shape_bimodal, 4, 1 },
	{ "five", shape_early, 5, 1 },
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double share(int i)
{
	static const double tails[] = {
		0, 1e-9, 1e-4, 0.001, 0.01, 0.99, 0.999, 0.9999, 0.99999, 1
	};

	return i < 10 ? tails[i] : (i - 9) / 391.0;
}

/* The neighbours of a rank, between which every convention of a quantile lies. */
static void neighbours(const int64_t *sorted, int n, double p, int64_t *ret_lo, int64_t *ret_hi)
{
	double rank = p * n - 0.5;
	int lo = (int)floor(rank - 1e-9), hi = (int)ceil(rank + 1e-9);

	*ret_lo = sorted[lo < 0 ? 0 : lo];
	*ret_hi = sorted[hi >= n ? n - 1 : hi];
}

/* Returns how much of what is allowed, 0.05 % and a step, the quantile is off. */
static double assert_near(const struct shape *shape, double p, double value, int64_t lo, int64_t hi)
{
	double off = value < (double)lo ? (double)lo - value : value - (double)hi;
	double allowed = 0.0005 * fabs(value) + shape->step;

	if (off > allowed)
		fail_msg("%s: Q(%g) is %.3f, sorted %lld to %lld", shape->name, p, value,
			 (long long)lo, (long long)hi);
	return off > 0 ? off / allowed : 0;
}

static double check_shape(const struct shape *shape)
{
	static int64_t values[SHAPE_N];
	struct tlat_hist *hist = new_hist();
	double last = -INFINITY, worst = 0;

	for (int i = 0; i < shape->n; i++)
		tlat_hist_record(hist, values[i] = shape->value(i));
	qsort(values, (size_t)shape->n, sizeof(values[0]), by_value);
	for (int i = 0; i < 400; i++) {
		double p = share(i), value = tlat_hist_quantile(hist, p);
		int64_t bound = tlat_hist_quantile_bound(hist, p), lo, hi;
		int rank = (int)ceil(p * shape->n * (1 - 4e-16));

		neighbours(values, shape->n, p, &lo, &hi);
		worst = fmax(worst, assert_near(shape, p, value, lo, hi));
		lo = values[rank ? rank - 1 : 0];
		assert_true(bound >= lo && bound <= values[shape->n - 1]);
		if (tlat_hist_slot(lo) != TLAT_HIST_SLOT_OVERFLOW)
			assert_true(tlat_hist_slot(bound) == tlat_hist_slot(lo));
		if (i >= 10) {
			assert_true(value >= last);
			last = value;
		}
	}
	tlat_hist_free(hist);
	return worst;
}

static void quantiles_agree_with_sorted_samples_on_every_shape(void **state)
{
	double worst = 0;

	(void)state;
	for (uint64_t round = 1; round <= 2; round++) {
		seed = round * 1000003;
		for (size_t i = 0; i < TLAT_ARRAY_SIZE(shapes); i++)
			worst = fmax(worst, check_shape(&shapes[i]));
	}
	print_message("quantiles against sorted samples: off by %.4f of 0.05 %% and a step\n",
		      worst);
}

static double quantised_median(double centre)
{
	struct tlat_hist *hist = new_hist();
	double median;

	for (int i = 0; i < 20000; i++)
		tlat_hist_record(hist,
				 26 * (int64_t)floor((centre + 8 * normal()) / 26 + uniform()));
	median = tlat_hist_quantile(hist, 0.5);
	tlat_hist_free(hist);
	return median;
}

static void a_shift_below_the_step_of_the_clock_shows(void **state)
{
	(void)state;
	seed = 14;
	/* in bins of width 1, 2 and 4 */
	for (int i = 0; i < 3; i++) {
		double centre = (const double[]){ 1040, 2800, 4420 }[i];
		double shift = quantised_median(centre + 10) - quantised_median(centre);

		assert_true(shift > 8 && shift < 12);
		assert_true(fabs(quantised_median(centre) - centre) < 3);
	}
}

static void a_lone_peak_is_not_smeared_towards_its_outliers(void **state)
{
	struct tlat_hist *hist = new_hist();

	(void)state;
	for (int i = 0; i < 980; i++)
		tlat_hist_record(hist, 1000);
	for (int i = 0; i < 20; i++)
		tlat_hist_record(hist, 2000 + 500 * i);
	assert_float_equal(tlat_hist_quantile(hist, 0.5), 1000, 0);
	assert_float_equal(tlat_hist_quantile(hist, 0.9), 1000, 0);
	assert_float_equal(tlat_hist_quantile(hist, 0.979), 1000, 0);
	assert_true(tlat_hist_quantile(hist, 0.985) >= 2000);
	/* nor when they happen to be equally far away on both sides */
	tlat_hist_reset(hist);
	for (int i = 0; i < 10000; i++)
		tlat_hist_record(hist, i < 100 ? 500 : i < 200 ? 1500 : 1000);
	assert_float_equal(tlat_hist_quantile(hist, 0.9), 1000, 0);
	tlat_hist_free(hist);
}

static void the_median_of_an_even_number_lies_in_the_middle(void **state)
{
	struct tlat_hist *hist = new_hist();

	(void)state;
	tlat_hist_record(hist, 100);
	tlat_hist_record(hist, 200);
	assert_float_equal(tlat_hist_quantile(hist, 0.5), 150, 0);
	tlat_hist_record(hist, 1000);
	assert_float_equal(tlat_hist_quantile(hist, 0.5), 200, 0);
	tlat_hist_record(hist, 2000);
	assert_float_equal(tlat_hist_quantile(hist, 0.5), 600, 0);
	assert_int_equal(tlat_hist_quantile_bound(hist, 0.5), 200);
	tlat_hist_free(hist);
}

static void a_bound_has_the_rank_that_is_meant(void **state)
{
	struct tlat_hist *hist = new_hist();

	(void)state;
	for (int i = 1; i <= 100; i++)
		tlat_hist_record(hist, i);
	for (int i = 1; i <= 100; i++)
		assert_int_equal(tlat_hist_quantile_bound(hist, i / 100.0), i);
	assert_int_equal(tlat_hist_quantile_bound(hist, 0.0701), 8);
	tlat_hist_free(hist);
}

static void record_random(struct tlat_hist *hist)
{
	int n = 1 + (int)below(12), wide = 1 + (int)below(below(100) ? 10 : 40);
	int64_t scale = INT64_C(1) << wide, lattice = below(3) ? 1 : 1 + below(40);

	for (int i = 0; i < n; i++) {
		int64_t value = lattice * (below(scale) - (below(4) ? 0 : scale / 4));

		for (int64_t times = 1 + below(below(3) ? 2 : 100); times; times--)
			tlat_hist_record(hist, value);
	}
}

static void quantiles_stay_between_the_extremes_and_never_fall(void **state)
{
	struct tlat_hist *hist = new_hist();

	(void)state;
	seed = 15;
	for (int round = 0; round < 100000; round++) {
		double last, p = 0;

		record_random(hist);
		last = (double)tlat_hist_min(hist);
		for (int i = 0; i < 4; i++, p += uniform() * (1 - p)) {
			double value = tlat_hist_quantile(hist, p);

			assert_true(value >= last && value <= (double)tlat_hist_max(hist));
			assert_true(tlat_hist_quantile_bound(hist, p) <= tlat_hist_max(hist));
			last = value;
		}
		/* a reset of every slot would take most of the time */
		if (tlat_hist_slot(tlat_hist_max(hist)) - tlat_hist_slot(tlat_hist_min(hist)) >
			    2500 ||
		    round % 16 == 0)
			tlat_hist_reset(hist);
	}
	tlat_hist_free(hist);
}

static void shares_outside_0_to_1_give_the_extremes(void **state)
{
	struct tlat_hist *hist = new_hist();

	(void)state;
	tlat_hist_record(hist, 5001);
	tlat_hist_record(hist, 9999);
	assert_float_equal(tlat_hist_quantile(hist, -1), 5001, 0);
	assert_float_equal(tlat_hist_quantile(hist, NAN), 5001, 0);
	assert_float_equal(tlat_hist_quantile(hist, 2), 9999, 0);
	assert_int_equal(tlat_hist_quantile_bound(hist, 2), 9999);
	assert_in_range(tlat_hist_quantile_bound(hist, NAN), 5001, 5004);
	tlat_hist_free(hist);
}

/* Moments, shares */

static void mean_and_sd_agree_with_the_samples(void **state)
{
	(void)state;
	seed = 16;
	for (int s = 0; s < 4; s++) {
		struct tlat_hist *hist = new_hist();
		double sum = 0, squares = 0, mean, sd;

		for (int i = 0; i < SHAPE_N; i++) {
			int64_t value = shapes[s].value(i);

			tlat_hist_record(hist, value);
			sum += (double)value;
			squares += (double)value * (double)value;
		}
		mean = sum / SHAPE_N;
		sd = sqrt(squares / SHAPE_N - mean * mean);
		assert_float_equal(tlat_hist_mean(hist), mean, 0.0005 * mean);
		assert_float_equal(tlat_hist_sd(hist), sd, 0.001 * sd);
		tlat_hist_free(hist);
	}
}

static void counts_above_are_never_too_few_and_off_by_one_bin_at_most(void **state)
{
	static int64_t values[2000];
	struct tlat_hist *hist = new_hist();

	(void)state;
	seed = 17;
	for (int i = 0; i < 2000; i++)
		tlat_hist_record(hist, values[i] = (int64_t)(random_bits() >> (24 + below(38))) -
						   below(2000));
	for (int round = 0; round < 3000; round++) {
		int64_t value = values[below(2000)] + below(5) - 2;
		uint64_t above = 0, at_least = 0, got = tlat_hist_count_above(hist, value);

		for (int i = 0; i < 2000; i++) {
			above += values[i] > value;
			at_least += values[i] > value ||
				    tlat_hist_slot(values[i]) == tlat_hist_slot(value);
		}
		assert_true(got >= above && got <= at_least);
		if (value >= 0 && value < 2048)
			assert_int_equal(got, above);
	}
	assert_int_equal(tlat_hist_count_above(hist, tlat_hist_max(hist)), 0);
	assert_int_equal(tlat_hist_count_above(hist, INT64_MAX), 0);
	assert_int_equal(tlat_hist_count_above(hist, INT64_MIN), 2000);
	tlat_hist_free(hist);
}

/* One writer, readers at any time */

struct writer {
	struct tlat_hist *hist;
	int n;
};

static void *write_values(void *arg)
{
	struct writer *w = arg;
	uint64_t x = 99;

	for (int i = 0; i < w->n; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		tlat_hist_record(w->hist, (int64_t)(x >> 50) - 100);
	}
	return NULL;
}

static void a_reader_sees_counts_grow_while_values_are_recorded(void **state)
{
	struct writer w = { .hist = new_hist(), .n = 400000 };
	struct tlat_hist *copy = new_hist();
	uint64_t last = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_values, &w), 0);
	for (int i = 0; i < 50; i++) {
		uint64_t sum = 0;

		tlat_hist_reset(copy);
		assert_int_equal(tlat_hist_merge(copy, w.hist), 0);
		for (int32_t s = TLAT_HIST_SLOT_FIRST; s <= TLAT_HIST_SLOT_OVERFLOW; s++)
			sum += tlat_hist_slot_count(copy, s);
		assert_true(sum == tlat_hist_count(copy) && sum >= last);
		last = sum;
		assert_true(tlat_hist_quantile(w.hist, 0.5) <= 1 << 14);
	}
	pthread_join(thread, NULL);
	assert_int_equal(tlat_hist_count(w.hist), w.n);
	tlat_hist_free(w.hist);
	tlat_hist_free(copy);
}

/* Each value a new extreme, up and down in turn. */
static void *widen_all_the_time(void *arg)
{
	struct writer *w = arg;

	for (int i = 0; i < w->n; i++)
		tlat_hist_record(w->hist, i % 2 ? i * 3000LL : -i);
	return NULL;
}

/* A copy says it in a report, whose reader holds the extremes against the bins. */
static void a_copy_has_its_extremes_in_its_bins_while_values_are_recorded(void **state)
{
	struct writer w = { .hist = new_hist(), .n = 200000 };
	struct tlat_hist *copy = new_hist();
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, widen_all_the_time, &w), 0);
	while (tlat_hist_count(copy) < (uint64_t)w.n) {
		struct tlat_hist_span span;

		tlat_hist_reset(copy);
		assert_int_equal(tlat_hist_merge(copy, w.hist), 0);
		span = tlat_hist_span(copy);
		if (!tlat_hist_count(copy))
			continue;
		assert_true(tlat_hist_slot_count(copy, span.first) > 0);
		assert_true(tlat_hist_slot_count(copy, span.last) > 0);
		assert_int_equal(tlat_hist_count_slots(copy, span.first, span.last),
				 tlat_hist_count(copy));
	}
	pthread_join(thread, NULL);
	tlat_hist_free(w.hist);
	tlat_hist_free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_follow_one_another_without_a_gap),
		cmocka_unit_test(a_walk_meets_every_value_in_a_bin_that_holds_it),
		cmocka_unit_test(slots_are_in_the_order_of_values),
		cmocka_unit_test(the_mass_of_a_slot_lies_evenly_over_its_width),
		cmocka_unit_test(an_empty_histogram_answers_zero),
		cmocka_unit_test(a_histogram_can_be_used_at_two_addresses),
		cmocka_unit_test(init_touches_every_page),
		cmocka_unit_test(reset_forgets_all_values),
		cmocka_unit_test(values_out_of_range_are_counted_and_their_extremes_exact),
		cmocka_unit_test(values_up_to_the_largest_have_exact_extremes),
		cmocka_unit_test(merging_is_exact_in_any_order),
		cmocka_unit_test(merging_an_empty_histogram_changes_nothing),
		cmocka_unit_test(units_that_differ_by_more_than_100_ppm_do_not_merge),
		cmocka_unit_test(a_histogram_rebuilt_from_its_bins_is_the_same),
		cmocka_unit_test(quantiles_agree_with_sorted_samples_on_every_shape),
		cmocka_unit_test(a_shift_below_the_step_of_the_clock_shows),
		cmocka_unit_test(a_lone_peak_is_not_smeared_towards_its_outliers),
		cmocka_unit_test(the_median_of_an_even_number_lies_in_the_middle),
		cmocka_unit_test(a_bound_has_the_rank_that_is_meant),
		cmocka_unit_test(quantiles_stay_between_the_extremes_and_never_fall),
		cmocka_unit_test(shares_outside_0_to_1_give_the_extremes),
		cmocka_unit_test(mean_and_sd_agree_with_the_samples),
		cmocka_unit_test(counts_above_are_never_too_few_and_off_by_one_bin_at_most),
		cmocka_unit_test(a_reader_sees_counts_grow_while_values_are_recorded),
		cmocka_unit_test(a_copy_has_its_extremes_in_its_bins_while_values_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
