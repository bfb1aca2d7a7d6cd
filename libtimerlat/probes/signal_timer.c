// SPDX-License-Identifier: MIT
/*
 * signal_timer.c - a POSIX timer aimed at one thread (SIGEV_THREAD_ID): one that is aimed at the
 * process tells whatever thread of it happens to run.
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signal_timer.h"

/* What the C library calls it, or would. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int tlat_signal_timer_make(struct tlat_signal_timer *timer, clockid_t clock, int signal, void *data,
			   struct tlat_error *reterr)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = signal,
				  .sigev_value.sival_ptr = data };
	int error;

	timer->signal = signal;
	sigemptyset(&timer->set);
	sigaddset(&timer->set, signal);
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(clock, &event, &timer->timer)) {
		error = -errno;
		return tlat_fail(reterr, error, "timer_create() failed: %s%s", strerror(-error),
				 error == -EAGAIN ? "; raise RLIMIT_SIGPENDING" : "");
	}
	pthread_sigmask(SIG_BLOCK, &timer->set, &timer->before);
	return 0;
}

int tlat_signal_timer_arm(const struct tlat_signal_timer *timer, uint64_t due, int64_t interval_ns)
{
	struct itimerspec spec = { .it_value = tlat_timespec_of_ns((int64_t)due),
				   .it_interval = tlat_timespec_of_ns(interval_ns) };

	return timer_settime(timer->timer, TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

uint64_t tlat_signal_timer_drain(const struct tlat_signal_timer *timer)
{
	const struct timespec now = { 0 };
	uint64_t n = 0;
	siginfo_t info;

	while (sigtimedwait(&timer->set, &info, &now) > 0)
		n += info.si_code == SI_TIMER ? 1 + (uint64_t)info.si_overrun : 0;
	return n;
}

void tlat_signal_timer_free(struct tlat_signal_timer *timer)
{
	timer_delete(timer->timer);
	pthread_sigmask(SIG_BLOCK, &timer->set, NULL);
	tlat_signal_timer_drain(timer);
	pthread_sigmask(SIG_SETMASK, &timer->before, NULL);
}
