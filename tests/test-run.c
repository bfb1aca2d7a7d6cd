// SPDX-License-Identifier: MIT
/*
 * test-run.c - the real loops under a scripted clock: stalls, early stamps,
 * lost wakes, stops in mid-cycle, missed periods. Nothing here depends on how
 * fast this machine is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "run_thread.h"

/* == A world: virtual time, and what happens in each cycle == */

enum fate {
	FATE_WAKE,   /* as it should be */
	FATE_AWAKE,  /* the kick says that nobody slept */
	FATE_LOST,   /* the wake never comes */
	FATE_EARLY,  /* the waiter's stamp is before the kick's */
	FATE_TWICE,  /* one kick, two wakes */
	FATE_MERGED, /* the event says that it stands for two kicks */
	FATE_PAUSED, /* something keeps the waiter from its CPU as it wakes */
	FATE_STOP,   /* somebody asks for the end, and the wake is lost */
	FATE_COUNT,
};

#define AWAY  100000ULL	 /* longer than anything that a loop does by itself */
#define PAUSE 1000000ULL /* something keeps a thread from its CPU */

struct world {
	atomic_ullong now;
	uint64_t step; /* virtual time per stamp */
	atomic_int request, stop;
	/* pair */
	atomic_uint word;  /* counts the kicks that get through */
	atomic_uint taken; /* those after which the waiter is asleep again */
	const enum fate *fates;
	size_t n_fates;
	size_t kicks; /* fates used up; the waker's own */
	atomic_bool early, merged;
	/* solo */
	const int64_t *lateness;
	size_t n_lateness, waits;
	uint64_t due;
	uint64_t first_due;
	bool stop_at_end;
	bool complete;
	uint64_t rest_after;
	/* a pause: before the n-th stamp, or before a side is ready; 0: never */
	unsigned int pause_at_stamp, pause_at_ready[2];
	atomic_uint stamps, readies[2];
};

static struct world *world_of(const struct tlat_probe_ctx *ctx)
{
	return ctx->shared;
}

/* Virtual time stands still until the waiter sleeps, however long this machine takes over that. */
static uint64_t play(void *data, enum tlat_stamp_edge edge)
{
	struct world *world = data;
	bool asleep = atomic_load(&world->taken) == atomic_load(&world->word);

	(void)edge;
	if (atomic_fetch_add(&world->stamps, 1) + 1 == world->pause_at_stamp)
		atomic_fetch_add(&world->now, PAUSE);
	if (!asleep && !atomic_load(&world->stop))
		return atomic_load(&world->now);
	return atomic_fetch_add(&world->now, world->step);
}

static struct tlat_stamper stamper(struct world *world)
{
	return (struct tlat_stamper){ .kind = TLAT_STAMP_SCRIPT, .script = play, .data = world };
}

static int scripted_kick(struct tlat_probe_ctx *ctx)
{
	struct world *world = world_of(ctx);
	enum fate fate = world->kicks < world->n_fates ? world->fates[world->kicks] : FATE_WAKE;

	world->kicks++;
	if (atomic_load(&world->stop))
		return 1;
	if (fate == FATE_STOP)
		atomic_store(&world->request, 1);
	if (fate == FATE_LOST || fate == FATE_STOP)
		return 1;
	atomic_store(&world->early, fate == FATE_EARLY);
	atomic_store(&world->merged, fate == FATE_MERGED);
	if (fate == FATE_PAUSED)
		atomic_fetch_add(&world->now, PAUSE);
	atomic_fetch_add(&world->word, fate == FATE_TWICE ? 2 : 1);
	return fate != FATE_AWAKE;
}

static int scripted_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			 struct tlat_probe_event *event)
{
	struct world *world = world_of(ctx);
	unsigned int *seen = side->state;

	atomic_store(&world->taken, *seen);
	while (atomic_load(&world->word) == *seen) {
		if (tlat_probe_stopping(ctx))
			return -EINTR;
		sched_yield();
	}
	++*seen;
	event->at = tlat_stamp(ctx);
	event->back = event->at + 30;
	event->n = atomic_load(&world->merged) ? 2 : 1;
	if (atomic_load(&world->early))
		event->at -= 1000000;
	return 0;
}

static void scripted_ready(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct world *world = world_of(ctx);

	if (atomic_fetch_add(&world->readies[side->role], 1) + 1 ==
	    world->pause_at_ready[side->role])
		atomic_fetch_add(&world->now, PAUSE);
}

static const struct tlat_probe_ops scripted_pair = {
	.name = "scripted-pair",
	.flags = TLAT_PROBE_PAIR,
	.ready = scripted_ready,
	.kick = scripted_kick,
	.wait = scripted_wait,
};

static int scripted_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct world *world = world_of(ctx);

	world->due = due;
	if (!world->first_due)
		world->first_due = due;
	return 0;
}

/* Time goes on to the programmed expiry plus the lateness of the script. */
static int scripted_expiry(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			   struct tlat_probe_event *event)
{
	struct world *world = world_of(ctx);
	int64_t late = world->waits < world->n_lateness ? world->lateness[world->waits] : 0;

	(void)side;
	world->waits++;
	if (world->waits > world->n_lateness && world->stop_at_end) {
		atomic_store(&world->request, 1);
		return -EINTR;
	}
	atomic_store(&world->now, world->due + (uint64_t)late);
	event->at = tlat_stamp(ctx);
	return 0;
}

/* The same, periodic: the kernel counts the expiries and keeps the grid. */
static int scripted_ticks(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			  struct tlat_probe_event *event)
{
	struct world *world = world_of(ctx);
	int error = scripted_expiry(ctx, side, event);

	if (error)
		return error;
	event->n = event->at < world->due
			   ? 1
			   : (event->at - world->due) / (uint64_t)ctx->interval_ns + 1;
	world->due += event->n * (uint64_t)ctx->interval_ns;
	return 0;
}

static const struct tlat_probe_ops scripted_solo = {
	.name = "scripted-solo",
	.arm = scripted_arm,
	.wait = scripted_expiry,
};

static const struct tlat_probe_ops scripted_periodic = {
	.name = "scripted-periodic",
	.flags = TLAT_PROBE_PERIODIC,
	.arm = scripted_arm,
	.wait = scripted_ticks,
};

static void book_init(struct tlat_book *book)
{
	memset(book, 0, sizeof(*book));
	assert_int_equal(tlat_hist_new(&book->latency, TLAT_NSEC_PER_SEC), 0);
	assert_int_equal(tlat_hist_new(&book->dwell, TLAT_NSEC_PER_SEC), 0);
	assert_int_equal(tlat_hist_new(&book->call, TLAT_NSEC_PER_SEC), 0);
	book->outliers = calloc(1, sizeof(*book->outliers));
	book->ns_per_unit = 1.0;
	book->planned_cpu = -1;
}

static void book_free(struct tlat_book *book)
{
	tlat_hist_free(book->latency);
	tlat_hist_free(book->dwell);
	tlat_hist_free(book->call);
	tlat_hist_free(book->back);
	free(book->outliers);
}

/* The counts as a report has them. */
static struct tlat_counts final_counts(const struct tlat_book *book)
{
	struct tlat_counts counts = book->counts;

	counts.early = tlat_hist_early(book->latency);
	counts.overflow = tlat_hist_overflow(book->latency);
	counts.recorded = tlat_hist_count(book->latency) - counts.early - counts.overflow;
	return counts;
}

/* == Solo == */

#define PERIOD 1000000ULL

static const struct tlat_probe_ops scripted_relative = {
	.name = "scripted-relative",
	.flags = TLAT_PROBE_RELATIVE,
	.arm = scripted_arm,
	.wait = scripted_expiry,
};

static void run_solo(struct world *world, const struct tlat_probe_ops *ops, uint64_t samples,
		     struct tlat_book *book)
{
	struct tlat_probe_side side = { .role = TLAT_ROLE_WAIT };
	struct tlat_probe_ctx ctx = { .ops = ops,
				      .stamper = stamper(world),
				      .shared = world,
				      .stop = &world->stop,
				      .interval_ns = PERIOD };
	struct tlat_solo solo = { .ctx = &ctx,
				  .interval = PERIOD,
				  .phase = 12345,
				  .tick = 4000000,
				  .complete = world->complete,
				  .limits = { .samples = samples,
					      .duration = UINT64_MAX,
					      .rest_after = world->rest_after,
					      .away = AWAY,
					      .request = &world->request } };

	atomic_store(&world->now, 1000000000);
	book_init(book);
	tlat_run_solo(&solo, &side, book);
}

static void lateness_is_recorded_exactly(void **state)
{
	const int64_t lateness[] = { 0, 5, 1000, 999999, 17 };
	struct world world = { .lateness = lateness, .n_lateness = 5 };
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_solo, 5, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.asked, 5);
	assert_int_equal(counts.recorded, 5);
	assert_int_equal(counts.missed, 0);
	assert_int_equal(tlat_hist_min(book.latency), 0);
	assert_int_equal(tlat_hist_max(book.latency), 999999);
	assert_int_equal(book.end, TLAT_END_COUNT);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	book_free(&book);
}

/* No clock but the script's, no sleep: 1 to 100 us, each once, each in its bin. */
static void a_scripted_clock_gives_exactly_its_histogram(void **state)
{
	int64_t lateness[100];
	struct world world = { .lateness = lateness, .n_lateness = 100 };
	struct tlat_book book;

	(void)state;
	for (int i = 0; i < 100; i++)
		lateness[i] = (i * 37 % 100 + 1) * 1000;
	run_solo(&world, &scripted_solo, 100, &book);
	assert_int_equal(tlat_hist_count(book.latency), 100);
	for (int64_t us = 1; us <= 100; us++)
		assert_int_equal(tlat_hist_slot_count(book.latency, tlat_hist_slot(us * 1000)), 1);
	assert_int_equal(tlat_hist_min(book.latency), 1000);
	assert_int_equal(tlat_hist_max(book.latency), 100000);
	assert_true(tlat_hist_quantile(book.latency, 0.5) >= 50000);
	assert_true(tlat_hist_quantile(book.latency, 0.5) <= 51000);
	book_free(&book);
}

static void what_is_missed_is_made_up_for_when_recorded_ones_are_counted(void **state)
{
	const int64_t lateness[] = { 7, 2500000, 7, 1000000, 7, 7, 7 };
	struct world world = { .lateness = lateness, .n_lateness = 7, .complete = true };
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_solo, 6, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.recorded, 6);
	assert_int_equal(counts.missed, 3);
	assert_int_equal(counts.asked, 9);
	assert_int_equal(world.waits, 6);
	assert_int_equal(book.end, TLAT_END_COUNT);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	book_free(&book);
}

static void a_grid_begins_at_its_phase(void **state)
{
	struct world world = { 0 };
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_solo, 3, &book);
	assert_int_equal(world.first_due % 4000000, 12345);
	assert_true(world.first_due >= 1000000000 + PERIOD);
	book_free(&book);
}

/* Late by exactly one period: the next grid point is not after the stamp, so it is missed. */
static void points_passed_over_are_missed(void **state)
{
	const int64_t lateness[] = { 0, PERIOD - 1, PERIOD, 30 * PERIOD + 7, 0 };
	struct world world = { .lateness = lateness, .n_lateness = 5 };
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_solo, 36, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.asked, 36);
	assert_int_equal(counts.missed, 0 + 0 + 1 + 30 + 0);
	assert_int_equal(counts.recorded, 5);
	assert_int_equal(tlat_hist_max(book.latency), 30 * PERIOD + 7);
	book_free(&book);
}

static void a_stall_over_the_end_counts_to_the_limit_only(void **state)
{
	const int64_t lateness[] = { 0, 1000 * PERIOD };
	struct world world = { .lateness = lateness, .n_lateness = 2 };
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_solo, 10, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.asked, 10);
	assert_int_equal(counts.missed, 8);
	assert_int_equal(counts.recorded, 2);
	book_free(&book);
}

static void early_and_overflow_are_kept_apart(void **state)
{
	const int64_t lateness[] = { -50, 100, 1LL << 38, 3 };
	struct world world = { .lateness = lateness, .n_lateness = 4 };
	uint64_t passed = (1ULL << 38) / PERIOD;
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_solo, passed + 4, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.early, 1);
	assert_int_equal(counts.overflow, 1);
	assert_int_equal(counts.recorded, 2);
	assert_int_equal(counts.missed, passed);
	assert_int_equal(tlat_hist_min(book.latency), -50);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	book_free(&book);
}

static void a_stop_in_mid_cycle_is_one_unfinished(void **state)
{
	const int64_t lateness[] = { 1, 2, 3 };
	struct world world = { .lateness = lateness, .n_lateness = 3, .stop_at_end = true };
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_solo, 100, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.asked, 4);
	assert_int_equal(counts.recorded, 3);
	assert_int_equal(counts.unfinished, 1);
	assert_int_equal(book.end, TLAT_END_SIGNAL);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	book_free(&book);
}

static void a_periodic_probe_counts_what_the_kernel_counted(void **state)
{
	const int64_t lateness[] = { 0, 5 * PERIOD + 1, 10, 2 * PERIOD };
	struct world world = { .lateness = lateness, .n_lateness = 4 };
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_periodic, 11, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.asked, 11);
	assert_int_equal(counts.missed, 5 + 2);
	assert_int_equal(counts.recorded, 4);
	book_free(&book);
}

/* Without an absolute deadline the loop is closed: late, but nothing is missed. */
static void a_relative_probe_misses_nothing(void **state)
{
	const int64_t lateness[] = { 10, 30 * PERIOD, 20 };
	struct world world = { .lateness = lateness, .n_lateness = 3 };
	struct tlat_counts counts;
	struct tlat_book book;

	(void)state;
	run_solo(&world, &scripted_relative, 3, &book);
	counts = final_counts(&book);
	assert_int_equal(counts.asked, 3);
	assert_int_equal(counts.recorded, 3);
	assert_int_equal(counts.missed, 0);
	assert_int_equal(tlat_hist_max(book.latency), 30 * PERIOD);
	book_free(&book);
}

/* A thread that spins rests: neither that nor the few expiries after it hide what keeps it away. */
static void a_pause_of_a_thread_that_spins_is_late_or_a_stop(void **state)
{
	(void)state;
	for (unsigned int at = 2; at < 40; at++) {
		struct world world = { .rest_after = 5 * PERIOD, .pause_at_stamp = at };
		struct tlat_book book;

		run_solo(&world, &scripted_solo, 40, &book);
		assert_true(book.rests > 3);
		if (book.stops)
			assert_true(book.stopped >= PAUSE);
		assert_int_equal(book.stops + (tlat_hist_max(book.latency) >= (int64_t)PAUSE), 1);
		book_free(&book);
	}
}

/* The identity holds on any schedule, and so does the list of values. */
static void any_schedule_adds_up(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 500; round++) {
		int64_t lateness[64];
		struct world world = { .lateness = lateness,
				       .n_lateness = 64,
				       .stop_at_end = rand() % 2 };
		struct tlat_counts counts;
		struct tlat_book book;

		for (int i = 0; i < 64; i++)
			lateness[i] = rand() % 10 ? rand() % 2000 - 20
						  : (int64_t)(rand() % 50) * (int64_t)PERIOD +
							    rand() % 3 - 1;
		run_solo(&world, round % 2 ? &scripted_solo : &scripted_periodic,
			 1 + (uint64_t)(rand() % 200), &book);
		counts = final_counts(&book);
		assert_int_equal(tlat_counts_balance(&counts), 0);
		assert_true(counts.unfinished <= 1);
		book_free(&book);
	}
}

/* == Pair == */

struct pair_test {
	struct world world;
	struct tlat_pair pair;
	struct tlat_probe_ctx ctx;
	unsigned int seen;
	struct tlat_book book;
};

static void *wait_side(void *arg)
{
	struct pair_test *t = arg;
	struct tlat_probe_side side = { .role = TLAT_ROLE_WAIT, .state = &t->seen };

	tlat_run_waiter(&t->pair, &side);
	return NULL;
}

static void pair_init(struct pair_test *t, const enum fate *fates, size_t n, uint64_t samples)
{
	memset(t, 0, sizeof(*t));
	t->world.fates = fates;
	t->world.n_fates = n;
	t->world.step = 10;
	t->world.taken = 1; /* no kick yet: the waiter is under way */
	atomic_store(&t->world.now, 1000000000);
	t->ctx = (struct tlat_probe_ctx){ .ops = &scripted_pair,
					  .stamper = stamper(&t->world),
					  .shared = &t->world,
					  .stop = &t->world.stop };
	t->pair.ctx = &t->ctx;
	t->pair.stop = &t->world.stop;
	t->pair.sleeps = true;
	t->pair.yields = true;
	t->pair.settle = 100;
	t->pair.dither = 7;
	t->pair.seed = 42;
	t->pair.wait_bound = 2000;
	t->pair.grace = 500;
	t->pair.nap_before = UINT64_MAX / 2;
	t->pair.limits = (struct tlat_limits){ .samples = samples,
					       .duration = UINT64_MAX,
					       .away = AWAY,
					       .request = &t->world.request };
	book_init(&t->book);
}

static struct pair_test *pair_new(const enum fate *fates, size_t n, uint64_t samples)
{
	struct pair_test *t = aligned_alloc(TLAT_CACHE_LINE, sizeof(*t));

	assert_non_null(t);
	pair_init(t, fates, n, samples);
	return t;
}

static void pair_free(struct pair_test *t)
{
	book_free(&t->book);
	free(t);
}

static struct tlat_counts run_pair(struct pair_test *t)
{
	struct tlat_probe_side side = { .role = TLAT_ROLE_KICK };
	pthread_t waiter;

	assert_int_equal(pthread_create(&waiter, NULL, wait_side, t), 0);
	tlat_run_waker(&t->pair, &side, NULL, &t->book);
	pthread_join(waiter, NULL);
	return final_counts(&t->book);
}

static void every_wake_is_recorded(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 200);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 200);
	assert_int_equal(counts.recorded, 200);
	assert_int_equal(tlat_hist_count(t->book.dwell), 200);
	assert_int_equal(tlat_hist_count(t->book.call), 200);
	assert_true(tlat_hist_min(t->book.dwell) >= 100);
	assert_int_equal(t->book.end, TLAT_END_COUNT);
	pair_free(t);
}

static void a_waiter_that_never_slept_is_rejected(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_AWAKE, FATE_WAKE, FATE_AWAKE };
	struct pair_test *t = pair_new(fates, 4, 10);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 10);
	assert_int_equal(counts.rejected[TLAT_REJECTED_NOT_ASLEEP], 2);
	assert_int_equal(counts.recorded, 8);
	pair_free(t);
}

static void a_wake_that_stands_for_two_kicks_is_rejected_as_coalesced(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_MERGED, FATE_WAKE, FATE_MERGED, FATE_MERGED };
	struct pair_test *t = pair_new(fates, 5, 10);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 10);
	assert_int_equal(counts.rejected[TLAT_REJECTED_COALESCED], 3);
	assert_int_equal(counts.recorded, 7);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	pair_free(t);
}

static void the_way_back_is_a_figure_of_its_own(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_AWAKE, FATE_WAKE };
	struct pair_test *t = pair_new(fates, 3, 20);
	struct tlat_counts counts;

	(void)state;
	assert_int_equal(tlat_hist_new(&t->book.back, TLAT_NSEC_PER_SEC), 0);
	counts = run_pair(t);
	assert_int_equal(counts.recorded, 19);
	assert_int_equal(tlat_hist_count(t->book.back), 19);
	assert_int_equal(tlat_hist_min(t->book.back), 30);
	assert_int_equal(tlat_hist_max(t->book.back), 30);
	pair_free(t);
}

static void a_lost_wake_is_counted_and_the_run_goes_on(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_LOST, FATE_WAKE, FATE_WAKE };
	struct pair_test *t = pair_new(fates, 4, 10);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 10);
	assert_int_equal(counts.rejected[TLAT_REJECTED_TIMEOUT], 1);
	assert_int_equal(counts.recorded, 9);
	assert_true(t->book.lost_wake);
	pair_free(t);
}

static void two_lost_wakes_in_a_row_end_the_run(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_LOST, FATE_LOST };
	struct pair_test *t = pair_new(fates, 3, 10);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 2);
	assert_int_equal(counts.recorded, 1);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	assert_int_equal(t->book.end, TLAT_END_ERROR);
	pair_free(t);
}

static void an_early_stamp_is_kept_as_early(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_EARLY };
	struct pair_test *t = pair_new(fates, 2, 5);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.early, 1);
	assert_int_equal(counts.recorded, 4);
	assert_true(tlat_hist_min(t->book.latency) < 0);
	pair_free(t);
}

static void a_stop_while_a_wake_is_out_is_one_unfinished(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_WAKE, FATE_STOP };
	struct pair_test *t = pair_new(fates, 3, 100);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 3);
	assert_int_equal(counts.recorded, 2);
	assert_int_equal(counts.unfinished, 1);
	assert_int_equal(t->book.end, TLAT_END_SIGNAL);
	pair_free(t);
}

static void a_slot_that_has_passed_is_late_not_lost(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 50);
	struct tlat_counts counts;

	(void)state;
	t->pair.interval = 20; /* shorter than any cycle */
	counts = run_pair(t);
	assert_int_equal(counts.asked, 50);
	assert_int_equal(counts.recorded, 50);
	assert_true(counts.disturbed[TLAT_DISTURBED_LATE_SLOT] > 0);
	assert_true(counts.disturbed[TLAT_DISTURBED_LATE_SLOT] <= 50);
	pair_free(t);
}

static void warm_up_is_not_asked(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 20);
	struct tlat_counts counts;

	(void)state;
	t->pair.limits.warmup = 15;
	t->pair.limits.warmup_span = UINT64_MAX;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 20);
	assert_int_equal(counts.recorded, 20);
	assert_int_equal(t->book.warmup, 15);
	pair_free(t);
}

/* What the caller asked for is not cut short, by a limit on the measurement that follows either. */
static void warm_up_that_was_asked_for_is_not_cut_short(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 20);
	struct tlat_counts counts;

	(void)state;
	t->pair.limits.warmup = 150;
	t->pair.limits.warmup_span = UINT64_MAX;
	t->pair.limits.samples = UINT64_MAX;
	t->pair.limits.duration = 20 * t->pair.settle;
	counts = run_pair(t);
	assert_int_equal(t->book.warmup, 150);
	assert_true(counts.asked > 0);
	assert_int_equal(t->book.end, TLAT_END_TIME);
	pair_free(t);
}

/* The waiter, of the higher priority, announces before the waker has looked at the clock. */
static void warm_up_has_its_cycles_when_the_waiter_is_first(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 20);
	struct tlat_probe_side side = { .role = TLAT_ROLE_KICK };
	pthread_t waiter;

	(void)state;
	t->pair.limits.warmup = 15;
	t->pair.limits.warmup_span = 1000000000;
	assert_int_equal(pthread_create(&waiter, NULL, wait_side, t), 0);
	while (!atomic_load(&t->pair.waiter.announced_seq))
		sched_yield();
	atomic_fetch_add(&t->world.now, 1000);
	tlat_run_waker(&t->pair, &side, NULL, &t->book);
	pthread_join(waiter, NULL);
	assert_int_equal(t->book.warmup, 15);
	assert_int_equal(t->book.counts.asked, 20);
	pair_free(t);
}

/* An event too many must not leave every later cycle with the stamp of the one before. */
static void a_wake_too_many_costs_one_cycle_only(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_TWICE, FATE_WAKE, FATE_WAKE };
	struct pair_test *t = pair_new(fates, 4, 50);
	struct tlat_counts counts;

	(void)state;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 50);
	assert_int_equal(counts.early, 0);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	assert_true(counts.rejected[TLAT_REJECTED_NOT_ASLEEP] <= 2);
	assert_true(counts.recorded >= 48);
	pair_free(t);
}

static void a_run_ends_in_time_however_far_the_kick_is(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 1000);
	struct tlat_counts counts;

	(void)state;
	t->pair.settle = 1000000000000;
	t->pair.limits.duration = 50000;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 0);
	assert_int_equal(t->book.end, TLAT_END_TIME);
	pair_free(t);
}

static void after_a_rest_three_cycles_are_not_measured(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 200);
	struct tlat_counts counts;

	(void)state;
	t->pair.limits.rest_after = 5000; /* script time */
	t->pair.limits.rest_ns = 1000;
	counts = run_pair(t);
	assert_int_equal(counts.asked, 200);
	assert_true(t->book.rests > 0);
	assert_true(t->book.warmup >= TLAT_REST_CYCLES);
	assert_int_equal(t->book.stops, 0);
	assert_int_equal(tlat_counts_balance(&counts), 0);
	pair_free(t);
}

/* The waiter rests after each. */
static void cycles_that_are_all_there_is_between_two_rests_are_measured(void **state)
{
	struct pair_test *t = pair_new(NULL, 0, 50);

	(void)state;
	t->pair.limits.rest_after = 1;
	assert_int_equal(run_pair(t).asked, 50);
	assert_in_range(t->book.warmup, 40, 60);
	pair_free(t);
}

/* A throttled thread, say: outside of the measured wakes no sample would tell of it. */
static void a_pause_is_in_a_sample_or_a_stop(void **state)
{
	const enum fate fates[] = { FATE_WAKE, FATE_PAUSED };
	const struct {
		size_t n_fates;
		unsigned int ready[2]; /* 5: in the measurement */
		uint64_t warmup;
		bool in_sample;
	} cases[] = { { .ready[TLAT_ROLE_WAIT] = 5 },
		      { .ready[TLAT_ROLE_KICK] = 5 },
		      { .n_fates = 2, .warmup = 2 },
		      { .n_fates = 2, .in_sample = true } };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		struct pair_test *t = pair_new(fates, cases[i].n_fates, 20);

		memcpy(t->world.pause_at_ready, cases[i].ready, sizeof(cases[i].ready));
		t->pair.limits.warmup = cases[i].warmup;
		t->pair.limits.warmup_span = UINT64_MAX;
		run_pair(t);
		assert_int_equal(tlat_hist_max(t->book.latency) >= (int64_t)PAUSE,
				 cases[i].in_sample);
		assert_int_equal(t->book.stops, !cases[i].in_sample);
		assert_true(cases[i].in_sample || t->book.stopped >= PAUSE);
		pair_free(t);
	}
}

/* == Round trip: the same world on the way back, where the waker sleeps == */

struct round_trip_test {
	struct pair_test pair;
	struct world back;
	struct tlat_probe_ctx reply;
	unsigned int seen, stall_at, stall_steps, fail_at;
};

/* The waiter has replied, and loses its CPU before it announces: time goes on while the waker
 * looks, for much longer than a wake may take. */
static void stalling_ready(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	struct round_trip_test *t = ctx->shared;
	struct world *world = &t->pair.world;

	if (ctx == &t->reply)
		atomic_fetch_add(&t->back.readies[side->role], 1);
	if (side->role != TLAT_ROLE_WAIT || ctx == &t->reply ||
	    atomic_fetch_add(&world->readies[TLAT_ROLE_WAIT], 1) + 1 != t->stall_at)
		return;
	for (unsigned int i = 0; i < t->stall_steps; i++) {
		unsigned int before = atomic_load(&world->stamps);

		atomic_fetch_add(&world->now, t->pair.pair.wait_bound);
		while (atomic_load(&world->stamps) - before < 4)
			sched_yield();
	}
}

/* Each way has its world; the probe's state begins with it or holds it. */
static struct tlat_probe_ctx in_world(struct tlat_probe_ctx *ctx)
{
	struct round_trip_test *t = ctx->shared;
	struct tlat_probe_ctx own = *ctx;

	own.shared = ctx == &t->reply ? &t->back : &t->pair.world;
	return own;
}

static int kick_on_a_way(struct tlat_probe_ctx *ctx)
{
	struct round_trip_test *t = ctx->shared;
	struct tlat_probe_ctx own = in_world(ctx);

	if (ctx == &t->reply && t->back.kicks + 1 == t->fail_at)
		return -EAGAIN;
	return scripted_kick(&own);
}

static int wait_on_a_way(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			 struct tlat_probe_event *event)
{
	struct tlat_probe_ctx own = in_world(ctx);

	return scripted_wait(&own, side, event);
}

static const struct tlat_probe_ops scripted_ways = {
	.name = "scripted-ways",
	.flags = TLAT_PROBE_PAIR,
	.ready = stalling_ready,
	.kick = kick_on_a_way,
	.wait = wait_on_a_way,
};

static struct round_trip_test *round_trip_new(uint64_t samples)
{
	struct round_trip_test *t = aligned_alloc(TLAT_CACHE_LINE, sizeof(*t));

	assert_non_null(t);
	memset(t, 0, sizeof(*t));
	pair_init(&t->pair, NULL, 0, samples);
	t->pair.ctx.ops = &scripted_ways;
	t->pair.ctx.shared = t;
	t->reply = t->pair.ctx;
	t->pair.pair.reply = &t->reply;
	return t;
}

static struct tlat_counts run_round_trip(struct round_trip_test *t)
{
	struct tlat_probe_side side = { .role = TLAT_ROLE_KICK };
	struct tlat_probe_side reply = { .role = TLAT_ROLE_WAIT, .state = &t->seen };
	pthread_t waiter;

	assert_int_equal(pthread_create(&waiter, NULL, wait_side, &t->pair), 0);
	tlat_run_waker(&t->pair.pair, &side, &reply, &t->pair.book);
	pthread_join(waiter, NULL);
	return final_counts(&t->pair.book);
}

static void round_trip_free(struct round_trip_test *t)
{
	book_free(&t->pair.book);
	free(t);
}

/* A second kick would bring a second reply, and every later cycle the one before its own. */
static void a_waiter_that_stalls_after_its_reply_is_not_kicked_again(void **state)
{
	struct round_trip_test *t = round_trip_new(50);
	struct tlat_counts counts;

	(void)state;
	t->stall_at = 10;
	t->stall_steps = 10;
	counts = run_round_trip(t);
	assert_int_equal(counts.asked, 50);
	assert_int_equal(counts.recorded, 50);
	assert_false(t->pair.book.lost_wake);
	assert_int_equal(t->pair.book.stops, 0);       /* shorter than AWAY */
	assert_int_equal(t->pair.world.kicks, 50 + 1); /* the last one ends the waiter's loop */
	assert_int_equal(t->back.kicks, 50);
	assert_int_equal(t->seen, atomic_load(&t->back.word));
	round_trip_free(t);
}

static void who_waits_for_a_reply_gets_ready_for_it(void **state)
{
	struct round_trip_test *t = round_trip_new(20);

	(void)state;
	run_round_trip(t);
	assert_int_equal(t->back.readies[TLAT_ROLE_WAIT], 20);
	round_trip_free(t);
}

/* What the controller does then: the waker sleeps for a reply that never comes. */
static void *interrupt_the_waker(void *arg)
{
	struct round_trip_test *t = arg;

	while (!atomic_load(&t->pair.pair.waiter.gone))
		sched_yield();
	atomic_store(&t->pair.world.stop, 1);
	return NULL;
}

static void a_reply_that_fails_ends_the_run(void **state)
{
	struct round_trip_test *t = round_trip_new(20);
	struct tlat_counts counts;
	pthread_t controller;

	(void)state;
	t->fail_at = 8;
	assert_int_equal(pthread_create(&controller, NULL, interrupt_the_waker, t), 0);
	counts = run_round_trip(t);
	pthread_join(controller, NULL);
	assert_int_equal(counts.asked, 8);
	assert_int_equal(counts.recorded, 7);
	assert_int_equal(counts.unfinished, 1);
	assert_int_equal(t->pair.book.end, TLAT_END_ERROR);
	assert_int_equal(t->pair.book.error, -EAGAIN);
	round_trip_free(t);
}

/* == Both == */

/* The waiter stamps its wake, and loses its CPU before it announces the next one. */
static void a_wake_that_came_is_not_lost_by_a_stall_behind_it(void **state)
{
	struct round_trip_test *t = round_trip_new(30);
	struct tlat_counts counts;

	(void)state;
	t->pair.pair.reply = NULL;
	t->stall_at = 10;
	t->stall_steps = 1;
	counts = run_round_trip(t);
	assert_int_equal(counts.recorded, 30);
	assert_false(t->pair.book.lost_wake);
	round_trip_free(t);
}

static void any_fates_add_up(void **state)
{
	struct pair_test *t = aligned_alloc(TLAT_CACHE_LINE, sizeof(*t));

	(void)state;
	srand(2);
	for (int round = 0; round < 200; round++) {
		enum fate fates[40];
		struct tlat_counts counts;

		for (int i = 0; i < 40; i++)
			fates[i] = rand() % 4 ? FATE_WAKE : (enum fate)(rand() % FATE_COUNT);
		pair_init(t, fates, 40, 1 + (uint64_t)(rand() % 60));
		t->pair.limits.rest_after = rand() % 2 ? 3000 : 0;
		t->pair.limits.rest_ns = 100;
		t->pair.limits.warmup = (uint64_t)(rand() % 5);
		t->pair.limits.warmup_span = UINT64_MAX;
		t->pair.interval = rand() % 2 ? 150 : 0;
		counts = run_pair(t);
		assert_int_equal(tlat_counts_balance(&counts), 0);
		assert_true(counts.unfinished <= 1);
		assert_true(counts.asked <= t->pair.limits.samples);
		book_free(&t->book);
	}
	free(t);
}

/* == Loopback, outliers, the skeleton == */

static void run_loopback(struct world *world, uint64_t samples, uint64_t rest_after,
			 struct tlat_book *book)
{
	extern const struct tlat_probe_ops tlat_probe_null;
	struct tlat_probe_ctx ctx = { .ops = &tlat_probe_null,
				      .stamper = stamper(world),
				      .shared = world,
				      .stop = &world->stop };
	struct tlat_limits limits = { .samples = samples,
				      .duration = UINT64_MAX,
				      .warmup = 10,
				      .warmup_span = UINT64_MAX,
				      .rest_after = rest_after,
				      .away = AWAY,
				      .request = &world->request };
	struct tlat_probe_side side = { .role = TLAT_ROLE_WAIT };

	atomic_store(&world->now, 1000);
	book_init(book);
	tlat_run_loopback(&ctx, &limits, &side, book);
}

static void a_loopback_measures_exactly_what_it_is_asked(void **state)
{
	struct world world = { .step = 3 };
	struct tlat_book book;

	(void)state;
	run_loopback(&world, 1000, 0, &book);
	assert_int_equal(tlat_hist_count(book.latency), 1000);
	assert_int_equal(tlat_hist_min(book.latency), 3);
	assert_int_equal(tlat_hist_max(book.latency), 3);
	assert_int_equal(book.warmup, 10);
	assert_int_equal(book.stops, 0);
	book_free(&book);
}

static void a_loopback_that_rests_after_each_cycle_measures_too(void **state)
{
	struct world world = { .step = 3 };
	struct tlat_book book;

	(void)state;
	run_loopback(&world, 50, 1, &book);
	assert_int_equal(tlat_hist_count(book.latency), 50);
	book_free(&book);
}

/* Three cycles are cold after a rest, also where the warm-up ends with it. */
static void a_rest_at_the_end_of_warm_up_is_left_out_too(void **state)
{
	uint64_t most = 0;

	(void)state;
	for (uint64_t rest_after = 30; rest_after < 200; rest_after++) {
		struct world world = { .step = 3 };
		struct tlat_book book;

		run_loopback(&world, 1, rest_after, &book);
		most = book.warmup > most ? book.warmup : most;
		book_free(&book);
	}
	assert_int_equal(most, 10 + TLAT_REST_CYCLES);
}

static void a_pause_of_a_loopback_is_in_a_sample_or_a_stop(void **state)
{
	(void)state;
	for (unsigned int at = 2; at < 200; at++) {
		struct world world = { .step = 3, .pause_at_stamp = at };
		struct tlat_book book;

		run_loopback(&world, 120, 100, &book);
		assert_true(book.rests > 3);
		assert_int_equal(book.stops + (tlat_hist_max(book.latency) >= (int64_t)PAUSE), 1);
		book_free(&book);
	}
}

static int by_value_down(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void the_largest_values_are_kept(void **state)
{
	struct tlat_outliers *outliers = calloc(1, sizeof(*outliers));
	int64_t all[5000], kept[TLAT_OUTLIERS_MAX];

	(void)state;
	srand(3);
	for (int i = 0; i < 5000; i++) {
		all[i] = rand();
		tlat_outliers_offer(outliers, &(struct tlat_outlier){ .value = all[i] });
	}
	qsort(all, 5000, sizeof(*all), by_value_down);
	assert_int_equal(outliers->n, TLAT_OUTLIERS_MAX);
	for (size_t i = 0; i < TLAT_OUTLIERS_MAX; i++)
		kept[i] = outliers->v[i].value;
	qsort(kept, TLAT_OUTLIERS_MAX, sizeof(*kept), by_value_down);
	assert_memory_equal(all, kept, sizeof(kept));
	free(outliers);
}

struct skeleton_test {
	struct tlat_instance in;
	struct tlat_book book;
};

static void *skeleton_waiter(void *arg)
{
	struct skeleton_test *t = arg;
	const struct tlat_probe_side *side = &t->in.measurers[0].side;

	t->in.ctx->ops->enter(t->in.ctx, side, NULL);
	tlat_run_waiter(t->in.pair, side);
	t->in.ctx->ops->leave(t->in.ctx, side);
	return NULL;
}

/* The template that contributors copy is a working probe. */
static void the_skeleton_measures(void **state)
{
	extern const struct tlat_probe_ops tlat_probe_skeleton;
	struct world world = { .step = 100 };
	struct skeleton_test *t = aligned_alloc(TLAT_CACHE_LINE, sizeof(*t));
	struct tlat_run_opts opts = TLAT_RUN_OPTS(.probe = "skeleton");
	struct tlat_clock *clock;
	struct tlat_counts counts;
	pthread_t waiter;

	(void)state;
	memset(t, 0, sizeof(*t));
	atomic_store(&world.now, 1000);
	assert_int_equal(tlat_probe_skeleton.supported(NULL), 0);
	assert_int_equal(tlat_clock_open_script(&clock, play, &world, TLAT_NSEC_PER_SEC), 0);
	assert_int_equal(tlat_instance_map(&t->in, &tlat_probe_skeleton, NULL), 0);
	assert_int_equal(tlat_instance_open(&t->in, &tlat_probe_skeleton, &opts, clock, NULL), 0);
	t->in.pair->ctx = t->in.ctx;
	t->in.pair->stop = t->in.stop;
	t->in.pair->yields = true;
	t->in.pair->wait_bound = t->in.pair->grace = UINT64_MAX;
	t->in.pair->nap_before = INT64_MAX;
	t->in.pair->limits = (struct tlat_limits){
		.samples = 100, .duration = UINT64_MAX, .away = INT64_MAX, .request = &world.request
	};
	book_init(&t->book);
	assert_int_equal(pthread_create(&waiter, NULL, skeleton_waiter, t), 0);
	tlat_run_waker(t->in.pair, &t->in.measurers[1].side, NULL, &t->book);
	pthread_join(waiter, NULL);
	counts = final_counts(&t->book);
	assert_int_equal(counts.asked, 100);
	assert_int_equal(counts.recorded, 100);
	/* its kick does not say whom it woke, which is no reason to reject a wake */
	assert_int_equal(counts.rejected[TLAT_REJECTED_NOT_ASLEEP], 0);
	tlat_instance_close(&t->in);
	tlat_clock_close(clock);
	book_free(&t->book);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lateness_is_recorded_exactly),
		cmocka_unit_test(a_scripted_clock_gives_exactly_its_histogram),
		cmocka_unit_test(what_is_missed_is_made_up_for_when_recorded_ones_are_counted),
		cmocka_unit_test(a_grid_begins_at_its_phase),
		cmocka_unit_test(points_passed_over_are_missed),
		cmocka_unit_test(a_stall_over_the_end_counts_to_the_limit_only),
		cmocka_unit_test(early_and_overflow_are_kept_apart),
		cmocka_unit_test(a_stop_in_mid_cycle_is_one_unfinished),
		cmocka_unit_test(a_periodic_probe_counts_what_the_kernel_counted),
		cmocka_unit_test(a_relative_probe_misses_nothing),
		cmocka_unit_test(a_pause_of_a_thread_that_spins_is_late_or_a_stop),
		cmocka_unit_test(any_schedule_adds_up),
		cmocka_unit_test(every_wake_is_recorded),
		cmocka_unit_test(a_waiter_that_never_slept_is_rejected),
		cmocka_unit_test(a_wake_that_stands_for_two_kicks_is_rejected_as_coalesced),
		cmocka_unit_test(the_way_back_is_a_figure_of_its_own),
		cmocka_unit_test(a_lost_wake_is_counted_and_the_run_goes_on),
		cmocka_unit_test(two_lost_wakes_in_a_row_end_the_run),
		cmocka_unit_test(an_early_stamp_is_kept_as_early),
		cmocka_unit_test(a_stop_while_a_wake_is_out_is_one_unfinished),
		cmocka_unit_test(a_slot_that_has_passed_is_late_not_lost),
		cmocka_unit_test(warm_up_is_not_asked),
		cmocka_unit_test(warm_up_that_was_asked_for_is_not_cut_short),
		cmocka_unit_test(warm_up_has_its_cycles_when_the_waiter_is_first),
		cmocka_unit_test(a_wake_too_many_costs_one_cycle_only),
		cmocka_unit_test(a_run_ends_in_time_however_far_the_kick_is),
		cmocka_unit_test(after_a_rest_three_cycles_are_not_measured),
		cmocka_unit_test(cycles_that_are_all_there_is_between_two_rests_are_measured),
		cmocka_unit_test(a_pause_is_in_a_sample_or_a_stop),
		cmocka_unit_test(a_waiter_that_stalls_after_its_reply_is_not_kicked_again),
		cmocka_unit_test(who_waits_for_a_reply_gets_ready_for_it),
		cmocka_unit_test(a_reply_that_fails_ends_the_run),
		cmocka_unit_test(a_wake_that_came_is_not_lost_by_a_stall_behind_it),
		cmocka_unit_test(any_fates_add_up),
		cmocka_unit_test(a_loopback_measures_exactly_what_it_is_asked),
		cmocka_unit_test(a_loopback_that_rests_after_each_cycle_measures_too),
		cmocka_unit_test(a_rest_at_the_end_of_warm_up_is_left_out_too),
		cmocka_unit_test(a_pause_of_a_loopback_is_in_a_sample_or_a_stop),
		cmocka_unit_test(the_largest_values_are_kept),
		cmocka_unit_test(the_skeleton_measures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
