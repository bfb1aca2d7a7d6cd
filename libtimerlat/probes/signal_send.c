// SPDX-License-Identifier: MIT
/*
 * signal_send.c - five ways of sending a signal: tgkill(2), kill(2), rt_sigqueueinfo(2),
 * rt_tgsigqueueinfo(2) and pidfd_send_signal(2). The two that libc wraps are called without it:
 * sigqueue(3) and pthread_sigqueue(3) make two more system calls each, for pid and uid.
 *
 * Includes: finding the target, the lock of the process's signals, allocating a queue entry, and
 *           for the process-directed ones the search for a thread that wants the signal
 * Excludes: filling in who sends
 */
#include <string.h>
#include <unistd.h>

#include "newer.h"
#include "signal.h"

static int untold(struct tlat_signal_shared *shared, long ret)
{
	if (!ret)
		return TLAT_KICK_UNTOLD;
	shared->refused++;
	atomic_fetch_sub_explicit(&shared->sent, 1, memory_order_relaxed);
	return -errno;
}

/* Before the call, so that whom it wakes finds the kick counted. */
static struct tlat_signal_shared *count(struct tlat_probe_ctx *ctx)
{
	struct tlat_signal_shared *shared = ctx->shared;

	atomic_fetch_add_explicit(&shared->sent, 1, memory_order_release);
	return shared;
}

int tlat_signal_by_tgkill(struct tlat_probe_ctx *ctx)
{
	struct tlat_signal_shared *to = count(ctx);

	return untold(to, syscall(SYS_tgkill, to->pid, to->tid, to->signal));
}

int tlat_signal_by_kill(struct tlat_probe_ctx *ctx)
{
	struct tlat_signal_shared *to = count(ctx);

	return untold(to, kill(to->pid, to->signal));
}

int tlat_signal_by_sigqueue(struct tlat_probe_ctx *ctx)
{
	struct tlat_signal_shared *to = count(ctx);

	return untold(to, syscall(SYS_rt_sigqueueinfo, to->pid, to->signal, &to->info));
}

int tlat_signal_by_pthread_sigqueue(struct tlat_probe_ctx *ctx)
{
	struct tlat_signal_shared *to = count(ctx);

	return untold(to, syscall(SYS_rt_tgsigqueueinfo, to->pid, to->tid, to->signal, &to->info));
}

int tlat_signal_by_pidfd(struct tlat_probe_ctx *ctx)
{
	struct tlat_signal_shared *to = count(ctx);

	return untold(to, syscall(SYS_pidfd_send_signal, to->fd, to->signal, NULL, 0));
}

static int open_pidfd(struct tlat_signal_shared *shared, struct tlat_error *reterr)
{
	shared->fd = (int32_t)syscall(SYS_pidfd_open, getpid(), 0);
	if (shared->fd < 0)
		return tlat_fail(reterr, -errno, "pidfd_open(2) failed: %s%s", strerror(errno),
				 errno == ENOSYS   ? "; Linux 5.3 has it"
				 : errno == EPERM  ? "; see seccomp"
				 : errno == EMFILE ? "; raise RLIMIT_NOFILE"
						   : "");
	return 0;
}

int tlat_signal_pidfd_supported(struct tlat_error *reterr)
{
	struct tlat_signal_shared trial = { 0 };
	int error = open_pidfd(&trial, reterr);

	if (error)
		return error;
	/* signal 0 is none */
	if (syscall(SYS_pidfd_send_signal, trial.fd, 0, NULL, 0))
		error = tlat_fail(reterr, -errno, "pidfd_send_signal(2) failed: %s%s",
				  strerror(errno), errno == EPERM ? "; see seccomp" : "");
	close(trial.fd);
	return error;
}

const struct tlat_signal_sender tlat_sender_thread = { .to_process = false };
const struct tlat_signal_sender tlat_sender_process = { .to_process = true };
const struct tlat_signal_sender tlat_sender_pidfd = { .to_process = true, .open = open_pidfd };
