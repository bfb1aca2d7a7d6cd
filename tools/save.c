// SPDX-License-Identifier: MIT
/* save.c - when a report is written, and what of that is an error. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtimerlat/file_target.h"
#include "monotonic.h"
#include "options.h"
#include "save.h"
#include "tool.h"
#include "writable.h"

#define EVERY_NS 60000000000
#define MS_NS	 1000000

/* Whether a report takes the place of the one before it; what went into a pipe, or to where a
 * descriptor stands, stays there. */
static bool is_replaced(const struct tlat_save *save)
{
	struct stat st;

	if (!tlat_save_is_file(save) || save->append || tlat_file_descriptor(save->path) >= 0)
		return false;
	return stat(save->path, &st) < 0 || S_ISREG(st.st_mode);
}

void tlat_save_init(struct tlat_save *save, const char *path, bool append, int64_t every_ns)
{
	*save = (struct tlat_save){ .path = path, .append = append, .every_ns = every_ns };
	save->replaced = is_replaced(save);
	if (every_ns == TLAT_UNSET)
		save->every_ns = EVERY_NS;
	save->due_ns = tlat_monotonic_ns() + save->every_ns;
}

int tlat_save_pause_ms(const struct tlat_save *save)
{
	int64_t pause_ns = save->due_ns - tlat_monotonic_ns();

	if (!save->replaced)
		return -1;
	if (pause_ns <= 0)
		return 0;
	return pause_ns < INT_MAX * (int64_t)MS_NS ? (int)((pause_ns + MS_NS - 1) / MS_NS)
						   : INT_MAX;
}

int tlat_save_check(const struct tlat_save *save, struct tlat_error *reterr)
{
	int r;

	if (save->append && !tlat_save_is_file(save))
		return tlat_tool_fail(reterr, -EINVAL, "--append needs --json FILE to add to");
	if (!save->path)
		return 0;
	if (!*save->path)
		return tlat_tool_fail(reterr, -EINVAL,
				      "--json '': empty; name a file, or - for standard output");
	if (!tlat_save_is_file(save)) {
		r = tlat_writable_fd(STDOUT_FILENO);
		return r < 0 ? tlat_tool_fail(reterr, r,
					      "--json -: standard output is closed; "
					      "name a file instead")
			     : 0;
	}
	r = tlat_writable(save->path, !save->append);
	return r < 0 ? tlat_tool_fail(reterr, r,
				      "--json %.300s: cannot be written: %s; name a file "
				      "in a directory of yours",
				      save->path, strerror(-r))
		     : 0;
}

bool tlat_save_is_file(const struct tlat_save *save)
{
	return save->path && strcmp(save->path, "-");
}

void tlat_save_now(struct tlat_save *save, const struct tlat_report *report)
{
	struct tlat_error error;

	tlat_report_write(report, save->path, 0, &error);
	save->due_ns = tlat_monotonic_ns() + save->every_ns;
}

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-") || tlat_file_descriptor(path) == STDOUT_FILENO;
}

int tlat_save_end(const struct tlat_save *save, const struct tlat_report *report,
		  struct tlat_error *reterr)
{
	int r;

	if (!save->path)
		return 0;
	r = tlat_report_write(report, save->path, save->append ? TLAT_WRITE_APPEND : 0, reterr);
	return r == -EPIPE && is_stdout(save->path) ? 0 : r;
}
