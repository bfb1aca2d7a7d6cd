// SPDX-License-Identifier: MIT
/* text.c - words on a terminal, and in a shell. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "text.h"

#define WIDTH_DEFAULT 100
#define WIDTH_MIN     40
#define WIDTH_MAX     1000

static long terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (width > 0)
		return width;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

int tlat_text_width(FILE *out)
{
	long width = terminal_width(out);

	return (int)(width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width);
}

/* Bytes of the control character that text begins with; 0: it begins with none. */
static size_t control_length(const char *text)
{
	unsigned char c = (unsigned char)text[0], next;

	if (c < 0x20 || c == 0x7f)
		return 1;
	next = (unsigned char)text[1];
	return c == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

char *tlat_text_clean(char *text)
{
	for (char *at = text; *at;) {
		size_t n = control_length(at);

		memset(at, '?', n);
		at += n ? n : 1;
	}
	return text;
}

void tlat_text_put(const char *text, FILE *out)
{
	while (*text) {
		size_t n = control_length(text);

		fputc(n ? '?' : *text, out);
		text += n ? n : 1;
	}
}

size_t tlat_text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

/* To be given to free(3); NULL when memory is short. */
static char *copy_word(const char *text, size_t length)
{
	char *word = strndup(text, length);

	return word ? tlat_text_clean(word) : NULL;
}

void tlat_text_wrap(const char *first, int indent, const char *text, FILE *out)
{
	size_t width = (size_t)tlat_text_width(out), column = tlat_text_columns(first);
	bool fresh = true; /* no word in this line */

	if (!text) /* of a stream in memory that did not get any */
		text = "(out of memory)";
	fputs(first, out);
	while (*(text += strspn(text, " "))) {
		size_t length = strcspn(text, " "), columns;
		char *word = copy_word(text, length);

		if (!word)
			break;
		columns = tlat_text_columns(word);
		if (!fresh && column + 1 + columns > width) {
			fprintf(out, "\n%*s", indent, "");
			column = (size_t)indent;
			fresh = true;
		}
		fprintf(out, "%s%s", fresh ? "" : " ", word);
		column += columns + !fresh;
		fresh = false;
		free(word);
		text += length;
	}
	fputc('\n', out);
}

void tlat_shell_quote(const char *word, FILE *out)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-_=+:,./%@";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}
