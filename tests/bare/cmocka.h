/* SPDX-License-Identifier: MIT */
/*
 * cmocka.h - stands in for cmocka where there is none: cross compilers and musl. As much of it as
 * the tests of pure modules use. A test that fails ends its group.
 */
#ifndef TLAT_BARE_CMOCKA_H
#define TLAT_BARE_CMOCKA_H

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void bare_test(void **state);
typedef int bare_fixture(void **state);

struct CMUnitTest {
	const char *name;
	bare_test *test;
	bare_fixture *setup, *teardown;
};

static jmp_buf bare_skipped;

__attribute__((noreturn)) static inline void bare_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	exit(1);
}

static inline void bare_need(bool holds, const char *file, int line, const char *what)
{
	if (!holds)
		bare_fail(file, line, what);
}

#define bare_holds(condition, what) bare_need(condition, __FILE__, __LINE__, what)

#define assert_true(a)	       bare_holds(!!(a), #a)
#define assert_false(a)	       bare_holds(!(a), "not " #a)
#define assert_null(a)	       bare_holds(!(a), #a " is NULL")
#define assert_non_null(a)     bare_holds(!!(a), #a " is not NULL")
#define assert_ptr_equal(a, b) bare_holds((const void *)(a) == (const void *)(b), #a " == " #b)
#define assert_int_equal(a, b) bare_holds((uintmax_t)(a) == (uintmax_t)(b), #a " == " #b)
#define assert_in_range(a, low, high)                                                              \
	bare_holds((uintmax_t)(a) >= (uintmax_t)(low) && (uintmax_t)(a) <= (uintmax_t)(high),      \
		   #a " in range")
#define assert_float_equal(a, b, by)                                                               \
	bare_holds(fabs((double)(a) - (double)(b)) <= (by), #a " ~ " #b)
#define assert_string_equal(a, b)     bare_holds(!strcmp(a, b), #a " == " #b)
#define assert_string_not_equal(a, b) bare_holds(!!strcmp(a, b), #a " != " #b)
#define assert_int_not_equal(a, b)    bare_holds((uintmax_t)(a) != (uintmax_t)(b), #a " != " #b)
#define assert_memory_equal(a, b, n)  bare_holds(!memcmp(a, b, n), #a " == " #b)
#define fail()			      bare_fail(__FILE__, __LINE__, "failed")
#define skip()			      longjmp(bare_skipped, 1)

#define fail_msg(...)                                                                              \
	do {                                                                                       \
		fprintf(stderr, __VA_ARGS__);                                                      \
		bare_fail(__FILE__, __LINE__, "");                                                 \
	} while (0)

#define print_message(...) printf(__VA_ARGS__)

#define cmocka_unit_test(f)			 ((struct CMUnitTest){ #f, f, NULL, NULL })
#define cmocka_unit_test_setup(f, s)		 ((struct CMUnitTest){ #f, f, s, NULL })
#define cmocka_unit_test_setup_teardown(f, s, t) ((struct CMUnitTest){ #f, f, s, t })
#define cmocka_unit_test_teardown(f, t)		 ((struct CMUnitTest){ #f, f, NULL, t })

static inline void bare_run(const struct CMUnitTest *test)
{
	void *state = NULL;

	if (test->setup && test->setup(&state))
		bare_fail(test->name, 0, "set-up failed");
	if (!setjmp(bare_skipped))
		test->test(&state);
	if (test->teardown && test->teardown(&state))
		bare_fail(test->name, 0, "tear-down failed");
}

static inline int bare_run_all(const struct CMUnitTest *tests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bare_run(&tests[i]);
	printf("%zu tests passed\n", n);
	return 0;
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
	bare_run_all(tests, sizeof(tests) / sizeof((tests)[0]))

#endif /* TLAT_BARE_CMOCKA_H */
