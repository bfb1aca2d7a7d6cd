/* SPDX-License-Identifier: MIT */
/*
 * slew.h - how far a second of CLOCK_MONOTONIC may be from the counter's: kernel and
 * time daemons make it longer or shorter, so that the clock follows the real time.
 */
#ifndef TLAT_SLEW_H
#define TLAT_SLEW_H

#include <stdint.h>
#include <sys/timex.h>

/*
 * Now, in ppb. Where the kernel does not tell it is as much as the kernel lets anybody slew by
 * frequency, tick and adjtime(3) together.
 */
int64_t tlat_slew_ppb(void);
/* 0, or the negative errno with which the kernel does not tell. */
int tlat_slew_refused(void);

/*
 * Bound of the rate error, from what adjtimex(2) says and what is left of an adjtime(3), which it
 * says when asked with ADJ_OFFSET_SS_READ; hz is USER_HZ, the unit that tick is in. Pure
 * arithmetic.
 */
int64_t tlat_slew_bound_ppb(const struct timex *now, int64_t adjtime_us, int64_t hz);

#endif /* TLAT_SLEW_H */
