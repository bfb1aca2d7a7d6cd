// SPDX-License-Identifier: MIT
/* cyclictest_resolution.c - what the clock says its resolution is, and the smallest step seen. */
#include <inttypes.h>
#include <time.h>

#include "cyclictest_run.h"

#define LOOKS 100000

static int64_t ns_of(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

void tlat_cyc_check_resolution(int64_t clock)
{
	clockid_t id = clock ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	struct timespec resolution, before, now;
	int64_t least = INT64_MAX;

	clock_getres(id, &resolution);
	clock_gettime(id, &before);
	for (int i = 0; i < LOOKS; i++) {
		int64_t step;

		clock_gettime(id, &now);
		step = ns_of(&now) - ns_of(&before);
		if (step > 0 && step < least)
			least = step;
		before = now;
	}
	tlat_cyc_say("reported clock resolution: %" PRId64 " nsec", ns_of(&resolution));
	if (least == INT64_MAX)
		tlat_cyc_say("measured clock resolution: none, the clock stood still for %d reads",
			     LOOKS);
	else
		tlat_cyc_say("measured clock resolution approximately: %" PRId64 " nsec", least);
}
