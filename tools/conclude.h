/* SPDX-License-Identifier: MIT */
/* conclude.h - the end of a subcommand that measures without runs: what is printed and written. */
#ifndef TLAT_CONCLUDE_H
#define TLAT_CONCLUDE_H

#include <stdbool.h>

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

/* Tables, findings, JSON. Returns the exit code. */
int tlat_conclude(const struct tlat_conclusion *conclusion, struct tlat_report *report);

#endif /* TLAT_CONCLUDE_H */
