// SPDX-License-Identifier: MIT
/* run_pace.c - when a pair's next kick is due, whether its cycle counts, and when it is the last.
 */
#include "run_pace.h"

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 2685821657736338717ULL;
}

bool tlat_pace_within_limits(const struct tlat_pair *pair, const struct tlat_cycle *cycle,
			     struct tlat_book *book)
{
	if (tlat_run_requested(&pair->limits))
		book->end = TLAT_END_SIGNAL;
	else if (book->counts.asked >= pair->limits.samples)
		book->end = TLAT_END_COUNT;
	else if (book->started && cycle->announced - book->started >= pair->limits.duration)
		book->end = TLAT_END_TIME;
	else
		return true;
	return false;
}

/* Warm-up is over once it has had its cycles or its time, on the waiter's clock alone. */
static void start_measuring(struct tlat_pair *pair, struct tlat_cycle *cycle,
			    struct tlat_book *book)
{
	const struct tlat_limits *limits = &pair->limits;

	if (!cycle->first)
		cycle->first = cycle->announced;
	if (book->started || (book->warmup < limits->warmup &&
			      cycle->announced - cycle->first < limits->warmup_span))
		return;
	tlat_note(&book->started, cycle->announced);
	tlat_census_look(&cycle->census);
	atomic_store_explicit(&pair->waker.measuring, true, memory_order_relaxed);
}

bool tlat_pace_is_measured(struct tlat_pair *pair, struct tlat_cycle *cycle, struct tlat_book *book)
{
	cycle->waiter_rested = tlat_get(pair->waiter.rests) != cycle->rests;
	if (cycle->waiter_rested) {
		cycle->rests = tlat_get(pair->waiter.rests);
		tlat_note(&book->rests, cycle->rests);
		cycle->unmeasured =
			tlat_rest_cycles(!book->started || book->counts.asked > cycle->asked);
		cycle->asked = book->counts.asked;
	}
	start_measuring(pair, cycle, book);
	if (!cycle->unmeasured)
		return book->started;
	cycle->unmeasured--;
	return false;
}

/*
 * From the kick to the wake, from there to the announcement, from there to now. Only the first is
 * ever counted, and only a rest is that long by intent. Stamps of two CPUs may run backwards.
 */
void tlat_pace_look_back(const struct tlat_pair *pair, const struct tlat_cycle *cycle, uint64_t now,
			 struct tlat_book *book)
{
	uint64_t woken_at = tlat_get(pair->waiter.woken_at);
	const struct {
		uint64_t length;
		bool rested;
	} spans[] = { { cycle->told ? 0 : woken_at - cycle->t0, false },
		      { cycle->announced - woken_at, cycle->waiter_rested },
		      { now - cycle->announced, cycle->waker_rested } };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(spans) && cycle->kicked; i++) {
		uint64_t usual = pair->limits.away + (spans[i].rested ? pair->limits.rest : 0);

		if (TLAT_RARELY((int64_t)spans[i].length > (int64_t)usual))
			tlat_book_note_stop(book, spans[i].length);
	}
}

uint64_t tlat_pace_kick_time(struct tlat_pair *pair, struct tlat_cycle *cycle,
			     const struct tlat_book *book)
{
	uint64_t at = cycle->announced + pair->settle - (book->n_raw % 2 ? pair->lead : 0);
	uint64_t dither = pair->dither ? draw(&pair->seed) % (pair->dither + 1) : 0;

	cycle->late = 0;
	if (!pair->interval)
		return at + dither;
	if (!cycle->slot)
		cycle->slot = at;
	cycle->late = cycle->slot < cycle->announced;
	if (cycle->slot < at)
		cycle->slot +=
			(at - cycle->slot + pair->interval - 1) / pair->interval * pair->interval;
	at = cycle->slot;
	cycle->slot += pair->interval;
	return at + dither;
}

/* When measurement began; during warm-up when it begins at the latest, UINT64_MAX: not known. */
static uint64_t began(const struct tlat_limits *limits, const struct tlat_cycle *cycle,
		      const struct tlat_book *book)
{
	if (book->started || limits->warmup_span == UINT64_MAX)
		return book->started ? book->started : UINT64_MAX;
	return cycle->first + limits->warmup_span;
}

bool tlat_pace_has_ended(const struct tlat_pair *pair, const struct tlat_cycle *cycle, uint64_t now,
			 struct tlat_book *book)
{
	const struct tlat_limits *limits = &pair->limits;
	uint64_t start = began(limits, cycle, book);

	if (tlat_run_requested(limits))
		book->end = TLAT_END_SIGNAL;
	else if (limits->duration != UINT64_MAX && now > start && now - start >= limits->duration)
		book->end = TLAT_END_TIME;
	else
		return false;
	return true;
}
