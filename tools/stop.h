/* SPDX-License-Identifier: MIT */
/*
 * stop.h - SIGINT, SIGTERM and SIGHUP end the measurement, not the program.
 */
#ifndef TLAT_STOP_H
#define TLAT_STOP_H

#include <stdbool.h>

#include <timerlat.h>

/*
 * Block the signals in this thread and those it starts; they are taken in tlat_stop_poll() only. A
 * second signal, half a second or more after the first, ends the program at once.
 */
void tlat_stop_install(void);

/* For a child process: as if tlat_stop_install() and what main() ignores had never been. */
void tlat_stop_forget(void);

/*
 * Wait up to timeout_ms (-1: without limit) for the end of run. A signal meanwhile stops the run.
 * True when the run is over.
 */
bool tlat_stop_poll(struct tlat_run *run, int timeout_ms);

/*
 * For measurements without a run: from now on a signal is taken at any time. What it points at
 * becomes non-zero when one has asked for the end.
 */
const volatile int32_t *tlat_stop_flag(void);

/*
 * While this thread may be held up, such as by the reader of what it writes: a signal is noted, and
 * a second one ends the program. Calls go on where they were.
 */
void tlat_stop_let_through(void);
void tlat_stop_hold_back(void);

/* The measurement is over: what is left is to be written, and a signal does not change it any more;
 * a second one still ends the program. */
void tlat_stop_finish(void);

/* Whether a signal has asked for the end. */
bool tlat_stop_requested(void);

#endif /* TLAT_STOP_H */
