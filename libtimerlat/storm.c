// SPDX-License-Identifier: MIT
/* storm.c - a storm as its caller sees it, and the search for a rate that leaves it time. */
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "rt.h"
#include "storm.h"

#define PAUSE_NS     1000000000ULL
#define SEARCH_NS    300000000LL
#define SEARCH_STEPS 20

bool tlat_storm_broke(const struct tlat_storm_worker *w)
{
	return atomic_load(&w->stage) != TLAT_STORM_ENDED;
}

static uint64_t end_of(const struct tlat_storm_worker *w)
{
	uint64_t end = tlat_storm_get(w->storm->end_ns);

	return w->gone_ns && w->gone_ns < end ? w->gone_ns : end;
}

uint64_t tlat_storm_pause_ns(const struct tlat_storm_worker *w)
{
	uint64_t end = end_of(w);
	uint64_t last = w->began_ns && end > w->progress_at_ns ? end - w->progress_at_ns : 0;

	return last > w->longest_pause_ns ? last : w->longest_pause_ns;
}

/* A turn takes a nap where nothing cuts it short: less than two of them is no lack of progress. */
bool tlat_storm_is_stuck(const struct tlat_storm_worker *w)
{
	const struct tlat_storm_plan *plan = &w->storm->plan;
	uint64_t half = (uint64_t)plan->duration_ns / 2, naps = 2 * (uint64_t)plan->nap_ns;
	uint64_t least = half < PAUSE_NS ? half : PAUSE_NS;

	return w->began_ns && tlat_storm_pause_ns(w) >= (least > naps ? least : naps);
}

static bool any(const struct tlat_storm *storm, bool (*is)(const struct tlat_storm_worker *))
{
	for (int32_t i = 0; i < storm->n_workers; i++)
		if (is(&storm->workers[i]))
			return true;
	return false;
}

/* Short storms at longer and longer periods, until every main loop gets on. */
static void search_return(struct tlat_storm_session *s)
{
	int64_t period = s->plan.interval_ns;

	for (int step = 0; step < SEARCH_STEPS && !s->stopped && !s->returns_ns; step++) {
		struct tlat_storm_session try = {
			.opts = s->opts,
			.machine = s->machine,
			.place = s->place,
			.plan = s->plan,
			.watchdog = TLAT_HELPER_NONE,
			.policy = s->policy,
		};

		period *= 2;
		try.plan.interval_ns = period;
		try.plan.body &= ~(uint32_t)TLAT_STORM_BACK_OFF;
		try.plan.duration_ns = SEARCH_NS;
		if (tlat_storm_measure(&try, NULL) == 0 && !any(try.storm, tlat_storm_is_stuck) &&
		    !any(try.storm, tlat_storm_broke))
			s->returns_ns = period;
		s->stopped = try.stopped;
		tlat_storm_forget(&try);
	}
}

/* == The whole == */

static int prepare(struct tlat_storm_session *s, const struct tlat_storm_opts *opts,
		   struct tlat_error *reterr)
{
	int error = tlat_opts_copy(&s->opts, sizeof(s->opts), opts, reterr);

	if (!error)
		error = tlat_storm_opts_check(&s->opts, reterr);
	if (!error)
		error = tlat_storm_plan(s, reterr);
	if (error)
		return error;
	s->machine = s->opts.machine;
	if (!s->machine) {
		error = tlat_machine_open(&s->own_machine, NULL, reterr);
		s->machine = s->own_machine;
	}
	if (!error)
		error = tlat_clock_open(&s->clock, s->machine, TLAT_CLOCK_GETTIME, reterr);
	s->place = malloc(sizeof(*s->place));
	if (!error && !s->place)
		error = tlat_fail(reterr, -ENOMEM, "no memory for a list of CPUs");
	if (!error)
		error = tlat_machine_place_solo(s->machine, s->opts.cpus, s->place, &s->findings,
						reterr);
	if (!error)
		s->policy = tlat_rt_grant(s->plan.policy, &s->plan.priority, &s->of_result);
	return error;
}

int tlat_storm(struct tlat_report **ret_report, const struct tlat_storm_opts *opts,
	       struct tlat_error *reterr)
{
	struct tlat_storm_session s = { .watchdog = TLAT_HELPER_NONE };
	int error;

	tlat_error_begin(reterr);
	error = prepare(&s, opts, reterr);
	if (!error)
		error = tlat_storm_measure(&s, reterr);
	if (!error) {
		tlat_clock_check_end(s.clock, &s.findings);
		if (any(s.storm, tlat_storm_is_stuck) && !any(s.storm, tlat_storm_broke))
			search_return(&s);
		tlat_machine_audit(s.machine, s.place, &s.findings);
		error = tlat_storm_report(&s, ret_report);
		if (error)
			tlat_fail(reterr, error, "no report: %s", strerror(-error));
	}
	tlat_storm_forget(&s);
	tlat_clock_close(s.clock);
	tlat_machine_close(s.own_machine);
	free(s.place);
	return tlat_error_end(reterr, error);
}
