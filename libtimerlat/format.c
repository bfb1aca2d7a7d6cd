// SPDX-License-Identifier: MIT
/*
 * format.c - text that is the same in every locale: what a library writes is read by programs, and
 * a host that speaks to its user in German must not turn p99.9 into a quantity of another name.
 */
#include <locale.h>
#include <stdio.h>

#include "internal.h"

/* Of this thread alone, and only while it writes; in glibc and musl nothing is allocated for it. */
int tlat_vformat(char *text, size_t size, const char *format, va_list args)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
	int length;

	if (plain)
		before = uselocale(plain);
	length = vsnprintf(text, size, format, args);
	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	return length;
}

int tlat_format(char *text, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = tlat_vformat(text, size, format, args);
	va_end(args);
	return length;
}
