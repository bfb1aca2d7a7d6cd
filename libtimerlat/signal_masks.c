// SPDX-License-Identifier: MIT
/* signal_masks.c - which signals the threads of this process block, as /proc tells. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signal_masks.h"

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

/* As /proc numbers it: where it is mounted for an outer PID namespace, gettid(2) says another. */
static int find_self(long *ret_tid)
{
	char link[64]; /* PID/task/TID */
	ssize_t n = readlink("/proc/thread-self", link, sizeof(link) - 1);
	const char *tid;

	if (n < 0)
		return -errno;
	link[n] = '\0';
	tid = strrchr(link, '/');
	if (!tid)
		return -EPROTO;
	*ret_tid = atol(tid + 1);
	return 0;
}

static int read_all_blocked(DIR *tasks, uint64_t *ret_mask)
{
	struct dirent *entry;
	long self = 0;
	int error = find_self(&self);

	*ret_mask = UINT64_MAX;
	while (!error) {
		errno = 0;
		entry = readdir(tasks);
		if (!entry)
			return -errno;
		if (entry->d_name[0] != '.' && atol(entry->d_name) != self)
			error = read_blocked(dirfd(tasks), entry->d_name, ret_mask);
	}
	return error;
}

static int read_mask(uint64_t *ret_mask)
{
	DIR *tasks = opendir("/proc/self/task");
	int error;

	if (!tasks)
		return -errno;
	error = read_all_blocked(tasks, ret_mask);
	closedir(tasks);
	return error;
}

int tlat_signals_blocked_elsewhere(sigset_t *ret_set, struct tlat_error *reterr)
{
	uint64_t mask;
	int error = read_mask(&mask);

	if (error)
		return tlat_fail(reterr, error,
				 "what other threads block cannot be read below /proc/self/task: "
				 "%s; mount /proc in this PID namespace, or use a probe that aims "
				 "at its thread, such as signal-tgkill-* or timer-posix",
				 strerror(-error));
	sigemptyset(ret_set);
	for (int s = 1; s <= SIGRTMAX; s++)
		if (mask >> (s - 1) & 1)
			sigaddset(ret_set, s);
	return 0;
}
