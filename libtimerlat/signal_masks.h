/* SPDX-License-Identifier: MIT */
/* signal_masks.h - which signals the threads of this process block. */
#ifndef TLAT_SIGNAL_MASKS_H
#define TLAT_SIGNAL_MASKS_H

#include <signal.h>

/*
 * The real-time signals that every thread of the process but the calling one blocks; what is sent
 * to the process can then go nowhere else. Returns 0, or why /proc does not tell.
 */
int tlat_rtsignals_blocked_elsewhere(sigset_t *ret_set);

#endif /* TLAT_SIGNAL_MASKS_H */
