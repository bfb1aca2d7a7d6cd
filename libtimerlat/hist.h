/* SPDX-License-Identifier: MIT */
/*
 * hist.h - the inside of the histogram: bin arithmetic, slots, time blocks.
 */
#ifndef TLAT_HIST_H
#define TLAT_HIST_H

#include "internal.h"

#define TLAT_HIST_BINS	     (28 * 1024) /* 0 .. 2^37 - 1 */
#define TLAT_HIST_EARLY_BINS (9 * 1024)	 /* -1 .. -(2^18 - 1); earlier ones in the last bin */

/* What has a bin of its own: -EARLY_MAX to VALUE_MAX. */
#define TLAT_HIST_VALUE_BITS 37
#define TLAT_HIST_EARLY_BITS 18
#define TLAT_HIST_VALUE_MAX  ((INT64_C(1) << TLAT_HIST_VALUE_BITS) - 1)
#define TLAT_HIST_EARLY_MAX  ((INT64_C(1) << TLAT_HIST_EARLY_BITS) - 1)

#define TLAT_HIST_EXACT_VALUES 2048 /* counted in bins of width 1 */
#define TLAT_HIST_OCTAVE_SHIFT 10   /* 1024 bins an octave above that */

/* Index of the bin of a value 0 <= v < 2^37, and a bin's edges: lowest value and width. */
static inline uint32_t tlat_hist_index(uint64_t value)
{
	uint32_t shift = 53 - (uint32_t)__builtin_clzll(value | (TLAT_HIST_EXACT_VALUES - 1));

	return (shift << TLAT_HIST_OCTAVE_SHIFT) + (uint32_t)(value >> shift);
}

uint64_t tlat_hist_bin_low(uint32_t index);
uint64_t tlat_hist_bin_width(uint32_t index);

/*
 * Slots: every bin in the order of its values. Early bin i is slot ~i, bin i is slot i, overflow
 * is slot TLAT_HIST_BINS; blocks use the same numbers.
 */
#define TLAT_HIST_SLOT_FIRST	(-TLAT_HIST_EARLY_BINS)
#define TLAT_HIST_SLOT_OVERFLOW TLAT_HIST_BINS

#define TLAT_HIST_SLOTS (TLAT_HIST_EARLY_BINS + TLAT_HIST_BINS + 1)

struct tlat_hist {
	uint64_t hz;
	uint64_t count;	  /* the sum of all slots */
	int64_t min, max; /* min > max: empty */
	/* the values from min to max that have a bin of their own, from 0 on and below: the first
	 * of them, how many; the writer's */
	uint64_t usual, n_usual, usual_early, n_usual_early;
	uint64_t mapped; /* it has pages of its own */
	uint64_t slots[TLAT_HIST_SLOTS] __attribute__((aligned(TLAT_CACHE_LINE)));
};

/*
 * Record a value between the extremes so far, which nearly all are: tlat_hist_record() without the
 * call, for loops whose caches are cold. False: it is none, and nothing was recorded. [hot]
 */
static inline bool tlat_hist_record_usual(struct tlat_hist *hist, int64_t value)
{
	/* one comparison for all: has a bin, no new minimum, no new maximum */
	if (TLAT_RARELY((uint64_t)value - hist->usual >= hist->n_usual))
		return false;
	tlat_count(&hist->slots[tlat_hist_index((uint64_t)value) + TLAT_HIST_EARLY_BINS], 1);
	tlat_count(&hist->count, 1);
	return true;
}

static inline uint64_t tlat_hist_slot_count(const struct tlat_hist *hist, int32_t slot)
{
	return tlat_noted(&hist->slots[slot - TLAT_HIST_SLOT_FIRST]);
}

int32_t tlat_hist_slot(int64_t value);
/* The largest value that goes into the slot; INT64_MAX for overflow. */
int64_t tlat_hist_slot_last(int32_t slot);
double tlat_hist_slot_width(int32_t slot);

/* The extremes and the slots they lie in; min 0, max 0 and no slots when empty. */
struct tlat_hist_span {
	int64_t min, max;
	int32_t first, last; /* slots */
};

struct tlat_hist_span tlat_hist_span(const struct tlat_hist *hist);
/* The sum over slots, the last one included. */
uint64_t tlat_hist_count_slots(const struct tlat_hist *hist, int32_t first, int32_t last);
/* Share (0..1) of a slot at or below the value: its mass lies evenly over its width. */
double tlat_hist_slot_below(int32_t slot, double value);

/* An empty histogram that is to be filled from a report: its pages come as they are used, so that
 * one of few bins costs little. Not for recording. 0 or -ENOMEM; freed like any other. */
int tlat_hist_new_untouched(struct tlat_hist **ret_hist, uint64_t hz);

/* Rebuild from a report. Extremes come from the caller; until they are set, the histogram reads as
 * empty. */
void tlat_hist_add_slot(struct tlat_hist *hist, int32_t slot, uint64_t count);
void tlat_hist_set_extremes(struct tlat_hist *hist, int64_t min, int64_t max);

/* From the bins, in units; mean and population standard deviation. 0 when empty. */
double tlat_hist_mean(const struct tlat_hist *hist);
double tlat_hist_sd(const struct tlat_hist *hist);
/* How many values are above the given one, in whole bins: the bin that holds it counts as above,
 * unless the given one is its last or the maximum. Never too few. */
uint64_t tlat_hist_count_above(const struct tlat_hist *hist, int64_t value);

/*
 * Time blocks: what a histogram gained between cuts, kept sparse. The reader cuts while the
 * writer goes on; the blocks always add up to what had been recorded at the last cut. A cut goes
 * into the last block until that holds as many cuts as a block takes (one, at first), else it
 * opens the next. When that would be the 65th, neighbours merge and a block takes twice as many;
 * the last one may be short. Very wide distributions merge earlier, to stay below 1 MiB. Once
 * blocks exist, the histogram must not be reset.
 */
#define TLAT_BLOCKS_MAX	  64
#define TLAT_BLOCK_NS_MAX (INT64_C(1) << 54) /* 208 days, so that 64 of them fit in an int64_t */

struct tlat_blocks;

int tlat_blocks_new(struct tlat_blocks **ret_blocks, int64_t length_ns);
/* A copy of its own; NULL for NULL or when out of memory. */
struct tlat_blocks *tlat_blocks_copy(const struct tlat_blocks *blocks);
void tlat_blocks_free(struct tlat_blocks *blocks);
/* Add what hist gained since the last cut. 0, or -ENOMEM: nothing changed, the next cut has it. */
int tlat_blocks_cut(struct tlat_blocks *blocks, const struct tlat_hist *hist);
/*
 * The same where it completes a block; else leave it out, as the next one has what it would have
 * had. A cut takes the writer's cache lines away from it: one for a block is enough.
 */
int tlat_blocks_pass(struct tlat_blocks *blocks, const struct tlat_hist *hist);
/*
 * Add those of another histogram that were cut at the same time, run by run; neighbours merge where
 * only one of both has an edge. Or put those of further runs behind, which are numbered from
 * first_run on: when these are more than 64, neighbours of one run merge, the shortest ones first,
 * and those of different runs only where every run is one block. into is not to be cut again. 0, or
 * -ENOMEM: nothing changed.
 */
int tlat_blocks_join(struct tlat_blocks *into, const struct tlat_blocks *from);
int tlat_blocks_append(struct tlat_blocks *into, const struct tlat_blocks *from, int32_t first_run);
size_t tlat_blocks_count(const struct tlat_blocks *blocks);
/* Length of a block that was cut, of which the last may fall short. */
int64_t tlat_blocks_length_ns(const struct tlat_blocks *blocks);
/* Where block i begins on a time line on which each follows the one before, whatever the length of
 * each; for i = count, where the last one ends. */
int64_t tlat_blocks_begin_ns(const struct tlat_blocks *blocks, size_t i);
/* The run that block i is of, ascending; the first of them where it holds several. */
int32_t tlat_blocks_run(const struct tlat_blocks *blocks, size_t i);
/* Samples of block i, and how many of them are <= value (mid convention, fractional). */
uint64_t tlat_blocks_samples(const struct tlat_blocks *blocks, size_t i);
double tlat_blocks_below(const struct tlat_blocks *blocks, size_t i, double value);
/* How many blocks hold something in that slot or above. */
size_t tlat_blocks_reaching(const struct tlat_blocks *blocks, int32_t slot);
/* One slot of a block that holds something. */
struct tlat_block_bin {
	int32_t index; /* slot */
	uint32_t reserved;
	uint64_t count;
};

/*
 * Walk block i in ascending order. *cursor is 0 at the start; it and *bin belong to the walk.
 * Returns 1 with *bin filled, 0 after the last.
 */
int tlat_blocks_next(const struct tlat_blocks *blocks, size_t i, size_t *cursor,
		     struct tlat_block_bin *bin);
/* Rebuild from a report: close the last block and append one. -EINVAL when the pairs do not ascend
 * or are no slots, -ENOSPC after 64, -ENOMEM. */
int tlat_blocks_add(struct tlat_blocks *blocks, const struct tlat_block_bin *bins, size_t n);
/* Length (1 .. TLAT_BLOCK_NS_MAX) and run of the block that was appended last; without, it is as
 * long as a cut and of run 0. */
void tlat_blocks_place_last(struct tlat_blocks *blocks, int64_t length_ns, int32_t run);

#endif /* TLAT_HIST_H */
