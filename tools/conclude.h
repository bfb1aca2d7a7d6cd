/* SPDX-License-Identifier: MIT */
/* conclude.h - the end of a subcommand that measures: what is printed and written. */
#ifndef TLAT_CONCLUDE_H
#define TLAT_CONCLUDE_H

#include <stdbool.h>

#include "options.h"
#include "save.h"

struct tlat_conclusion {
	const char *command; /* "storm" */
	const struct tlat_save *save;
	bool findings, strict;
	int argc;
	char **argv;	     /* as typed */
	const char *repeat;  /* NULL: not known */
	const char *summary; /* lines below the tables; NULL: none */
};

/*
 * Whether there is an answer: complains of a report that, with strict, is degraded, of one of
 * nothing, and of one that an error ended. Returns the exit code.
 */
int tlat_conclude_measured(const char *command, bool strict, const struct tlat_report *report);

/*
 * The command that repeats such a measurement, to be given to free(3): with the CPUs that were
 * used, whatever word named them, and what config has. NULL: no memory.
 */
char *tlat_conclude_repeat(const struct tlat_command *command, const void *config,
			   const struct tlat_report *report);

/* Of one that measures without runs: tables, findings, JSON. Returns the exit code. */
int tlat_conclude(const struct tlat_conclusion *conclusion, struct tlat_report *report);

#endif /* TLAT_CONCLUDE_H */
