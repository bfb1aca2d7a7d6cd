// SPDX-License-Identifier: MIT
/*
 * hist.c - where a value is counted, and what the counts say about the values.
 *
 * HdrHistogram's layout with 3 digits: 2048 bins of width 1, then 1024 bins for every further
 * octave, so that half a bin is never more than 2^-11 (0.049 %) of its values. All counts lie in
 * one array in the order of their values (early, bins, overflow), and nothing in the struct is a
 * pointer: it can be mapped at two addresses.
 *
 * One thread writes: it loads, adds and stores, as a locked instruction would cost more than all
 * the rest. Readers may see a count before its extremes or the reverse, never half a count.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"

#define VALUE_BITS   37
#define VALUE_MAX    ((INT64_C(1) << VALUE_BITS) - 1)
#define EARLY_BITS   18
#define EARLY_MAX    ((INT64_C(1) << EARLY_BITS) - 1)
#define EXACT_VALUES 2048 /* counted in bins of width 1 */
#define OCTAVE_SHIFT 10	  /* 1024 bins an octave above that */
#define N_SLOTS	     (TLAT_HIST_EARLY_BINS + TLAT_HIST_BINS + 1)

static_assert(TLAT_HIST_BINS == (VALUE_BITS - 11 + 2) << OCTAVE_SHIFT, "bins end at 2^37");
static_assert(TLAT_HIST_EARLY_BINS == (EARLY_BITS - 11 + 2) << OCTAVE_SHIFT, "early ends at 2^18");

struct tlat_hist {
	uint64_t hz;
	uint64_t count;	  /* the sum of all slots */
	uint64_t early;	  /* the sum of the early ones */
	int64_t min, max; /* min > max: empty */
	/* the values from min to max that have a bin of their own: first, how many; the writer's */
	uint64_t usual, n_usual;
	uint64_t slots[N_SLOTS] __attribute__((aligned(TLAT_CACHE_LINE)));
};

static_assert(sizeof(struct tlat_bin) == 3 * sizeof(uint64_t), "a bin has no hidden padding");
static_assert(sizeof(struct tlat_hist) % TLAT_CACHE_LINE == 0, "histograms can be put in a row");

#define load(p)	     __atomic_load_n(p, __ATOMIC_RELAXED)
#define store(p, to) __atomic_store_n(p, to, __ATOMIC_RELAXED)

static inline void add(uint64_t *count, uint64_t n)
{
	store(count, load(count) + n);
}

static inline uint32_t index_of(uint64_t value)
{
	uint32_t shift = 53 - (uint32_t)__builtin_clzll(value | (EXACT_VALUES - 1));

	return (shift << OCTAVE_SHIFT) + (uint32_t)(value >> shift);
}

uint32_t tlat_hist_index(uint64_t value)
{
	return index_of(value);
}

static uint32_t shift_of(uint32_t index)
{
	return index < EXACT_VALUES ? 0 : (index >> OCTAVE_SHIFT) - 1;
}

uint64_t tlat_hist_bin_low(uint32_t index)
{
	uint32_t shift = shift_of(index);

	return (uint64_t)(index - (shift << OCTAVE_SHIFT)) << shift;
}

uint64_t tlat_hist_bin_width(uint32_t index)
{
	return UINT64_C(1) << shift_of(index);
}

int32_t tlat_hist_slot(int64_t value)
{
	if (value >= 0)
		return value <= VALUE_MAX ? (int32_t)tlat_hist_index((uint64_t)value)
					  : TLAT_HIST_SLOT_OVERFLOW;
	return ~(int32_t)tlat_hist_index((uint64_t)(value < -EARLY_MAX ? EARLY_MAX : -value));
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

static double slot_width(int32_t slot)
{
	return (double)tlat_hist_bin_width((uint32_t)(slot < 0 ? ~slot : slot));
}

double tlat_hist_slot_below(int32_t slot, double value)
{
	double share;

	if (slot == TLAT_HIST_SLOT_OVERFLOW)
		return value > (double)VALUE_MAX;
	share = 1 + (value - (double)tlat_hist_slot_last(slot) - 0.5) / slot_width(slot);
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
	hist->min = INT64_MAX;
	hist->max = INT64_MIN;
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

void tlat_hist_free(struct tlat_hist *hist)
{
	free(hist);
}

void tlat_hist_set_extremes(struct tlat_hist *hist, int64_t min, int64_t max)
{
	int64_t first = min > 0 ? min : 0, last = max < VALUE_MAX ? max : VALUE_MAX;

	store(&hist->min, min);
	store(&hist->max, max);
	hist->usual = (uint64_t)first;
	hist->n_usual = first <= last ? (uint64_t)(last - first) + 1 : 0;
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
	add(&hist->slots[slot - TLAT_HIST_SLOT_FIRST], n);
	add(&hist->count, n);
	if (slot < 0)
		add(&hist->early, n);
}

/* Out of line, so that the usual case is straight. */
__attribute__((noinline, cold)) static void record_unusual(struct tlat_hist *hist, int64_t value)
{
	tlat_hist_add_slot(hist, tlat_hist_slot(value), 1);
	widen(hist, value, value);
}

TLAT_HOT void tlat_hist_record(struct tlat_hist *hist, int64_t value)
{
	/* one comparison for all: has a bin, no new minimum, no new maximum */
	if (__builtin_expect((uint64_t)value - hist->usual >= hist->n_usual, 0)) {
		record_unusual(hist, value);
		return;
	}
	add(&hist->slots[index_of((uint64_t)value) - TLAT_HIST_SLOT_FIRST], 1);
	add(&hist->count, 1);
}

void tlat_hist_reset(struct tlat_hist *hist)
{
	for (size_t i = 0; i < N_SLOTS; i++)
		store(&hist->slots[i], 0);
	store(&hist->count, 0);
	store(&hist->early, 0);
	tlat_hist_set_extremes(hist, INT64_MAX, INT64_MIN);
}

/* Let the extremes take in a slot that has been seen before them: by the value next to the others.
 */
static void cover(struct tlat_hist *hist, int32_t slot, const struct tlat_hist *from)
{
	if (slot > tlat_hist_slot(load(&from->max)) && slot > TLAT_HIST_SLOT_FIRST)
		widen(hist, tlat_hist_slot_last(slot - 1) + 1, tlat_hist_slot_last(slot - 1) + 1);
	if (slot < tlat_hist_slot(load(&from->min)))
		widen(hist, tlat_hist_slot_last(slot), tlat_hist_slot_last(slot));
}

int tlat_hist_merge(struct tlat_hist *into, const struct tlat_hist *from)
{
	uint64_t apart_hz = into->hz > from->hz ? into->hz - from->hz : from->hz - into->hz;

	if (apart_hz > into->hz / 10000)
		return -EINVAL;
	/* Sums are taken from the slots as read here: from may be in use. */
	for (int32_t slot = TLAT_HIST_SLOT_FIRST; slot <= TLAT_HIST_SLOT_OVERFLOW; slot++) {
		uint64_t n = tlat_hist_slot_count(from, slot);

		if (!n)
			continue;
		tlat_hist_add_slot(into, slot, n);
		cover(into, slot, from);
	}
	widen(into, load(&from->min), load(&from->max));
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
	return load(&hist->early);
}

uint64_t tlat_hist_slot_count(const struct tlat_hist *hist, int32_t slot)
{
	return load(&hist->slots[slot - TLAT_HIST_SLOT_FIRST]);
}

uint64_t tlat_hist_overflow(const struct tlat_hist *hist)
{
	return tlat_hist_slot_count(hist, TLAT_HIST_SLOT_OVERFLOW);
}

/* The extremes and the slots they lie in; min 0, max 0 and no slots when empty. */
struct span {
	int64_t min, max;
	int32_t first, last; /* slots */
};

static struct span span_of(const struct tlat_hist *hist)
{
	struct span span = { .min = load(&hist->min), .max = load(&hist->max) };

	if (span.min > span.max)
		return (struct span){ .first = 0, .last = -1 };
	span.first = tlat_hist_slot(span.min);
	span.last = tlat_hist_slot(span.max);
	return span;
}

int64_t tlat_hist_min(const struct tlat_hist *hist)
{
	return span_of(hist).min;
}

int64_t tlat_hist_max(const struct tlat_hist *hist)
{
	return span_of(hist).max;
}

static uint64_t count_slots(const struct tlat_hist *hist, int32_t first, int32_t last)
{
	uint64_t n = 0;

	for (int32_t slot = first; slot <= last; slot++)
		n += tlat_hist_slot_count(hist, slot);
	return n;
}

uint64_t tlat_hist_count_above(const struct tlat_hist *hist, int64_t value)
{
	struct span span = span_of(hist);
	int32_t slot = tlat_hist_slot(value);

	if (value >= span.max)
		return 0;
	if (value >= tlat_hist_slot_last(slot))
		slot++;
	return count_slots(hist, slot > span.first ? slot : span.first, span.last);
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

/* One slot that holds something, as a mass at a value. */
struct atom {
	double n, value;
	double width; /* infinite: the value is a stand-in, its neighbours tell nothing */
};

/*
 * The first atom from *slot on, which moves past it; false after the last. Values past either end
 * are only known by their extreme.
 */
static bool next_atom(const struct tlat_hist *hist, const struct span *span, int32_t *slot,
		      struct atom *ret)
{
	uint64_t n = 0;
	int32_t at = *slot;

	while (at <= span->last && !(n = tlat_hist_slot_count(hist, at)))
		at++;
	*slot = at + 1;
	ret->n = (double)n;
	ret->width = INFINITY;
	ret->value = (double)(at < 0 ? span->min : span->max);
	if (!n || at == TLAT_HIST_SLOT_OVERFLOW ||
	    (at == TLAT_HIST_SLOT_FIRST && span->min < -EARLY_MAX))
		return n;
	ret->width = slot_width(at);
	ret->value = (double)tlat_hist_slot_last(at) - (ret->width - 1) / 2;
	return true;
}

static double clamp(double value, const struct span *span)
{
	if (value < (double)span->min)
		return (double)span->min;
	return value > (double)span->max ? (double)span->max : value;
}

/* Mean of the squared distances from a value, or (power 1) of the distances. */
static double moment(const struct tlat_hist *hist, const struct span *span, double from, int power)
{
	struct atom atom;
	double n = 0, sum = 0;
	int32_t slot = span->first;

	while (next_atom(hist, span, &slot, &atom)) {
		n += atom.n;
		sum += atom.n * (atom.value - from) * (power == 2 ? atom.value - from : 1);
	}
	return n > 0 ? sum / n : 0;
}

double tlat_hist_mean(const struct tlat_hist *hist)
{
	struct span span = span_of(hist);

	return clamp(moment(hist, &span, 0, 1), &span);
}

double tlat_hist_sd(const struct tlat_hist *hist)
{
	struct span span = span_of(hist);

	return sqrt(moment(hist, &span, moment(hist, &span, 0, 1), 2));
}

/*
 * The step of the clock, if three neighbours in a row show one: equally spaced with holes between
 * them (or bins of width 1 without), and not a lone peak between specks. 0 if they do not. Wide
 * bins round the spacing, by at most one bin. Holes between few values are chance: with 16 on both
 * sides, one in e^16.
 */
static double step_of(const struct atom a[3])
{
	double left = a[1].value - a[0].value, right = a[2].value - a[1].value;
	double narrow = fmin(left, right), width = fmax(a[0].width, fmax(a[1].width, a[2].width));
	double neighbour = fmax(a[0].n, a[2].n);

	if (fabs(left - right) > fmin(width, narrow / 6) || neighbour * 64 < a[1].n)
		return 0;
	if (narrow <= width ? width > 1 : fmin(neighbour, a[1].n) < 16)
		return 0;
	return fmax(left, right);
}

/* How many values there are, and the step that the heaviest part of them shows. */
static double survey(const struct tlat_hist *hist, const struct span *span, double *ret_step)
{
	struct atom a[3] = { { 0 } };
	double n = 0, heaviest = 0;
	int32_t slot = span->first;
	int seen = 0;

	*ret_step = 0;
	while (next_atom(hist, span, &slot, &a[2])) {
		n += a[2].n;
		if (++seen >= 3 && a[1].n > heaviest && step_of(a) > 0) {
			heaviest = a[1].n;
			*ret_step = step_of(a);
		}
		a[0] = a[1];
		a[1] = a[2];
	}
	return n;
}

/*
 * The value at rank (0 .. N, a real number) between the middles of two neighbouring atoms; ended
 * is the rank at which a ends. One clock step apart, the mass of both lies anywhere between them:
 * mid-distribution, so that a shift of less than a step moves the result. Across any other gap
 * there is nothing, and the result crosses it within one rank, as between two sorted values.
 */
static double between(const struct atom *a, const struct atom *b, double ended, double rank,
		      double step)
{
	double gap = b->value - a->value, share;

	if (gap <= 1.5 * step)
		share = (rank - (ended - a->n / 2)) / ((a->n + b->n) / 2);
	else
		share = rank - (ended - 0.5);
	return share <= 0   ? a->value
	       : share >= 1 ? b->value
			    : fmin(a->value + gap * share, b->value);
}

static double value_at_rank(const struct tlat_hist *hist, const struct span *span, double rank,
			    double step)
{
	struct atom a = { 0 }, b;
	double ended = 0;
	int32_t slot = span->first;

	while (next_atom(hist, span, &slot, &b)) {
		if (ended + b.n / 2 >= rank)
			return ended > 0 ? between(&a, &b, ended, rank, step) : b.value;
		ended += b.n;
		a = b;
	}
	return a.value;
}

double tlat_hist_quantile(const struct tlat_hist *hist, double p)
{
	struct span span = span_of(hist);
	double step, n = survey(hist, &span, &step);

	if (!(n > 0) || !(p > 0))
		return (double)span.min;
	if (p >= 1)
		return (double)span.max;
	return clamp(value_at_rank(hist, &span, p * n, step), &span);
}

int64_t tlat_hist_quantile_bound(const struct tlat_hist *hist, double p)
{
	struct span span = span_of(hist);
	double n = (double)count_slots(hist, span.first, span.last);
	/* 0.07 * 100 is a little over 7, but means rank 7 */
	double rank = ceil(p * n * (1 - 4e-16)), below = 0;

	if (!(rank >= 1))
		rank = 1;
	for (int32_t slot = span.first; slot < span.last; slot++) {
		below += (double)tlat_hist_slot_count(hist, slot);
		if (below >= rank)
			return tlat_hist_slot_last(slot);
	}
	return span.max;
}
