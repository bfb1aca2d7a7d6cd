/* SPDX-License-Identifier: MIT */
/* simulate.h - for tests: random numbers from a seed, and units as a comparison gets them. */
#ifndef TLAT_TESTS_SIMULATE_H
#define TLAT_TESTS_SIMULATE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static inline uint64_t sim_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline double sim_uniform(uint64_t *state)
{
	return ((double)(sim_next(state) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double sim_normal(uint64_t *state)
{
	double r = sqrt(-2 * log(sim_uniform(state)));

	return r * cos(2 * M_PI * sim_uniform(state));
}

/* Of mean lambda; by the normal beyond what the product method takes long for. */
static inline double sim_poisson(uint64_t *state, double lambda)
{
	double product = sim_uniform(state), limit = exp(-lambda), k = 0;

	if (lambda > 400)
		return fmax(0, floor(lambda + sqrt(lambda) * sim_normal(state) + 0.5));
	for (; product > limit; k++)
		product *= sim_uniform(state);
	return k;
}

#define SIM_PAIRS   20
#define SIM_FIGURES 8

/* Pairs of units with room for SIM_FIGURES figures, a family that is tested together. */
struct sim {
	struct tlat_units units;
	struct tlat_quantity quantities[SIM_FIGURES];
	double first[2][SIM_PAIRS], value[2][SIM_PAIRS * SIM_FIGURES];
	struct tlat_found found[SIM_FIGURES];
	struct tlat_outcome outcome;
	struct tlat_rules rules;
};

static inline void sim_init(struct sim *s, size_t k)
{
	memset(s, 0, sizeof(*s));
	s->units = (struct tlat_units){ .paired = true,
					.better = -1,
					.n = { SIM_PAIRS, SIM_PAIRS },
					.k = k,
					.quantities = s->quantities };
	for (int side = 0; side < 2; side++) {
		s->units.first[side] = s->first[side];
		s->units.value[side] = s->value[side];
	}
	for (size_t j = 0; j < k; j++)
		s->quantities[j] = (struct tlat_quantity){ .role = TLAT_COMPARE_TAIL,
							   .threshold = log(j < 4 ? 1.005 : 1.25) };
	s->rules = (struct tlat_rules){ 0.01, log(1.005), log(1.25), 0.9 };
}

static inline int32_t sim_decide(struct sim *s)
{
	if (tlat_compare_measure(&s->units, &s->rules, &s->outcome, s->found) < 0)
		abort();
	tlat_compare_judge(&s->units, &s->rules, &s->outcome, s->found);
	return s->outcome.verdict;
}

#endif /* TLAT_TESTS_SIMULATE_H */
