// SPDX-License-Identifier: MIT
/*
 * run.c - the loops that time a probe; nothing else in the library does.
 *
 * Pair:	waiter				waker
 *		ready, announce ------------->	spin to announced + settle
 *		wait				t0 = stamp
 *						kick, t1 = stamp
 *		t2 = stamp (in wait)		until the next announcement
 *		ready, announce t2 ---------->	record t2 - t0, t1 - t0
 *
 * Solo:	arm E0 + kT, wait, record stamp - due,
 *		next k = first grid point after the stamp
 *
 * Between the stamps there is nothing but the probe's operation. The books are
 * kept while the waiter settles, so that neither side does more than publish a
 * stamp between waking and sleeping again.
 */
#include <sched.h>

#include "run_grid.h"
#include "run_pace.h"
#include "run_tally.h"

void tlat_run_rest(const struct tlat_limits *limits)
{
	struct timespec ts = tlat_timespec_of_ns((int64_t)limits->rest_ns);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* Far from the kick; short enough that a stop is seen soon. */
static void nap(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = TLAT_NAP_NS }, NULL);
}

static void get_ready(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	if (ctx->ops->ready)
		ctx->ops->ready(ctx, side);
}

/* == Pair: the waiter == */

/* Count the switches of the cycles so far; those before the measurement do not matter. */
static void waiter_census(struct tlat_pair *pair, struct tlat_census *census)
{
	struct tlat_waiter_line *my = &pair->waiter;
	uint64_t not_asleep = 0, preempted = 0;

	tlat_census_take(census, &not_asleep, &preempted);
	tlat_set(my->slept, !not_asleep);
	if (!atomic_load_explicit(&pair->waker.measuring, memory_order_relaxed))
		return;
	tlat_count(&my->not_asleep, pair->sleeps && !pair->verify ? not_asleep : 0);
	tlat_count(&my->preempted, preempted);
}

/* Give the CPU up for a while, if it is time; the waker sees it and does the same. */
static void waiter_rest(struct tlat_pair *pair, struct tlat_census *census, uint64_t *rested)
{
	struct tlat_waiter_line *my = &pair->waiter;

	if (!pair->limits.rest_after ||
	    tlat_get(my->announced) - *rested < pair->limits.rest_after ||
	    tlat_get(my->announced) < *rested)
		return;
	if (census->waits) /* else the one just taken says whether the last wait slept */
		waiter_census(pair, census);
	atomic_store_explicit(&my->resting, true, memory_order_release);
	tlat_run_rest(&pair->limits);
	atomic_store_explicit(&my->resting, false, memory_order_release);
	tlat_set(my->rests, tlat_get(my->rests) + 1);
	tlat_census_look(census);
	*rested = tlat_stamp_end(&pair->ctx->stamper);
}

TLAT_HOT static void announce(struct tlat_pair *pair)
{
	struct tlat_waiter_line *my = &pair->waiter;
	unsigned long long seq = atomic_load_explicit(&my->announced_seq, memory_order_relaxed);

	tlat_set(my->announced, tlat_stamp_end(&pair->ctx->stamper));
	atomic_store_explicit(&my->announced_seq, seq + 1, memory_order_release);
}

TLAT_HOT static int waiter_cycle(struct tlat_pair *pair, const struct tlat_probe_side *side)
{
	struct tlat_waiter_line *my = &pair->waiter;
	struct tlat_probe_ctx *ctx = pair->ctx;
	struct tlat_probe_event event = { .n = 1 };
	int error = ctx->ops->wait(ctx, side, &event);

	if (error || tlat_probe_stopping(ctx))
		return error ? error : -EINTR;
	if (pair->reply) {
		error = ctx->ops->kick(pair->reply);
		tlat_set(my->replied, error);
		if (error < 0)
			return error;
	}
	tlat_set(my->woken_at, event.at);
	tlat_set(my->back, event.back);
	tlat_set(my->awake, event.awake);
	tlat_set(my->merged, event.n > 1);
	tlat_set(my->cpu, sched_getcpu());
	return 0;
}

TLAT_HOT void tlat_run_waiter(struct tlat_pair *pair, const struct tlat_probe_side *side)
{
	struct tlat_waiter_line *my = &pair->waiter;
	uint64_t census_every = pair->verify ? 1 : TLAT_CENSUS_CYCLES;
	uint64_t rested = tlat_stamp_end(&pair->ctx->stamper);
	struct tlat_census census;
	int error;

	tlat_census_look(&census);
	do {
		if (census.waits >= census_every)
			waiter_census(pair, &census);
		waiter_rest(pair, &census, &rested);
		get_ready(pair->ctx, side);
		announce(pair);
		error = waiter_cycle(pair, side);
		census.waits++;
	} while (!error);
	waiter_census(pair, &census);
	my->error = error == -EINTR ? 0 : error;
	atomic_store_explicit(&my->gone, true, memory_order_release);
}

/* == Pair: the waker, who keeps the book == */

/* Enter a completed cycle. Whatever the value is, it stays; only a wait that never slept goes. */
TLAT_HOT static void book_cycle(struct tlat_pair *pair, const struct tlat_cycle *cycle,
				struct tlat_book *book)
{
	const struct tlat_waiter_line *waiter = &pair->waiter;
	struct tlat_counts *counts = &book->counts;
	uint64_t end = pair->reply ? cycle->reply_at : tlat_get(waiter->woken_at);

	if (cycle->woken == 0 || cycle->awake || (pair->reply && tlat_get(waiter->replied) == 0) ||
	    (pair->verify && pair->sleeps && !tlat_get(waiter->slept))) {
		tlat_count(&counts->rejected[TLAT_REJECTED_NOT_ASLEEP], 1);
		return;
	}
	if (cycle->merged) {
		tlat_count(&counts->rejected[TLAT_REJECTED_COALESCED], 1);
		return;
	}
	if (cycle->late)
		tlat_count(&counts->disturbed[TLAT_DISTURBED_LATE_SLOT], 1);
	tlat_book_record(book, (int64_t)(end - cycle->t0), cycle->t0, counts->asked - 1,
			 tlat_get(waiter->cpu));
	tlat_hist_record(book->dwell, (int64_t)(cycle->t0 - cycle->announced));
	if (book->call)
		tlat_hist_record(book->call, (int64_t)(cycle->t1 - cycle->t0));
	if (book->back)
		tlat_hist_record(book->back,
				 (int64_t)(tlat_get(waiter->back) - tlat_get(waiter->woken_at)));
}

/* Whether the waiter woke unasked since it announced, and announced again: nothing to kick here. */
static bool has_moved(const struct tlat_pair *pair, const struct tlat_cycle *cycle)
{
	return atomic_load_explicit(&pair->waiter.announced_seq, memory_order_relaxed) !=
	       cycle->seq + 1;
}

/* The loop ends because of that: the run was told to, or somebody failed. Always false. */
static bool fail(const struct tlat_pair *pair, struct tlat_book *book, int error)
{
	book->end = tlat_run_requested(&pair->limits) ? TLAT_END_SIGNAL : TLAT_END_ERROR;
	book->error = error == -EINTR ? 0 : error;
	return false;
}

/* Wait for the next announcement, which carries the end of the cycle before. */
TLAT_HOT static bool finish_cycle(struct tlat_pair *pair, struct tlat_cycle *cycle,
				  struct tlat_book *book)
{
	int answer = tlat_await_waiter(pair, cycle, book);

	if (answer > 0 && cycle->measured)
		book_cycle(pair, cycle, book);
	else if (cycle->measured)
		tlat_count(&book->counts.unfinished, 1);
	cycle->measured = cycle->awake = cycle->merged = false;
	return answer > 0 || fail(pair, book, answer);
}

/* Until it is time to kick: asleep while that is far, then spinning. False: the run is to end. */
TLAT_HOT static bool settle(struct tlat_pair *pair, const struct tlat_cycle *cycle, uint64_t until,
			    struct tlat_book *book)
{
	uint64_t now = tlat_stamp_begin(&pair->ctx->stamper);

	tlat_pace_look_back(pair, cycle, now, book);
	while ((int64_t)(until - now) > 0) {
		uint64_t before = now;

		if (tlat_pace_has_ended(pair, cycle, now, book))
			return false;
		if ((int64_t)(until - now) > (int64_t)pair->nap_before)
			nap();
		else
			tlat_arch_relax();
		now = tlat_stamp_begin(&pair->ctx->stamper);
		if (now - before > pair->limits.away)
			tlat_book_note_stop(book, now - before);
	}
	return true;
}

/* Round trip: sleep until the waiter's answer. */
static bool await_reply(struct tlat_pair *pair, struct tlat_cycle *cycle,
			const struct tlat_probe_side *side, struct tlat_book *book)
{
	struct tlat_probe_event event = { .n = 1 };
	int error = pair->reply->ops->wait(pair->reply, side, &event);

	cycle->reply_at = event.at;
	cycle->awake = event.awake;
	cycle->merged = event.n > 1;
	if (!error)
		return true;
	tlat_count(&book->counts.unfinished, cycle->measured);
	if (error == -EINTR && atomic_load(&pair->waiter.gone))
		error = pair->waiter.error;
	return fail(pair, book, error);
}

static void count_cycle(const struct tlat_cycle *cycle, struct tlat_book *book)
{
	if (cycle->measured)
		tlat_count(&book->counts.asked, 1);
	else
		tlat_count(&book->warmup, 1);
}

/* Stamp, kick, stamp; nothing is counted before, for a store that is still under way is part of
 * what the kernel's first lock waits for. A kick that fails ends the run. */
TLAT_HOT static bool kick(struct tlat_pair *pair, struct tlat_cycle *cycle,
			  const struct tlat_probe_side *reply, struct tlat_book *book)
{
	struct tlat_probe_ctx *ctx = pair->ctx;
	int (*wake)(struct tlat_probe_ctx *) = ctx->ops->kick; /* looked up outside */

	cycle->t0 = tlat_stamp_begin(&ctx->stamper);
	cycle->woken = wake(ctx);
	cycle->t1 = tlat_stamp_end(&ctx->stamper);
	cycle->kicked = true;
	cycle->seq++;
	count_cycle(cycle, book);
	if (cycle->woken < 0) {
		tlat_count(&book->counts.unfinished, cycle->measured);
		return fail(pair, book, cycle->woken);
	}
	return !pair->reply || await_reply(pair, cycle, reply, book);
}

TLAT_HOT void tlat_run_waker(struct tlat_pair *pair, const struct tlat_probe_side *side,
			     const struct tlat_probe_side *reply, struct tlat_book *book)
{
	struct tlat_cycle cycle = { 0 };
	uint64_t ignored = 0;

	tlat_census_look(&cycle.census);
	while (finish_cycle(pair, &cycle, book)) {
		cycle.announced = tlat_get(pair->waiter.announced);
		if (!tlat_pace_within_limits(pair, &cycle, book))
			break;
		cycle.measured = tlat_pace_is_measured(pair, &cycle, book);
		get_ready(pair->ctx, side);
		if (pair->reply)
			get_ready(pair->reply, reply);
		if (!settle(pair, &cycle, tlat_pace_kick_time(pair, &cycle, book), book))
			break;
		if (has_moved(pair, &cycle))
			cycle.measured = cycle.kicked = false;
		else if (!kick(pair, &cycle, reply, book))
			break;
	}
	book->ended = tlat_stamp_end(&pair->ctx->stamper);
	/* on one CPU every wake of the waiter preempts the waker: that is no disturbance */
	if (!pair->ctx->same_cpu)
		tlat_census_take(&cycle.census, &ignored,
				 &book->counts.disturbed[TLAT_DISTURBED_PREEMPTED]);
	atomic_store(pair->stop, 1);
	if (!atomic_load_explicit(&pair->waiter.gone, memory_order_acquire))
		pair->ctx->ops->kick(pair->ctx);
}

/* == Solo == */

/* Enter one expiry and the slots it passed over; go on to the next slot. */
static void book_expiry(struct tlat_grid *grid, struct tlat_book *book, uint64_t next, uint64_t at)
{
	struct tlat_counts *counts = &book->counts;
	uint64_t slot = grid->slot;

	if (TLAT_RARELY(grid->unmeasured || slot < grid->first)) {
		tlat_count(&book->warmup, 1);
		if (grid->unmeasured && (int64_t)(at - grid->due) > (int64_t)grid->away)
			tlat_book_note_stop(book, at - grid->due);
		tlat_grid_warm_up(grid, next, at);
		return;
	}
	grid->slot = next;
	if (TLAT_RARELY(!book->started))
		tlat_note(&book->started, grid->due);
	tlat_grid_limit(grid, at > book->started ? at - book->started : 0, next - slot - 1);
	if (next > grid->last)
		next = grid->last;
	tlat_count(&counts->asked, next - slot);
	if (TLAT_RARELY(next - slot > 1))
		tlat_count(&counts->missed, next - slot - 1);
	tlat_book_record(book, (int64_t)(at - grid->due), grid->due, slot - grid->first,
			 tlat_book_cpu(book));
}

/* The slot after this event: what the kernel counted, or the first that is still ahead. Without an
 * absolute deadline there is no grid that could be missed. */
static uint64_t next_slot(const struct tlat_probe_ops *ops, const struct tlat_grid *grid,
			  const struct tlat_probe_event *event)
{
	if (TLAT_RARELY(ops->flags & (TLAT_PROBE_PERIODIC | TLAT_PROBE_CLOSED)))
		return grid->slot + (ops->flags & TLAT_PROBE_PERIODIC ? event->n : 1);
	return tlat_grid_after(grid, event->at);
}

/* Program the slot's expiry, and note what the kernel promises for it. */
static int arm(struct tlat_solo *solo, struct tlat_grid *grid, bool first)
{
	struct tlat_probe_ctx *ctx = solo->ctx;
	const struct tlat_probe_ops *ops = ctx->ops;
	bool closed = ops->flags & TLAT_PROBE_CLOSED;
	uint64_t now = TLAT_RARELY(closed || ops->due) ? tlat_stamp_begin(&ctx->stamper) : 0;
	uint64_t asked = closed ? now + grid->interval : tlat_grid_point(grid, grid->slot);

	grid->due = ops->due ? ops->due(ctx, now, asked) : asked;
	if (!ops->arm || (!first && ops->flags & TLAT_PROBE_PERIODIC))
		return 0;
	return ops->arm(ctx, grid->due);
}

/* One armed slot until its expiry. 0, -EINTR when the run ended meanwhile, or the failure. */
static int solo_cycle(struct tlat_solo *solo, struct tlat_grid *grid,
		      const struct tlat_probe_side *side, struct tlat_book *book, bool first)
{
	const struct tlat_probe_ops *ops = solo->ctx->ops;
	struct tlat_probe_event event = { .n = 1 };
	uint64_t next;
	int error;

	get_ready(solo->ctx, side);
	error = arm(solo, grid, first);
	event.due = grid->due;
	if (!error)
		error = ops->wait(solo->ctx, side, &event);
	if (error)
		return error;
	next = next_slot(ops, grid, &event);
	if (TLAT_RARELY(ops->flags & TLAT_PROBE_PERIODIC))
		tlat_tally_check(solo, grid, book, next, event.at);
	tlat_note(&book->ended, event.at);
	book_expiry(grid, book, next, event.at);
	return 0;
}

/* The slot under way when the run ended. */
static void solo_abandon(const struct tlat_grid *grid, struct tlat_book *book, int error)
{
	book->end = error == -EINTR ? TLAT_END_SIGNAL : TLAT_END_ERROR;
	book->error = error == -EINTR ? 0 : error;
	if (grid->unmeasured || grid->slot < grid->first || grid->slot >= grid->last)
		return;
	tlat_count(&book->counts.asked, 1);
	tlat_count(&book->counts.unfinished, 1);
}

/* Count preemptions of measured cycles, every now and then. */
static void solo_census(struct tlat_census *census, struct tlat_book *book, uint64_t every)
{
	uint64_t ignored = 0;

	if (TLAT_RARELY(!book->started))
		tlat_census_look(census);
	else if (TLAT_RARELY(++census->waits >= every))
		tlat_census_take(census, &ignored,
				 &book->counts.disturbed[TLAT_DISTURBED_PREEMPTED]);
}

/* Give the CPU up for a while, if the thread spins and it is time; slots that pass meanwhile are
 * nobody's. */
static void solo_rest(const struct tlat_solo *solo, struct tlat_grid *grid, struct tlat_book *book,
		      uint64_t *rested)
{
	if (!TLAT_RARELY(solo->limits.rest_after &&
			 book->ended - *rested >= solo->limits.rest_after))
		return;
	tlat_run_rest(&solo->limits);
	tlat_count(&book->rests, 1);
	*rested = tlat_stamp_begin(&solo->ctx->stamper);
	if (*rested - book->ended > solo->limits.rest + solo->limits.away)
		tlat_book_note_stop(book, *rested - book->ended);
	tlat_grid_skip(grid, *rested);
}

void tlat_run_solo(struct tlat_solo *solo, const struct tlat_probe_side *side,
		   struct tlat_book *book)
{
	const struct tlat_limits *limits = &solo->limits;
	struct tlat_census census = { 0 };
	uint64_t rested = tlat_stamp_begin(&solo->ctx->stamper);
	struct tlat_grid grid;
	bool first = true;
	int error = 0;

	tlat_grid_init(&grid, solo, rested);
	tlat_census_look(&census);
	while (!error && grid.slot < grid.last && !tlat_run_requested(limits)) {
		error = solo_cycle(solo, &grid, side, book, first);
		solo_census(&census, book, TLAT_SOLO_CENSUS_CYCLES);
		solo_rest(solo, &grid, book, &rested);
		first = false;
	}
	book->end = limits->samples <= grid.last - grid.first ? TLAT_END_COUNT : TLAT_END_TIME;
	solo_census(&census, book, 0);
	if (error)
		solo_abandon(&grid, book, error);
	else if (grid.slot < grid.last)
		book->end = TLAT_END_SIGNAL;
	if (!first && solo->ctx->ops->tally)
		tlat_tally_close(solo, &grid, side, book);
}
