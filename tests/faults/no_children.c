// SPDX-License-Identifier: MIT
/* no_children.c - preloaded into a program: the kernel has no lists of a task's children. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef FILE *open_fn(const char *path, const char *mode);

static FILE *open_other(const char *name, const char *path, const char *mode)
{
	const char *last = strrchr(path, '/');

	if (last && !strcmp(last, "/children")) {
		errno = ENOENT;
		return NULL;
	}
	return ((open_fn *)dlsym(RTLD_NEXT, name))(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return open_other("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return open_other("fopen64", path, mode);
}
