// SPDX-License-Identifier: MIT
/*
 * signals.c - which real-time signals of the process are free, and who has borrowed which. A
 * disposition belongs to the whole process, so that a signal that anybody handles is never touched,
 * and what was there is put back by the last that holds one.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signals.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int holders[_NSIG];	  /* of the end signal */
static void (*taken[_NSIG])(int); /* by a probe: its handler */
static struct sigaction before[_NSIG];

static void nothing(int signal)
{
	(void)signal;
}

/* Whether nobody handles it, or only we do, so that waits end. */
static bool can_end(int signal)
{
	struct sigaction action;

	return !taken[signal] && !sigaction(signal, NULL, &action) &&
	       (action.sa_handler == SIG_DFL || action.sa_handler == nothing);
}

static int choose(void)
{
	int signal = SIGRTMAX - 1;

	while (signal > SIGRTMIN && !can_end(signal))
		signal--;
	return signal > SIGRTMIN ? signal : 0;
}

int tlat_end_signal_choose(void)
{
	int chosen;

	pthread_mutex_lock(&lock);
	chosen = choose();
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

/* == One for each instance of a probe == */

/* From the low end, as the end signal comes from the high one; 0: there is none. */
static int choose_free(const sigset_t *allowed, const sigset_t *avoided)
{
	int end = choose();

	for (int s = SIGRTMIN + 1; s < SIGRTMAX; s++) {
		struct sigaction action;

		if (s != end && !taken[s] && !holders[s] && !sigismember(avoided, s) &&
		    (!allowed || sigismember(allowed, s)) && !sigaction(s, NULL, &action) &&
		    action.sa_handler == SIG_DFL)
			return s;
	}
	return 0;
}

static int take(void (*handler)(int), const sigset_t *allowed)
{
	struct sigaction mine = { .sa_handler = handler };
	sigset_t pending, blocked;
	int signal;

	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	sigorset(&blocked, &blocked, &pending);
	signal = choose_free(allowed, &blocked);
	if (!signal)
		signal = choose_free(allowed, &pending);
	if (!signal || sigaction(signal, &mine, &before[signal]))
		return -EBUSY;
	taken[signal] = handler;
	return signal;
}

int tlat_signal_take(void (*handler)(int), const sigset_t *allowed)
{
	int signal;

	pthread_mutex_lock(&lock);
	signal = take(handler, allowed);
	pthread_mutex_unlock(&lock);
	return signal;
}

void tlat_signal_give_back(int signal)
{
	struct sigaction now;

	pthread_mutex_lock(&lock);
	if (!sigaction(signal, NULL, &now) && now.sa_handler == taken[signal])
		sigaction(signal, &before[signal], NULL);
	taken[signal] = NULL;
	pthread_mutex_unlock(&lock);
}

/* == Threads of the process == */

static int read_blocked(int task_fd, const char *tid, uint64_t *ret_mask)
{
	char path[64], text[4096];
	const char *mask;
	int n;

	snprintf(path, sizeof(path), "%.32s/status", tid);
	n = (int)tlat_root_read_head(task_fd, path, text, sizeof(text));
	if (n == -ENOENT || n == -ESRCH)
		return 0; /* it has ended meanwhile */
	mask = n < 0 ? NULL : tlat_text_value(text, "SigBlk");
	if (!mask)
		return n < 0 ? n : -EPROTO;
	*ret_mask &= strtoull(mask, NULL, 16);
	return 0;
}

static int read_all_blocked(DIR *tasks, uint64_t *ret_mask)
{
	long self = syscall(SYS_gettid);
	struct dirent *entry;
	int error = 0;

	*ret_mask = UINT64_MAX;
	while (!error && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.' && atol(entry->d_name) != self)
			error = read_blocked(dirfd(tasks), entry->d_name, ret_mask);
	return error;
}

int tlat_signals_blocked_elsewhere(sigset_t *ret_set)
{
	DIR *tasks = opendir("/proc/self/task");
	uint64_t mask;
	int error;

	if (!tasks)
		return -errno;
	error = read_all_blocked(tasks, &mask);
	closedir(tasks);
	sigemptyset(ret_set);
	for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
		if (mask >> (s - 1) & 1)
			sigaddset(ret_set, s);
	return error;
}
