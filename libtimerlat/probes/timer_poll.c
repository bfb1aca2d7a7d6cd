// SPDX-License-Identifier: MIT
/*
 * timer-poll - the timeout of poll(2), without a descriptor.
 *
 * From/To:  the timeout, in whole milliseconds, after a stamp before the call;
 *           after poll(2) returned
 * Includes: the way into the sleep; timer slack, which outside real-time
 *           policies is at least 0.1 % of the timeout; interrupt, idle exit,
 *           the context switch
 * Excludes: the rounding up to milliseconds, as the deadline is rounded, too
 * EINTR:    waits once more in full, unless the deadline has passed
 */
#include <poll.h>

#include "span.h"

#define UNIT_NS 1000000

static int poll_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		     struct tlat_error *reterr)
{
	(void)opts;
	return tlat_span_init(ctx, ctx->interval_ns, UNIT_NS, INT32_MAX, reterr);
}

TLAT_HOT static int poll_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	int timeout_ms = (int)(tlat_span_of(ctx)->timeout_ns / UNIT_NS), error;

	(void)side;
	do {
		error = poll(NULL, 0, timeout_ms) < 0 ? -errno : 0;
		event->at = tlat_stamp(ctx);
	} while (error == -EINTR && tlat_span_again(ctx, event));
	return tlat_span_end(event, error);
}

extern const struct tlat_probe_ops tlat_probe_timer_poll;
const struct tlat_probe_ops tlat_probe_timer_poll = {
	.name = "timer-poll",
	.from = "the timeout in whole ms after a stamp before the call",
	.to = "after poll(2) returned",
	.flags = TLAT_PROBE_RELATIVE,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct tlat_span),
	.open = poll_open,
	.due = tlat_span_due,
	.wait = poll_wait,
};
