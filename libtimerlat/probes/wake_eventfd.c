// SPDX-License-Identifier: MIT
/*
 * wake-eventfd - a blocked read(2) of an eventfd.
 *
 * From/To:  before write(2); after read(2) returned
 * Includes: the wait queue's lock, which the reader takes again while the
 *           writer may still hold it
 * Excludes: the waiter's way into its sleep
 * EINTR:    reads again
 */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "probe.h"

struct shared {
	int fd;
};

static int eventfd_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	shared->fd = eventfd(0, EFD_CLOEXEC);
	if (shared->fd < 0)
		return tlat_fail(reterr, -errno, "eventfd() failed: %s%s", strerror(errno),
				 errno == EMFILE ? "; raise RLIMIT_NOFILE" : "");
	return 0;
}

TLAT_HOT static int eventfd_kick(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;
	uint64_t one = 1;

	return write(shared->fd, &one, sizeof(one)) < 0 ? -errno : TLAT_KICK_UNTOLD;
}

TLAT_HOT static int eventfd_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				 struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	uint64_t count;
	ssize_t got;

	(void)side;
	do {
		got = read(shared->fd, &count, sizeof(count));
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 ? -errno : 0;
}

static void eventfd_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	close(shared->fd);
}

extern const struct tlat_probe_ops tlat_probe_wake_eventfd;
const struct tlat_probe_ops tlat_probe_wake_eventfd = {
	.name = "wake-eventfd",
	.from = "before write(2)",
	.to = "after read(2) returned",
	.flags = TLAT_PROBE_PAIR,
	.shared_size = sizeof(struct shared),
	.open = eventfd_open,
	.kick = eventfd_kick,
	.wait = eventfd_wait,
	.close = eventfd_close,
};
