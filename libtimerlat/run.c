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

static bool requested(const struct tlat_limits *limits)
{
	return atomic_load_explicit(limits->request, memory_order_relaxed);
}

static void rest(const struct tlat_limits *limits)
{
	struct timespec ts = { .tv_nsec = (long)limits->rest_ns };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016). */
static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 2685821657736338717ULL;
}

/* == Pair: the waiter == */

static void waiter_rest(struct tlat_pair *pair, struct tlat_census *census)
{
	struct tlat_waiter_line *my = &pair->waiter;

	atomic_store_explicit(&my->resting, true, memory_order_release);
	rest(&pair->limits);
	atomic_store_explicit(&my->resting, false, memory_order_release);
	my->rests++;
	tlat_census_look(census);
}

/* Count the switches of the cycles so far; those before the measurement do not matter. */
static void waiter_census(struct tlat_pair *pair, struct tlat_census *census)
{
	struct tlat_waiter_line *my = &pair->waiter;
	uint64_t not_asleep = 0, preempted = 0;

	tlat_census_take(census, &not_asleep, &preempted);
	my->slept = !not_asleep;
	if (!atomic_load_explicit(&pair->waker.measuring, memory_order_relaxed))
		return;
	my->not_asleep += pair->sleeps && !pair->verify ? not_asleep : 0;
	my->preempted += preempted;
}

static void announce(struct tlat_pair *pair)
{
	struct tlat_waiter_line *my = &pair->waiter;
	unsigned long long seq = atomic_load_explicit(&my->announced_seq, memory_order_relaxed);

	my->announced = tlat_stamp_end(&pair->ctx->stamper);
	atomic_store_explicit(&my->announced_seq, seq + 1, memory_order_release);
}

static int waiter_cycle(struct tlat_pair *pair, const struct tlat_probe_side *side)
{
	struct tlat_waiter_line *my = &pair->waiter;
	struct tlat_probe_ctx *ctx = pair->ctx;
	struct tlat_probe_event event = { .n = 1 };
	int error = ctx->ops->wait(ctx, side, &event);

	if (error || tlat_probe_stopping(ctx))
		return error ? error : -EINTR;
	if (pair->reply)
		my->replied = ctx->ops->kick(pair->reply);
	my->woken_at = event.at;
	my->awake = event.awake;
	my->cpu = sched_getcpu();
	return 0;
}

void tlat_run_waiter(struct tlat_pair *pair, const struct tlat_probe_side *side)
{
	struct tlat_waiter_line *my = &pair->waiter;
	uint64_t census_every = pair->verify ? 1 : TLAT_CENSUS_CYCLES;
	uint64_t rested = tlat_stamp_end(&pair->ctx->stamper);
	struct tlat_census census;
	int error;

	tlat_census_look(&census);
	do {
		if (pair->ctx->ops->ready)
			pair->ctx->ops->ready(pair->ctx, side);
		if (census.waits >= census_every)
			waiter_census(pair, &census);
		if (pair->limits.rest_after && my->announced - rested >= pair->limits.rest_after &&
		    my->announced > rested) {
			waiter_rest(pair, &census);
			rested = tlat_stamp_end(&pair->ctx->stamper);
		}
		announce(pair);
		error = waiter_cycle(pair, side);
		census.waits++;
	} while (!error);
	waiter_census(pair, &census);
	my->error = error == -EINTR ? 0 : error;
	atomic_store_explicit(&my->gone, true, memory_order_release);
}

/* == Pair: the waker, who keeps the book == */

struct cycle {
	uint64_t seq; /* announcement that the waker is after */
	uint64_t t0, t1;
	uint64_t announced;
	uint64_t late;	     /* the slot had passed */
	uint64_t slot;	     /* next kick when there is an interval */
	uint64_t rests;	     /* of the waiter, when last looked */
	uint64_t unmeasured; /* cycles left that are not measured after a rest */
	uint64_t first;	     /* stamp at the loop's start */
	uint64_t reply_at;   /* round trip: stamp of the reply */
	int woken;
	bool kicked, measured; /* the cycle under way */
};

/* 1: the waiter has announced this cycle; 0: it has not by the deadline or the run is to end;
 * negative errno: it has left. */
static int await(struct tlat_pair *pair, const struct cycle *cycle, uint64_t since)
{
	struct tlat_waiter_line *waiter = &pair->waiter;

	for (;;) {
		uint64_t waited;

		if (atomic_load_explicit(&waiter->announced_seq, memory_order_acquire) > cycle->seq)
			return 1;
		if (atomic_load_explicit(&waiter->gone, memory_order_acquire))
			return waiter->error ? waiter->error : -EINTR;
		waited = tlat_stamp_begin(&pair->ctx->stamper) - since;
		if (waited > pair->wait_bound)
			return 0;
		if (waited > pair->grace && requested(&pair->limits))
			return 0;
		if (atomic_load_explicit(&waiter->resting, memory_order_acquire))
			rest(&pair->limits);
		else if (pair->yields)
			sched_yield();
		else
			tlat_arch_relax();
	}
}

/* Enter a completed cycle. Whatever the value is, it stays; only a wait that never slept goes. */
static void book_cycle(struct tlat_pair *pair, const struct cycle *cycle, struct tlat_book *book)
{
	const struct tlat_waiter_line *waiter = &pair->waiter;
	struct tlat_counts *counts = &book->counts;
	uint64_t end = pair->reply ? cycle->reply_at : waiter->woken_at;

	if (cycle->woken == 0 || waiter->awake || (pair->reply && waiter->replied == 0) ||
	    (pair->verify && pair->sleeps && !waiter->slept)) {
		counts->rejected[TLAT_REJECTED_NOT_ASLEEP]++;
		return;
	}
	counts->disturbed[TLAT_DISTURBED_LATE_SLOT] += cycle->late;
	tlat_book_record(book, (int64_t)(end - cycle->t0), cycle->t0, waiter->cpu);
	tlat_hist_record(book->dwell, (int64_t)(cycle->t0 - cycle->announced));
	if (book->call)
		tlat_hist_record(book->call, (int64_t)(cycle->t1 - cycle->t0));
}

/*
 * A wake that is not there within its bound: the cycle is lost, the run need not be. If the wake is
 * only late it is waited for; a second kick would wake twice. Whether the waiter is back.
 */
static bool recover(struct tlat_pair *pair, struct cycle *cycle, struct tlat_book *book)
{
	bool stopping = requested(&pair->limits);

	if (cycle->measured && stopping)
		book->counts.unfinished++;
	else if (cycle->measured)
		book->counts.rejected[TLAT_REJECTED_TIMEOUT]++;
	cycle->measured = false;
	book->lost_wake = book->lost_wake || !stopping;
	if (stopping)
		return false;
	if (await(pair, cycle, tlat_stamp_begin(&pair->ctx->stamper)) > 0)
		return true;
	pair->ctx->ops->kick(pair->ctx);
	return await(pair, cycle, tlat_stamp_begin(&pair->ctx->stamper)) > 0;
}

/* Wait for the next announcement, which carries the end of the cycle before. */
static bool finish_cycle(struct tlat_pair *pair, struct cycle *cycle, struct tlat_book *book)
{
	uint64_t since = cycle->kicked ? cycle->t1 : tlat_stamp_begin(&pair->ctx->stamper);
	int answer = await(pair, cycle, since);

	if (answer == 0 && cycle->kicked && recover(pair, cycle, book))
		answer = 1;
	if (answer > 0 && cycle->measured)
		book_cycle(pair, cycle, book);
	else if (cycle->measured)
		book->counts.unfinished++;
	cycle->measured = false;
	if (answer <= 0) {
		book->end = requested(&pair->limits) ? TLAT_END_SIGNAL : TLAT_END_ERROR;
		book->error = answer < 0 && answer != -EINTR ? answer : 0;
	}
	return answer > 0;
}

/* Whether this cycle counts: warm-up over, no rest just before. */
static bool is_measured(struct tlat_pair *pair, struct cycle *cycle, struct tlat_book *book)
{
	const struct tlat_limits *limits = &pair->limits;

	if (pair->waiter.rests != cycle->rests) {
		cycle->rests = pair->waiter.rests;
		cycle->unmeasured = TLAT_REST_CYCLES;
	}
	if (!book->started && (book->warmup >= limits->warmup ||
			       cycle->announced - cycle->first >= limits->warmup_span)) {
		book->started = cycle->announced;
		atomic_store_explicit(&pair->waker.measuring, true, memory_order_relaxed);
	}
	if (book->started && !cycle->unmeasured)
		return true;
	if (cycle->unmeasured)
		cycle->unmeasured--;
	return false;
}

/* When to kick: after the settle time, at the slot if there is an interval. */
static uint64_t kick_time(struct tlat_pair *pair, struct cycle *cycle, const struct tlat_book *book)
{
	uint64_t at = cycle->announced + pair->settle - (book->n_raw % 2 ? pair->lead : 0);

	if (pair->dither)
		at += draw(&pair->seed) % (pair->dither + 1);
	cycle->late = 0;
	if (!pair->interval)
		return at;
	if (!cycle->slot)
		cycle->slot = at;
	cycle->late = cycle->slot < cycle->announced;
	if (cycle->slot < at)
		cycle->slot +=
			(at - cycle->slot + pair->interval - 1) / pair->interval * pair->interval;
	at = cycle->slot;
	cycle->slot += pair->interval;
	return at;
}

/* Spin until it is time to kick; false: the run is to end. */
static bool settle(struct tlat_pair *pair, uint64_t until, struct tlat_book *book)
{
	while ((int64_t)(until - tlat_stamp_begin(&pair->ctx->stamper)) > 0) {
		if (requested(&pair->limits)) {
			book->end = TLAT_END_SIGNAL;
			return false;
		}
		tlat_arch_relax();
	}
	return true;
}

static bool within_limits(const struct tlat_pair *pair, const struct cycle *cycle,
			  struct tlat_book *book)
{
	if (requested(&pair->limits))
		book->end = TLAT_END_SIGNAL;
	else if (book->counts.asked >= pair->limits.samples)
		book->end = TLAT_END_COUNT;
	else if (book->started && cycle->announced - book->started >= pair->limits.duration)
		book->end = TLAT_END_TIME;
	else
		return true;
	return false;
}

/* Round trip: sleep until the waiter's answer. */
static void await_reply(struct tlat_pair *pair, struct cycle *cycle,
			const struct tlat_probe_side *side, struct tlat_book *book)
{
	struct tlat_probe_event event = { .n = 1 };
	int error = pair->reply->ops->wait(pair->reply, side, &event);

	cycle->reply_at = event.at;
	if (!error || !cycle->measured)
		return;
	book->counts.unfinished++;
	cycle->measured = false;
}

static void count_cycle(const struct cycle *cycle, struct tlat_book *book)
{
	if (cycle->measured)
		book->counts.asked++;
	else
		book->warmup++;
}

/* Stamp, kick, stamp; nothing is counted before, for a store that is still under way is part of
 * what the kernel's first lock waits for. A kick that fails ends the run. */
static bool kick(struct tlat_pair *pair, struct cycle *cycle, const struct tlat_probe_side *side,
		 struct tlat_book *book)
{
	struct tlat_probe_ctx *ctx = pair->ctx;
	int (*wake)(struct tlat_probe_ctx *) = ctx->ops->kick; /* looked up outside */

	cycle->t0 = tlat_stamp_begin(&ctx->stamper);
	cycle->woken = wake(ctx);
	cycle->t1 = tlat_stamp_end(&ctx->stamper);
	cycle->kicked = true;
	cycle->seq++;
	count_cycle(cycle, book);
	book->untold = cycle->woken == TLAT_KICK_UNTOLD;
	if (cycle->woken < 0) {
		book->counts.unfinished += cycle->measured;
		book->end = TLAT_END_ERROR;
		book->error = cycle->woken;
		return false;
	}
	if (pair->reply)
		await_reply(pair, cycle, side, book);
	return true;
}

void tlat_run_waker(struct tlat_pair *pair, const struct tlat_probe_side *side,
		    struct tlat_book *book)
{
	struct cycle cycle = { .first = tlat_stamp_begin(&pair->ctx->stamper) };

	while (finish_cycle(pair, &cycle, book)) {
		cycle.announced = pair->waiter.announced;
		if (!within_limits(pair, &cycle, book))
			break;
		cycle.measured = is_measured(pair, &cycle, book);
		if (!settle(pair, kick_time(pair, &cycle, book), book) ||
		    !kick(pair, &cycle, side, book))
			break;
	}
	book->ended = tlat_stamp_end(&pair->ctx->stamper);
	book->rests = pair->waiter.rests;
	atomic_store(pair->stop, 1);
	pair->ctx->ops->kick(pair->ctx);
}

/* == Solo == */

/* Enter one expiry and the slots it passed over; go on to the next slot. */
static void book_expiry(struct tlat_grid *grid, struct tlat_book *book, uint64_t next, uint64_t at)
{
	struct tlat_counts *counts = &book->counts;
	uint64_t slot = grid->slot;

	grid->slot = next;
	if (slot < grid->first) {
		book->warmup++;
		tlat_grid_begin_at(grid, next);
		return;
	}
	if (!book->started)
		book->started = grid->due;
	if (next > grid->last)
		next = grid->last;
	counts->asked += next - slot;
	counts->missed += next - slot - 1;
	tlat_book_record(book, (int64_t)(at - grid->due), grid->due, sched_getcpu());
}

/* One armed slot until its expiry. 0, -EINTR when the run ended meanwhile, or the failure. */
static int solo_cycle(struct tlat_solo *solo, struct tlat_grid *grid,
		      const struct tlat_probe_side *side, struct tlat_book *book, bool armed)
{
	struct tlat_probe_ctx *ctx = solo->ctx;
	const struct tlat_probe_ops *ops = ctx->ops;
	struct tlat_probe_event event = { .n = 1 };
	int error = 0;

	if (ops->ready)
		ops->ready(ctx, side);
	grid->due = tlat_grid_point(grid, grid->slot);
	if (ops->due)
		grid->due = ops->due(ctx, tlat_stamp_begin(&ctx->stamper), grid->due);
	if (!armed || !(ops->flags & TLAT_PROBE_PERIODIC))
		error = ops->arm(ctx, tlat_grid_point(grid, grid->slot));
	if (!error)
		error = ops->wait(ctx, side, &event);
	if (error)
		return error;
	book->ended = event.at;
	book_expiry(grid, book,
		    ops->flags & TLAT_PROBE_PERIODIC ? grid->slot + event.n
						     : tlat_grid_after(grid, event.at),
		    event.at);
	return 0;
}

/* The slot under way when the run ended. */
static void solo_abandon(const struct tlat_grid *grid, struct tlat_book *book, int error)
{
	book->end = error == -EINTR ? TLAT_END_SIGNAL : TLAT_END_ERROR;
	book->error = error == -EINTR ? 0 : error;
	if (grid->slot < grid->first || grid->slot >= grid->last)
		return;
	book->counts.asked++;
	book->counts.unfinished++;
}

void tlat_run_solo(struct tlat_solo *solo, const struct tlat_probe_side *side,
		   struct tlat_book *book)
{
	const struct tlat_limits *limits = &solo->limits;
	struct tlat_census census;
	struct tlat_grid grid;
	uint64_t ignored = 0;
	bool armed = false;
	int error = 0;

	tlat_grid_init(&grid, solo, tlat_stamp_begin(&solo->ctx->stamper));
	tlat_census_look(&census);
	book->end = limits->samples <= grid.last - grid.first ? TLAT_END_COUNT : TLAT_END_TIME;
	while (grid.slot < grid.last && !requested(limits)) {
		error = solo_cycle(solo, &grid, side, book, armed);
		if (error)
			break;
		armed = true;
		if (++census.waits < TLAT_CENSUS_CYCLES)
			continue;
		tlat_census_take(&census, &ignored,
				 &book->counts.disturbed[TLAT_DISTURBED_PREEMPTED]);
	}
	tlat_census_take(&census, &ignored, &book->counts.disturbed[TLAT_DISTURBED_PREEMPTED]);
	if (error)
		solo_abandon(&grid, book, error);
	else if (grid.slot < grid.last)
		book->end = TLAT_END_SIGNAL;
}

/* == Loopback == */

static void loopback_cycle(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			   struct tlat_book *book)
{
	struct tlat_probe_event event = { .n = 1 };
	uint64_t t0 = tlat_stamp_begin(&ctx->stamper);

	ctx->ops->kick(ctx);
	ctx->ops->wait(ctx, side, &event);
	book->ended = event.at;
	if (!book->started) {
		book->warmup++;
		return;
	}
	book->counts.asked++;
	tlat_book_record(book, (int64_t)(event.at - t0), t0, -1);
}

void tlat_run_loopback(struct tlat_probe_ctx *ctx, const struct tlat_limits *limits,
		       const struct tlat_probe_side *side, struct tlat_book *book)
{
	uint64_t first = tlat_stamp_begin(&ctx->stamper), rested = first;

	book->ended = first;
	book->end = TLAT_END_COUNT;
	while (book->counts.asked < limits->samples && !requested(limits)) {
		if (!book->started &&
		    (book->warmup >= limits->warmup || book->ended - first >= limits->warmup_span))
			book->started = book->ended;
		if (book->started && book->ended - book->started >= limits->duration) {
			book->end = TLAT_END_TIME;
			break;
		}
		if (limits->rest_after && book->ended - rested >= limits->rest_after) {
			rest(limits);
			rested = tlat_stamp_begin(&ctx->stamper);
			book->rests++;
		}
		loopback_cycle(ctx, side, book);
	}
	if (requested(limits))
		book->end = TLAT_END_SIGNAL;
}
