/* SPDX-License-Identifier: MIT */
/* blocks.h - the inside of time blocks: one by one, and those of a histogram. */
#ifndef TLAT_BLOCKS_H
#define TLAT_BLOCKS_H

#include "hist.h"

#define TLAT_BLOCKS_SLOTS     (TLAT_HIST_SLOT_OVERFLOW - TLAT_HIST_SLOT_FIRST + 1)
/* Merging holds the old and the new strings; with the counts seen, both stay below 1 MiB. */
#define TLAT_PACKED_BYTES_MAX ((size_t)320 << 10)

/* A block; what blocks.c says of its bytes. */
struct tlat_packed {
	uint8_t *bytes;
	size_t n_bytes, room;
	int32_t last; /* slot of the last pair */
	int32_t run;
	uint64_t samples;
	int64_t length_ns; /* 0: as long as cuts make it */
};

struct tlat_blocks {
	int64_t length_ns; /* of one cut */
	int64_t cuts_per_block;
	int64_t cuts_in_last;
	int64_t passed; /* cuts left out since the last one */
	size_t n;
	struct tlat_packed v[TLAT_BLOCKS_MAX];
	uint64_t seen[TLAT_BLOCKS_SLOTS]; /* the histogram at the last cut */
};

static inline int64_t tlat_packed_length_ns(const struct tlat_blocks *blocks, size_t i)
{
	int64_t length_ns = blocks->v[i].length_ns;

	return length_ns ? length_ns : tlat_blocks_length_ns(blocks);
}

/* Fill *ret, which has no bytes yet, with the sum of both; its run and length are not touched. Or
 * copy all. 0 or -ENOMEM. */
int tlat_packed_sum(struct tlat_packed *ret, const struct tlat_packed *a,
		    const struct tlat_packed *b);
int tlat_packed_copy(struct tlat_packed *ret, const struct tlat_packed *from);
void tlat_packed_free(struct tlat_packed *packed);

#endif /* TLAT_BLOCKS_H */
