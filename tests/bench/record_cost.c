// SPDX-License-Identifier: MIT
/*
 * record_cost.c - what recording one sample costs, beside the least that counting can cost: an
 * increment of an array, inlined, the index already known. Both run over the same values,
 * alternating; the median of the rounds is printed. A bench prints, it does not judge.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "timerlat.h"

#define N_VALUES  8192
#define PASSES	  64
#define ROUNDS	  31
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

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, struct tlat_hist *hist)
{
	double cost_ns[ROUNDS], base_ns[ROUNDS], ratio[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		base_ns[i] = bare_ns();
		cost_ns[i] = record_ns(hist);
		ratio[i] = cost_ns[i] / base_ns[i];
	}
	qsort(cost_ns, ROUNDS, sizeof(double), by_size);
	qsort(base_ns, ROUNDS, sizeof(double), by_size);
	qsort(ratio, ROUNDS, sizeof(double), by_size);
	printf("%-24s record %5.2f ns (best %5.2f)   bare increment %5.2f ns   ratio %5.2f\n", name,
	       cost_ns[ROUNDS / 2], cost_ns[0], base_ns[ROUNDS / 2], ratio[ROUNDS / 2]);
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

int main(void)
{
	struct tlat_hist *hist;

	if (tlat_hist_new(&hist, 2600000000) < 0)
		return 1;
	fill(4420, 0, 0);
	measure("one value", hist);
	fill(4420, 300, 0.01);
	measure("a wake (1 % tail)", hist);
	fill(130000, 60000, 0.01);
	measure("a timer (1 % tail)", hist);
	fill(-200, 300, 0);
	measure("mostly early", hist);
	tlat_hist_free(hist);
	return 0;
}
