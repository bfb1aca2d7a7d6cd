// SPDX-License-Identifier: MIT
/*
 * timer-uring, timer-uring-multishot - timeouts of io_uring.
 *
 * From/To:  the programmed expiry; after io_uring_enter(2) returned and the
 *           completion was seen
 * Includes: interrupt, waking the thread, the task work that posts the
 *           completion; no timer slack. -multishot: the drift, too. The kernel
 *           re-arms it relative to when the task ran, so each expiry is late by
 *           what all before it in its burst were; it is armed anew, from the
 *           call, every 64 expiries
 * Excludes: the way into the sleep where the deadline is absolute
 * EINTR:    waits again
 */
#include <string.h>

#include "probe.h"

#if defined(TLAT_WITH_URING)
#include <liburing.h>

#include "uring.h"

#define BURST	      64
#define RING_ENTRIES  8
#define MULTISHOT_BIT (1U << 6) /* IORING_TIMEOUT_MULTISHOT, which the header may not have yet */

struct side {
	struct io_uring ring;
	struct __kernel_timespec due;
};

struct shared {
	const struct tlat_probe_side *side; /* whose ring arm() uses */
	uint64_t first;			    /* of the burst */
	unsigned int shot;		    /* within the burst */
};

static int make_ring(struct io_uring *ring, struct tlat_error *reterr)
{
	int error = io_uring_queue_init(RING_ENTRIES, ring, 0);

	if (error)
		return tlat_fail(reterr, error, "io_uring_setup() failed: %s%s", strerror(-error),
				 error == -ENOSYS   ? "; the kernel needs CONFIG_IO_URING"
				 : error == -EPERM  ? "; see kernel.io_uring_disabled, and seccomp"
				 : error == -ENOMEM ? "; raise RLIMIT_MEMLOCK"
						    : "");
	return 0;
}

static int submit(struct side *my, uint64_t ns, unsigned int count, unsigned int flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&my->ring);
	int got;

	if (!sqe)
		return -EBUSY;
	my->due.tv_sec = (int64_t)ns / TLAT_NSEC_PER_SEC;
	my->due.tv_nsec = (int64_t)ns % TLAT_NSEC_PER_SEC;
	io_uring_prep_timeout(sqe, &my->due, count, flags);
	got = io_uring_submit(&my->ring);
	return got < 0 ? got : 0;
}

static int uring_supported(struct tlat_error *reterr)
{
	struct io_uring ring;
	int error = make_ring(&ring, reterr);

	if (error)
		return error;
	io_uring_queue_exit(&ring);
	return tlat_uring_check_absolute(reterr);
}

/* Tried with one shot of 1 ns: a kernel before 6.4 calls it invalid. */
static int multishot_supported(struct tlat_error *reterr)
{
	struct io_uring_cqe *cqe;
	struct side side;
	int error = make_ring(&side.ring, reterr);

	if (error)
		return error;
	error = submit(&side, 1, 1, MULTISHOT_BIT);
	if (!error)
		error = io_uring_wait_cqe(&side.ring, &cqe);
	if (!error && cqe->res != -ETIME)
		error = cqe->res;
	io_uring_queue_exit(&side.ring);
	if (!error)
		return 0;
	return tlat_fail(reterr, error, "a multishot timeout of io_uring failed: %s%s",
			 strerror(-error), error == -EINVAL ? "; it needs Linux 6.4" : "");
}

static int uring_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		       struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	struct side *my = side->state;

	shared->side = side;
	return make_ring(&my->ring, reterr);
}

TLAT_HOT static int uring_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;

	return submit(shared->side->state, due, 0, IORING_TIMEOUT_ABS);
}

/* Where the expiry would be without drift. */
static uint64_t multishot_due(const struct tlat_probe_ctx *ctx, uint64_t armed, uint64_t asked)
{
	const struct shared *shared = ctx->shared;

	(void)armed;
	return shared->shot ? shared->first + shared->shot * (uint64_t)ctx->interval_ns : asked;
}

TLAT_HOT static int multishot_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;
	bool begins = shared->shot == 0;

	shared->shot = (shared->shot + 1) % BURST;
	if (!begins)
		return 0;
	shared->first = due;
	return submit(shared->side->state, (uint64_t)ctx->interval_ns, BURST, MULTISHOT_BIT);
}

TLAT_HOT static int uring_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			       struct tlat_probe_event *event)
{
	struct side *my = side->state;
	struct io_uring_cqe *cqe;
	int error;

	do {
		error = io_uring_wait_cqe(&my->ring, &cqe);
		event->at = tlat_stamp(ctx);
	} while (error == -EINTR && !tlat_probe_stopping(ctx));
	if (error)
		return error;
	error = cqe->res == -ETIME ? 0 : cqe->res;
	io_uring_cqe_seen(&my->ring, cqe);
	return error;
}

static void uring_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct side *my = side->state;

	(void)ctx;
	io_uring_queue_exit(&my->ring);
}

#define URING_HOOKS(supporting, arming)                                                            \
	.shared_size = sizeof(struct shared), .side_size = sizeof(struct side),                    \
	.supported = supporting, .enter = uring_enter, .arm = arming, .wait = uring_wait,          \
	.leave = uring_leave
#define MULTISHOT_DUE multishot_due

#else

static int not_built(struct tlat_error *reterr)
{
	return tlat_fail(reterr, -EOPNOTSUPP,
			 "io_uring is not in this build; build with liburing (TLAT_WITH_URING)");
}

#define URING_HOOKS(supporting, arming) .supported = not_built
#define MULTISHOT_DUE			NULL

#endif

extern const struct tlat_probe_ops tlat_probe_timer_uring;
const struct tlat_probe_ops tlat_probe_timer_uring = {
	.name = "timer-uring",
	.from = "the programmed expiry (CLOCK_MONOTONIC, absolute)",
	.to = "after the completion was seen",
	.flags = TLAT_PROBE_SOFT_EXPIRY,
	.clock = CLOCK_MONOTONIC,
	URING_HOOKS(uring_supported, uring_arm),
};

extern const struct tlat_probe_ops tlat_probe_timer_uring_multishot;
const struct tlat_probe_ops tlat_probe_timer_uring_multishot = {
	.name = "timer-uring-multishot",
	.from = "where the expiry would be without drift, in bursts of 64",
	.to = "after the completion was seen",
	.flags = TLAT_PROBE_RELATIVE | TLAT_PROBE_DRIFTS | TLAT_PROBE_SOFT_EXPIRY,
	.clock = CLOCK_MONOTONIC,
	.due = MULTISHOT_DUE,
	URING_HOOKS(multishot_supported, multishot_arm),
};
