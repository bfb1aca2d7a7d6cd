// SPDX-License-Identifier: MIT
/* test-caps.c - capabilities are dropped by one thread alone; the own cgroup. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <linux/capability.h>
#include <pthread.h>

#include "cgroup.h"
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
	say(words, "none %d", tlat_rt_drop_caps(NULL, NULL));
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

/* As the kernel says it, by number. */
static uint64_t effective(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	uint64_t mask = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "CapEff: %" SCNx64, &mask) == 1)
			break;
	if (status)
		fclose(status);
	return mask;
}

static void keep_one(struct words *words, const void *arg)
{
	int kept = tlat_rt_drop_caps(arg, NULL);

	say(words, "%d %" PRIx64, kept, effective());
}

/* With libcap and without it a name stands for the kernel's number. */
static void a_name_is_the_kernels_number(void **state)
{
	static const struct {
		const char *name;
		int number;
	} all[] = { { "cap_ipc_lock", CAP_IPC_LOCK },
		    { "cap_kill", CAP_KILL },
		    { "cap_sys_nice", CAP_SYS_NICE },
		    { "cap_sys_resource", CAP_SYS_RESOURCE },
		    { "cap_wake_alarm", CAP_WAKE_ALARM } };
	char expect[64];

	(void)state;
	need_root();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(all); i++) {
		snprintf(expect, sizeof(expect), "0 %" PRIx64,
			 effective() & (UINT64_C(1) << all[i].number));
		assert_string_equal(in_child(keep_one, all[i].name), expect);
	}
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
	say(words, "drop %d\n", tlat_rt_drop_caps(NULL, NULL));
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

static void assert_own_group(int root_fd, const char *controller, const char *dir,
			     const char *shown)
{
	char path[TLAT_CGROUP_FILE_BYTES];
	struct tlat_cgroup group;

	assert_int_equal(tlat_cgroup_own(&group, root_fd, controller), 0);
	assert_string_equal(tlat_cgroup_file(&group, "", path), dir);
	assert_string_equal(group.shown, shown);
}

static void the_own_group_is_found_in_both_hierarchies(void **state)
{
	const struct tree *tree = *state;
	struct tlat_cgroup group;

	assert_int_equal(tlat_cgroup_own(&group, tree->fd, "cpu"), -ENOENT);
	put(tree, "proc/self/cgroup", "5:cpuset:/c\n4:cpu,cpuacct:/a/b\n0::/../b\n");
	assert_int_equal(tlat_cgroup_own(&group, tree->fd, "cpu"), -ENOENT);
	assert_int_equal(tlat_cgroup_own(&group, tree->fd, NULL), -ENOENT);
	put(tree, "sys/fs/cgroup/cpu/a/b/tasks", "");
	put(tree, "sys/fs/cgroup/cpuset/tasks", "");
	put(tree, "sys/fs/cgroup/unified/cgroup.controllers", "");
	put(tree, "sys/fs/cgroup/b/outside", "");
	assert_own_group(tree->fd, "cpu", "sys/fs/cgroup/cpu/a/b/", "/a/b");
	assert_own_group(tree->fd, "cpuset", "sys/fs/cgroup/cpuset/", "/c");
	assert_own_group(tree->fd, NULL, "sys/fs/cgroup/unified/", "/../b");
}

static void walking_up_ends_at_the_root_group(void **state)
{
	struct tlat_cgroup group = { .mount = "sys/fs/cgroup", .path = "/a/b" };
	char path[TLAT_CGROUP_FILE_BYTES];

	(void)state;
	assert_true(tlat_cgroup_up(&group));
	assert_string_equal(tlat_cgroup_file(&group, "x", path), "sys/fs/cgroup/a/x");
	assert_true(tlat_cgroup_up(&group));
	assert_string_equal(tlat_cgroup_file(&group, "x", path), "sys/fs/cgroup/x");
	assert_false(tlat_cgroup_up(&group));
}

#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_are_dropped_by_the_calling_thread_alone),
		cmocka_unit_test(a_name_is_the_kernels_number),
		cmocka_unit_test(a_capability_that_does_not_exist_is_named),
		cmocka_unit_test(undoing_needs_no_capability),
		cmocka_unit_test(walking_up_ends_at_the_root_group),
		REPLAYED(the_own_group_is_found_in_both_hierarchies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
