// SPDX-License-Identifier: MIT
/* cyclictest_resolution.c - what the clock and its timers say their resolution is, and the smallest
 * step seen. */
#include <inttypes.h>
#include <time.h>

#include "cyclictest_run.h"

#define LOOKS 100000

static int64_t ns_of(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

/* As cyclictest judges it: timers of high resolution say 1 ns, others a tick. */
void tlat_cyc_check_timers(void)
{
	struct timespec resolution;

	if (clock_getres(CLOCK_MONOTONIC, &resolution) < 0 || ns_of(&resolution) == 1)
		return;
	tlat_cyc_say("High resolution timers not available: timers expire at the tick, in steps of "
		     "%.3g ms; boot without highres=off, a kernel with CONFIG_HIGH_RES_TIMERS=y",
		     (double)ns_of(&resolution) / 1e6);
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
