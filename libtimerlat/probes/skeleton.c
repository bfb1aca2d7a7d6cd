// SPDX-License-Identifier: MIT
/*
 * skeleton - copy this file, rename every "skeleton", add PROBE(your_name) to
 * probes.def, and delete the hooks you do not need. It works: it wakes a
 * reader of a pipe. It is compiled and run in tests, and not listed.
 *
 * From/To:  say where the first and the last stamp lie
 * Includes: which parts of the kernel are inside the interval
 * Excludes: what a reader might think is inside and is not
 * EINTR:    what an interrupted wait does
 */
#include <string.h>
#include <unistd.h>

#include "probe.h"

/* One per instance; zeroed, prefaulted, the same memory for threads and processes. */
struct shared {
	int pipe[2];
};

/* One per measuring thread; on cache lines of its own. */
struct side {
	uint64_t waits;
};

/*
 * Optional. Whether this machine can do it at all, found out by trying and
 * without leaving anything behind: 0, or a negative errno whose text names the
 * cause and the remedy.
 */
static int skeleton_supported(struct tlat_error *reterr)
{
	(void)reterr;
	return 0;
}

/* Optional. Make the kernel objects, once, before any thread exists. */
static int skeleton_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			 struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	if (pipe(shared->pipe))
		return tlat_fail(reterr, -errno, "pipe() failed: %s%s", strerror(errno),
				 errno == EMFILE ? "; raise RLIMIT_NOFILE" : "");
	return 0;
}

/* Optional. What belongs to a measuring thread (masks, tid, rings), its policy applied. */
static int skeleton_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			  struct tlat_error *reterr)
{
	struct side *my = side->state;

	(void)ctx;
	(void)reterr;
	my->waits = 0;
	return 0;
}

/* Optional. On the waiter before each cycle, outside every interval: drain, re-lock. */
TLAT_HOT static void skeleton_ready(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct side *my = side->state;

	(void)ctx;
	my->waits++;
}

/*
 * Required for pairs; timers have the deadline in event->due, and arm(ctx, due)
 * if something is to be programmed before the wait. Wake: between the stamps
 * there is nothing but this. Returns the number of waiters woken if the call
 * says so, TLAT_KICK_UNTOLD if not, or a negative errno.
 */
TLAT_HOT static int skeleton_kick(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	return write(shared->pipe[1], "", 1) < 0 ? -errno : TLAT_KICK_UNTOLD;
}

/*
 * Required. Block; the stamp is the first act awake. No allocation, stdio, lock
 * or other system call. After an interruption wait again, unless the run ends.
 */
TLAT_HOT static int skeleton_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				  struct tlat_probe_event *event)
{
	struct shared *shared = ctx->shared;
	ssize_t got;
	char byte;

	(void)side;
	do {
		got = read(shared->pipe[0], &byte, 1);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 ? -errno : 0;
}

/* Optional. Undo enter() on the same thread. */
static void skeleton_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	(void)ctx;
	(void)side;
}

/* Optional. Undo open(). */
static void skeleton_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	close(shared->pipe[0]);
	close(shared->pipe[1]);
}

extern const struct tlat_probe_ops tlat_probe_skeleton;
const struct tlat_probe_ops tlat_probe_skeleton = {
	.name = "wake-skeleton", /* the file's name with dashes */
	.from = "before write(2) to a pipe",
	.to = "after read(2) returned",
	.flags = TLAT_PROBE_PAIR,
	.shared_size = sizeof(struct shared),
	.side_size = sizeof(struct side),
	.supported = skeleton_supported,
	.open = skeleton_open,
	.enter = skeleton_enter,
	.ready = skeleton_ready,
	.kick = skeleton_kick,
	.wait = skeleton_wait,
	.leave = skeleton_leave,
	.close = skeleton_close,
};
