// SPDX-License-Identifier: MIT
/*
 * tlat.c - the command: finds the subcommand, and owns what holds for all of them, namely how
 * complaints and errors look and what happens when standard output cannot be written.
 */
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rights.h"
#include "streams.h"
#include "text.h"
#include "tool.h"

static const struct {
	const char *name, *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "measure one or more probes", tlat_cmd_run },
	{ "list", "every probe: from, to, and whether it runs here", tlat_cmd_list },
	{ "check", "audit this machine: isolation, privileges, self-test", tlat_cmd_check },
	{ "show", "print a report again", tlat_cmd_show },
	{ "scale", "what many timers, waiters or pairs cost", tlat_cmd_scale },
	{ "storm", "let timers loose, and count what is left", tlat_cmd_storm },
	{ "noise", "spin, and see what takes the CPU away", tlat_cmd_noise },
	{ "compare", "is one side slower? Reports of both in, a verdict out", tlat_cmd_compare },
	{ "ab", "measure two sides in turn, and compare them", tlat_cmd_ab },
	{ "plan", "how many pairs, and how long, for a shift to be found", tlat_cmd_plan },
	{ "merge", "add up reports of the same measurement", tlat_cmd_merge },
};

int tlat_complain(const char *command, const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	fprintf(stderr, "tlat%s%s: ", command ? " " : "", command ? command : "");
	/* What a file holds can be part of it. */
	tlat_text_put(length < 0 ? "out of memory" : text, stderr);
	fputc('\n', stderr);
	if (length >= 0)
		free(text);
	return TLAT_EXIT_NO_ANSWER;
}

static int print_help(void)
{
	printf("Usage: tlat COMMAND [operands] [options]\n"
	       "How late is this machine, and how sure are we?\n\n");
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("\n  tlat run 'wake-*' timer-nanosleep    measures, without further options\n"
	       "  tlat COMMAND --help                  options of one command\n"
	       "  tlat help [COMMAND]                  the same\n"
	       "  tlat --version\n\n"
	       "Exit status: 0 fine, 1 the answer is bad, 2 no answer, 77 inconclusive.\n");
	return TLAT_EXIT_FINE;
}

static int dispatch(int argc, char **argv);

/* What others call --help. */
static int help(int argc, char **argv)
{
	char option[] = "--help";
	char *words[] = { argv[0], argc > 2 ? argv[2] : option, option, NULL };

	if (argc > 3)
		return tlat_complain("help", "'%s': one operand too many; name one command",
				     argv[3]);
	return dispatch(argc, words);
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2)
		return tlat_complain(NULL, "no command; try tlat run 'wake-*', or tlat --help");
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("tlat %s\n", tlat_version());
		return TLAT_EXIT_FINE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help();
	if (!strcmp(argv[1], "help"))
		return help(argc, argv);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc, argv);
	return tlat_complain(NULL, "no command '%s'; see tlat --help", argv[1]);
}

int main(int argc, char **argv)
{
	int code, r;

	tlat_streams_occupy();

	/* Only the character set: numbers stay as in the C locale. */
	setlocale(LC_CTYPE, "");
	/* A reader that went away must not end a run before its JSON file is written. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that gets too large is an error like a full disk */
	signal(SIGCHLD, SIG_DFL); /* whoever ignored it, how a command ended is asked for here */
	code = dispatch(argc, argv);
	r = tlat_streams_end();
	tlat_rights_tell_limit();
	return r < 0 ? tlat_complain(NULL, "standard output: %s; give it room, or write elsewhere",
				     strerror(-r))
		     : code;
}
