// SPDX-License-Identifier: MIT
/* test-error.c - structs that are older or newer than the library, in both directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "comma-locale.h"
#include "internal.h"

struct known {
	size_t size;
	int64_t first, second;
};

struct newer {
	struct known known;
	int64_t third;
};

static void options_of_an_older_caller_are_completed_with_zero(void **state)
{
	struct known old = { offsetof(struct known, second), 1, 2 }, mine;

	(void)state;
	memset(&mine, 0xff, sizeof(mine));
	assert_int_equal(tlat_opts_copy(&mine, sizeof(mine), &old, NULL), 0);
	assert_int_equal(mine.size, sizeof(mine));
	assert_int_equal(mine.first, 1);
	assert_int_equal(mine.second, 0);
}

static void options_of_a_newer_caller_count_while_the_rest_is_zero(void **state)
{
	struct newer newer = { { sizeof(newer), 1, 2 }, 0 };
	struct tlat_error error;
	struct known mine;

	(void)state;
	assert_int_equal(tlat_opts_copy(&mine, sizeof(mine), &newer, NULL), 0);
	assert_int_equal(mine.second, 2);
	newer.third = 1;
	assert_int_equal(tlat_opts_copy(&mine, sizeof(mine), &newer, &error), -E2BIG);
	assert_int_equal(error.code, -E2BIG);
	newer.known.size = 0;
	assert_int_equal(tlat_opts_copy(&mine, sizeof(mine), &newer, &error), -EINVAL);
}

static void facts_for_an_older_caller_end_where_its_struct_ends(void **state)
{
	struct known facts = { sizeof(facts), 1, 2 };
	struct known old = { .size = offsetof(struct known, second), .second = -1 };

	(void)state;
	assert_int_equal(tlat_facts_copy(&old, &facts, sizeof(facts)), 0);
	assert_int_equal(old.size, offsetof(struct known, second));
	assert_int_equal(old.first, 1);
	assert_int_equal(old.second, -1);
}

static void facts_for_a_newer_caller_end_with_zero(void **state)
{
	struct known facts = { sizeof(facts), 1, 2 };
	struct newer newer = { .known.size = sizeof(newer), .third = -1 };

	(void)state;
	assert_int_equal(tlat_facts_copy(&newer, &facts, sizeof(facts)), 0);
	assert_int_equal(newer.known.size, sizeof(newer));
	assert_int_equal(newer.known.second, 2);
	assert_int_equal(newer.third, 0);
	newer.known.size = sizeof(size_t) - 1;
	assert_int_equal(tlat_facts_copy(&newer, &facts, sizeof(facts)), -EINVAL);
}

static void an_error_too_long_for_its_text_is_cut(void **state)
{
	char name[2 * sizeof(((struct tlat_error *)0)->text)];
	struct tlat_error error;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(tlat_fail(&error, -EINVAL, "%s", name), -EINVAL);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	assert_int_equal(tlat_fail(NULL, -ENOENT, "%s", name), -ENOENT);
}

static void an_error_is_one_line_whatever_it_quotes(void **state)
{
	struct tlat_error error;

	(void)state;
	assert_int_equal(tlat_fail(&error, -EINVAL, "severity: \"%s\"", "i\nf\x1b\x7f\xc3\xb6"),
			 -EINVAL);
	assert_string_equal(error.text, "severity: \"i?f??\xc3\xb6\"");
}

static void a_failure_without_words_gets_those_of_its_code(void **state)
{
	struct tlat_error error;

	(void)state;
	memset(&error, 'x', sizeof(error));
	tlat_error_begin(&error);
	assert_string_equal(error.text, "");
	assert_int_equal(tlat_error_end(&error, 0), 0);
	assert_string_equal(error.text, "");
	assert_int_equal(tlat_error_end(&error, -ENOMEM), -ENOMEM);
	assert_string_equal(error.text, strerror(ENOMEM));
	assert_int_equal(error.code, -ENOMEM);
	tlat_fail(&error, -EINVAL, "words");
	assert_int_equal(tlat_error_end(&error, -EINVAL), -EINVAL);
	assert_string_equal(error.text, "words");
	tlat_error_begin(NULL);
	assert_int_equal(tlat_error_end(NULL, -EINVAL), -EINVAL);
}

/* As read by programs, and as names of things: a comma would make them others. */
static void texts_have_a_point_in_every_locale(void **state)
{
	struct tlat_findings findings = { 0 };
	struct tlat_error error;
	char text[32], own[32];

	(void)state;
	comma_locale_enter();
	assert_int_equal(tlat_format(text, sizeof(text), "p%.8g", 99.9), 5);
	tlat_fail(&error, -EINVAL, "%.1f us", 1.5);
	assert_int_equal(tlat_findings_add(&findings, TLAT_INFO, "id", NULL, "%g", 0.25), 0);
	snprintf(own, sizeof(own), "%.1f", 1.5);
	comma_locale_leave();
	assert_string_equal(text, "p99.9");
	assert_string_equal(error.text, "1.5 us");
	assert_string_equal(findings.v[0].text, "0.25");
	assert_string_equal(own, "1,5"); /* the program's own stay as it wants them */
	tlat_findings_free(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_an_older_caller_are_completed_with_zero),
		cmocka_unit_test(options_of_a_newer_caller_count_while_the_rest_is_zero),
		cmocka_unit_test(facts_for_an_older_caller_end_where_its_struct_ends),
		cmocka_unit_test(facts_for_a_newer_caller_end_with_zero),
		cmocka_unit_test(an_error_too_long_for_its_text_is_cut),
		cmocka_unit_test(an_error_is_one_line_whatever_it_quotes),
		cmocka_unit_test(a_failure_without_words_gets_those_of_its_code),
		cmocka_unit_test(texts_have_a_point_in_every_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
