/* SPDX-License-Identifier: MIT */
/*
 * run_tap.h - single values on their way from a recording thread to the reader of its stream.
 */
#ifndef TLAT_RUN_TAP_H
#define TLAT_RUN_TAP_H

#include <stdatomic.h>

#include "run_book.h"

/* In the loop's own unit; converted by whoever takes it. */
struct tlat_drop {
	int64_t value;
	uint64_t at;
};

/*
 * One writer, one reader. A full ring loses what is new, so that neither ever touches what the
 * other has.
 */
struct tlat_tap {
	/* the writer's */
	alignas(TLAT_CACHE_LINE) atomic_ullong written;
	atomic_ullong lost;
	struct tlat_drop *ring; /* NULL: no stream */
	uint64_t size;		/* a power of two */
	double ns_per_unit;
	/* the reader's */
	alignas(TLAT_CACHE_LINE) atomic_ullong read;
};

/* Slots that a stream of so many values takes. */
uint64_t tlat_tap_slots(uint64_t stream);

/* Hand over one value; from the recording thread. [hot] */
void tlat_tap_pass(struct tlat_tap *tap, int64_t value, uint64_t at);

/* Take the oldest, at most max; from the reader. [hot] */
size_t tlat_tap_take(struct tlat_tap *tap, struct tlat_sample *samples, size_t max);

#endif /* TLAT_RUN_TAP_H */
