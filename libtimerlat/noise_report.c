// SPDX-License-Identifier: MIT
/* noise_report.c - from a thread's gaps to its result: how many, how long, by what cause. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "repeat.h"
#include "rt.h"
#include "stats.h"

static const char *repeat_command(const struct tlat_noise *noise, const struct tlat_noise_thread *t,
				  char **text)
{
	size_t size;
	FILE *out = open_memstream(text, &size);

	if (!out)
		return NULL;
	fprintf(out, "tlat noise -c %d", t->cpu);
	tlat_repeat_time(out, "-d", noise->opts.duration_ns);
	tlat_repeat_time(out, "--threshold", noise->opts.threshold_ns);
	tlat_repeat_policy(out, noise->opts.policy, noise->opts.priority);
	fclose(out);
	return *text;
}

static double seconds(const struct tlat_noise_thread *t)
{
	return (double)(t->ended - t->began) / (double)tlat_hist_hz(t->hist);
}

/* == Metrics == */

static void put_total(struct tlat_result *result, const char *name, double s,
		      const struct tlat_noise_total *total)
{
	tlat_result_put_metric(result, (double)total->count, "1", TLAT_LOWER, "%s.count", name);
	tlat_result_put_metric(result, (double)total->count / s, "Hz", TLAT_LOWER, "%s.rate_hz",
			       name);
	tlat_result_put_metric(result, (double)total->ns * 1e-9 / s, "1", TLAT_LOWER, "%s.share",
			       name);
	if (total->count)
		tlat_result_put_metric(result, (double)total->max_ns, "ns", TLAT_LOWER, "%s.max_ns",
				       name);
}

static double ns_of(const struct tlat_hist *hist, double units)
{
	return units * 1e9 / (double)tlat_hist_hz(hist);
}

static void put_sizes(struct tlat_result *result, const struct tlat_hist *hist)
{
	static const struct {
		const char *key;
		double p;
	} quantiles[] = { { "p50_ns", 0.5 }, { "p99_ns", 0.99 } };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(quantiles); i++) {
		double p = quantiles[i].p;

		if (tlat_hist_count(hist) < tlat_stats_needed(p))
			continue;
		tlat_result_put_metric(result, ns_of(hist, tlat_hist_quantile(hist, p)), "ns",
				       TLAT_LOWER, "gap.%s", quantiles[i].key);
	}
}

static void put_metrics(const struct tlat_noise *noise, const struct tlat_noise_thread *t,
			struct tlat_result *result)
{
	struct tlat_noise_total all = { 0 };
	double s = seconds(t) > 0 ? seconds(t) : 1;

	for (int32_t i = 0; i < TLAT_NOISE_CAUSES; i++) {
		all.count += t->totals[i].count;
		all.ns += t->totals[i].ns;
		all.max_ns = t->totals[i].max_ns > all.max_ns ? t->totals[i].max_ns : all.max_ns;
	}
	put_total(result, "gap", s, &all);
	put_sizes(result, t->hist);
	for (int32_t i = 0; i < TLAT_NOISE_CAUSES; i++) {
		char name[48];

		snprintf(name, sizeof(name), "gap.%s", tlat_noise_cause_names[i]);
		put_total(result, name, s, &t->totals[i]);
	}
	tlat_result_put_metric(result, (double)noise->opts.threshold_ns, "ns", TLAT_NEITHER,
			       "threshold_ns");
	tlat_result_put_metric(result, s, "s", TLAT_NEITHER, "watched_s");
}

/* == Findings == */

static void find_throttling(const struct tlat_noise_thread *t, struct tlat_result *result)
{
	const struct tlat_noise_throttle *throttle = &t->throttle;
	const struct tlat_noise_total *total = throttle->budget.fair_server
						       ? &throttle->served
						       : &t->totals[TLAT_NOISE_THROTTLING];
	char what[96];

	if (!total->count)
		return;
	tlat_format(what, sizeof(what),
		    "%" PRIu64 " gaps of up to %.1f ms on CPU %d, %.1f %% of the time, are",
		    total->count, (double)total->max_ns / 1e6, t->cpu,
		    100 * (double)total->ns * 1e-9 / seconds(t));
	tlat_rt_budget_find(&throttle->budget, t->cpu, what, &result->findings);
}

static void find_switches(const struct tlat_noise_thread *t, struct tlat_result *result)
{
	const struct tlat_noise_total *total = &t->totals[TLAT_NOISE_SWITCHES];

	if (!total->count)
		return;
	tlat_findings_add(&result->findings, TLAT_INFO, "noise-switches",
			  "see what runs there: perf sched, or ps -eLo psr,cls,rtprio,comm",
			  "in %" PRIu64 " gaps, the longest of %.1f us, the thread that spun on "
			  "CPU %d under policy %s was switched out: another one ran, or a stop "
			  "signal held the process",
			  total->count, (double)total->max_ns / 1e3, t->cpu,
			  tlat_policy_name(t->facts.policy));
}

/* What is left when the kernel counted nothing. */
static const char *suspects(const struct tlat_noise *noise)
{
	if (noise->slow_clock)
		return "stamps that take long vary by as much, and hide what else there was";
	if (tlat_machine_facts(noise->machine)->hypervisor[0])
		return "the hypervisor, or the host's firmware";
	return "firmware (SMI) is what is left";
}

static void find_unknown(const struct tlat_noise *noise, const struct tlat_noise_thread *t,
			 struct tlat_result *result)
{
	const struct tlat_noise_total *total = &t->totals[TLAT_NOISE_UNKNOWN];

	if (total->count)
		tlat_findings_add(&result->findings, TLAT_INFO, "noise-unknown", NULL,
				  "for %" PRIu64 " gaps, the longest of %.1f us, no interrupt, "
				  "switch or stolen time was counted on CPU %d: %s",
				  total->count, (double)total->max_ns / 1e3, t->cpu,
				  suspects(noise));
}

/* The log was full, or the kernel's counts could not be had. */
static void find_unjudged(const struct tlat_noise_thread *t, struct tlat_result *result)
{
	uint64_t dropped = t->seen[TLAT_NOISE_UNJUDGED].count;
	uint64_t blind = t->totals[TLAT_NOISE_UNJUDGED].count - dropped;

	if (dropped)
		tlat_findings_add(
			&result->findings, TLAT_INFO, "noise-dropped",
			"use a higher --threshold, or leave a CPU out of -c",
			"%" PRIu64 " gaps on CPU %d were more than could be looked at: "
			"whether an interrupt came or time was stolen is not told of them",
			dropped, t->cpu);
	if (blind)
		tlat_findings_add(&result->findings, TLAT_INFO, "noise-dropped",
				  "see whether /proc/interrupts can be read, and has that CPU",
				  "for %" PRIu64 " gaps on CPU %d the kernel's count of interrupts "
				  "could not be read: whether one came is not told of them",
				  blind, t->cpu);
}

static void find_displaced(const struct tlat_noise_thread *t, struct tlat_result *result)
{
	if (t->displaced)
		tlat_findings_add(&result->findings, TLAT_INFO, "cpu-displaced",
				  TLAT_DISPLACED_REMEDY,
				  "the thread that spun on CPU %d was found elsewhere %" PRIu64
				  " time%s, its mask set from outside, and went back",
				  t->cpu, t->displaced, t->displaced == 1 ? "" : "s");
}

/* One that is lost ends all. */
static void find_lost(struct tlat_noise *noise)
{
	for (int32_t i = 0; i < noise->n_threads; i++) {
		const struct tlat_noise_thread *t = &noise->threads[i];

		if (t->lost)
			tlat_find_cpu_lost(&noise->of_result, t->cpu, t->lost);
	}
}

static int32_t end_of(struct tlat_noise *noise)
{
	if (atomic_load(&noise->broken))
		return TLAT_END_ERROR;
	return noise->stopped ? TLAT_END_SIGNAL : TLAT_END_TIME;
}

/* == Results == */

static void describe(struct tlat_noise *noise, const struct tlat_noise_thread *t,
		     struct tlat_result *result)
{
	result->kind = "noise";
	snprintf(result->probe, sizeof(result->probe), "noise");
	snprintf(result->from, sizeof(result->from), "a stamp of a spinning thread");
	snprintf(result->to, sizeof(result->to), "its next one, when that came late");
	result->thread = (int32_t)(t - noise->threads);
	result->wait = t->facts;
	result->policy_asked = noise->opts.policy;
	result->priority_asked = noise->opts.priority;
	result->duration_ns = (int64_t)(seconds(t) * 1e9);
	result->end = end_of(noise);
	repeat_command(noise, t, &result->repeat);
}

static void take_watch(const struct tlat_noise *noise, const struct tlat_noise_thread *t,
		       struct tlat_result *result)
{
	struct tlat_watch_delta *watch = tlat_watch_delta_copy(noise->seen);

	result->watch = watch;
	if (!watch)
		return;
	watch->voluntary = (uint64_t)(t->after.ru_nvcsw - t->before.ru_nvcsw);
	watch->involuntary = (uint64_t)(t->after.ru_nivcsw - t->before.ru_nivcsw);
	watch->minor_faults = (uint64_t)(t->after.ru_minflt - t->before.ru_minflt);
	watch->major_faults = (uint64_t)(t->after.ru_majflt - t->before.ru_majflt);
	tlat_watch_find(watch, &result->findings);
}

static int add_result(struct tlat_noise *noise, struct tlat_noise_thread *t,
		      struct tlat_report *report)
{
	struct tlat_result *result = tlat_result_new();

	if (!result)
		return -ENOMEM;
	describe(noise, t, result);
	tlat_findings_copy(&result->findings, &noise->of_result);
	put_metrics(noise, t, result);
	find_throttling(t, result);
	find_switches(t, result);
	find_unknown(noise, t, result);
	find_unjudged(t, result);
	find_displaced(t, result);
	take_watch(noise, t, result);
	result->latency = t->hist;
	t->hist = NULL;
	return tlat_report_add(report, result);
}

int tlat_noise_report(struct tlat_noise *noise, struct tlat_report **ret_report)
{
	struct tlat_report *report;
	int error = tlat_report_new(&report, noise->machine, noise->clock, 0);

	if (error)
		return error;
	tlat_report_started(report, noise->realtime_ns);
	find_lost(noise);
	for (int32_t i = 0; i < noise->n_threads && !error; i++)
		error = add_result(noise, &noise->threads[i], report);
	return tlat_report_hand_over(report, error, &noise->findings, ret_report);
}
