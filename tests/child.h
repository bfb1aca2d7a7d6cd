/* SPDX-License-Identifier: MIT */
/*
 * child.h - what changes a thread runs in a child process, whose words come back on a pipe; and
 * all that can be seen of a thread, to be compared before and after.
 */
#ifndef TLAT_TESTS_CHILD_H
#define TLAT_TESTS_CHILD_H

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt_parts.h"

#define NOBODY 65534

/* What a child has to say; a line each. */
struct words {
	char text[8192];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static inline void say(struct words *words,
							     const char *format, ...)
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
static inline const char *in_child(scenario *run, const void *arg)
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

static inline void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static inline void need_root(void)
{
	if (geteuid() != 0 || !tlat_rt_capable("cap_sys_nice"))
		skip();
}

static inline int64_t locked_kb(void)
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

static inline void try_mlockall(struct words *words, const void *arg)
{
	(void)arg;
	if (mlockall(MCL_CURRENT) == 0 && locked_kb() > 0)
		say(words, "real");
}

/* The address sanitizer answers mlockall itself, because its shadow must not be locked. */
static inline void need_mlockall(void)
{
	need_root();
	if (strcmp(in_child(try_mlockall, NULL), "real"))
		skip();
}

static inline bool become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	       setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

/* Apply, and say what came of it. */
static inline struct tlat_rt *apply(struct words *words, const struct tlat_rt_opts *opts)
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

static inline void say_state(struct words *words)
{
	struct tlat_rt_state state = { .size = sizeof(state) };
	int r = tlat_rt_state(&state);

	say(words, "state %d %s %d\n", r, tlat_policy_name(state.policy), state.priority);
}

/* All that a caller could see of its thread: kernel attributes, /proc, descriptors. */
static inline void snapshot(struct words *words)
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

/* What was said between apply and undo. */
static inline const char *during(const char *text)
{
	static char part[4096];
	const char *from = strstr(text, "\n--\n"), *to = from ? strstr(from + 4, "\n--\n") : NULL;

	assert_non_null(to);
	snprintf(part, sizeof(part), "%.*s", (int)(to + 1 - from - 4), from + 4);
	return part;
}

static inline void assert_undone(const char *text)
{
	static char before[4096];
	const char *after = strstr(text, "\n--\n");

	assert_non_null(after);
	snprintf(before, sizeof(before), "%.*s", (int)(after + 1 - text), text);
	after = strstr(after + 4, "\n--\n");
	assert_non_null(after);
	assert_string_equal(before, after + 4);
}

struct change {
	struct tlat_sched from;
	struct tlat_rt_opts opts;
};

static inline void change_and_undo(struct words *words, const void *arg)
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

/* The last CPU that this process may use, in kernel syntax. */
static inline const char *one_cpu(void)
{
	static char list[16];
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			snprintf(list, sizeof(list), "%d", cpu);
	return list;
}

#endif /* TLAT_TESTS_CHILD_H */
