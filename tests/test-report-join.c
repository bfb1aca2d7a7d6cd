// SPDX-License-Identifier: MIT
/* test-report-join.c - the threads of a run as one result, whose figures are those of the sum. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_sample.h"

#ifdef TLAT_WITH_JANSSON

#include <jansson.h>

#define THREADS 3

/* Thread number thread, later than the one before by some. */
static struct tlat_result *sample_thread(int32_t thread, size_t n)
{
	struct tlat_result *result = sample_solo(n, 77 + (uint64_t)thread);

	result->thread = thread;
	result->wait.cpu = thread;
	result->wait.tid = 4711 + thread;
	result->warmup = 10;
	result->repeat = strdup("tlat run timer-nanosleep -c 1");
	sample_raw(result);
	tlat_findings_add(&result->findings, TLAT_INFO, "not-isolated", NULL, "it is not");
	return result;
}

static struct tlat_report *sample_threads(void)
{
	struct tlat_report *report = sample_report();

	for (int32_t i = 0; i < THREADS; i++)
		assert_int_equal(tlat_report_add(report, sample_thread(i, 1000 + 800 * (size_t)i)),
				 0);
	return report;
}

static struct tlat_report *join(const struct tlat_report *report)
{
	struct tlat_error error = { 0 };
	struct tlat_report *joined;

	if (tlat_report_join(&joined, report, &error) < 0)
		fail_msg("%s", error.text);
	return joined;
}

static struct tlat_summary summary_of(const struct tlat_report *report, size_t index)
{
	struct tlat_summary summary = { .size = sizeof(summary) };

	assert_int_equal(tlat_result_summary(tlat_report_result(report, index), &summary), 0);
	return summary;
}

static void the_result_has_what_all_threads_measured(void **state)
{
	struct tlat_report *report = sample_threads(), *joined = join(report);
	const struct tlat_result *whole = joined->results[0];
	uint64_t n = 0, in_blocks = 0;

	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		n += tlat_hist_count(report->results[i]->latency);
	for (size_t i = 0; i < tlat_blocks_count(whole->blocks); i++)
		in_blocks += tlat_blocks_samples(whole->blocks, i);
	assert_int_equal(joined->n_results, 1);
	assert_int_equal(tlat_hist_count(whole->latency), n);
	assert_int_equal(tlat_counts_balance(&whole->counts), 0);
	assert_int_equal(whole->counts.asked, n);
	assert_int_equal(whole->warmup, 10 * THREADS);
	assert_int_equal(whole->n_raw, 3 * THREADS);
	assert_int_equal(whole->outliers->n, 2 * THREADS);
	assert_int_equal(whole->findings.n, 1);
	assert_int_equal(whole->duration_ns, report->results[0]->duration_ns);
	assert_int_equal(tlat_blocks_count(whole->blocks), 8);
	assert_int_equal(in_blocks, n - THREADS); /* the overflow comes after the last cut */
	tlat_report_free(joined);
	tlat_report_free(report);
}

static double number_at(const json_t *result, const char *object, const char *key)
{
	return json_number_value(json_object_get(json_object_get(result, object), key));
}

/* The document of the joined report once said what the first thread's did. */
static void the_document_has_the_figures_of_the_sum(void **state)
{
	struct tlat_report *report = sample_threads(), *joined;
	struct tlat_summary first, whole;
	const json_t *result;
	json_t *document;
	char *text;

	(void)state;
	tlat_report_judge(report, TLAT_REPORT_WHOLE, "p50<1s", NULL);
	joined = join(report);
	first = summary_of(report, 0);
	whole = summary_of(joined, 0);
	text = sample_text(joined);
	document = json_loads(text, 0, NULL);
	result = json_array_get(json_object_get(document, "results"), 0);
	assert_true(isfinite(whole.u_ns) && whole.u_ns != first.u_ns);
	assert_true(number_at(result, "uncertainty", "u_ns") == whole.u_ns);
	assert_true(number_at(result, "summary", "p50_ns") == whole.p50_ns);
	assert_true(number_at(result, "summary", "mean_ns") == whole.mean_ns);
	assert_null(json_object_get(document, "verdict"));
	assert_true(json_is_null(json_object_get(result, "watch")));
	json_decref(document);
	free(text);
	tlat_report_free(joined);
	tlat_report_free(report);
}

static void what_threads_do_not_share_is_not_said(void **state)
{
	struct tlat_report *report = sample_threads(), *joined;

	(void)state;
	report->results[1]->counts.missed = 3;
	report->results[1]->counts.asked += 3;
	joined = join(report);
	assert_int_equal(joined->results[0]->wait.cpu, -1);
	assert_int_equal(joined->results[0]->interval_ns, 1000000);
	assert_true(isfinite(summary_of(joined, 0).corrected_p50_ns));
	assert_null(tlat_result_repeat(joined->results[0]));
	tlat_report_free(joined);
	report->results[2]->interval_ns = 1500000;
	joined = join(report);
	assert_true(isnan(summary_of(joined, 0).corrected_p50_ns));
	assert_int_equal(summary_of(joined, 0).interval_ns, 0);
	tlat_report_free(joined);
	tlat_report_free(report);
}

/* Three threads on two CPUs, in one group: what each of them saw of it is not three times there. */
static void what_happened_to_a_cpu_or_a_group_happened_once(void **state)
{
	struct tlat_report *report = sample_threads(), *joined;
	const uint64_t stolen[] = { 1, 4, 4 }, throttled[] = { 2, 3, 2 };
	const struct tlat_result *whole;

	(void)state;
	report->results[2]->wait.cpu = 1;
	for (size_t i = 0; i < THREADS; i++) {
		uint64_t *disturbed = report->results[i]->counts.disturbed;

		disturbed[TLAT_DISTURBED_STEAL] = stolen[i];
		disturbed[TLAT_DISTURBED_THROTTLED] = throttled[i];
		disturbed[TLAT_DISTURBED_PREEMPTED] = 5;
	}
	joined = join(report);
	whole = joined->results[0];
	assert_int_equal(whole->counts.disturbed[TLAT_DISTURBED_STEAL], 1 + 4);
	assert_int_equal(whole->counts.disturbed[TLAT_DISTURBED_THROTTLED], 3);
	assert_int_equal(whole->counts.disturbed[TLAT_DISTURBED_PREEMPTED], 3 * 5);
	tlat_report_free(joined);
	tlat_report_free(report);
}

static void an_offset_spans_those_of_all(void **state)
{
	struct tlat_report *report = sample_report(), *joined;
	struct tlat_result *first = sample_pair(500, 1), *second = sample_pair(500, 2);

	(void)state;
	second->thread = 1;
	second->wait.cpu = 2;
	second->offset = (struct tlat_clock_offset){ 0, 2, -100, 900, 480.7 };
	assert_int_equal(tlat_report_add(report, first), 0);
	assert_int_equal(tlat_report_add(report, second), 0);
	joined = join(report);
	assert_int_equal(joined->n_results, 1);
	assert_true(joined->results[0]->offset.lo_ns == first->offset.lo_ns);
	assert_true(joined->results[0]->offset.hi_ns == 900);
	assert_int_equal(joined->results[0]->kick.cpu, 0);
	assert_true(summary_of(joined, 0).u_ns > summary_of(report, 0).u_ns);
	tlat_report_free(joined);
	tlat_report_free(report);
}

static void other_results_stay_as_they_are(void **state)
{
	struct tlat_report *report = sample_full(300), *joined;
	const struct tlat_metric rate = TLAT_METRIC(.name = "rate", .unit = "Hz", .value = 1);

	(void)state;
	assert_int_equal(tlat_report_add(report, sample_thread(0, 200)), 0); /* another run */
	assert_int_equal(tlat_report_add(report, sample_thread(1, 200)), 0);
	assert_int_equal(tlat_report_add_metric(report, "netperf", &rate), 0);
	assert_int_equal(tlat_report_judge(report, 0, "p50<1s", NULL), TLAT_PASS);
	joined = join(report);
	assert_int_equal(joined->n_results, 4);
	assert_string_equal(joined->results[0]->probe, "wake-futex");
	assert_non_null(joined->results[0]->watch);
	assert_int_equal(joined->results[1]->wait.cpu, 1);
	assert_int_equal(tlat_hist_count(joined->results[2]->latency), 402);
	assert_string_equal(joined->results[3]->probe, "netperf");
	assert_int_equal(report->n_results, 5);
	tlat_report_free(joined);
	tlat_report_free(report);
}

static void counters_that_are_not_alike_are_refused(void **state)
{
	struct tlat_report *report = sample_threads(), *joined = NULL;
	struct tlat_error error = { 0 };
	struct tlat_hist *other;

	(void)state;
	assert_int_equal(tlat_hist_new(&other, 1000200000), 0);
	assert_true(tlat_hist_merge(other, report->results[1]->latency) < 0);
	tlat_hist_record(other, 4000);
	tlat_hist_free(report->results[1]->latency);
	report->results[1]->latency = other;
	report->results[1]->counts = (struct tlat_counts){ .asked = 1, .recorded = 1 };
	tlat_blocks_free(report->results[1]->blocks);
	report->results[1]->blocks = NULL;
	assert_int_equal(tlat_report_join(&joined, report, &error), -EINVAL);
	assert_null(joined);
	assert_non_null(strstr(error.text, "100 ppm"));
	tlat_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_has_what_all_threads_measured),
		cmocka_unit_test(the_document_has_the_figures_of_the_sum),
		cmocka_unit_test(what_threads_do_not_share_is_not_said),
		cmocka_unit_test(what_happened_to_a_cpu_or_a_group_happened_once),
		cmocka_unit_test(an_offset_spans_those_of_all),
		cmocka_unit_test(other_results_stay_as_they_are),
		cmocka_unit_test(counters_that_are_not_alike_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77;
}

#endif
