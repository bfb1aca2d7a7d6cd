/* SPDX-License-Identifier: MIT */
/* comma-locale.h - a program whose numbers have a comma, as those of most of Europe have. */
#ifndef TLAT_TESTS_COMMA_LOCALE_H
#define TLAT_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static inline int comma_locale_is_set(void)
{
	return *localeconv()->decimal_point == ',';
}

/* One with nothing but the comma; glibc brings localedef(1) wherever it is. */
static inline void comma_locale_make(void)
{
	char folder[] = "/tmp/tlat-locale-XXXXXX", command[256];

	if (!mkdtemp(folder))
		return;
	snprintf(
		command, sizeof(command),
		"cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \".\"\\n"
		"grouping 3;3\\nEND LC_NUMERIC\\n' >text && localedef -c -i text ./comma >log 2>&1",
		folder);
	setenv("LOCPATH", folder, 1);
	if (system(command) >= 0) /* its warnings count as a failure */
		setlocale(LC_NUMERIC, "comma");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command))
		perror(folder);
}

/* Skips where there is none: called before the test holds anything. */
static inline void comma_locale_enter(void)
{
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		setlocale(LC_NUMERIC, "fr_FR.UTF-8");
	if (!comma_locale_is_set())
		comma_locale_make();
	if (!comma_locale_is_set())
		skip();
}

static inline void comma_locale_leave(void)
{
	setlocale(LC_NUMERIC, "C");
}

#endif /* TLAT_TESTS_COMMA_LOCALE_H */
