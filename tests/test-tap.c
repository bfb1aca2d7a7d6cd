// SPDX-License-Identifier: MIT
/* test-tap.c - values that leave a loop one by one: the ring against a list, alone and with two
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "run_tap.h"

#define SLOTS 16

static struct tlat_tap tap_of(struct tlat_drop *ring, double ns_per_unit)
{
	return (struct tlat_tap){ .ring = ring, .size = SLOTS, .ns_per_unit = ns_per_unit };
}

static void slots_are_the_next_power_of_two(void **state)
{
	(void)state;
	assert_int_equal(tlat_tap_slots(0), 0);
	assert_int_equal(tlat_tap_slots(1), 1);
	assert_int_equal(tlat_tap_slots(4), 4);
	assert_int_equal(tlat_tap_slots(5), 8);
	assert_int_equal(tlat_tap_slots(16777216), 16777216);
}

/* xorshift64 (Marsaglia 2003). */
static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Random turns of writer and reader; the oracle is that what was taken is what went in, in order,
 * less what came while SLOTS were waiting. */
static void what_goes_in_comes_out_in_order_and_losses_are_counted(void **state)
{
	struct tlat_drop ring[SLOTS];
	struct tlat_tap tap = tap_of(ring, 1.0);
	struct tlat_sample taken[2 * SLOTS];
	int64_t expected[SLOTS];
	size_t waiting = 0;
	uint64_t seed = 20260101, lost = 0;

	(void)state;
	for (int64_t i = 0, turn = 0; turn < 20000; turn++) {
		size_t put = next(&seed) % (SLOTS + 4), max = next(&seed) % (2 * SLOTS), n;

		for (size_t k = 0; k < put; k++, i++) {
			tlat_tap_pass(&tap, i, (uint64_t)i + 5);
			if (waiting < SLOTS)
				expected[waiting++] = i;
			else
				lost++;
		}
		n = tlat_tap_take(&tap, taken, max);
		assert_int_equal(n, waiting < max ? waiting : max);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(taken[k].value_ns, expected[k]);
			assert_int_equal(taken[k].at_ns, expected[k] + 5);
		}
		memmove(expected, expected + n, (waiting - n) * sizeof(*expected));
		waiting -= n;
		assert_int_equal(tap.lost, lost);
	}
	assert_true(lost > 0);
}

#define PASSED 200000

static void *write_all(void *arg)
{
	for (int64_t i = 0; i < PASSED; i++) {
		tlat_tap_pass(arg, i, (uint64_t)i);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static void a_writer_and_a_reader_never_tear_a_value(void **state)
{
	struct tlat_drop ring[SLOTS];
	struct tlat_tap tap = tap_of(ring, 1.0);
	struct tlat_sample taken[SLOTS];
	int64_t last = -1;
	uint64_t n = 0;
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_all, &tap), 0);
	while (n + tap.lost < PASSED) {
		size_t got = tlat_tap_take(&tap, taken, SLOTS);

		for (size_t k = 0; k < got; k++) {
			assert_true(taken[k].value_ns > last);
			assert_int_equal(taken[k].at_ns, taken[k].value_ns);
			last = taken[k].value_ns;
		}
		n += got;
		sched_yield();
	}
	pthread_join(writer, NULL);
	assert_int_equal(n + tap.lost, PASSED);
}

static void ticks_become_nanoseconds(void **state)
{
	struct tlat_drop ring[SLOTS];
	struct tlat_tap tap = tap_of(ring, 0.5);
	struct tlat_sample taken[1];

	(void)state;
	tlat_tap_pass(&tap, -7, 1000);
	assert_int_equal(tlat_tap_take(&tap, taken, 1), 1);
	assert_int_equal(taken[0].value_ns, -3);
	assert_int_equal(taken[0].at_ns, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_the_next_power_of_two),
		cmocka_unit_test(what_goes_in_comes_out_in_order_and_losses_are_counted),
		cmocka_unit_test(a_writer_and_a_reader_never_tear_a_value),
		cmocka_unit_test(ticks_become_nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
