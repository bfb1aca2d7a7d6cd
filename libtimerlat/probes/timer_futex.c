// SPDX-License-Identifier: MIT
/*
 * timer-futex - the absolute timeout of a futex that nobody wakes.
 *
 * From/To:  the programmed expiry; after futex(FUTEX_WAIT_BITSET) returned
 * Includes: timer slack, interrupt, idle exit, the context switch, leaving the
 *           hash bucket
 * Excludes: the way into the sleep, as the deadline is absolute
 * EINTR:    waits again towards the same deadline
 */
#include <linux/futex.h>

#include "raw_call.h"

#ifdef SYS_futex_time64 /* where the call of the old name takes a time of 32 bits */
#define FUTEX_CALL SYS_futex_time64
#else
#define FUTEX_CALL SYS_futex
#endif

struct shared {
	uint32_t word;
};

TLAT_HOT static int futex_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			       struct tlat_probe_event *event)
{
	const struct tlat_kernel_timespec due = tlat_kernel_timespec_of_ns((int64_t)event->due);
	struct shared *shared = ctx->shared;
	long got;

	(void)side;
	do {
		got = syscall(FUTEX_CALL, &shared->word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0,
			      &due, NULL, FUTEX_BITSET_MATCH_ANY);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 && errno != ETIMEDOUT ? -errno : 0;
}

extern const struct tlat_probe_ops tlat_probe_timer_futex;
const struct tlat_probe_ops tlat_probe_timer_futex = {
	.name = "timer-futex",
	.from = "the programmed expiry (CLOCK_MONOTONIC, absolute)",
	.to = "after futex(FUTEX_WAIT_BITSET) returned",
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.wait = futex_wait,
};
