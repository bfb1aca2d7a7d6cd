// SPDX-License-Identifier: MIT
/*
 * timer-itimer - ITIMER_REAL, which a process has once, and its SIGALRM.
 *
 * From/To:  the span, in whole microseconds, after a stamp before setitimer(2);
 *           after sigwaitinfo(2) returned
 * Includes: setitimer(2), interrupt, queueing the signal for the process and
 *           taking it, idle exit, the context switch; no timer slack
 * Excludes: the rounding up to microseconds, as the deadline is rounded, too;
 *           the choice of a thread: no other one may be told, so all of them
 *           block SIGALRM; one that unblocks it in the middle ends the run
 * EINTR:    waits again
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "signal_masks.h"
#include "span.h"

#define UNIT_NS 1000

static atomic_bool taken; /* by one instance in this process */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int waiter; /* the thread that waits for SIGALRM */

struct shared {
	struct tlat_span span;
	struct sigaction action; /* of the program */
	sigset_t before;	 /* mask of the thread that opened */
	pid_t opener;
};

/* Another thread was told. The one that waits must not wait for ever; its cycle is lost. */
static void on_stray_alarm(int signal)
{
	int saved = errno;

	syscall(SYS_tgkill, getpid(), atomic_load(&waiter), signal);
	errno = saved;
}

static sigset_t alarm_alone(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	return set;
}

static int itimer_supported(struct tlat_error *reterr)
{
	struct sigaction action;
	struct itimerval timer;

	sigaction(SIGALRM, NULL, &action);
	if (action.sa_flags & SA_SIGINFO || action.sa_handler != SIG_DFL)
		return tlat_fail(
			reterr, -EBUSY,
			"this program handles or ignores SIGALRM itself; use another probe, "
			"or give SIGALRM its default action");
	getitimer(ITIMER_REAL, &timer);
	if (timer.it_value.tv_sec || timer.it_value.tv_usec)
		return tlat_fail(reterr, -EBUSY,
				 "this program uses ITIMER_REAL (alarm, setitimer) itself; use "
				 "another probe, or stop that timer");
	return 0;
}

/* A thread that does not block SIGALRM may be the one that is told, and would die of it. */
static int check_threads(struct tlat_error *reterr)
{
	sigset_t blocked;
	int error = tlat_signals_blocked_elsewhere(&blocked, reterr);

	if (!error && !sigismember(&blocked, SIGALRM))
		return tlat_fail(
			reterr, -EBUSY,
			"another thread of this program does not block SIGALRM, so it might "
			"be the one that is told; block it there (SigBlk in "
			"/proc/%d/task/*/status says which)",
			(int)getpid());
	return error;
}

static void put_back(const struct shared *shared)
{
	sigaction(SIGALRM, &shared->action, NULL);
	if (shared->opener == (pid_t)syscall(SYS_gettid))
		pthread_sigmask(SIG_SETMASK, &shared->before, NULL);
	atomic_store(&taken, false);
}

/* A forked child has neither the timer nor the thread that waits for it. */
static void forget(void)
{
	if (atomic_exchange(&taken, false))
		signal(SIGALRM, SIG_DFL); /* as itimer_supported() had found it */
}

static void look_out_for_forks(void)
{
	pthread_atfork(NULL, NULL, forget);
}

static int itimer_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		       struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	struct sigaction stray = { .sa_handler = on_stray_alarm };
	sigset_t alarm = alarm_alone();
	int error = tlat_span_init(ctx, ctx->interval_ns, UNIT_NS, INT64_MAX, reterr);

	(void)opts;
	if (error)
		return error;
	pthread_once(&once, look_out_for_forks);
	if (atomic_exchange(&taken, true))
		return tlat_fail(reterr, -EBUSY,
				 "a process has one ITIMER_REAL, so one thread can wait for it; "
				 "give one CPU with -c");
	shared->opener = (pid_t)syscall(SYS_gettid);
	pthread_sigmask(SIG_BLOCK, &alarm, &shared->before);
	sigaction(SIGALRM, &stray, &shared->action);
	error = check_threads(reterr);
	if (error)
		put_back(shared);
	return error;
}

static int itimer_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			struct tlat_error *reterr)
{
	(void)ctx;
	(void)side;
	(void)reterr;
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	return 0;
}

TLAT_HOT static int itimer_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				struct tlat_probe_event *event)
{
	struct timespec span = tlat_timespec_of_ns(tlat_span_of(ctx)->timeout_ns);
	struct itimerval timer = { .it_value = { .tv_sec = span.tv_sec,
						 .tv_usec = span.tv_nsec / UNIT_NS } };
	sigset_t alarm = alarm_alone();
	siginfo_t info;
	int got;

	(void)side;
	if (setitimer(ITIMER_REAL, &timer, NULL))
		return -errno;
	do {
		got = sigwaitinfo(&alarm, &info);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	if (got < 0)
		return -errno;
	return info.si_code == SI_KERNEL ? 0 : -EBUSY;
}

static void itimer_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	const struct itimerval off = { 0 };
	const struct timespec now = { 0 };
	sigset_t alarm = alarm_alone();

	(void)ctx;
	(void)side;
	setitimer(ITIMER_REAL, &off, NULL);
	sigtimedwait(&alarm, NULL, &now);
}

static void itimer_close(struct tlat_probe_ctx *ctx)
{
	put_back(ctx->shared);
}

extern const struct tlat_probe_ops tlat_probe_timer_itimer;
const struct tlat_probe_ops tlat_probe_timer_itimer = {
	.name = "timer-itimer",
	.from = "the span in whole us after a stamp before setitimer(2)",
	.to = "after sigwaitinfo(2) for SIGALRM returned",
	.flags = TLAT_PROBE_RELATIVE | TLAT_PROBE_SOFT_EXPIRY,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.supported = itimer_supported,
	.open = itimer_open,
	.enter = itimer_enter,
	.due = tlat_span_due,
	.wait = itimer_wait,
	.leave = itimer_leave,
	.close = itimer_close,
};
