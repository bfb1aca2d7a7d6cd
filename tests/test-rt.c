// SPDX-License-Identifier: MIT
/* test-rt.c - real-time attributes: in force, read back, undone to the last bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/resource.h>

#include "child.h"

static void policy_names_go_both_ways(void **state)
{
	(void)state;
	for (int policy = TLAT_SCHED_INHERIT; policy <= TLAT_SCHED_EXT; policy++)
		assert_int_equal(tlat_policy_from_name(tlat_policy_name(policy)), policy);
	assert_null(tlat_policy_name(-1));
	assert_null(tlat_policy_name(TLAT_SCHED_EXT + 1));
	assert_int_equal(tlat_policy_from_name("FIFO"), -EINVAL);
	assert_int_equal(tlat_policy_from_name(""), -EINVAL);
	assert_string_equal(tlat_policy_kernel_name(TLAT_SCHED_RR), "SCHED_RR");
	assert_string_equal(tlat_policy_kernel_name(99), "SCHED_?");
}

static void options_without_sense_are_refused_with_the_bad_value(void **state)
{
	static const struct {
		struct tlat_rt_opts opts;
		const char *says;
	} bad[] = {
		{ { .policy = TLAT_SCHED_FIFO }, "priority is 0; SCHED_FIFO takes 1 to 99" },
		{ { .policy = TLAT_SCHED_RR, .priority = 100 }, "priority is 100" },
		{ { .policy = TLAT_SCHED_OTHER, .priority = 5 }, "SCHED_OTHER has none" },
		{ { .priority = 5 }, "priority is 5" },
		{ { .policy = -1 }, "policy -1" },
		{ { .policy = 77 }, "policy 77" },
		{ { .policy = TLAT_SCHED_DEADLINE, .runtime_ns = 5 }, "runtime 5 ns" },
		{ { .policy = TLAT_SCHED_DEADLINE,
		    .runtime_ns = 5,
		    .deadline_ns = 4,
		    .period_ns = 9 },
		  "runtime <= deadline" },
		{ { .policy = TLAT_SCHED_OTHER, .period_ns = 9 }, "SCHED_DEADLINE" },
		{ { .policy = TLAT_SCHED_EXT }, "SCHED_EXT" },
		{ { .reserved = 7 }, "reserved field of the real-time options is 7" },
		{ { .slack_ns = -1 }, "slack_ns is -1" },
		{ { .cpu_latency_ns = -2 }, "cpu_latency_ns is -2" },
		{ { .cpu_latency_ns = INT64_MAX }, "out of range" },
		{ { .cpus = "" }, "no list of CPU numbers" },
		{ { .cpus = "foo" }, "\"foo\"" },
		{ { .cpus = "1-0" }, "\"1-0\"" },
		{ { .cpus = "8191" }, "\"8191\" refused" },
		{ { .cpus = "0,8191" }, "CPU 8191 is offline" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(bad); i++) {
		struct tlat_rt_opts opts = bad[i].opts;
		struct tlat_error error = { 0 };
		struct tlat_rt *rt = NULL;

		opts.size = sizeof(opts);
		assert_int_equal(tlat_rt_apply(&rt, &opts, &error), -EINVAL);
		assert_int_equal(error.code, -EINVAL);
		assert_says(error.text, bad[i].says);
		assert_null(rt);
	}
}

static void shorter_and_longer_option_structs_are_understood(void **state)
{
	struct {
		struct tlat_rt_opts opts;
		int64_t more;
	} newer = { .opts = { .size = sizeof(newer) } };
	struct tlat_rt_opts older = { .size = offsetof(struct tlat_rt_opts, slack_ns),
				      .slack_ns = -1 };
	struct tlat_rt_state partial = { .size = offsetof(struct tlat_rt_state, priority),
					 .priority = 77 };
	struct tlat_rt *rt;

	(void)state;
	assert_int_equal(tlat_rt_apply(&rt, &older, NULL), 0);
	tlat_rt_undo(rt);
	assert_int_equal(tlat_rt_apply(&rt, &newer.opts, NULL), 0);
	tlat_rt_undo(rt);
	newer.more = 1;
	assert_int_equal(tlat_rt_apply(&rt, &newer.opts, NULL), -E2BIG);
	older.size = 0;
	assert_int_equal(tlat_rt_apply(&rt, &older, NULL), -EINVAL);
	assert_int_equal(tlat_rt_state(&partial), 0);
	assert_int_equal(partial.priority, 77);
	partial.size = 0;
	assert_int_equal(tlat_rt_state(&partial), -EINVAL);
	tlat_rt_undo(NULL);
}

static void nothing_asked_is_nothing_changed(void **state)
{
	const struct change change = { .opts = { .size = sizeof(change.opts) } };

	(void)state;
	assert_undone(in_child(change_and_undo, &change));
}

static void affinity_and_slack_need_no_privilege(void **state)
{
	struct change change = { .opts = TLAT_RT_OPTS(.slack_ns = 4321) };
	const char *text;
	char expect[64];

	(void)state;
	change.opts.cpus = one_cpu();
	text = in_child(change_and_undo, &change);
	assert_says(text, "apply 0\n");
	assert_says(during(text), "slack 4321\n");
	snprintf(expect, sizeof(expect), "Cpus_allowed_list:\t%s\n", change.opts.cpus);
	assert_says(during(text), expect);
	assert_undone(text);
}

static void everything_at_once_is_in_force_and_undone(void **state)
{
	struct change change = { .opts = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 7,
						      .slack_ns = 4321, .lock_all = 1) };
	const char *text;

	(void)state;
	need_mlockall();
	change.opts.cpus = one_cpu();
	if (access("/dev/cpu_dma_latency", R_OK | W_OK) == 0)
		change.opts.cpu_latency_ns = TLAT_ZERO;
	text = in_child(change_and_undo, &change);
	assert_says(text, "apply 0\n");
	assert_says(text, "state 0 fifo 7\n");
	assert_undone(text);
}

#define FAIR_SLICE_NS 7000000

static const struct tlat_sched starts[] = {
	{ .size = 48, .policy = SCHED_OTHER, .nice = 5 },
	{ .size = 48, .policy = SCHED_OTHER, .nice = -5, .flags = 1 },
	{ .size = 48, .policy = SCHED_OTHER, .runtime_ns = FAIR_SLICE_NS },
	{ .size = 48, .policy = SCHED_BATCH, .nice = 3, .runtime_ns = FAIR_SLICE_NS },
	{ .size = 48, .policy = SCHED_IDLE },
	{ .size = 48, .policy = SCHED_FIFO, .priority = 3 },
	{ .size = 48, .policy = SCHED_RR, .priority = 9, .flags = 1 },
	{ .size = 48,
	  .policy = SCHED_DEADLINE,
	  .runtime_ns = 100000,
	  .deadline_ns = 5000000,
	  .period_ns = 10000000 },
};

static const struct tlat_rt_opts targets[] = {
	{ .size = sizeof(struct tlat_rt_opts), .policy = TLAT_SCHED_OTHER, .slack_ns = 99 },
	{ .size = sizeof(struct tlat_rt_opts), .policy = TLAT_SCHED_BATCH },
	{ .size = sizeof(struct tlat_rt_opts), .policy = TLAT_SCHED_IDLE },
	{ .size = sizeof(struct tlat_rt_opts), .policy = TLAT_SCHED_FIFO, .priority = 2 },
	{ .size = sizeof(struct tlat_rt_opts),
	  .policy = TLAT_SCHED_RR,
	  .priority = 9,
	  .slack_ns = 99 },
	{ .size = sizeof(struct tlat_rt_opts),
	  .policy = TLAT_SCHED_DEADLINE,
	  .runtime_ns = 200000,
	  .deadline_ns = 5000000,
	  .period_ns = 10000000 },
};

static void every_policy_is_reached_from_every_other_and_undone(void **state)
{
	int done = 0;

	(void)state;
	need_root();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(starts); i++)
		for (size_t j = 0; j < TLAT_ARRAY_SIZE(targets); j++) {
			struct change change = { starts[i], targets[j] };
			const char *text = in_child(change_and_undo, &change);
			char expect[64];

			if (!strcmp(text, "cannot start"))
				continue;
			assert_undone(text);
			if (!strstr(text, "apply 0\n")) {
				assert_int_equal(targets[j].policy, TLAT_SCHED_DEADLINE);
				continue;
			}
			snprintf(expect, sizeof(expect), "state 0 %s %d\n",
				 tlat_policy_name(targets[j].policy), targets[j].priority);
			assert_says(text, expect);
			if (targets[j].policy == TLAT_SCHED_OTHER)
				assert_says(during(text), "slack 99\n");
			snprintf(expect, sizeof(expect), "flags %llu nice",
				 (unsigned long long)starts[i].flags);
			assert_says(during(text), expect);
			done++;
		}
	assert_true(done >= 4 * 7);
}

/* A nice value is kept even by a thread that is real-time and does not show it. */
static void keep_hidden_nice(struct words *words, const void *arg)
{
	const struct tlat_sched fifo = { .size = 48, .policy = SCHED_FIFO, .priority = 3 };
	const struct tlat_rt_opts other = TLAT_RT_OPTS(.policy = TLAT_SCHED_OTHER);
	struct tlat_rt *rt;

	(void)arg;
	setpriority(PRIO_PROCESS, 0, 6);
	if (tlat_sched_set(&fifo) < 0)
		return;
	rt = apply(words, &other);
	say(words, "during %d\n", getpriority(PRIO_PROCESS, 0));
	tlat_rt_undo(rt);
	say(words, "after %d\n", getpriority(PRIO_PROCESS, 0));
}

static void inherit_under_fifo(struct words *words, const void *arg)
{
	struct tlat_rt_opts fifo = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 7);
	struct tlat_rt_opts opts = TLAT_RT_OPTS(.lock_all = 1);
	struct tlat_rt *rt;

	prctl(PR_SET_TIMERSLACK, 77000UL, 0UL, 0UL, 0UL);
	rt = apply(words, arg ? &fifo : NULL);
	say(words, "inherit %d", tlat_rt_inherit(&opts));
	say(words, " %s %d slack %lld lock_all %d\n", tlat_policy_name(opts.policy), opts.priority,
	    (long long)opts.slack_ns, opts.lock_all);
	tlat_rt_undo(rt);
}

static void *change_slack_as_other(void *arg)
{
	const struct tlat_rt_opts slack = TLAT_RT_OPTS(.slack_ns = 4321);
	struct sched_param none = { 0 };
	struct words *words = arg;
	struct tlat_rt *rt;
	int before;

	sched_setscheduler(0, SCHED_OTHER, &none);
	before = prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
	rt = apply(words, &slack);
	tlat_rt_undo(rt);
	say(words, "changed by %d", prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L) - before);
	return NULL;
}

static void change_slack_below_fifo(struct words *words, const void *arg)
{
	struct sched_param param = { .sched_priority = 7 };
	pthread_t thread;

	(void)arg;
	sched_setscheduler(0, SCHED_FIFO, &param);
	if (pthread_create(&thread, NULL, change_slack_as_other, words) == 0)
		pthread_join(thread, NULL);
}

static void no_slack_of_an_ordinary_thread_comes_back(void **state)
{
	(void)state;
	need_root();
	assert_string_equal(in_child(change_slack_below_fifo, NULL), "apply 0\nchanged by 0");
}

static void what_a_thread_has_can_be_passed_on(void **state)
{
	const char *text;

	(void)state;
	assert_says(in_child(inherit_under_fifo, NULL), "inherit 0 other 0 slack 77000 lock_all 1");
	need_root();
	text = in_child(inherit_under_fifo, "fifo");
	assert_says(text, "inherit 0 fifo 7 slack ");
	/* A real-time thread has its own slack before Linux 6.12, none since. */
	if (!strstr(text, "slack 77000 "))
		assert_says(text, "slack 0 ");
}

static void the_nice_value_of_a_real_time_thread_survives(void **state)
{
	(void)state;
	need_root();
	assert_string_equal(in_child(keep_hidden_nice, NULL), "apply 0\nduring 6\nafter 6\n");
}

static void lock_twice(struct words *words, const void *arg)
{
	const struct tlat_rt_opts lock = TLAT_RT_OPTS(.lock_all = 1);
	static char own[4096];
	struct tlat_rt *a, *b;

	if (arg)
		mlock(own, sizeof(own));
	a = apply(words, &lock);
	b = apply(words, &lock);
	tlat_rt_undo(a);
	say(words, "one left: %s\n", locked_kb() > 0 ? "locked" : "unlocked");
	tlat_rt_undo(b);
	say(words, "none left: %s\n", locked_kb() > 0 ? "locked" : "unlocked");
}

static void memory_stays_locked_for_the_last_holder_and_for_its_owner(void **state)
{
	const char *text;

	(void)state;
	need_mlockall();
	text = in_child(lock_twice, NULL);
	assert_string_equal(text, "apply 0\napply 0\none left: locked\nnone left: unlocked\n");
	text = in_child(lock_twice, "the program locked a page itself");
	assert_string_equal(text, "apply 0\napply 0\none left: locked\nnone left: locked\n");
}

/* A child has no locks, though the program that forked it has: the last of its own undoes them. */
static void fork_while_locked(struct words *words, const void *arg)
{
	const struct tlat_rt_opts lock = TLAT_RT_OPTS(.lock_all = 1);
	struct tlat_rt *held = apply(words, &lock), *own;
	int status;
	pid_t pid = fork();

	(void)arg;
	if (pid == 0) {
		bool locked = tlat_rt_apply(&own, &lock, NULL) == 0 && locked_kb() > 0;

		tlat_rt_undo(locked ? own : NULL);
		_exit(locked ? locked_kb() > 0 : 2);
	}
	waitpid(pid, &status, 0);
	say(words, "child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	tlat_rt_undo(held);
	say(words, "none left: %s\n", locked_kb() > 0 ? "locked" : "unlocked");
}

static void a_forked_child_locks_and_unlocks_for_itself(void **state)
{
	(void)state;
	need_mlockall();
	assert_string_equal(in_child(fork_while_locked, NULL),
			    "apply 0\nchild 0\nnone left: unlocked\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(policy_names_go_both_ways),
		cmocka_unit_test(options_without_sense_are_refused_with_the_bad_value),
		cmocka_unit_test(shorter_and_longer_option_structs_are_understood),
		cmocka_unit_test(nothing_asked_is_nothing_changed),
		cmocka_unit_test(affinity_and_slack_need_no_privilege),
		cmocka_unit_test(everything_at_once_is_in_force_and_undone),
		cmocka_unit_test(every_policy_is_reached_from_every_other_and_undone),
		cmocka_unit_test(no_slack_of_an_ordinary_thread_comes_back),
		cmocka_unit_test(what_a_thread_has_can_be_passed_on),
		cmocka_unit_test(the_nice_value_of_a_real_time_thread_survives),
		cmocka_unit_test(memory_stays_locked_for_the_last_holder_and_for_its_owner),
		cmocka_unit_test(a_forked_child_locks_and_unlocks_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
