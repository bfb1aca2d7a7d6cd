/* SPDX-License-Identifier: MIT */
/* run_tally.h - whether a timer that counts its expirations has counted all of them. */
#ifndef TLAT_RUN_TALLY_H
#define TLAT_RUN_TALLY_H

#include "run_grid.h"

/* After an event that was stamped at, by which the kernel is at slot next. [hot] */
void tlat_tally_check(const struct tlat_solo *solo, struct tlat_grid *grid, struct tlat_book *book,
		      uint64_t next, uint64_t at);

/* When the loop is over: what was delivered, what is pending, and the next expiry must agree. */
void tlat_tally_close(const struct tlat_solo *solo, const struct tlat_grid *grid,
		      const struct tlat_probe_side *side, struct tlat_book *book);

#endif /* TLAT_RUN_TALLY_H */
