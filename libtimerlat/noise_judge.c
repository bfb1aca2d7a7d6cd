// SPDX-License-Identifier: MIT
/*
 * noise_judge.c - what a gap was, from what was counted meanwhile. The switches of the thread are
 * known for each gap; interrupts and stolen time only for a window of several, so that they are
 * given to as many gaps as they can explain. Pure.
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
	[TLAT_NOISE_UNKNOWN] = "unknown",
};

/*
 * Throttling comes when the thread has used up its time, and lasts for the rest of the period. Both
 * are known to a tick or two only, and the first period may have begun before the thread did; the
 * fair server of newer kernels, which takes the same share, ends early when nobody needs it.
 */
static bool is_throttling(const struct tlat_noise_judge *judge, const struct tlat_noise_gap *gap)
{
	const struct tlat_rt_budget *budget = &judge->budget;

	return judge->real_time && tlat_rt_budget_explains(budget, gap->length_ns) &&
	       gap->at_ns - judge->runs_since_ns >= budget->runtime_ns / 2;
}

static void judge_switched(struct tlat_noise_judge *judge, struct tlat_noise_gap *gap)
{
	gap->cause = TLAT_NOISE_SWITCHES;
	if (!is_throttling(judge, gap))
		return;
	gap->cause = TLAT_NOISE_THROTTLING;
	judge->runs_since_ns = gap->at_ns + gap->length_ns;
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

void tlat_noise_judge(struct tlat_noise_judge *judge, struct tlat_noise_gap *gaps, size_t n,
		      const struct tlat_noise_counted *counted)
{
	uint64_t left;

	for (size_t i = 0; i < n; i++) {
		gaps[i].cause = TLAT_NOISE_UNKNOWN;
		if (gaps[i].switches)
			judge_switched(judge, &gaps[i]);
	}
	give_steal(gaps, n, counted->steal_ns);
	left = give_interrupts(gaps, n, counted->interrupts + judge->spare);
	judge->spare = left < SPARE_MAX ? left : SPARE_MAX;
}
