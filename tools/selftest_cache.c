// SPDX-License-Identifier: MIT
/* selftest_cache.c - where the report of the last self-test lies. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "selftest_cache.h"
#include "tool.h"

#define PATH_TEXT 4096

static int read_boot_id(char *text, size_t size)
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
	int r = -ENOENT;

	if (!in)
		return -errno;
	if (fgets(text, (int)size, in)) {
		text[strcspn(text, "\n")] = '\0';
		r = *text ? 0 : -ENOENT;
	}
	fclose(in);
	return r;
}

/* The directory for caches, made when asked for. Its parent is the user's to make. */
static int find_directory(char *path, size_t size, bool make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (cache && *cache == '/')
		n = snprintf(path, size, "%s", cache);
	else if (home && *home == '/')
		n = snprintf(path, size, "%s/.cache", home);
	else
		return -ENOENT;
	if (n < 0 || (size_t)n + sizeof("/timerlat") > size)
		return -ENAMETOOLONG;
	if (make)
		mkdir(path, 0700);
	strcat(path, "/timerlat");
	if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

static int find_file(char *path, size_t size, bool make)
{
	char directory[PATH_TEXT], boot_id[64];
	int r = read_boot_id(boot_id, sizeof(boot_id));

	if (r == 0)
		r = find_directory(directory, sizeof(directory), make);
	if (r < 0)
		return r;
	if ((size_t)snprintf(path, size, "%s/selftest-%s.json", directory, boot_id) >= size)
		return -ENAMETOOLONG;
	return 0;
}

int tlat_selftest_store(const struct tlat_report *report, struct tlat_error *reterr)
{
	char path[PATH_TEXT];
	int r = find_file(path, sizeof(path), true);

	if (r < 0)
		return tlat_tool_fail(reterr, r,
				      "no cache directory (%s); set XDG_CACHE_HOME to one that can "
				      "be written",
				      strerror(-r));
	return tlat_report_write(report, path, 0, reterr);
}

int tlat_selftest_load(struct tlat_report **ret_report)
{
	struct tlat_error error;
	char path[PATH_TEXT];
	int r = find_file(path, sizeof(path), false);

	return r < 0 ? r : tlat_report_read(ret_report, path, &error);
}
