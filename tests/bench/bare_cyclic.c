// SPDX-License-Identifier: MIT
/*
 * bare_cyclic.c - a timer thread as one writes it by hand, for cyclic_vs.py where cyclictest is
 * missing: SCHED_FIFO 40, absolute clock_nanosleep(2), /dev/cpu_dma_latency held at 0, an array of
 * values. Prints the median lateness in ns.
 *
 *	bare_cyclic CPU INTERVAL_US SECONDS
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "compare_stats.h"

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void become(int cpu)
{
	struct sched_param param = { .sched_priority = 40 };
	int32_t latency_us = 0;
	cpu_set_t set;
	int fd;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || mlockall(MCL_CURRENT | MCL_FUTURE) ||
	    prctl(PR_SET_TIMERSLACK, 1) || sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("bare_cyclic");
		exit(2);
	}
	fd = open("/dev/cpu_dma_latency", O_WRONLY); /* held to the end */
	if (fd < 0 || write(fd, &latency_us, sizeof(latency_us)) < 0)
		perror("/dev/cpu_dma_latency");
}

int main(int argc, char **argv)
{
	int64_t interval_ns = argc == 4 ? atoll(argv[2]) * 1000 : 0, due_ns;
	size_t n = interval_ns > 0 ? (size_t)(atof(argv[3]) * 1e9 / (double)interval_ns) : 0;
	double *late_ns = calloc(n + 1, sizeof(*late_ns));

	if (!n || !late_ns) {
		fprintf(stderr, "usage: bare_cyclic CPU INTERVAL_US SECONDS\n");
		return 2;
	}
	become(atoi(argv[1]));
	due_ns = now_ns() + interval_ns;
	for (size_t i = 0; i < n; i++, due_ns += interval_ns) {
		struct timespec due = { .tv_sec = due_ns / 1000000000,
					.tv_nsec = due_ns % 1000000000 };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		late_ns[i] = (double)(now_ns() - due_ns);
	}
	printf("%.0f\n", tlat_median(late_ns, n));
	free(late_ns);
	return 0;
}
