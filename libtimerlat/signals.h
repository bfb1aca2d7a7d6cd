/* SPDX-License-Identifier: MIT */
/*
 * signals.h - real-time signals that the library borrows from the process: one that ends waits
 * which nothing else ends, and one for each instance of a signal probe.
 */
#ifndef TLAT_SIGNALS_H
#define TLAT_SIGNALS_H

#include <signal.h>

#include "internal.h"

/* A no-op handler for the signal that ends blocked waits, while anybody holds it. choose: 0, when
 * every signal is taken. */
int tlat_end_signal_choose(void);
void tlat_end_signal_hold(int signal);
void tlat_end_signal_release(int signal);

/*
 * Take a real-time signal that nobody handles, out of *allowed (NULL: all), and give it this
 * handler until it is given back. Rather one that the calling thread does not block: what is
 * blocked may be waited for. Returns the signal, or -EBUSY when there is none.
 */
int tlat_signal_take(void (*handler)(int), const sigset_t *allowed);
void tlat_signal_give_back(int signal);

/*
 * The signals that every thread of the process but the calling one blocks: what is sent to the
 * process can then go nowhere else. Returns 0, or why /proc does not tell.
 */
int tlat_signals_blocked_elsewhere(sigset_t *ret_set);

#endif /* TLAT_SIGNALS_H */
