// SPDX-License-Identifier: MIT
/* result.c - what a result owns, its accounting identity, its counters and their names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

const char *const tlat_rejected_names[TLAT_REJECTED_COUNT] = {
	[TLAT_REJECTED_NOT_ASLEEP] = "rejected.not_asleep",
	[TLAT_REJECTED_TIMEOUT] = "rejected.timeout",
	[TLAT_REJECTED_COALESCED] = "rejected.coalesced",
};

const char *const tlat_disturbed_names[TLAT_DISTURBED_COUNT] = {
	[TLAT_DISTURBED_NOT_ASLEEP] = "disturbed.not_asleep",
	[TLAT_DISTURBED_PREEMPTED] = "disturbed.preempted",
	[TLAT_DISTURBED_MIGRATED] = "disturbed.migrated",
	[TLAT_DISTURBED_LATE_SLOT] = "disturbed.late_slot",
	[TLAT_DISTURBED_STEAL] = "disturbed.steal",
	[TLAT_DISTURBED_THROTTLED] = "disturbed.throttled",
};

const char *tlat_counter_key(const char *name)
{
	return strchr(name, '.') + 1;
}

const char *const tlat_end_names[TLAT_END_KINDS] = {
	[TLAT_END_COUNT] = "count", [TLAT_END_TIME] = "time",	[TLAT_END_SIGNAL] = "signal",
	[TLAT_END_BREAK] = "break", [TLAT_END_ERROR] = "error", [TLAT_END_RUNNING] = "running",
};

bool tlat_result_one_way(const struct tlat_result *result)
{
	return result->has_kick && !result->round_trip && result->kick.cpu != result->wait.cpu;
}

static const char *const targets[] = {
	[TLAT_TARGET_SLEEPING] = "sleeping",
	[TLAT_TARGET_BUSY] = "busy",
};

const char *tlat_target_name(int target)
{
	return target >= 0 && target < (int)TLAT_ARRAY_SIZE(targets) ? targets[target] : NULL;
}

int tlat_target_from_name(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(targets); i++)
		if (!strcmp(targets[i], name))
			return (int)i;
	return -EINVAL;
}

struct tlat_result *tlat_result_new(void)
{
	struct tlat_result *result = calloc(1, sizeof(*result));

	if (!result)
		return NULL;
	result->supported = true;
	result->cpu_latency_ns = -1;
	result->wait.cpu = -1;
	result->kick.cpu = -1;
	result->verdict = TLAT_NO_VERDICT;
	return result;
}

void tlat_result_free(struct tlat_result *result)
{
	if (!result)
		return;
	tlat_hist_free(result->latency);
	tlat_hist_free(result->call);
	tlat_hist_free(result->dwell);
	tlat_hist_free(result->back);
	tlat_hist_free(result->floor);
	tlat_hist_free(result->floor_pair);
	tlat_blocks_free(result->blocks);
	tlat_watch_delta_free(result->watch);
	tlat_findings_free(&result->findings);
	tlat_document_free(result->document);
	tlat_judgement_free(result->judgement);
	free(result->metrics);
	free(result->outliers);
	free(result->raw);
	free(result->repeat);
	free(result->clock);
	free(result);
}

static uint64_t sum(const uint64_t *counts, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += counts[i];
	return total;
}

uint64_t tlat_counts_rejected(const struct tlat_counts *counts)
{
	return sum(counts->rejected, TLAT_REJECTED_COUNT);
}

uint64_t tlat_counts_disturbed(const struct tlat_counts *counts)
{
	return sum(counts->disturbed, TLAT_DISTURBED_COUNT);
}

int64_t tlat_counts_balance(const struct tlat_counts *counts)
{
	return (int64_t)(counts->asked - counts->recorded - counts->early - counts->overflow -
			 counts->missed - tlat_counts_rejected(counts) - counts->unfinished);
}

const struct tlat_counter tlat_counters[TLAT_COUNTERS] = {
	{ "asked", offsetof(struct tlat_counts, asked) },
	{ "recorded", offsetof(struct tlat_counts, recorded) },
	{ "early", offsetof(struct tlat_counts, early) },
	{ "overflow", offsetof(struct tlat_counts, overflow) },
	{ "missed", offsetof(struct tlat_counts, missed) },
	{ "unfinished", offsetof(struct tlat_counts, unfinished) },
};

uint64_t tlat_counter(const struct tlat_counts *counts, size_t i)
{
	uint64_t count;

	memcpy(&count, (const char *)counts + tlat_counters[i].offset, sizeof(count));
	return count;
}

static int count_is(const char *name, uint64_t count, const char **ret_name, uint64_t *ret_count)
{
	*ret_name = name;
	*ret_count = count;
	return 0;
}

int tlat_result_count(const struct tlat_result *result, size_t index, const char **ret_name,
		      uint64_t *ret_count)
{
	const struct tlat_counts *counts = &result->counts;

	if (index < TLAT_COUNTERS)
		return count_is(tlat_counters[index].name, tlat_counter(counts, index), ret_name,
				ret_count);
	index -= TLAT_COUNTERS;
	if (!index--)
		return count_is("warmup", result->warmup, ret_name, ret_count);
	if (!index--)
		return count_is("rests", result->rests, ret_name, ret_count);
	if (index < TLAT_REJECTED_COUNT)
		return count_is(tlat_rejected_names[index], counts->rejected[index], ret_name,
				ret_count);
	index -= TLAT_REJECTED_COUNT;
	if (index >= TLAT_DISTURBED_COUNT)
		return -ENOENT;
	return count_is(tlat_disturbed_names[index], counts->disturbed[index], ret_name, ret_count);
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

/* The kernel adds a stay when it ends: one that began before the run can exceed it. */
double tlat_idle_time_share(const struct tlat_watch_delta *watch,
			    const struct tlat_watch_idle *idle)
{
	if (watch->duration_ns <= 0)
		return NAN;
	return fmin((double)idle->time_ns / (double)watch->duration_ns, 1);
}

int tlat_result_idle(const struct tlat_result *result, size_t index, struct tlat_idle_share *share)
{
	const struct tlat_watch_delta *watch = result->watch;
	const struct tlat_watch_idle *idle = NULL;
	struct tlat_idle_share copy = { 0 };

	if (watch)
		idle = idle_at(watch, result->wait.cpu, &index);
	if (watch && !idle && result->has_kick && result->kick.cpu != result->wait.cpu)
		idle = idle_at(watch, result->kick.cpu, &index);
	if (!idle)
		return -ENOENT;
	copy.state = idle->state;
	copy.usage = idle->usage;
	copy.time_ns = (int64_t)idle->time_ns;
	copy.share = (double)idle->usage / (double)idle_entries(watch, idle->cpu);
	copy.cpu = idle->cpu;
	copy.time_share = tlat_idle_time_share(watch, idle);
	return tlat_facts_copy(share, &copy, sizeof(copy));
}
