/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what every fuzzer needs: the input as text, and a check that does not vanish with
 * NDEBUG. A fuzzer looks for crashes; what it also holds true is written with must().
 */
#ifndef TLAT_FUZZ_H
#define TLAT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/* A terminated copy, to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t n)
{
	char *text = malloc(n + 1);

	must(text, "memory");
	if (n)
		memcpy(text, data, n);
	text[n] = '\0';
	return text;
}

#endif /* TLAT_FUZZ_H */
