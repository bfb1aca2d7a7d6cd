// SPDX-License-Identifier: MIT
/*
 * run_signal.c - the signal that ends a wait which nothing else ends. It has a handler only while a
 * run needs it; runs that end at the same time share it, and the last one puts back what was there.
 */
#include <pthread.h>
#include <signal.h>

#include "run_control.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int holders[_NSIG];
static struct sigaction before[_NSIG];

static void nothing(int signal)
{
	(void)signal;
}

/* A real-time signal that nobody handles, or only we; 0: there is none. */
int tlat_end_signal_choose(void)
{
	struct sigaction action;
	int chosen = 0;

	pthread_mutex_lock(&lock);
	for (int s = SIGRTMAX - 1; s > SIGRTMIN && !chosen; s--)
		if (!sigaction(s, NULL, &action) &&
		    (action.sa_handler == SIG_DFL || action.sa_handler == nothing))
			chosen = s;
	pthread_mutex_unlock(&lock);
	return chosen;
}

void tlat_end_signal_hold(int signal)
{
	struct sigaction mine = { .sa_handler = nothing };

	pthread_mutex_lock(&lock);
	if (holders[signal]++ == 0)
		sigaction(signal, &mine, &before[signal]);
	pthread_mutex_unlock(&lock);
}

void tlat_end_signal_release(int signal)
{
	pthread_mutex_lock(&lock);
	if (--holders[signal] == 0)
		sigaction(signal, &before[signal], NULL);
	pthread_mutex_unlock(&lock);
}
