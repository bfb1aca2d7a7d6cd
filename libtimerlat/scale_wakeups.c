// SPDX-License-Identifier: MIT
/*
 * scale_wakeups.c - one futex wake of N waiters: what the call costs, when the first and when the
 * last of them runs. Stamps of several CPUs are taken on one clock, CLOCK_MONOTONIC.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "futex.h"
#include "scale.h"
#include "thread.h"

#define SETTLE_NS 1000000L /* from the last announcement to the kick */
#define AGAIN_NS  200000L
#define PATIENCE  25000 /* looks of AGAIN_NS */

struct flock;

struct waiter {
	alignas(TLAT_CACHE_LINE) atomic_ullong woken_at;
	struct flock *flock;
	int32_t cpu;
	pthread_t thread;
};

struct flock {
	alignas(TLAT_CACHE_LINE) atomic_uint word; /* rounds that have been woken */
	alignas(TLAT_CACHE_LINE) atomic_uint announced;
	alignas(TLAT_CACHE_LINE) atomic_uint awake;
	atomic_bool ending;
	struct tlat_scale_threads threads;
	struct waiter *waiters;
	int64_t n;
};

static void wait_rounds(struct waiter *w)
{
	struct flock *f = w->flock;

	for (unsigned int round = 0; !atomic_load(&f->ending); round++) {
		atomic_fetch_add(&f->announced, 1);
		while (atomic_load_explicit(&f->word, memory_order_acquire) == round)
			tlat_futex(&f->word, FUTEX_WAIT_PRIVATE, round);
		atomic_store_explicit(&w->woken_at, tlat_gettime_ns(CLOCK_MONOTONIC),
				      memory_order_relaxed);
		atomic_fetch_add(&f->awake, 1);
	}
}

static void *waiter_thread(void *arg)
{
	struct waiter *w = arg;

	if (tlat_scale_threads_arrive(&w->flock->threads, w->cpu))
		wait_rounds(w);
	return NULL;
}

/* Waiters share the CPUs behind the first one; it has them when there is no other. */
static int32_t waiter_cpu(const struct tlat_scale *s, int64_t i)
{
	const struct tlat_placement *place = s->place;

	return place->n > 1 ? place->cpus[1 + i % (place->n - 1)] : place->cpus[0];
}

static void start_waiters(struct tlat_scale *s, struct flock *f)
{
	for (int64_t i = 0; i < f->n; i++) {
		struct waiter *w = &f->waiters[i];

		w->flock = f;
		w->cpu = waiter_cpu(s, i);
		if (!tlat_scale_threads_start(&f->threads, &w->thread, waiter_thread, w))
			break;
	}
}

/* Until all of them have announced, or woken; then for so long that the last one sleeps. */
static bool await(struct tlat_scale *s, const atomic_uint *count, uint64_t all)
{
	for (int i = 0; atomic_load(count) < all; i++) {
		if (i == PATIENCE)
			return false;
		tlat_scale_note_away(s, tlat_scale_nap(AGAIN_NS));
	}
	return true;
}

/* All figures of one N. */
struct figures {
	struct tlat_scale_series call, per_waiter, first, last;
	uint64_t not_asleep;
};

static void note(struct figures *figures, const struct flock *f, uint64_t t0, uint64_t t1,
		 long woken)
{
	uint64_t first = UINT64_MAX, last = 0;
	double n = (double)f->n;

	for (int64_t i = 0; i < f->n; i++) {
		uint64_t at = atomic_load(&f->waiters[i].woken_at);

		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	if (woken < f->n) { /* somebody was awake: not the wake of N */
		figures->not_asleep++;
		return;
	}
	tlat_scale_series_add(&figures->call, n, (double)(t1 - t0));
	tlat_scale_series_add(&figures->per_waiter, n, (double)(t1 - t0) / n);
	tlat_scale_series_add(&figures->first, n, (double)(int64_t)(first - t0));
	tlat_scale_series_add(&figures->last, n, (double)(int64_t)(last - t0));
}

/* Returns how many there were. */
static unsigned int do_rounds(struct tlat_scale *s, struct flock *f, struct figures *figures)
{
	unsigned int round;

	for (round = 0; round < (unsigned int)s->rounds; round++) {
		uint64_t all = (uint64_t)f->n * (round + 1), t0, t1;
		long woken;

		s->stopped |= tlat_scale_stopping(s);
		if (s->stopped || !await(s, &f->announced, all))
			break;
		tlat_scale_note_away(s, tlat_scale_nap(SETTLE_NS));
		atomic_store_explicit(&f->word, round + 1, memory_order_release);
		t0 = tlat_gettime_ns(CLOCK_MONOTONIC);
		woken = tlat_futex(&f->word, FUTEX_WAKE_PRIVATE, INT_MAX);
		t1 = tlat_gettime_ns(CLOCK_MONOTONIC);
		if (!await(s, &f->awake, all))
			break;
		note(figures, f, t0, t1, woken);
	}
	return round;
}

static void find_missing(struct tlat_scale *s, int64_t n, unsigned int rounds)
{
	if (rounds < s->rounds && !s->stopped)
		tlat_findings_add(&s->result->findings, TLAT_WARN, "rounds-missing",
				  "keep other tasks off these CPUs, or ask for smaller sizes",
				  "N = %lld: %u of %lld rounds, then not all waiters came within "
				  "%lld s: its figures are of those rounds, or there are none",
				  (long long)n, rounds, (long long)s->rounds,
				  (long long)AGAIN_NS * PATIENCE / TLAT_NSEC_PER_SEC);
}

/* The last wait ends as the others did. */
static void end_waiters(struct flock *f)
{
	atomic_store(&f->ending, true);
	atomic_fetch_add(&f->word, 1);
	tlat_futex(&f->word, FUTEX_WAKE_PRIVATE, INT_MAX);
	for (int i = 0; i < f->threads.started; i++)
		pthread_join(f->waiters[i].thread, NULL);
}

static int run_flock(struct tlat_scale *s, int64_t n, struct figures *figures,
		     struct tlat_error *reterr)
{
	struct flock f = { .n = n };
	int error;

	f.waiters = aligned_alloc(TLAT_CACHE_LINE, (size_t)n * sizeof(*f.waiters));
	if (!f.waiters)
		return tlat_fail(reterr, -ENOMEM, "no memory for %lld waiters", (long long)n);
	memset(f.waiters, 0, (size_t)n * sizeof(*f.waiters));
	tlat_scale_threads_init(&f.threads, s);
	start_waiters(s, &f);
	error = tlat_scale_threads_release(&f.threads, reterr);
	if (!error)
		find_missing(s, n, do_rounds(s, &f, figures));
	end_waiters(&f);
	tlat_scale_threads_destroy(&f.threads);
	free(f.waiters);
	return error;
}

static int init_figures(const struct tlat_scale *s, struct figures *figures)
{
	size_t max = s->n_sizes * (size_t)s->rounds;

	*figures = (struct figures){ 0 };
	if (tlat_scale_series_init(&figures->call, max) ||
	    tlat_scale_series_init(&figures->per_waiter, max) ||
	    tlat_scale_series_init(&figures->first, max) ||
	    tlat_scale_series_init(&figures->last, max))
		return -ENOMEM;
	return 0;
}

static void free_figures(struct figures *figures)
{
	tlat_scale_series_free(&figures->call);
	tlat_scale_series_free(&figures->per_waiter);
	tlat_scale_series_free(&figures->first);
	tlat_scale_series_free(&figures->last);
}

static void report(struct tlat_scale *s, const struct figures *figures)
{
	struct tlat_fit fit;

	for (size_t i = 0; i < s->n_sizes; i++) {
		int64_t n = s->sizes[i];

		tlat_scale_put(s->result, &figures->call, "wake", "call_ns", n);
		tlat_scale_put(s->result, &figures->per_waiter, "wake", "per_waiter_ns", n);
		tlat_scale_put(s->result, &figures->first, "wake", "first_ns", n);
		tlat_scale_put(s->result, &figures->last, "wake", "last_ns", n);
	}
	tlat_result_put_metric(s->result, (double)figures->not_asleep, "1", TLAT_NEITHER,
			       "not_asleep");
	if (tlat_scale_exponent(s->result, &figures->call, "call", &fit))
		tlat_scale_judge(&s->result->findings, "cost of the wake call", "waiters", &fit);
	if (tlat_scale_exponent(s->result, &figures->last, "last", &fit))
		tlat_scale_judge(&s->result->findings, "time until the last one runs", "waiters",
				 &fit);
}

/* The waker, on a thread of its own: the caller keeps its CPUs and its policy. */
struct waking {
	struct tlat_scale *scale;
	struct figures figures;
	struct tlat_error why;
	int error;
};

static int wake_all_sizes(struct waking *w)
{
	struct tlat_scale *s = w->scale;
	const char *what;
	int error = tlat_become(s->place->cpus[0], s->policy, s->priority, &s->result->wait, &what);

	if (error)
		return tlat_fail(&w->why, error, "waker on CPU %d: %s: %s", s->place->cpus[0], what,
				 strerror(-error));
	for (size_t i = 0; i < s->n_sizes && !s->stopped && !error; i++)
		error = run_flock(s, s->sizes[i], &w->figures, &w->why);
	return error;
}

static void *waker_thread(void *arg)
{
	struct waking *w = arg;

	w->error = wake_all_sizes(w);
	return NULL;
}

int tlat_scale_wakeups(struct tlat_scale *s, struct tlat_error *reterr)
{
	struct waking waking = { .scale = s };
	char why[TLAT_REFUSAL_TEXT];
	pthread_t thread;
	int error = init_figures(s, &waking.figures);

	if (error) {
		free_figures(&waking.figures);
		return tlat_fail(reterr, error, "no memory for the figures of %lld rounds",
				 (long long)s->rounds);
	}
	error = tlat_thread_start(&thread, NULL, waker_thread, &waking);
	if (error) {
		free_figures(&waking.figures);
		return tlat_fail(reterr, error, "waker not created: %s",
				 tlat_thread_refusal(error, 0, why, sizeof(why)));
	}
	pthread_join(thread, NULL);
	error = waking.error;
	if (error)
		tlat_fail(reterr, error, "%s", waking.why.text);
	else
		report(s, &waking.figures);
	free_figures(&waking.figures);
	return error;
}
