// SPDX-License-Identifier: MIT
/* test-rt-idle.c - the request that keeps CPUs awake: exact, read back, explained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/prctl.h>

#include "child.h"
#include "tree.h"

static void the_idle_request_is_four_bytes_of_microseconds(void **state)
{
	const struct tree *tree = *state;
	const int64_t asked_ns[] = { 0, TLAT_ZERO, 999, 20500 };
	const int32_t expect_us[] = { 0, 0, 0, 20 };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(asked_ns); i++) {
		struct tlat_error error;
		int32_t held[2] = { -1, -1 };
		int fd;

		put(tree, "dev/cpu_dma_latency", "");
		fd = tlat_rt_hold_idle(tree->fd, asked_ns[i], &error);
		assert_true(fd >= 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(pread(fd, held, sizeof(held), 0), 4);
		assert_int_equal(held[0], expect_us[i]);
		close(fd);
	}
}

static int hold_through_link(const struct tree *tree, const char *target, struct tlat_error *error)
{
	put(tree, "dev/cpu_dma_latency", "");
	assert_int_equal(unlinkat(tree->fd, "dev/cpu_dma_latency", 0), 0);
	assert_int_equal(symlinkat(target, tree->fd, "dev/cpu_dma_latency"), 0);
	return tlat_rt_hold_idle(tree->fd, 0, error);
}

static void an_idle_request_that_is_not_held_is_an_error(void **state)
{
	const struct tree *tree = *state;
	struct tlat_error error;

	assert_int_equal(tlat_rt_hold_idle(tree->fd, 0, &error), -ENOENT);
	assert_says(error.text, "--device /dev/cpu_dma_latency");
	assert_int_equal(hold_through_link(tree, "/dev/null", &error), -EPROTO);
	assert_int_equal(hold_through_link(tree, "/dev/full", &error), -ENOSPC);
	assert_says(error.text, "ENOSPC");
}

static void hold_as_nobody(struct words *words, const void *arg)
{
	const struct tree *tree = arg;
	struct tlat_error error = { 0 };

	if (become_nobody())
		say(words, "%d ", tlat_rt_hold_idle(tree->fd, 0, &error));
	say(words, "%s", error.text);
}

static void a_refused_idle_request_says_what_to_type(void **state)
{
	const struct tree *tree = *state;
	const char *text;

	need_root();
	put(tree, "dev/cpu_dma_latency", "");
	assert_int_equal(fchmodat(tree->fd, "dev/cpu_dma_latency", 0600, 0), 0);
	assert_int_equal(fchmod(tree->fd, 0755), 0);
	text = in_child(hold_as_nobody, tree);
	assert_says(text, "-13 /dev/cpu_dma_latency refused: EACCES");
	assert_says(text, "sudo");
}

static void a_failed_idle_request_undoes_what_came_before_it(void **state)
{
	const struct tree *tree = *state;
	const struct tlat_rt_opts opts = TLAT_RT_OPTS(.slack_ns = 31, .cpu_latency_ns = TLAT_ZERO);
	int slack = prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
	struct tlat_rt *rt = NULL;
	struct tlat_error error;

	assert_int_equal(tlat_rt_apply_at(&rt, tree->fd, &opts, &error), -ENOENT);
	assert_null(rt);
	assert_int_equal(prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L), slack);
}

#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPLAYED(the_idle_request_is_four_bytes_of_microseconds),
		REPLAYED(an_idle_request_that_is_not_held_is_an_error),
		REPLAYED(a_refused_idle_request_says_what_to_type),
		REPLAYED(a_failed_idle_request_undoes_what_came_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
