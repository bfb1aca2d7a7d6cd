// SPDX-License-Identifier: MIT
/*
 * timer-posix-thread - a POSIX timer that has the C library start a thread for each
 * expiry (SIGEV_THREAD).
 *
 * From/To:  the programmed expiry; the first act of the function that the
 *           library calls, on a thread of the library's
 * Includes: the signal to a helper thread, the helper, and creating the thread;
 *           helper and thread run on the CPUs and with the policy of whoever
 *           first used such a timer in this process, not with the run's: this
 *           is the library's latency rather than the kernel's
 * Excludes: the wake of the measuring thread that follows
 * EINTR:    waits on for the function
 */
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TLAT_HAS_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define TLAT_HAS_TSAN 1
#endif

#define LAST_CALL_NS 50000000 /* how long a call that is under way is waited for at the end */

/* Apart from the shared memory: a call may come late, and must find it. */
struct notice {
	sem_t called;
	atomic_ullong at;
	struct tlat_stamper stamper;
	uint64_t armed, calls;
};

struct shared {
	struct notice *notice;
	timer_t timer;
};

static void on_expiry(union sigval value)
{
	struct notice *notice = value.sival_ptr;

	atomic_store(&notice->at, tlat_stamp_end(&notice->stamper));
	sem_post(&notice->called);
}

#if defined(TLAT_HAS_TSAN)
/* It dies in a thread that it has not seen being made. */
static int thread_supported(struct tlat_error *reterr)
{
	return tlat_fail(
		reterr, -EOPNOTSUPP,
		"threads that the C library makes are not in a build with ThreadSanitizer");
}
#else
#define thread_supported NULL
#endif

/* On the caller's thread, so that the helper, which stays, gets no real-time policy from us. */
static int thread_open(struct tlat_probe_ctx *ctx, const struct tlat_run_opts *opts,
		       struct tlat_error *reterr)
{
	struct shared *shared = ctx->shared;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD,
				  .sigev_notify_function = on_expiry };
	int error;

	(void)opts;
	shared->notice = calloc(1, sizeof(*shared->notice));
	if (!shared->notice)
		return tlat_fail(reterr, -ENOMEM, "no memory for a timer");
	shared->notice->stamper = ctx->stamper;
	sem_init(&shared->notice->called, 0, 0);
	event.sigev_value.sival_ptr = shared->notice;
	if (!timer_create(ctx->ops->clock, &event, &shared->timer))
		return 0;
	error = -errno;
	free(shared->notice);
	return tlat_fail(reterr, error, "timer_create(SIGEV_THREAD) failed: %s%s", strerror(-error),
			 error == -EAGAIN ? "; raise RLIMIT_SIGPENDING or RLIMIT_NPROC" : "");
}

TLAT_HOT static int thread_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct shared *shared = ctx->shared;
	struct itimerspec spec = { .it_value = tlat_timespec_of_ns((int64_t)due) };

	shared->notice->armed++;
	return timer_settime(shared->timer, TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

TLAT_HOT static int thread_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
				struct tlat_probe_event *event)
{
	struct notice *notice = ((struct shared *)ctx->shared)->notice;
	int got;

	(void)side;
	do {
		got = sem_wait(&notice->called);
	} while (got < 0 && errno == EINTR && !tlat_probe_stopping(ctx));
	if (got < 0)
		return -errno;
	notice->calls++;
	event->at = atomic_load(&notice->at);
	return 0;
}

/* Disarm; an expiry that has happened may still be on its way to the function. */
static void thread_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct shared *shared = ctx->shared;
	struct notice *notice = shared->notice;
	struct itimerspec off = { 0 }, old = { 0 };
	struct timespec until =
		tlat_timespec_of_ns((int64_t)tlat_gettime_ns(CLOCK_REALTIME) + LAST_CALL_NS);

	(void)side;
	timer_settime(shared->timer, 0, &off, &old);
	if (old.it_value.tv_sec || old.it_value.tv_nsec)
		notice->armed--;
	while (notice->calls < notice->armed && !sem_timedwait(&notice->called, &until))
		notice->calls++;
}

/* Memory that a call may yet come to is left to it. */
static void thread_close(struct tlat_probe_ctx *ctx)
{
	struct shared *shared = ctx->shared;

	timer_delete(shared->timer);
	if (shared->notice->calls == shared->notice->armed)
		free(shared->notice);
}

extern const struct tlat_probe_ops tlat_probe_timer_posix_thread;
const struct tlat_probe_ops tlat_probe_timer_posix_thread = {
	.name = "timer-posix-thread",
	.from = "the programmed expiry (CLOCK_MONOTONIC, absolute)",
	.to = "the first act of the function, on a thread that the C library makes",
	.flags = TLAT_PROBE_LIBRARY_COST | TLAT_PROBE_SOFT_EXPIRY,
	.clock = CLOCK_MONOTONIC,
	.shared_size = sizeof(struct shared),
	.supported = thread_supported,
	.open = thread_open,
	.arm = thread_arm,
	.wait = thread_wait,
	.leave = thread_leave,
	.close = thread_close,
};
