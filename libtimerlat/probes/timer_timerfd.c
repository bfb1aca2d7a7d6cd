// SPDX-License-Identifier: MIT
/*
 * timer-timerfd - a periodic timerfd, read while it is not yet due.
 *
 * From/To:  the programmed expiry; after read(2) returned
 * Includes: interrupt, idle exit, the context switch, and read(2) re-arming
 *           the timer; no timer slack
 * Excludes: nothing of the expiry; the kernel keeps the grid
 * EINTR:    reads again
 */
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "probe.h"

struct shared {
	int fd;
};

static int timerfd_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	shared->fd = timerfd_create(ctx->ops->clock, TFD_CLOEXEC);
	if (shared->fd < 0)
		return tlat_fail(reterr, -errno, "timerfd_create() failed: %s%s", strerror(errno),
				 errno == EMFILE ? "; raise RLIMIT_NOFILE" : "");
	return 0;
}

static int timerfd_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;
	struct itimerspec spec = { .it_value = tlat_timespec_of_ns((int64_t)due),
				   .it_interval = tlat_timespec_of_ns(ctx->interval_ns) };

	return timerfd_settime(shared->fd, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

static int timerfd_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	ssize_t got;

	(void)side;
	do {
		got = read(shared->fd, &event->n, sizeof(event->n));
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 ? -errno : 0;
}

static void timerfd_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	close(shared->fd);
}

extern const struct tlat_probe_ops tlat_probe_timer_timerfd;
const struct tlat_probe_ops tlat_probe_timer_timerfd = {
	.name = "timer-timerfd",
	.from = "the programmed expiry (CLOCK_MONOTONIC, periodic)",
	.to = "after read(2) of the timerfd returned",
	.flags = TLAT_PROBE_PERIODIC,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.open = timerfd_open,
	.arm = timerfd_arm,
	.wait = timerfd_wait,
	.close = timerfd_close,
};
