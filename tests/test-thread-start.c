// SPDX-License-Identifier: MIT
/*
 * test-thread-start.c - no thread of the library ever runs a handler of the program: each begins
 * with every signal blocked. The linker sends every pthread_create() here first. Where none begins,
 * what is named, a limit or something else, is what keeps it from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "child.h"
#include "denied.h"
#include "newer.h"
#include "thread.h"

#define MANY 1000

typedef void *thread_fn(void *arg);

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_fn *fn, void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_fn *fn, void *arg);

static atomic_int started, unblocked;

/* All but those that nobody can block and those of the C library. */
static bool blocks_all(void)
{
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	for (int s = 1; s <= SIGRTMAX; s++)
		if (s != SIGKILL && s != SIGSTOP && (s < 32 || s >= SIGRTMIN) &&
		    !sigismember(&set, s))
			return false;
	return true;
}

/* A thread has the mask of the one that creates it. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_fn *fn, void *arg)
{
	atomic_fetch_add(&started, 1);
	if (!blocks_all())
		atomic_fetch_add(&unblocked, 1);
	return __real_pthread_create(thread, attr, fn, arg);
}

static struct tlat_machine *machine;
static struct tlat_clock *clock_used;

static int open_all(void **state)
{
	(void)state;
	return tlat_machine_open(&machine, NULL, NULL) < 0 ||
	       tlat_clock_open(&clock_used, machine, TLAT_CLOCK_AUTO, NULL) < 0;
}

static int close_all(void **state)
{
	(void)state;
	tlat_clock_close(clock_used);
	tlat_machine_close(machine);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	atomic_store(&started, 0);
	atomic_store(&unblocked, 0);
	return 0;
}

static void assert_quiet(int error)
{
	sigset_t mask;

	assert_int_equal(error, 0);
	assert_true(atomic_load(&started) > 0);
	assert_int_equal(atomic_load(&unblocked), 0);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	assert_false(sigismember(&mask, SIGUSR1));
}

static void those_of_a_run(void **state)
{
	const struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = "wake-futex", .machine = machine, .clock = clock_used,
			      .samples = 50, .warmup = 10, .policy = TLAT_SCHED_FIFO,
			      .priority = 40);
	struct tlat_report *report = NULL;

	(void)state;
	assert_quiet(tlat_run(&report, &opts, NULL));
	tlat_report_free(report);
}

static void those_of_a_check(void **state)
{
	struct tlat_report *report = NULL;

	(void)state;
	assert_quiet(tlat_check(&report, machine, clock_used, NULL));
	tlat_report_free(report);
}

static void those_of_a_clock(void **state)
{
	struct tlat_clock *clock = NULL;

	(void)state;
	assert_quiet(tlat_clock_open(&clock, machine, TLAT_CLOCK_AUTO, NULL));
	tlat_clock_close(clock);
}

static void those_of_noise(void **state)
{
	const struct tlat_noise_opts opts =
		TLAT_NOISE_OPTS(.machine = machine, .clock = clock_used, .duration_ns = 20000000,
				.policy = TLAT_SCHED_OTHER);
	struct tlat_report *report = NULL;

	(void)state;
	assert_quiet(tlat_noise(&report, &opts, NULL));
	tlat_report_free(report);
}

static void those_of_every_scale(void **state)
{
	const int64_t sizes[] = { 1, 4 };

	(void)state;
	for (int32_t what = TLAT_SCALE_TIMERS; what <= TLAT_SCALE_PAIRS; what++) {
		const struct tlat_scale_opts opts =
			TLAT_SCALE_OPTS(.machine = machine, .clock = clock_used, .sizes = sizes,
					.n_sizes = 2, .rounds = what == TLAT_SCALE_PAIRS ? 0 : 2,
					.duration_ns = what == TLAT_SCALE_PAIRS ? 20000000 : 0,
					.what = what, .threads = what == TLAT_SCALE_TIMERS);
		struct tlat_report *report = NULL;

		forget(NULL);
		assert_quiet(tlat_scale(&report, &opts, NULL));
		tlat_report_free(report);
	}
}

static void *nothing(void *arg)
{
	return arg;
}

/* As nobody: root is held by none of these limits. */
static void start_within(struct words *words, const void *arg)
{
	int resource = *(const int *)arg;
	const rlim_t most = resource == RLIMIT_NPROC ? 1 : 65536;
	const struct rlimit little = { most, most };
	char text[TLAT_REFUSAL_TEXT];
	pthread_t thread;
	int error = 0;

	setrlimit(resource, &little);
	if (!become_nobody() || (resource == RLIMIT_MEMLOCK && mlockall(MCL_FUTURE) < 0))
		return;
	/* The C library keeps stacks of threads that were: so many that they are used up. */
	for (int i = 0; i < MANY && !error; i++)
		error = tlat_thread_start(&thread, NULL, nothing, NULL);
	say(words, "%s", tlat_thread_refusal(error, 0, text, sizeof(text)));
}

static void the_limit_that_refuses_a_thread_is_named(void **state)
{
	const int threads = RLIMIT_NPROC, locks = RLIMIT_MEMLOCK, space = RLIMIT_AS;
	const char *text;

	(void)state;
	need_root();
	assert_says(in_child(start_within, &threads), "check RLIMIT_NPROC");
	need_mlockall();
	text = in_child(start_within, &locks);
	assert_says(text, "RLIMIT_MEMLOCK is 65536 bytes, which leaves no 262144 for its stack");
	assert_null(strstr(text, "NPROC"));
	assert_says(in_child(start_within, &space), "RLIMIT_AS");
}

/* Nothing where a thread starts. */
static void say_refusal(struct words *words)
{
	char text[TLAT_REFUSAL_TEXT];
	pthread_t thread;
	int error = tlat_thread_start(&thread, NULL, nothing, NULL);

	if (error)
		say(words, "%s", tlat_thread_refusal(error, 0, text, sizeof(text)));
	else
		pthread_join(thread, NULL);
}

static void start_under_deadline(struct words *words, const void *arg)
{
	const uint64_t *flags = arg;
	const struct tlat_sched deadline = { .size = sizeof(deadline),
					     .policy = SCHED_DEADLINE,
					     .flags = *flags,
					     .runtime_ns = 500000,
					     .deadline_ns = 1000000,
					     .period_ns = 1000000 };

	if (tlat_sched_set(&deadline) < 0)
		say(words, "not granted");
	else
		say_refusal(words);
}

static void a_deadline_that_cannot_be_inherited_is_named(void **state)
{
	const uint64_t kept = 0, reset = 1; /* SCHED_FLAG_RESET_ON_FORK */
	const char *text = in_child(start_under_deadline, &kept);

	(void)state;
	if (!strcmp(text, "not granted"))
		skip();
	assert_says(text, "SCHED_DEADLINE");
	assert_says(text, "chrt -R");
	assert_null(strstr(text, "NPROC"));
	assert_string_equal(in_child(start_under_deadline, &reset), "");
}

/* Where the C library knows clone3, it takes its EPERM for an answer. */
static int names_the_filter(const char *unused)
{
	struct words words = { .n = 0 };

	(void)unused;
	say_refusal(&words);
	if (!words.n)
		return -ENOSYS;
	return strstr(words.text, "seccomp") && !strstr(words.text, "NPROC") ? 0 : -EINVAL;
}

static void a_filter_is_not_taken_for_a_limit(void **state)
{
	int found = under_denial(names_the_filter, NULL, SYS_clone3);

	(void)state;
	if (found == NO_FILTER || found == ENOSYS)
		skip();
	assert_int_equal(found, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(those_of_a_run, forget),
		cmocka_unit_test_setup(those_of_a_check, forget),
		cmocka_unit_test_setup(those_of_a_clock, forget),
		cmocka_unit_test_setup(those_of_noise, forget),
		cmocka_unit_test_setup(those_of_every_scale, forget),
		cmocka_unit_test(the_limit_that_refuses_a_thread_is_named),
		cmocka_unit_test(a_deadline_that_cannot_be_inherited_is_named),
		cmocka_unit_test(a_filter_is_not_taken_for_a_limit),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
