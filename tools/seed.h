/* SPDX-License-Identifier: MIT */
/* seed.h - a seed for who gives none. */
#ifndef TLAT_SEED_H
#define TLAT_SEED_H

#include <stdint.h>

/* Above 0; short enough to be typed, long enough that two runs differ. */
int64_t tlat_seed_choose(void);

#endif /* TLAT_SEED_H */
