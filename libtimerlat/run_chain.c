// SPDX-License-Identifier: MIT
/*
 * run_chain.c - a known slowdown for trying comparisons: so many additions, each waiting for the
 * one before, between the first stamp and the kick of every cycle. Unlike a delay that is spun on
 * a clock it takes neither more nor less than it takes, and nothing is rounded up.
 */
#include <math.h>

#include "run_thread.h"

#define COSTED_ADDS  1000000
#define COSTED_TIMES 7

static void add_in_turn(uint64_t adds)
{
	uint64_t sum = adds;

	for (uint64_t i = adds; i; i--) {
		sum += i;
		/* So that no compiler knows a shorter way to the sum. */
		__asm__ volatile("" : "+r"(sum));
	}
}

static int chain_kick(struct tlat_probe_ctx *ctx)
{
	struct tlat_chain *chain = (struct tlat_chain *)(uintptr_t)ctx->ops;

	add_in_turn(chain->adds);
	return chain->real->kick(ctx);
}

/* The least of a few: what comes in between only ever adds. */
static double cost_ns(void)
{
	double least_ns = (double)INFINITY;

	for (int i = 0; i < COSTED_TIMES; i++) {
		uint64_t begin_ns = tlat_gettime_ns(CLOCK_MONOTONIC_RAW);

		add_in_turn(COSTED_ADDS);
		least_ns =
			fmin(least_ns, (double)(tlat_gettime_ns(CLOCK_MONOTONIC_RAW) - begin_ns));
	}
	return least_ns / COSTED_ADDS;
}

void tlat_chain_init(struct tlat_chain *chain, const struct tlat_probe_ops *real, uint64_t adds)
{
	chain->ops = *real;
	chain->ops.kick = chain_kick;
	chain->real = real;
	chain->adds = adds;
	chain->add_ns = cost_ns();
}
