// SPDX-License-Identifier: MIT
/*
 * timer-epoll-wait, timer-epoll-pwait2 - the timeout of an empty epoll(7) set, in
 * milliseconds or in nanoseconds.
 *
 * From/To:  the timeout after a stamp before the call; after epoll_wait(2) or
 *           epoll_pwait2(2) returned
 * Includes: the way into the sleep; timer slack, which outside real-time
 *           policies is at least 0.1 % of the timeout; interrupt, idle exit,
 *           the context switch
 * Excludes: the rounding up to the unit, as the deadline is rounded, too
 * EINTR:    waits once more in full, unless the deadline has passed
 */
#include <string.h>
#include <sys/epoll.h>

#include "raw_call.h"
#include "span.h"

#define WAIT_UNIT_NS 1000000

struct shared {
	struct tlat_span span;
	struct tlat_kernel_timespec timeout;
	int fd;
};

static int epoll_pwait2_call(int fd, struct epoll_event *event,
			     const struct tlat_kernel_timespec *timeout)
{
	return (int)syscall(SYS_epoll_pwait2, fd, event, 1, timeout, NULL, 0);
}

static int pwait2_supported(struct tlat_error *reterr)
{
	struct epoll_event event;

	epoll_pwait2_call(-1, &event, NULL);
	return tlat_raw_call_check("epoll_pwait2(2)", "5.11", reterr);
}

static int epoll_open(struct tlat_probe_ctx *ctx, int64_t timeout_ns, int64_t unit_ns,
		      struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	int64_t max = unit_ns == WAIT_UNIT_NS ? INT32_MAX : INT64_MAX;
	int error = tlat_span_init(ctx, timeout_ns, unit_ns, max, reterr);

	if (error)
		return error;
	shared->timeout = tlat_kernel_timespec_of_ns(shared->span.timeout_ns);
	shared->fd = epoll_create1(EPOLL_CLOEXEC);
	if (shared->fd < 0)
		return tlat_fail(reterr, -errno, "epoll_create1() failed: %s%s", strerror(errno),
				 errno == EMFILE ? "; raise RLIMIT_NOFILE" : "");
	return 0;
}

static int wait_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		     struct tlat_error *reterr)
{
	(void)opts;
	return epoll_open(ctx, ctx->interval_ns, WAIT_UNIT_NS, reterr);
}

static int pwait2_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		       struct tlat_error *reterr)
{
	(void)opts;
	return epoll_open(ctx, ctx->interval_ns, 1, reterr);
}

TLAT_HOT static int wait_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	int timeout_ms = (int)(shared->span.timeout_ns / WAIT_UNIT_NS), error;
	struct epoll_event none;

	(void)side;
	do {
		error = epoll_wait(shared->fd, &none, 1, timeout_ms) < 0 ? -errno : 0;
		event->at = tlat_stamp(ctx);
	} while (error == -EINTR && tlat_span_again(ctx, event));
	return tlat_span_end(event, error);
}

TLAT_HOT static int pwait2_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	struct epoll_event none;
	int error;

	(void)side;
	do {
		error = epoll_pwait2_call(shared->fd, &none, &shared->timeout) < 0 ? -errno : 0;
		event->at = tlat_stamp(ctx);
	} while (error == -EINTR && tlat_span_again(ctx, event));
	return tlat_span_end(event, error);
}

static void epoll_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	close(shared->fd);
}

extern const struct tlat_probe_ops tlat_probe_timer_epoll_wait;
const struct tlat_probe_ops tlat_probe_timer_epoll_wait = {
	.name = "timer-epoll-wait",
	.from = "the timeout in whole ms after a stamp before the call",
	.to = "after epoll_wait(2) returned",
	.flags = TLAT_PROBE_RELATIVE,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.open = wait_open,
	.due = tlat_span_due,
	.wait = wait_wait,
	.close = epoll_close,
};

extern const struct tlat_probe_ops tlat_probe_timer_epoll_pwait2;
const struct tlat_probe_ops tlat_probe_timer_epoll_pwait2 = {
	.name = "timer-epoll-pwait2",
	.from = "the timeout in ns after a stamp before the call",
	.to = "after epoll_pwait2(2) returned",
	.flags = TLAT_PROBE_RELATIVE,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.supported = pwait2_supported,
	.open = pwait2_open,
	.due = tlat_span_due,
	.wait = pwait2_wait,
	.close = epoll_close,
};
