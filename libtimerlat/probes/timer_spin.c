// SPDX-License-Identifier: MIT
/*
 * timer-spin - a thread that reads the clock until it is time.
 *
 * From/To:  the point of time waited for; the first reading that is not before
 * Includes: at most two readings of the clock, and whatever keeps the thread
 *           from its CPU
 * Excludes: the kernel's timers; it is the floor of every timer on this CPU
 * EINTR:    does not block
 */
#include "probe.h"

TLAT_HOT static int spin_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	(void)side;
	do {
		if (tlat_probe_stopping(ctx))
			return -EINTR;
		event->at = tlat_stamp(ctx);
	} while (event->at < event->due);
	return 0;
}

extern const struct tlat_probe_ops tlat_probe_timer_spin;
const struct tlat_probe_ops tlat_probe_timer_spin = {
	.name = "timer-spin",
	.from = "a point of time (CLOCK_MONOTONIC)",
	.to = "the first reading of the clock that is not before it",
	.flags = TLAT_PROBE_NOSLEEP,
	.clock = CLOCK_MONOTONIC,
	.wait = spin_wait,
};
