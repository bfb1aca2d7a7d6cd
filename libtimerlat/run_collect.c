// SPDX-License-Identifier: MIT
/* run_collect.c - from a run's books to its results: at its end, or while its loops go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_control.h"

static_assert(sizeof(struct tlat_counts) % sizeof(uint64_t) == 0, "counts are numbers only");

static void collect_counts(const struct tlat_instance *in, struct tlat_result *result)
{
	struct tlat_counts *counts = &result->counts;
	const uint64_t *from = (const uint64_t *)&in->book->counts;
	uint64_t *to = (uint64_t *)counts;

	for (size_t i = 0; i < sizeof(*counts) / sizeof(*to); i++)
		to[i] = tlat_noted(&from[i]);
	counts->early = tlat_hist_early(result->latency);
	counts->overflow = tlat_hist_overflow(result->latency);
	counts->recorded = tlat_hist_count(result->latency) - counts->early - counts->overflow;
}

static void check_counts(struct tlat_result *result)
{
	int64_t balance = tlat_counts_balance(&result->counts);

	if (balance)
		tlat_findings_add(
			&result->findings, TLAT_ERROR, "accounting", "report this as a bug",
			"asked differs from what was accounted for by %lld", (long long)balance);
}

static uint64_t at_most(uint64_t n, uint64_t bound)
{
	return n < bound ? n : bound;
}

static uint64_t less(uint64_t n, uint64_t part)
{
	return n > part ? n - part : 0;
}

/* What the waiter noticed beside the samples. */
static void collect_disturbed(const struct tlat_instance *in, struct tlat_result *result)
{
	uint64_t *disturbed = result->counts.disturbed;
	uint64_t all = tlat_hist_count(result->latency);

	/* a futex counts a waiter that is queued, which need not be off its CPU yet */
	if (in->pair)
		disturbed[TLAT_DISTURBED_NOT_ASLEEP] =
			at_most(less(tlat_noted(&in->pair->waiter.not_asleep),
				     result->counts.rejected[TLAT_REJECTED_NOT_ASLEEP]),
				all);
	if (in->pair)
		disturbed[TLAT_DISTURBED_PREEMPTED] += tlat_noted(&in->pair->waiter.preempted);
	disturbed[TLAT_DISTURBED_PREEMPTED] = at_most(disturbed[TLAT_DISTURBED_PREEMPTED], all);
}

static void add_usage(struct tlat_watch_delta *delta, const struct tlat_measurer *m)
{
	delta->voluntary += (uint64_t)(m->after.ru_nvcsw - m->before.ru_nvcsw);
	delta->involuntary += (uint64_t)(m->after.ru_nivcsw - m->before.ru_nivcsw);
	delta->minor_faults += (uint64_t)(m->after.ru_minflt - m->before.ru_minflt);
	delta->major_faults += (uint64_t)(m->after.ru_majflt - m->before.ru_majflt);
}

/* Stolen from the CPUs of this instance, in the ticks that steal comes in: of a thread that floats
 * from the one that it began on, for where it was at which tick is not known. */
static uint64_t stolen_ticks(const struct tlat_watch_delta *watch, const struct tlat_instance *in)
{
	int64_t tick_ns = TLAT_NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	const struct tlat_side_facts *one = &in->measurers[0].facts,
				     *other = &in->measurers[1].facts;
	int64_t ns = tlat_watch_stolen_ns(watch, one->cpu);

	if (in->n_measurers > 1 && other->cpu != one->cpu)
		ns += tlat_watch_stolen_ns(watch, other->cpu);
	return (uint64_t)(ns / tick_ns);
}

/* What the kernel counted; every result of the run carries it for the CPUs of the run. What is
 * disturbed are the samples of its own ones, but a group is throttled as a whole. */
static void collect_watch(const struct tlat_run *run, const struct tlat_instance *in,
			  struct tlat_result *result)
{
	uint64_t *disturbed = result->counts.disturbed;
	uint64_t all = tlat_hist_count(result->latency);

	result->watch = tlat_watch_delta_copy(run->seen);
	if (!result->watch)
		return;
	for (int i = 0; i < in->n_measurers; i++)
		add_usage(result->watch, &in->measurers[i]);
	result->watch->migrations = disturbed[TLAT_DISTURBED_MIGRATED];
	disturbed[TLAT_DISTURBED_STEAL] = at_most(stolen_ticks(result->watch, in), all);
	if (result->watch->throttled > 0)
		disturbed[TLAT_DISTURBED_THROTTLED] =
			at_most((uint64_t)result->watch->throttled, all);
}

static void describe(const struct tlat_run *run, int i, struct tlat_result *result)
{
	int64_t interval_ns = tlat_run_interval_ns(run, i);
	int32_t priority = tlat_run_priority(run, i);
	const struct tlat_probe_ops *ops = run->ops;
	bool pair = ops->flags & TLAT_PROBE_PAIR;

	snprintf(result->probe, sizeof(result->probe), "%s", ops->name);
	snprintf(result->from, sizeof(result->from), "%s", ops->from);
	snprintf(result->to, sizeof(result->to), "%s%s", ops->to,
		 run->opts.flags & TLAT_RUN_ROUND_TRIP ? ", there and back on the waker" : "");
	result->policy_asked = run->opts.policy;
	result->priority_asked = priority;
	result->kick_priority_asked = pair ? tlat_run_kick_priority(run) : 0;
	result->pair = pair;
	result->target = run->opts.target;
	result->supported = run->supported;
	result->periodic = !(ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK));
	result->round_trip = run->opts.flags & TLAT_RUN_ROUND_TRIP;
	result->verify = run->opts.flags & TLAT_RUN_VERIFY;
	result->interval_ns = result->periodic || pair ? interval_ns : 0;
	result->settle_ns = run->opts.settle_ns;
	result->break_ns = run->opts.break_ns;
	result->dither_ns = run->opts.dither_ns;
	if (run->idle_fd >= 0) /* or else it was not asked for, or refused */
		result->cpu_latency_ns =
			run->opts.cpu_latency_ns == TLAT_ZERO ? 0 : run->opts.cpu_latency_ns;
	result->relation =
		pair ? tlat_machine_relation(run->machine, run->place.kick, run->place.wait) : NULL;
}

static bool is_broken(const struct tlat_run *run)
{
	for (int i = 0; i < run->n_instances; i++)
		if (run->instances[i].brk.hit)
			return true;
	return false;
}

/* A thread that saw a value above the limit ends all of them. */
static int32_t end_of(const struct tlat_run *run, const struct tlat_instance *in)
{
	if (run->broken)
		return TLAT_END_ERROR;
	if (in->brk.hit || (in->book->end == TLAT_END_SIGNAL && is_broken(run)))
		return TLAT_END_BREAK;
	return in->book->end;
}

/* 0 where the probe's clock was set back meanwhile. */
static int64_t measured_ns(const struct tlat_instance *in, uint64_t until)
{
	uint64_t started = tlat_noted(&in->book->started);

	if (!started || until < started)
		return 0;
	return (int64_t)((double)(until - started) * in->book->ns_per_unit);
}

/* Now; a timer's clock may be the CPU time of its thread, which only that one can read. */
static uint64_t so_far(const struct tlat_run *run, const struct tlat_instance *in)
{
	if (run->ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK))
		return tlat_stamp_end(&in->ctx->stamper);
	return tlat_noted(&in->book->ended);
}

int64_t tlat_run_measured_ns(const struct tlat_run *run, int i)
{
	const struct tlat_instance *in = &run->instances[i];

	return measured_ns(in, so_far(run, in));
}

static void collect_conditions(const struct tlat_run *run, const struct tlat_instance *in,
			       struct tlat_result *result)
{
	result->wait = in->measurers[0].facts;
	result->has_kick = in->pair;
	if (in->pair)
		result->kick = in->measurers[1].facts;
	result->phase_ns = result->periodic ? (int64_t)in->solo->phase : 0;
	result->warmup = tlat_noted(&in->book->warmup);
	result->rests = tlat_noted(&in->book->rests);
	result->has_offset = run->has_offset;
	result->offset = run->offset;
	result->chain_adds = run->opts.chain_adds;
	result->chain_add_ns = run->chain.add_ns;
}

/* With which seed a result, measured alone, has the phase that it had among others. At a distance
 * from them, or aligned, it has that of the first: no option says more. */
static uint64_t seed_alone(const struct tlat_run *run, const struct tlat_result *result)
{
	bool drawn = result->periodic && !run->opts.offset_ns && !run->opts.align_ns;

	return tlat_run_seed(&run->opts, drawn ? result->thread : 0);
}

static char *repeat_of(const struct tlat_run *run, const struct tlat_result *result)
{
	struct tlat_clock_facts clock = { .size = sizeof(clock) };

	tlat_clock_facts(run->clock, &clock);
	return tlat_repeat_format(&run->opts, result, tlat_clock_source_name(clock.source),
				  seed_alone(run, result));
}

static void copy_hist(struct tlat_hist **ret_copy, const struct tlat_hist *from)
{
	if (from && !tlat_hist_new(ret_copy, tlat_hist_hz(from)))
		tlat_hist_merge(*ret_copy, from);
}

/* All that can be told at any time, from buffers of the measuring threads to memory of its own. */
static int collect_so_far(const struct tlat_run *run, const struct tlat_instance *in,
			  struct tlat_result *result)
{
	const struct tlat_book *book = in->book;

	copy_hist(&result->floor, run->instances[0].floor);
	copy_hist(&result->latency, book->latency);
	copy_hist(&result->call, book->call);
	copy_hist(&result->dwell, book->dwell);
	copy_hist(&result->back, book->back);
	if (!result->latency)
		return -ENOMEM;
	collect_counts(in, result);
	collect_disturbed(in, result);
	collect_conditions(run, in, result);
	return 0;
}

static int collect_values(const struct tlat_book *book, struct tlat_result *result)
{
	result->outliers = malloc(sizeof(*result->outliers));
	result->raw = malloc(book->n_raw * sizeof(*result->raw) + 1);
	if (!result->outliers || !result->raw)
		return -ENOMEM;
	*result->outliers = *book->outliers;
	if (book->n_raw)
		memcpy(result->raw, book->raw, book->n_raw * sizeof(*result->raw));
	result->n_raw = book->n_raw;
	return 0;
}

static int collect_measured(struct tlat_run *run, struct tlat_instance *in)
{
	struct tlat_result *result = in->result;
	int error = collect_so_far(run, in, result);

	if (!error)
		error = collect_values(in->book, result);
	if (error)
		return error;
	result->duration_ns = measured_ns(in, in->book->ended);
	result->end = end_of(run, in);
	if (run->opts.inject_ns)
		tlat_injection_judge(&run->injection, tlat_clock_calibration(run->clock), result);
	check_counts(result);
	collect_watch(run, in, result);
	tlat_watch_find(result->watch, &result->findings);
	if (in->brk.hit)
		tlat_break_find(&in->brk, &result->findings);
	tlat_run_find(run, in, result);
	for (int i = 0; i < in->n_measurers; i++)
		tlat_findings_move(&result->findings, &in->measurers[i].findings);
	for (int i = 0; i < in->n_measurers; i++)
		tlat_measurer_free(&in->measurers[i]); /* no two copies of all threads at once */
	return 0;
}

int tlat_run_collect(struct tlat_run *run)
{
	int error = 0;

	for (int i = 0; i < run->n_instances && !error; i++) {
		struct tlat_instance *in = &run->instances[i];
		struct tlat_result *result = in->result;

		describe(run, i, result);
		tlat_findings_copy(&result->findings, &run->of_result);
		if (!run->supported)
			continue;
		error = collect_measured(run, in);
		result->floor_pair = run->floor_pair;
		run->floor_pair = NULL;
		result->repeat = repeat_of(run, result);
	}
	tlat_machine_audit(run->machine, &run->place, &run->findings);
	return error;
}

/* With what came since the last cut; the blocks of the run itself keep their length. */
static struct tlat_blocks *blocks_so_far(const struct tlat_instance *in,
					 const struct tlat_hist *latency)
{
	struct tlat_blocks *blocks = tlat_blocks_copy(in->result->blocks);

	if (blocks && tlat_hist_count(latency))
		tlat_blocks_cut(blocks, latency);
	return blocks;
}

/* A cycle under way is not counted: asked is what has been accounted for. */
static int collect_running(const struct tlat_run *run, const struct tlat_instance *in,
			   struct tlat_result *result)
{
	int error = collect_so_far(run, in, result);

	if (error)
		return error;
	result->counts.asked -= (uint64_t)tlat_counts_balance(&result->counts);
	result->duration_ns = measured_ns(in, so_far(run, in));
	result->end = TLAT_END_RUNNING;
	result->blocks = blocks_so_far(in, result->latency);
	copy_hist(&result->floor_pair, run->floor_pair);
	tlat_run_find_displaced(in, result);
	for (int i = 0; i < in->n_measurers; i++)
		tlat_findings_copy(&result->findings, &in->measurers[i].findings);
	tlat_findings_add(&result->findings, TLAT_INFO, "running", NULL,
			  "the run was going on when this was written: outliers, kernel counters "
			  "and the clock's last check are not in it");
	result->repeat = repeat_of(run, result);
	return 0;
}

int tlat_run_collect_running(const struct tlat_run *run, int i, struct tlat_result **ret_result)
{
	const struct tlat_instance *in = &run->instances[i];
	struct tlat_result *result = tlat_result_new();
	int error;

	if (!result)
		return -ENOMEM;
	result->thread = in->result->thread;
	describe(run, i, result);
	tlat_findings_copy(&result->findings, &run->of_result);
	error = collect_running(run, in, result);
	if (error) {
		tlat_result_free(result);
		return error;
	}
	*ret_result = result;
	return 0;
}
