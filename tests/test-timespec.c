// SPDX-License-Identifier: MIT
/* test-timespec.c - nanoseconds and timespecs, whatever the width of a long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "internal.h"

/* 2^31 ns and us, 2^32 ms, and what lies around the ends of seconds. */
static void spans_are_exact_however_long(void **state)
{
	static const int64_t spans_ns[] = {
		1,
		999999999,
		1000000000,
		1000000001,
		2147483647,
		2147483648,
		2147483647000,
		2147483648000,
		2148000000000,
		4294967296000,
		4295000000000,
		8640000000000000,
		4294967296000000,
		315360000000000000,
	};
	static const int64_t begins_ns[] = { 0, 999999999, 1000000000, 1700000000999999999 };

	(void)state;
	for (size_t b = 0; b < TLAT_ARRAY_SIZE(begins_ns); b++)
		for (size_t i = 0; i < TLAT_ARRAY_SIZE(spans_ns); i++) {
			struct timespec begin = tlat_timespec_of_ns(begins_ns[b]);
			struct timespec end = tlat_timespec_of_ns(begins_ns[b] + spans_ns[i]);

			assert_in_range(end.tv_nsec, 0, 999999999);
			assert_true(tlat_ns_of_timespec(&end) - tlat_ns_of_timespec(&begin) ==
				    spans_ns[i]);
			assert_true(tlat_ns_of_timespec(&begin) - tlat_ns_of_timespec(&end) ==
				    -spans_ns[i]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_exact_however_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
