// SPDX-License-Identifier: MIT
/*
 * timer-cputime - a POSIX timer on the CPU time of the measuring thread, which spends it.
 *
 * From/To:  the programmed expiry, on the thread's own CPU time; the first act
 *           in the signal handler, on the same clock
 * Includes: the wait for the tick, which alone looks at such timers: up to one
 *           tick, and more; delivering the signal
 * Excludes: time in which the thread does not run; no wake, as it spins
 * EINTR:    does not block
 */
#include <pthread.h>

#include "rtsignal.h"
#include "signal_timer.h"

struct shared {
	int signal;
	const struct tlat_probe_side *side; /* whose timer arm() sets */
};

struct side {
	struct tlat_signal_timer timer;
	const struct tlat_probe_ctx *ctx;
	atomic_ullong at; /* 0: not yet */
};

static void on_cputime(int signal, siginfo_t *info, void *context)
{
	struct side *my = info->si_value.sival_ptr;

	(void)signal;
	(void)context;
	if (info->si_code == SI_TIMER)
		atomic_store_explicit(&my->at, tlat_stamp(my->ctx), memory_order_relaxed);
}

static int cputime_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	shared->signal = tlat_rtsignal_take(on_cputime, reterr);
	return shared->signal < 0 ? shared->signal : 0;
}

static int cputime_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			 struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	struct side *my = side->state;
	int error;

	shared->side = side;
	my->ctx = ctx;
	error = tlat_signal_timer_make(&my->timer, ctx->ops->clock, shared->signal, my, reterr);
	if (!error)
		pthread_sigmask(SIG_UNBLOCK, &my->timer.set, NULL);
	return error;
}

TLAT_HOT static int cputime_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;
	struct side *my = shared->side->state;

	atomic_store_explicit(&my->at, 0, memory_order_relaxed);
	return tlat_signal_timer_arm(&my->timer, due, 0);
}

TLAT_HOT static int cputime_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				 struct tlat_probe_event *event)
{
	struct side *my = side->state;

	while (!(event->at = atomic_load_explicit(&my->at, memory_order_relaxed))) {
		if (tlat_probe_stopping(ctx))
			return -EINTR;
		tlat_arch_relax();
	}
	return 0;
}

static void cputime_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct side *my = side->state;

	(void)ctx;
	tlat_signal_timer_free(&my->timer);
}

static void cputime_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	tlat_rtsignal_release(shared->signal);
}

extern const struct tlat_probe_ops tlat_probe_timer_cputime;
const struct tlat_probe_ops tlat_probe_timer_cputime = {
	.name = "timer-cputime",
	.from = "the programmed expiry (CLOCK_THREAD_CPUTIME_ID)",
	.to = "the first act in the signal handler",
	.flags = TLAT_PROBE_TICK_BOUND | TLAT_PROBE_NOSLEEP,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.shared_size = sizeof(struct shared),
	.side_size = sizeof(struct side),
	.open = cputime_open,
	.enter = cputime_enter,
	.arm = cputime_arm,
	.wait = cputime_wait,
	.leave = cputime_leave,
	.close = cputime_close,
};
