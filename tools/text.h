/* SPDX-License-Identifier: MIT */
/*
 * text.h - words on a terminal: how wide it is, and what may be sent to it; words in a shell.
 */
#ifndef TLAT_TEXT_H
#define TLAT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Columns of out: COLUMNS if it is set, else the terminal's, else 100. At least 40. */
int tlat_text_width(FILE *out);

/*
 * Replace control characters, also the 8-bit ones in UTF-8, by question marks, in place: a report
 * may come from anywhere, and a terminal obeys what it is sent. Returns text.
 */
char *tlat_text_clean(char *text);

/* Print text as tlat_text_clean() leaves it. */
void tlat_text_put(const char *text, FILE *out);

/* Columns that text takes; every character used here is one wide. */
size_t tlat_text_columns(const char *text);

/*
 * Print first, then the words of text, cleaned, in lines that fit out; all lines but the first are
 * indented. A word that is too long has a line of its own. Ends in a newline.
 */
void tlat_text_wrap(const char *first, int indent, const char *text, FILE *out);

/* A word as the shell reads it back, quoted only where needed. */
void tlat_shell_quote(const char *word, FILE *out);

#endif /* TLAT_TEXT_H */
