// SPDX-License-Identifier: MIT
/*
 * stop.c - signals that end a measurement. They stay blocked everywhere except inside ppoll(), so
 * that no measuring thread is ever interrupted and no handler meets a run that is being freed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "monotonic.h"
#include "stop.h"
#include "tool.h"

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

static volatile int32_t requested;     /* read by threads of the library, too */
static volatile sig_atomic_t finished; /* with what could be ended */
static sigset_t old_mask;

/* timeout(1) and terminals send one request twice, to the process and to its group. */
#define ONE_REQUEST_NS 500000000LL

static void on_signal(int sig)
{
	static int64_t first_ns; /* handlers do not interrupt each other: each masks all */

	if (!first_ns) {
		first_ns = tlat_monotonic_ns();
		if (!finished)
			__atomic_store_n(&requested, 1, __ATOMIC_RELAXED);
		return;
	}
	if (tlat_monotonic_ns() - first_ns < ONE_REQUEST_NS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

static void stop_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(stop_signals); i++)
		sigaddset(set, stop_signals[i]);
}

void tlat_stop_install(void)
{
	/* Restarts what writes; ppoll() returns all the same. */
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigset_t set;

	stop_set(&set);
	action.sa_mask = set;
	sigprocmask(SIG_BLOCK, &set, &old_mask);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(stop_signals); i++) {
		struct sigaction old;

		/* Under nohup a hang-up stays ignored; a shell's "&" ignores SIGINT unasked. */
		sigaction(stop_signals[i], NULL, &old);
		if (stop_signals[i] != SIGHUP || old.sa_handler != SIG_IGN)
			sigaction(stop_signals[i], &action, NULL);
	}
}

void tlat_stop_forget(void)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(stop_signals); i++) {
		struct sigaction old;

		sigaction(stop_signals[i], NULL, &old);
		if (old.sa_handler == on_signal)
			signal(stop_signals[i], SIG_DFL);
	}
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

bool tlat_stop_requested(void)
{
	return requested;
}

void tlat_stop_let_through(void)
{
	sigset_t set;

	stop_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void tlat_stop_hold_back(void)
{
	sigset_t set;

	stop_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void tlat_stop_finish(void)
{
	finished = 1;
	tlat_stop_let_through();
}

const volatile int32_t *tlat_stop_flag(void)
{
	tlat_stop_let_through();
	return &requested;
}

bool tlat_stop_poll(struct tlat_run *run, int timeout_ms)
{
	struct pollfd fd = { .fd = tlat_run_fd(run), .events = POLLIN };
	struct timespec timeout = {
		.tv_sec = timeout_ms / 1000,
		.tv_nsec = timeout_ms % 1000 * 1000000L,
	};
	sigset_t mask;
	int r;

	/* Not the mask of the beginning: a run may have blocked a signal for its own use. */
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(stop_signals); i++)
		sigdelset(&mask, stop_signals[i]);
	if (requested) /* while signals were let through */
		tlat_run_stop(run);
	r = ppoll(&fd, 1, timeout_ms < 0 ? NULL : &timeout, &mask);
	if (requested) { /* the next one is taken anywhere */
		tlat_stop_let_through();
		tlat_run_stop(run);
	}
	return r > 0 || (r < 0 && errno != EINTR);
}
