// SPDX-License-Identifier: MIT
/* fail.c - errors that are the tools' own, in the form that the library's have. */
#include <stdarg.h>
#include <stdio.h>

#include "tool.h"

int tlat_tool_fail(struct tlat_error *reterr, int code, const char *format, ...)
{
	va_list args;

	reterr->code = code;
	va_start(args, format);
	vsnprintf(reterr->text, sizeof(reterr->text), format, args);
	va_end(args);
	return code;
}
