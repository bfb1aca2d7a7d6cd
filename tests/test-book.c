// SPDX-License-Identifier: MIT
/*
 * test-book.c - what a recording loop does between two cycles, against slower ways to the same
 * answer: the largest values, the CPU number, migrations, the next point of a grid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "affinity.h"
#include "run_book.h"
#include "run_grid.h"

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static int descending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/* Early values too, and many that are equal to the least one kept. */
static void the_largest_of_all_values_are_kept(void **state)
{
	enum { N = 1000 };
	uint64_t seed = 4;

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct tlat_book book = { .ns_per_unit = 1, .planned_cpu = 0 };
		size_t n = draw(&seed) % N, kept;
		int64_t all[N], found[TLAT_OUTLIERS_MAX];

		assert_int_equal(tlat_hist_new(&book.latency, 1000000000), 0);
		book.outliers = calloc(1, sizeof(*book.outliers));
		for (size_t i = 0; i < n; i++) {
			all[i] = (int64_t)(draw(&seed) % 300) - 100;
			tlat_book_record(&book, all[i], i, i, 0);
		}
		kept = n < TLAT_OUTLIERS_MAX ? n : TLAT_OUTLIERS_MAX;
		assert_int_equal(book.outliers->n, kept);
		for (size_t i = 0; i < kept; i++)
			found[i] = book.outliers->v[i].value;
		qsort(all, n, sizeof(*all), descending);
		qsort(found, kept, sizeof(*found), descending);
		assert_memory_equal(all, found, kept * sizeof(*all));
		free(book.outliers);
		tlat_hist_free(book.latency);
	}
}

static void the_cpu_number_is_that_of_the_call(void **state)
{
	struct tlat_book quick = { .cpu = tlat_cpu_word() }, slow = { 0 };
	struct tlat_cpuset before, one;

	(void)state;
	assert_int_equal(tlat_affinity_get(0, &before), 0);
	for (int32_t cpu = -1; (cpu = tlat_cpuset_next(&before, cpu)) >= 0;) {
		one = (struct tlat_cpuset){ 0 };
		tlat_cpuset_add(&one, cpu);
		assert_int_equal(tlat_affinity_set(0, &one), 0);
		assert_int_equal(tlat_book_cpu(&quick), cpu);
		assert_int_equal(tlat_book_cpu(&slow), cpu);
	}
	tlat_affinity_set(0, &before);
}

/* A thread that is pinned is disturbed as long as it is elsewhere, one that roams by each move. */
static void a_thread_that_roams_counts_its_moves(void **state)
{
	static const int32_t cpus[] = { 1, 1, 2, 2, 2, 0, 1, -1, 1 };

	(void)state;
	for (int roams = 0; roams < 2; roams++) {
		struct tlat_book book = { .ns_per_unit = 1, .planned_cpu = 1, .roams = roams };

		assert_int_equal(tlat_hist_new(&book.latency, 1000000000), 0);
		for (size_t i = 0; i < TLAT_ARRAY_SIZE(cpus); i++)
			tlat_book_record(&book, 5, i, i, cpus[i]);
		assert_int_equal(book.counts.disturbed[TLAT_DISTURBED_MIGRATED], roams ? 3 : 4);
		tlat_hist_free(book.latency);
	}
}

/* With as many outliers as are kept, a value that is none of them is still kept raw as long as
 * there is room, and still counts as moved. */
static void an_ordinary_value_is_looked_at_where_somebody_wants_it(void **state)
{
	enum { N = 3 * TLAT_OUTLIERS_MAX, RAW = 2 * TLAT_OUTLIERS_MAX };
	int64_t raw[RAW];
	struct tlat_book book = { .ns_per_unit = 1, .raw = raw, .max_raw = RAW };

	(void)state;
	assert_int_equal(tlat_hist_new(&book.latency, 1000000000), 0);
	book.outliers = calloc(1, sizeof(*book.outliers));
	for (size_t i = 0; i < N; i++)
		tlat_book_record(&book, (int64_t)(N - i), i, i, i == N - 1 ? 1 : 0);
	assert_int_equal(book.n_raw, RAW);
	for (size_t i = 0; i < RAW; i++)
		assert_int_equal(raw[i], N - i);
	assert_true(book.plain);
	assert_int_equal(tlat_hist_count(book.latency), N);
	assert_int_equal(book.counts.disturbed[TLAT_DISTURBED_MIGRATED], 1);
	assert_int_equal(book.least_kept, N - TLAT_OUTLIERS_MAX + 1);
	free(book.outliers);
	tlat_hist_free(book.latency);
}

/* The first point after the stamp, but none that has been served. */
static void the_next_slot_is_the_first_that_is_ahead(void **state)
{
	uint64_t seed = 1130;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct tlat_grid grid = { .origin = 1000 + draw(&seed) % 1000,
					  .interval = 1 + draw(&seed) % 50,
					  .slot = draw(&seed) % 20 };
		uint64_t at = draw(&seed) % 4000, next = grid.slot + 1;

		while (tlat_grid_point(&grid, next) <= at)
			next++;
		assert_int_equal(tlat_grid_after(&grid, at), next);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_of_all_values_are_kept),
		cmocka_unit_test(the_cpu_number_is_that_of_the_call),
		cmocka_unit_test(a_thread_that_roams_counts_its_moves),
		cmocka_unit_test(an_ordinary_value_is_looked_at_where_somebody_wants_it),
		cmocka_unit_test(the_next_slot_is_the_first_that_is_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
