// SPDX-License-Identifier: MIT
/* selftest_cache.c - where the self-test's result lies, and its one line of JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selftest_cache.h"

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
static int find_directory(char *path, size_t size, int make)
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

static int find_file(char *path, size_t size, int make)
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

static void write_result(const struct tlat_selftest_result *result, FILE *out)
{
	fputs("{\"schema\":\"timerlat-selftest/1\",\"delays\":[", out);
	for (size_t i = 0; i < TLAT_SELFTEST_DELAYS; i++) {
		const struct tlat_selftest_delay *d = &result->delays[i];

		fprintf(out,
			"%s{\"delay_ns\":%" PRId64 ",\"trials\":%d,\"recovered\":%d,"
			"\"median_error_ns\":%.3f,\"u_ns\":%.3f}",
			i ? "," : "", d->delay_ns, d->trials, d->recovered, d->median_error_ns,
			d->u_ns);
	}
	fputs("]}\n", out);
}

/* Beside the file and then over it, so that a reader sees the old one or the new one. */
int tlat_selftest_store(const struct tlat_selftest_result *result)
{
	char path[PATH_TEXT], fresh[PATH_TEXT + 16];
	int r = find_file(path, sizeof(path), 1);
	FILE *out;

	if (r < 0)
		return r;
	snprintf(fresh, sizeof(fresh), "%s.%d", path, (int)getpid());
	out = fopen(fresh, "wxe");
	if (!out)
		return -errno;
	write_result(result, out);
	if (fclose(out) != 0 || rename(fresh, path) < 0) {
		r = -errno;
		unlink(fresh);
	}
	return r;
}

/* Only what write_result() writes is understood; anything else is as good as no file. */
static int read_result(struct tlat_selftest_result *result, FILE *in)
{
	if (fscanf(in, "{\"schema\":\"timerlat-selftest/1\",\"delays\":[") != 0)
		return -EINVAL;
	for (size_t i = 0; i < TLAT_SELFTEST_DELAYS; i++) {
		struct tlat_selftest_delay *d = &result->delays[i];

		if (i && fgetc(in) != ',')
			return -EINVAL;
		if (fscanf(in,
			   "{\"delay_ns\":%" SCNd64 ",\"trials\":%d,\"recovered\":%d,"
			   "\"median_error_ns\":%lf,\"u_ns\":%lf}",
			   &d->delay_ns, &d->trials, &d->recovered, &d->median_error_ns,
			   &d->u_ns) != 5)
			return -EINVAL;
	}
	return 0;
}

int tlat_selftest_load(struct tlat_selftest_result *result)
{
	char path[PATH_TEXT];
	int r = find_file(path, sizeof(path), 0);
	FILE *in;

	if (r < 0)
		return r;
	in = fopen(path, "re");
	if (!in)
		return -errno;
	*result = (struct tlat_selftest_result){ 0 };
	r = read_result(result, in);
	fclose(in);
	return r;
}
