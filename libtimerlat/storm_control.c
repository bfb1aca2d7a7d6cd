// SPDX-License-Identifier: MIT
/*
 * storm_control.c - the controller of a storm: it lays out what the workers share, lets them loose
 * together, looks at their counters now and then, and survives when they hang or are killed.
 */
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "futex.h"
#include "rt.h"
#include "storm.h"

#define LOOK_MS	    200 /* between two looks at the counters */
#define READY_MS    5000
#define PATIENCE_NS 1000000000ULL

/* == Memory == */

/* One mapping: the storm, its workers, pidfds, timers and histograms. */
static size_t mapping_bytes(const struct tlat_storm_plan *p, size_t workers)
{
	size_t clocks = (size_t)tlat_storm_count_clocks(p->clocks), line = TLAT_CACHE_LINE;

	return sizeof(struct tlat_storm) + line +
	       workers * (sizeof(struct tlat_storm_worker) + sizeof(struct tlat_helper) + 2 * line +
			  clocks * (size_t)p->timers * sizeof(struct tlat_storm_timer) +
			  clocks * (tlat_hist_bytes() + line));
}

static void lay_out_timers(struct tlat_storm_worker *w, char **at)
{
	const struct tlat_storm_plan *p = &w->storm->plan;

	w->timers = tlat_shared_carve(at, (size_t)(tlat_storm_count_clocks(p->clocks) * p->timers) *
						  sizeof(*w->timers));
	for (int32_t c = 0; c < TLAT_STORM_CLOCKS; c++) {
		struct tlat_hist *hist = NULL;

		if (!(p->clocks & (1u << c)))
			continue;
		if (tlat_storm_clocks[c].kind != TLAT_STORM_ITIMER)
			hist = tlat_hist_init(tlat_shared_carve(at, tlat_hist_bytes()),
					      TLAT_NSEC_PER_SEC);
		for (int32_t i = 0; i < p->timers; i++)
			w->timers[w->n_timers++] =
				(struct tlat_storm_timer){ .id = -1, .clock = c, .lateness = hist };
		/* one of an interval timer is all that a process has */
		if (!hist)
			w->n_timers -= p->timers - 1;
	}
}

static int map_storm(struct tlat_storm_session *s, struct tlat_error *reterr)
{
	size_t n = (size_t)s->place->n, bytes = mapping_bytes(&s->plan, n);
	struct tlat_storm *storm = tlat_shared_new(bytes);
	char *at = (char *)storm;

	if (!storm)
		return tlat_fail(reterr, -ENOMEM, "no memory for %zu workers: %zu bytes", n, bytes);
	tlat_shared_carve(&at, sizeof(*storm));
	storm->bytes = bytes;
	storm->plan = s->plan;
	storm->house = s->place->house;
	storm->patience_ns = PATIENCE_NS;
	storm->helpers = tlat_shared_carve(&at, n * sizeof(*storm->helpers));
	storm->workers = tlat_shared_carve(&at, n * sizeof(*storm->workers));
	for (size_t i = 0; i < n; i++) {
		struct tlat_storm_worker *w = &storm->workers[i];

		storm->helpers[i] = TLAT_HELPER_NONE;
		w->storm = storm;
		w->cpu = s->place->cpus[i];
		w->policy = s->policy;
		tlat_storm_set(w->period_ns, (uint64_t)s->plan.interval_ns);
		lay_out_timers(w, &at);
	}
	s->storm = storm;
	return 0;
}

/* == Up and down == */

static int await_ready(struct tlat_storm_session *s, struct tlat_error *reterr)
{
	for (int32_t i = 0; i < s->storm->n_workers; i++) {
		const struct tlat_storm_worker *w = &s->storm->workers[i];

		for (int ms = 0; atomic_load(&w->stage) == TLAT_STORM_STARTING; ms++)
			if (tlat_helper_ended(&s->storm->helpers[i], 1) || ms > READY_MS)
				break;
		if (atomic_load(&w->stage) == TLAT_STORM_FAILED)
			return tlat_fail(reterr, w->error, "worker on CPU %d: %s: %s", w->cpu,
					 w->what, strerror(-w->error));
		if (atomic_load(&w->stage) != TLAT_STORM_READY)
			return tlat_fail(reterr, -EIO,
					 "the worker on CPU %d was not ready within %d s; look for "
					 "something of a higher priority there",
					 w->cpu, READY_MS / 1000);
	}
	return 0;
}

static int start_workers(struct tlat_storm_session *s, struct tlat_error *reterr)
{
	int error = 0;

	for (int32_t i = 0; i < s->place->n && !error; i++) {
		error = tlat_helper_start(&s->storm->helpers[i], tlat_storm_work,
					  &s->storm->workers[i], reterr);
		s->ends[i] = (struct pollfd){ .fd = s->storm->helpers[i].pidfd, .events = POLLIN };
		s->storm->n_workers += !error;
	}
	return error ? error : await_ready(s, reterr);
}

/* One above the workers; what they inherit is the caller's. 0: they are not real-time. */
static int32_t watch_priority(const struct tlat_storm_session *s)
{
	struct tlat_rt_opts theirs =
		TLAT_RT_OPTS(.policy = s->policy, .priority = s->plan.priority);

	if (s->policy == TLAT_SCHED_INHERIT)
		tlat_rt_inherit(&theirs);
	if (!tlat_policy_is_ranked(theirs.policy))
		return 0;
	return theirs.priority < 99 ? theirs.priority + 1 : 99;
}

static int start_watchdog(struct tlat_storm_session *s, struct tlat_error *reterr)
{
	struct tlat_storm *storm = s->storm;

	storm->watch_priority = watch_priority(s);
	tlat_storm_set(storm->end_ns,
		       tlat_gettime_ns(CLOCK_MONOTONIC) + (uint64_t)s->plan.duration_ns);
	return tlat_helper_start(&s->watchdog, tlat_storm_watch, storm, reterr);
}

/* == While it lasts == */

void tlat_spread_add(struct tlat_spread *spread, double value)
{
	double delta = value - spread->mean;

	spread->mean += delta / (double)++spread->n;
	spread->m2 += delta * (value - spread->mean);
}

double tlat_spread_sd(const struct tlat_spread *spread)
{
	return spread->n > 1 ? sqrt(spread->m2 / (double)(spread->n - 1)) : (double)NAN;
}

static void look_at(const struct tlat_storm_worker *w, struct tlat_storm_series *series, double s)
{
	uint64_t delivered[TLAT_STORM_CLOCKS] = { 0 }, expired[TLAT_STORM_CLOCKS] = { 0 };
	uint64_t progress = tlat_storm_get(w->progress);

	for (int32_t i = 0; i < w->n_timers; i++) {
		delivered[w->timers[i].clock] += tlat_storm_get(w->timers[i].delivered);
		expired[w->timers[i].clock] += tlat_storm_get(w->timers[i].expired);
	}
	for (size_t c = 0; c < TLAT_STORM_CLOCKS; c++) {
		tlat_spread_add(&series->delivered_hz[c],
				(double)(delivered[c] - series->delivered[c]) / s);
		tlat_spread_add(&series->expired_hz[c],
				(double)(expired[c] - series->expired[c]) / s);
		series->delivered[c] = delivered[c];
		series->expired[c] = expired[c];
	}
	tlat_spread_add(&series->progress_hz, (double)(progress - series->progress) / s);
	series->progress = progress;
}

/* Whether all are, after waiting for the next one at most so long. The rates of one that died are
 * over its life, so the time is taken at once. */
static bool all_gone(struct tlat_storm_session *s, int timeout_ms)
{
	int32_t n = s->storm->n_workers, left = 0;
	uint64_t now;

	poll(s->ends, (nfds_t)n, timeout_ms);
	now = tlat_gettime_ns(CLOCK_MONOTONIC);
	for (int32_t i = 0; i < n; i++) {
		if (s->ends[i].revents) {
			s->storm->workers[i].gone_ns = now;
			s->ends[i] = (struct pollfd){ .fd = -1 };
		}
		left += s->ends[i].fd >= 0;
	}
	return !left;
}

static struct tlat_stamper stamper_of(size_t clock)
{
	return (struct tlat_stamper){ .kind = TLAT_STAMP_GETTIME,
				      .id = tlat_storm_clocks[clock].id };
}

static void measure_leads(struct tlat_storm_session *s)
{
	for (size_t c = 0; c < TLAT_STORM_CLOCKS; c++) {
		struct tlat_stamper stamper = stamper_of(c);

		if (s->plan.clocks & (1u << c))
			s->leads[c] = tlat_clock_measure_lead(&stamper);
	}
}

/* A clock may be set while its timers storm, and set back before the end. */
static void look_for_set_clocks(struct tlat_storm_session *s)
{
	for (size_t c = 0; c < TLAT_STORM_CLOCKS; c++) {
		struct tlat_stamper stamper = stamper_of(c);

		if (s->plan.clocks & ~s->were_set & (1u << c) &&
		    tlat_clock_check_set(&stamper, &s->leads[c], &s->of_result))
			s->were_set |= 1u << c;
	}
}

static void look_at_all(struct tlat_storm_session *s, double seconds)
{
	for (int32_t i = 0; i < s->storm->n_workers; i++)
		if (!s->storm->workers[i].gone_ns)
			look_at(&s->storm->workers[i], &s->series[i], seconds);
	look_for_set_clocks(s);
}

static void ask_to_stop(struct tlat_storm_session *s)
{
	s->stopped = true;
	tlat_storm_set(s->storm->end_ns, tlat_gettime_ns(CLOCK_MONOTONIC));
	atomic_store(&s->storm->stop, 1);
}

static void attend(struct tlat_storm_session *s)
{
	uint64_t end = tlat_storm_get(s->storm->end_ns);
	uint64_t before = tlat_gettime_ns(CLOCK_MONOTONIC);

	while (!all_gone(s, LOOK_MS)) {
		uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC);

		if (tlat_stop_asked(s->opts.stop) && !s->stopped)
			ask_to_stop(s);
		if (now >= end)
			atomic_store(&s->storm->stop, 1);
		if (now >= end || s->stopped || now - before < LOOK_MS * 1000000ULL / 2)
			continue;
		look_at_all(s, (double)(now - before) * 1e-9);
		before = now;
	}
	look_for_set_clocks(s);
}

static void read_idle(struct tlat_storm_session *s, int when)
{
	for (int32_t i = 0; i < s->place->n; i++)
		tlat_storm_idle(tlat_machine_root_fd(s->machine), s->place->cpus[i],
				&s->series[i].idle[when], &s->series[i].all[when]);
}

/* Let them loose together. */
static void go(struct tlat_storm_session *s)
{
	struct tlat_storm *storm = s->storm;

	s->realtime_ns = (int64_t)tlat_gettime_ns(CLOCK_REALTIME);
	tlat_storm_set(storm->end_ns,
		       tlat_gettime_ns(CLOCK_MONOTONIC) + (uint64_t)s->plan.duration_ns);
	atomic_store(&storm->go, 1);
	tlat_futex(&storm->go, FUTEX_WAKE, INT_MAX);
}

static int bring_up(struct tlat_storm_session *s, struct tlat_error *reterr)
{
	int error = map_storm(s, reterr);

	s->series = calloc((size_t)s->place->n, sizeof(*s->series));
	s->ends = calloc((size_t)s->place->n, sizeof(*s->ends));
	if (!error && !(s->series && s->ends))
		error = tlat_fail(reterr, -ENOMEM, "no memory for %d workers", s->place->n);
	if (!error)
		error = start_workers(s, reterr);
	if (!error)
		error = start_watchdog(s, reterr);
	if (!error)
		error = tlat_watch_new(&s->watch, tlat_machine_root_fd(s->machine), s->place->cpus,
				       (size_t)s->place->n);
	return error;
}

/* Whatever is still there dies. */
static void take_down(struct tlat_storm_session *s)
{
	struct tlat_storm *storm = s->storm;

	for (int32_t i = 0; storm && i < storm->n_workers; i++) {
		if (!tlat_helper_ended(&storm->helpers[i], 0))
			tlat_helper_kill(&storm->helpers[i]);
		storm->workers[i].status = tlat_helper_reap(&storm->helpers[i]);
	}
	tlat_helper_kill(&s->watchdog);
	tlat_helper_reap(&s->watchdog);
	tlat_watch_free(s->watch);
	s->watch = NULL;
}

int tlat_storm_measure(struct tlat_storm_session *s, struct tlat_error *reterr)
{
	int error = bring_up(s, reterr);

	if (!error)
		error = tlat_watch_begin(s->watch);
	if (!error) {
		read_idle(s, 0);
		measure_leads(s);
		go(s);
		attend(s);
		read_idle(s, 1);
		tlat_watch_end(s->watch, &s->seen);
	}
	take_down(s);
	return error;
}

void tlat_storm_forget(struct tlat_storm_session *s)
{
	tlat_shared_free(s->storm, s->storm ? s->storm->bytes : 0);
	free(s->series);
	free(s->ends);
	tlat_watch_delta_free(s->seen);
	tlat_findings_free(&s->findings);
	tlat_findings_free(&s->of_result);
}
