// SPDX-License-Identifier: MIT
/* test-root.c - files below a root, and the values in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "internal.h"
#include "tree.h"

static void a_value_is_found_behind_blanks_or_a_colon(void **state)
{
	static const struct {
		const char *text, *key, *value; /* NULL: none */
	} cases[] = {
		{ "Name:\ttlat\nVmLck:\t     16 kB\n", "VmLck", "16 kB\n" },
		{ "model\t\t: 85\nmodel name\t: A CPU\n", "model name", "A CPU\n" },
		{ "model name\t: A CPU\nmodel\t\t: 85\n", "model",
		  "name\t: A CPU\nmodel\t\t: 85\n" },
		{ "Max realtime priority     0   5\n", "Max realtime priority", "0   5\n" },
		{ "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1", "Cpus_allowed_list", "0-1" },
		{ "Cpus_allowed_list:\t0-1\n", "Cpus_allowed", NULL },
		{ "a: 1\nb:\nc: 3", "b", "\nc: 3" },
		{ "xVmLck: 1\n", "VmLck", NULL },
		{ "VmLck", "VmLck", NULL },
		{ "", "VmLck", NULL },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		const char *value = tlat_text_value(cases[i].text, cases[i].key);

		if (cases[i].value)
			assert_string_equal(value, cases[i].value);
		else
			assert_null(value);
	}
}

static void a_file_is_read_whole_or_its_head_alone(void **state)
{
	const struct tree *tree = *state;
	char text[8];
	char *all;

	put(tree, "proc/a", "1234567890\n");
	assert_int_equal(tlat_root_read(tree->fd, "proc/a", text, sizeof(text)), -EFBIG);
	assert_int_equal(tlat_root_read_head(tree->fd, "proc/a", text, sizeof(text)), 7);
	assert_string_equal(text, "1234567");
	assert_int_equal(tlat_root_read_all(tree->fd, "proc/a", &all), 10);
	assert_string_equal(all, "1234567890");
	free(all);
	put(tree, "proc/b", "12\n");
	assert_int_equal(tlat_root_read_head(tree->fd, "proc/b", text, sizeof(text)), 3);
	assert_string_equal(text, "12\n");
	assert_int_equal(tlat_root_read_head(tree->fd, "proc/c", text, sizeof(text)), -ENOENT);
}

static void a_number_is_all_of_its_file(void **state)
{
	const struct tree *tree = *state;
	int64_t value = 0;

	put(tree, "good", "-12\n");
	assert_int_equal(tlat_root_read_int(tree->fd, "good", &value), 0);
	assert_int_equal(value, -12);
	put(tree, "bad", "12 apples\n");
	assert_int_equal(tlat_root_read_int(tree->fd, "bad", &value), -EINVAL);
	put(tree, "empty", "");
	assert_int_equal(tlat_root_read_int(tree->fd, "empty", &value), -EINVAL);
	assert_int_equal(value, -12);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_found_behind_blanks_or_a_colon),
		IN_TREE(a_file_is_read_whole_or_its_head_alone),
		IN_TREE(a_number_is_all_of_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
