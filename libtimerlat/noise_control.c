// SPDX-License-Identifier: MIT
/*
 * noise_control.c - beside the spinning threads: bring them up, look at the kernel's counters while
 * they spin, judge their gaps. Looks are taken from a CPU that does not measure; where there is
 * none, one look at the end has to do, as each would be a gap.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "noise.h"
#include "thread.h"

#define LOOK_EVERY_NS 20000000LL
#define LOOK_SHARE    10 /* a look may take this part of the time between two */
#define END_EVERY_NS  5000000LL

/* == Gaps == */

/* All gaps of the time that is judged, where it is judged once. */
static struct tlat_noise_counted part_of(const struct tlat_noise_thread *t,
					 const struct tlat_noise_counted *counted,
					 const struct tlat_noise_gap *gaps, size_t n)
{
	struct tlat_noise_total judged = { 0 };

	for (size_t i = 0; i < n; i++)
		tlat_noise_total_add(&judged, gaps[i].length_ns);
	return tlat_noise_part(counted, &judged, &t->seen[TLAT_NOISE_UNJUDGED]);
}

/* The gaps up to entry number end, with what was counted since the look before. */
static void judge(struct tlat_noise_thread *t, uint64_t end,
		  const struct tlat_noise_reading *before, struct tlat_noise_gap *gaps)
{
	uint64_t begin = atomic_load_explicit(&t->taken, memory_order_relaxed);
	struct tlat_noise_counted counted = tlat_noise_between(before, &t->counted);
	size_t n = 0;

	for (uint64_t i = begin; i < end; i++)
		gaps[n++] = (struct tlat_noise_gap){ .length_ns = tlat_noise_ns(
							     t, t->log[i % TLAT_NOISE_LOG]) };
	atomic_store_explicit(&t->taken, end, memory_order_release);
	if (t->noise->place->house_shared)
		counted = part_of(t, &counted, gaps, n);
	tlat_noise_judge(&t->spare, gaps, n, &counted);
	for (size_t i = 0; i < n; i++)
		tlat_noise_total_add(&t->totals[gaps[i].cause], gaps[i].length_ns);
}

static void count_all(struct tlat_noise *noise)
{
	tlat_noise_count(noise->threads, noise->n_threads, tlat_machine_root_fd(noise->machine));
}

struct look {
	uint64_t end;
	struct tlat_noise_reading before;
};

/* First where the logs are, then the counters: those can only be ahead. */
static void look_at_all(struct tlat_noise *noise, struct look *looks, struct tlat_noise_gap *gaps)
{
	for (int32_t i = 0; i < noise->n_threads; i++) {
		struct tlat_noise_thread *t = &noise->threads[i];

		looks[i].end = atomic_load_explicit(&t->written, memory_order_acquire);
		looks[i].before = t->counted;
	}
	count_all(noise);
	for (int32_t i = 0; i < noise->n_threads; i++)
		judge(&noise->threads[i], looks[i].end, &looks[i].before, gaps);
}

/* What the threads could tell, or had no room for, comes to what was judged. */
static void add_seen(struct tlat_noise *noise)
{
	for (int32_t i = 0; i < noise->n_threads; i++) {
		struct tlat_noise_thread *t = &noise->threads[i];

		for (int32_t cause = 0; cause < TLAT_NOISE_CAUSES; cause++)
			tlat_noise_total_merge(&t->totals[cause], &t->seen[cause]);
	}
}

/* == Threads == */

static int start(struct tlat_noise *noise, int32_t *ret_started)
{
	for (int32_t i = 0; i < noise->n_threads; i++) {
		struct tlat_noise_thread *t = &noise->threads[i];
		int error = tlat_thread_start(&t->thread, NULL, tlat_noise_measure, t);
		char why[TLAT_REFUSAL_TEXT];

		if (error)
			return tlat_fail(&noise->error, error, "thread for CPU %d not created: %s",
					 t->cpu, tlat_thread_refusal(error, 0, why, sizeof(why)));
		t->running = true;
		++*ret_started;
	}
	return 0;
}

static void join(struct tlat_noise *noise)
{
	for (int32_t i = 0; i < noise->n_threads; i++)
		if (noise->threads[i].running)
			pthread_join(noise->threads[i].thread, NULL);
}

static int first_failure(struct tlat_noise *noise)
{
	for (int32_t i = 0; i < noise->n_threads; i++)
		if (noise->threads[i].why.code)
			return tlat_fail(&noise->error, noise->threads[i].why.code, "%s",
					 noise->threads[i].why.text);
	return tlat_fail(&noise->error, -EIO, "a measuring thread could not be set up");
}

/* All parked, with the policy that they may have from here, or none left. */
static int bring_up(struct tlat_noise *noise)
{
	int32_t started = 0;
	int error = start(noise, &started);

	if (tlat_gate_gather(&noise->gate, started) && !error)
		error = first_failure(noise);
	tlat_thread_be_ordinary();
	if (!error)
		error = tlat_watch_begin(noise->watch);
	if (error) {
		tlat_gate_set(&noise->gate, TLAT_GATE_ABORTED);
		join(noise);
	}
	return error;
}

static bool all_done(const struct tlat_noise *noise)
{
	for (int32_t i = 0; i < noise->n_threads; i++)
		if (!atomic_load(&noise->threads[i].done))
			return false;
	return true;
}

static void nap(int64_t ns)
{
	struct timespec ts = tlat_timespec_of_ns(ns);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* On no CPU that is spun on: what moves the threads from outside moves the controller, too. */
static void keep_off(const struct tlat_noise *noise)
{
	const struct tlat_placement *place = noise->place;

	if (!place->house_shared && place->house >= 0 && sched_getcpu() != place->house)
		tlat_affinity_pin(0, place->house);
}

/* Look, and nap so long that looking is a small part of it. */
static void attend(struct tlat_noise *noise, struct look *looks, struct tlat_noise_gap *gaps)
{
	int64_t pause_ns = LOOK_EVERY_NS;

	while (!noise->place->house_shared && !all_done(noise)) {
		int64_t before = (int64_t)tlat_gettime_ns(CLOCK_MONOTONIC), cost;

		keep_off(noise);
		look_at_all(noise, looks, gaps);
		cost = (int64_t)tlat_gettime_ns(CLOCK_MONOTONIC) - before;
		if (cost * LOOK_SHARE > pause_ns)
			pause_ns = cost * LOOK_SHARE;
		nap(all_done(noise) ? END_EVERY_NS : pause_ns);
	}
}

static int measure(struct tlat_noise *noise)
{
	struct look *looks = calloc((size_t)noise->n_threads, sizeof(*looks));
	struct tlat_noise_gap *gaps = calloc(TLAT_NOISE_LOG, sizeof(*gaps));
	int error = looks && gaps ? bring_up(noise)
				  : tlat_fail(&noise->error, -ENOMEM, "no memory for gaps");

	if (!error) {
		count_all(noise);
		noise->realtime_ns = (int64_t)tlat_gettime_ns(CLOCK_REALTIME);
		tlat_gate_set(&noise->gate, TLAT_GATE_OPEN);
		attend(noise, looks, gaps);
		join(noise);
		look_at_all(noise, looks, gaps);
		add_seen(noise);
		noise->stopped = tlat_stop_asked(noise->opts.stop);
		tlat_watch_end(noise->watch, &noise->seen);
		tlat_clock_check_end(noise->clock, &noise->findings);
	}
	free(looks);
	free(gaps);
	return error;
}

void *tlat_noise_control(void *arg)
{
	struct tlat_noise *noise = arg;

	keep_off(noise);
	noise->failed = measure(noise);
	return NULL;
}
