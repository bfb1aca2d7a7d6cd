// SPDX-License-Identifier: MIT
/*
 * timer-sockopt - the timeout of recv(2), set with SO_RCVTIMEO: the timer wheel.
 *
 * From/To:  the timeout, in whole ticks, after a stamp before the call: the
 *           wheel is early on that only by what the tick was late by when the
 *           call was made; after recv(2) returned
 * Includes: the wheel's own lateness: its buckets are 1, 8, 64, ... ticks wide,
 *           the wider the longer the timeout, and expire at their end; softirq,
 *           idle exit, the context switch
 * Excludes: the rounding up to ticks, as the deadline is rounded, too
 * EINTR:    waits once more in full, unless the deadline has passed
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "span.h"

struct shared {
	struct tlat_span span;
	int fds[2];
};

/* What CLOCK_MONOTONIC_COARSE advances by. */
static int64_t tick_ns(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tlat_ns_of_timespec(&tick);
}

static int sockopt_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	int64_t us = tlat_round_up(opts->interval_ns, 1000) / 1000;
	struct timeval timeout = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
	int error = tlat_span_init(ctx, us * 1000, tick_ns(), INT32_MAX, reterr);

	if (error)
		return error;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, shared->fds))
		return tlat_fail(reterr, -errno, "socketpair() failed: %s%s", strerror(errno),
				 errno == EMFILE ? "; raise RLIMIT_NOFILE" : "");
	if (!setsockopt(shared->fds[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		return 0;
	error = -errno;
	close(shared->fds[0]);
	close(shared->fds[1]);
	return tlat_fail(reterr, error, "SO_RCVTIMEO of %lld us failed: %s", (long long)us,
			 strerror(-error));
}

TLAT_HOT static int sockopt_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				 struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	int error;
	char byte;

	(void)side;
	do {
		error = recv(shared->fds[0], &byte, 1, 0) < 0 ? -errno : 0;
		event->at = tlat_stamp(ctx);
	} while (error == -EINTR && tlat_span_again(ctx, event->at));
	return error == -EAGAIN ? 0 : tlat_span_end(ctx, event->at, error);
}

static void sockopt_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	close(shared->fds[0]);
	close(shared->fds[1]);
}

extern const struct tlat_probe_ops tlat_probe_timer_sockopt;
const struct tlat_probe_ops tlat_probe_timer_sockopt = {
	.name = "timer-sockopt",
	.from = "the timeout in whole ticks after a stamp before the call",
	.to = "after recv(2) returned (SO_RCVTIMEO)",
	.flags = TLAT_PROBE_RELATIVE | TLAT_PROBE_TICK_BOUND | TLAT_PROBE_SOFT_EXPIRY,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.open = sockopt_open,
	.arm = tlat_span_arm,
	.due = tlat_span_due,
	.wait = sockopt_wait,
	.close = sockopt_close,
};
