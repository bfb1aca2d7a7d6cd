/* SPDX-License-Identifier: MIT */
/* signal_masks.h - which signals the threads of this process block. */
#ifndef TLAT_SIGNAL_MASKS_H
#define TLAT_SIGNAL_MASKS_H

#include <signal.h>

#include "internal.h"

/*
 * The signals that every thread of the process but the calling one blocks; what is sent to the
 * process can then go nowhere else. A thread that has ended meanwhile blocks all, and so does one
 * that is being made. Returns 0, or why /proc does not tell.
 */
int tlat_signals_blocked_elsewhere(sigset_t *ret_set, struct tlat_error *reterr);

#endif /* TLAT_SIGNAL_MASKS_H */
