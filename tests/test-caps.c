// SPDX-License-Identifier: MIT
/* test-caps.c - capabilities are dropped by one thread alone; cgroup directories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "child.h"
#include "tree.h"

static void *still_capable(void *arg)
{
	int *fds = arg;
	char go;

	if (read(fds[0], &go, 1) != 1)
		return NULL;
	return tlat_rt_capable("cap_sys_nice") && tlat_rt_capable("cap_kill") ? arg : NULL;
}

static void drop_capabilities(struct words *words, const void *arg)
{
	struct tlat_error error = { 0 };
	void *capable = NULL;
	pthread_t other;
	int fds[2];

	(void)arg;
	if (pipe(fds) < 0 || pthread_create(&other, NULL, still_capable, fds))
		return;
	say(words, "unknown %d\n", tlat_rt_drop_caps("cap_sys_nice,cap_foo", &error));
	say(words, "keep %d", tlat_rt_drop_caps("cap_ipc_lock,cap_sys_nice", &error));
	say(words, " %d%d%d\n", tlat_rt_capable("cap_sys_nice"), tlat_rt_capable("cap_ipc_lock"),
	    tlat_rt_capable("cap_kill"));
	say(words, "again %d", tlat_rt_drop_caps("cap_kill,cap_sys_nice", &error));
	say(words, " %d%d\n", tlat_rt_capable("cap_sys_nice"), tlat_rt_capable("cap_kill"));
	say(words, "none %d", tlat_rt_drop_capabilities());
	say(words, " %d\n", tlat_rt_capable("cap_sys_nice"));
	snapshot(words);
	if (write(fds[1], "x", 1) == 1)
		pthread_join(other, &capable);
	say(words, "other thread %s\n", capable ? "unchanged" : "changed");
}

static void capabilities_are_dropped_by_the_calling_thread_alone(void **state)
{
	const char *text;

	(void)state;
	need_root();
	text = in_child(drop_capabilities, NULL);
	assert_says(text, "\nkeep 0 110\nagain 0 10\nnone 0 0\n");
	assert_says(text, "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n");
	assert_says(text, "other thread unchanged\n");
	assert_null(strstr(text, "unknown 0"));
}

static void a_capability_that_does_not_exist_is_named(void **state)
{
	static const char *const bad[] = { "cap_foo", "cap_kill,,cap_kill", "cap_kill,", "sudo" };
	struct tlat_error error;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(bad); i++) {
		int r = tlat_rt_drop_caps(bad[i], &error);

		assert_true(r == -EINVAL || r == -EOPNOTSUPP);
		assert_int_equal(error.code, r);
	}
	assert_false(tlat_rt_capable("cap_foo"));
}

static void drop_then_undo(struct words *words, const void *arg)
{
	const struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 9, .slack_ns = 5);
	struct tlat_rt *rt = apply(words, &opts);

	(void)arg;
	say(words, "drop %d\n", tlat_rt_drop_capabilities());
	tlat_rt_undo(rt);
	say_state(words);
	say(words, "slack %d\n", prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L));
}

static void undoing_needs_no_capability(void **state)
{
	char expect[128];

	(void)state;
	need_root();
	snprintf(expect, sizeof(expect), "apply 0\ndrop 0\nstate 0 other 0\nslack %d\n",
		 prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L));
	assert_string_equal(in_child(drop_then_undo, NULL), expect);
}

static void the_group_directory_is_found_in_both_hierarchies(void **state)
{
	const struct tree *tree = *state;
	char dir[256], group[64];

	assert_int_equal(tlat_cgroup_dir(tree->fd, "cpu", dir, sizeof(dir), NULL, 0), -ENOENT);
	put(tree, "proc/self/cgroup", "5:cpuset:/c\n4:cpu,cpuacct:/a\n0::/../b\n");
	assert_int_equal(tlat_cgroup_dir(tree->fd, "cpu", dir, sizeof(dir), NULL, 0), -ENOENT);
	put(tree, "sys/fs/cgroup/cpu/a/tasks", "");
	put(tree, "sys/fs/cgroup/cpuset/tasks", "");
	put(tree, "sys/fs/cgroup/unified/cgroup.controllers", "");
	put(tree, "sys/fs/cgroup/b/outside", "");
	assert_int_equal(tlat_cgroup_dir(tree->fd, "cpu", dir, sizeof(dir), group, sizeof(group)),
			 0);
	assert_string_equal(dir, "sys/fs/cgroup/cpu/a");
	assert_string_equal(group, "/a");
	assert_int_equal(tlat_cgroup_dir(tree->fd, "cpuset", dir, sizeof(dir), NULL, 0), 0);
	assert_string_equal(dir, "sys/fs/cgroup/cpuset");
	assert_int_equal(tlat_cgroup_dir(tree->fd, NULL, dir, sizeof(dir), NULL, 0), 0);
	assert_string_equal(dir, "sys/fs/cgroup/unified");
}

#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_are_dropped_by_the_calling_thread_alone),
		cmocka_unit_test(a_capability_that_does_not_exist_is_named),
		cmocka_unit_test(undoing_needs_no_capability),
		REPLAYED(the_group_directory_is_found_in_both_hierarchies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
