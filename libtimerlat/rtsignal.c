// SPDX-License-Identifier: MIT
/*
 * rtsignal.c - who uses which real-time signal in this process. A disposition is the process's:
 * users that handle a signal alike share it, and the last one puts back what was there.
 */
#include <pthread.h>

#include "rtsignal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct user {
	tlat_signal_fn *fn; /* NULL: waited for, not handled */
	int holders;
	struct sigaction before;
} users[_NSIG];

/* With the lock held. The C library keeps the lowest for whoever counts from SIGRTMIN. */
static bool is_free(int signal, tlat_signal_fn *fn)
{
	const struct user *user = &users[signal];
	struct sigaction action;

	if (user->holders)
		return user->fn == fn;
	return !sigaction(signal, NULL, &action) && !(action.sa_flags & SA_SIGINFO) &&
	       action.sa_handler == SIG_DFL;
}

/* With the lock held. */
static int search(tlat_signal_fn *fn, enum tlat_rtsignal_end end)
{
	int n = SIGRTMAX - SIGRTMIN - 1;

	for (int i = 0; i < n; i++) {
		int signal = end == TLAT_RTSIGNAL_LOWEST ? SIGRTMIN + 1 + i : SIGRTMAX - 1 - i;

		if (is_free(signal, fn))
			return signal;
	}
	return 0;
}

/* With the lock held. */
static void hold(int signal, tlat_signal_fn *fn)
{
	struct user *user = &users[signal];
	struct sigaction mine = { .sa_flags = SA_SIGINFO };

	if (user->holders++)
		return;
	user->fn = fn;
	mine.sa_sigaction = fn;
	if (fn)
		sigaction(signal, &mine, &user->before);
}

int tlat_rtsignal_choose(tlat_signal_fn *fn, enum tlat_rtsignal_end end)
{
	int chosen;

	pthread_mutex_lock(&lock);
	chosen = search(fn, end);
	pthread_mutex_unlock(&lock);
	return chosen;
}

void tlat_rtsignal_hold(int signal, tlat_signal_fn *fn)
{
	pthread_mutex_lock(&lock);
	hold(signal, fn);
	pthread_mutex_unlock(&lock);
}

void tlat_rtsignal_release(int signal)
{
	struct user *user = &users[signal];

	pthread_mutex_lock(&lock);
	if (--user->holders == 0 && user->fn)
		sigaction(signal, &user->before, NULL);
	pthread_mutex_unlock(&lock);
}

int tlat_rtsignal_take(tlat_signal_fn *fn, struct tlat_error *reterr)
{
	int lowest, highest;

	pthread_mutex_lock(&lock);
	lowest = search(fn, TLAT_RTSIGNAL_LOWEST);
	highest = search(fn, TLAT_RTSIGNAL_HIGHEST);
	if (lowest != highest)
		hold(lowest, fn);
	pthread_mutex_unlock(&lock);
	if (lowest == highest)
		return tlat_fail(
			reterr, -EBUSY,
			"this program handles all real-time signals; two must be free, one "
			"for the timer and one to end its wait");
	return lowest;
}
