// SPDX-License-Identifier: MIT
/* result.c - what a result owns, its accounting identity, and the names of its counters. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

const char *const tlat_rejected_names[TLAT_REJECTED_COUNT] = {
	[TLAT_REJECTED_NOT_ASLEEP] = "not_asleep",
	[TLAT_REJECTED_TIMEOUT] = "timeout",
	[TLAT_REJECTED_COALESCED] = "coalesced",
};

const char *const tlat_disturbed_names[TLAT_DISTURBED_COUNT] = {
	[TLAT_DISTURBED_NOT_ASLEEP] = "not_asleep", [TLAT_DISTURBED_PREEMPTED] = "preempted",
	[TLAT_DISTURBED_MIGRATED] = "migrated",	    [TLAT_DISTURBED_LATE_SLOT] = "late_slot",
	[TLAT_DISTURBED_STEAL] = "steal",	    [TLAT_DISTURBED_THROTTLED] = "throttled",
};

const char *const tlat_end_names[5] = {
	[TLAT_END_COUNT] = "count", [TLAT_END_TIME] = "time",	[TLAT_END_SIGNAL] = "signal",
	[TLAT_END_BREAK] = "break", [TLAT_END_ERROR] = "error",
};

const char *tlat_relation_from_name(const char *text)
{
	static const char *const names[] = { "same-cpu", "smt", "llc", "node", "remote" };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], text))
			return names[i];
	return NULL;
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
	tlat_hist_free(result->floor);
	tlat_hist_free(result->floor_pair);
	tlat_blocks_free(result->blocks);
	tlat_watch_delta_free(result->watch);
	tlat_findings_free(&result->findings);
	tlat_document_free(result->document);
	free(result->outliers);
	free(result->raw);
	free(result->repeat);
	free(result->clock);
	free(result);
}

uint64_t tlat_counts_rejected(const struct tlat_counts *counts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < TLAT_REJECTED_COUNT; i++)
		sum += counts->rejected[i];
	return sum;
}

int64_t tlat_counts_balance(const struct tlat_counts *counts)
{
	return (int64_t)(counts->asked - counts->recorded - counts->early - counts->overflow -
			 counts->missed - tlat_counts_rejected(counts) - counts->unfinished);
}
