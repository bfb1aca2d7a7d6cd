// SPDX-License-Identifier: MIT
/* thread.c - how a thread of the library begins. */
#include <sched.h>
#include <signal.h>

#include "thread.h"

/* The new thread inherits the mask: blocking in it would leave a moment without. */
int tlat_thread_start(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*fn)(void *),
		      void *arg)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(ret_thread, attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

void tlat_thread_be_ordinary(void)
{
	const struct sched_param none = { 0 };

	if (sched_getscheduler(0) != SCHED_OTHER)
		sched_setscheduler(0, SCHED_OTHER, &none);
}
