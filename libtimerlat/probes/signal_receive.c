// SPDX-License-Identifier: MIT
/*
 * signal_receive.c - five ways of receiving a signal: a handler that interrupts a sleep or a
 * spinning thread, sigwaitinfo(2), a signalfd, sigsuspend(2) and epoll_pwait(2).
 *
 * To:       the first act of the handler, or after the call returned
 * Includes: waking the waiter; a handler's signal frame with all registers, which grows with what
 *           the CPU has (AT_MINSIGSTKSZ); not the return from the handler, which is a figure of
 *           its own
 * Excludes: the waiter's way into its sleep
 * EINTR:    every wait is entered again unless the run ends
 */
#include <linux/futex.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signal.h"

/*
 * Where the handler finds its waiter; never allocated late, so that a handler may look. glibc would
 * allocate it at a thread's first look if this did not forbid it; musl never does, and loads no
 * library that forbids it.
 */
#ifdef __GLIBC__
__attribute__((tls_model("initial-exec")))
#endif
static _Thread_local struct tlat_signal_side *waiter;

void tlat_signal_handler(int signal)
{
	struct tlat_signal_side *my = waiter;

	(void)signal;
	if (!my)
		return; /* strayed to a thread that waits for nothing */
	atomic_store_explicit(&my->at, tlat_stamp(my->ctx), memory_order_relaxed);
	atomic_fetch_add_explicit(&my->runs, 1, memory_order_release);
}

/* == Accounting == */

static uint32_t runs_of(struct tlat_signal_side *my)
{
	return atomic_load_explicit(&my->runs, memory_order_acquire);
}

/* So many signals came: whether a kick is behind them that no event before has stood for. */
static bool account(struct tlat_probe_ctx *ctx, struct tlat_signal_side *my, uint32_t came,
		    struct tlat_probe_event *event)
{
	struct tlat_signal_shared *shared = ctx->shared;
	uint32_t sent = atomic_load_explicit(&shared->sent, memory_order_acquire);

	my->delivered += came;
	event->n = sent - my->seen;
	my->seen = sent;
	return event->n;
}

/* Whatever is pending; for a handler it has run by now. */
static void drain(struct tlat_signal_side *my)
{
	static const struct timespec now;

	my->delivered += runs_of(my) - my->handled;
	my->handled = runs_of(my);
	while (sigtimedwait(&my->set, NULL, &now) > 0)
		my->delivered++;
}

/* The waiter's own mask without the signal; asked once the run's own signal is unblocked. */
static void learn_inside(struct tlat_signal_side *my, int signal)
{
	pthread_sigmask(SIG_BLOCK, NULL, &my->inside);
	sigdelset(&my->inside, signal);
	my->knows_inside = true;
}

void tlat_signal_ready(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct tlat_signal_shared *shared = ctx->shared;
	struct tlat_signal_side *my = side->state;

	if (side->role != TLAT_ROLE_WAIT)
		return;
	if (!my->knows_inside)
		learn_inside(my, shared->signal);
	if (my->seen - my->delivered == my->merged)
		return;
	drain(my);
	my->merged = my->seen - my->delivered;
}

/* == Waits == */

/* Whether the handler has run, and for a kick of its own. */
static bool take_run(struct tlat_probe_ctx *ctx, struct tlat_signal_side *my,
		     struct tlat_probe_event *event)
{
	uint32_t came = runs_of(my) - my->handled;

	if (!came)
		return false;
	my->handled += came;
	event->at = atomic_load_explicit(&my->at, memory_order_relaxed);
	return account(ctx, my, came, event);
}

/* A sleep that cannot begin once the handler has run. */
int tlat_signal_in_handler(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			   struct tlat_probe_event *event)
{
	struct tlat_signal_side *my = side->state;

	do {
		long got = syscall(SYS_futex, &my->runs, FUTEX_WAIT_PRIVATE, my->handled, NULL,
				   NULL, 0);

		event->back = tlat_stamp(ctx);
		event->awake = got < 0 && errno == EAGAIN;
		if (take_run(ctx, my, event))
			return 0;
	} while (!tlat_probe_stopping(ctx));
	return -EINTR;
}

int tlat_signal_in_busy(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			struct tlat_probe_event *event)
{
	struct tlat_signal_side *my = side->state;

	do {
		while (runs_of(my) == my->handled && !tlat_probe_stopping(ctx))
			tlat_arch_relax();
		event->back = tlat_stamp(ctx);
		if (take_run(ctx, my, event))
			return 0;
	} while (!tlat_probe_stopping(ctx));
	return -EINTR;
}

int tlat_signal_in_sigsuspend(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	struct tlat_signal_side *my = side->state;

	do {
		sigsuspend(&my->inside);
		event->back = tlat_stamp(ctx);
		if (take_run(ctx, my, event))
			return 0;
	} while (!tlat_probe_stopping(ctx));
	return -EINTR;
}

int tlat_signal_in_epoll(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			 struct tlat_probe_event *event)
{
	struct tlat_signal_side *my = side->state;
	struct epoll_event none;

	do {
		epoll_pwait(my->fd, &none, 1, -1, &my->inside);
		event->back = tlat_stamp(ctx);
		if (take_run(ctx, my, event))
			return 0;
	} while (!tlat_probe_stopping(ctx));
	return -EINTR;
}

int tlat_signal_in_sigwait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			   struct tlat_probe_event *event)
{
	struct tlat_signal_side *my = side->state;

	do {
		int got = sigwaitinfo(&my->set, NULL);

		event->at = tlat_stamp(ctx);
		if (got > 0 && account(ctx, my, 1, event))
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
	} while (!tlat_probe_stopping(ctx));
	return -EINTR;
}

int tlat_signal_in_signalfd(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			    struct tlat_probe_event *event)
{
	struct tlat_signal_side *my = side->state;
	struct signalfd_siginfo info;

	do {
		ssize_t got = read(my->fd, &info, sizeof(info));

		event->at = tlat_stamp(ctx);
		if (got > 0 && account(ctx, my, 1, event))
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
	} while (!tlat_probe_stopping(ctx));
	return -EINTR;
}

/* == A measuring thread's part == */

static int open_signalfd(struct tlat_signal_side *my)
{
	return signalfd(-1, &my->set, SFD_CLOEXEC);
}

static int open_epoll(struct tlat_signal_side *my)
{
	(void)my;
	return epoll_create1(EPOLL_CLOEXEC);
}

int tlat_signal_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		      struct tlat_error *reterr)
{
	struct tlat_signal_shared *shared = ctx->shared;
	struct tlat_signal_side *my = side->state;

	if (side->role != TLAT_ROLE_WAIT)
		return 0;
	my->ctx = ctx;
	my->fd = -1;
	sigemptyset(&my->set);
	sigaddset(&my->set, shared->signal);
	if (shared->receiver->open)
		my->fd = shared->receiver->open(my);
	if (shared->receiver->open && my->fd < 0)
		return tlat_fail(reterr, -errno, "%s: no descriptor: %s%s", ctx->ops->name,
				 strerror(errno), errno == EMFILE ? "; raise RLIMIT_NOFILE" : "");
	shared->tid = (pid_t)syscall(SYS_gettid);
	waiter = my;
	pthread_sigmask(shared->receiver->unblocked ? SIG_UNBLOCK : SIG_BLOCK, &my->set,
			&my->before);
	return 0;
}

/* The last kick may have come after the last wait. */
void tlat_signal_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct tlat_signal_side *my = side->state;

	(void)ctx;
	if (side->role != TLAT_ROLE_WAIT)
		return;
	pthread_sigmask(SIG_BLOCK, &my->set, NULL);
	drain(my);
	waiter = NULL;
	pthread_sigmask(SIG_SETMASK, &my->before, NULL);
	if (my->fd >= 0)
		close(my->fd);
}

const struct tlat_signal_receiver tlat_receiver_handler = { .unblocked = true };
const struct tlat_signal_receiver tlat_receiver_blocked = { .unblocked = false };
const struct tlat_signal_receiver tlat_receiver_signalfd = { .open = open_signalfd };
const struct tlat_signal_receiver tlat_receiver_epoll = { .open = open_epoll };
