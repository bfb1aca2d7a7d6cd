/* SPDX-License-Identifier: MIT */
/*
 * rtsignal.h - real-time signals that the library borrows from the process: chosen when they are
 * needed, shared by all that handle them alike, given back as they were.
 */
#ifndef TLAT_RTSIGNAL_H
#define TLAT_RTSIGNAL_H

#include <signal.h>

#include "internal.h"

typedef void tlat_signal_fn(int signal, siginfo_t *info, void *context);

/* The signals that probes wait for are taken from below, those that end waits from above. */
enum tlat_rtsignal_end { TLAT_RTSIGNAL_LOWEST, TLAT_RTSIGNAL_HIGHEST };

/*
 * A signal that nobody handles, or only fn; NULL: one that is waited for and keeps its default
 * action. 0: there is none.
 */
int tlat_rtsignal_choose(tlat_signal_fn *fn, enum tlat_rtsignal_end end);
/* Whether nobody handles this signal, or only fn. */
bool tlat_signal_is_free(int signal, tlat_signal_fn *fn);
/* Let fn handle the signal until the last that holds it has released it. */
void tlat_rtsignal_hold(int signal, tlat_signal_fn *fn);
void tlat_rtsignal_release(int signal);

/*
 * Take a signal that nobody handles, out of *allowed (NULL: all), and give it this handler until it
 * is released; nobody shares it. Rather one that the calling thread does not block: what is blocked
 * may be waited for. Returns the signal, or -EBUSY when there is none, or none left to end waits.
 */
int tlat_rtsignal_take_alone(void (*handler)(int), const sigset_t *allowed);

/* Choose from below and hold; one is left to end waits with. The signal or -EBUSY. */
int tlat_rtsignal_take(tlat_signal_fn *fn, struct tlat_error *reterr);

#endif /* TLAT_RTSIGNAL_H */
