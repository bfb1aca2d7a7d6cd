/* SPDX-License-Identifier: MIT */
/* ab_state.h - the file of --state after a process that was killed, or a power cut. */
#ifndef TLAT_AB_STATE_H
#define TLAT_AB_STATE_H

#include <timerlat.h>

/*
 * Cut off a last line that was not written to its end: its run is made again. Returns 1 when there
 * was one, else 0, or a negative errno.
 */
int tlat_ab_state_mend(const char *path, struct tlat_error *reterr);

#endif /* TLAT_AB_STATE_H */
