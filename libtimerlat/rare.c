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

/* Of the outermost quantile that the samples carry: how far the tail is of one kind. */
static double tail_tau(const struct tlat_figures *f)
{
	double tau = 1;

	for (size_t i = 0; i < TLAT_QUANTILES; i++)
		if (f->q[i].supported)
			tau = fmax(1, f->q[i].tau);
	return tau;
}

int tlat_result_rare(const struct tlat_result *result, double share, struct tlat_rare *rare)
{
	struct tlat_figures f;
	struct tlat_rare copy;
	double pace_ns;

	if (!(share > 0 && share < 1))
		return -EINVAL;
	tlat_figures(result->latency, result->blocks, &f);
	if (!f.n || result->duration_ns <= 0)
		return -ENODATA;
	pace_ns = (double)result->duration_ns / (double)f.n;
	copy = (struct tlat_rare){
		.largest_ns = f.max_ns,
		.independent = (double)f.n / tail_tau(&f),
		.hourly_bound = NONE_SEEN * HOUR_NS / (double)result->duration_ns,
		.needed = ceil(NONE_SEEN / share * tail_tau(&f)),
	};
	copy.share_bound = fmin(1, NONE_SEEN / copy.independent);
	copy.needed_ns = copy.needed * pace_ns;
	return tlat_facts_copy(rare, &copy, sizeof(copy));
}
