// SPDX-License-Identifier: MIT
/*
 * timer-nanosleep - a sleep until a point of time, or for a span of it (-rel).
 *
 * From/To:  the programmed expiry; after clock_nanosleep(2) returned
 * Includes: timer slack, interrupt, idle exit, the context switch; -rel: the
 *           way into the sleep, too, as the span counts from the call
 * Excludes: that way where the deadline is absolute
 * EINTR:    sleeps on towards the same deadline
 *
 * Without the C library, whose function is a cancellation point: an atomic operation on each side
 * of the sleep, one of them before the stamp, on cache lines that a cycle needs for nothing else.
 */
#include "raw_call.h"

#ifdef SYS_clock_nanosleep_time64 /* where the call of the old name takes a time of 32 bits */
#define CLOCK_NANOSLEEP SYS_clock_nanosleep_time64
#else
#define CLOCK_NANOSLEEP SYS_clock_nanosleep
#endif

TLAT_HOT static int nanosleep_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				   struct tlat_probe_event *event)
{
	const struct tlat_kernel_timespec due = tlat_kernel_timespec_of_ns((int64_t)event->due);
	const struct tlat_stamper stamper = ctx->stamper; /* at hand when it wakes */
	long got;

	(void)side;
	do {
		got = syscall(CLOCK_NANOSLEEP, ctx->ops->clock, TIMER_ABSTIME, &due, NULL);
		event->at = tlat_stamp_end(&stamper);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 ? -errno : 0;
}

TLAT_HOT static int span_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event)
{
	struct tlat_kernel_timespec left = tlat_kernel_timespec_of_ns(ctx->interval_ns);
	long got;

	(void)side;
	do {
		got = syscall(CLOCK_NANOSLEEP, ctx->ops->clock, 0, &left, &left);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 ? -errno : 0;
}

#define NANOSLEEP_PROBE(id, dashed, words, id_of_clock, kind, flag)                                \
	extern const struct tlat_probe_ops tlat_probe_timer_nanosleep##id;                         \
	const struct tlat_probe_ops tlat_probe_timer_nanosleep##id = {                             \
		.name = "timer-nanosleep" dashed,                                                  \
		.from = "the programmed expiry (" words ")",                                       \
		.to = "after clock_nanosleep(2) returned",                                         \
		.flags = flag,                                                                     \
		.clock = id_of_clock,                                                              \
		.wait = kind##_wait,                                                               \
	}

NANOSLEEP_PROBE(, "", "CLOCK_MONOTONIC, absolute", CLOCK_MONOTONIC, nanosleep, 0);
NANOSLEEP_PROBE(_realtime, "-realtime", "CLOCK_REALTIME, absolute", CLOCK_REALTIME, nanosleep, 0);
NANOSLEEP_PROBE(_tai, "-tai", "CLOCK_TAI, absolute", CLOCK_TAI, nanosleep, 0);
NANOSLEEP_PROBE(_boottime, "-boottime", "CLOCK_BOOTTIME, absolute", CLOCK_BOOTTIME, nanosleep, 0);
NANOSLEEP_PROBE(_rel, "-rel", "a span from before the call", CLOCK_MONOTONIC, span,
		TLAT_PROBE_RELATIVE);
