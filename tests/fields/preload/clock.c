// SPDX-License-Identifier: MIT
/*
 * clock.c - preloaded: a clock with a fault, by FAKE_CLOCK:
 *   round:NS  steps of NS          third:NS  a step of NS at every third reading
 *   slow:NS   a reading takes NS   frozen    the same time for ever, years ahead
 *   refused   EPERM, and the time is left unset
 *   rarely:NS one reading in a thousand takes NS
 *   tick:NS   timers expire in steps of NS, as clock_getres(2) says
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int clock_fn(clockid_t id, struct timespec *now);

static long long in_ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

static void spin(clock_fn *next, long ns)
{
	struct timespec begin, now;

	next(CLOCK_MONOTONIC, &begin);
	do
		next(CLOCK_MONOTONIC, &now);
	while (in_ns(&now) - in_ns(&begin) < ns);
}

static void third(struct timespec *now, long step_ns)
{
	static atomic_long reads;
	long ns = atomic_fetch_add(&reads, 1) / 3 * step_ns;

	*now = (struct timespec){ 1000 + ns / 1000000000, ns % 1000000000 };
}

static void rarely(clock_fn *next, long ns)
{
	static atomic_long reads;

	if (atomic_fetch_add(&reads, 1) % 1000 == 999)
		spin(next, ns);
}

int clock_getres(clockid_t id, struct timespec *resolution)
{
	const char *fault = getenv("FAKE_CLOCK");

	if (id != CLOCK_MONOTONIC || !fault || strncmp(fault, "tick:", 5))
		return (int)syscall(SYS_clock_getres, id, resolution);
	*resolution = (struct timespec){ .tv_nsec = atol(fault + 5) };
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	static clock_fn *next;
	const char *fault = getenv("FAKE_CLOCK"), *colon = fault ? strchr(fault, ':') : NULL;
	long ns = colon ? atol(colon + 1) : 0;
	int r;

	if (!next)
		next = (clock_fn *)dlsym(RTLD_NEXT, "clock_gettime");
	if (fault && !strcmp(fault, "refused")) {
		errno = EPERM;
		return -1;
	}
	r = next(id, now);
	if (r || !fault)
		return r;
	if (!strncmp(fault, "round", 5))
		now->tv_nsec -= now->tv_nsec % ns;
	else if (!strncmp(fault, "third", 5))
		third(now, ns);
	else if (!strncmp(fault, "rarely", 6))
		rarely(next, ns);
	else if (!strncmp(fault, "slow", 4))
		spin(next, ns);
	else if (!strcmp(fault, "frozen"))
		*now = (struct timespec){ 100000000, 5 };
	return 0;
}
