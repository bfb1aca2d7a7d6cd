// SPDX-License-Identifier: MIT
/* test-blocks.c - time blocks add up to the histogram, whatever happens meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "hist.h"

#define LENGTH_NS 31250000
#define N_SLOTS	  (TLAT_HIST_SLOT_OVERFLOW - TLAT_HIST_SLOT_FIRST + 1)

static uint64_t seed;

/* xorshift64*: the same numbers on every machine. */
static uint64_t random_bits(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static int64_t below(int64_t n)
{
	return (int64_t)(random_bits() % (uint64_t)n);
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

	assert_int_equal(tlat_blocks_new(&blocks, LENGTH_NS), 0);
	return blocks;
}

static void add_block(const struct tlat_blocks *blocks, size_t i, uint64_t *sums)
{
	struct tlat_block_bin bin;
	int64_t last = TLAT_HIST_SLOT_FIRST - 1;
	uint64_t samples = 0;
	size_t cursor = 0;

	while (tlat_blocks_next(blocks, i, &cursor, &bin)) {
		assert_in_range(bin.index - TLAT_HIST_SLOT_FIRST, 0, N_SLOTS - 1);
		assert_true(bin.index > last);
		assert_true(bin.count > 0);
		sums[bin.index - TLAT_HIST_SLOT_FIRST] += bin.count;
		samples += bin.count;
		last = bin.index;
	}
	assert_int_equal(tlat_blocks_next(blocks, i, &cursor, &bin), 0);
	assert_true(samples == tlat_blocks_samples(blocks, i));
}

static void assert_adds_up(const struct tlat_blocks *blocks, const struct tlat_hist *hist)
{
	uint64_t *sums = calloc(N_SLOTS, sizeof(*sums));

	for (size_t i = 0; i < tlat_blocks_count(blocks); i++)
		add_block(blocks, i, sums);
	for (int32_t slot = TLAT_HIST_SLOT_FIRST; slot <= TLAT_HIST_SLOT_OVERFLOW; slot++)
		assert_true(sums[slot - TLAT_HIST_SLOT_FIRST] == tlat_hist_slot_count(hist, slot));
	free(sums);
}

static void a_block_is_one_cut_until_there_are_64(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();

	(void)state;
	assert_int_equal(tlat_blocks_count(blocks), 0);
	for (int i = 0; i < 64; i++) {
		for (int k = 0; k <= i; k++)
			tlat_hist_record(hist, 1000 + k);
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
		assert_int_equal(tlat_blocks_count(blocks), i + 1);
		assert_int_equal(tlat_blocks_samples(blocks, (size_t)i), i + 1);
		assert_int_equal(tlat_blocks_length_ns(blocks), LENGTH_NS);
	}
	assert_adds_up(blocks, hist);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

static void the_65th_cut_merges_neighbours_and_doubles_the_length(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();

	(void)state;
	for (int cut = 1; cut <= 1000; cut++) {
		int64_t per_block, complete;

		tlat_hist_record(hist, cut);
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
		per_block = tlat_blocks_length_ns(blocks) / LENGTH_NS;
		complete = cut / per_block;
		assert_int_equal(tlat_blocks_count(blocks), (cut + per_block - 1) / per_block);
		assert_in_range(tlat_blocks_count(blocks), cut > 32 ? 33 : 1, 64);
		for (int64_t i = 0; i < complete; i++)
			assert_int_equal(tlat_blocks_samples(blocks, (size_t)i), per_block);
	}
	assert_int_equal(tlat_blocks_length_ns(blocks), 16 * LENGTH_NS);
	/* order is kept: block i holds the cuts from 16 i + 1 on */
	assert_float_equal(tlat_blocks_below(blocks, 3, 48.5), 0, 0);
	assert_float_equal(tlat_blocks_below(blocks, 3, 56.5), 8, 0);
	assert_float_equal(tlat_blocks_below(blocks, 3, 64.5), 16, 0);
	assert_adds_up(blocks, hist);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

static void assert_same(const struct tlat_blocks *a, const struct tlat_blocks *b)
{
	struct tlat_block_bin x, y;
	size_t n = tlat_blocks_count(a);

	assert_int_equal(tlat_blocks_count(b), n);
	assert_int_equal(tlat_blocks_length_ns(a), tlat_blocks_length_ns(b));
	for (size_t i = 0; i < n; i++) {
		size_t at = 0, there = 0;

		while (tlat_blocks_next(a, i, &at, &x)) {
			assert_int_equal(tlat_blocks_next(b, i, &there, &y), 1);
			assert_true(x.index == y.index && x.count == y.count);
		}
		assert_int_equal(tlat_blocks_next(b, i, &there, &y), 0);
	}
}

/* Also when somebody wants all of it in the middle of one. */
static void cuts_that_complete_no_block_can_be_left_out(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *every = new_blocks(), *some = new_blocks();

	(void)state;
	seed = 7;
	for (int cut = 1; cut <= 1000; cut++) {
		for (int64_t k = below(5); k > 0; k--)
			tlat_hist_record(hist, 1000 + below(1000));
		assert_int_equal(tlat_blocks_cut(every, hist), 0);
		if (below(50)) {
			assert_int_equal(tlat_blocks_pass(some, hist), 0);
			continue;
		}
		assert_int_equal(tlat_blocks_cut(some, hist), 0);
		assert_same(every, some);
	}
	assert_int_equal(tlat_blocks_cut(every, hist), 0);
	assert_int_equal(tlat_blocks_cut(some, hist), 0);
	assert_same(every, some);
	assert_adds_up(some, hist);
	tlat_blocks_free(every);
	tlat_blocks_free(some);
	tlat_hist_free(hist);
}

static void a_cut_is_left_out_unless_it_completes_a_block(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();
	int made = 0;

	(void)state;
	for (int pass = 1; pass <= 1024; pass++) {
		uint64_t samples = 0;

		tlat_hist_record(hist, pass);
		assert_int_equal(tlat_blocks_pass(blocks, hist), 0);
		for (size_t i = 0; i < tlat_blocks_count(blocks); i++)
			samples += tlat_blocks_samples(blocks, i);
		made += samples == (uint64_t)pass;
	}
	/* 64 of one, then 32 of each length up to 16 */
	assert_int_equal(made, 64 + 4 * 32);
	assert_int_equal(tlat_blocks_count(blocks), 64);
	assert_adds_up(blocks, hist);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

static void a_cut_without_new_samples_is_an_empty_block(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();
	struct tlat_block_bin bin;
	size_t cursor = 0;

	(void)state;
	for (int i = 0; i < 70; i++)
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	assert_int_equal(tlat_blocks_count(blocks), 35);
	assert_int_equal(tlat_blocks_next(blocks, 3, &cursor, &bin), 0);
	assert_int_equal(tlat_blocks_samples(blocks, 3), 0);
	assert_float_equal(tlat_blocks_below(blocks, 3, 1e9), 0, 0);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
	tlat_blocks_free(NULL);
}

static int64_t any_value(void)
{
	switch (below(8)) {
	case 0:
		return -below(1 << 20);
	case 1:
		return (int64_t)(random_bits() >> below(62));
	default:
		return 3000 + below(500);
	}
}

static void blocks_add_up_for_any_order_of_records_and_cuts(void **state)
{
	(void)state;
	seed = 21;
	for (int round = 0; round < 30; round++) {
		struct tlat_hist *hist = new_hist();
		struct tlat_blocks *blocks = new_blocks();

		for (int64_t cuts = below(300); cuts; cuts--) {
			for (int64_t n = below(5) ? below(40) : 0; n; n--)
				tlat_hist_record(hist, any_value());
			assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
		}
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
		assert_adds_up(blocks, hist);
		tlat_blocks_free(blocks);
		tlat_hist_free(hist);
	}
}

static void counts_of_any_size_survive_merging(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();

	(void)state;
	tlat_hist_set_extremes(hist, 0, (INT64_C(1) << 37) - 1);
	for (int32_t i = 0; i < 100; i++) {
		tlat_hist_add_slot(hist, i % 7, (UINT64_C(1) << 62) >> (i % 63));
		tlat_hist_add_slot(hist, TLAT_HIST_BINS - 1 - i % 3, UINT64_C(1) << 50);
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	}
	assert_adds_up(blocks, hist);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

static size_t bytes_in_use(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void memory_stays_below_1_mib_for_the_widest_distribution(void **state)
{
	struct tlat_hist *hist = new_hist();
	size_t before_bytes = bytes_in_use(), per_block;
	struct tlat_blocks *blocks = new_blocks();

	(void)state;
	tlat_hist_set_extremes(hist, 0, (INT64_C(1) << 37) - 1);
	for (int cut = 0; cut < 130; cut++) {
		for (int32_t i = 0; i < TLAT_HIST_BINS; i++)
			tlat_hist_add_slot(hist, i, 1 + (i % 3 == cut % 3) * 200u);
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
		assert_true(bytes_in_use() < before_bytes + (1 << 20));
	}
	assert_true(tlat_blocks_count(blocks) >= 2);
	per_block = (size_t)(tlat_blocks_length_ns(blocks) / LENGTH_NS);
	assert_int_equal(tlat_blocks_count(blocks), (130 + per_block - 1) / per_block);
	assert_adds_up(blocks, hist);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

struct writer {
	struct tlat_hist *hist;
	int n;
};

static void *write_values(void *arg)
{
	struct writer *w = arg;
	uint64_t x = 7;

	for (int i = 0; i < w->n; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		tlat_hist_record(w->hist, (int64_t)(x >> 52) - 50);
	}
	return NULL;
}

static void blocks_cut_while_another_thread_records_add_up(void **state)
{
	struct writer w = { .hist = new_hist(), .n = 2000000 };
	struct tlat_blocks *blocks = new_blocks();
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_values, &w), 0);
	for (int i = 0; i < 150; i++)
		assert_int_equal(tlat_blocks_cut(blocks, w.hist), 0);
	pthread_join(thread, NULL);
	assert_int_equal(tlat_blocks_cut(blocks, w.hist), 0);
	assert_int_equal(tlat_hist_count(w.hist), w.n);
	assert_adds_up(blocks, w.hist);
	tlat_blocks_free(blocks);
	tlat_hist_free(w.hist);
}

static void below_counts_half_of_the_samples_at_the_value(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks();

	(void)state;
	for (int i = 0; i < 10; i++)
		tlat_hist_record(hist, i < 4 ? 10 : 20);
	assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	assert_float_equal(tlat_blocks_below(blocks, 0, 10), 2, 0);
	assert_float_equal(tlat_blocks_below(blocks, 0, 15), 4, 0);
	assert_float_equal(tlat_blocks_below(blocks, 0, 20), 7, 0);
	tlat_blocks_free(blocks);
	tlat_hist_free(hist);
}

static void blocks_rebuilt_from_their_bins_are_the_same(void **state)
{
	struct tlat_hist *hist = new_hist();
	struct tlat_blocks *blocks = new_blocks(), *again = new_blocks();

	(void)state;
	seed = 22;
	for (int cut = 0; cut < 64; cut++) {
		for (int n = 0; n < 50; n++)
			tlat_hist_record(hist, any_value());
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	}
	for (size_t i = 0; i < 64; i++) {
		struct tlat_block_bin bins[51], bin;
		size_t n = 0, cursor = 0;

		while (tlat_blocks_next(blocks, i, &cursor, &bin))
			bins[n++] = bin;
		assert_int_equal(tlat_blocks_add(again, bins, n), 0);
		assert_true(tlat_blocks_samples(again, i) == tlat_blocks_samples(blocks, i));
	}
	assert_int_equal(tlat_blocks_count(again), 64);
	assert_adds_up(again, hist);
	assert_int_equal(tlat_blocks_add(again, NULL, 0), -ENOSPC);
	tlat_blocks_free(blocks);
	tlat_blocks_free(again);
	tlat_hist_free(hist);
}

static void bins_that_make_no_block_are_refused(void **state)
{
	static const struct tlat_block_bin wrong[][2] = {
		{ { .index = 5, .count = 1 }, { .index = 5, .count = 1 } },
		{ { .index = 5, .count = 1 }, { .index = 4, .count = 1 } },
		{ { .index = 5, .count = 1 },
		  { .index = TLAT_HIST_SLOT_OVERFLOW + 1, .count = 1 } },
		{ { .index = TLAT_HIST_SLOT_FIRST - 1, .count = 1 }, { .index = 5, .count = 1 } },
		{ { .index = INT32_MIN, .count = 1 }, { .index = INT32_MAX, .count = 1 } },
	};
	struct tlat_blocks *blocks = new_blocks();

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(wrong); i++)
		assert_int_equal(tlat_blocks_add(blocks, wrong[i], 2), -EINVAL);
	assert_int_equal(tlat_blocks_count(blocks), 0);
	tlat_blocks_free(blocks);
}

/* As a run cuts the histograms of its threads: at the same times, n times. */
static void cut_both(struct tlat_hist *hists[2], struct tlat_blocks *blocks[2], int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) {
			tlat_hist_record(hists[k], 1000 + below(3000));
			assert_int_equal(tlat_blocks_cut(blocks[k], hists[k]), 0);
		}
}

static void blocks_of_the_same_time_become_one(void **state)
{
	struct tlat_hist *hists[2] = { new_hist(), new_hist() };
	struct tlat_blocks *blocks[2] = { new_blocks(), new_blocks() };

	(void)state;
	seed = 5;
	cut_both(hists, blocks, 48);
	assert_int_equal(tlat_blocks_join(blocks[0], blocks[1]), 0);
	assert_int_equal(tlat_hist_merge(hists[0], hists[1]), 0);
	assert_adds_up(blocks[0], hists[0]);
	assert_int_equal(tlat_blocks_count(blocks[0]), 48);
	assert_int_equal(tlat_blocks_count(blocks[1]), 48);
	for (size_t i = 0; i < 48; i++)
		assert_int_equal(tlat_blocks_samples(blocks[0], i), 2);
	for (int k = 0; k < 2; k++) {
		tlat_blocks_free(blocks[k]);
		tlat_hist_free(hists[k]);
	}
}

/* Of two threads one has blocks of that many cuts; both took 60. */
static void join_with_longer_blocks(int64_t cuts, int first)
{
	struct tlat_hist *hist = new_hist(), *own = new_hist();
	struct tlat_blocks *fine = new_blocks(), *coarse, *both[2];
	struct tlat_block_bin bin = { .index = 1000, .count = (uint64_t)cuts };

	assert_int_equal(tlat_blocks_new(&coarse, cuts * LENGTH_NS), 0);
	for (int i = 0; i < 60; i++) {
		tlat_hist_record(hist, 2000);
		assert_int_equal(tlat_blocks_cut(fine, hist), 0);
		if (i % cuts == 0)
			assert_int_equal(tlat_blocks_add(coarse, &bin, 1), 0);
	}
	tlat_hist_add_slot(own, 1000, 60);
	tlat_hist_set_extremes(own, 1000, 1000);
	both[first] = fine;
	both[!first] = coarse;
	assert_int_equal(tlat_blocks_join(both[0], both[1]), 0);
	assert_int_equal(tlat_hist_merge(hist, own), 0);
	assert_adds_up(both[0], hist);
	assert_int_equal(tlat_blocks_count(both[0]), 60 / cuts);
	for (int64_t i = 0; i < 60 / cuts; i++) {
		assert_int_equal(tlat_blocks_samples(both[0], (size_t)i), 2 * cuts);
		assert_int_equal(tlat_blocks_begin_ns(both[0], (size_t)i), i * cuts * LENGTH_NS);
	}
	tlat_blocks_free(fine);
	tlat_blocks_free(coarse);
	tlat_hist_free(hist);
	tlat_hist_free(own);
}

static void shorter_blocks_become_as_long_as_the_others(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		join_with_longer_blocks(4, first);
		join_with_longer_blocks(3, first);
	}
}

/* A run of n blocks with one value each. */
static struct tlat_blocks *run_of(size_t n, struct tlat_hist *whole)
{
	struct tlat_blocks *blocks = new_blocks();
	struct tlat_hist *hist = new_hist();

	for (size_t i = 0; i < n; i++) {
		tlat_hist_record(hist, 1000 + below(3000));
		assert_int_equal(tlat_blocks_cut(blocks, hist), 0);
	}
	assert_int_equal(tlat_hist_merge(whole, hist), 0);
	tlat_hist_free(hist);
	return blocks;
}

static size_t blocks_of_run(const struct tlat_blocks *blocks, int32_t run)
{
	size_t n = 0;

	for (size_t i = 0; i < tlat_blocks_count(blocks); i++)
		n += tlat_blocks_run(blocks, i) == run;
	return n;
}

/* Append a run of n blocks as number run. */
static void append(struct tlat_blocks *into, size_t n, int32_t run, struct tlat_hist *whole)
{
	struct tlat_blocks *more = run_of(n, whole);
	int64_t end_ns = tlat_blocks_begin_ns(into, tlat_blocks_count(into));

	assert_int_equal(tlat_blocks_append(into, more, run), 0);
	assert_adds_up(into, whole);
	assert_in_range(tlat_blocks_count(into), 1, TLAT_BLOCKS_MAX);
	assert_int_equal(tlat_blocks_begin_ns(into, tlat_blocks_count(into)),
			 end_ns + (int64_t)n * LENGTH_NS);
	tlat_blocks_free(more);
}

static void blocks_of_runs_stay_apart(void **state)
{
	struct tlat_hist *whole = new_hist();
	struct tlat_blocks *blocks = run_of(10, whole);

	(void)state;
	append(blocks, 20, 1, whole);
	append(blocks, 1, 2, whole);
	assert_int_equal(tlat_blocks_count(blocks), 31);
	for (size_t i = 0; i < 31; i++)
		assert_int_equal(tlat_blocks_samples(blocks, i), 1);
	append(blocks, 64, 3, whole);
	/* 31 pairs, all of the last run, which was measured longest */
	assert_int_equal(tlat_blocks_count(blocks), 64);
	assert_int_equal(blocks_of_run(blocks, 2), 1);
	assert_true(blocks_of_run(blocks, 3) >= 32);
	for (size_t i = 0; i < 64; i++)
		assert_in_range(tlat_blocks_samples(blocks, i), 1, 2);
	tlat_blocks_free(blocks);
	tlat_hist_free(whole);
}

static void runs_become_one_block_when_there_are_more_than_64(void **state)
{
	struct tlat_hist *whole = new_hist();
	struct tlat_blocks *blocks = run_of(3, whole);

	(void)state;
	for (int32_t run = 1; run < 100; run++) {
		append(blocks, 3, run, whole);
		for (int32_t k = 0; run < 64 && k <= run; k++)
			assert_true(blocks_of_run(blocks, k) >= 1);
	}
	assert_int_equal(tlat_blocks_count(blocks), 64);
	for (size_t i = 0; i < 64; i++) {
		assert_in_range(tlat_blocks_samples(blocks, i), 3, 6);
		assert_true(!i || tlat_blocks_run(blocks, i) > tlat_blocks_run(blocks, i - 1));
	}
	tlat_blocks_free(blocks);
	tlat_hist_free(whole);
}

/* A thread that ended early has fewer blocks in that run, not others in the next. */
static void threads_of_runs_are_joined_run_by_run(void **state)
{
	struct tlat_hist *whole = new_hist();
	struct tlat_blocks *a = run_of(10, whole), *b = run_of(7, whole);
	struct tlat_blocks *more_a = run_of(10, whole), *more_b = run_of(10, whole);

	(void)state;
	assert_int_equal(tlat_blocks_append(a, more_a, 1), 0);
	assert_int_equal(tlat_blocks_append(b, more_b, 1), 0);
	assert_int_equal(tlat_blocks_join(a, b), 0);
	assert_adds_up(a, whole);
	assert_int_equal(tlat_blocks_count(a), 20);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(tlat_blocks_run(a, i), i >= 10);
		assert_int_equal(tlat_blocks_samples(a, i), i < 7 || i >= 10 ? 2 : 1);
	}
	tlat_blocks_free(a);
	tlat_blocks_free(b);
	tlat_blocks_free(more_a);
	tlat_blocks_free(more_b);
	tlat_hist_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_one_cut_until_there_are_64),
		cmocka_unit_test(the_65th_cut_merges_neighbours_and_doubles_the_length),
		cmocka_unit_test(cuts_that_complete_no_block_can_be_left_out),
		cmocka_unit_test(a_cut_is_left_out_unless_it_completes_a_block),
		cmocka_unit_test(a_cut_without_new_samples_is_an_empty_block),
		cmocka_unit_test(blocks_add_up_for_any_order_of_records_and_cuts),
		cmocka_unit_test(counts_of_any_size_survive_merging),
		cmocka_unit_test(memory_stays_below_1_mib_for_the_widest_distribution),
		cmocka_unit_test(blocks_cut_while_another_thread_records_add_up),
		cmocka_unit_test(below_counts_half_of_the_samples_at_the_value),
		cmocka_unit_test(blocks_rebuilt_from_their_bins_are_the_same),
		cmocka_unit_test(bins_that_make_no_block_are_refused),
		cmocka_unit_test(blocks_of_the_same_time_become_one),
		cmocka_unit_test(shorter_blocks_become_as_long_as_the_others),
		cmocka_unit_test(blocks_of_runs_stay_apart),
		cmocka_unit_test(runs_become_one_block_when_there_are_more_than_64),
		cmocka_unit_test(threads_of_runs_are_joined_run_by_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
