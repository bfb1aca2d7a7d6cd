// SPDX-License-Identifier: MIT
/* test-storm-law.c - the conservation of expirations, against a timer that is played. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm_law.h"

/* splitmix64: a fixed seed gives the same cases everywhere. */
static uint64_t draw(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static void points_are_counted_one_by_one(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const struct tlat_storm_grid grid = { 100 + draw(&seed) % 50,
						      1 + draw(&seed) % 20 };
		uint64_t at = draw(&seed) % 500, n = 0;

		for (uint64_t point = grid.e0; point <= at; point += grid.t)
			n++;
		assert_int_equal(tlat_storm_points(&grid, at), n);
	}
}

/* As the kernel does it: the first expiry after the last dequeue queues a signal, and the dequeue
 * forwards the timer over all that passed since. */
static void a_timer_that_loses_nothing_obeys_the_law(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		const struct tlat_storm_grid grid = { 1000000 + draw(&seed) % 1000,
						      1 + draw(&seed) % 3000 };
		uint64_t now = grid.e0, next = grid.e0, told = 0;

		for (int dequeue = 0; dequeue < 50; dequeue++) {
			uint64_t a, b, overrun = 0;

			now = (next > now ? next : now) + draw(&seed) % 10000;
			a = now - draw(&seed) % 100;
			b = now + draw(&seed) % 100;
			next += grid.t;
			for (; next <= now; next += grid.t)
				overrun++;
			told += 1 + overrun;
			assert_true(tlat_storm_law_holds(&grid, told, a, b, 0));
			assert_true(tlat_storm_law_exact(&grid, told, a, b, next - now) ||
				    a > now || b < now);
		}
	}
}

static void one_expiration_too_many_or_too_few_is_seen(void **state)
{
	const struct tlat_storm_grid grid = { 5000, 1000 };

	(void)state;
	/* between 7000 and 7999 there have been three */
	assert_true(tlat_storm_law_holds(&grid, 3, 7000, 7999, 0));
	assert_false(tlat_storm_law_holds(&grid, 2, 7000, 7999, 0));
	assert_false(tlat_storm_law_holds(&grid, 4, 7000, 7999, 0));
	assert_true(tlat_storm_law_holds(&grid, 4, 7000, 7999, 1));
	assert_true(tlat_storm_law_holds(&grid, 2, 7000, 7999, 1));
	assert_true(tlat_storm_law_exact(&grid, 3, 7400, 7500, 600));
	assert_true(tlat_storm_law_exact(&grid, 3, 7400, 7500, 500));
	assert_false(tlat_storm_law_exact(&grid, 3, 7400, 7500, 499));
	assert_false(tlat_storm_law_exact(&grid, 2, 7400, 7500, 550));
	assert_false(tlat_storm_law_exact(&grid, 4, 7400, 7500, 550));
}

static void before_the_first_expiry_there_is_none(void **state)
{
	const struct tlat_storm_grid grid = { 5000, 7 };

	(void)state;
	assert_int_equal(tlat_storm_points(&grid, 0), 0);
	assert_int_equal(tlat_storm_points(&grid, 4999), 0);
	assert_int_equal(tlat_storm_points(&grid, 5000), 1);
	assert_true(tlat_storm_law_holds(&grid, 0, 10, 4999, 0));
	assert_true(tlat_storm_law_holds(&grid, 0, 10, 4999, 100000) ||
		    tlat_storm_points(&grid, 104999) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_counted_one_by_one),
		cmocka_unit_test(a_timer_that_loses_nothing_obeys_the_law),
		cmocka_unit_test(one_expiration_too_many_or_too_few_is_seen),
		cmocka_unit_test(before_the_first_expiry_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
