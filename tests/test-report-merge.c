// SPDX-License-Identifier: MIT
/* test-report-merge.c - several reports made one: nothing lost, nothing mixed that is not alike. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_sample.h"

#ifdef TLAT_WITH_JANSSON

#include <jansson.h>

#define N 3

static void make(struct tlat_report *reports[N], void (*change)(struct tlat_report *))
{
	for (size_t i = 0; i < N; i++) {
		reports[i] = sample_report();
		assert_int_equal(
			tlat_report_add(reports[i], sample_pair(1000 + 100 * i, 10 + 7 * i)), 0);
		assert_int_equal(tlat_report_add(reports[i], sample_solo(500, 90 + i)), 0);
		if (change && i == N - 1)
			change(reports[i]);
	}
}

static void discard(struct tlat_report *reports[N])
{
	for (size_t i = 0; i < N; i++)
		tlat_report_free(reports[i]);
}

static void expect_sum(const struct tlat_hist *sum, struct tlat_report *reports[N], size_t result)
{
	struct tlat_hist *own;
	size_t a = 0, b = 0;
	struct tlat_bin x, y;
	int more;

	assert_int_equal(tlat_hist_new(&own, tlat_hist_hz(sum)), 0);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(tlat_hist_merge(own, tlat_result_hist(tlat_report_result(
							      reports[i], result))),
				 0);
	assert_int_equal(tlat_hist_count(sum), tlat_hist_count(own));
	assert_int_equal(tlat_hist_min(sum), tlat_hist_min(own));
	assert_int_equal(tlat_hist_max(sum), tlat_hist_max(own));
	assert_int_equal(tlat_hist_overflow(sum), tlat_hist_overflow(own));
	do {
		more = tlat_hist_next(sum, &a, &x);
		assert_int_equal(tlat_hist_next(own, &b, &y), more);
		if (more)
			assert_true(x.low == y.low && x.high == y.high && x.count == y.count);
	} while (more);
	tlat_hist_free(own);
}

static void the_sum_has_every_sample_and_says_whose_it_is(void **state)
{
	struct tlat_report *reports[N], *merged, *again;
	struct tlat_error error;
	json_t *document;
	char *text;

	(void)state;
	make(reports, NULL);
	if (tlat_report_merge(&merged, reports, N, &error) < 0)
		fail_msg("%s", error.text);
	text = sample_text(merged);
	again = sample_read(text);
	for (size_t i = 0; i < 2; i++) {
		const struct tlat_result *result = tlat_report_result(again, i);
		uint64_t asked = 0;

		expect_sum(tlat_result_hist(result), reports, i);
		for (size_t k = 0; k < N; k++)
			asked += reports[k]->results[i]->counts.asked;
		assert_int_equal(result->counts.asked, asked);
		assert_int_equal(tlat_counts_balance(&result->counts), 0);
		assert_int_equal(tlat_blocks_count(result->blocks), 8 * N);
		for (size_t k = 0; k < 8 * N; k++) {
			assert_int_equal(tlat_blocks_run(result->blocks, k), k / 8);
			assert_int_equal(
				tlat_blocks_samples(result->blocks, k),
				tlat_blocks_samples(reports[k / 8]->results[i]->blocks, k % 8));
		}
	}
	assert_int_equal(again->results[0]->outliers->n, 2 * N);
	document = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(document, "merged")), N);
	for (size_t i = 0; i < N; i++)
		assert_string_equal(
			json_string_value(json_object_get(
				json_array_get(json_object_get(document, "merged"), i), "id")),
			reports[i]->id);
	json_decref(document);
	free(text);
	tlat_report_free(again);
	tlat_report_free(merged);
	discard(reports);
}

/* In any order, to the last bin. */
static void the_order_does_not_matter(void **state)
{
	struct tlat_report *reports[N], *turned[N], *merged;
	struct tlat_error error;

	(void)state;
	make(reports, NULL);
	for (size_t i = 0; i < N; i++)
		turned[i] = reports[N - 1 - i];
	assert_int_equal(tlat_report_merge(&merged, turned, N, &error), 0);
	expect_sum(tlat_result_hist(tlat_report_result(merged, 0)), reports, 0);
	tlat_report_free(merged);
	discard(reports);
}

static void merge_turned(struct tlat_report *reports[N], bool turned, struct tlat_report **merged)
{
	struct tlat_report *order[N];
	struct tlat_error error;

	for (size_t i = 0; i < N; i++)
		order[i] = reports[turned ? N - 1 - i : i];
	if (tlat_report_merge(merged, order, N, &error) < 0)
		fail_msg("%s", error.text);
}

static void what_one_report_says_of_itself_is_not_said_of_all(void **state)
{
	(void)state;
	for (int turned = 0; turned < 2; turned++) {
		struct tlat_report *reports[N], *merged;
		json_t *document;
		char *text;

		make(reports, NULL);
		for (size_t i = 0; i < N; i++)
			assert_int_equal(
				tlat_report_judge(reports[i], TLAT_REPORT_WHOLE, "p50<1s", NULL),
				TLAT_PASS);
		reports[turned ? 0 : N - 1]->results[1]->end = TLAT_END_SIGNAL;
		merge_turned(reports, turned, &merged);
		assert_int_equal(merged->results[0]->end, TLAT_END_COUNT);
		assert_int_equal(merged->results[1]->end, TLAT_END_SIGNAL);
		assert_string_equal(tlat_report_end(merged), "signal");
		text = sample_text(merged);
		document = json_loads(text, 0, NULL);
		assert_null(json_object_get(document, "verdict"));
		assert_null(json_object_get(json_array_get(json_object_get(document, "results"), 0),
					    "verdict"));
		assert_int_equal(tlat_report_judge(merged, 0, "p50<1s", NULL), TLAT_PASS);
		assert_int_equal(tlat_report_judge(merged, 1, "p50<1s", NULL), TLAT_INCONCLUSIVE);
		json_decref(document);
		free(text);
		tlat_report_free(merged);
		discard(reports);
	}
}

static void returns_are_added_up_or_dropped(void **state)
{
	(void)state;
	for (int turned = 0; turned < 2; turned++) {
		struct tlat_report *reports[N], *merged;

		make(reports, NULL);
		merge_turned(reports, turned, &merged);
		assert_int_equal(tlat_hist_count(merged->results[0]->back), 1000 + 1100 + 1200);
		tlat_report_free(merged);
		tlat_hist_free(reports[0]->results[0]->back);
		reports[0]->results[0]->back = NULL;
		merge_turned(reports, turned, &merged);
		assert_null(merged->results[0]->back);
		tlat_report_free(merged);
		discard(reports);
	}
}

static void change_settle(struct tlat_report *report)
{
	report->results[0]->settle_ns = 1;
}

static void change_target(struct tlat_report *report)
{
	report->results[0]->target = TLAT_TARGET_SLEEPING;
}

static void change_slack(struct tlat_report *report)
{
	report->results[1]->wait.slack_ns = 1;
}

static void change_cpu_latency(struct tlat_report *report)
{
	report->results[1]->cpu_latency_ns = -1;
}

static void change_chain(struct tlat_report *report)
{
	report->results[0]->chain_adds = 1000;
}

/* Every result has the clock of its report since it was added. */
static void change_clock(struct tlat_report *report, const struct tlat_calibration *clock)
{
	*report->clock = *clock;
	for (size_t i = 0; i < report->n_results; i++)
		*report->results[i]->clock = *clock;
}

static void change_source(struct tlat_report *report)
{
	struct tlat_calibration clock = sample_clock;

	clock.source = TLAT_CLOCK_GETTIME;
	change_clock(report, &clock);
}

/* Pairs are stamped by the counter, whatever the kernel keeps time by. */
static void change_kernel_clocksource(struct tlat_report *report)
{
	struct tlat_calibration clock = sample_clock;

	strcpy(clock.kernel_clocksource, "hpet");
	change_clock(report, &clock);
}

static void forget_clock(struct tlat_report *report)
{
	for (size_t i = 0; i < report->n_results; i++) {
		free(report->results[i]->clock);
		report->results[i]->clock = NULL;
	}
	free(report->clock);
	report->clock = NULL;
}

static void change_unit(struct tlat_report *report)
{
	struct tlat_hist *hist;

	assert_int_equal(tlat_hist_new(&hist, SAMPLE_HZ + SAMPLE_HZ / 5000), 0);
	tlat_hist_record(hist, 4000);
	tlat_hist_free(report->results[0]->latency);
	report->results[0]->latency = hist;
}

static void change_probe(struct tlat_report *report)
{
	strcpy(report->results[1]->probe, "timer-timerfd");
}

static void change_number(struct tlat_report *report)
{
	assert_int_equal(tlat_report_add(report, sample_solo(500, 9)), 0);
}

static void change_policy(struct tlat_report *report)
{
	report->results[1]->wait.policy = TLAT_SCHED_RR;
}

static void change_kind(struct tlat_report *report)
{
	tlat_hist_free(report->results[1]->latency);
	report->results[1]->latency = NULL;
}

static const struct {
	void (*change)(struct tlat_report *report);
	const char *because;
} refusals[] = {
	{ change_settle, "settle 50000ns in one report, 1ns in another" },
	{ change_target, "target busy in one report, sleeping in another" },
	{ change_slack, "run.slack 50000ns in one report, 1ns in another" },
	{ change_cpu_latency, "run.cpu_latency 0ns in one report, default in another" },
	{ change_chain, "run.chain none in one report, 1000 additions in another" },
	{ change_source, "wake-futex: clock tsc in one report, clock_gettime in another" },
	{ change_kernel_clocksource,
	  "timer-nanosleep: kernel's clocksource tsc in one report, hpet in another" },
	{ forget_clock, "wake-futex: clock tsc in one report, not known in another" },
	{ change_unit, "more than 100 ppm apart" },
	{ change_probe, "timer-nanosleep: not a latency in every report" },
	{ change_number, "report 3 has 3 results, report 1 has 2" },
	{ change_policy, "policy other in one report, rr in another" },
	{ change_kind, "not a latency in every report" },
};

static void what_is_not_alike_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(refusals); i++) {
		struct tlat_report *reports[N], *merged = NULL;
		struct tlat_error error = { 0 };

		make(reports, refusals[i].change);
		assert_int_equal(tlat_report_merge(&merged, reports, N, &error), -EINVAL);
		assert_null(merged);
		if (!strstr(error.text, refusals[i].because))
			fail_msg("\"%s\" does not say \"%s\"", error.text, refusals[i].because);
		discard(reports);
	}
}

/* A timer thread is the same measurement on whatever CPU of whatever host. */
static void solo_probes_of_other_cpus_and_counters_nearby_are_alike(void **state)
{
	struct tlat_report *reports[N], *merged;
	struct tlat_error error;

	(void)state;
	make(reports, NULL);
	reports[1]->results[1]->wait.cpu = 7;
	strcpy(reports[1]->machine.facts.kernel, "6.13");
	if (tlat_report_merge(&merged, reports, N, &error) < 0)
		fail_msg("%s", error.text);
	assert_true(tlat_findings_reach(&merged->findings, TLAT_WARN));
	tlat_report_free(merged);
	discard(reports);
}

static void expect_bound(const struct tlat_calibration *sum, const struct tlat_calibration *of)
{
	assert_true(sum->quantum_ns >= of->quantum_ns);
	assert_true(sum->quantum_ticks >= of->quantum_ticks);
	assert_true(sum->read_cost_ns >= of->read_cost_ns);
	assert_true(sum->read_p99_ns - sum->read_min_ns >= of->read_p99_ns - of->read_min_ns);
	assert_true(sum->gettime_cost_ns >= of->gettime_cost_ns);
	assert_true(sum->hz_error_ppb >= of->hz_error_ppb);
	assert_true(sum->gap_max_ns >= of->gap_max_ns);
	assert_true(fabs(sum->end_drift_ppm) >= fabs(of->end_drift_ppm));
	assert_true(sum->vdso <= of->vdso && sum->invariant <= of->invariant);
	assert_true(sum->hypervisor >= of->hypervisor);
}

static double u_ns(const struct tlat_result *result)
{
	struct tlat_summary summary = { .size = sizeof(summary) };

	assert_int_equal(tlat_result_summary(result, &summary), 0);
	assert_true(isfinite(summary.u_ns));
	return summary.u_ns;
}

/* One machine keeps time worse than the others: what the sum says of itself holds there too. */
static void a_sum_is_as_sure_as_the_worst_clock_in_it(void **state)
{
	struct tlat_calibration worse = sample_clock;

	(void)state;
	worse.quantum_ticks *= 40;
	worse.quantum_ns *= 40;
	worse.read_cost_ns *= 30;
	worse.read_min_ns *= 20;
	worse.read_p99_ns *= 60;
	worse.gettime_cost_ns *= 40;
	worse.hz_error_ppb = 90000;
	worse.gap_max_ns = 70000;
	worse.end_drift_ppm = -3;
	worse.vdso = worse.invariant = false;
	worse.hypervisor = true;
	for (int turned = 0; turned < 2; turned++) {
		struct tlat_report *reports[N], *merged, *again;
		char *text;

		make(reports, NULL);
		change_clock(reports[1], &worse);
		reports[1]->results[0]->dither_ns = 0;
		merge_turned(reports, turned, &merged);
		text = sample_text(merged);
		again = sample_read(text);
		expect_bound(again->clock, &worse);
		for (size_t i = 0; i < 2; i++) {
			expect_bound(again->results[i]->clock, &worse);
			expect_bound(again->results[i]->clock, &sample_clock);
			assert_true(u_ns(again->results[i]) >= u_ns(merged->results[i]));
			assert_true(u_ns(again->results[i]) > 10 * worse.quantum_ns / 40);
		}
		assert_int_equal(again->results[0]->dither_ns, 0);
		free(text);
		tlat_report_free(again);
		tlat_report_free(merged);
		discard(reports);
	}
}

/* Ticks of both are ns by the rate of one. */
static void what_rates_differ_by_is_an_error_of_the_rate(void **state)
{
	const uint64_t hz = SAMPLE_HZ + SAMPLE_HZ / 20000;

	(void)state;
	for (int turned = 0; turned < 2; turned++) {
		struct tlat_report *reports[N], *merged;
		struct tlat_hist *hist;

		make(reports, NULL);
		assert_int_equal(tlat_hist_new(&hist, hz), 0);
		assert_int_equal(tlat_hist_merge(hist, reports[0]->results[0]->latency), 0);
		tlat_hist_free(reports[0]->results[0]->latency);
		reports[0]->results[0]->latency = hist;
		merge_turned(reports, turned, &merged);
		assert_true(merged->results[0]->clock->hz_error_ppb >= 49990 + 437);
		assert_int_equal(merged->results[1]->clock->hz_error_ppb, 437);
		tlat_report_free(merged);
		discard(reports);
	}
}

static void a_cpu_that_runs_do_not_share_is_not_said(void **state)
{
	struct tlat_report *reports[N], *merged, *again;
	char *text;

	(void)state;
	make(reports, NULL);
	reports[1]->results[1]->wait.cpu = 7;
	reports[2]->results[1]->repeat = strdup("tlat run timer-nanosleep -c 1");
	merge_turned(reports, false, &merged);
	text = sample_text(merged);
	again = sample_read(text);
	assert_int_equal(again->results[0]->wait.cpu, 1);
	assert_int_equal(again->results[0]->kick.cpu, 0);
	assert_int_equal(again->results[1]->wait.cpu, -1);
	assert_non_null(again->results[0]->repeat);
	assert_null(again->results[1]->repeat);
	free(text);
	tlat_report_free(again);
	tlat_report_free(merged);
	discard(reports);
}

static void expect_twice(struct tlat_report *const *reports, size_t n, const char *because)
{
	struct tlat_report *merged = NULL;
	struct tlat_error error = { 0 };

	assert_int_equal(tlat_report_merge(&merged, reports, n, &error), -EINVAL);
	assert_null(merged);
	if (!strstr(error.text, because))
		fail_msg("\"%s\" does not say \"%s\"", error.text, because);
}

static void no_run_counts_twice(void **state)
{
	struct tlat_report *reports[N], *twice[N], *merged;
	char because[80];

	(void)state;
	make(reports, NULL);
	twice[0] = reports[2];
	twice[1] = reports[0];
	twice[2] = reports[2];
	snprintf(because, sizeof(because), "run %s is in reports 1 and 3", reports[2]->id);
	expect_twice(twice, N, because);
	assert_int_equal(tlat_report_merge(&merged, reports, 2, NULL), 0);
	twice[0] = merged;
	twice[1] = reports[2];
	twice[2] = reports[1];
	snprintf(because, sizeof(because), "run %s is in reports 1 and 3", reports[1]->id);
	expect_twice(twice, N, because);
	tlat_report_free(merged);
	/* Who has no id may be anybody. */
	reports[0]->id[0] = reports[1]->id[0] = '\0';
	merge_turned(reports, false, &merged);
	tlat_report_free(merged);
	discard(reports);
}

static void one_report_merges_to_itself(void **state)
{
	struct tlat_report *reports[N], *merged;
	struct tlat_error error;

	(void)state;
	make(reports, NULL);
	assert_int_equal(tlat_report_merge(&merged, reports, 1, &error), 0);
	assert_int_equal(tlat_hist_count(merged->results[0]->latency),
			 tlat_hist_count(reports[0]->results[0]->latency));
	tlat_report_free(merged);
	assert_int_equal(tlat_report_merge(&merged, reports, 0, &error), -EINVAL);
	discard(reports);
}

static void a_metric_that_does_not_fit_is_refused(void **state)
{
	static const char long_text[] = "123456789 123456789 123456789 123456789 12345678";
	struct tlat_report *report = sample_report();
	struct tlat_metric metric = TLAT_METRIC(.name = "rate", .unit = "Hz", .value = 1);

	(void)state;
	assert_int_equal(strlen(long_text), 48);
	assert_int_equal(tlat_report_add_metric(report, NULL, &metric), -EINVAL);
	assert_int_equal(tlat_report_add_metric(report, long_text, &metric), -EINVAL);
	assert_int_equal(tlat_report_add_metric(report, long_text + 1, &metric), 0);
	assert_string_equal(report->results[0]->probe, long_text + 1);
	metric.name = long_text;
	assert_int_equal(tlat_report_add_metric(report, "netperf", &metric), -EINVAL);
	metric = TLAT_METRIC(.name = "rate", .unit = long_text + 32, .value = 1);
	assert_int_equal(tlat_report_add_metric(report, "netperf", &metric), -EINVAL);
	metric.unit = NULL;
	assert_int_equal(tlat_report_add_metric(report, "netperf", &metric), -EINVAL);
	metric = TLAT_METRIC(.name = "", .unit = "Hz", .value = 1);
	assert_int_equal(tlat_report_add_metric(report, "netperf", &metric), -EINVAL);
	metric.name = "rate";
	assert_int_equal(tlat_report_add_metric(report, "", &metric), -EINVAL);
	metric.sd = -1;
	assert_int_equal(tlat_report_add_metric(report, "netperf", &metric), -EINVAL);
	metric = TLAT_METRIC(.name = "rate", .unit = "Hz", .value = 1, .n = UINT64_MAX);
	assert_int_equal(tlat_report_add_metric(report, "netperf", &metric), -EINVAL);
	assert_int_equal(report->n_results, 1);
	tlat_report_free(report);
}

static void a_metric_is_of_one_value_unless_it_says_more(void **state)
{
	struct tlat_report *report = sample_report();
	struct tlat_metric metric = TLAT_METRIC(.name = "rate", .unit = "", .value = 1);

	(void)state;
	assert_int_equal(tlat_report_add_metric(report, "netperf", &metric), 0);
	assert_int_equal(tlat_result_metric(report->results[0], 0, &metric), 0);
	assert_int_equal(metric.n, 1);
	tlat_report_free(report);
}

static void a_design_and_a_metric_survive_a_file(void **state)
{
	struct tlat_report *report = sample_full(100), *read;
	struct tlat_design design = { .size = sizeof(design) };
	struct tlat_metric metric = { .size = sizeof(metric) };
	char *text;

	(void)state;
	assert_int_equal(tlat_report_design(report, &design), -ENOENT);
	assert_int_equal(tlat_report_set_design(report, &TLAT_DESIGN(.side = 'C')), -EINVAL);
	assert_int_equal(tlat_report_set_design(report, &TLAT_DESIGN(.side = 'A', .planned = -1)),
			 -EINVAL);
	assert_int_equal(tlat_report_set_design(
				 report, &TLAT_DESIGN(.side = 'A', .seed = UINT64_C(1) << 63)),
			 -EINVAL);
	assert_int_equal(
		tlat_report_set_design(report, &TLAT_DESIGN(.side = 'B', .pair = 3, .order = "BAAB",
							    .planned = 20, .looks = 1, .seed = 99,
							    .command = "netperf -H \"x\"")),
		0);
	assert_int_equal(
		tlat_report_add_metric(report, "netperf",
				       &TLAT_METRIC(.name = "rate", .unit = "Hz", .value = 2.5,
						    .sd = 0.1, .n = 7, .better = 1)),
		0);
	assert_int_equal(tlat_report_add_metric(
				 report, "netperf",
				 &TLAT_METRIC(.name = "rate", .unit = "Hz", .value = (double)NAN)),
			 -EINVAL);
	text = sample_text(report);
	read = sample_read(text);
	assert_int_equal(tlat_report_design(read, &design), 0);
	assert_int_equal(design.side, 'B');
	assert_int_equal(design.pair, 3);
	assert_int_equal(design.planned, 20);
	assert_int_equal(design.seed, 99);
	assert_true(design.looks == 1 && !design.setup);
	assert_string_equal(design.order, "BAAB");
	assert_string_equal(design.command, "netperf -H \"x\"");
	assert_int_equal(tlat_result_metric(tlat_report_result(read, 2), 0, &metric), 0);
	assert_string_equal(metric.name, "rate");
	assert_true(metric.value == 2.5 && metric.sd == 0.1 && metric.n == 7 && metric.better == 1);
	assert_int_equal(tlat_result_metric(tlat_report_result(read, 2), 1, &metric), -ENOENT);
	assert_true(read->start_ns == INT64_C(1767225600000000007));
	assert_string_equal(read->boot_id, "6fa459ea-ee8a-3ca4-894e-db77e160355e");
	/* Placed anew after it was read, as tlat ab does. */
	assert_int_equal(tlat_report_set_design(read, &TLAT_DESIGN(.side = 'A', .pair = 4)), 0);
	free(text);
	text = sample_text(read);
	assert_non_null(strstr(text, "\"pair\":4"));
	free(text);
	tlat_report_free(read);
	tlat_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_has_every_sample_and_says_whose_it_is),
		cmocka_unit_test(the_order_does_not_matter),
		cmocka_unit_test(what_one_report_says_of_itself_is_not_said_of_all),
		cmocka_unit_test(returns_are_added_up_or_dropped),
		cmocka_unit_test(what_is_not_alike_is_refused),
		cmocka_unit_test(solo_probes_of_other_cpus_and_counters_nearby_are_alike),
		cmocka_unit_test(a_sum_is_as_sure_as_the_worst_clock_in_it),
		cmocka_unit_test(what_rates_differ_by_is_an_error_of_the_rate),
		cmocka_unit_test(a_cpu_that_runs_do_not_share_is_not_said),
		cmocka_unit_test(no_run_counts_twice),
		cmocka_unit_test(one_report_merges_to_itself),
		cmocka_unit_test(a_metric_that_does_not_fit_is_refused),
		cmocka_unit_test(a_metric_is_of_one_value_unless_it_says_more),
		cmocka_unit_test(a_design_and_a_metric_survive_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77;
}

#endif
