// SPDX-License-Identifier: MIT
/* hist_walk.c - the bins of a histogram from outside, those that hold something. */
#include "hist.h"

/* The last early bin also holds all that was earlier still. */
static int64_t slot_first(const struct tlat_hist *hist, int32_t slot)
{
	if (slot == TLAT_HIST_SLOT_FIRST)
		return tlat_hist_min(hist);
	return tlat_hist_slot_last(slot - 1) + 1;
}

int tlat_hist_next(const struct tlat_hist *hist, size_t *cursor, struct tlat_bin *ret_bin)
{
	int32_t slot = TLAT_HIST_SLOT_FIRST + (int32_t)*cursor;
	uint64_t count = 0;

	while (slot < TLAT_HIST_SLOT_OVERFLOW && !(count = tlat_hist_slot_count(hist, slot)))
		slot++;
	*cursor = (size_t)(slot - TLAT_HIST_SLOT_FIRST);
	if (!count)
		return 0;
	*ret_bin = (struct tlat_bin){ .low = slot_first(hist, slot),
				      .high = tlat_hist_slot_last(slot),
				      .count = count };
	++*cursor;
	return 1;
}
