// SPDX-License-Identifier: MIT
/*
 * thread.c - how a thread of the library begins, or why it does not. Knows that where all memory is
 * locked a stack counts in full, used or not.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread.h"

#define STACK_BYTES ((size_t)256 * 1024) /* of the library's frames the largest has 8 KiB */

/* The new thread inherits the mask: blocking in it would leave a moment without. */
static int start_quiet(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*fn)(void *),
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

int tlat_thread_start(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*fn)(void *),
		      void *arg)
{
	pthread_attr_t small;
	int error;

	if (attr)
		return start_quiet(ret_thread, attr, fn, arg);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	error = start_quiet(ret_thread, &small, fn, arg);
	pthread_attr_destroy(&small);
	/* EINVAL: the program's thread-local variables alone do not fit. */
	return error == -EINVAL ? start_quiet(ret_thread, NULL, fn, arg) : error;
}

/* What the kernel says to a mapping of that size, positive; 0: it can be had. */
static int try_mapping(size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (map == MAP_FAILED)
		return errno;
	munmap(map, bytes);
	return 0;
}

/* The kernel lets no task inherit a bandwidth. With reset-on-fork there is one bit more. */
static bool is_childless(void)
{
	return syscall(SYS_sched_getscheduler, 0) == SCHED_DEADLINE;
}

/* Also pthread_create(3) says EAGAIN to most of these: which it was is tried out. */
const char *tlat_thread_refusal(int error, size_t stack_bytes, char *text, size_t size)
{
	size_t bytes = stack_bytes ? stack_bytes : STACK_BYTES;
	int refused = error == -EAGAIN || error == -ENOMEM ? try_mapping(bytes) : 0;
	struct rlimit limit = { 0, 0 };

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (refused == EAGAIN)
		snprintf(text, size,
			 "all memory is locked, and RLIMIT_MEMLOCK is %llu bytes, which leaves no "
			 "%zu for its stack; raise it: ulimit -l, or grant CAP_IPC_LOCK",
			 (unsigned long long)limit.rlim_cur, bytes);
	else if (refused)
		snprintf(text, size,
			 "no %zu bytes for its stack: %s; end what uses memory, or raise "
			 "RLIMIT_AS: ulimit -v",
			 bytes, strerror(refused));
	else if (error == -EAGAIN && is_childless())
		snprintf(text, size,
			 "this thread is under SCHED_DEADLINE and may create none; start it with "
			 "chrt -R (reset-on-fork), or ordinary with --policy deadline");
	else if (error == -EPERM)
		snprintf(text, size,
			 "%s: a filter (seccomp) refuses it; allow clone and clone3, or have "
			 "clone3 give ENOSYS",
			 strerror(EPERM));
	else
		snprintf(text, size, "%s; check RLIMIT_NPROC and the cgroup's pids.max",
			 strerror(-error));
	return text;
}

void tlat_thread_be_ordinary(void)
{
	const struct sched_param none = { 0 };

	if (sched_getscheduler(0) != SCHED_OTHER)
		sched_setscheduler(0, SCHED_OTHER, &none);
}
