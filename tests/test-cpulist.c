// SPDX-License-Identifier: MIT
/* test-cpulist.c - sets of CPUs and the kernel's list syntax, against a slow model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpulist.h"

static struct tlat_cpuset parsed(const char *text)
{
	struct tlat_cpuset set;

	if (tlat_cpuset_parse(&set, text) != 0)
		fail_msg("\"%s\" was not read", text);
	return set;
}

static void assert_lists_as(const char *text, const char *expected)
{
	struct tlat_cpuset set = parsed(text);
	char formatted[256];

	assert_int_equal(tlat_cpuset_format(&set, formatted, sizeof(formatted)), strlen(expected));
	assert_string_equal(formatted, expected);
}

static void lists_are_read_and_written_in_their_shortest_form(void **state)
{
	(void)state;
	assert_lists_as("0-3,8", "0-3,8");
	assert_lists_as("0-2,4-23", "0-2,4-23");
	assert_lists_as("0,2,4,6,8,10,12,14,16-31", "0,2,4,6,8,10,12,14,16-31");
	assert_lists_as("3,1,2,0,0", "0-3");
	assert_lists_as("00-01", "0-1");
	assert_lists_as("007", "7");
	assert_lists_as("0-15:2/4", "0-1,4-5,8-9,12-13");
	assert_lists_as("0-9:1/3", "0,3,6,9");
	assert_lists_as("8191", "8191");
	assert_lists_as("63-64,127-128", "63-64,127-128");
	assert_lists_as(" 0-1\n", "0-1");
}

static void empty_text_is_the_empty_set(void **state)
{
	(void)state;
	assert_lists_as("", "");
	assert_lists_as("\n", "");
	assert_lists_as("  \t\n", "");
}

static void unreadable_text_is_an_error_and_leaves_the_set_alone(void **state)
{
	static const char *const bad[] = {
		"(null)", "foo",   "1-0",    "0-",	"-1",	   "-",
		",",	  "0,",	   ",0",     "0,,1",	"0 1",	   "0 ,1",
		"0x1",	  "+1",	   "1.0",    "8192",	"0-8192",  "99999999999999999999999",
		"0-3:",	  "0-3:1", "0-3:1/", "0-3:1/0", "0-3:3/2", "0-3:/2",
		"1:1/2x", "0-1-2", "N",	     "0-N",	"all",	   "\xff",
		"0-3;",
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(bad); i++) {
		struct tlat_cpuset set = parsed("5");

		if (tlat_cpuset_parse(&set, bad[i]) != -EINVAL)
			fail_msg("\"%s\" was read", bad[i]);
		assert_true(tlat_cpuset_has(&set, 5));
		assert_int_equal(tlat_cpuset_count(&set), 1);
	}
}

static void the_command_line_may_name_the_last_cpu_and_all(void **state)
{
	struct tlat_cpuset set, expected = parsed("2-7");

	(void)state;
	assert_int_equal(tlat_cpulist_parse(&set, "2-N", 3, 7), 0);
	assert_true(tlat_cpuset_equal(&set, &expected));
	expected = parsed("0-7");
	assert_int_equal(tlat_cpulist_parse(&set, "all", 3, 7), 0);
	assert_true(tlat_cpuset_equal(&set, &expected));
	expected = parsed("0,4");
	assert_int_equal(tlat_cpulist_parse(&set, "all:1/4", 7, 7), 0);
	assert_true(tlat_cpuset_equal(&set, &expected));
}

static void a_range_says_what_is_wrong_with_it(void **state)
{
	struct tlat_cpu_range range;

	(void)state;
	assert_int_equal(tlat_cpu_range_parse(&range, "3-1", 3, -1), -EDOM);
	assert_int_equal(tlat_cpu_range_parse(&range, "8192", 4, -1), -ERANGE);
	assert_int_equal(tlat_cpu_range_parse(&range, "", 0, -1), -EINVAL);
	/* Only the given length counts. */
	assert_int_equal(tlat_cpu_range_parse(&range, "1-2x", 3, -1), 0);
	assert_int_equal(range.first, 1);
	assert_int_equal(range.last, 2);
}

static void numbers_outside_the_set_are_neither_added_nor_found(void **state)
{
	struct tlat_cpuset set = { { 0 } };

	(void)state;
	tlat_cpuset_add(&set, -1);
	tlat_cpuset_add(&set, TLAT_CPUS_MAX);
	tlat_cpuset_add(&set, INT32_MAX);
	tlat_cpuset_add(&set, INT32_MIN);
	assert_true(tlat_cpuset_empty(&set));
	assert_false(tlat_cpuset_has(&set, -1));
	assert_false(tlat_cpuset_has(&set, TLAT_CPUS_MAX));
	assert_int_equal(tlat_cpuset_next(&set, TLAT_CPUS_MAX - 1), -1);
	assert_int_equal(tlat_cpuset_last(&set), -1);
}

static void a_short_buffer_gets_a_prefix_and_the_full_length(void **state)
{
	struct tlat_cpuset set = parsed("0-3,8,100-200");
	char text[8], guard[16];

	(void)state;
	assert_int_equal(tlat_cpuset_format(&set, text, sizeof(text)), strlen("0-3,8,100-200"));
	assert_string_equal(text, "0-3,8,1");
	assert_int_equal(tlat_cpuset_format(&set, NULL, 0), strlen("0-3,8,100-200"));
	assert_string_equal(tlat_cpuset_say(&set, guard, 12), "0-3,8,...");
	set = parsed("");
	assert_string_equal(tlat_cpuset_say(&set, guard, sizeof(guard)), "none");
}

static void a_cut_set_stays_in_its_buffer_wherever_the_comma_is(void **state)
{
	struct tlat_cpuset set = parsed("0-3,8,100-200");
	char text[16];

	(void)state;
	for (size_t size = 5; size < sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		tlat_cpuset_say(&set, text, size);
		assert_true(strlen(text) < size);
		assert_int_equal(text[size], '#');
	}
}

/* A random set of runs: long and short ones, so that ranges and single CPUs both occur. */
static void random_set(struct tlat_cpuset *set, bool *model, size_t n)
{
	memset(set, 0, sizeof(*set));
	memset(model, 0, TLAT_CPUS_MAX * sizeof(*model));
	for (int i = rand() % 40; i > 0; i--) {
		size_t first = (size_t)rand() % n;
		size_t length = 1 + (size_t)rand() % (rand() % 4 ? 3 : 200);

		for (size_t cpu = first; cpu < first + length && cpu < n; cpu++) {
			model[cpu] = true;
			tlat_cpuset_add(set, (int32_t)cpu);
		}
	}
}

static void assert_equals_model(const struct tlat_cpuset *set, const bool *model)
{
	size_t count = 0;
	int32_t next = -1;

	for (int32_t cpu = 0; cpu < TLAT_CPUS_MAX; cpu++) {
		assert_int_equal(tlat_cpuset_has(set, cpu), model[cpu]);
		if (!model[cpu])
			continue;
		count++;
		assert_int_equal(tlat_cpuset_next(set, next), cpu);
		next = cpu;
	}
	assert_int_equal(tlat_cpuset_count(set), count);
	assert_int_equal(tlat_cpuset_next(set, next), -1);
	assert_int_equal(tlat_cpuset_last(set), next);
}

static void any_set_survives_being_written_and_read(void **state)
{
	static bool model[TLAT_CPUS_MAX];
	static char text[40000];

	(void)state;
	srand(20240611);
	for (int i = 0; i < 300; i++) {
		struct tlat_cpuset set, back;

		random_set(&set, model, i % 2 ? TLAT_CPUS_MAX : 64);
		assert_equals_model(&set, model);
		assert_true(tlat_cpuset_format(&set, text, sizeof(text)) < sizeof(text));
		assert_int_equal(tlat_cpuset_parse(&back, text), 0);
		assert_true(tlat_cpuset_equal(&set, &back));
	}
}

static void set_arithmetic_is_that_of_its_members(void **state)
{
	static bool a_model[TLAT_CPUS_MAX], b_model[TLAT_CPUS_MAX];

	(void)state;
	srand(7);
	for (int i = 0; i < 50; i++) {
		struct tlat_cpuset a, b, both, any, rest;

		random_set(&a, a_model, TLAT_CPUS_MAX);
		random_set(&b, b_model, TLAT_CPUS_MAX);
		both = tlat_cpuset_and(&a, &b);
		any = tlat_cpuset_or(&a, &b);
		rest = tlat_cpuset_minus(&a, &b);
		for (int32_t cpu = 0; cpu < TLAT_CPUS_MAX; cpu++) {
			bool in_a = a_model[cpu], in_b = b_model[cpu];

			assert_int_equal(tlat_cpuset_has(&both, cpu), in_a && in_b);
			assert_int_equal(tlat_cpuset_has(&any, cpu), in_a || in_b);
			assert_int_equal(tlat_cpuset_has(&rest, cpu), in_a && !in_b);
		}
	}
}

/* Random text of the characters that lists are made of: read or refused, never past its end. */
static void random_text_is_read_or_refused(void **state)
{
	static const char alphabet[] = "0123456789,-:/ N!ax\n";

	(void)state;
	srand(11);
	for (int i = 0; i < 20000; i++) {
		size_t n = (size_t)rand() % 12;
		char *text = malloc(n + 1), formatted[256];
		struct tlat_cpuset set, back;

		assert_non_null(text);
		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		text[n] = '\0';
		if (tlat_cpuset_parse(&set, text) == 0) {
			tlat_cpuset_format(&set, formatted, sizeof(formatted));
			/* Patterns such as 0-8000:1/2 do not fit; what fits must come back. */
			if (strlen(formatted) < sizeof(formatted) - 1) {
				assert_int_equal(tlat_cpuset_parse(&back, formatted), 0);
				assert_true(tlat_cpuset_equal(&set, &back));
			}
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_and_written_in_their_shortest_form),
		cmocka_unit_test(empty_text_is_the_empty_set),
		cmocka_unit_test(unreadable_text_is_an_error_and_leaves_the_set_alone),
		cmocka_unit_test(the_command_line_may_name_the_last_cpu_and_all),
		cmocka_unit_test(a_cut_set_stays_in_its_buffer_wherever_the_comma_is),
		cmocka_unit_test(a_range_says_what_is_wrong_with_it),
		cmocka_unit_test(numbers_outside_the_set_are_neither_added_nor_found),
		cmocka_unit_test(a_short_buffer_gets_a_prefix_and_the_full_length),
		cmocka_unit_test(any_set_survives_being_written_and_read),
		cmocka_unit_test(set_arithmetic_is_that_of_its_members),
		cmocka_unit_test(random_text_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
