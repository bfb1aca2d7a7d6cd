// SPDX-License-Identifier: MIT
/*
 * rtsignal.c - who uses which real-time signal in this process. A disposition is the process's: a
 * signal that anybody else handles is never touched, users that handle one alike share it unless
 * one wants it alone, and the last one puts back what was there. A forked child has the handlers
 * but none of their users.
 */
#include <pthread.h>

#include "rtsignal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct user {
	tlat_signal_fn *fn; /* NULL: waited for, or handled by one alone */
	bool alone;
	int holders;
	bool changed; /* before is to be put back, unless somebody changed mine */
	struct sigaction mine, before;
} users[_NSIG];

static bool is_default(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && !(action.sa_flags & SA_SIGINFO) &&
	       action.sa_handler == SIG_DFL;
}

/* With the lock held. */
static bool is_free(int signal, tlat_signal_fn *fn)
{
	const struct user *user = &users[signal];

	return user->holders ? !user->alone && user->fn == fn : is_default(signal);
}

/* With the lock held. The C library keeps the lowest for whoever counts from SIGRTMIN. */
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

/* With the lock held. mine NULL: it keeps its default action. */
static void hold(int signal, tlat_signal_fn *fn, const struct sigaction *mine)
{
	struct user *user = &users[signal];

	if (user->holders++)
		return;
	user->fn = fn;
	user->changed = mine && !sigaction(signal, mine, &user->before);
	if (mine)
		user->mine = *mine;
}

static void hold_shared(int signal, tlat_signal_fn *fn)
{
	struct sigaction mine = { .sa_flags = SA_SIGINFO };

	mine.sa_sigaction = fn;
	hold(signal, fn, fn ? &mine : NULL);
}

/* What somebody else has set meanwhile stays. */
static void restore(int signal, const struct user *user)
{
	struct sigaction now;

	if (user->changed && !sigaction(signal, NULL, &now) &&
	    now.sa_handler == user->mine.sa_handler)
		sigaction(signal, &user->before, NULL);
}

static void forget(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* another thread may have had it */
	for (int signal = 1; signal < _NSIG; signal++) {
		restore(signal, &users[signal]);
		users[signal] = (struct user){ 0 };
	}
}

static void look_out_for_forks(void)
{
	pthread_atfork(NULL, NULL, forget);
}

static void enter(void)
{
	pthread_once(&once, look_out_for_forks);
	pthread_mutex_lock(&lock);
}

static void leave(void)
{
	pthread_mutex_unlock(&lock);
}

int tlat_rtsignal_choose(tlat_signal_fn *fn, enum tlat_rtsignal_end end)
{
	int chosen;

	enter();
	chosen = search(fn, end);
	leave();
	return chosen;
}

bool tlat_signal_is_free(int signal, tlat_signal_fn *fn)
{
	bool is;

	enter();
	is = is_free(signal, fn);
	leave();
	return is;
}

void tlat_rtsignal_hold(int signal, tlat_signal_fn *fn)
{
	enter();
	hold_shared(signal, fn);
	leave();
}

void tlat_rtsignal_release(int signal)
{
	struct user *user = &users[signal];

	enter();
	if (user->holders && --user->holders == 0) {
		restore(signal, user);
		*user = (struct user){ 0 };
	}
	leave();
}

int tlat_rtsignal_take(tlat_signal_fn *fn, struct tlat_error *reterr)
{
	int lowest, highest;

	enter();
	lowest = search(fn, TLAT_RTSIGNAL_LOWEST);
	highest = search(fn, TLAT_RTSIGNAL_HIGHEST);
	if (lowest != highest)
		hold_shared(lowest, fn);
	leave();
	if (lowest == highest)
		return tlat_fail(
			reterr, -EBUSY,
			"this program handles all real-time signals; two must be free, one "
			"for the timer and one to end its wait");
	return lowest;
}

/* == One that is nobody else's == */

/* The lowest that nobody uses, out of *allowed and not of *avoided; one more must be left. */
static int search_unused(const sigset_t *allowed, const sigset_t *avoided)
{
	int highest = search(NULL, TLAT_RTSIGNAL_HIGHEST);

	for (int s = SIGRTMIN + 1; s < highest; s++)
		if (!users[s].holders && !sigismember(avoided, s) &&
		    (!allowed || sigismember(allowed, s)) && is_default(s))
			return s;
	return 0;
}

static int take_alone(void (*handler)(int), const sigset_t *allowed)
{
	struct sigaction mine = { .sa_handler = handler };
	sigset_t pending, avoided;
	int signal;

	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, NULL, &avoided);
	sigorset(&avoided, &avoided, &pending);
	signal = search_unused(allowed, &avoided);
	if (!signal)
		signal = search_unused(allowed, &pending);
	if (!signal)
		return -EBUSY;
	hold(signal, NULL, &mine);
	users[signal].alone = true;
	return signal;
}

int tlat_rtsignal_take_alone(void (*handler)(int), const sigset_t *allowed)
{
	int signal;

	enter();
	signal = take_alone(handler, allowed);
	leave();
	return signal;
}
