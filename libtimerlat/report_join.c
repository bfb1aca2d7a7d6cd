// SPDX-License-Identifier: MIT
/*
 * report_join.c - the threads of a run made one result. What they measured at the same time goes
 * into the same time block, so that what held all of them up at once does not count as having
 * happened independently.
 */
#include <stdlib.h>
#include <string.h>

#include "report_json.h"

static bool has_latency(const struct tlat_result *result)
{
	return !result->kind && result->latency;
}

/* Whether next is another thread of the run that the thread before, the last one of whole, was. */
static bool goes_on(const struct tlat_result *whole, int32_t before, const struct tlat_result *next)
{
	return has_latency(whole) && has_latency(next) && next->thread > before &&
	       !strcmp(whole->probe, next->probe);
}

/* An interval that is not that of all would put hidden expiries back in wrong places. */
static void keep_common(struct tlat_result *into, const struct tlat_result *from)
{
	if (into->interval_ns != from->interval_ns)
		into->interval_ns = 0;
	if (from->duration_ns > into->duration_ns)
		into->duration_ns = from->duration_ns;
	free(into->repeat);
	into->repeat = NULL;
}

static int add_raw(struct tlat_result *into, const struct tlat_result *from)
{
	int64_t *grown;

	if (!from->n_raw)
		return 0;
	grown = realloc(into->raw, (into->n_raw + from->n_raw) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memcpy(grown + into->n_raw, from->raw, from->n_raw * sizeof(*grown));
	into->raw = grown;
	into->n_raw += from->n_raw;
	return 0;
}

static int add_blocks(struct tlat_result *into, const struct tlat_result *from)
{
	if (!from->blocks)
		return 0;
	if (into->blocks)
		return tlat_blocks_join(into->blocks, from->blocks);
	into->blocks = tlat_blocks_copy(from->blocks);
	return into->blocks ? 0 : -ENOMEM;
}

/* Whether result is the first on its CPU. */
static bool take_cpu(struct tlat_cpuset *cpus, const struct tlat_result *result)
{
	int32_t cpu = result->wait.cpu;

	if (cpu < 0 || cpu >= TLAT_CPUS_MAX)
		return true;
	if (tlat_cpuset_has(cpus, cpu))
		return false;
	tlat_cpuset_add(cpus, cpu);
	return true;
}

/* Every thread says how often the group of all of them was throttled, and what was stolen from its
 * CPU, on which there may be others: leave in next what whole has not got yet. */
static void count_once(const struct tlat_result *whole, struct tlat_result *next,
		       struct tlat_cpuset *cpus)
{
	uint64_t known = whole->counts.disturbed[TLAT_DISTURBED_THROTTLED];
	uint64_t *throttled = &next->counts.disturbed[TLAT_DISTURBED_THROTTLED];

	if (!take_cpu(cpus, next))
		next->counts.disturbed[TLAT_DISTURBED_STEAL] = 0;
	*throttled -= *throttled < known ? *throttled : known;
}

static int add_thread(struct tlat_result *into, const struct tlat_result *from,
		      struct tlat_error *reterr)
{
	int ret = tlat_result_add(into, from, NULL);

	if (!ret)
		ret = add_raw(into, from);
	if (!ret)
		ret = add_blocks(into, from);
	if (ret == -EINVAL)
		return tlat_fail(reterr, ret,
				 "%s: threads %d and %d count in units that are more than 100 ppm "
				 "apart, so that they cannot be one result; use each alone",
				 into->probe, (int)into->thread, (int)from->thread);
	if (ret < 0)
		return tlat_fail(reterr, ret, "%s: out of memory", into->probe);
	tlat_result_forget(into);
	keep_common(into, from);
	tlat_find_few_blocks(into);
	return 0;
}

/* The report is whole after each step, so that it can be freed whatever happens. */
static int join_results(struct tlat_report *report, struct tlat_error *reterr)
{
	size_t n = report->n_results;
	struct tlat_cpuset cpus = { 0 }; /* of the threads in the last whole */
	int32_t before = 0;
	int ret = 0;

	report->n_results = 0;
	for (size_t i = 0; i < n; i++) {
		struct tlat_result *next = report->results[i], *whole = NULL;

		if (report->n_results)
			whole = report->results[report->n_results - 1];
		if (!ret && whole && goes_on(whole, before, next)) {
			before = next->thread;
			count_once(whole, next, &cpus);
			ret = add_thread(whole, next, reterr);
			tlat_result_free(next);
		} else {
			before = next->thread;
			cpus = (struct tlat_cpuset){ 0 };
			take_cpu(&cpus, next);
			report->results[report->n_results++] = next;
		}
	}
	return ret;
}

int tlat_report_join(struct tlat_report **ret_report, const struct tlat_report *report,
		     struct tlat_error *reterr)
{
	struct tlat_report *joined;
	int ret = tlat_report_copy(&joined, report);

	if (ret < 0)
		return tlat_fail(reterr, ret, "out of memory");
	ret = join_results(joined, reterr);
	if (ret < 0) {
		tlat_report_free(joined);
		return ret;
	}
	if (joined->n_results < report->n_results)
		json_object_del(joined->document, "verdict"); /* it was on the threads */
	*ret_report = joined;
	return 0;
}
