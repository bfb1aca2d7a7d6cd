/* SPDX-License-Identifier: MIT */
/* save_text.h - a line that is no report on its way to a file. */
#ifndef TLAT_SAVE_TEXT_H
#define TLAT_SAVE_TEXT_H

#include <timerlat.h>

/*
 * Write text and a newline to a file, which is replaced, or to "-": standard output. text is freed.
 * Returns 0 or a negative errno.
 */
int tlat_save_text(const char *path, char *text, struct tlat_error *reterr);
/* The same with what the library has formatted; negative: it has not, and the error says why. */
int tlat_save_formatted(const char *path, int formatted, char *text, struct tlat_error *reterr);
/* The same with a comparison as JSON. */
int tlat_save_comparison(const char *path, const struct tlat_comparison *comparison,
			 struct tlat_error *reterr);

#endif /* TLAT_SAVE_TEXT_H */
