// SPDX-License-Identifier: MIT
/*
 * timer-posix-sigwait (-realtime), timer-posix-handler - a periodic POSIX timer, its
 * signal aimed at the measuring thread (SIGEV_THREAD_ID).
 *
 * From/To:  the programmed expiry; after sigwaitinfo(2) returned, or the first
 *           act in the handler
 * Includes: interrupt, queueing and delivering the signal, which re-arms the
 *           timer; idle exit, the context switch; no timer slack
 * Excludes: nothing of the expiry; the kernel keeps the grid. The return from
 *           the handler
 * EINTR:    waits again
 */
#include <pthread.h>
#include <time.h>

#include "rtsignal.h"
#include "signal_timer.h"

struct shared {
	int signal;
	const struct tlat_probe_side *side; /* whose timer arm() sets */
};

struct side {
	struct tlat_signal_timer timer;
	const struct tlat_probe_ctx *ctx;
	sigset_t waiting;	      /* mask in sigsuspend(2) */
	struct tlat_probe_event seen; /* by the handler; n 0: nothing yet */
};

static void on_expiry(int signal, siginfo_t *info, void *context)
{
	struct side *my = info->si_value.sival_ptr;

	(void)signal;
	(void)context;
	if (info->si_code != SI_TIMER)
		return;
	my->seen.at = tlat_stamp(my->ctx);
	my->seen.n += 1 + (uint64_t)info->si_overrun;
}

static int sigwait_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	shared->signal = tlat_rtsignal_take(NULL, reterr);
	return shared->signal < 0 ? shared->signal : 0;
}

static int handler_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	shared->signal = tlat_rtsignal_take(on_expiry, reterr);
	return shared->signal < 0 ? shared->signal : 0;
}

static int posix_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		       struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	struct side *my = side->state;

	shared->side = side;
	my->ctx = ctx;
	return tlat_signal_timer_make(&my->timer, ctx->ops->clock, shared->signal, my, reterr);
}

TLAT_HOT static int posix_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;
	struct side *my = shared->side->state;

	pthread_sigmask(SIG_BLOCK, NULL, &my->waiting);
	sigdelset(&my->waiting, shared->signal);
	return tlat_signal_timer_arm(&my->timer, due, ctx->interval_ns);
}

TLAT_HOT static int sigwait_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				 struct tlat_probe_event *event)
{
	struct side *my = side->state;
	siginfo_t info;
	int got;

	do {
		got = sigwaitinfo(&my->timer.set, &info);
		event->at = tlat_stamp(ctx);
	} while (got < 0 ? errno == EINTR && !tlat_probe_stopping(ctx) : info.si_code != SI_TIMER);
	if (got < 0)
		return -errno;
	event->n = 1 + (uint64_t)info.si_overrun;
	return 0;
}

TLAT_HOT static int handler_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				 struct tlat_probe_event *event)
{
	struct side *my = side->state;

	my->seen.n = 0;
	do {
		sigsuspend(&my->waiting);
		my->seen.back = tlat_stamp(ctx);
	} while (!my->seen.n && !tlat_probe_stopping(ctx));
	if (!my->seen.n)
		return -EINTR;
	*event = my->seen;
	return 0;
}

static int posix_tally(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		       struct tlat_probe_tally *tally)
{
	struct side *my = side->state;
	struct itimerspec left;

	(void)ctx;
	tally->pending = tlat_signal_timer_drain(&my->timer);
	if (timer_gettime(my->timer.timer, &left))
		return -errno;
	tally->pending += tlat_signal_timer_drain(&my->timer);
	tally->left_ns = (uint64_t)tlat_ns_of_timespec(&left.it_value);
	return 0;
}

static void posix_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct side *my = side->state;

	(void)ctx;
	tlat_signal_timer_free(&my->timer);
}

static void posix_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	tlat_rtsignal_release(shared->signal);
}

#define POSIX_PROBE(id, dashed, id_of_clock, words, opening, waiting_)                             \
	extern const struct tlat_probe_ops tlat_probe_timer_posix_##id;                            \
	const struct tlat_probe_ops tlat_probe_timer_posix_##id = {                                \
		.name = "timer-posix-" dashed,                                                     \
		.from = "the programmed expiry (" #id_of_clock ", periodic)",                      \
		.to = words,                                                                       \
		.flags = TLAT_PROBE_PERIODIC | TLAT_PROBE_SOFT_EXPIRY,                             \
		.clock = id_of_clock,                                                              \
		.shared_size = sizeof(struct shared),                                              \
		.side_size = sizeof(struct side),                                                  \
		.open = opening,                                                                   \
		.enter = posix_enter,                                                              \
		.arm = posix_arm,                                                                  \
		.wait = waiting_,                                                                  \
		.tally = posix_tally,                                                              \
		.leave = posix_leave,                                                              \
		.close = posix_close,                                                              \
	}

POSIX_PROBE(sigwait, "sigwait", CLOCK_MONOTONIC, "after sigwaitinfo(2) returned", sigwait_open,
	    sigwait_wait);
POSIX_PROBE(sigwait_realtime, "sigwait-realtime", CLOCK_REALTIME, "after sigwaitinfo(2) returned",
	    sigwait_open, sigwait_wait);
POSIX_PROBE(handler, "handler", CLOCK_MONOTONIC, "the first act in the signal handler",
	    handler_open, handler_wait);
