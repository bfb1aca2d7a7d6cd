// SPDX-License-Identifier: MIT
/*
 * test-rt.c - real-time attributes: in force, read back, undone to the last bit, refusals
 * explained. Whatever changes a thread runs in a child process, whose words come back on a pipe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "machine.h"
#include "rt_parts.h"
#include "tree.h"

#define NOBODY 65534

/* What a child has to say; a line each. */
struct words {
	char text[8192];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	words->n += (size_t)vsnprintf(words->text + words->n, sizeof(words->text) - words->n,
				      format, args);
	va_end(args);
	if (words->n >= sizeof(words->text))
		words->n = sizeof(words->text) - 1;
}

typedef void scenario(struct words *words, const void *arg);

/* Run one in a child; its words are static until the next call. */
static const char *in_child(scenario *run, const void *arg)
{
	static struct words words;
	int fds[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	words = (struct words){ .n = 0 };
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		run(&words, arg);
		_exit(write(fds[1], words.text, words.n) == (ssize_t)words.n ? 0 : 1);
	}
	close(fds[1]);
	while ((got = read(fds[0], words.text + words.n, sizeof(words.text) - 1 - words.n)) > 0)
		words.n += (size_t)got;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	words.text[words.n] = '\0';
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return words.text;
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static void need_root(void)
{
	if (geteuid() != 0 || !tlat_rt_capable("cap_sys_nice"))
		skip();
}

static int64_t locked_kb(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	long long kb = -1;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmLck: %lld", &kb);
	if (file)
		fclose(file);
	return kb;
}

static void try_mlockall(struct words *words, const void *arg)
{
	(void)arg;
	if (mlockall(MCL_CURRENT) == 0 && locked_kb() > 0)
		say(words, "real");
}

/* The address sanitizer answers mlockall itself, because its shadow must not be locked. */
static void need_mlockall(void)
{
	need_root();
	if (strcmp(in_child(try_mlockall, NULL), "real"))
		skip();
}

static bool become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	       setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

/* Apply, and say what came of it. */
static struct tlat_rt *apply(struct words *words, const struct tlat_rt_opts *opts)
{
	struct tlat_error error = { 0 };
	struct tlat_rt *rt = NULL;
	int r;

	errno = ENOENT;
	r = tlat_rt_apply(&rt, opts, &error);
	say(words, "apply %d", r);
	if (r < 0)
		say(words, " %d %s", error.code, error.text);
	say(words, "\n");
	return rt;
}

static void say_state(struct words *words)
{
	struct tlat_rt_state state = { .size = sizeof(state) };
	int r = tlat_rt_state(&state);

	say(words, "state %d %s %d\n", r, tlat_policy_name(state.policy), state.priority);
}

/* All that a caller could see of its thread: kernel attributes, /proc, descriptors. */
static void snapshot(struct words *words)
{
	static const char *const keys[] = { "VmLck:", "Cap", "Cpus_allowed", "Seccomp:" };
	struct tlat_sched sched = { 0 };
	char line[512];
	int n_fds = 0;
	FILE *file;

	tlat_sched_get(&sched);
	say(words, "policy %u flags %llu nice %d prio %u runtime %llu %llu %llu\n", sched.policy,
	    (unsigned long long)sched.flags, sched.nice, sched.priority,
	    (unsigned long long)sched.runtime_ns, (unsigned long long)sched.deadline_ns,
	    (unsigned long long)sched.period_ns);
	say(words, "slack %d\n", prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L));
	file = fopen("/proc/thread-self/status", "re");
	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < TLAT_ARRAY_SIZE(keys); i++)
			if (!strncmp(line, keys[i], strlen(keys[i])))
				say(words, "%s", line);
	if (file)
		fclose(file);
	for (int fd = 0; fd < 256; fd++)
		n_fds += fcntl(fd, F_GETFD) >= 0;
	say(words, "fds %d\n", n_fds);
}

static void assert_undone(const char *text)
{
	static char before[4096];
	const char *after = strstr(text, "\n--\n");

	assert_non_null(after);
	snprintf(before, sizeof(before), "%.*s", (int)(after + 1 - text), text);
	after = strstr(after + 4, "\n--\n");
	assert_non_null(after);
	assert_string_equal(before, after + 4);
}

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
		{ { .policy = TLAT_SCHED_IDLE }, "SCHED_IDLE" },
		{ { .policy = TLAT_SCHED_DEADLINE, .runtime_ns = 5 }, "runtime 5 ns" },
		{ { .policy = TLAT_SCHED_DEADLINE,
		    .runtime_ns = 5,
		    .deadline_ns = 4,
		    .period_ns = 9 },
		  "runtime <= deadline" },
		{ { .policy = TLAT_SCHED_OTHER, .period_ns = 9 }, "SCHED_DEADLINE" },
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

struct change {
	struct tlat_sched from;
	struct tlat_rt_opts opts;
};

static void change_and_undo(struct words *words, const void *arg)
{
	const struct change *change = arg;
	struct tlat_rt *rt;

	if (change->from.size && tlat_sched_set(&change->from) < 0) {
		say(words, "cannot start");
		return;
	}
	if (tlat_sched_is_fair(&change->from))
		prctl(PR_SET_TIMERSLACK, 777L, 0L, 0L, 0L);
	snapshot(words);
	say(words, "--\n");
	rt = apply(words, &change->opts);
	say_state(words);
	snapshot(words);
	tlat_rt_undo(rt);
	say(words, "--\n");
	snapshot(words);
}

static void nothing_asked_is_nothing_changed(void **state)
{
	const struct change change = { .opts = { .size = sizeof(change.opts) } };

	(void)state;
	assert_undone(in_child(change_and_undo, &change));
}

/* The last CPU that this process may use, in kernel syntax. */
static const char *one_cpu(void)
{
	static char list[16];
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			snprintf(list, sizeof(list), "%d", cpu);
	return list;
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
	assert_says(text, "slack 4321\n");
	snprintf(expect, sizeof(expect), "Cpus_allowed_list:\t%s\n", change.opts.cpus);
	assert_says(text, expect);
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
				assert_says(strstr(text, "--"), "slack 99\n");
			snprintf(expect, sizeof(expect), "flags %llu nice",
				 (unsigned long long)starts[i].flags);
			assert_says(strstr(text, "--"), expect);
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

	(void)state;
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
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

#define CAPS_NONE    "Name:\tx\nCapEff:\t0000000000000000\n"
#define CAPS_ALL     "Name:\tx\nCapEff:\t000001ffffffffff\n"
#define NO_FILTER    "Seccomp:\t0\nCpus_allowed_list:\t0-3\n"
#define FILTER	     "Seccomp:\t2\nCpus_allowed_list:\t0-3\n"
#define FIRST_USERNS "         0          0 4294967295\n"
#define ROOTLESS     "         0       1000          1\n"
#define LIMITS(soft, hard)                                                                         \
	"Limit                     Soft Limit           Hard Limit           Units     \n"         \
	"Max realtime priority     " soft "                    " hard "                    \n"

struct diagnosis {
	const char *status, *uid_map, *limits, *cgroup;
	const char *knob, *knob_text;
	int policy, error;
	const char *cause, *says;
};

static const struct diagnosis diagnoses[] = {
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  EPERM, "capability", "RLIMIT_RTPRIO is 0 and CAP_SYS_NICE is missing; run with sudo" },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("5", "90"), NULL, NULL, NULL, TLAT_SCHED_RR,
	  EPERM, "rlimit", "SCHED_RR 80 refused: RLIMIT_RTPRIO is 5 (hard limit 90)" },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("0", "unlimited"), NULL, NULL, NULL,
	  TLAT_SCHED_FIFO, EPERM, "rlimit", "prlimit --rtprio=80:99" },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("10", "10"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  EPERM, "rlimit", "at most 10" },
	{ CAPS_ALL NO_FILTER, ROOTLESS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO, EPERM,
	  "capability", "in this user namespace only" },
	{ CAPS_ALL FILTER, FIRST_USERNS, LIMITS("0", "0"), "1:cpu:/rt/a\n",
	  "sys/fs/cgroup/cpu/rt/a/cpu.rt_runtime_us", "0\n", TLAT_SCHED_FIFO, EPERM,
	  "cgroup-budget",
	  "cgroup /rt/a has no real-time budget (cpu.rt_runtime_us is 0), which "
	  "binds root too; echo 500000 > /sys/fs/cgroup/cpu/rt/a/cpu.rt_runtime_us" },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("99", "99"), "4:cpu,cpuacct:/s\n",
	  "sys/fs/cgroup/cpu,cpuacct/s/cpu.rt_runtime_us", "0\n", TLAT_SCHED_FIFO, EPERM,
	  "cgroup-budget", "/sys/fs/cgroup/cpu,cpuacct/s/cpu.rt_runtime_us" },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), "2:cpuset:/\n1:cpu:/docker/f00\n",
	  "sys/fs/cgroup/cpu/cpu.rt_runtime_us", "0\n", TLAT_SCHED_FIFO, EPERM, "cgroup-budget",
	  "cgroup /docker/f00" },
	{ CAPS_ALL FILTER, FIRST_USERNS, LIMITS("0", "0"), "1:cpu:/\n",
	  "sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n", TLAT_SCHED_FIFO, EPERM, "seccomp",
	  "the call gave EPERM and a system call filter" },
	{ CAPS_NONE FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  ENOSYS, "seccomp", "ENOSYS" },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  ENOSYS, "seccomp", "ENOSYS" },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), "1:cpu:/\n",
	  "sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n", TLAT_SCHED_FIFO, EPERM, "unknown",
	  "security module" },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  ESRCH, "unknown", "gave ESRCH" },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("99", "99"), NULL, NULL, NULL,
	  TLAT_SCHED_DEADLINE, EPERM, "capability", "SCHED_DEADLINE refused: CAP_SYS_NICE" },
	{ CAPS_ALL "Seccomp:\t0\nCpus_allowed_list:\t1,3\n", FIRST_USERNS, LIMITS("0", "0"), NULL,
	  "sys/devices/system/cpu/online", "0-3\n", TLAT_SCHED_DEADLINE, EPERM, "admission",
	  "on CPUs 1,3 only" },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, "sys/devices/system/cpu/online",
	  "0-3\n", TLAT_SCHED_DEADLINE, EPERM, "unknown", "security module" },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_DEADLINE,
	  EBUSY, "admission", "ask for less" },
	{ "", "", "", "garbage\n::\n1:cpu\n", NULL, NULL, TLAT_SCHED_FIFO, EINVAL, "unknown",
	  "gave EINVAL" },
};

static void put_diagnosis(const struct tree *tree, const struct diagnosis *d)
{
	put(tree, "proc/self/status", d->status);
	put(tree, "proc/self/uid_map", d->uid_map);
	put(tree, "proc/self/limits", d->limits);
	put(tree, "proc/self/cgroup", d->cgroup ? d->cgroup : "0::/\n");
	if (d->knob)
		put(tree, d->knob, d->knob_text);
}

static void each_cause_of_a_refusal_is_told_from_the_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(diagnoses); i++) {
		const struct diagnosis *d = &diagnoses[i];
		int priority = d->policy == TLAT_SCHED_DEADLINE ? 0 : 80;
		char text[508];
		const char *cause;
		void *fresh;

		assert_int_equal(tree_setup(&fresh), 0);
		put_diagnosis(fresh, d);
		cause = tlat_rt_explain(((struct tree *)fresh)->fd, d->policy, priority, d->error,
					text, sizeof(text));
		tree_teardown(&fresh);
		assert_string_equal(cause, d->cause);
		assert_says(text, d->says);
		assert_true(strlen(text) < sizeof(text) - 1);
		assert_null(strchr(text, '\n'));
	}
}

static void a_unified_group_is_suspected_last(void **state)
{
	const struct tree *tree = *state;
	char text[508];

	put_diagnosis(tree, &(struct diagnosis){ .status = CAPS_ALL NO_FILTER,
						 .uid_map = FIRST_USERNS,
						 .limits = LIMITS("0", "0"),
						 .cgroup = "0::/a.slice\n" });
	put(tree, "sys/fs/cgroup/cgroup.controllers", "cpu cpuset\n");
	put(tree, "sys/fs/cgroup/a.slice/cgroup.type", "domain\n");
	assert_string_equal(
		tlat_rt_explain(tree->fd, TLAT_SCHED_FIFO, 80, EPERM, text, sizeof(text)),
		"unknown");
	put(tree, "sys/fs/cgroup/a.slice/cpu.max", "max 100000\n");
	assert_string_equal(
		tlat_rt_explain(tree->fd, TLAT_SCHED_FIFO, 80, EPERM, text, sizeof(text)),
		"cgroup-budget");
	assert_says(text, "cgroup /a.slice has the v2 cpu controller");
}

static void a_short_buffer_is_never_overrun(void **state)
{
	const struct tree *tree = *state;
	char text[64];

	for (size_t size = 1; size <= sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		tlat_rt_explain(tree->fd, TLAT_SCHED_FIFO, 80, EPERM, text, size);
		assert_true(strlen(text) < size);
		for (size_t i = size; i < sizeof(text); i++)
			assert_int_equal(text[i], 'x');
	}
}

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
	assert_says(text, "\nkeep 0 110\nagain 0 10\nnone 0 0\nother thread unchanged\n");
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
		cmocka_unit_test(policy_names_go_both_ways),
		cmocka_unit_test(options_without_sense_are_refused_with_the_bad_value),
		cmocka_unit_test(shorter_and_longer_option_structs_are_understood),
		cmocka_unit_test(nothing_asked_is_nothing_changed),
		cmocka_unit_test(affinity_and_slack_need_no_privilege),
		cmocka_unit_test(everything_at_once_is_in_force_and_undone),
		cmocka_unit_test(every_policy_is_reached_from_every_other_and_undone),
		cmocka_unit_test(the_nice_value_of_a_real_time_thread_survives),
		cmocka_unit_test(memory_stays_locked_for_the_last_holder_and_for_its_owner),
		cmocka_unit_test(a_refusal_without_privilege_names_limit_and_capability),
		cmocka_unit_test(a_refused_memory_lock_names_the_limit_of_this_process),
		cmocka_unit_test(a_policy_call_that_lies_is_noticed),
		cmocka_unit_test(affinity_slack_and_lock_calls_that_lie_are_noticed),
		cmocka_unit_test(a_filter_is_named_and_so_is_its_answer),
		cmocka_unit_test(where_only_the_older_call_is_allowed_it_is_used),
		cmocka_unit_test(a_group_without_budget_is_named_even_to_root),
		cmocka_unit_test(each_cause_of_a_refusal_is_told_from_the_others),
		REPLAYED(a_unified_group_is_suspected_last),
		REPLAYED(a_short_buffer_is_never_overrun),
		REPLAYED(the_idle_request_is_four_bytes_of_microseconds),
		REPLAYED(an_idle_request_that_is_not_held_is_an_error),
		REPLAYED(a_refused_idle_request_says_what_to_type),
		REPLAYED(a_failed_idle_request_undoes_what_came_before_it),
		cmocka_unit_test(capabilities_are_dropped_by_the_calling_thread_alone),
		cmocka_unit_test(a_capability_that_does_not_exist_is_named),
		cmocka_unit_test(undoing_needs_no_capability),
		REPLAYED(the_group_directory_is_found_in_both_hierarchies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
