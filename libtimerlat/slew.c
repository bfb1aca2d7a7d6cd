// SPDX-License-Identifier: MIT
/*
 * slew.c - the rate of CLOCK_MONOTONIC as adjtimex(2) tells it. Knows that four things add up: a
 * frequency, a length of the tick, an offset that the kernel's own loop works off, and one given to
 * adjtime(3).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "slew.h"

#define USEC_PER_SEC  1000000
#define PPB_PER_PPM   1000
#define FREQ_PPB_MAX  500000	/* MAXFREQ */
#define TICK_PPB_MAX  100000000 /* a tenth of a tick, either way */
#define ADJTIME_PPB   500000	/* MAX_TICKADJ: us of every second while there is an offset left */
#define PLL_SHIFT     2		/* SHIFT_PLL */
#define PLL_SHIFT_MAX 10	/* MAXTC */

/* What the kernel takes off the offset in every second: ns in a second are ppb. */
static int64_t loop_ppb(const struct timex *now)
{
	int64_t offset_ns = llabs(now->offset) * (now->status & STA_NANO ? 1 : 1000);
	bool by_pulse = now->status & STA_PPSTIME && now->status & STA_PPSSIGNAL;
	int64_t shift = now->constant;

	if (by_pulse)
		return offset_ns;
	if (shift < 0 || shift > PLL_SHIFT_MAX)
		shift = shift < 0 ? 0 : PLL_SHIFT_MAX;
	return offset_ns >> (PLL_SHIFT + shift);
}

int64_t tlat_slew_bound_ppb(const struct timex *now, int64_t adjtime_us, int64_t hz)
{
	int64_t freq_ppb =
		(int64_t)now->freq * PPB_PER_PPM / 65536; /* ppm with a 16-bit fraction */
	int64_t nominal_us = (USEC_PER_SEC + hz / 2) / hz;
	int64_t tick_ppb = ((int64_t)now->tick - nominal_us) * hz * PPB_PER_PPM;

	return llabs(freq_ppb + tick_ppb) + loop_ppb(now) + (adjtime_us ? ADJTIME_PPB : 0);
}

static int ask(struct timex *now, struct timex *left)
{
	*now = (struct timex){ 0 };
	*left = (struct timex){ .modes = ADJ_OFFSET_SS_READ };
	return adjtimex(now) < 0 || adjtimex(left) < 0 ? -errno : 0;
}

int tlat_slew_refused(void)
{
	struct timex now, left;

	return ask(&now, &left);
}

int64_t tlat_slew_ppb(void)
{
	struct timex now, left;

	if (ask(&now, &left) < 0)
		return FREQ_PPB_MAX + TICK_PPB_MAX + ADJTIME_PPB;
	return tlat_slew_bound_ppb(&now, left.offset, sysconf(_SC_CLK_TCK));
}
