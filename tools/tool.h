/* SPDX-License-Identifier: MIT */
/*
 * tool.h - what the subcommands of tlat share: exit codes and entry points.
 */
#ifndef TLAT_TOOL_H
#define TLAT_TOOL_H

#include <timerlat.h>

#define TLAT_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Set by tlat ab for its own commands, to the file that it reads: a run under it is not to go on
 * alone, and adds its report to that file. For nobody else. */
#define TLAT_AB_ENV "TLAT_UNDER_AB"

enum tlat_exit {
	TLAT_EXIT_FINE = 0,
	TLAT_EXIT_BAD = 1,	 /* the answer is bad */
	TLAT_EXIT_NO_ANSWER = 2, /* usage, environment, refused */
	TLAT_EXIT_INCONCLUSIVE = 77,
};

/* Each takes the whole command line of tlat; argv[1] is the subcommand. Returns an exit code. */
int tlat_cmd_run(int argc, char **argv);
int tlat_cmd_list(int argc, char **argv);
int tlat_cmd_check(int argc, char **argv);
int tlat_cmd_scale(int argc, char **argv);
int tlat_cmd_show(int argc, char **argv);
int tlat_cmd_storm(int argc, char **argv);
int tlat_cmd_noise(int argc, char **argv);
int tlat_cmd_compare(int argc, char **argv);
int tlat_cmd_ab(int argc, char **argv);
int tlat_cmd_plan(int argc, char **argv);
int tlat_cmd_merge(int argc, char **argv);

/* Fill *reterr and return code, a negative errno. */
int tlat_tool_fail(struct tlat_error *reterr, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* One line on stderr, "tlat COMMAND: ..."; returns TLAT_EXIT_NO_ANSWER. */
int tlat_complain(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* TLAT_TOOL_H */
