// SPDX-License-Identifier: MIT
/*
 * record_cost.c - what recording one sample costs, beside the least that counting can cost: an
 * increment of an array, inlined, the index already known; and beside HdrHistogram_c where the
 * build found it (pkg-config hdr_histogram). All run over the same values, alternating; the median
 * of the rounds is printed. A bench prints, it does not judge.
 *
 *	record_cost [ROUNDS]		(default 31)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef TLAT_BENCH_HDR
#include <hdr/hdr_histogram.h>
#endif

#include "compare_stats.h"
#include "figure.h"
#include "timerlat.h"

#define N_VALUES  8192
#define PASSES	  64
#define BARE_BINS 32768

static int64_t values[N_VALUES];
static uint64_t bare[BARE_BINS];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double bare_ns(void)
{
	double begin_ns = now_ns();

	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < N_VALUES; i++)
			bare[values[i] & (BARE_BINS - 1)]++;
	__asm__ volatile("" : : "r"(bare) : "memory");
	return (now_ns() - begin_ns) / (PASSES * N_VALUES);
}

static double record_ns(struct tlat_hist *hist)
{
	double begin_ns = now_ns();

	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < N_VALUES; i++)
			tlat_hist_record(hist, values[i]);
	return (now_ns() - begin_ns) / (PASSES * N_VALUES);
}

#ifdef TLAT_BENCH_HDR
#define HDR_NAME "hdr_record_value"

static double hdr_ns(void)
{
	static struct hdr_histogram *hdr;
	double begin_ns;

	if (!hdr && hdr_init(1, INT64_C(1) << 37, 3, &hdr))
		exit(2);
	begin_ns = now_ns();
	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < N_VALUES; i++)
			hdr_record_value(hdr, values[i]);
	return (now_ns() - begin_ns) / (PASSES * N_VALUES);
}
#else
#define HDR_NAME NULL

static double hdr_ns(void)
{
	return 0;
}
#endif

/* HdrHistogram_c refuses values below zero, so that there it is no peer. */
static void measure(const char *name, struct tlat_hist *hist, size_t rounds, bool positive)
{
	double cost_ns[FIGURE_ROUNDS_MAX], base_ns[FIGURE_ROUNDS_MAX], peer_ns[FIGURE_ROUNDS_MAX];
	const char *peer = positive ? HDR_NAME : NULL;
	double best_ns = INFINITY;

	for (size_t i = 0; i < rounds; i++) {
		base_ns[i] = bare_ns();
		cost_ns[i] = record_ns(hist);
		peer_ns[i] = peer ? hdr_ns() : base_ns[i];
		best_ns = fmin(best_ns, cost_ns[i]);
	}
	figure_write(&(struct figure){ "record_cost", name, "ns", cost_ns, rounds,
				       peer ? peer : "bare increment", peer_ns, rounds, NULL });
	printf("%-32s %5.2f ns (best %5.2f)   bare increment %5.2f ns", name,
	       tlat_median(cost_ns, rounds), best_ns, tlat_median(base_ns, rounds));
	if (peer)
		printf("   %s %5.2f ns", peer, tlat_median(peer_ns, rounds));
	puts("");
}

static double uniform(void)
{
	return drand48();
}

static void fill(double centre, double spread, double tail)
{
	for (int i = 0; i < N_VALUES; i++) {
		double value = centre + spread * (uniform() + uniform() + uniform() - 1.5);

		if (uniform() < tail)
			value *= 1 / (uniform() + 1e-3);
		values[i] = (int64_t)value;
	}
}

int main(int argc, char **argv)
{
	size_t rounds = figure_rounds(argc, argv, 31);
	struct tlat_hist *hist;

	if (tlat_hist_new(&hist, 2600000000) < 0)
		return 2;
	fill(4420, 0, 0);
	measure("record one value", hist, rounds, true);
	fill(4420, 300, 0.01);
	measure("record a wake (1 % tail)", hist, rounds, true);
	fill(130000, 60000, 0.01);
	measure("record a timer (1 % tail)", hist, rounds, true);
	fill(-200, 300, 0);
	measure("record mostly early values", hist, rounds, false);
	tlat_hist_free(hist);
	return 0;
}
