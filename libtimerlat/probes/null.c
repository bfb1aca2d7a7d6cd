// SPDX-License-Identifier: MIT
/*
 * null - nothing between two stamps, on one thread.
 *
 * From/To:  a begin stamp; the end stamp right after it
 * Includes: one begin and one end stamp, two calls through the table
 * Excludes: everything else; its distribution is the floor beside every result
 * EINTR:    does not block
 */
#include "probe.h"

TLAT_HOT static int null_kick(struct tlat_probe_ctx *ctx)
{
	(void)ctx;
	return TLAT_KICK_UNTOLD;
}

TLAT_HOT static int null_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	(void)side;
	event->at = tlat_stamp(ctx);
	return 0;
}

extern const struct tlat_probe_ops tlat_probe_null;
const struct tlat_probe_ops tlat_probe_null = {
	.name = "null",
	.from = "a stamp",
	.to = "the next stamp on the same thread",
	.flags = TLAT_PROBE_LOOPBACK,
	.clock = CLOCK_MONOTONIC,
	.kick = null_kick,
	.wait = null_wait,
};
