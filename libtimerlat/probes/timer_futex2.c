// SPDX-License-Identifier: MIT
/*
 * timer-futex2, timer-futex2-waitv - the timeout of futex_wait(2) and futex_waitv(2),
 * which know a clock, always mean a point of time, and take no timer slack.
 *
 * From/To:  the programmed expiry; after the call returned
 * Includes: interrupt, idle exit, the context switch, leaving the hash bucket
 * Excludes: timer slack; the way into the sleep, as the deadline is absolute
 * EINTR:    waits again towards the same deadline
 */
#include "raw_call.h"

enum { SIZE_U32 = 2, PRIVATE = 128 }; /* FUTEX2_* of linux/futex.h, which may be older */

/* struct futex_waitv */
struct waiter {
	uint64_t val, uaddr;
	uint32_t flags, reserved;
};

struct shared {
	struct waiter waiter;
	uint32_t word;
};

static int wait_supported(struct tlat_error *reterr)
{
	syscall(SYS_futex_wait, NULL, 0UL, 0UL, 0U, NULL, 0);
	return tlat_raw_call_check("futex_wait(2)", "6.7", reterr);
}

static int waitv_supported(struct tlat_error *reterr)
{
	syscall(SYS_futex_waitv, NULL, 0U, 0U, NULL, 0);
	return tlat_raw_call_check("futex_waitv(2)", "5.16", reterr);
}

static int futex2_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		       struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	(void)reterr;
	shared->waiter.uaddr = (uintptr_t)&shared->word;
	shared->waiter.flags = SIZE_U32 | PRIVATE;
	return 0;
}

TLAT_HOT static int futex2_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				struct tlat_probe_event *event)
{
	const struct tlat_kernel_timespec due = tlat_kernel_timespec_of_ns((int64_t)event->due);
	struct shared *shared = ctx->shared;
	long got;

	(void)side;
	do {
		got = syscall(SYS_futex_wait, &shared->word, 0UL, 0xffffffffUL, SIZE_U32 | PRIVATE,
			      &due, CLOCK_MONOTONIC);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 && errno != ETIMEDOUT ? -errno : 0;
}

TLAT_HOT static int waitv_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			       struct tlat_probe_event *event)
{
	const struct tlat_kernel_timespec due = tlat_kernel_timespec_of_ns((int64_t)event->due);
	struct shared *shared = ctx->shared;
	long got;

	(void)side;
	do {
		got = syscall(SYS_futex_waitv, &shared->waiter, 1U, 0U, &due, CLOCK_MONOTONIC);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 && errno != ETIMEDOUT ? -errno : 0;
}

extern const struct tlat_probe_ops tlat_probe_timer_futex2;
const struct tlat_probe_ops tlat_probe_timer_futex2 = {
	.name = "timer-futex2",
	.from = "the programmed expiry (CLOCK_MONOTONIC, absolute)",
	.to = "after futex_wait(2) returned",
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.supported = wait_supported,
	.open = futex2_open,
	.wait = futex2_wait,
};

extern const struct tlat_probe_ops tlat_probe_timer_futex2_waitv;
const struct tlat_probe_ops tlat_probe_timer_futex2_waitv = {
	.name = "timer-futex2-waitv",
	.from = "the programmed expiry (CLOCK_MONOTONIC, absolute)",
	.to = "after futex_waitv(2) returned",
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.supported = waitv_supported,
	.open = futex2_open,
	.wait = waitv_wait,
};
