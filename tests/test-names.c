// SPDX-License-Identifier: MIT
/* test-names.c - the words of the header's enumerations, which tools, files and Python share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "timerlat.h"

static const struct {
	const char *(*name)(int number);
	int (*from_name)(const char *name);
	int n;
	const char *first, *last;
} words[] = {
	{ tlat_clock_source_name, tlat_clock_source_from_name, 5, "auto", "clock_gettime" },
	{ tlat_policy_name, tlat_policy_from_name, 8, "inherit", "ext" },
	{ tlat_target_name, tlat_target_from_name, 2, "sleeping", "busy" },
	{ tlat_storm_preset_name, tlat_storm_preset_from_name, 3, "custom", "timermix" },
	{ tlat_storm_handler_name, tlat_storm_handler_from_name, 2, "plain", "rearm" },
	{ tlat_scale_what_name, tlat_scale_what_from_name, 3, "timers", "pairs" },
};

static void a_name_leads_back_to_its_number(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		for (int number = 0; number < words[i].n; number++)
			assert_int_equal(words[i].from_name(words[i].name(number)), number);
		assert_string_equal(words[i].name(0), words[i].first);
		assert_string_equal(words[i].name(words[i].n - 1), words[i].last);
	}
}

static void what_is_none_of_them_has_no_name_and_no_number(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_null(words[i].name(-1));
		assert_null(words[i].name(words[i].n));
		assert_int_equal(words[i].from_name(""), -EINVAL);
		assert_int_equal(words[i].from_name("Timers"), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_leads_back_to_its_number),
		cmocka_unit_test(what_is_none_of_them_has_no_name_and_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
