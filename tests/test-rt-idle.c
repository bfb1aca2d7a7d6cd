// SPDX-License-Identifier: MIT
/* test-rt-idle.c - the request that keeps CPUs awake: exact, read back, explained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/prctl.h>

#include "child.h"
#include "machine_state.h"
#include "result.h"
#include "tree.h"

#define NO_CONSTRAINT_US 2000000000 /* as the kernel has it where nobody asks */

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
		tlat_rt_release_idle(fd);
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	}
	tlat_rt_release_idle(-1);
}

/* What a program that holds the device's file open, too, as a forked child does, would see. */
static int32_t held_us(const struct tree *tree)
{
	int fd = openat(tree->fd, "dev/cpu_dma_latency", O_RDONLY | O_CLOEXEC);
	int32_t held[2] = { -1, -1 };

	assert_int_equal(read(fd, held, sizeof(held)), 4);
	close(fd);
	return held[0];
}

/* The kernel drops it with its last descriptor only, and a child forked meanwhile has one. */
static void a_request_that_is_over_asks_for_nothing(void **state)
{
	const struct tlat_rt_opts opts = TLAT_RT_OPTS(.cpu_latency_ns = TLAT_ZERO);
	struct tlat_run_opts run = TLAT_RUN_OPTS(.probe = "timer-nanosleep", .samples = 5,
						 .warmup = TLAT_ZERO, .cpu_latency_ns = 30000);
	const struct tree *tree = *state;
	struct tlat_machine *machine;
	struct tlat_report *report;
	struct tlat_rt *rt;
	int real_root;

	put(tree, "dev/cpu_dma_latency", "");
	assert_int_equal(tlat_rt_apply_at(&rt, tree->fd, &opts, NULL), 0);
	assert_int_equal(held_us(tree), 0);
	tlat_rt_undo(rt);
	assert_int_equal(held_us(tree), NO_CONSTRAINT_US);

	put(tree, "dev/cpu_dma_latency", "");
	assert_int_equal(tlat_machine_open(&machine, NULL, NULL), 0);
	real_root = machine->root_fd;
	machine->root_fd = tree->fd;
	run.machine = machine;
	assert_int_equal(tlat_run(&report, &run, NULL), 0);
	assert_int_equal(tlat_report_result(report, 0)->cpu_latency_ns, 30000);
	assert_int_equal(held_us(tree), NO_CONSTRAINT_US);
	tlat_report_free(report);
	assert_int_equal(tlat_check(&report, machine, NULL, NULL), 0);
	assert_int_equal(held_us(tree), NO_CONSTRAINT_US);
	tlat_report_free(report);
	machine->root_fd = real_root;
	tlat_machine_close(machine);
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
		REPLAYED(a_request_that_is_over_asks_for_nothing),
		REPLAYED(an_idle_request_that_is_not_held_is_an_error),
		REPLAYED(a_refused_idle_request_says_what_to_type),
		REPLAYED(a_failed_idle_request_undoes_what_came_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
