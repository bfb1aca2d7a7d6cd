// SPDX-License-Identifier: MIT
/*
 * test-host.c - a program with signals, handlers and a timer of its own runs every probe, and finds
 * all of it as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timerlat.h"

static struct tlat_machine *machine;
static struct tlat_clock *clock_used;
static char one_cpu[16], two_cpus[32];

static volatile sig_atomic_t alarms, reals, children;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void on_real(int signal)
{
	(void)signal;
	reals++;
}

static void on_child(int signal)
{
	(void)signal;
	children++;
}

static int open_all(void **state)
{
	int32_t cpus[2];
	int n;

	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) < 0 ||
	    tlat_clock_open(&clock_used, machine, TLAT_CLOCK_AUTO, NULL) < 0)
		return -1;
	n = tlat_machine_cpus(machine, "all", cpus, 2, NULL);
	snprintf(one_cpu, sizeof(one_cpu), "%d", cpus[0]);
	snprintf(two_cpus, sizeof(two_cpus), "%d,%d", cpus[0], cpus[n >= 2]);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	tlat_clock_close(clock_used);
	tlat_machine_close(machine);
	return 0;
}

/* What a program can see of its signals. */
struct signals {
	struct sigaction actions[_NSIG];
	sigset_t blocked, pending;
	struct itimerval alarm;
	stack_t stack;
};

/* libc adds this to whatever it sets, so that a default that was put back has it too. */
#define KERNEL_SA_RESTORER 0x04000000

static void look(struct signals *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 1; i < _NSIG; i++) {
		sigaction(i, NULL, &s->actions[i]);
		s->actions[i].sa_flags &= ~KERNEL_SA_RESTORER;
	}
	pthread_sigmask(SIG_BLOCK, NULL, &s->blocked);
	sigpending(&s->pending);
	getitimer(ITIMER_REAL, &s->alarm);
	sigaltstack(NULL, &s->stack);
}

static void assert_same(const char *probe, const struct signals *a, const struct signals *b)
{
	for (int i = 1; i < _NSIG; i++) {
		if (a->actions[i].sa_handler != b->actions[i].sa_handler ||
		    a->actions[i].sa_flags != b->actions[i].sa_flags)
			fail_msg("%s changed the handler of signal %d", probe, i);
		if (sigismember(&a->blocked, i) != sigismember(&b->blocked, i))
			fail_msg("%s changed the mask of signal %d", probe, i);
		if (sigismember(&a->pending, i) != sigismember(&b->pending, i))
			fail_msg("%s changed what is pending: signal %d", probe, i);
	}
	assert_memory_equal(&a->alarm.it_interval, &b->alarm.it_interval,
			    sizeof(a->alarm.it_interval));
	assert_memory_equal(&a->stack, &b->stack, sizeof(a->stack));
}

/* A queue of two behind the mask, a signal of the process, and handlers. */
static void be_a_program(void)
{
	const struct itimerval tick = { .it_interval.tv_usec = 5000, .it_value.tv_usec = 5000 };
	struct sigaction alarm = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct sigaction real = { .sa_handler = on_real };
	struct sigaction child = { .sa_handler = on_child, .sa_flags = SA_NOCLDSTOP };
	sigset_t set;

	sigaction(SIGALRM, &alarm, NULL);
	sigaction(SIGRTMIN, &real, NULL);
	sigaction(SIGRTMIN + 3, &real, NULL);
	sigaction(SIGCHLD, &child, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGRTMIN + 2);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 7 });
	sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = 8 });
	kill(getpid(), SIGUSR1);
	setitimer(ITIMER_REAL, &tick, NULL);
}

static void run(const struct tlat_probe_facts *facts, const char *cpus, int target)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = facts->name, .cpus = cpus, .machine = machine,
			      .clock = clock_used, .samples = 100, .warmup = 10, .settle_ns = 20000,
			      .interval_ns = facts->pair ? 0 : 200000, .target = target);
	struct tlat_report *report;
	struct tlat_finding finding;
	struct tlat_error error;

	if (tlat_run(&report, &opts, &error) < 0)
		fail_msg("%s: %s", facts->name, error.text);
	for (size_t i = 0; !tlat_result_finding(tlat_report_result(report, 0), i, &finding); i++)
		if (!strcmp(finding.id, "probe-failed") || !strcmp(finding.id, "accounting"))
			fail_msg("%s: %s", facts->name, finding.text);
	tlat_report_free(report);
}

static void check(const struct tlat_probe_facts *facts, const char *cpus, int target)
{
	struct signals before, after;

	look(&before);
	run(facts, cpus, target);
	look(&after);
	assert_same(facts->name, &before, &after);
}

static bool is_of(const char *family, const char *probe)
{
	return !strncmp(probe, family, strlen(family));
}

static void check_probe(const struct tlat_probe_facts *facts)
{
	check(facts, facts->pair ? two_cpus : one_cpu, TLAT_TARGET_SLEEPING);
	if (facts->pair && strcmp(facts->name, "wake-spin"))
		check(facts, one_cpu, TLAT_TARGET_SLEEPING);
	if (is_of("signal-", facts->name) && strstr(facts->name, "-handler"))
		check(facts, two_cpus, TLAT_TARGET_BUSY);
}

/* The two that were queued are still there, in their order. */
static void assert_queue_kept(void)
{
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	for (int value = 7; value <= 8; value++) {
		assert_int_equal(sigwaitinfo(&set, &info), SIGRTMIN);
		assert_int_equal(info.si_value.sival_int, value);
	}
	assert_int_equal(sigtimedwait(&set, &info, &(struct timespec){ 0 }), -1);
}

static void assert_handlers_work(void)
{
	sig_atomic_t seen = alarms;
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(children, 1);
	kill(getpid(), SIGRTMIN + 3);
	assert_int_equal(reals, 1);
	while (alarms == seen)
		pause();
}

static void a_program_keeps_its_signals_through_every_probe(void **state)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };
	const struct itimerval off = { 0 };
	size_t n = 0;

	(void)state;
	be_a_program();
	for (size_t i = 0; !tlat_probe_facts(i, &facts); i++) {
		if (!is_of("signal-", facts.name) && !is_of("wake-", facts.name) &&
		    !is_of("timer-", facts.name))
			continue;
		check_probe(&facts);
		n++;
	}
	printf("%zu probes; %d alarms meanwhile\n", n, (int)alarms);
	assert_true(n >= 30);
	assert_true(alarms > 0);
	assert_queue_kept();
	assert_handlers_work();
	setitimer(ITIMER_REAL, &off, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_keeps_its_signals_through_every_probe),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
