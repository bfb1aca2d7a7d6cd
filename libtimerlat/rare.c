// SPDX-License-Identifier: MIT
/*
 * rare.c - what may be said of events that were not seen: nothing beyond the rule of three.
 *
 * If an event had probability p, n independent samples would all miss it with probability
 * (1 - p)^n: that is 5 % at p = 3.00 / n. The same holds for a rate and a length of time.
 */
#include <math.h>

#include "report.h"

#define NONE_SEEN 2.995732273553991 /* -ln 0.05 */
#define HOUR_NS	  3.6e12

TLAT_ASSERT_LAYOUT(struct tlat_rare, 7 * 8);

double tlat_tail_tau(const struct tlat_hist *hist, const struct tlat_blocks *blocks, double beyond)
{
	double tau = 1;

	for (size_t i = 0; i < TLAT_QUANTILES; i++) {
		double p = tlat_quantiles[i].p, value = tlat_hist_quantile(hist, p), there;

		if (value > beyond)
			break;
		there = tlat_stats_tau(blocks, value, p);
		if (tlat_hist_count(hist) >= tlat_stats_needed_at(p, there))
			tau = there;
	}
	return tau;
}

int tlat_result_rare(const struct tlat_result *result, double share, struct tlat_rare *rare)
{
	const struct tlat_hist *hist = result->latency;
	struct tlat_rare copy;
	double n, tau;

	if (!(share > 0 && share < 1))
		return -EINVAL;
	if (!hist || !tlat_hist_count(hist) || result->duration_ns <= 0)
		return -ENODATA;
	n = (double)tlat_hist_count(hist);
	tau = tlat_tail_tau(hist, result->blocks, INFINITY);
	copy = (struct tlat_rare){
		.largest_ns = tlat_hist_ns(hist, (double)tlat_hist_max(hist)),
		.independent = n / tau,
		.hourly_bound = NONE_SEEN * HOUR_NS / (double)result->duration_ns,
		.needed = ceil(NONE_SEEN / share * tau),
	};
	copy.share_bound = fmin(1, NONE_SEEN / copy.independent);
	copy.needed_ns = copy.needed * ((double)result->duration_ns / n);
	return tlat_facts_copy(rare, &copy, sizeof(copy));
}
