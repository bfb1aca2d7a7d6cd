// SPDX-License-Identifier: MIT
/*
 * wake-spin - a flag in shared memory, seen by a spinning waiter.
 *
 * From/To:  before the store; after the load that saw it
 * Includes: moving one cache line between two CPUs
 * Excludes: the kernel; it is the floor of every pair on these CPUs
 * EINTR:    does not block; two CPUs are needed, for on one the spinning
 *           waiter would never let the waker run
 */
#include "probe.h"

struct shared {
	atomic_uint flag; /* counts kicks */
};

struct side {
	unsigned int seen;
};

TLAT_HOT static int spin_kick(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	atomic_fetch_add_explicit(&shared->flag, 1, memory_order_release);
	return TLAT_KICK_UNTOLD;
}

TLAT_HOT static int spin_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	struct side *my = side->state;

	while (atomic_load_explicit(&shared->flag, memory_order_acquire) == my->seen) {
		if (tlat_probe_stopping(ctx))
			return -EINTR;
		tlat_arch_relax();
	}
	event->at = tlat_stamp(ctx);
	my->seen++;
	return 0;
}

extern const struct tlat_probe_ops tlat_probe_wake_spin;
const struct tlat_probe_ops tlat_probe_wake_spin = {
	.name = "wake-spin",
	.from = "before the store to a shared flag",
	.to = "after the load that saw it",
	.flags = TLAT_PROBE_PAIR | TLAT_PROBE_NOSLEEP,
	.shared_size = sizeof(struct shared),
	.side_size = sizeof(struct side),
	.kick = spin_kick,
	.wait = spin_wait,
};
