// SPDX-License-Identifier: MIT
/*
 * timer-sockopt - the timeout of recv(2), set with SO_RCVTIMEO: the timer wheel.
 *
 * From/To:  the end of the bucket that the timeout falls in when it begins at
 *           a stamp before the call; after recv(2) returned
 * Includes: the wheel's own lateness; softirq, idle exit, the context switch
 * Excludes: the rounding up to ticks and to the end of a bucket, 1, 8, 64, ...
 *           ticks wide, the wider the longer the timeout
 * EINTR:    waits once more in full, unless the deadline has passed
 *
 * The kernel tells its jiffies in times(2), in hundredths of a second: when that
 * steps, both their number and the time of the tick are known, the latter to a
 * sixteenth of a tick, which the value includes, or exactly where ticks are at
 * multiples of their length. A tick that is late and not counted yet when the
 * call is made shows in CLOCK_MONOTONIC_COARSE, but for those that were late
 * before: there the timeout is early, by a tick, or by a bucket where one ended
 * with that tick. Where times(2) does not step, the deadline is the timeout in
 * whole ticks, and the value includes the rest; in us where no tick is told.
 */
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include "span.h"
#include "wheel.h"

#define STEPS	    4  /* of times(2), of which the one seen earliest counts */
#define STEPS_BOUND 10 /* how many of them are waited for */

struct shared {
	struct tlat_span span;
	struct tlat_wheel wheel;
	uint64_t coarse; /* that clock, before the deadline is chosen */
	int fds[2];
};

static uint64_t steps_so_far(void)
{
	struct tms unused;

	return (uint64_t)times(&unused);
}

/* Wait for a step of times(2), so many ns apart. False: there is none. */
static bool see_step(uint64_t step_ns, uint64_t *ret_step, uint64_t *ret_at)
{
	uint64_t before = steps_so_far(), end = tlat_gettime_ns(CLOCK_MONOTONIC);

	for (end += STEPS_BOUND * step_ns;; before = *ret_step) {
		*ret_step = steps_so_far();
		*ret_at = tlat_gettime_ns(CLOCK_MONOTONIC);
		if (*ret_step == before + 1)
			return true;
		if (*ret_at > end)
			return false;
	}
}

/* The kernel's; every thread of this process has the same. */
static struct tlat_wheel the_wheel;

/*
 * What is seen of a tick is late: the earliest tells most. Ticks are at multiples of their length,
 * but not before Linux 6.4 and in time namespaces: there by how much it is late is not known.
 */
static void learn_wheel(void)
{
	uint64_t step_ns = (uint64_t)(TLAT_NSEC_PER_SEC / sysconf(_SC_CLK_TCK)), step, at, late;
	uint64_t tick = (uint64_t)tlat_tick_ns();
	struct timespec most = tlat_timespec_of_ns((int64_t)(step_ns * 3 / 4));

	if (!tick)
		return;
	for (int i = 0; i < STEPS; i++) {
		uint64_t origin;

		if (i)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &most, NULL);
		if (!see_step(step_ns, &step, &at))
			return;
		origin = at - (step * step_ns + tick - 1) / tick * tick;
		if (!i || (int64_t)(origin - the_wheel.origin) < 0)
			the_wheel.origin = origin;
	}
	the_wheel.tick = tick;
	late = tlat_wheel_tick(&the_wheel, tlat_wheel_jiffies(&the_wheel, at)) % tick;
	if (late < tick / 8)
		the_wheel.origin -= late;
	else
		the_wheel.doubt = tick / 16;
}

static int sockopt_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			struct tlat_error *reterr)
{
	static pthread_once_t learned = PTHREAD_ONCE_INIT;
	struct shared *shared = ctx->shared;
	int64_t us = tlat_round_up(ctx->interval_ns, 1000) / 1000;
	struct timeval timeout = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
	int64_t tick_ns = tlat_tick_ns();
	int error = tlat_span_init(ctx, us * 1000, tick_ns ? tick_ns : 1000, INT32_MAX, reterr);

	(void)opts;
	if (error)
		return error;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, shared->fds))
		return tlat_fail(reterr, -errno, "socketpair() failed: %s%s", strerror(errno),
				 errno == EMFILE ? "; raise RLIMIT_NOFILE" : "");
	pthread_once(&learned, learn_wheel);
	shared->wheel = the_wheel;
	if (!setsockopt(shared->fds[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		return 0;
	error = -errno;
	close(shared->fds[0]);
	close(shared->fds[1]);
	return tlat_fail(reterr, error, "SO_RCVTIMEO of %lld us failed: %s", (long long)us,
			 strerror(-error));
}

TLAT_HOT static void sockopt_ready(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct shared *shared = ctx->shared;

	(void)side;
	shared->coarse = tlat_gettime_ns(CLOCK_MONOTONIC_COARSE);
}

TLAT_HOT static uint64_t sockopt_due(const struct tlat_probe_ctx *ctx, uint64_t armed,
				     uint64_t asked)
{
	const struct shared *shared = ctx->shared;
	const struct tlat_wheel *wheel = &shared->wheel;

	if (!wheel->tick)
		return tlat_span_due(ctx, armed, asked);
	return tlat_wheel_due(wheel, shared->coarse, armed,
			      (uint64_t)shared->span.timeout_ns / wheel->tick);
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
	} while (error == -EINTR && tlat_span_again(ctx, event));
	return error == -EAGAIN ? 0 : tlat_span_end(event, error);
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
	.from = "the end of the bucket that the timeout falls in, begun before the call",
	.to = "after recv(2) returned (SO_RCVTIMEO)",
	.flags = TLAT_PROBE_RELATIVE | TLAT_PROBE_TICK_BOUND | TLAT_PROBE_SOFT_EXPIRY,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.open = sockopt_open,
	.ready = sockopt_ready,
	.due = sockopt_due,
	.wait = sockopt_wait,
	.close = sockopt_close,
};
