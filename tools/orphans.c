// SPDX-License-Identifier: MIT
/* orphans.c - what a shell that was ended had started. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "orphans.h"

#define STEP_MS 10
#define TERMS	6    /* one that was adopted meanwhile is to hear of it */
#define KILL_MS 1000 /* a process that the kernel does not let go is left to it */

void tlat_orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* 0 or a negative errno: not every kernel has the list. */
static int signal_listed(int signal)
{
	char path[64];
	intmax_t pid;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	in = fopen(path, "re");
	if (!in)
		return -errno;
	while (fscanf(in, "%jd", &pid) == 1)
		kill((pid_t)pid, signal);
	fclose(in);
	return 0;
}

/* 0: it is no more. */
static pid_t parent_of(const char *pid)
{
	char path[64], line[512];
	intmax_t parent = 0;
	const char *name_end;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	in = fopen(path, "re");
	if (!in)
		return 0;
	/* A name can hold anything, parentheses as well. */
	if (fgets(line, sizeof(line), in) && (name_end = strrchr(line, ')')) &&
	    sscanf(name_end, ") %*c %jd", &parent) != 1)
		parent = 0;
	fclose(in);
	return (pid_t)parent;
}

static void signal_found(int signal)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && !*end && parent_of(entry->d_name) == getpid())
			kill((pid_t)pid, signal);
	}
	if (proc)
		closedir(proc);
}

static void signal_children(int signal)
{
	if (signal_listed(signal) < 0)
		signal_found(signal);
}

void tlat_orphans_end(int grace_ms)
{
	for (int ms = 0; ms < grace_ms + KILL_MS; ms += STEP_MS) {
		pid_t pid;

		if (ms >= grace_ms)
			signal_children(SIGKILL);
		else if (ms % (grace_ms / TERMS) == 0)
			signal_children(SIGTERM);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000 }, NULL);
	}
}
