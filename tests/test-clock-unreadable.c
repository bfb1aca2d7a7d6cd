// SPDX-License-Identifier: MIT
/*
 * test-clock-unreadable.c - a counter of constant rate that the kernel itself keeps time by, and
 * that a program cannot read: clock.c once more, for an architecture made up here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#define TLAT_ARCH_H	 /* in place of arch/ */
#define TLAT_ARCH_SOURCE TLAT_CLOCK_TSC
#define REASON		 "the CPU has no instruction for it"

static inline uint64_t tlat_arch_ticks_begin(void)
{
	abort();
}

static inline uint64_t tlat_arch_ticks_end(void)
{
	abort();
}

static inline uint64_t tlat_arch_nominal_hz(void)
{
	return 0;
}

static inline bool tlat_arch_invariant(void)
{
	return true;
}

static inline const char *tlat_arch_unreadable(void)
{
	return REASON;
}

static inline bool tlat_arch_hypervisor(void)
{
	return true;
}

#include "clock.c"

#include "tree.h"

static int open_below(const struct tree *tree, int source, struct tlat_clock **ret_clock,
		      struct tlat_error *reterr)
{
	struct tlat_machine *machine;
	int ret;

	put(tree, "sys/devices/system/cpu/online", "0\n");
	put(tree, TLAT_CLOCKSOURCE_PATH, "tsc\n");
	assert_int_equal(tlat_machine_open(&machine, tree->path, NULL), 0);
	ret = tlat_clock_open(ret_clock, machine, source, reterr);
	tlat_machine_close(machine);
	return ret;
}

static void a_counter_that_cannot_be_read_is_not_chosen(void **state)
{
	struct tlat_clock *clock;
	const struct tlat_calibration *cal;

	assert_int_equal(open_below(*state, TLAT_CLOCK_AUTO, &clock, NULL), 0);
	cal = tlat_clock_calibration(clock);
	assert_int_equal(cal->source, TLAT_CLOCK_GETTIME);
	assert_non_null(strstr(cal->reason, REASON));
	assert_true(cal->invariant);
	tlat_clock_close(clock);
}

static void a_counter_that_cannot_be_read_is_refused_with_the_reason(void **state)
{
	struct tlat_clock *clock = NULL;
	struct tlat_error error = { 0 };

	assert_int_equal(open_below(*state, TLAT_CLOCK_TSC, &clock, &error), -EINVAL);
	assert_null(clock);
	assert_non_null(strstr(error.text, "clock source tsc"));
	assert_non_null(strstr(error.text, REASON));
	assert_non_null(strstr(error.text, "use auto or clock_gettime"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_counter_that_cannot_be_read_is_not_chosen,
						tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(
			a_counter_that_cannot_be_read_is_refused_with_the_reason, tree_setup,
			tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
