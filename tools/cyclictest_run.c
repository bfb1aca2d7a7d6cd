// SPDX-License-Identifier: MIT
/*
 * cyclictest_run.c - the run itself: which probe and options, the loop that takes values out while
 * threads measure, and what the report says about what could not be taken.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

#include "cyclictest_run.h"
#include "cyclictest_text.h"
#include "monotonic.h"
#include "stop.h"
#include "tool.h"

#define SEC_NS	     1000000000LL
#define ENDLESS_NS   (1000000000LL * SEC_NS)
#define STREAM_NS    (4 * SEC_NS) /* the main thread may be kept off its CPU for so long */
#define STREAM_MIN   64
#define STREAM_MAX   65536
#define BATCH	     256
#define LIVE_MS	     100
#define PAUSE_MAX_MS 1000
#define GRACE_NS     (SEC_NS / 50) /* for the last slot of a duration */

/* == What to measure == */

static uint64_t stream_of(int64_t interval_ns)
{
	int64_t values = STREAM_NS / interval_ns;

	return values < STREAM_MIN   ? STREAM_MIN
	       : values > STREAM_MAX ? STREAM_MAX
				     : (uint64_t)values;
}

static void align(struct tlat_run_opts *opts, const struct tlat_cyc_config *config)
{
	if (config->secaligned_us != TLAT_CYC_UNSET) {
		opts->align_ns = SEC_NS;
		opts->phase_ns = config->secaligned_us * 1000;
	} else if (config->aligned_us != TLAT_CYC_UNSET) {
		opts->align_ns = opts->interval_ns;
		opts->offset_ns = config->aligned_us * 1000;
	}
}

static struct tlat_run_opts options_of(struct tlat_cyc_session *s)
{
	const struct tlat_cyc_config *config = s->config;
	int64_t latency_ns = config->latency_us ? config->latency_us * 1000 : TLAT_ZERO;
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = s->probe, .cpus = s->cpus.list, .machine = s->machine,
			      .clock = s->clock, .samples = (uint64_t)config->loops,
			      .duration_ns = config->duration_s ? config->duration_s * SEC_NS
					     : config->loops	? 0
								: ENDLESS_NS,
			      .interval_ns = config->interval_us * 1000,
			      .interval_step_ns =
				      s->cpus.threads > 1 ? config->distance_us * 1000 : 0,
			      .warmup = TLAT_ZERO, .cpu_latency_ns = s->awake ? latency_ns : 0,
			      .policy = (int32_t)config->policy,
			      .priority = (int32_t)config->priority,
			      .priority_step = config->priospread, .total_threads = s->cpus.threads,
			      .flags = TLAT_RUN_STRICT | TLAT_RUN_NO_FLOOR);

	if (config->loops)
		opts.flags |= TLAT_RUN_COMPLETE;
	if (s->cpus.floats)
		opts.flags |= TLAT_RUN_FLOAT;
	if (config->break_above > 0)
		opts.break_ns = tlat_cyc_limit_ns(config, config->break_above);
	if (config->break_above > 0 && config->tracemark)
		opts.flags |= TLAT_RUN_TRACE_MARK;
	opts.stream = stream_of(opts.interval_ns);
	align(&opts, config);
	return opts;
}

/* == While it goes on == */

static void look_at_threads(struct tlat_cyc_session *s)
{
	for (int32_t i = 0; i < s->stats.n; i++) {
		struct tlat_progress p = { .size = sizeof(p) };

		if (tlat_run_progress(s->run, i, &p) < 0)
			continue;
		s->stats.threads[i].tid = p.tid;
		s->stats.threads[i].cpu = p.cpu;
	}
}

/* Of several threads that went above, until all had stopped, the first. */
static void look_for_break(struct tlat_cyc_session *s, int32_t thread,
			   const struct tlat_sample *sample)
{
	int64_t above = s->config->break_above;
	int64_t at_ns = sample->at_ns + sample->value_ns;

	if (above <= 0 || sample->value_ns <= tlat_cyc_limit_ns(s->config, above))
		return;
	if (s->broke >= 0 && s->broke_at.at_ns + s->broke_at.value_ns <= at_ns)
		return;
	s->broke = thread;
	s->broke_at = *sample;
}

static void take_values(struct tlat_cyc_session *s, int32_t thread)
{
	struct tlat_sample samples[BATCH];
	struct tlat_cyc_thread *t = &s->stats.threads[thread];
	const int64_t *smis = s->config->verbose ? tlat_cyc_smi_look(&s->smi) : NULL;
	int n;

	while ((n = tlat_run_read(s->run, thread, samples, BATCH, &t->lost)) > 0)
		for (int i = 0; i < n; i++) {
			int64_t value = tlat_cyc_stats_add(&s->stats, thread, &samples[i]);

			look_for_break(s, thread, &samples[i]);
			if (s->config->verbose)
				tlat_cyc_put_value(s->config, t, thread, value,
						   smis ? smis[thread] : -1);
		}
}

static int64_t largest(const struct tlat_cyc_stats *stats)
{
	int64_t max = INT64_MIN;

	for (int32_t i = 0; i < stats->n; i++)
		if (stats->threads[i].cycles && stats->threads[i].max > max)
			max = stats->threads[i].max;
	return max;
}

static bool is_live(const struct tlat_cyc_config *config)
{
	return !config->quiet && !config->verbose;
}

struct view {
	int64_t until_ns; /* when the duration is over; INT64_MAX: never */
	int64_t max;	  /* at the last redraw */
	bool drawn;
};

static void redraw(struct tlat_cyc_session *s, struct view *view)
{
	if (!is_live(s->config) ||
	    (view->drawn && s->config->refresh_on_max && largest(&s->stats) <= view->max))
		return;
	view->max = largest(&s->stats);
	tlat_cyc_put_live(&s->stats, tlat_cyc_smi_look(&s->smi), !view->drawn);
	view->drawn = true;
}

/* Until the stream of the fastest thread is a quarter full, or something is due before. */
static int pause_ms(const struct tlat_cyc_session *s, const struct view *view)
{
	int64_t interval_ns = s->config->interval_us * 1000;
	int64_t ms = (int64_t)stream_of(interval_ns) * interval_ns / 4 / 1000000;
	int64_t left_ms = (view->until_ns - tlat_monotonic_ns()) / 1000000 + 1;

	if (ms > PAUSE_MAX_MS)
		ms = PAUSE_MAX_MS;
	if ((is_live(s->config) || s->config->fifo || s->config->verbose) && ms > LIVE_MS)
		ms = LIVE_MS;
	if (left_ms < ms)
		ms = left_ms;
	return ms > 0 ? (int)ms : 0;
}

static void attend(struct tlat_cyc_session *s)
{
	struct view view = { .until_ns = INT64_MAX };
	bool over = false;

	if (s->config->duration_s)
		view.until_ns = tlat_monotonic_ns() + s->config->duration_s * SEC_NS + GRACE_NS;
	tlat_stop_let_through();
	redraw(s, &view);
	while (!over) {
		fflush(stdout);
		tlat_stop_hold_back();
		over = tlat_stop_poll(s->run, pause_ms(s, &view));
		tlat_stop_let_through();
		for (int32_t i = 0; i < s->stats.n; i++)
			take_values(s, i);
		tlat_cyc_status_serve(&s->status, &s->stats, tlat_cyc_smi_look(&s->smi));
		redraw(s, &view);
		if (tlat_monotonic_ns() >= view.until_ns || ferror(stdout))
			tlat_run_stop(s->run);
	}
}

/* == Afterwards == */

static void look_at_results(struct tlat_cyc_session *s)
{
	const struct tlat_result *result;

	for (int32_t i = 0; i < s->stats.n; i++) {
		struct tlat_cyc_thread *t = &s->stats.threads[i];
		struct tlat_summary summary = { .size = sizeof(summary) };
		const struct tlat_hist *hist;

		result = tlat_report_result(s->report, (size_t)i);
		if (!result || tlat_result_summary(result, &summary) < 0)
			continue;
		t->missed = summary.missed;
		t->cpu = summary.wait_cpu;
		hist = tlat_result_hist(result);
		if (t->lost && hist)
			tlat_cyc_stats_lost(&s->stats, i, t->lost, tlat_hist_min(hist),
					    tlat_hist_max(hist));
	}
}

static void say_plan(const struct tlat_cyc_session *s)
{
	tlat_cyc_say("%" PRId32 " threads of %s on CPUs %s%s, main thread on %s", s->stats.n,
		     s->probe, s->cpus.list, s->cpus.floats ? ", not pinned" : "",
		     s->config->mainaffinity	       ? s->config->mainaffinity
		     : s->cpus.rest && !s->cpus.floats ? s->cpus.rest
						       : "the same");
}

/* The threads have all their memory: what is made of their values must not be lost because a limit
 * lets no more be locked. */
static void lock_no_more(const struct tlat_cyc_session *s)
{
	if (s->locked)
		mlockall(MCL_CURRENT);
}

int tlat_cyc_measure(struct tlat_cyc_session *s)
{
	struct tlat_run_opts opts;
	struct tlat_error error;
	int r;

	if (s->config->debug)
		say_plan(s);
	opts = options_of(s);
	r = tlat_run_start(&s->run, &opts, &error);
	if (r < 0) {
		tlat_cyc_say_error(s, &error);
		return r;
	}
	lock_no_more(s);
	look_at_threads(s);
	if (s->config->verbose)
		tlat_cyc_put_intervals(s->config, &s->cpus, &s->stats);
	attend(s);
	r = tlat_run_wait(s->run, &s->report, &error);
	if (r < 0)
		tlat_cyc_say_error(s, &error);
	else
		look_at_results(s);
	return r;
}
