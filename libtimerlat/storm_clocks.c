// SPDX-License-Identifier: MIT
/* storm_clocks.c - the clocks that a storm can be made of, and lists of their names. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "storm.h"

/* The kernel's clocks of a process's user time, and of all its CPU time as sampled by the tick:
 * what ITIMER_VIRTUAL and ITIMER_PROF run on. */
#define PROCESS_CLOCK(type) ((clockid_t)((~0u << 3) | (type)))

const struct tlat_storm_clock tlat_storm_clocks[TLAT_STORM_CLOCKS] = {
	{ "realtime", TLAT_STORM_POSIX, CLOCK_REALTIME, 0, 0 },
	{ "monotonic", TLAT_STORM_POSIX, CLOCK_MONOTONIC, 0, 0 },
	{ "boottime", TLAT_STORM_POSIX, CLOCK_BOOTTIME, 0, 0 },
	{ "tai", TLAT_STORM_POSIX, CLOCK_TAI, 0, 0 },
	{ "process-cputime", TLAT_STORM_CPU, CLOCK_PROCESS_CPUTIME_ID, 0, 0 },
	{ "thread-cputime", TLAT_STORM_CPU, CLOCK_THREAD_CPUTIME_ID, 0, 0 },
	{ "itimer-real", TLAT_STORM_ITIMER, CLOCK_MONOTONIC, ITIMER_REAL, SIGALRM },
	{ "itimer-virtual", TLAT_STORM_ITIMER, PROCESS_CLOCK(1), ITIMER_VIRTUAL, SIGVTALRM },
	{ "itimer-prof", TLAT_STORM_ITIMER, PROCESS_CLOCK(0), ITIMER_PROF, SIGPROF },
	{ "timerfd", TLAT_STORM_TIMERFD, CLOCK_MONOTONIC, 0, 0 },
	{ "uring", TLAT_STORM_URING, CLOCK_MONOTONIC, 0, 0 },
};

static const struct {
	const char *name;
	uint32_t clocks;
} groups[] = {
	{ "posix", 0x3f },
	{ "itimers", 0x1c0 },
	{ "all", (1u << TLAT_STORM_CLOCKS) - 1 },
};

static uint32_t clocks_of(const char *word, size_t length)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(groups); i++)
		if (strlen(groups[i].name) == length && !strncmp(groups[i].name, word, length))
			return groups[i].clocks;
	for (size_t i = 0; i < TLAT_STORM_CLOCKS; i++)
		if (strlen(tlat_storm_clocks[i].name) == length &&
		    !strncmp(tlat_storm_clocks[i].name, word, length))
			return 1u << i;
	return 0;
}

int tlat_storm_clocks_parse(const char *list, uint32_t *ret_clocks, struct tlat_error *reterr)
{
	uint32_t clocks = 0;

	for (const char *word = list;;) {
		size_t length = strcspn(word, ",");
		uint32_t found = clocks_of(word, length);

		if (!found)
			return tlat_fail(
				reterr, -EINVAL,
				"\"%.*s\" is no clock of a storm; use realtime, monotonic, "
				"boottime, tai, process-cputime, thread-cputime, itimer-real, "
				"itimer-virtual, itimer-prof, timerfd, uring, posix, itimers or "
				"all",
				(int)(length > 40 ? 40 : length), word);
		clocks |= found;
		if (!word[length])
			break;
		word += length + 1;
	}
	*ret_clocks = clocks;
	return 0;
}
