// SPDX-License-Identifier: MIT
/* storm_report.c - from a worker's counters to its result: rates, costs, and what went wrong. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "repeat.h"
#include "result.h"
#include "stats.h"
#include "storm.h"

/* Sums of all timers of one clock. */
struct clock_sum {
	uint64_t delivered, expired, stale, checks, breaches;
	const struct tlat_hist *lateness;
	const struct tlat_storm_timer *breached; /* NULL: none */
	int32_t timers;				 /* that there are */
	int32_t failed, error;			 /* of them, and why: the first one's errno */
	bool open;				 /* what expired is not known */
	uint64_t period_ns;
};

struct view {
	const struct tlat_storm_session *session;
	const struct tlat_storm_worker *worker;
	const struct tlat_storm_series *series;
	struct tlat_result *result;
	uint64_t end_ns;   /* CLOCK_MONOTONIC, of this worker */
	uint64_t lived_ns; /* 0: it never began */
	double s;	   /* the same, for rates; NAN: there are none */
};

static struct clock_sum sum_up(const struct view *v, int32_t clock)
{
	const struct tlat_storm_plan *plan = &v->session->plan;
	bool itimer = tlat_storm_clocks[clock].kind == TLAT_STORM_ITIMER;
	struct clock_sum sum = { .period_ns = (uint64_t)plan->interval_ns };

	for (int32_t i = 0; i < v->worker->n_timers; i++) {
		const struct tlat_storm_timer *t = &v->worker->timers[i];
		bool there = t->id >= 0 || tlat_storm_clocks[clock].kind == TLAT_STORM_URING;

		if (t->clock != clock || !(there || itimer))
			continue;
		sum.timers++;
		sum.delivered += tlat_storm_get(t->delivered);
		sum.expired += tlat_storm_get(t->expired);
		sum.stale += tlat_storm_get(t->stale);
		sum.checks += tlat_storm_get(t->checks);
		sum.breaches += tlat_storm_get(t->breaches);
		sum.lateness = t->lateness;
		sum.failed += t->error != 0;
		sum.error = sum.error ? sum.error : t->error;
		/* only the closing of the books counts what expired, and checks it */
		sum.open |= itimer && !tlat_storm_get(t->checks);
		if (tlat_storm_get(t->breaches) && !sum.breached)
			sum.breached = t;
	}
	if (itimer)
		sum.period_ns = (uint64_t)(plan->itimer_interval_ns + 999) / 1000 * 1000;
	return sum;
}

/* == Metrics == */

static void put_rate(const struct view *v, const char *clock, const char *what, uint64_t count,
		     const struct tlat_spread *spread, enum tlat_better better)
{
	struct tlat_number figure = {
		.unit = "Hz",
		.value = (double)count / v->s,
		.sd = spread ? tlat_spread_sd(spread) : (double)NAN,
		.n = spread && spread->n ? spread->n : 1,
		.better = better,
	};

	snprintf(figure.name, sizeof(figure.name), "%s%s%s_hz", clock, *clock ? "." : "", what);
	tlat_result_add_metric(v->result, &figure);
}

/* A worker that was killed may have counted a delivery and not yet what expired for it. */
static uint64_t overruns(const struct clock_sum *sum)
{
	return sum->expired > sum->delivered ? sum->expired - sum->delivered : 0;
}

static void put_lateness(const struct view *v, const char *clock, const struct tlat_hist *hist)
{
	static const int percents[] = { 50, 99 };
	struct tlat_result *result = v->result;

	if (!hist || !tlat_hist_count(hist))
		return;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(percents); i++) {
		double p = percents[i] / 100.0;

		if (tlat_hist_count(hist) >= tlat_stats_needed(p))
			tlat_result_put_metric(result, tlat_hist_quantile(hist, p), "ns",
					       TLAT_LOWER, "%s.lateness_p%d_ns", clock,
					       percents[i]);
	}
	tlat_result_put_metric(result, (double)tlat_hist_max(hist), "ns", TLAT_LOWER,
			       "%s.lateness_max_ns", clock);
}

/* By all timers of a clock. Back-off changes the period of those that send signals: the mean. */
static double requested_hz(const struct view *v, enum tlat_storm_kind kind,
			   const struct clock_sum *sum)
{
	const struct tlat_storm_worker *w = v->worker;
	double last;

	if (!(v->session->plan.body & TLAT_STORM_BACK_OFF) || kind > TLAT_STORM_CPU)
		return sum->timers * 1e9 / (double)sum->period_ns;
	last = (double)(v->end_ns - w->asked_until_ns) / (double)tlat_storm_get(w->period_ns);
	return sum->timers * ((double)w->asked + last) / v->s;
}

static void put_clock(const struct view *v, int32_t clock, const struct clock_sum *sum)
{
	struct tlat_result *result = v->result;
	const char *name = tlat_storm_clocks[clock].name;
	enum tlat_storm_kind kind = tlat_storm_clocks[clock].kind;
	bool re_arms = v->session->plan.body & TLAT_STORM_REARM && kind <= TLAT_STORM_CPU;

	tlat_result_put_metric(result, requested_hz(v, kind, sum), "Hz", TLAT_NEITHER,
			       "%s.requested_hz", name);
	if (!re_arms && !sum->open) /* else every delivery begins a new grid */
		put_rate(v, name, "expired", sum->expired,
			 kind == TLAT_STORM_ITIMER ? NULL : &v->series->expired_hz[clock],
			 TLAT_NEITHER);
	put_rate(v, name, "delivered", sum->delivered, &v->series->delivered_hz[clock],
		 TLAT_HIGHER);
	if (re_arms) {
		tlat_result_put_metric(result, (double)sum->stale, "1", TLAT_LOWER, "%s.stale",
				       name);
		return;
	}
	if (!sum->open)
		tlat_result_put_metric(result, (double)overruns(sum) / v->s, "Hz", TLAT_LOWER,
				       "%s.overrun_hz", name);
	if (sum->expired && sum->delivered <= sum->expired)
		tlat_result_put_metric(result, (double)sum->delivered / (double)sum->expired, "1",
				       TLAT_HIGHER, "%s.delivered_fraction", name);
	put_lateness(v, name, sum->lateness);
	if (sum->checks)
		tlat_result_put_metric(result, (double)sum->checks, "1", TLAT_NEITHER,
				       "%s.conservation_checks", name);
}

static void put_costs(const struct view *v, uint64_t delivered)
{
	const struct tlat_storm_worker *w = v->worker;
	struct tlat_result *result = v->result;
	double n = (double)delivered;

	if (tlat_storm_broke(w))
		return;
	tlat_result_put_metric(result, (double)w->cpu_ns * 1e-9 / v->s, "1", TLAT_NEITHER,
			       "cpu_share");
	if (!delivered)
		return;
	tlat_result_put_metric(result, (double)w->cpu_ns / n, "ns", TLAT_LOWER, "cpu_per_event_ns");
	tlat_result_put_metric(result, (double)w->voluntary / n, "1", TLAT_LOWER,
			       "voluntary_per_event");
	tlat_result_put_metric(result, (double)w->involuntary / n, "1", TLAT_LOWER,
			       "involuntary_per_event");
}

static void put_kernel(const struct view *v)
{
	const struct tlat_watch_delta *seen = v->session->seen;
	struct tlat_result *result = v->result;

	if (!tlat_storm_broke(v->worker)) /* else its CPU rested from then on */
		tlat_result_put_metric(result,
				       tlat_storm_idle_share(v->series->idle, v->series->all), "1",
				       TLAT_NEITHER, "idle_share");
	if (!seen || seen->hrtimer_hangs < 0)
		return;
	tlat_result_put_metric(result, (double)seen->hrtimer_hangs, "1", TLAT_LOWER,
			       "hrtimer_hangs");
	tlat_result_put_metric(result, (double)seen->hrtimer_retries, "1", TLAT_NEITHER,
			       "hrtimer_retries");
	tlat_result_put_metric(result, (double)seen->hrtimer_events, "1", TLAT_NEITHER,
			       "hrtimer_events");
}

/* == Findings == */

static void find_breach(const struct view *v, int32_t clock, const struct clock_sum *sum)
{
	if (!sum->breaches)
		return;
	tlat_findings_add(&v->result->findings, TLAT_ERROR, "conservation",
			  "look for a clock that was set meanwhile; else report this as a bug of "
			  "the kernel or of libtimerlat",
			  "%s: %" PRIu64 " of %" PRIu64 " checks failed; first %" PRIu64
			  " expirations were told where the grid has %" PRIu64 " to %" PRIu64,
			  tlat_storm_clocks[clock].name, sum->breaches, sum->checks,
			  sum->breached->breach_s, sum->breached->breach_lo,
			  sum->breached->breach_hi);
}

static void find_stale(const struct view *v, int32_t clock, const struct clock_sum *sum)
{
	if (sum->stale)
		tlat_findings_add(
			&v->result->findings, TLAT_WARN, "stale-signals",
			"do not re-arm in the handler: --handler plain",
			"%s: %" PRIu64 " of %" PRIu64
			" deliveries came before the timer could have expired: each is the "
			"signal of an arming that the handler had replaced, which kernels "
			"before 6.13 deliver all the same",
			tlat_storm_clocks[clock].name, sum->stale, sum->delivered);
}

static void find_failed(const struct view *v, int32_t clock, const struct clock_sum *sum)
{
	if (sum->failed)
		tlat_findings_add(&v->result->findings, TLAT_ERROR, "clock-failed",
				  "use fewer timers, or leave this clock out",
				  "%s: %d of %d timers failed and were not armed again: %s; their "
				  "expirations are counted up to then",
				  tlat_storm_clocks[clock].name, sum->failed, sum->timers,
				  strerror(-sum->error));
}

static void find_stuck(const struct view *v)
{
	const struct tlat_storm_session *s = v->session;
	char back[120] = "no period tried brings it back";

	if (!tlat_storm_is_stuck(v->worker))
		return;
	if (s->returns_ns)
		tlat_format(back, sizeof(back),
			    "it returns at a period of %" PRId64 " ns (%.0f Hz) of each timer",
			    s->returns_ns, 1e9 / (double)s->returns_ns);
	tlat_findings_add(&v->result->findings, TLAT_WARN, "no-progress", "use a lower --rate",
			  "the signals left the main loop of the worker on CPU %d no time for "
			  "%.1f s: %s",
			  v->worker->cpu, (double)tlat_storm_pause_ns(v->worker) * 1e-9, back);
}

static void find_missing(const struct view *v)
{
	const struct tlat_storm_worker *w = v->worker;

	for (int32_t c = 0; c < TLAT_STORM_CLOCKS; c++)
		if (w->missing & (1u << c))
			tlat_findings_add(&v->result->findings, TLAT_INFO, "clock-missing", NULL,
					  "%s is left out: this kernel or sandbox refuses it",
					  tlat_storm_clocks[c].name);
	if (w->refused)
		tlat_findings_add(&v->result->findings, TLAT_WARN, "signal-limit",
				  "raise the limit: ulimit -i",
				  "%d of %d timers could not be created: each takes one of the "
				  "signals that the user may have queued (RLIMIT_SIGPENDING)",
				  w->refused, w->n_timers);
}

static void find_broken(const struct view *v)
{
	const struct tlat_storm_worker *w = v->worker;
	char how[80];

	if (!tlat_storm_broke(w))
		return;
	if (w->status < 0)
		snprintf(how, sizeof(how), "signal %d (%.40s)", -w->status, strsignal(-w->status));
	else
		snprintf(how, sizeof(how), "an exit with status %d", w->status);
	if (atomic_load(&w->killed))
		tlat_findings_add(&v->result->findings, TLAT_ERROR, "watchdog", NULL,
				  "the worker on CPU %d did not end in time and was killed; costs "
				  "and the last expirations are not known",
				  w->cpu);
	else
		tlat_findings_add(&v->result->findings, TLAT_ERROR, "worker-lost",
				  "look for the out-of-memory killer in the kernel log (dmesg), "
				  "and for limits on CPU time (ulimit -t, RLIMIT_RTTIME)",
				  "%s ended the worker on CPU %d after %.3f s of %.3f; "
				  "rates are of that time, costs and the last expirations are "
				  "not known",
				  how, w->cpu, (double)v->lived_ns * 1e-9,
				  (double)v->session->plan.duration_ns * 1e-9);
}

/* == Results == */

static char *repeat(const struct view *v)
{
	const struct tlat_storm_session *s = v->session;
	char *text = NULL;
	const char *before = " --clocks ";
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "tlat storm -c %d", v->worker->cpu);
	if (s->opts.preset)
		fprintf(out, " --preset %s", tlat_storm_preset_name(s->opts.preset));
	for (int32_t c = 0; c < TLAT_STORM_CLOCKS; c++) {
		if (!(s->plan.clocks & (1u << c)))
			continue;
		fprintf(out, "%s%s", before, tlat_storm_clocks[c].name);
		before = ",";
	}
	tlat_repeat_time(out, "-i", s->plan.interval_ns);
	tlat_repeat_time(out, "--itimer-interval", s->plan.itimer_interval_ns);
	tlat_repeat_time(out, "-d", s->plan.duration_ns);
	fprintf(out, " --timers %d --handler %s", s->plan.timers,
		tlat_storm_handler_name(s->opts.handler));
	tlat_repeat_policy(out, s->opts.policy, s->opts.priority);
	fclose(out);
	return text;
}

static void describe(const struct view *v)
{
	const struct tlat_storm_session *s = v->session;
	const struct tlat_storm_worker *w = v->worker;
	struct tlat_result *result = v->result;
	bool preset = s->opts.preset;

	result->kind = "storm";
	snprintf(result->probe, sizeof(result->probe), "storm%s%s", preset ? "-" : "",
		 preset ? tlat_storm_preset_name(s->opts.preset) : "");
	snprintf(result->from, sizeof(result->from), "the expiry of a timer");
	snprintf(result->to, sizeof(result->to),
		 "the first instruction of its handler, or after "
		 "the read that told it");
	result->thread = (int32_t)(w - s->storm->workers);
	result->wait = w->got;
	result->wait.cpu = w->cpu; /* also of one that did not get there */
	result->policy_asked = s->plan.policy;
	result->priority_asked = s->opts.priority;
	result->interval_ns = s->plan.interval_ns;
	result->duration_ns = (int64_t)v->lived_ns;
	result->end = tlat_storm_broke(w) ? TLAT_END_ERROR
		      : s->stopped	  ? TLAT_END_SIGNAL
					  : TLAT_END_TIME;
	result->repeat = repeat(v);
}

static void take_watch(const struct view *v)
{
	struct tlat_watch_delta *watch = tlat_watch_delta_copy(v->session->seen);
	const struct tlat_storm_worker *w = v->worker;

	v->result->watch = watch;
	if (watch && !tlat_storm_broke(w)) {
		watch->voluntary = w->voluntary;
		watch->involuntary = w->involuntary;
		watch->minor_faults = w->minor_faults;
		watch->major_faults = w->major_faults;
	}
	tlat_watch_find(watch, &v->result->findings);
}

static void fill(const struct view *v)
{
	uint64_t delivered = 0;

	describe(v);
	for (int32_t c = 0; c < TLAT_STORM_CLOCKS; c++) {
		struct clock_sum sum;

		if (!(v->session->plan.clocks & ~v->worker->missing & (1u << c)))
			continue;
		sum = sum_up(v, c);
		delivered += sum.delivered;
		put_clock(v, c, &sum);
		find_breach(v, c, &sum);
		find_stale(v, c, &sum);
		find_failed(v, c, &sum);
	}
	put_rate(v, "", "progress", tlat_storm_get(v->worker->progress), &v->series->progress_hz,
		 TLAT_HIGHER);
	if (v->session->plan.body & TLAT_STORM_BACK_OFF) {
		tlat_result_put_metric(v->result, (double)tlat_storm_get(v->worker->period_ns),
				       "ns", TLAT_LOWER, "period_ns");
		tlat_result_put_metric(v->result, (double)v->worker->back_offs, "1", TLAT_LOWER,
				       "back_offs");
	}
	put_costs(v, delivered);
	put_kernel(v);
	find_stuck(v);
	find_missing(v);
	find_broken(v);
	take_watch(v);
}

static int add_result(struct tlat_storm_session *s, struct tlat_report *report, int32_t i)
{
	const struct tlat_storm_worker *w = &s->storm->workers[i];
	struct view v = { .session = s, .worker = w, .series = &s->series[i] };

	v.end_ns = w->ended_ns ? w->ended_ns : w->gone_ns;
	v.lived_ns = w->began_ns ? v.end_ns - w->began_ns : 0;
	v.s = v.lived_ns ? (double)v.lived_ns * 1e-9 : (double)NAN;
	v.result = tlat_result_new();
	if (!v.result)
		return -ENOMEM;
	tlat_findings_copy(&v.result->findings, &s->of_result);
	fill(&v);
	return tlat_report_add(report, v.result);
}

int tlat_storm_report(struct tlat_storm_session *s, struct tlat_report **ret_report)
{
	struct tlat_report *report;
	int error = tlat_report_new(&report, s->machine, s->opts.clock, 0);

	if (error)
		return error;
	tlat_report_started(report, s->realtime_ns);
	for (int32_t i = 0; i < s->storm->n_workers && !error; i++)
		error = add_result(s, report, i);
	return tlat_report_hand_over(report, error, &s->findings, ret_report);
}
