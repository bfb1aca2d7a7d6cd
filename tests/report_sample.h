/* SPDX-License-Identifier: MIT */
/*
 * report_sample.h - for tests: results as a run would have left them, with every member set, and
 * reports made of them. All numbers come from a seed.
 */
#ifndef TLAT_TESTS_REPORT_SAMPLE_H
#define TLAT_TESTS_REPORT_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define SAMPLE_HZ 2596120129u

static const struct tlat_calibration sample_clock = {
	.source = TLAT_CLOCK_TSC,
	.reason = "tsc: constant rate, and the kernel keeps time by it (tsc)",
	.kernel_clocksource = "tsc",
	.method = "measured",
	.hz = SAMPLE_HZ,
	.hz_error_ppb = 437,
	.anchor_bracket_ns = { 40.1, 41.7 },
	.span_ms = 100.3,
	.quantum_ticks = 26,
	.quantum_ns = 26e9 / SAMPLE_HZ,
	.quantum_share = 0.993,
	.read_cost_ns = 20.03,
	.read_min_ns = 20.03,
	.read_p99_ns = 30.1,
	.gettime_cost_ns = 25.7,
	.vdso = true,
	.invariant = true,
	.gap_known = true,
	.gap_cpu = 1,
	.gap_duration_ms = 50,
	.gap_threshold_ns = 1000,
	.gap_count = 3,
	.gap_rate_hz = 60,
	.gap_max_ns = 1834.2,
	.end_checked = true,
	.end_drift_ppm = 0.01,
};

static inline uint64_t sample_next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static inline void *sample_memory(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	assert_non_null(memory);
	return memory;
}

static inline struct tlat_hist *sample_hist(uint64_t hz, uint64_t seed, size_t n, uint64_t low,
					    uint64_t spread)
{
	struct tlat_hist *hist;

	assert_int_equal(tlat_hist_new(&hist, hz), 0);
	for (size_t i = 0; i < n; i++)
		tlat_hist_record(hist, (int64_t)(low + sample_next(&seed) % spread));
	return hist;
}

/* n latencies in 8 blocks, among them early ones, an overflow, and outliers that are kept. */
static inline void sample_latency(struct tlat_result *result, size_t n, uint64_t seed)
{
	struct tlat_counts *counts = &result->counts;

	assert_int_equal(tlat_hist_new(&result->latency, result->pair ? SAMPLE_HZ : 1000000000), 0);
	assert_int_equal(tlat_blocks_new(&result->blocks, 250000000), 0);
	result->outliers = sample_memory(1, sizeof(*result->outliers));
	for (size_t i = 0; i < n; i++) {
		int64_t value = 4000 + (int64_t)(sample_next(&seed) % 900);

		if (i % 997 == 5)
			value = i % 2 ? -(int64_t)(i % 50) - 1 : value * 40;
		tlat_hist_record(result->latency, value);
		if (n >= 8 && i % (n / 8) == n / 8 - 1)
			assert_int_equal(tlat_blocks_cut(result->blocks, result->latency), 0);
	}
	tlat_hist_record(result->latency, INT64_C(1) << 38);
	result->outliers->v[0] = (struct tlat_outlier){ 4899 * 40, 17000, 331, 1, 0 };
	result->outliers->v[1] = (struct tlat_outlier){ INT64_C(1) << 38, 1999999999, n, 0, 0 };
	result->outliers->n = 2;
	counts->early = tlat_hist_early(result->latency);
	counts->overflow = 1;
	counts->recorded = n - counts->early;
	counts->asked = n + 1;
}

static inline struct tlat_watch_delta *sample_watch(void)
{
	struct tlat_watch_delta *watch = sample_memory(1, sizeof(*watch));

	watch->idle = sample_memory(2, sizeof(*watch->idle));
	watch->idle[0] = (struct tlat_watch_idle){ 1, "C1", 1234, 700000000 };
	watch->idle[1] = (struct tlat_watch_idle){ 1, "C6", 3, 20000000 };
	watch->n_idle = 2;
	watch->interrupts = sample_memory(2, sizeof(*watch->interrupts));
	watch->interrupts[0] = (struct tlat_watch_count){ 0, "LOC", 2004 };
	watch->interrupts[1] = (struct tlat_watch_count){ -1, "ERR", 1 };
	watch->n_interrupts = 2;
	watch->softirqs = sample_memory(1, sizeof(*watch->softirqs));
	watch->softirqs[0] = (struct tlat_watch_count){ 1, "TIMER", 55 };
	watch->n_softirqs = 1;
	watch->switches = 40011;
	watch->voluntary = 20003;
	watch->steal_ns = 0;
	watch->throttled = watch->hrtimer_hangs = watch->hrtimer_retries = -1;
	watch->hrtimer_events = 2004;
	watch->duration_ns = 2000000000;
	return watch;
}

static inline void sample_raw(struct tlat_result *result)
{
	result->n_raw = 3;
	result->raw = sample_memory(3, sizeof(*result->raw));
	result->raw[0] = 4001;
	result->raw[1] = -7;
	result->raw[2] = (INT64_C(1) << 38) + 1;
}

/* A one-way wake from CPU 0 to CPU 1. */
static inline struct tlat_result *sample_pair(size_t n, uint64_t seed)
{
	struct tlat_result *result = tlat_result_new();

	assert_non_null(result);
	strcpy(result->probe, "wake-futex");
	strcpy(result->from, "before futex(FUTEX_WAKE)");
	strcpy(result->to, "after futex(FUTEX_WAIT) returned");
	result->pair = result->has_kick = true;
	result->relation = "llc";
	result->wait = (struct tlat_side_facts){ 1, TLAT_SCHED_FIFO, 40, 4711, 1, 0, 0, 0 };
	result->kick = (struct tlat_side_facts){ 0, TLAT_SCHED_FIFO, 40, 4712, 50000, 0, 0, 0 };
	result->policy_asked = TLAT_SCHED_FIFO;
	result->priority_asked = 41;
	result->kick_priority_asked = 39;
	result->settle_ns = 50000;
	result->dither_ns = 11;
	result->duration_ns = 2000000000;
	result->warmup = 1000;
	result->rests = 2;
	sample_latency(result, n, seed);
	result->counts.rejected[TLAT_REJECTED_NOT_ASLEEP] = 4;
	result->counts.unfinished = 1;
	result->counts.asked += 5;
	result->counts.disturbed[TLAT_DISTURBED_PREEMPTED] = 2;
	result->call = sample_hist(SAMPLE_HZ, seed + 1, n, 3000, 100);
	result->back = sample_hist(SAMPLE_HZ, seed + 5, n, 700, 40);
	result->target = TLAT_TARGET_BUSY;
	result->dwell = sample_hist(SAMPLE_HZ, seed + 2, n, 129000, 4000);
	result->floor = sample_hist(SAMPLE_HZ, seed + 3, 1000, 50, 5);
	result->floor_pair = sample_hist(SAMPLE_HZ, seed + 4, 1000, 300, 50);
	result->has_offset = true;
	result->offset = (struct tlat_clock_offset){ 0, 1, -226.1, 264.3, 480.7 };
	result->watch = sample_watch();
	result->repeat = strdup("tlat run wake-futex -c 0,1 -p 40 --settle 50us");
	sample_raw(result);
	tlat_findings_add(&result->findings, TLAT_INFO, "not-isolated", "isolcpus=1",
			  "CPU 1 is not isolated");
	return result;
}

/* A timer thread on CPU 1. */
static inline struct tlat_result *sample_solo(size_t n, uint64_t seed)
{
	struct tlat_result *result = tlat_result_new();

	assert_non_null(result);
	strcpy(result->probe, "timer-nanosleep");
	result->periodic = true;
	result->wait = (struct tlat_side_facts){ 1, TLAT_SCHED_OTHER, 0, 4711, 50000, 0, 0, 0 };
	result->interval_ns = 1000000;
	result->phase_ns = 731;
	result->duration_ns = 1000000000;
	result->cpu_latency_ns = 0;
	result->end = TLAT_END_TIME;
	sample_latency(result, n, seed);
	return result;
}

static inline struct tlat_report *sample_report(void)
{
	struct tlat_report *report;

	assert_int_equal(tlat_report_new(&report, NULL, NULL, 42), 0);
	report->clock = sample_memory(1, sizeof(*report->clock));
	*report->clock = sample_clock;
	report->machine.known = true;
	report->machine.facts = (struct tlat_machine_facts){
		.kernel = "6.12.0-rt #1 SMP PREEMPT_RT",
		.cmdline = "quiet isolcpus=1",
		.preempt = "rt",
		.cpu_model = "Model \"X\"",
		.clocksource = "tsc",
		.hz = 250,
		.smt = 0,
		.turbo = -1,
		.rt_runtime_us = -1,
		.rt_period_us = 1000000,
		.boot_id = "6fa459ea-ee8a-3ca4-894e-db77e160355e",
	};
	report->machine.online = strdup("0-1");
	report->machine.isolated = strdup("");
	tlat_report_started(report, INT64_C(1767225600000000007));
	tlat_report_slewed(report, 12000);
	return report;
}

/* One pair and one solo result, a finding, an origin. */
static inline struct tlat_report *sample_full(size_t n)
{
	static char *argv[] = { "tlat", "run", "wake-*", NULL };
	struct tlat_report *report = sample_report();

	assert_int_equal(tlat_report_add(report, sample_pair(n, 1)), 0);
	assert_int_equal(tlat_report_add(report, sample_solo(n, 2)), 0);
	assert_int_equal(tlat_report_set_origin(report, 3, argv, "tlat run wake-futex --seed 42"),
			 0);
	tlat_findings_add(tlat_report_findings(report), TLAT_WARN, "governor",
			  "cpupower frequency-set -g performance", "governor is powersave");
	return report;
}

static inline char *sample_text(const struct tlat_report *report)
{
	char *text;

	assert_int_equal(tlat_report_format(&text, report), 0);
	return text;
}

static inline struct tlat_report *sample_read(const char *text)
{
	struct tlat_error error = { 0 };
	struct tlat_report *report;

	if (tlat_report_read_text(&report, text, strlen(text), false, "text", &error) < 0)
		fail_msg("%s", error.text);
	return report;
}

#endif /* TLAT_TESTS_REPORT_SAMPLE_H */
