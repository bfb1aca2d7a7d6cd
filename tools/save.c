// SPDX-License-Identifier: MIT
/* save.c - when a report is written, and what of that is an error. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "save.h"

#define EVERY_NS 60000000000

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void tlat_save_init(struct tlat_save *save, const char *path, bool append)
{
	*save = (struct tlat_save){ path, append, now_ns() + EVERY_NS };
}

bool tlat_save_is_file(const struct tlat_save *save)
{
	return save->path && strcmp(save->path, "-");
}

void tlat_save_maybe(struct tlat_save *save, const struct tlat_report *report)
{
	struct tlat_error error;

	if (!tlat_save_is_file(save) || save->append || now_ns() < save->due_ns)
		return;
	tlat_report_write(report, save->path, 0, &error);
	save->due_ns = now_ns() + EVERY_NS;
}

int tlat_save_end(const struct tlat_save *save, const struct tlat_report *report,
		  struct tlat_error *reterr)
{
	int r;

	if (!save->path)
		return 0;
	r = tlat_report_write(report, save->path, save->append ? TLAT_WRITE_APPEND : 0, reterr);
	return r == -EPIPE && !tlat_save_is_file(save) ? 0 : r;
}
