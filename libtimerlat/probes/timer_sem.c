// SPDX-License-Identifier: MIT
/*
 * timer-sem - the timeout of a semaphore that nobody posts.
 *
 * From/To:  the programmed expiry; after sem_timedwait(3) returned
 * Includes: the futex timeout below it, timer slack (before Linux 6.12 under
 *           real-time policies, too)
 * Excludes: the way into the sleep, as the deadline is absolute
 * EINTR:    waits again towards the same deadline
 */
#include <semaphore.h>

#include "probe.h"

struct shared {
	sem_t never;
};

static int sem_probe_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			  struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	(void)reterr;
	sem_init(&shared->never, 0, 0);
	return 0;
}

TLAT_HOT static int sem_probe_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				   struct tlat_probe_event *event)
{
	const struct timespec due = tlat_timespec_of_ns((int64_t)event->due);
	struct shared *shared = ctx->shared;
	int got;

	(void)side;
	do {
		got = sem_timedwait(&shared->never, &due);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 && errno != ETIMEDOUT ? -errno : 0;
}

static void sem_probe_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	sem_destroy(&shared->never);
}

extern const struct tlat_probe_ops tlat_probe_timer_sem;
const struct tlat_probe_ops tlat_probe_timer_sem = {
	.name = "timer-sem",
	.from = "the programmed expiry (CLOCK_REALTIME, absolute)",
	.to = "after sem_timedwait(3) returned",
	.clock = CLOCK_REALTIME,
	.shared_size = sizeof(struct shared),
	.open = sem_probe_open,
	.wait = sem_probe_wait,
	.close = sem_probe_close,
};
