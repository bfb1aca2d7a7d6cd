// SPDX-License-Identifier: MIT
/*
 * bare_storm.c - one timer at 1 MHz and its signal handler as one writes them by hand, for
 * storm_vs.py where stress-ng is missing: the handler calls sigpending(2) and timer_getoverrun(2),
 * as the plain one of "tlat storm" does. Prints the deliveries in a second.
 *
 *	bare_storm CPU SECONDS
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD_NS 1000

static timer_t timer;
static volatile sig_atomic_t over;
static volatile unsigned long delivered;
static double end_s;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Where the handler is all that ever runs, it has to see the end. */
static void handle(int signal)
{
	struct itimerspec off = { { 0, 0 }, { 0, 0 } };
	sigset_t pending;

	(void)signal;
	delivered++;
	sigpending(&pending);
	timer_getoverrun(timer);
	if (delivered % 64 == 0 && now_s() >= end_s) {
		timer_settime(timer, 0, &off, NULL);
		over = 1;
	}
}

int main(int argc, char **argv)
{
	struct itimerspec every = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct sigaction action = { .sa_handler = handle };
	double begin_s = now_s();
	cpu_set_t set;

	if (argc != 3 || atof(argv[2]) <= 0) {
		fprintf(stderr, "usage: bare_storm CPU SECONDS\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	end_s = begin_s + atof(argv[2]);
	if (sched_setaffinity(0, sizeof(set), &set) || sigaction(SIGRTMIN, &action, NULL) ||
	    timer_create(CLOCK_REALTIME, &event, &timer) || timer_settime(timer, 0, &every, NULL)) {
		perror("bare_storm");
		return 2;
	}
	while (!over)
		;
	printf("%.0f\n", (double)delivered / (now_s() - begin_s));
	return 0;
}
