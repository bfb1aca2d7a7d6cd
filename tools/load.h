/* SPDX-License-Identifier: MIT */
/*
 * load.h - a background load for the time of the measurement.
 */
#ifndef TLAT_LOAD_H
#define TLAT_LOAD_H

#include <timerlat.h>

struct tlat_load;

/*
 * Start "sh -c command" in a process group of its own, off the CPUs of avoid[n] where the
 * affinity mask leaves another one, and of these on the ones that are not isolated on machine, if
 * any: nothing spreads tasks over isolated CPUs. It has the rights and the signal settings that
 * tlat was started with, and its output goes to stderr. It dies with tlat, however tlat ends, and
 * so does all that it has started, in other groups and sessions, too. Returns 0 or a negative
 * errno.
 */
int tlat_load_start(struct tlat_load **ret_load, const char *command,
		    const struct tlat_machine *machine, const int32_t *avoid, size_t n,
		    struct tlat_error *reterr);

/* What is to be said of the load in the report: where it ran, whether it ended early. */
void tlat_load_note(struct tlat_load *load, struct tlat_report *report);

/* SIGTERM, a moment, SIGKILL, for all of it. Accepts NULL. */
void tlat_load_stop(struct tlat_load *load);

#endif /* TLAT_LOAD_H */
