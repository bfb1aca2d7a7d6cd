// SPDX-License-Identifier: MIT
/*
 * timer-select - the timeout of select(2), without a descriptor.
 *
 * From/To:  the timeout, in whole microseconds, after a stamp before the call;
 *           after select(2) returned
 * Includes: the way into the sleep; timer slack, which outside real-time
 *           policies is at least 0.1 % of the timeout; interrupt, idle exit,
 *           the context switch
 * Excludes: the rounding up to microseconds, as the deadline is rounded, too
 * EINTR:    waits on for what the kernel says is left
 */
#include <sys/select.h>

#include "span.h"

#define UNIT_NS 1000

static int select_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		       struct tlat_error *reterr)
{
	(void)opts;
	return tlat_span_init(ctx, ctx->interval_ns, UNIT_NS, INT64_MAX, reterr);
}

TLAT_HOT static int select_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				struct tlat_probe_event *event)
{
	struct timespec span = tlat_timespec_of_ns(tlat_span_of(ctx)->timeout_ns);
	struct timeval left = { .tv_sec = span.tv_sec, .tv_usec = span.tv_nsec / UNIT_NS };
	int error;

	(void)side;
	do {
		error = select(0, NULL, NULL, NULL, &left) < 0 ? -errno : 0;
		event->at = tlat_stamp(ctx);
	} while (error == -EINTR && tlat_span_again(ctx, event));
	return tlat_span_end(event, error);
}

extern const struct tlat_probe_ops tlat_probe_timer_select;
const struct tlat_probe_ops tlat_probe_timer_select = {
	.name = "timer-select",
	.from = "the timeout in whole us after a stamp before the call",
	.to = "after select(2) returned",
	.flags = TLAT_PROBE_RELATIVE,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct tlat_span),
	.open = select_open,
	.due = tlat_span_due,
	.wait = select_wait,
};
