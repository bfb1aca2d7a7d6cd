// SPDX-License-Identifier: MIT
/*
 * timer-timerfd - a periodic timerfd: read at once, or after poll(2) or
 * epoll_wait(2) has said that it is due.
 *
 * From/To:  the programmed expiry; after read(2), poll(2) or epoll_wait(2)
 *           returned
 * Includes: interrupt, idle exit, the context switch, and, without poll or
 *           epoll, read(2) re-arming the timer; no timer slack
 * Excludes: nothing of the expiry; the kernel keeps the grid. With poll or
 *           epoll the read that follows
 * EINTR:    waits again
 */
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "probe.h"

struct shared {
	int fd;
	int epoll_fd; /* -epoll only */
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

static int epoll_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		      struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	struct epoll_event event = { .events = EPOLLIN };
	int error = timerfd_open(ctx, opts, reterr);

	if (error)
		return error;
	shared->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (shared->epoll_fd >= 0 &&
	    !epoll_ctl(shared->epoll_fd, EPOLL_CTL_ADD, shared->fd, &event))
		return 0;
	error = -errno;
	close(shared->fd);
	if (shared->epoll_fd >= 0)
		close(shared->epoll_fd);
	return tlat_fail(reterr, error, "epoll of a timerfd failed: %s%s", strerror(-error),
			 error == -EMFILE ? "; raise RLIMIT_NOFILE" : "");
}

TLAT_HOT static int timerfd_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;
	struct itimerspec spec = { .it_value = tlat_timespec_of_ns((int64_t)due),
				   .it_interval = tlat_timespec_of_ns(ctx->interval_ns) };

	return timerfd_settime(shared->fd, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

TLAT_HOT static int timerfd_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
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

TLAT_HOT static int poll_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	struct pollfd fd = { .fd = shared->fd, .events = POLLIN };
	int got;

	(void)side;
	do {
		got = poll(&fd, 1, -1);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 || read(fd.fd, &event->n, sizeof(event->n)) < 0 ? -errno : 0;
}

TLAT_HOT static int epoll_timer_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				     struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	struct epoll_event ready;
	int got;

	(void)side;
	do {
		got = epoll_wait(shared->epoll_fd, &ready, 1, -1);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 || read(shared->fd, &event->n, sizeof(event->n)) < 0 ? -errno : 0;
}

/* Expirations that have not been read. */
static uint64_t drain(int timer_fd)
{
	struct pollfd fd = { .fd = timer_fd, .events = POLLIN };
	uint64_t n;

	return poll(&fd, 1, 0) == 1 && read(timer_fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static int timerfd_tally(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			 struct tlat_probe_tally *tally)
{
	struct shared *shared = ctx->shared;
	struct itimerspec left;

	(void)side;
	tally->pending = drain(shared->fd);
	if (timerfd_gettime(shared->fd, &left))
		return -errno;
	tally->pending += drain(shared->fd);
	tally->left_ns = (uint64_t)tlat_ns_of_timespec(&left.it_value);
	return 0;
}

static void timerfd_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	close(shared->fd);
}

static void epoll_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	close(shared->epoll_fd);
	close(shared->fd);
}

#define TIMERFD_PROBE(id, dashed, words, opening, waiting, closing)                                \
	extern const struct tlat_probe_ops tlat_probe_timer_timerfd##id;                           \
	const struct tlat_probe_ops tlat_probe_timer_timerfd##id = {                               \
		.name = "timer-timerfd" dashed,                                                    \
		.from = "the programmed expiry (CLOCK_MONOTONIC, periodic)",                       \
		.to = "after " words " returned",                                                  \
		.flags = TLAT_PROBE_PERIODIC | TLAT_PROBE_SOFT_EXPIRY,                             \
		.clock = CLOCK_MONOTONIC,                                                          \
		.shared_size = sizeof(struct shared),                                              \
		.open = opening,                                                                   \
		.arm = timerfd_arm,                                                                \
		.wait = waiting,                                                                   \
		.tally = timerfd_tally,                                                            \
		.close = closing,                                                                  \
	}

TIMERFD_PROBE(, "", "read(2) of the timerfd", timerfd_open, timerfd_wait, timerfd_close);
TIMERFD_PROBE(_poll, "-poll", "poll(2) of the timerfd", timerfd_open, poll_wait, timerfd_close);
TIMERFD_PROBE(_epoll, "-epoll", "epoll_wait(2) for the timerfd", epoll_open, epoll_timer_wait,
	      epoll_close);
