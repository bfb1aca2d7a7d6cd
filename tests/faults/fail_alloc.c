// SPDX-License-Identifier: MIT
/*
 * fail_alloc.c - preloaded into a program: the allocation number FAIL_ALLOC (1 and up, from main()
 * on) fails, and none after it. FAIL_ALLOC=0 only counts; the count goes to the file
 * FAIL_ALLOC_LOG.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t each);
extern void *__libc_realloc(void *old, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

static atomic_long count;
static long fail_at;
static bool begun;

static bool fails(void)
{
	if (!begun || atomic_fetch_add(&count, 1) + 1 != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t each)
{
	return fails() ? NULL : __libc_calloc(n, each);
}

void *realloc(void *old, size_t n)
{
	return fails() ? NULL : __libc_realloc(old, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return fails() ? NULL : __libc_memalign(align, n);
}

static void say_count(void)
{
	const char *path = getenv("FAIL_ALLOC_LOG");
	FILE *out;

	begun = false;
	out = path ? fopen(path, "w") : NULL;
	if (!out)
		return;
	fprintf(out, "%ld\n", atomic_load(&count));
	fclose(out);
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_ALLOC");

	fail_at = at ? atol(at) : 0;
	atexit(say_count);
	begun = true;
}
