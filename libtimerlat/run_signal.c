// SPDX-License-Identifier: MIT
/*
 * run_signal.c - the signal that ends a wait which nothing else ends. It has a handler only while a
 * run needs it.
 */
#include "rtsignal.h"
#include "run_control.h"

static void nothing(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
}

/* Rather the standard signal that Linux has for nothing any more: it needs no place in the user's
 * queue of signals, which other programs may have filled. */
int tlat_end_signal_choose(void)
{
#ifdef SIGSTKFLT
	if (tlat_signal_is_free(SIGSTKFLT, nothing))
		return SIGSTKFLT;
#endif
	return tlat_rtsignal_choose(nothing, TLAT_RTSIGNAL_HIGHEST);
}

void tlat_end_signal_hold(int signal)
{
	tlat_rtsignal_hold(signal, nothing);
}

void tlat_end_signal_release(int signal)
{
	tlat_rtsignal_release(signal);
}
