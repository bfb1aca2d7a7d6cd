// SPDX-License-Identifier: MIT
/* orphans.c - what a shell that was ended had started. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "orphans.h"

#define STEP_NS	   20000000
#define KILL_STEP  150
#define STEPS_MAX  200
#define TERM_EVERY 25 /* one that was adopted meanwhile is to hear of it */

void tlat_orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void send(int signal)
{
	char path[64];
	intmax_t pid;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	in = fopen(path, "re");
	while (in && fscanf(in, "%jd", &pid) == 1)
		kill((pid_t)pid, signal);
	if (in)
		fclose(in);
}

void tlat_orphans_end(void)
{
	for (int step = 0; step < STEPS_MAX; step++) {
		pid_t pid;

		if (step >= KILL_STEP)
			send(SIGKILL);
		else if (step % TERM_EVERY == 0)
			send(SIGTERM);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
	}
}
