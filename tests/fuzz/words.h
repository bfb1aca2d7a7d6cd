/* SPDX-License-Identifier: MIT */
/*
 * words.h - for fuzzers of command lines: the input's lines are the words, and what is said on
 * standard error is counted instead. Included by one file of each program.
 */
#ifndef TLAT_FUZZ_WORDS_H
#define TLAT_FUZZ_WORDS_H

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

#define WORDS_MAX 64

struct words {
	int argc;
	char *argv[WORDS_MAX + 1];
};

static int said; /* complaints */

static void words_add(struct words *words, char *word)
{
	if (words->argc < WORDS_MAX)
		words->argv[words->argc++] = word;
	words->argv[words->argc] = NULL;
}

/* text is cut up. */
static void words_add_lines(struct words *words, char *text)
{
	while (text)
		words_add(words, strsep(&text, "\n"));
}

/* getopt forgets where in a word it was, and --help is not to be seen. */
static void words_begin(void)
{
	static char *none[] = { (char *)"none", NULL };

	if (!freopen("/dev/null", "w", stdout))
		abort();
	optind = 0;
	opterr = 0;
	getopt(1, none, "");
	said = 0;
}

static inline int words_complain(const char *format, va_list args)
{
	char *text;

	must(vasprintf(&text, format, args) > 0, "a complaint has words");
	free(text);
	said++;
	return 0;
}

#endif /* TLAT_FUZZ_WORDS_H */
