// SPDX-License-Identifier: MIT
/*
 * test-timer-loop.c - the loop of timers under a scripted clock: what stalls hide, what a timer
 * that counts is held to, grids of several threads, closed loops, rests. Every list that is
 * compared with is made by counting slots one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "run_grid.h"

#define US     1000ULL
#define MS     1000000ULL
#define PERIOD MS
#define BASE   (1000 * MS) /* virtual time at the start */

/* == A world: one CPU that now and then stands still == */

struct world {
	uint64_t now;
	uint64_t step;		/* virtual time per stamp */
	uint64_t wake_ns;	/* lateness without a stall */
	uint64_t jitter_ns;	/* and up to so much more, the same for the same deadline */
	uint64_t every, length; /* a stall at each multiple of every; length 0: none */
	uint64_t due, interval;
	uint64_t waits;
	int64_t miscount; /* what a periodic timer adds to the count of its 10th event */
	int64_t misread;  /* what it adds to the time left at the end */
	atomic_int request, stop;
	uint64_t first_due;
};

static uint64_t play(void *data, enum tlat_stamp_edge edge)
{
	struct world *world = data;

	(void)edge;
	return world->now += world->step;
}

/* When a thread that wants to run at that time does. */
static uint64_t runs_at(const struct world *world, uint64_t at)
{
	uint64_t into = world->length ? at % world->every : 0;

	return world->length && into < world->length ? at - into + world->length : at;
}

/* When the wait for a deadline ends. */
static uint64_t served_at(const struct world *world, uint64_t due)
{
	uint64_t more = world->jitter_ns ? due / PERIOD * 7919 % world->jitter_ns : 0;

	return runs_at(world, due + world->wake_ns + more);
}

static int world_arm(struct tlat_probe_ctx *ctx, uint64_t due)
{
	struct world *world = ctx->shared;

	world->due = due;
	if (!world->first_due)
		world->first_due = due;
	return 0;
}

static int world_wait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		      struct tlat_probe_event *event)
{
	struct world *world = ctx->shared;
	uint64_t at = served_at(world, world->due);

	(void)side;
	world->waits++;
	world->now = at > world->now ? at : world->now;
	event->at = world->now;
	return 0;
}

/* The kernel keeps the grid, and counts. */
static int world_ticks(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		       struct tlat_probe_event *event)
{
	struct world *world = ctx->shared;

	world_wait(ctx, side, event);
	event->n = (event->at - world->due) / world->interval + 1;
	world->due += event->n * world->interval;
	event->n += world->waits == 10 ? (uint64_t)world->miscount : 0;
	return 0;
}

static int world_tally(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		       struct tlat_probe_tally *tally)
{
	struct world *world = ctx->shared;

	(void)side;
	tally->pending = world->now < world->due ? 0 : (world->now - world->due) / PERIOD + 1;
	world->due += tally->pending * PERIOD;
	tally->left_ns = world->due - world->now + (uint64_t)world->misread;
	return 0;
}

static const struct tlat_probe_ops absolute = { .arm = world_arm, .wait = world_wait };
static const struct tlat_probe_ops periodic = {
	.flags = TLAT_PROBE_PERIODIC, .arm = world_arm, .wait = world_ticks, .tally = world_tally
};
static const struct tlat_probe_ops relative = { .flags = TLAT_PROBE_RELATIVE,
						.arm = world_arm,
						.wait = world_wait };

struct bed {
	struct tlat_probe_ctx ctx;
	struct tlat_solo solo;
	struct tlat_book book;
	struct tlat_outliers outliers;
};

/* Ready to run; what differs is the test's to set. */
static struct bed *bed_new(struct world *world, const struct tlat_probe_ops *ops, uint64_t samples)
{
	struct bed *bed = aligned_alloc(TLAT_CACHE_LINE, sizeof(*bed));

	assert_non_null(bed);
	memset(bed, 0, sizeof(*bed));
	world->now = BASE;
	world->interval = PERIOD;
	bed->ctx = (struct tlat_probe_ctx){
		.ops = ops,
		.stamper = { .kind = TLAT_STAMP_SCRIPT, .script = play, .data = world },
		.shared = world,
		.stop = &world->stop,
		.interval_ns = PERIOD,
	};
	bed->solo = (struct tlat_solo){
		.ctx = &bed->ctx,
		.interval = PERIOD,
		.phase = 123456,
		.tick = 4 * MS,
		.limits = { .samples = samples,
			    .duration = UINT64_MAX,
			    .request = &world->request },
	};
	bed->book.ns_per_unit = 1.0;
	bed->book.planned_cpu = -1;
	bed->book.outliers = &bed->outliers;
	assert_int_equal(tlat_hist_new(&bed->book.latency, TLAT_NSEC_PER_SEC), 0);
	return bed;
}

static void bed_free(struct bed *bed)
{
	tlat_hist_free(bed->book.latency);
	free(bed);
}

static void run(struct bed *bed)
{
	struct tlat_probe_side side = { .role = TLAT_ROLE_WAIT };

	tlat_run_solo(&bed->solo, &side, &bed->book);
}

static struct tlat_counts counts_of(const struct bed *bed)
{
	struct tlat_counts counts = bed->book.counts;

	counts.early = tlat_hist_early(bed->book.latency);
	counts.overflow = tlat_hist_overflow(bed->book.latency);
	counts.recorded = tlat_hist_count(bed->book.latency) - counts.early - counts.overflow;
	assert_int_equal(tlat_counts_balance(&counts), 0);
	return counts;
}

/* == Looks at the switch counts == */

static struct {
	uint64_t taken;
} census;

void __wrap_tlat_census_take(struct tlat_census *c, uint64_t *not_asleep, uint64_t *preempted);

/* Each look finds a preemption. */
void __wrap_tlat_census_take(struct tlat_census *c, uint64_t *not_asleep, uint64_t *preempted)
{
	(void)not_asleep;
	census.taken++;
	c->waits = 0;
	++*preempted;
}

/* A look costs a timer's loop more than the rest of what it does between two waits. */
static void preemptions_are_looked_for_every_1024_cycles_and_at_the_end(void **state)
{
	static const struct {
		uint64_t samples, looks;
	} cases[] = { { 1, 1 }, { 1000, 1 }, { 1023, 1 }, { 1024, 2 }, { 5000, 5 } };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		struct world world = { .wake_ns = 5 * US };
		struct bed *bed = bed_new(&world, &absolute, cases[i].samples);

		bed->solo.limits.warmup = 300;
		bed->solo.limits.warmup_span = UINT64_MAX;
		census.taken = 0;
		run(bed);
		assert_int_equal(counts_of(bed).asked, cases[i].samples);
		assert_int_equal(census.taken, cases[i].looks);
		assert_int_equal(bed->book.counts.disturbed[TLAT_DISTURBED_PREEMPTED],
				 cases[i].looks);
		bed_free(bed);
	}
}

/* == Stalls == */

/* Every expiry of the grid, one by one: when it was served. What one thread that is woken for the
 * first of those that a stall hides records is the observed list. */
struct lists {
	int64_t *all, *observed;
	size_t n, n_observed;
};

static void enumerate(struct lists *lists, const struct world *world, uint64_t first, size_t n)
{
	uint64_t served_until = 0;

	*lists = (struct lists){ .all = calloc(n, sizeof(int64_t)),
				 .observed = calloc(n, sizeof(int64_t)) };
	for (size_t k = 0; k < n; k++) {
		uint64_t due = first + k * PERIOD;
		uint64_t at = due < served_until ? served_until : served_at(world, due);

		lists->all[lists->n++] = (int64_t)(at - due);
		if (due <= served_until && k)
			continue;
		lists->observed[lists->n_observed++] = (int64_t)(at - due);
		served_until = at;
	}
}

static void lists_free(struct lists *lists)
{
	free(lists->all);
	free(lists->observed);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* A quantile lies between the neighbours of its rank in the list, but for the width of a bin. */
static void assert_quantile(double value, int64_t *list, size_t n, double p)
{
	size_t rank = (size_t)(p * (double)n);
	double low, high;

	qsort(list, n, sizeof(*list), by_value);
	low = (double)list[rank < 1 ? 0 : rank - 1];
	high = (double)list[rank + 1 < n ? rank + 1 : n - 1];
	if (value < low * (1 - 1.0 / 1024) - 1 || value > high * (1 + 1.0 / 1024) + 1)
		fail_msg("p%g is %.0f, and %.0f to %.0f in the list", p * 100, value, low, high);
}

/* 30 ms each second (and a bit: no two alike), at a period of 1 ms, for 19.5 s: the end is not
 * within a stall. */
static void check_stalls(const struct tlat_probe_ops *ops)
{
	const double ps[] = { 0.5, 0.9, 0.96, 0.98, 0.99, 0.999 };
	struct world world = { .wake_ns = 5 * US,
			       .jitter_ns = 3 * US,
			       .every = 1000 * MS + 37 * US,
			       .length = 30 * MS };
	struct bed *bed = bed_new(&world, ops, 19500);
	struct tlat_result result = { .interval_ns = PERIOD, .latency = bed->book.latency };
	struct tlat_figures corrected;
	struct lists lists;

	run(bed);
	result.counts = counts_of(bed);
	enumerate(&lists, &world, world.first_due, 19500);
	assert_int_equal(result.counts.asked, 19500);
	assert_int_equal(result.counts.recorded, lists.n_observed);
	assert_int_equal(result.counts.missed, lists.n - lists.n_observed);
	assert_true(result.counts.missed > 19 * 28);
	assert_int_equal(tlat_result_corrected(&result, &corrected), result.counts.missed);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(ps); i++)
		assert_quantile(tlat_hist_quantile(bed->book.latency, ps[i]), lists.observed,
				lists.n_observed, ps[i]);
	for (size_t i = 0; i < 4; i++)
		assert_quantile(corrected.q[i].value, lists.all, lists.n, tlat_quantiles[i].p);
	assert_true(corrected.max_ns == (double)tlat_hist_max(bed->book.latency));
	lists_free(&lists);
	bed_free(bed);
}

static void stalls_hide_what_the_list_says(void **state)
{
	(void)state;
	check_stalls(&absolute);
	check_stalls(&periodic);
}

/* What others do: after a late wake go on at the next point ahead, and count nothing. */
static void a_loop_that_skips_past_now_is_wrong(void **state)
{
	struct world world = { .wake_ns = 5 * US,
			       .jitter_ns = 3 * US,
			       .every = 1000 * MS + 37 * US,
			       .length = 30 * MS };
	struct tlat_hist *hist;
	struct lists lists;
	uint64_t due = BASE + 123456, n = 0;

	(void)state;
	assert_int_equal(tlat_hist_new(&hist, TLAT_NSEC_PER_SEC), 0);
	enumerate(&lists, &world, due, 20000);
	for (; due < BASE + 123456 + 20000 * PERIOD; n++) {
		uint64_t at = served_at(&world, due);

		tlat_hist_record(hist, (int64_t)(at - due));
		while (due <= at)
			due += PERIOD;
	}
	qsort(lists.all, lists.n, sizeof(*lists.all), by_value);
	assert_true(n < lists.n - 500); /* it does not know how many it left out */
	assert_true(lists.all[lists.n * 99 / 100] > (int64_t)(15 * MS));
	assert_true(tlat_hist_quantile(hist, 0.99) < 10 * US); /* and calls that a p99 of 5 us */
	tlat_hist_free(hist);
	lists_free(&lists);
}

/* == Conservation == */

static void a_timer_that_counts_right_closes_its_account(void **state)
{
	(void)state;
	srand(11);
	for (int round = 0; round < 200; round++) {
		struct world world = { .wake_ns = (uint64_t)(rand() % 3000) * US,
				       .every = (uint64_t)(20 + rand() % 200) * MS,
				       .length = (uint64_t)(rand() % 15) * MS };
		struct bed *bed = bed_new(&world, &periodic, 1 + (uint64_t)(rand() % 500));

		run(bed);
		counts_of(bed);
		assert_true(bed->book.tally.closed);
		assert_int_equal(bed->book.tally.counted, bed->book.tally.expired);
		assert_int_equal(bed->book.tally.miscounts, 0);
		bed_free(bed);
	}
}

static void a_timer_that_counts_wrong_is_found_out(void **state)
{
	const int64_t wrong[] = { 1, 5, -1, -3 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(wrong); i++) {
		/* The 10th event stands for more than one, so that it can say less, too. */
		struct world world = { .wake_ns = 5 * US + 3 * PERIOD, .miscount = wrong[i] };
		struct bed *bed = bed_new(&world, &periodic, 100);

		run(bed);
		/* Too few is certain once a whole wait lies between. */
		assert_true(bed->book.tally.miscounts > 0 || wrong[i] < 0);
		assert_true(bed->book.tally.closed);
		assert_int_equal(bed->book.tally.counted,
				 bed->book.tally.expired + (uint64_t)wrong[i]);
		bed_free(bed);
	}
}

static void a_next_expiry_off_the_grid_is_found_out(void **state)
{
	struct world world = { .wake_ns = 5 * US, .misread = 100 * US };
	struct bed *bed = bed_new(&world, &periodic, 100);

	(void)state;
	run(bed);
	assert_true(bed->book.tally.closed);
	assert_int_equal(bed->book.tally.expired, 0);
	bed_free(bed);
}

/* == Grids of several threads == */

static void threads_count_from_one_point_of_time(void **state)
{
	struct world early = { .wake_ns = 5 * US }, late = early;
	struct bed *one = bed_new(&early, &absolute, 100), *two = bed_new(&late, &absolute, 100);

	(void)state;
	one->solo.start = two->solo.start = BASE - MS;
	two->solo.phase += 300 * US;
	late.now = BASE + 20 * MS + 7; /* that thread was slow to begin */
	run(one);
	run(two);
	assert_int_equal((late.first_due - early.first_due) % PERIOD, 300 * US);
	assert_true(late.first_due > BASE + 20 * MS);
	assert_int_equal(counts_of(one).asked, 100);
	assert_int_equal(counts_of(two).asked, 100);
	assert_int_equal(counts_of(two).missed, 0);
	bed_free(one);
	bed_free(two);
}

static void a_time_limit_asks_all_threads_for_the_same_number(void **state)
{
	uint64_t lengths[] = { 0, 5 * MS, 40 * MS };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(lengths); i++) {
		struct world world = { .wake_ns = 5 * US, .every = 100 * MS, .length = lengths[i] };
		struct bed *bed = bed_new(&world, &absolute, UINT64_MAX);

		bed->solo.limits.duration = 1000 * MS;
		bed->solo.limits.warmup = 20;
		bed->solo.limits.warmup_span = 200 * MS;
		run(bed);
		assert_int_equal(counts_of(bed).asked, 1000);
		assert_int_equal(bed->book.end, TLAT_END_TIME);
		bed_free(bed);
	}
}

/* == Closed loops, rests == */

static void a_closed_loop_ends_in_time(void **state)
{
	struct world world = { .wake_ns = 7 * MS }; /* each cycle takes 8 ms */
	struct bed *bed = bed_new(&world, &relative, UINT64_MAX);

	(void)state;
	bed->solo.limits.duration = 800 * MS;
	bed->solo.limits.warmup = 1000;
	bed->solo.limits.warmup_span = 80 * MS;
	run(bed);
	assert_int_equal(bed->book.warmup, 10);
	assert_in_range(counts_of(bed).asked, 99, 102);
	assert_int_equal(counts_of(bed).missed, 0);
	assert_int_equal(bed->book.end, TLAT_END_TIME);
	bed_free(bed);
}

/* What the caller asked for is not cut short, nor does its time wrap around. */
static void a_closed_loop_warms_up_as_often_as_asked(void **state)
{
	struct world world = { .wake_ns = 7 * MS };
	struct bed *bed = bed_new(&world, &relative, 20);

	(void)state;
	bed->solo.limits.warmup = 1000;
	bed->solo.limits.warmup_span = UINT64_MAX;
	run(bed);
	assert_int_equal(bed->book.warmup, 1000);
	assert_int_equal(counts_of(bed).asked, 20);
	bed_free(bed);
}

/* A thread that spins gives way; what it passes over meanwhile is nobody's. */
static void a_rest_costs_no_slot(void **state)
{
	struct world world = { .wake_ns = 10, .step = 1 };
	struct bed *bed = bed_new(&world, &absolute, 200);
	struct tlat_counts counts;

	(void)state;
	bed->solo.limits.rest_after = 16 * MS;
	bed->solo.limits.rest_ns = 1000;
	run(bed);
	counts = counts_of(bed);
	assert_int_equal(counts.asked, 200);
	assert_int_equal(counts.recorded, 200);
	assert_int_equal(counts.missed, 0);
	assert_in_range(bed->book.rests, 10, 16);
	assert_int_equal(bed->book.warmup, bed->book.rests * TLAT_REST_CYCLES);
	assert_int_equal(world.waits, 200 + bed->book.warmup);
	bed_free(bed);
}

/* Where all that lies between two rests are the cycles after one, some of them count. */
static void rests_do_not_keep_long_cycles_from_being_measured(void **state)
{
	(void)state;
	for (uint64_t cycles = 1; cycles <= TLAT_REST_CYCLES; cycles++) {
		struct world world = { .wake_ns = 10, .step = 1 };
		struct bed *bed = bed_new(&world, &absolute, 50);

		bed->solo.limits.rest_after = cycles * MS - MS / 2;
		bed->solo.limits.rest_ns = 1000;
		run(bed);
		assert_int_equal(counts_of(bed).asked, 50);
		assert_int_equal(counts_of(bed).missed, 0);
		assert_in_range(bed->book.warmup, 1, 60);
		bed_free(bed);
	}
}

/* == What calls round == */

/* The deadline that a probe promises for one asked so long after it is armed. */
static int64_t promised_ns(const char *probe, int64_t interval_ns)
{
	const struct tlat_probe_ops *ops = tlat_probe_find(probe);
	struct tlat_run_opts opts = TLAT_RUN_OPTS(.interval_ns = interval_ns);
	uint64_t armed = 123456789;
	struct tlat_probe_ctx ctx = { .ops = ops, .interval_ns = interval_ns };
	int64_t due_ns;

	assert_non_null(ops);
	ctx.shared = calloc(1, ops->shared_size);
	assert_int_equal(ops->open(&ctx, &opts, NULL), 0);
	due_ns = (int64_t)(ops->due(&ctx, armed, armed + (uint64_t)interval_ns) - armed);
	if (ops->close)
		ops->close(&ctx);
	free(ctx.shared);
	return due_ns;
}

static void deadlines_are_rounded_up_to_the_unit_of_the_call(void **state)
{
	(void)state;
	srand(12);
	for (int i = 0; i < 200; i++) {
		int64_t ns = 1 + rand() % 100000000;
		const struct {
			const char *probe;
			int64_t unit_ns;
		} rounds[] = {
			{ "timer-poll", 1000000 },   { "timer-epoll-wait", 1000000 },
			{ "timer-select", 1000 },    { "timer-epoll-pwait2", 1 },
			{ "timer-sigtimedwait", 1 }, { "timer-itimer", 1000 },
		};

		for (size_t k = 0; k < TLAT_ARRAY_SIZE(rounds); k++) {
			int64_t due_ns = promised_ns(rounds[k].probe, ns);

			assert_int_equal(due_ns % rounds[k].unit_ns, 0);
			assert_true(due_ns >= ns && due_ns - ns < rounds[k].unit_ns + 1000);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(preemptions_are_looked_for_every_1024_cycles_and_at_the_end),
		cmocka_unit_test(stalls_hide_what_the_list_says),
		cmocka_unit_test(a_loop_that_skips_past_now_is_wrong),
		cmocka_unit_test(a_timer_that_counts_right_closes_its_account),
		cmocka_unit_test(a_timer_that_counts_wrong_is_found_out),
		cmocka_unit_test(a_next_expiry_off_the_grid_is_found_out),
		cmocka_unit_test(threads_count_from_one_point_of_time),
		cmocka_unit_test(a_time_limit_asks_all_threads_for_the_same_number),
		cmocka_unit_test(a_closed_loop_ends_in_time),
		cmocka_unit_test(a_closed_loop_warms_up_as_often_as_asked),
		cmocka_unit_test(a_rest_costs_no_slot),
		cmocka_unit_test(rests_do_not_keep_long_cycles_from_being_measured),
		cmocka_unit_test(deadlines_are_rounded_up_to_the_unit_of_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
