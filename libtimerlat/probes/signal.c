// SPDX-License-Identifier: MIT
/*
 * signal - one thread signals another: every sender with every receiver, a probe each.
 *
 * From/To:  before the sending call; the first act of the handler, or after the receiving call
 * Includes: what signal_send.c and signal_receive.c say of their halves
 * Excludes: nothing in between; the return from a handler is the second stamp
 * EINTR:    what a signal probe is made of; any other signal's is waited through
 *
 * The signal is a real-time one that the program does not use. Sent to the process it may go to any
 * thread that does not block it, which must thus be the waiter alone: the calling thread blocks it
 * for the run, and others have to.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "rtsignal.h"
#include "signal.h"
#include "signal_masks.h"

/* No other thread of the library gets the signal: all but the waiter block everything. */
static void block_in_caller(struct tlat_signal_shared *shared)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, shared->signal);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	if (!sigismember(&before, shared->signal))
		shared->opener = (pid_t)syscall(SYS_gettid);
}

static void unblock_in_caller(const struct tlat_signal_shared *shared)
{
	sigset_t set;

	if (shared->opener != (pid_t)syscall(SYS_gettid))
		return;
	sigemptyset(&set);
	sigaddset(&set, shared->signal);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int take_for_process(struct tlat_signal_shared *shared, struct tlat_error *reterr)
{
	sigset_t allowed;
	int error = tlat_signals_blocked_elsewhere(&allowed, reterr);

	if (error)
		return error;
	shared->signal = tlat_rtsignal_take_alone(tlat_signal_handler, &allowed);
	if (shared->signal < 0)
		return tlat_fail(
			reterr, -EBUSY,
			"no free real-time signal is blocked by every other thread, one of "
			"which could get what is sent to the process; block them all "
			"there, or use signal-tgkill-*");
	block_in_caller(shared);
	return 0;
}

static int take_for_thread(struct tlat_signal_shared *shared, struct tlat_error *reterr)
{
	shared->signal = tlat_rtsignal_take_alone(tlat_signal_handler, NULL);
	if (shared->signal < 0)
		return tlat_fail(reterr, -EBUSY,
				 "every real-time signal is in use; leave one without a handler");
	return 0;
}

static void signal_close(struct tlat_probe_ctx *ctx)
{
	struct tlat_signal_shared *shared = ctx->shared;

	tlat_rtsignal_release(shared->signal);
	unblock_in_caller(shared);
	if (shared->fd >= 0)
		close(shared->fd);
}

static int open_with(struct tlat_probe_ctx *ctx, const struct tlat_signal_sender *sender,
		     const struct tlat_signal_receiver *receiver, struct tlat_error *reterr)
{
	struct tlat_signal_shared *shared = ctx->shared;
	int error;

	shared->sender = sender;
	shared->receiver = receiver;
	shared->pid = getpid();
	shared->fd = -1;
	shared->info.si_code = SI_QUEUE;
	shared->info.si_pid = getpid();
	shared->info.si_uid = getuid();
	error = sender->to_process ? take_for_process(shared, reterr)
				   : take_for_thread(shared, reterr);
	if (error)
		return error;
	if (sender->open)
		error = sender->open(shared, reterr);
	if (error)
		signal_close(ctx);
	return error;
}

/* == The two tables, and what they make == */

#define TO_PROCESS "the process; the waiter alone does not block it"

#define SEND_tgkill(X, ...)                                                                        \
	X(tgkill, "tgkill", "before tgkill(2) to the waiter", thread, NULL, __VA_ARGS__)
#define SEND_kill(X, ...)                                                                          \
	X(kill, "kill", "before kill(2) to " TO_PROCESS, process, NULL, __VA_ARGS__)
#define SEND_sigqueue(X, ...)                                                                      \
	X(sigqueue, "sigqueue", "before rt_sigqueueinfo(2), of sigqueue(3), to " TO_PROCESS,       \
	  process, NULL, __VA_ARGS__)
#define SEND_pthread_sigqueue(X, ...)                                                              \
	X(pthread_sigqueue, "pthread-sigqueue",                                                    \
	  "before rt_tgsigqueueinfo(2), of pthread_sigqueue(3), to the waiter", thread, NULL,      \
	  __VA_ARGS__)
#define SEND_pidfd(X, ...)                                                                         \
	X(pidfd, "pidfd", "before pidfd_send_signal(2) to " TO_PROCESS, pidfd,                     \
	  tlat_signal_pidfd_supported, __VA_ARGS__)

/* One row. */
#define OPS(ident, s, text, check, r, what, wait_by, more, busy_ops)                               \
	{                                                                                          \
		.name = ident, .from = text, .to = what, .flags = TLAT_PROBE_PAIR | (more),        \
		.shared_size = sizeof(struct tlat_signal_shared),                                  \
		.side_size = sizeof(struct tlat_signal_side), .supported = check,                  \
		.open = open_##s##_##r, .enter = tlat_signal_enter, .ready = tlat_signal_ready,    \
		.kick = tlat_signal_by_##s, .wait = wait_by, .leave = tlat_signal_leave,           \
		.close = signal_close, .busy = busy_ops                                            \
	}

#define OPEN(s, sender, r, receiver)                                                               \
	static int open_##s##_##r(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,    \
				  struct tlat_error *reterr)                                       \
	{                                                                                          \
		(void)opts;                                                                        \
		return open_with(ctx, &tlat_sender_##sender, &tlat_receiver_##receiver, reterr);   \
	}

/* A receiver that sleeps in a call. */
#define SLEEPER(s, name, text, sender, check, r, rname, what, receiver, wait_by, more)             \
	OPEN(s, sender, r, receiver)                                                               \
	extern const struct tlat_probe_ops tlat_probe_signal_##s##_##r;                            \
	const struct tlat_probe_ops tlat_probe_signal_##s##_##r =                                  \
		OPS("signal-" name "-" rname, s, text, check, r, what, wait_by, more, NULL);

/* The handler, which can interrupt a busy thread as well. */
#define HANDLER(s, name, text, sender, check, unused)                                              \
	OPEN(s, sender, handler, handler)                                                          \
	static const struct tlat_probe_ops busy_##s =                                              \
		OPS("signal-" name "-handler", s, text, check, handler,                            \
		    "first act of the handler that interrupts a spinning thread",                  \
		    tlat_signal_in_busy, TLAT_PROBE_RETURNS | TLAT_PROBE_NOSLEEP, NULL);           \
	extern const struct tlat_probe_ops tlat_probe_signal_##s##_handler;                        \
	const struct tlat_probe_ops tlat_probe_signal_##s##_handler =                              \
		OPS("signal-" name "-handler", s, text, check, handler,                            \
		    "first act of the handler that interrupts futex(FUTEX_WAIT)",                  \
		    tlat_signal_in_handler, TLAT_PROBE_RETURNS, &busy_##s);

#define RECEIVERS(send)                                                                            \
	send(HANDLER, ) send(SLEEPER, sigwait, "sigwait", "after sigwaitinfo(2) returned",         \
			     blocked, tlat_signal_in_sigwait, 0)                                   \
		send(SLEEPER, signalfd, "signalfd", "after read(2) of the signalfd returned",      \
		     signalfd, tlat_signal_in_signalfd, 0)                                         \
			send(SLEEPER, sigsuspend, "sigsuspend",                                    \
			     "first act of the handler that interrupts sigsuspend(2)", blocked,    \
			     tlat_signal_in_sigsuspend, TLAT_PROBE_RETURNS)                        \
				send(SLEEPER, epoll_pwait, "epoll-pwait",                          \
				     "first act of the handler that interrupts epoll_pwait(2)",    \
				     epoll, tlat_signal_in_epoll, TLAT_PROBE_RETURNS)

RECEIVERS(SEND_tgkill)
RECEIVERS(SEND_kill)
RECEIVERS(SEND_sigqueue)
RECEIVERS(SEND_pthread_sigqueue)
RECEIVERS(SEND_pidfd)
