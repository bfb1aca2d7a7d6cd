// SPDX-License-Identifier: MIT
/*
 * hist.c - where a value is counted.
 *
 * HdrHistogram's layout with 3 digits: 2048 bins of width 1, then 1024 bins for every further
 * octave, so that half a bin is never more than 2^-11 (0.049 %) of its values. All counts lie in
 * one array in the order of their values (early, bins, overflow), and nothing in the struct is a
 * pointer: it can be mapped at two addresses.
 *
 * One thread writes: it loads, adds and stores, as a locked instruction would cost more than all
 * the rest. Readers may see a count before its extremes or the reverse, never half a count.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hist.h"

static_assert(TLAT_HIST_BINS == (TLAT_HIST_VALUE_BITS - 11 + 2) << TLAT_HIST_OCTAVE_SHIFT,
	      "bins end at 2^37");
static_assert(TLAT_HIST_EARLY_BINS == (TLAT_HIST_EARLY_BITS - 11 + 2) << TLAT_HIST_OCTAVE_SHIFT,
	      "early ends at 2^18");

static_assert(sizeof(struct tlat_bin) == 3 * sizeof(uint64_t), "a bin has no hidden padding");
static_assert(sizeof(struct tlat_hist) % TLAT_CACHE_LINE == 0, "histograms can be put in a row");

#define load(p)	     __atomic_load_n(p, __ATOMIC_RELAXED)
#define store(p, to) __atomic_store_n(p, to, __ATOMIC_RELAXED)

/* An extreme is in its slot before it is one: who reads it first finds it there. */
#define publish(p, to) __atomic_store_n(p, to, __ATOMIC_RELEASE)
#define published(p)   __atomic_load_n(p, __ATOMIC_ACQUIRE)

static uint32_t shift_of(uint32_t index)
{
	return index < TLAT_HIST_EXACT_VALUES ? 0 : (index >> TLAT_HIST_OCTAVE_SHIFT) - 1;
}

uint64_t tlat_hist_bin_low(uint32_t index)
{
	uint32_t shift = shift_of(index);

	return (uint64_t)(index - (shift << TLAT_HIST_OCTAVE_SHIFT)) << shift;
}

uint64_t tlat_hist_bin_width(uint32_t index)
{
	return UINT64_C(1) << shift_of(index);
}

int32_t tlat_hist_slot(int64_t value)
{
	if (value >= 0)
		return value <= TLAT_HIST_VALUE_MAX ? (int32_t)tlat_hist_index((uint64_t)value)
						    : TLAT_HIST_SLOT_OVERFLOW;
	return ~(int32_t)tlat_hist_index(
		(uint64_t)(value < -TLAT_HIST_EARLY_MAX ? TLAT_HIST_EARLY_MAX : -value));
}

int64_t tlat_hist_slot_last(int32_t slot)
{
	if (slot == TLAT_HIST_SLOT_OVERFLOW)
		return INT64_MAX;
	if (slot < 0)
		return -(int64_t)tlat_hist_bin_low((uint32_t)~slot);
	return (int64_t)(tlat_hist_bin_low((uint32_t)slot) + tlat_hist_bin_width((uint32_t)slot)) -
	       1;
}

double tlat_hist_slot_width(int32_t slot)
{
	return (double)tlat_hist_bin_width((uint32_t)(slot < 0 ? ~slot : slot));
}

double tlat_hist_slot_below(int32_t slot, double value)
{
	double share;

	if (slot == TLAT_HIST_SLOT_OVERFLOW)
		return value > (double)TLAT_HIST_VALUE_MAX;
	share = 1 + (value - (double)tlat_hist_slot_last(slot) - 0.5) / tlat_hist_slot_width(slot);
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

size_t tlat_hist_bytes(void)
{
	return sizeof(struct tlat_hist);
}

struct tlat_hist *tlat_hist_init(void *mem, uint64_t hz)
{
	struct tlat_hist *hist = mem;

	assert(mem && hz && (uintptr_t)mem % TLAT_CACHE_LINE == 0);
	memset(hist, 0, sizeof(*hist));
	hist->hz = hz;
	tlat_hist_set_extremes(hist, INT64_MAX, INT64_MIN);
	return hist;
}

int tlat_hist_new(struct tlat_hist **ret_hist, uint64_t hz)
{
	void *mem = aligned_alloc(TLAT_CACHE_LINE, sizeof(struct tlat_hist));

	if (!mem)
		return -ENOMEM;
	*ret_hist = tlat_hist_init(mem, hz);
	return 0;
}

int tlat_hist_new_untouched(struct tlat_hist **ret_hist, uint64_t hz)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	struct tlat_hist *hist = mmap(NULL, sizeof(*hist), PROT_READ | PROT_WRITE, flags, -1, 0);

	if (hist == MAP_FAILED)
		return -ENOMEM;
	hist->hz = hz;
	hist->mapped = true;
	tlat_hist_set_extremes(hist, INT64_MAX, INT64_MIN);
	*ret_hist = hist;
	return 0;
}

void tlat_hist_free(struct tlat_hist *hist)
{
	if (hist && hist->mapped)
		munmap(hist, sizeof(*hist));
	else
		free(hist);
}

/* What of min..max lies in first..last. */
static void set_usual(uint64_t *ret_first, uint64_t *ret_n, int64_t min, int64_t max, int64_t first,
		      int64_t last)
{
	if (first < min)
		first = min;
	if (last > max)
		last = max;
	*ret_first = (uint64_t)first;
	*ret_n = first <= last ? (uint64_t)(last - first) + 1 : 0;
}

void tlat_hist_set_extremes(struct tlat_hist *hist, int64_t min, int64_t max)
{
	publish(&hist->min, min);
	publish(&hist->max, max);
	set_usual(&hist->usual, &hist->n_usual, min, max, 0, TLAT_HIST_VALUE_MAX);
	set_usual(&hist->usual_early, &hist->n_usual_early, min, max, -TLAT_HIST_EARLY_MAX, -1);
}

static void widen(struct tlat_hist *hist, int64_t min, int64_t max)
{
	if (min < hist->min || max > hist->max)
		tlat_hist_set_extremes(hist, min < hist->min ? min : hist->min,
				       max > hist->max ? max : hist->max);
}

void tlat_hist_add_slot(struct tlat_hist *hist, int32_t slot, uint64_t n)
{
	assert(slot >= TLAT_HIST_SLOT_FIRST && slot <= TLAT_HIST_SLOT_OVERFLOW);
	tlat_count(&hist->slots[slot - TLAT_HIST_SLOT_FIRST], n);
	tlat_count(&hist->count, n);
}

/* A value below zero and no new extreme: between two CPUs whose clocks differ, most are. */
static inline bool record_early(struct tlat_hist *hist, int64_t value)
{
	uint32_t index;

	if ((uint64_t)value - hist->usual_early >= hist->n_usual_early)
		return false;
	index = tlat_hist_index((uint64_t)-value);
	tlat_count(&hist->slots[TLAT_HIST_EARLY_BINS - 1 - index], 1);
	tlat_count(&hist->count, 1);
	return true;
}

/* Out of line, so that the usual case is straight. */
__attribute__((noinline, cold)) static void record_unusual(struct tlat_hist *hist, int64_t value)
{
	tlat_hist_add_slot(hist, tlat_hist_slot(value), 1);
	widen(hist, value, value);
}

TLAT_HOT void tlat_hist_record(struct tlat_hist *hist, int64_t value)
{
	if (!tlat_hist_record_usual(hist, value) && !record_early(hist, value))
		record_unusual(hist, value);
}

void tlat_hist_reset(struct tlat_hist *hist)
{
	for (size_t i = 0; i < TLAT_HIST_SLOTS; i++)
		store(&hist->slots[i], 0);
	store(&hist->count, 0);
	tlat_hist_set_extremes(hist, INT64_MAX, INT64_MIN);
}

/* Let the extremes take in a slot beyond those that were read: by the value next to the others. */
static void cover(struct tlat_hist *hist, int32_t slot, int64_t min, int64_t max)
{
	if (slot > tlat_hist_slot(max) && slot > TLAT_HIST_SLOT_FIRST)
		widen(hist, tlat_hist_slot_last(slot - 1) + 1, tlat_hist_slot_last(slot - 1) + 1);
	if (slot < tlat_hist_slot(min))
		widen(hist, tlat_hist_slot_last(slot), tlat_hist_slot_last(slot));
}

int tlat_hist_merge(struct tlat_hist *into, const struct tlat_hist *from)
{
	uint64_t apart_hz = into->hz > from->hz ? into->hz - from->hz : from->hz - into->hz;
	int64_t min = published(&from->min), max = published(&from->max);

	if (apart_hz > into->hz / 10000)
		return -EINVAL;
	/* Sums are taken from the slots as read here: from may be in use. */
	for (int32_t slot = TLAT_HIST_SLOT_FIRST; slot <= TLAT_HIST_SLOT_OVERFLOW; slot++) {
		uint64_t n = tlat_hist_slot_count(from, slot);

		if (!n)
			continue;
		tlat_hist_add_slot(into, slot, n);
		cover(into, slot, min, max);
	}
	widen(into, min, max);
	return 0;
}

uint64_t tlat_hist_hz(const struct tlat_hist *hist)
{
	return hist->hz;
}

uint64_t tlat_hist_count(const struct tlat_hist *hist)
{
	return load(&hist->count);
}

uint64_t tlat_hist_early(const struct tlat_hist *hist)
{
	struct tlat_hist_span span = tlat_hist_span(hist);

	return tlat_hist_count_slots(hist, span.first, span.last < 0 ? span.last : -1);
}

uint64_t tlat_hist_overflow(const struct tlat_hist *hist)
{
	return tlat_hist_slot_count(hist, TLAT_HIST_SLOT_OVERFLOW);
}

struct tlat_hist_span tlat_hist_span(const struct tlat_hist *hist)
{
	struct tlat_hist_span span = { .min = load(&hist->min), .max = load(&hist->max) };

	if (span.min > span.max)
		return (struct tlat_hist_span){ .first = 0, .last = -1 };
	span.first = tlat_hist_slot(span.min);
	span.last = tlat_hist_slot(span.max);
	return span;
}

int64_t tlat_hist_min(const struct tlat_hist *hist)
{
	return tlat_hist_span(hist).min;
}

int64_t tlat_hist_max(const struct tlat_hist *hist)
{
	return tlat_hist_span(hist).max;
}

uint64_t tlat_hist_count_slots(const struct tlat_hist *hist, int32_t first, int32_t last)
{
	uint64_t n = 0;

	for (int32_t slot = first; slot <= last; slot++)
		n += tlat_hist_slot_count(hist, slot);
	return n;
}

uint64_t tlat_hist_count_above(const struct tlat_hist *hist, int64_t value)
{
	struct tlat_hist_span span = tlat_hist_span(hist);
	int32_t slot = tlat_hist_slot(value);

	if (value >= span.max)
		return 0;
	if (value >= tlat_hist_slot_last(slot))
		slot++;
	return tlat_hist_count_slots(hist, slot > span.first ? slot : span.first, span.last);
}

/* The last early bin also holds all that was earlier still; no early bin holds 0. */
static int64_t slot_first(const struct tlat_hist *hist, int32_t slot)
{
	if (slot == TLAT_HIST_SLOT_FIRST)
		return tlat_hist_min(hist);
	if (!slot)
		return 0;
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
