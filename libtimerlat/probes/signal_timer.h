/* SPDX-License-Identifier: MIT */
/* signal_timer.h - a POSIX timer whose signal goes to the thread that made it, and to no other. */
#ifndef TLAT_SIGNAL_TIMER_H
#define TLAT_SIGNAL_TIMER_H

#include <signal.h>

#include "probe.h"

struct tlat_signal_timer {
	timer_t timer;
	int signal;
	sigset_t set;	 /* that signal alone */
	sigset_t before; /* mask of the thread */
};

/*
 * On the thread: block the signal and make the timer, which carries data. signal has been taken
 * with tlat_rtsignal_take().
 */
int tlat_signal_timer_make(struct tlat_signal_timer *timer, clockid_t clock, int signal, void *data,
			   struct tlat_error *reterr);
/* At due on the timer's clock, then every interval_ns, if not 0. */
int tlat_signal_timer_arm(const struct tlat_signal_timer *timer, uint64_t due, int64_t interval_ns);
/* How many expirations the signals stand for that are pending; takes them. */
uint64_t tlat_signal_timer_drain(const struct tlat_signal_timer *timer);
/* On the same thread: everything as before. */
void tlat_signal_timer_free(struct tlat_signal_timer *timer);

#endif /* TLAT_SIGNAL_TIMER_H */
