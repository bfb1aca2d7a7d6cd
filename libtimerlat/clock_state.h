/* SPDX-License-Identifier: MIT */
/* clock_state.h - the clock object, for the files of this module and its test */
#ifndef TLAT_CLOCK_STATE_H
#define TLAT_CLOCK_STATE_H

#include "calib.h"
#include "clock.h"

#define TLAT_CLOCKSOURCE_PATH "sys/devices/system/clocksource/clocksource0/current_clocksource"

/* As measured, not widened by the quantum. */
struct tlat_clock_known_pair {
	int32_t a, b;
	struct tlat_calib_offset offset;
};

/* How the kernel's clocks stand to each other. */
struct tlat_clock_relation {
	int64_t suspended_ns; /* BOOTTIME - MONOTONIC */
	int64_t wall_ns;      /* REALTIME - MONOTONIC */
};

struct tlat_clock {
	struct tlat_stamper stamper;
	struct tlat_calibration calibration;
	int root_fd;		    /* -1: scripted */
	bool vouched;		    /* the kernel keeps time by this source itself */
	uint64_t stated_hz;	    /* what kernel or firmware say; 0: nothing */
	struct tlat_bracket anchor; /* the end check starts here */
	int32_t anchor_cpu;
	struct tlat_clock_relation relation;
	struct tlat_clock_known_pair *pairs;
	size_t pair_count;
};

/* A scripted clock knows no machine. */
static inline bool tlat_clock_is_scripted(const struct tlat_clock *clock)
{
	return clock->root_fd < 0;
}

/* clock_measure.c */

/*
 * Measure rate, quantum and costs of clock->stamper into clock->calibration, about 110 ms on a
 * counter. Returns 0, or -ENODATA when the counter does not advance like a clock, -ENOMEM.
 */
int tlat_clock_measure(struct tlat_clock *clock);

/* The rate from clock->anchor until now; 0 or -ENODATA. */
int tlat_clock_measure_since_anchor(const struct tlat_clock *clock,
				    struct tlat_calib_rate *ret_rate);
/* The next end check starts from now. */
void tlat_clock_anchor(struct tlat_clock *clock);

struct tlat_clock_relation tlat_clock_measure_relation(void);

#endif /* TLAT_CLOCK_STATE_H */
