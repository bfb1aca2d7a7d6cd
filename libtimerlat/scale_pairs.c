// SPDX-License-Identifier: MIT
/*
 * scale_pairs.c - wakes in N pairs at a time. Both sides of a pair wake each other in turn, each
 * after a short sleep in which the other one goes to its wait; nobody spins, so that what grows
 * with N is what the wakes do to each other.
 */
#include <limits.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "futex.h"
#include "scale.h"
#include "stats.h"

#define SETTLE_NS	    50000L
#define DEFAULT_DURATION_NS 500000000LL
#define LOOK_NS		    20000000LL

struct crowd;
struct pair;

struct side {
	struct pair *pair;
	unsigned int turn; /* 0 and 1 */
	int32_t cpu;
	pthread_t thread;
	uint64_t not_asleep;
};

struct pair {
	alignas(TLAT_CACHE_LINE) atomic_uint word; /* turns so far */
	atomic_ullong kicked_at;
	alignas(TLAT_CACHE_LINE) struct crowd *crowd;
	struct side sides[2];
	struct tlat_hist *latency; /* of both: only the one whose turn it is writes */
};

struct crowd {
	struct tlat_scale_threads threads;
	atomic_bool ending;
	uint64_t ended_ns; /* CLOCK_MONOTONIC */
	int64_t n;
	struct pair *pairs;
};

static void kick(struct side *side)
{
	struct pair *pair = side->pair;

	nanosleep(&(struct timespec){ .tv_nsec = SETTLE_NS }, NULL);
	atomic_store(&pair->kicked_at, tlat_gettime_ns(CLOCK_MONOTONIC));
	atomic_fetch_add(&pair->word, 1);
	if (tlat_futex(&pair->word, FUTEX_WAKE_PRIVATE, INT_MAX) < 1)
		side->not_asleep++;
}

/* Whether it slept: a wait that did not is no wake. */
static bool await(struct side *side, unsigned int turn)
{
	bool slept = false;

	while (atomic_load(&side->pair->word) < turn)
		slept |= tlat_futex(&side->pair->word, FUTEX_WAIT_PRIVATE, turn - 1) == 0;
	return slept;
}

static void play(struct side *side)
{
	struct pair *pair = side->pair;

	for (unsigned int turn = side->turn;; turn += 2) {
		bool slept = await(side, turn);
		uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC);

		if (atomic_load(&pair->crowd->ending))
			break;
		if (slept)
			tlat_hist_record(pair->latency,
					 (int64_t)(now - atomic_load(&pair->kicked_at)));
		kick(side);
	}
	/* the other one may wait for this turn */
	atomic_fetch_add(&pair->word, 2);
	tlat_futex(&pair->word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void *side_thread(void *arg)
{
	struct side *side = arg;

	if (tlat_scale_threads_arrive(&side->pair->crowd->threads, side->cpu))
		play(side);
	return NULL;
}

/* Neighbours in the list; one CPU has both. */
static int make_pair(struct tlat_scale *s, struct crowd *crowd, int64_t i)
{
	struct pair *pair = &crowd->pairs[i];

	pair->crowd = crowd;
	for (unsigned int k = 0; k < 2; k++)
		pair->sides[k] = (struct side){
			.pair = pair,
			.turn = k,
			.cpu = s->place->cpus[(i * 2 + k) % s->place->n],
		};
	return tlat_hist_new(&pair->latency, TLAT_NSEC_PER_SEC);
}

static struct side *side_of(struct crowd *crowd, int i)
{
	return &crowd->pairs[i / 2].sides[i % 2];
}

static void start_sides(struct crowd *crowd)
{
	for (int i = 0; i < 2 * crowd->n; i++) {
		struct side *side = side_of(crowd, i);

		if (!tlat_scale_threads_start(&crowd->threads, &side->thread, side_thread, side))
			break;
	}
}

static uint64_t turns_of(const struct crowd *crowd)
{
	uint64_t turns = 0;

	for (int64_t i = 0; i < crowd->n; i++)
		turns += atomic_load(&crowd->pairs[i].word);
	return turns;
}

/* The caller alone may be late, where the pairs have its CPU: they then go on as before. */
static void nap(struct tlat_scale *s, const struct crowd *crowd, int64_t ns)
{
	uint64_t before = turns_of(crowd);
	double passed = (double)(tlat_gettime_ns(CLOCK_MONOTONIC) - crowd->threads.opened_ns);
	uint64_t late = tlat_scale_nap(ns);
	double expected = (double)before / passed * (double)((uint64_t)ns + late);

	if (late && (!before || (double)(turns_of(crowd) - before) < expected / 2))
		tlat_scale_note_away(s, late);
}

static void last_until(struct tlat_scale *s, const struct crowd *crowd)
{
	uint64_t end = crowd->threads.opened_ns + (uint64_t)s->opts.duration_ns;
	int64_t left;

	while ((left = (int64_t)(end - tlat_gettime_ns(CLOCK_MONOTONIC))) > 0 && !s->stopped) {
		nap(s, crowd, left < LOOK_NS ? left : LOOK_NS);
		s->stopped |= tlat_scale_stopping(s);
	}
}

/* All threads; they are gone afterwards. */
static int play_all(struct tlat_scale *s, struct crowd *crowd, struct tlat_error *reterr)
{
	int error;

	start_sides(crowd);
	error = tlat_scale_threads_release(&crowd->threads, reterr);
	if (!error)
		last_until(s, crowd);
	crowd->ended_ns = tlat_gettime_ns(CLOCK_MONOTONIC);
	atomic_store(&crowd->ending, true);
	for (int i = 0; i < crowd->threads.started; i++)
		pthread_join(side_of(crowd, i)->thread, NULL);
	return error;
}

static void merge(const struct crowd *crowd, struct tlat_hist *into, uint64_t *ret_not_asleep)
{
	for (int64_t i = 0; i < crowd->n; i++) {
		const struct pair *pair = &crowd->pairs[i];

		tlat_hist_merge(into, pair->latency);
		*ret_not_asleep += pair->sides[0].not_asleep + pair->sides[1].not_asleep;
	}
}

/* Where the wakes carry it; an exponent is made of those that were put. */
static void put_quantile(struct tlat_result *result, struct tlat_scale_series *series,
			 const char *name, const struct tlat_hist *hist, double p, int64_t n)
{
	if (tlat_hist_count(hist) < tlat_stats_needed(p))
		return;
	tlat_scale_series_add(series, (double)n, tlat_hist_quantile(hist, p));
	tlat_scale_put(result, series, "pairs", name, n);
}

static void put(struct tlat_scale *s, const struct crowd *crowd, const struct tlat_hist *hist,
		uint64_t not_asleep, struct tlat_scale_series *p50, struct tlat_scale_series *p99)
{
	/* What passed: the caller is late where the pairs take its CPU, and early when stopped. */
	double seconds = (double)(crowd->ended_ns - crowd->threads.opened_ns) * 1e-9;
	struct tlat_result *result = s->result;
	uint64_t count = tlat_hist_count(hist);
	int64_t n = crowd->n;

	if (s->stopped && count < tlat_stats_needed(0.99)) /* a part of it that carries nothing */
		return;
	if (count < tlat_stats_needed(0.5)) {
		tlat_findings_add(
			&result->findings, TLAT_WARN, "no-sample",
			"measure for longer: -d; keep other tasks off these CPUs",
			"N = %lld: a median needs %llu wakes, %llu were measured in %.3g s",
			(long long)n, (unsigned long long)tlat_stats_needed(0.5),
			(unsigned long long)count, seconds);
		return;
	}
	put_quantile(result, p50, "p50_ns", hist, 0.5, n);
	put_quantile(result, p99, "p99_ns", hist, 0.99, n);
	tlat_result_put_metric(result, (double)count / seconds, "Hz", TLAT_HIGHER,
			       "pairs.N%lld.wakes_hz", (long long)n);
	tlat_result_put_metric(result, (double)not_asleep, "1", TLAT_NEITHER,
			       "pairs.N%lld.not_asleep", (long long)n);
}

static void free_crowd(struct crowd *crowd)
{
	for (int64_t i = 0; crowd->pairs && i < crowd->n; i++)
		tlat_hist_free(crowd->pairs[i].latency);
	free(crowd->pairs);
	tlat_scale_threads_destroy(&crowd->threads);
}

static int run_crowd(struct tlat_scale *s, int64_t n, struct tlat_scale_series *p50,
		     struct tlat_scale_series *p99, struct tlat_error *reterr)
{
	struct crowd crowd = { .n = n };
	struct tlat_hist *hist = NULL;
	uint64_t not_asleep = 0;
	int error;

	tlat_scale_threads_init(&crowd.threads, s);
	crowd.pairs = aligned_alloc(TLAT_CACHE_LINE, (size_t)n * sizeof(*crowd.pairs));
	if (crowd.pairs)
		memset(crowd.pairs, 0, (size_t)n * sizeof(*crowd.pairs));
	error = crowd.pairs ? tlat_hist_new(&hist, TLAT_NSEC_PER_SEC) : -ENOMEM;
	for (int64_t i = 0; i < n && !error; i++)
		error = make_pair(s, &crowd, i);
	error = error ? tlat_fail(reterr, error, "no memory for %lld pairs", (long long)n)
		      : play_all(s, &crowd, reterr);
	if (!error) {
		s->result->wait = crowd.threads.facts;
		s->result->wait.cpu = -1; /* they are on several */
		merge(&crowd, hist, &not_asleep);
		put(s, &crowd, hist, not_asleep, p50, p99);
	}
	free_crowd(&crowd);
	tlat_hist_free(hist);
	return error;
}

static void judge(struct tlat_scale *s, const struct tlat_scale_series *p50,
		  const struct tlat_scale_series *p99)
{
	struct tlat_fit fit;

	if (tlat_scale_exponent(s->result, p50, "p50", &fit))
		tlat_scale_judge(&s->result->findings, "median wake", "pairs", &fit);
	if (tlat_scale_exponent(s->result, p99, "p99", &fit))
		tlat_scale_judge(&s->result->findings, "p99 of wakes", "pairs", &fit);
}

int tlat_scale_pairs(struct tlat_scale *s, struct tlat_error *reterr)
{
	struct tlat_scale_series p50, p99 = { 0 };
	int error = tlat_scale_series_init(&p50, s->n_sizes);

	if (!error)
		error = tlat_scale_series_init(&p99, s->n_sizes);
	if (!s->opts.duration_ns)
		s->opts.duration_ns = DEFAULT_DURATION_NS;
	for (size_t i = 0; i < s->n_sizes && !error && !s->stopped; i++)
		error = run_crowd(s, s->sizes[i], &p50, &p99, reterr);
	if (!error)
		judge(s, &p50, &p99);
	tlat_scale_series_free(&p50);
	tlat_scale_series_free(&p99);
	return error;
}
