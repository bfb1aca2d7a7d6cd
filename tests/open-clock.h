/* SPDX-License-Identifier: MIT */
/* open-clock.h - a clock of this machine, without which a test cannot go on. */
#ifndef TLAT_TESTS_OPEN_CLOCK_H
#define TLAT_TESTS_OPEN_CLOCK_H

#include "clock_state.h"

static inline struct tlat_clock *open_clock(int source)
{
	struct tlat_error error = { 0 };
	struct tlat_clock *clock = NULL;

	if (tlat_clock_open(&clock, NULL, source, &error) < 0)
		fail_msg("%s", error.text);
	return clock;
}

#endif /* TLAT_TESTS_OPEN_CLOCK_H */
