// SPDX-License-Identifier: MIT
/*
 * noise_judge.c - what a gap was, from what was counted meanwhile. The switches of the thread are
 * known for each gap, and by the thread; interrupts and stolen time only for a window of several,
 * so that they are given to as many gaps as they can explain. Pure.
 */
#include "noise.h"

/* Longer than the kernel lets softirqs run at a time (2 ms) and than any handler should: what takes
 * longer without a switch is no interrupt, even if one was counted when it was over. */
#define INTERRUPT_MAX_NS 4000000
/* An interrupt may be counted in the window before that of its gap, few at a time. */
#define SPARE_MAX	 2

const char *const tlat_noise_cause_names[TLAT_NOISE_CAUSES] = {
	[TLAT_NOISE_INTERRUPTS] = "interrupts", [TLAT_NOISE_SWITCHES] = "switches",
	[TLAT_NOISE_THROTTLING] = "throttling", [TLAT_NOISE_STEAL] = "steal",
	[TLAT_NOISE_UNKNOWN] = "unknown",	[TLAT_NOISE_UNJUDGED] = "unjudged",
};

void tlat_noise_total_add(struct tlat_noise_total *total, int64_t length_ns)
{
	total->count++;
	total->ns += length_ns;
	total->max_ns = length_ns > total->max_ns ? length_ns : total->max_ns;
}

void tlat_noise_total_merge(struct tlat_noise_total *into, const struct tlat_noise_total *from)
{
	into->count += from->count;
	into->ns += from->ns;
	into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
}

/*
 * Throttling comes when the thread has used up its time, and lasts for the rest of the period. Both
 * are known to a tick or two only, and the first period may have begun before the thread did; the
 * fair server of newer kernels, which takes the same share, ends early when nobody needs it.
 */
static bool is_throttling(const struct tlat_noise_throttle *throttle, int64_t at_ns,
			  int64_t length_ns)
{
	return throttle->real_time && tlat_rt_budget_explains(&throttle->budget, length_ns) &&
	       at_ns - throttle->runs_since_ns >= throttle->budget.runtime_ns / 2;
}

enum tlat_noise_cause tlat_noise_judge_switched(struct tlat_noise_throttle *throttle, int64_t at_ns,
						int64_t length_ns)
{
	if (!is_throttling(throttle, at_ns, length_ns))
		return TLAT_NOISE_SWITCHES;
	throttle->runs_since_ns = at_ns + length_ns;
	if (!throttle->budget.fair_server)
		return TLAT_NOISE_THROTTLING;
	tlat_noise_total_add(&throttle->served, length_ns);
	return TLAT_NOISE_SWITCHES;
}

/* The longest one whose cause is not known yet. */
static struct tlat_noise_gap *longest_unknown(struct tlat_noise_gap *gaps, size_t n)
{
	struct tlat_noise_gap *longest = NULL;

	for (size_t i = 0; i < n; i++)
		if (gaps[i].cause == TLAT_NOISE_UNKNOWN &&
		    (!longest || gaps[i].length_ns > longest->length_ns))
			longest = &gaps[i];
	return longest;
}

static void give_steal(struct tlat_noise_gap *gaps, size_t n, int64_t steal_ns)
{
	while (steal_ns > 0) {
		struct tlat_noise_gap *gap = longest_unknown(gaps, n);

		if (!gap)
			return;
		gap->cause = TLAT_NOISE_STEAL;
		steal_ns -= gap->length_ns;
	}
}

/* Returns the interrupts that are left. */
static uint64_t give_interrupts(struct tlat_noise_gap *gaps, size_t n, uint64_t interrupts)
{
	for (size_t i = 0; i < n && interrupts; i++) {
		if (gaps[i].cause != TLAT_NOISE_UNKNOWN || gaps[i].length_ns > INTERRUPT_MAX_NS)
			continue;
		gaps[i].cause = TLAT_NOISE_INTERRUPTS;
		interrupts--;
	}
	return interrupts;
}

void tlat_noise_judge(uint64_t *spare, struct tlat_noise_gap *gaps, size_t n,
		      const struct tlat_noise_counted *counted)
{
	uint64_t left;

	for (size_t i = 0; i < n; i++)
		gaps[i].cause = TLAT_NOISE_UNKNOWN;
	give_steal(gaps, n, counted->steal_ns);
	left = give_interrupts(gaps, n, counted->interrupts + *spare);
	*spare = left < SPARE_MAX ? left : SPARE_MAX;
	for (size_t i = 0; i < n && counted->partial; i++)
		if (gaps[i].cause == TLAT_NOISE_UNKNOWN)
			gaps[i].cause = TLAT_NOISE_UNJUDGED;
}

struct tlat_noise_counted tlat_noise_part(const struct tlat_noise_counted *counted,
					  const struct tlat_noise_total *judged,
					  const struct tlat_noise_total *others)
{
	struct tlat_noise_counted part = *counted;

	if (!others->count)
		return part;
	part.interrupts = (uint64_t)((double)counted->interrupts * (double)judged->count /
				     (double)(judged->count + others->count));
	part.steal_ns = (int64_t)((double)counted->steal_ns * (double)judged->ns /
				  (double)(judged->ns + others->ns));
	return part;
}
