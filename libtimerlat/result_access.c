// SPDX-License-Identifier: MIT
/* result_access.c - counters and idle shares of a result, one by one. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Counters that are one member each, in the order of the report. */
static const struct {
	const char *name;
	size_t offset;
} counters[] = {
	{ "asked", offsetof(struct tlat_result, counts.asked) },
	{ "recorded", offsetof(struct tlat_result, counts.recorded) },
	{ "early", offsetof(struct tlat_result, counts.early) },
	{ "overflow", offsetof(struct tlat_result, counts.overflow) },
	{ "missed", offsetof(struct tlat_result, counts.missed) },
	{ "unfinished", offsetof(struct tlat_result, counts.unfinished) },
	{ "warmup", offsetof(struct tlat_result, warmup) },
	{ "rests", offsetof(struct tlat_result, rests) },
};

static const char *const rejected_names[TLAT_REJECTED_COUNT] = {
	[TLAT_REJECTED_NOT_ASLEEP] = "rejected.not_asleep",
	[TLAT_REJECTED_TIMEOUT] = "rejected.timeout",
	[TLAT_REJECTED_COALESCED] = "rejected.coalesced",
};

static const char *const disturbed_names[TLAT_DISTURBED_COUNT] = {
	[TLAT_DISTURBED_NOT_ASLEEP] = "disturbed.not_asleep",
	[TLAT_DISTURBED_PREEMPTED] = "disturbed.preempted",
	[TLAT_DISTURBED_MIGRATED] = "disturbed.migrated",
	[TLAT_DISTURBED_LATE_SLOT] = "disturbed.late_slot",
	[TLAT_DISTURBED_STEAL] = "disturbed.steal",
	[TLAT_DISTURBED_THROTTLED] = "disturbed.throttled",
};

int tlat_result_count(const struct tlat_result *result, size_t index, const char **ret_name,
		      uint64_t *ret_count)
{
	const size_t n = TLAT_ARRAY_SIZE(counters);

	if (index < n) {
		*ret_name = counters[index].name;
		memcpy(ret_count, (const char *)result + counters[index].offset,
		       sizeof(*ret_count));
		return 0;
	}
	index -= n;
	if (index < TLAT_REJECTED_COUNT) {
		*ret_name = rejected_names[index];
		*ret_count = result->counts.rejected[index];
		return 0;
	}
	index -= TLAT_REJECTED_COUNT;
	if (index >= TLAT_DISTURBED_COUNT)
		return -ENOENT;
	*ret_name = disturbed_names[index];
	*ret_count = result->counts.disturbed[index];
	return 0;
}

static uint64_t idle_entries(const struct tlat_watch_delta *watch, int32_t cpu)
{
	uint64_t entries = 0;

	for (size_t i = 0; i < watch->n_idle; i++)
		if (watch->idle[i].cpu == cpu)
			entries += watch->idle[i].usage;
	return entries;
}

/* Entry number *index of that CPU's states; *index is lowered by those passed over. */
static const struct tlat_watch_idle *idle_at(const struct tlat_watch_delta *watch, int32_t cpu,
					     size_t *index)
{
	for (size_t i = 0; i < watch->n_idle; i++) {
		if (watch->idle[i].cpu != cpu || !watch->idle[i].usage)
			continue;
		if (!(*index)--)
			return &watch->idle[i];
	}
	return NULL;
}

int tlat_result_idle(const struct tlat_result *result, size_t index,
		     struct tlat_idle_share *ret_share)
{
	const struct tlat_watch_delta *watch = result->watch;
	const struct tlat_watch_idle *idle = NULL;
	struct tlat_idle_share share = { 0 };

	if (watch)
		idle = idle_at(watch, result->wait.cpu, &index);
	if (watch && !idle && result->has_kick && result->kick.cpu != result->wait.cpu)
		idle = idle_at(watch, result->kick.cpu, &index);
	if (!idle)
		return -ENOENT;
	share.state = idle->state;
	share.usage = idle->usage;
	share.time_ns = (int64_t)idle->time_ns;
	share.share = (double)idle->usage / (double)idle_entries(watch, idle->cpu);
	share.cpu = idle->cpu;
	return tlat_facts_copy(ret_share, &share, sizeof(share));
}
