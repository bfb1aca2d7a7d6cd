// SPDX-License-Identifier: MIT
/*
 * wake-futex - a private futex, one waiter.
 *
 * From/To:  before the word changes and futex(FUTEX_WAKE); after
 *           futex(FUTEX_WAIT) returned
 * Includes: both system calls' shares, hash bucket, try_to_wake_up(), the IPI
 *           or polling idle loop, idle exit, the context switch
 * Excludes: the waiter's way into its sleep
 * EINTR:    waits again; a spurious return is not an event. A wake that is
 *           still under way when the waiter has seen the word change meets its
 *           next sleep: the wait itself says then that it did not sleep
 */
#include "futex.h"
#include "probe.h"

struct shared {
	atomic_uint word; /* counts kicks */
};

struct side {
	unsigned int seen; /* kicks that the waiter knows of */
};

TLAT_HOT static int futex_kick(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;
	long woken;

	atomic_fetch_add_explicit(&shared->word, 1, memory_order_release);
	woken = tlat_futex(&shared->word, FUTEX_WAKE_PRIVATE, 1);
	return woken < 0 ? -errno : (int)woken;
}

TLAT_HOT static int futex_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			       struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	struct side *my = side->state;
	unsigned int word;
	long got;

	do {
		got = tlat_futex(&shared->word, FUTEX_WAIT_PRIVATE, my->seen);
		event->at = tlat_stamp(ctx);
		event->awake = got < 0 && errno == EAGAIN;
		word = atomic_load_explicit(&shared->word, memory_order_acquire);
	} while (word == my->seen && !tlat_probe_stopping(ctx));
	if (word == my->seen)
		return -EINTR;
	my->seen = word;
	return 0;
}

extern const struct tlat_probe_ops tlat_probe_wake_futex;
const struct tlat_probe_ops tlat_probe_wake_futex = {
	.name = "wake-futex",
	.from = "before futex(FUTEX_WAKE)",
	.to = "after futex(FUTEX_WAIT) returned",
	.flags = TLAT_PROBE_PAIR,
	.shared_size = sizeof(struct shared),
	.side_size = sizeof(struct side),
	.kick = futex_kick,
	.wait = futex_wait,
};
