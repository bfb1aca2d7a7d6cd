// SPDX-License-Identifier: MIT
/*
 * timer-mq - the timeout of a POSIX message queue that stays empty.
 *
 * From/To:  the programmed expiry; after mq_timedreceive(3) returned
 * Includes: interrupt, idle exit, the context switch; no timer slack
 * Excludes: the way into the sleep, as the deadline is absolute
 * EINTR:    waits again towards the same deadline
 */
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define MESSAGE_BYTES 8

struct shared {
	mqd_t queue;
	char message[MESSAGE_BYTES];
};

/* A queue without a name: unlinked as soon as it is there. */
static mqd_t make_queue(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = MESSAGE_BYTES };
	static atomic_uint serial;
	char name[48];
	mqd_t queue;

	snprintf(name, sizeof(name), "/tlat-%ld-%u", (long)getpid(), atomic_fetch_add(&serial, 1));
	queue = mq_open(name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
	if (queue != (mqd_t)-1)
		mq_unlink(name);
	return queue;
}

static int refuse(struct tlat_error *reterr)
{
	int code = -errno;

	return tlat_fail(reterr, code, "mq_open() failed: %s%s", strerror(-code),
			 code == -EMFILE   ? "; raise RLIMIT_MSGQUEUE or RLIMIT_NOFILE"
			 : code == -EPERM  ? "; see seccomp"
			 : code == -ENOSYS ? "; the kernel needs CONFIG_POSIX_MQUEUE"
			 : code == -ENOSPC ? "; raise fs.mqueue.queues_max"
					   : "");
}

static int mq_supported(struct tlat_error *reterr)
{
	const struct timespec past = { 0 };
	mqd_t queue = make_queue();
	char message[MESSAGE_BYTES];
	int error = 0;

	if (queue == (mqd_t)-1)
		return refuse(reterr);
	if (mq_timedreceive(queue, message, MESSAGE_BYTES, NULL, &past) < 0 && errno != ETIMEDOUT)
		error = tlat_fail(reterr, -errno, "mq_timedreceive() failed: %s%s", strerror(errno),
				  errno == EPERM ? "; see seccomp" : "");
	mq_close(queue);
	return error;
}

static int mq_probe_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
			 struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;

	(void)opts;
	shared->queue = make_queue();
	return shared->queue == (mqd_t)-1 ? refuse(reterr) : 0;
}

TLAT_HOT static int mq_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			    struct tlat_probe_event *event)
{
	const struct timespec due = tlat_timespec_of_ns((int64_t)event->due);
	struct shared *shared = ctx->shared;
	ssize_t got;

	(void)side;
	do {
		got = mq_timedreceive(shared->queue, shared->message, MESSAGE_BYTES, NULL, &due);
		event->at = tlat_stamp(ctx);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	return got < 0 && errno != ETIMEDOUT ? -errno : 0;
}

static void mq_probe_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	mq_close(shared->queue);
}

extern const struct tlat_probe_ops tlat_probe_timer_mq;
const struct tlat_probe_ops tlat_probe_timer_mq = {
	.name = "timer-mq",
	.from = "the programmed expiry (CLOCK_REALTIME, absolute)",
	.to = "after mq_timedreceive(3) returned",
	.clock = CLOCK_REALTIME,
	.shared_size = sizeof(struct shared),
	.supported = mq_supported,
	.open = mq_probe_open,
	.wait = mq_wait,
	.close = mq_probe_close,
};
