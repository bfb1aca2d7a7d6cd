// SPDX-License-Identifier: MIT
/*
 * timer-nanosleep - an absolute sleep.
 *
 * From/To:  the programmed expiry; after clock_nanosleep(2) returned
 * Includes: timer slack, interrupt, idle exit, the context switch
 * Excludes: the way into the sleep, as the deadline is absolute
 * EINTR:    sleeps again towards the same deadline
 */
#include "probe.h"

struct shared {
	struct timespec due;
};

TLAT_HOT static int nanosleep_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;

	shared->due = tlat_timespec_of_ns((int64_t)due);
	return 0;
}

TLAT_HOT static int nanosleep_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				   struct tlat_probe_event *event)
{
	const struct tlat_stamper stamper = ctx->stamper; /* at hand when it wakes */
	struct shared *shared = ctx->shared;
	int error;

	(void)side;
	do {
		error = clock_nanosleep(ctx->ops->clock, TIMER_ABSTIME, &shared->due, NULL);
		event->at = tlat_stamp_end(&stamper);
	} while (error == EINTR && !tlat_probe_stopping(ctx));
	event->n = 1;
	return -error;
}

extern const struct tlat_probe_ops tlat_probe_timer_nanosleep;
const struct tlat_probe_ops tlat_probe_timer_nanosleep = {
	.name = "timer-nanosleep",
	.from = "the programmed expiry (CLOCK_MONOTONIC, absolute)",
	.to = "after clock_nanosleep(2) returned",
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.arm = nanosleep_arm,
	.wait = nanosleep_wait,
};
