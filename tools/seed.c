// SPDX-License-Identifier: MIT
/* seed.c - from the kernel, or 1 while it has no randomness yet. */
#include <sys/random.h>

#include "seed.h"

int64_t tlat_seed_choose(void)
{
	uint32_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed) || !seed)
		return 1;
	return seed;
}
