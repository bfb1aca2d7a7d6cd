// SPDX-License-Identifier: MIT
/*
 * timer-cond - the timeout of a condition variable that nobody signals.
 *
 * From/To:  the programmed expiry; after pthread_cond_timedwait(3) returned
 * Includes: the futex timeout below it, timer slack (before Linux 6.12 under
 *           real-time policies, too), and taking the mutex again, which nobody
 *           else wants
 * Excludes: the way into the sleep, as the deadline is absolute
 * EINTR:    never returned; a broadcast ends the last wait
 */
#include <pthread.h>

#include "probe.h"

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t never;
};

static int cond_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		     struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	pthread_condattr_t attr;

	(void)opts;
	(void)reterr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, ctx->ops->clock);
	pthread_cond_init(&shared->never, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&shared->lock, NULL);
	return 0;
}

static int cond_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		      struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)side;
	(void)reterr;
	pthread_mutex_lock(&shared->lock);
	return 0;
}

/* Only to end a wait. */
TLAT_HOT static int cond_kick(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	pthread_cond_broadcast(&shared->never);
	return TLAT_KICK_UNTOLD;
}

TLAT_HOT static int cond_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	const struct timespec due = tlat_timespec_of_ns((int64_t)event->due);
	struct shared *shared = ctx->shared;
	int error;

	(void)side;
	do {
		error = pthread_cond_timedwait(&shared->never, &shared->lock, &due);
		event->at = tlat_stamp(ctx);
	} while (!error && !tlat_probe_stopping(ctx));
	return error == ETIMEDOUT ? 0 : error ? -error : -EINTR;
}

static void cond_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct shared *shared = ctx->shared;

	(void)side;
	pthread_mutex_unlock(&shared->lock);
}

static void cond_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	pthread_cond_destroy(&shared->never);
	pthread_mutex_destroy(&shared->lock);
}

extern const struct tlat_probe_ops tlat_probe_timer_cond;
const struct tlat_probe_ops tlat_probe_timer_cond = {
	.name = "timer-cond",
	.from = "the programmed expiry (CLOCK_MONOTONIC, absolute)",
	.to = "after pthread_cond_timedwait(3) returned",
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.open = cond_open,
	.enter = cond_enter,
	.kick = cond_kick,
	.wait = cond_wait,
	.leave = cond_leave,
	.close = cond_close,
};
