// SPDX-License-Identifier: MIT
/* error.c - error text, and option structs that may be older or newer than this library. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

TLAT_ASSERT_LAYOUT(struct tlat_error, 4 + 508);

/* What it quotes may hold anything: a line of a file, a name in a document. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

int tlat_fail(struct tlat_error *reterr, int code, const char *format, ...)
{
	va_list args;

	if (!reterr)
		return code;
	reterr->code = code;
	va_start(args, format);
	tlat_vformat(reterr->text, sizeof(reterr->text), format, args);
	va_end(args);
	make_one_line(reterr->text);
	return code;
}

void tlat_error_begin(struct tlat_error *reterr)
{
	if (!reterr)
		return;
	reterr->code = 0;
	reterr->text[0] = '\0';
}

int tlat_error_end(struct tlat_error *reterr, int code)
{
	if (code < 0 && reterr && !*reterr->text)
		return tlat_fail(reterr, code, "%s", strerror(-code));
	return code;
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

int tlat_opts_copy(void *dst, size_t dst_size, const void *src, struct tlat_error *reterr)
{
	size_t size;

	memset(dst, 0, dst_size);
	if (src) {
		memcpy(&size, src, sizeof(size));
		if (size < sizeof(size))
			return tlat_fail(reterr, -EINVAL,
					 "options: size is %zu; set it to sizeof the struct", size);
		if (size > dst_size &&
		    !is_zero((const unsigned char *)src + dst_size, size - dst_size))
			return tlat_fail(
				reterr, -E2BIG,
				"options: a field is set that libtimerlat %s does not know; "
				"use a newer library",
				TLAT_VERSION);
		memcpy(dst, src, size < dst_size ? size : dst_size);
	}
	memcpy(dst, &dst_size, sizeof(dst_size));
	return 0;
}

int tlat_facts_copy(void *dst, const void *src, size_t src_size)
{
	size_t size, known;

	memcpy(&size, dst, sizeof(size));
	if (size < sizeof(size))
		return -EINVAL;
	known = size < src_size ? size : src_size;
	memcpy((char *)dst + sizeof(size), (const char *)src + sizeof(size), known - sizeof(size));
	memset((char *)dst + known, 0, size - known);
	return 0;
}

const char *tlat_version(void)
{
	return TLAT_VERSION;
}
