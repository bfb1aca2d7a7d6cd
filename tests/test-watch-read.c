// SPDX-License-Identifier: MIT
/* test-watch-read.c - the readers of counters take any text, and count exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watching.h"

static uint64_t xorshift(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* Words that the readers look for, broken at random. */
static void put_garbage(const struct tree *tree, const char *path, uint64_t *seed)
{
	static const char *const words[] = {
		"CPU0",
		"CPU",
		"CPU99999999999999999999",
		"cpu0 ",
		"cpu: 0",
		"cpu:",
		".nr_events :",
		"ctxt ",
		"nr_throttled ",
		":",
		"\n",
		"LOC:",
		"18446744073709551615",
		"-5",
		"36:",
		"\t",
		" ",
		"ERR:",
		"\xff\x01",
		".nr_hangs",
		"99999999999999999999999",
		"0",
		"7",
		"nr_throttled",
		"12x",
		"cpu0",
	};
	char text[4096] = "";
	size_t n = xorshift(seed) % 200;

	for (size_t i = 0; i < n; i++)
		strcat(text, words[xorshift(seed) % (sizeof(words) / sizeof(words[0]))]);
	put(tree, path, text);
}

static void garbage_neither_crashes_nor_yields_cpus_not_watched(void **state)
{
	static const char *const paths[] = {
		"proc/interrupts",
		"proc/softirqs",
		"proc/stat",
		"proc/timer_list",
		"proc/self/cgroup",
		"sys/fs/cgroup/cpu/cpu.stat",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/usage",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/time",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/name",
	};
	const struct tree *tree = *state;
	const int32_t cpus[] = { 0 };
	uint64_t seed = 0x9e3779b97f4a7c15;

	for (int round = 0; round < 400; round++) {
		struct tlat_watch_delta *delta;
		struct tlat_watch *watch;

		for (size_t i = 0; i < TLAT_ARRAY_SIZE(paths); i++)
			put_garbage(tree, paths[i], &seed);
		if (round % 2)
			put(tree, "proc/self/cgroup", "1:cpu:/\n");
		watch = begin(tree, cpus, 1);
		for (size_t i = 0; i < TLAT_ARRAY_SIZE(paths); i++)
			put_garbage(tree, paths[i], &seed);
		delta = end(watch);
		for (size_t i = 0; i < delta->n_interrupts; i++)
			assert_true(delta->interrupts[i].cpu <= 0);
		tlat_watch_delta_free(delta);
	}
}

static void movement_is_exact_for_every_width(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		unsigned int bits = i % 2 ? 16 : 32;
		uint64_t mask = (UINT64_C(1) << bits) - 1;
		uint64_t before = xorshift(&seed) & mask;
		uint64_t step = xorshift(&seed) & (mask >> 1);

		assert_int_equal(tlat_watch_moved(before, (before + step) & mask, bits), step);
	}
	assert_int_equal(tlat_watch_moved(100, 30, 64), 30);
	assert_int_equal(tlat_watch_moved(100, 30, 32), 30);
	assert_int_equal(tlat_watch_moved(UINT64_MAX, 3, 32), 3);
}

#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPLAYED(garbage_neither_crashes_nor_yields_cpus_not_watched),
		cmocka_unit_test(movement_is_exact_for_every_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
