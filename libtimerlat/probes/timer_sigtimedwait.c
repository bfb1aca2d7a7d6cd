// SPDX-License-Identifier: MIT
/*
 * timer-sigtimedwait - the timeout of sigtimedwait(2), for signals that never come.
 *
 * From/To:  the timeout after a stamp before the call; after sigtimedwait(2)
 *           returned
 * Includes: the way into the sleep, timer slack, interrupt, idle exit, the
 *           context switch
 * Excludes: the delivery of a signal: the set waited for is empty
 * EINTR:    waits once more in full, unless the deadline has passed
 */
#include <signal.h>

#include "span.h"

static int sigtimedwait_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			     struct tlat_error *reterr)
{
	(void)opts;
	return tlat_span_init(ctx, ctx->interval_ns, 1, INT64_MAX, reterr);
}

TLAT_HOT static int sigtimedwait_wait(struct tlat_probe_ctx *ctx,
				      const struct tlat_probe_side *side,
				      struct tlat_probe_event *event)
{
	struct timespec timeout = tlat_timespec_of_ns(tlat_span_of(ctx)->timeout_ns);
	sigset_t none;
	int error;

	(void)side;
	sigemptyset(&none);
	do {
		error = sigtimedwait(&none, NULL, &timeout) < 0 ? -errno : 0;
		event->at = tlat_stamp(ctx);
	} while (error == -EINTR && tlat_span_again(ctx, event));
	return error == -EAGAIN ? 0 : tlat_span_end(event, error);
}

extern const struct tlat_probe_ops tlat_probe_timer_sigtimedwait;
const struct tlat_probe_ops tlat_probe_timer_sigtimedwait = {
	.name = "timer-sigtimedwait",
	.from = "the timeout in ns after a stamp before the call",
	.to = "after sigtimedwait(2) returned",
	.flags = TLAT_PROBE_RELATIVE,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct tlat_span),
	.open = sigtimedwait_open,
	.due = tlat_span_due,
	.wait = sigtimedwait_wait,
};
