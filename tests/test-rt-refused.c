// SPDX-License-Identifier: MIT
/* test-rt-refused.c - calls that are refused, filtered or lie: noticed, named, undone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"

static void as_nobody(struct words *words, const void *arg)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_RTPRIO, &none);
	if (become_nobody())
		change_and_undo(words, arg);
}

static void a_refusal_without_privilege_names_limit_and_capability(void **state)
{
	struct change change = { .opts = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 80,
						      .slack_ns = 5) };
	const char *text;

	(void)state;
	need_root();
	change.opts.cpus = one_cpu();
	text = in_child(as_nobody, &change);
	assert_says(text,
		    "apply -1 -1 SCHED_FIFO 80 refused: RLIMIT_RTPRIO is 0 and CAP_SYS_NICE is "
		    "missing; run with sudo, setcap cap_sys_nice+ep, or raise rtprio in "
		    "/etc/security/limits.conf\n");
	assert_says(text, "state 0 other 0\n");
	assert_undone(text);
}

/* Functions of pthread return their error and leave errno as it was. */
static void as_nobody_with_stale_errno(struct words *words, const void *arg)
{
	struct rlimit none = { 0, 0 };
	struct tlat_error error;

	setrlimit(RLIMIT_RTPRIO, &none);
	if (!become_nobody())
		return;
	errno = ENOENT;
	say(words, "try %d\n", tlat_rt_try(arg, &error));
	say(words, "code %d\n", error.code);
	errno = ENOENT;
	tlat_rt_undo(apply(words, arg));
}

static void a_stale_errno_is_never_the_reason(void **state)
{
	const struct tlat_rt_opts fifo = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 80);
	char expect[64];
	const char *text;

	(void)state;
	need_root();
	text = in_child(as_nobody_with_stale_errno, &fifo);
	snprintf(expect, sizeof(expect), "try %d\ncode %d\napply %d %d ", -EPERM, -EPERM, -EPERM,
		 -EPERM);
	assert_says(text, expect);
	assert_null(strstr(text, "ENOENT"));
}

static void leave_idle_as_nobody(struct words *words, const void *arg)
{
	const struct tlat_sched idle = { .size = sizeof(idle), .policy = SCHED_IDLE };
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_NICE, &none);
	if (become_nobody() && tlat_sched_set(&idle) == 0)
		tlat_rt_undo(apply(words, arg));
}

static void leaving_the_idle_policy_names_the_nice_limit(void **state)
{
	const struct tlat_rt_opts other = TLAT_RT_OPTS(.policy = TLAT_SCHED_OTHER);
	const char *text;
	char expect[64];

	(void)state;
	need_root();
	text = in_child(leave_idle_as_nobody, &other);
	assert_says(text, "apply -1 -1 SCHED_OTHER refused: the thread is under SCHED_IDLE");
	snprintf(expect, sizeof(expect),
		 "RLIMIT_NICE of at least %d:", 20 - getpriority(PRIO_PROCESS, 0));
	assert_says(text, expect);
}

static void lock_with_small_limit(struct words *words, const void *arg)
{
	struct rlimit small = { 65536, 65536 };

	setrlimit(RLIMIT_MEMLOCK, &small);
	if (become_nobody())
		change_and_undo(words, arg);
}

static void a_refused_memory_lock_names_the_limit_of_this_process(void **state)
{
	const struct change change = { .opts = TLAT_RT_OPTS(.lock_all = 1, .slack_ns = 5) };
	const char *text;

	(void)state;
	need_mlockall();
	text = in_child(lock_with_small_limit, &change);
	assert_says(text, "RLIMIT_MEMLOCK is 65536 bytes (hard limit 65536 bytes)");
	assert_says(text, "CAP_IPC_LOCK is missing");
	assert_undone(text);
}

struct fault {
	struct tlat_rt_opts opts;
	uint32_t call, call2; /* call2 0: none, which is read(2) on some machines */
	uint32_t first_arg;   /* of prctl; 0: any */
	int error;	      /* 0: claim success */
};

/* Let the calls answer with error without being run. */
static bool install_fault(const struct fault *fault)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fault->call, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fault->call2 ? fault->call2 : fault->call, 1,
			 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, fault->first_arg ? 0 : UINT32_MAX, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fault->first_arg, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)fault->error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = TLAT_ARRAY_SIZE(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) == 0 &&
	       prctl(PR_SET_SECCOMP, (long)SECCOMP_MODE_FILTER, &program, 0L, 0L) == 0;
}

static void under_fault(struct words *words, const void *arg)
{
	const struct fault *fault = arg;
	struct tlat_rt *rt;

	if (!install_fault(fault)) {
		say(words, "cannot start");
		return;
	}
	snapshot(words);
	say(words, "--\n");
	rt = apply(words, &fault->opts);
	say_state(words);
	tlat_rt_undo(rt);
	say(words, "--\n");
	snapshot(words);
}

static const char *with_fault(const struct fault *fault)
{
	const char *text = in_child(under_fault, fault);

	if (!strcmp(text, "cannot start"))
		skip();
	assert_undone(text);
	return text;
}

static void a_policy_call_that_lies_is_noticed(void **state)
{
	const struct fault fault = {
		.opts = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 80),
		.call = SYS_sched_setattr,
		.call2 = SYS_sched_setscheduler,
	};
	const char *text;
	char expect[64];

	(void)state;
	text = with_fault(&fault);
	snprintf(expect, sizeof(expect), "apply %d", -EPROTO);
	assert_says(text, expect);
	assert_says(text, "sched_setattr reported success but SCHED_OTHER is in force instead of "
			  "SCHED_FIFO 80 (a seccomp filter or a preloaded library");
}

static void affinity_slack_and_lock_calls_that_lie_are_noticed(void **state)
{
	struct fault affinity = { .opts = TLAT_RT_OPTS(.slack_ns = 0),
				  .call = SYS_sched_setaffinity };
	struct fault slack = { .opts = TLAT_RT_OPTS(.slack_ns = 31),
			       .call = SYS_prctl,
			       .first_arg = PR_SET_TIMERSLACK };
	struct fault lock = { .opts = TLAT_RT_OPTS(.lock_all = 1, .slack_ns = 31),
			      .call = SYS_mlockall };
	cpu_set_t allowed;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	if (CPU_COUNT(&allowed) > 1) {
		affinity.opts.cpus = one_cpu();
		assert_says(with_fault(&affinity), "sched_setaffinity reported success for");
	}
	assert_says(with_fault(&slack), "PR_SET_TIMERSLACK reported success for 31 ns");
	assert_says(with_fault(&lock), "mlockall reported success but no memory is locked");
}

static void a_filter_is_named_and_so_is_its_answer(void **state)
{
	static const struct {
		int error;
		const char *name;
	} answers[] = { { EPERM, "EPERM" }, { ENOSYS, "ENOSYS" } };

	(void)state;
	need_root();
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(answers); i++) {
		const struct fault fault = {
			.opts = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 80),
			.call = SYS_sched_setattr,
			.call2 = SYS_sched_setscheduler,
			.error = answers[i].error,
		};
		const char *text = with_fault(&fault);
		char expect[64];

		snprintf(expect, sizeof(expect), "apply %d", -answers[i].error);
		assert_says(text, expect);
		snprintf(expect, sizeof(expect), "refused: the call gave %s", answers[i].name);
		assert_says(text, expect);
		assert_says(text, "Seccomp: 2");
	}
}

static void where_only_the_older_call_is_allowed_it_is_used(void **state)
{
	const struct fault fault = {
		.opts = TLAT_RT_OPTS(.policy = TLAT_SCHED_RR, .priority = 4),
		.call = SYS_sched_setattr,
		.call2 = SYS_sched_getattr,
		.error = ENOSYS,
	};
	const char *text;

	(void)state;
	need_root();
	text = with_fault(&fault);
	assert_says(text, "apply 0\n");
	assert_says(text, "state 0 rr 4\n");
}

static void ask_who_answers(struct words *words, const void *arg)
{
	const struct fault *fault = arg;
	const struct tlat_sched fifo = { .size = sizeof(fifo),
					 .policy = SCHED_FIFO,
					 .priority = 1 };
	struct tlat_sched before, after;

	if (fault->call && !install_fault(fault)) {
		say(words, "cannot start");
		return;
	}
	tlat_sched_get(&before);
	say(words, "intercepted %d\n", tlat_sched_intercepted(&fifo));
	tlat_sched_get(&after);
	say(words, "changed %d\n", memcmp(&before, &after, sizeof(before)) != 0);
}

static void it_is_known_whether_the_kernel_answers(void **state)
{
	static const struct {
		struct fault fault;
		const char *says;
	} answers[] = {
		{ { .call = 0 }, "intercepted 0" },
		{ { .call = SYS_sched_setaffinity, .error = EPERM }, "intercepted 0" },
		{ { .call = SYS_sched_setattr, .error = EPERM }, "intercepted 1" },
		{ { .call = SYS_sched_setattr, .error = ENOSYS }, "intercepted 0" }, /* the older */
		{ { .call = SYS_sched_setattr, .call2 = SYS_sched_setscheduler, .error = ENOSYS },
		  "intercepted 1" },
		{ { .call = SYS_sched_setattr, .call2 = SYS_sched_setscheduler, .error = EPERM },
		  "intercepted 1" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(answers); i++) {
		const char *text = in_child(ask_who_answers, &answers[i].fault);

		/* Or the test is in a sandbox of somebody else's. */
		if (!strcmp(text, "cannot start") || (i == 0 && strstr(text, "intercepted 1")))
			skip();
		assert_says(text, answers[i].says);
		assert_says(text, "changed 0");
	}
}

#define V1_CPU "/sys/fs/cgroup/cpu"

static void in_cgroup(struct words *words, const void *arg)
{
	const struct tlat_rt_opts fifo = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 80);
	const char *dir = arg;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	file = fopen(path, "we");
	if (file) {
		fprintf(file, "%d\n", (int)getpid());
		fclose(file);
	}
	tlat_rt_undo(apply(words, &fifo));
}

static void a_group_without_budget_is_named_even_to_root(void **state)
{
	char dir[128], knob[192], expect[256];
	const char *text;

	(void)state;
	need_root();
	snprintf(dir, sizeof(dir), V1_CPU "/tlat-test-%d", (int)getpid());
	snprintf(knob, sizeof(knob), "%s/cpu.rt_runtime_us", dir);
	if (mkdir(dir, 0755) < 0)
		skip();
	if (access(knob, R_OK) < 0) {
		rmdir(dir);
		skip();
	}
	text = in_child(in_cgroup, dir);
	for (int i = 0; rmdir(dir) < 0 && i < 100; i++)
		usleep(10000);
	assert_says(text, "apply -1 -1 SCHED_FIFO 80 refused: cgroup /tlat-test-");
	snprintf(expect, sizeof(expect), "echo 500000 > %s", knob);
	assert_says(text, expect);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_without_privilege_names_limit_and_capability),
		cmocka_unit_test(a_stale_errno_is_never_the_reason),
		cmocka_unit_test(leaving_the_idle_policy_names_the_nice_limit),
		cmocka_unit_test(a_refused_memory_lock_names_the_limit_of_this_process),
		cmocka_unit_test(a_policy_call_that_lies_is_noticed),
		cmocka_unit_test(affinity_slack_and_lock_calls_that_lie_are_noticed),
		cmocka_unit_test(a_filter_is_named_and_so_is_its_answer),
		cmocka_unit_test(where_only_the_older_call_is_allowed_it_is_used),
		cmocka_unit_test(it_is_known_whether_the_kernel_answers),
		cmocka_unit_test(a_group_without_budget_is_named_even_to_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
