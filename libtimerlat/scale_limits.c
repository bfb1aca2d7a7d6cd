// SPDX-License-Identifier: MIT
/*
 * scale_limits.c - the arithmetic before timers are made: each takes one of the signals that its
 * user may have queued (RLIMIT_SIGPENDING), armed or not, and memory of the kernel, which is
 * charged to the control group.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cgroup.h"
#include "scale.h"

#define TIMER_BYTES 640 /* struct k_itimer with its queue entry, rounded up */

/* Past a limit the kernel kills or slows down; of what is used, it takes the cache back first. */
static const struct memory_limit {
	const char *controller, *limit, *usage, *cache;
} memory_limits[] = {
	{ NULL, "memory.max", "memory.current", "inactive_file" },
	{ NULL, "memory.high", "memory.current", "inactive_file" },
	{ "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file" },
};

static int64_t cached_in(const struct tlat_cgroup *group, const char *key)
{
	char path[TLAT_CGROUP_FILE_BYTES], *text;
	const char *line;
	int64_t bytes;

	tlat_cgroup_file(group, "memory.stat", path);
	if (tlat_root_read_all(group->root_fd, path, &text) < 0)
		return 0;
	line = tlat_text_value(text, key);
	bytes = line ? strtoll(line, NULL, 10) : 0;
	free(text);
	return bytes;
}

/* INT64_MAX: the group has no limit. */
static int64_t left_in(const struct tlat_cgroup *group, const struct memory_limit *of)
{
	int64_t limit = tlat_cgroup_int(group, of->limit), used;

	if (limit < 0)
		return INT64_MAX;
	used = tlat_cgroup_int(group, of->usage) - cached_in(group, of->cache);
	if (used < 0)
		used = 0;
	return limit > used ? limit - used : 0;
}

/* Each group up to the root may have the narrowest limit. */
static void heed_groups(int root_fd, struct tlat_scale_budget *b)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(memory_limits); i++) {
		struct tlat_cgroup group;
		bool more = tlat_cgroup_own(&group, root_fd, memory_limits[i].controller) == 0;

		for (; more; more = tlat_cgroup_up(&group)) {
			int64_t left = left_in(&group, &memory_limits[i]);

			if (left >= b->memory_bytes)
				continue;
			b->memory_bytes = left;
			b->memory_of_group = true;
		}
	}
}

void tlat_scale_budget(int root_fd, struct tlat_scale_budget *b)
{
	const char *line;
	struct rlimit limit;
	char *text;

	*b = (struct tlat_scale_budget){ INT64_MAX, INT64_MAX, 0, INT64_MAX, false };
	if (!getrlimit(RLIMIT_SIGPENDING, &limit) && limit.rlim_cur != RLIM_INFINITY)
		b->limit = (int64_t)limit.rlim_cur;
	if (tlat_root_read_all(root_fd, "proc/self/status", &text) >= 0) {
		line = tlat_text_value(text, "SigQ");
		b->used = line ? strtoll(line, NULL, 10) : 0;
		free(text);
	}
	if (b->limit < INT64_MAX)
		b->signals = b->limit > b->used ? b->limit - b->used : 0;
	if (tlat_root_read_all(root_fd, "proc/meminfo", &text) >= 0) {
		line = tlat_text_value(text, "MemAvailable");
		b->memory_bytes = line ? strtoll(line, NULL, 10) * 1024 : INT64_MAX;
		free(text);
	}
	heed_groups(root_fd, b);
}

/* The largest N so that all workers' timers fit. */
static int64_t largest(const struct tlat_scale *s, const struct tlat_scale_budget *b)
{
	int64_t by_memory = b->memory_bytes / 2 / TIMER_BYTES;

	return (b->signals < by_memory ? b->signals : by_memory) / s->place->n;
}

static void shrink(struct tlat_scale *s, int64_t most)
{
	double factor = (double)most / (double)s->sizes[s->n_sizes - 1];
	size_t kept = 0;

	for (size_t i = 0; i < s->n_sizes; i++) {
		int64_t n = (int64_t)((double)s->sizes[i] * factor + 0.5);

		if (n > most || i + 1 == s->n_sizes)
			n = most;
		if (n >= 1 && (!kept || n > s->sizes[kept - 1]))
			s->sizes[kept++] = n;
	}
	s->n_sizes = kept;
}

static const char *where(const struct tlat_scale_budget *b)
{
	return b->memory_of_group ? " in the memory cgroup" : "";
}

static int fail_limits(const struct tlat_scale *s, const struct tlat_scale_budget *b, bool signals,
		       struct tlat_error *reterr)
{
	if (signals)
		return tlat_fail(reterr, -EAGAIN,
				 "no timer can be made by %d workers: of %" PRId64
				 " signals that may be queued %" PRId64 " are; ulimit -i",
				 s->place->n, b->limit, b->used);
	return tlat_fail(reterr, -EAGAIN,
			 "no timer can be made by %d workers: %" PRId64
			 " bytes of memory are available%s; end what uses it, or raise the limit",
			 s->place->n, b->memory_bytes, where(b));
}

int tlat_scale_fit_limits(struct tlat_scale *s, const struct tlat_scale_budget *b,
			  struct tlat_error *reterr)
{
	int64_t most = largest(s, b), asked = s->sizes[s->n_sizes - 1];
	bool signals = b->signals / s->place->n <= most;

	if (asked <= most)
		return 0;
	if (most < 1)
		return fail_limits(s, b, signals, reterr);
	shrink(s, most);
	if (signals)
		tlat_findings_add(&s->result->findings, TLAT_WARN, "signal-limit",
				  "raise the limit: ulimit -i",
				  "%d workers with %" PRId64 " timers need %" PRId64
				  " queued signals; RLIMIT_SIGPENDING is %" PRId64 ", %" PRId64
				  " are in use: scaled down to %" PRId64,
				  s->place->n, asked, asked * s->place->n, b->limit, b->used, most);
	else
		tlat_findings_add(&s->result->findings, TLAT_WARN, "memory-limit",
				  "use smaller --sizes",
				  "%d workers with %" PRId64 " timers need %" PRId64
				  " MiB, half of what is available%s is %" PRId64
				  " MiB: scaled down to %" PRId64,
				  s->place->n, asked, asked * s->place->n * TIMER_BYTES >> 20,
				  where(b), b->memory_bytes >> 21, most);
	return 0;
}
