// SPDX-License-Identifier: MIT
/* test-report.c - what goes into a report comes out of it: by C access, as JSON, and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "comma-locale.h"
#include "report_sample.h"

#ifdef TLAT_WITH_JANSSON

#include <jansson.h>

static bool out_of_memory;

/* The library's own calls come here too: what is to be copied may find no memory. */
char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = out_of_memory ? NULL : malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

static void same_double(double a, double b)
{
	if (!(a == b || (isnan(a) && isnan(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static void same_estimate(const struct tlat_result *a, const struct tlat_result *b, double p)
{
	double x[3] = { 0 }, y[3] = { 0 };

	assert_int_equal(tlat_result_quantile_ns(a, p, &x[0], &x[1], &x[2]),
			 tlat_result_quantile_ns(b, p, &y[0], &y[1], &y[2]));
	for (size_t i = 0; i < 3; i++)
		same_double(x[i], y[i]);
}

static void same_summary(const struct tlat_result *a, const struct tlat_result *b)
{
	struct tlat_summary x = { .size = sizeof(x) }, y = { .size = sizeof(y) };
	const double *from = &x.min_ns, *to = &y.min_ns;

	assert_int_equal(tlat_result_summary(a, &x), 0);
	assert_int_equal(tlat_result_summary(b, &y), 0);
	assert_memory_equal(&x, &y, offsetof(struct tlat_summary, min_ns));
	for (; from <= &x.recovered_u_ns; from++, to++)
		same_double(*from, *to);
	for (from = &x.corrected_p50_ns, to = &y.corrected_p50_ns; from <= &x.corrected_max_ns;)
		same_double(*from++, *to++);
	assert_int_equal(x.corrected_added, y.corrected_added);
	assert_int_equal(x.wait_cpu, y.wait_cpu);
	assert_int_equal(x.kick_cpu, y.kick_cpu);
	assert_int_equal(x.policy, y.policy);
	assert_int_equal(x.priority, y.priority);
	assert_int_equal(x.policy_asked, y.policy_asked);
	assert_int_equal(x.priority_asked, y.priority_asked);
}

static void same_findings(const struct tlat_result *a, const struct tlat_result *b)
{
	struct tlat_finding x, y;
	size_t i = 0;

	for (; tlat_result_finding(a, i, &x) == 0; i++) {
		assert_int_equal(tlat_result_finding(b, i, &y), 0);
		assert_string_equal(x.id, y.id);
		assert_string_equal(x.text, y.text);
		assert_int_equal(x.severity, y.severity);
	}
	assert_int_equal(tlat_result_finding(b, i, &y), -ENOENT);
}

static void same_hist(const struct tlat_hist *a, const struct tlat_hist *b)
{
	assert_true(tlat_hist_hz(a) == tlat_hist_hz(b));
	assert_true(tlat_hist_min(a) == tlat_hist_min(b));
	assert_true(tlat_hist_max(a) == tlat_hist_max(b));
	assert_true(tlat_hist_overflow(a) == tlat_hist_overflow(b));
	for (int32_t slot = TLAT_HIST_SLOT_FIRST; slot <= TLAT_HIST_SLOT_OVERFLOW; slot++)
		assert_true(tlat_hist_slot_count(a, slot) == tlat_hist_slot_count(b, slot));
}

static void a_report_that_is_read_answers_as_the_one_that_was_written(void **state)
{
	struct tlat_report *report = sample_full(20000);
	char *text = sample_text(report);
	struct tlat_report *again = sample_read(text);
	const struct tlat_result *a, *b;
	const int64_t *values;
	size_t i = 0;

	(void)state;
	for (; (a = tlat_report_result(report, i)); i++) {
		b = tlat_report_result(again, i);
		assert_non_null(b);
		assert_string_equal(tlat_result_probe(a), tlat_result_probe(b));
		same_summary(a, b);
		same_findings(a, b);
		same_hist(tlat_result_hist(a), tlat_result_hist(b));
		for (double p = 0.01; p < 1; p += 0.0499)
			same_estimate(a, b, p);
		same_estimate(a, b, 0.99999);
		assert_int_equal(a->outliers->n, b->outliers->n);
		assert_int_equal(a->n_raw, b->n_raw);
	}
	assert_null(tlat_report_result(again, i));
	assert_memory_equal(report->results[0]->raw, again->results[0]->raw, 3 * sizeof(int64_t));
	assert_int_equal(tlat_result_values(again->results[0], &values), 3);
	assert_memory_equal(values, report->results[0]->raw, 3 * sizeof(int64_t));
	assert_int_equal(tlat_result_values(again->results[1], &values), 0);
	assert_null(values);
	assert_string_equal(tlat_report_end(report), tlat_report_end(again));
	tlat_report_free(again);
	tlat_report_free(report);
	free(text);
}

static void writing_what_was_read_gives_the_same_bytes(void **state)
{
	struct tlat_report *report = sample_full(20000);
	char *text = sample_text(report);
	struct tlat_report *again = sample_read(text);
	char *copy = sample_text(again);

	(void)state;
	assert_string_equal(text, copy);
	assert_null(strchr(text, '\n'));
	assert_null(strstr(text, "NaN"));
	free(copy);
	free(text);
	tlat_report_free(again);
	tlat_report_free(report);
}

/* A result built anew from what was read is the document that was read. */
static void the_struct_alone_gives_the_same_result_document(void **state)
{
	struct tlat_report *report = sample_full(20000);
	char *text = sample_text(report);
	struct tlat_report *again = sample_read(text);
	json_t *a = json_loads(text, 0, NULL), *b;
	char *copy;

	(void)state;
	for (size_t i = 0; i < again->n_results; i++) {
		tlat_document_free(again->results[i]->document);
		again->results[i]->document = NULL;
	}
	again->appended = true;
	copy = sample_text(again);
	b = json_loads(copy, 0, NULL);
	assert_true(json_equal(json_object_get(a, "results"), json_object_get(b, "results")));
	json_decref(a);
	json_decref(b);
	free(copy);
	free(text);
	tlat_report_free(again);
	tlat_report_free(report);
}

static void what_this_library_does_not_know_survives_a_rewrite(void **state)
{
	struct tlat_report *report = sample_full(100), *again;
	char *text = sample_text(report), *strange, *copy;
	json_t *document = json_loads(text, 0, NULL);
	json_t *result = json_array_get(json_object_get(document, "results"), 0);

	(void)state;
	json_object_set_new(document, "weather", json_string("rain"));
	json_object_set_new(json_object_get(document, "run"), "moon", json_real(0.5));
	json_object_set_new(result, "tide", json_integer(-3));
	assert_int_equal(json_object_set_new(json_array_get(json_object_get(result, "blocks"), 0),
					     "wave", json_integer(7)),
			 0);
	json_array_append_new(json_object_get(document, "results"),
			      json_pack("{s:s, s:s, s:[{s:s, s:i}]}", "kind", "storm", "probe",
					"storm-x", "metrics", "name", "rate", "wind", 1));
	strange = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
	again = sample_read(strange);
	copy = sample_text(again);
	assert_string_equal(strange, copy);
	assert_string_equal(tlat_result_probe(tlat_report_result(again, 2)), "storm-x");
	assert_null(tlat_result_hist(tlat_report_result(again, 2)));
	free(copy);

	assert_int_equal(tlat_report_append(again, report), 0);
	copy = sample_text(again);
	assert_non_null(strstr(copy, "\"weather\":\"rain\""));
	assert_non_null(strstr(copy, "\"moon\":0.5"));
	assert_non_null(strstr(copy, "\"tide\":-3"));
	tlat_report_free(again);
	json_decref(document);
	free(copy);
	free(strange);
	free(text);
}

static void a_figure_that_the_samples_cannot_carry_is_null_and_says_what_it_needs(void **state)
{
	static const double no_share[] = { 0, 1, 50, 99, -1, 101, NAN }; /* per cent are refused */
	struct tlat_report *report = sample_report();
	struct tlat_summary s = { .size = sizeof(s) };
	double value = -1, high = -1;
	json_t *document, *result;
	char *text;

	(void)state;
	assert_int_equal(tlat_report_add(report, sample_pair(5000, 1)), 0);
	assert_int_equal(tlat_result_summary(tlat_report_result(report, 0), &s), 0);
	assert_false(isnan(s.p99_ns));
	assert_true(isnan(s.p9999_ns));
	assert_int_equal(tlat_result_quantile_ns(report->results[0], 0.9999, &value, NULL, &high),
			 -ENODATA);
	same_double(value, -1);
	same_double(high, s.max_ns);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(no_share); i++)
		assert_int_equal(
			tlat_result_quantile_ns(report->results[0], no_share[i], NULL, NULL, NULL),
			-EINVAL);
	text = sample_text(report);
	document = json_loads(text, 0, NULL);
	result = json_array_get(json_object_get(document, "results"), 0);
	assert_true(json_is_null(json_object_get(json_object_get(result, "summary"), "p9999_ns")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(result, "needs"), "p9999_ns")),
		100000);
	assert_null(json_object_get(json_object_get(result, "needs"), "p99_ns"));
	assert_null(json_object_get(json_object_get(result, "interval"), "p9999_ns"));
	json_decref(document);
	free(text);
	tlat_report_free(report);
}

/* 8 blocks of 2500 equal values each are 20000 samples, but 8 independent ones. */
static void samples_that_are_all_alike_carry_the_median_only(void **state)
{
	struct tlat_report *report = sample_report();
	struct tlat_result *result = sample_solo(8, 1);
	struct tlat_summary s = { .size = sizeof(s) };
	json_t *document, *needs;
	uint64_t seed = 3;
	char *text;

	(void)state;
	tlat_hist_free(result->latency);
	tlat_blocks_free(result->blocks);
	free(result->outliers);
	result->outliers = NULL;
	assert_int_equal(tlat_hist_new(&result->latency, 1000000000), 0);
	assert_int_equal(tlat_blocks_new(&result->blocks, 250000000), 0);
	for (int block = 0; block < 8; block++) {
		int64_t value = 1000 * (block + 1) + (int64_t)(sample_next(&seed) % 100);

		for (int i = 0; i < 2500; i++)
			tlat_hist_record(result->latency, value);
		assert_int_equal(tlat_blocks_cut(result->blocks, result->latency), 0);
	}
	result->counts = (struct tlat_counts){ .asked = 20000, .recorded = 20000 };
	assert_int_equal(tlat_report_add(report, result), 0);
	assert_int_equal(tlat_result_summary(result, &s), 0);
	assert_true(isfinite(s.p50_ns) && isnan(s.p90_ns) && isnan(s.p99_ns) && isnan(s.p999_ns));
	text = sample_text(report);
	document = json_loads(text, 0, NULL);
	needs = json_object_get(json_array_get(json_object_get(document, "results"), 0), "needs");
	assert_true(json_integer_value(json_object_get(needs, "p90_ns")) > 20000);
	assert_true(json_integer_value(json_object_get(needs, "p99_ns")) > 20000);
	assert_null(json_object_get(needs, "p50_ns"));
	json_decref(document);
	free(text);
	tlat_report_free(report);
}

static json_t *result_of(const json_t *document, size_t i)
{
	return json_array_get(json_object_get(document, "results"), i);
}

static void a_budget_is_written_term_by_term(void **state)
{
	struct tlat_report *report = sample_full(20000);
	struct tlat_error error = { 0 };
	const char *expr, *verdict, *first, *second, *line;
	json_t *document;
	char *text;

	(void)state;
	assert_int_equal(tlat_report_judge(report, 0, "p50<1s,bogus<3", &error), -EINVAL);
	assert_non_null(strstr(error.text, "bogus"));
	assert_int_equal(tlat_report_judge(report, 2, "p50<1s", &error), -ENOENT);
	assert_null(report->results[0]->judgement);
	assert_int_equal(tlat_report_judge(report, 0, "p50<1ns", NULL), TLAT_FAIL);
	assert_int_equal(tlat_report_judge(report, TLAT_REPORT_WHOLE, "p50<1s, early=0", NULL),
			 TLAT_FAIL);
	text = sample_text(report);
	document = json_loads(text, 0, NULL);
	assert_int_equal(json_unpack(result_of(document, 0),
				     "{s:s, s:{s:s, s:[{s:s, s:s},{s:s}!]}}", "verdict", &verdict,
				     "budget", "expr", &expr, "terms", "verdict", &first, "text",
				     &line, "verdict", &second),
			 0);
	assert_string_equal(expr, "p50<1s, early=0");
	assert_string_equal(first, "PASS");
	assert_string_equal(second, "FAIL");
	assert_string_equal(verdict, "FAIL");
	assert_non_null(strstr(line, "p50 < 1 s: PASS (upper 95 % bound"));
	assert_non_null(json_object_get(result_of(document, 1), "budget"));
	assert_string_equal(json_string_value(json_object_get(document, "verdict")), "FAIL");
	json_decref(document);
	free(text);
	tlat_report_free(report);
}

/* What is said of the whole run counts where it is the clock that failed. */
static void a_run_whose_clock_failed_passes_no_budget(void **state)
{
	static const char *const ids[] = {
		"clock-broken", "clock-drift",	       "clock-offset-changed",
		"clock-order",	"clocksource-changed", "clock-set",
		"suspended",	"load-ended",
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(ids); i++) {
		struct tlat_finding finding = { .id = ids[i], .text = "x", .severity = TLAT_WARN };
		struct tlat_report *report = sample_full(20000), *failed = sample_full(20000);
		struct tlat_report *again;
		char reason[200], *text;

		assert_int_equal(tlat_report_judge(report, TLAT_REPORT_WHOLE, "p50<1s", NULL),
				 TLAT_PASS);
		assert_int_equal(tlat_report_add_finding(failed, &finding), 0);
		assert_int_equal(tlat_report_judge(failed, TLAT_REPORT_WHOLE, "p50<1s", NULL),
				 TLAT_INCONCLUSIVE);
		assert_int_equal(tlat_report_judge(failed, 1, "p50<1ns", NULL), TLAT_FAIL);
		assert_int_equal(tlat_budget_check("p50<1s", tlat_report_result(failed, 1), reason,
						   sizeof(reason), NULL),
				 TLAT_INCONCLUSIVE);
		assert_non_null(strstr(reason, "degraded, see findings"));
		text = sample_text(failed);
		again = sample_read(text);
		assert_int_equal(tlat_report_judge(again, 0, "p50<1s", NULL), TLAT_INCONCLUSIVE);
		assert_int_equal(tlat_report_append(report, failed), 0);
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(tlat_report_judge(report, k, "p50<1s", NULL),
					 TLAT_INCONCLUSIVE);
		free(text);
		tlat_report_free(again);
		tlat_report_free(report);
	}
}

static void a_term_counts_to_its_end_however_long(void **state)
{
	struct tlat_report *report = sample_full(20000);
	char late[160], zeros[160], *text;

	(void)state;
	snprintf(late, sizeof(late), "p50<%*s1ns", 100, "");
	snprintf(zeros, sizeof(zeros), "early>=0,n>=%0100d", 1000000);
	assert_int_equal(tlat_report_judge(report, TLAT_REPORT_WHOLE, late, NULL), TLAT_FAIL);
	assert_int_equal(tlat_report_judge(report, 0, zeros, NULL), TLAT_INCONCLUSIVE);
	assert_int_equal(report->results[0]->judgement->n_terms, 2);
	assert_int_equal(report->results[0]->judgement->terms[1].verdict, TLAT_INCONCLUSIVE);
	text = sample_text(report);
	assert_non_null(strstr(text, "p50 < 1 ns: FAIL"));
	free(text);
	tlat_report_free(report);
}

static void a_verdict_on_what_was_read_is_written_too(void **state)
{
	struct tlat_report *report = sample_full(20000), *again;
	char *text = sample_text(report), *judged;
	json_t *before, *after;

	(void)state;
	again = sample_read(text);
	assert_int_equal(tlat_report_judge(again, 1, "p50<1s", NULL), TLAT_PASS);
	judged = sample_text(again);
	before = json_loads(text, 0, NULL);
	after = json_loads(judged, 0, NULL);
	assert_true(json_equal(result_of(before, 0), result_of(after, 0)));
	assert_string_equal(json_string_value(json_object_get(result_of(after, 1), "verdict")),
			    "PASS");
	json_object_del(result_of(after, 1), "verdict");
	json_object_del(result_of(after, 1), "budget");
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	free(judged);
	free(text);
	tlat_report_free(again);
	tlat_report_free(report);
}

static void an_empty_report_meets_no_budget(void **state)
{
	struct tlat_report *report = sample_report();
	struct tlat_error error = { 0 };

	(void)state;
	assert_int_equal(tlat_report_judge(report, TLAT_REPORT_WHOLE, "max<1s", &error), -ENOENT);
	assert_int_equal(error.code, -ENOENT);
	tlat_report_free(report);
}

static void what_was_asked_stands_beside_what_is_in_force(void **state)
{
	struct tlat_report *report = sample_full(100);
	struct tlat_summary s = { .size = sizeof(s) };
	char *text = sample_text(report);
	json_t *document = json_loads(text, 0, NULL);
	json_t *result = json_array_get(json_object_get(document, "results"), 0), *wait, *kick;
	const char *policy;
	int asked, in_force;

	(void)state;
	wait = json_object_get(result, "wait");
	kick = json_object_get(result, "kick");
	assert_int_equal(json_unpack(wait, "{s:s, s:i, s:i}", "policy_asked", &policy,
				     "priority_asked", &asked, "priority", &in_force),
			 0);
	assert_string_equal(policy, "fifo");
	assert_int_equal(asked, 41);
	assert_int_equal(in_force, 40);
	assert_int_equal(json_integer_value(json_object_get(kick, "priority_asked")), 39);
	assert_int_equal(tlat_result_summary(report->results[0], &s), 0);
	assert_int_equal(s.policy_asked, TLAT_SCHED_FIFO);
	assert_int_equal(s.priority_asked, 41);
	json_decref(document);
	free(text);
	tlat_report_free(report);
}

static void an_outlier_names_its_block_and_idle_states_their_shares(void **state)
{
	struct tlat_report *report = sample_full(20000);
	struct tlat_idle_share idle = { .size = sizeof(idle) };
	json_t *document, *result, *row;
	int first, second;
	char *text;

	(void)state;
	report->results[0]->watch->idle[1].time_ns = UINT64_C(2500000000);
	text = sample_text(report);
	document = json_loads(text, 0, NULL);
	result = json_array_get(json_object_get(document, "results"), 0);
	assert_int_equal(json_unpack(json_object_get(result, "outliers"), "[{s:i},{s:i}]", "block",
				     &first, "block", &second),
			 0);
	/* eight blocks of 250 ms; the largest value came at the end of the 2 s */
	assert_int_equal(first, 7);
	assert_int_equal(second, 0);
	row = json_object_get(json_object_get(result, "watch"), "idle");
	row = json_object_get(json_object_get(row, "1"), "C1");
	same_double(json_real_value(json_object_get(row, "share")), 0.35);
	same_double(json_real_value(json_object_get(row, "usage_per_wait")),
		    1234.0 / (20006 + 1000));
	assert_int_equal(tlat_result_idle(report->results[0], 0, &idle), 0);
	same_double(idle.share, 1234.0 / 1237);
	same_double(idle.time_share, 0.35);
	assert_int_equal(tlat_result_idle(report->results[0], 1, &idle), 0);
	same_double(idle.time_share, 1);
	json_decref(document);
	free(text);
	tlat_report_free(report);
}

static void a_probe_that_cannot_run_is_still_a_result(void **state)
{
	struct tlat_report *report = sample_report(), *again;
	struct tlat_result *result = tlat_result_new();
	struct tlat_summary s = { .size = sizeof(s) };
	struct tlat_finding finding;
	char *text;

	(void)state;
	strcpy(result->probe, "wake-futex");
	result->supported = false;
	tlat_findings_add(&result->findings, TLAT_ERROR, "unsupported", NULL, "no futex here");
	assert_int_equal(tlat_report_add(report, result), 0);
	text = sample_text(report);
	again = sample_read(text);
	assert_non_null(strstr(text, "\"summary\":null"));
	result = again->results[0];
	assert_null(tlat_result_hist(result));
	assert_int_equal(tlat_result_summary(result, &s), 0);
	assert_true(s.asked == 0 && isnan(s.p50_ns) && isnan(s.u_ns) && s.kick_cpu == -1);
	assert_int_equal(tlat_result_quantile_ns(result, 0.5, NULL, NULL, &s.p50_ns), -ENODATA);
	assert_int_equal(tlat_result_finding(result, 0, &finding), 0);
	assert_string_equal(finding.id, "unsupported");
	assert_null(finding.remedy);
	tlat_report_free(again);
	tlat_report_free(report);
	free(text);
}

static int32_t summary_of_size(const struct tlat_result *result, size_t size)
{
	struct tlat_summary s = { .size = size, .priority = -7 };

	assert_int_equal(tlat_result_summary(result, &s), size ? 0 : -EINVAL);
	return s.priority;
}

static void a_shorter_summary_struct_is_filled_as_far_as_it_goes(void **state)
{
	struct tlat_report *report = sample_full(100);

	(void)state;
	assert_int_equal(summary_of_size(report->results[0], sizeof(struct tlat_summary)), 40);
	assert_int_equal(
		summary_of_size(report->results[0], offsetof(struct tlat_summary, priority)), -7);
	assert_int_equal(summary_of_size(report->results[0], 0), -7);
	tlat_report_free(report);
}

/* Every L >= T hides floor(L / T) expiries: L - T, L - 2T, ... */
static void the_corrected_view_has_every_hidden_expiry(void **state)
{
	struct tlat_result *result = tlat_result_new();
	struct tlat_hist *expected;
	struct tlat_figures corrected;
	uint64_t seed = 7, added = 0;

	(void)state;
	result->interval_ns = 1000;
	assert_int_equal(tlat_hist_new(&result->latency, 1000000000), 0);
	assert_int_equal(tlat_hist_new(&expected, 1000000000), 0);
	for (int i = 0; i < 2000; i++) {
		/* Below 2048 every value has a bin of its own, so that the view is exact. */
		int64_t value = i % 10 ? (int64_t)(sample_next(&seed) % 2048) : 1000 * (i % 3);

		tlat_hist_record(result->latency, value);
		tlat_hist_record(expected, value);
		for (value -= 1000; value >= 0; value -= 1000, added++)
			tlat_hist_record(expected, value);
	}
	assert_int_equal(tlat_result_corrected(result, &corrected), -ENODATA);
	result->counts.missed = added;
	assert_int_equal(tlat_result_corrected(result, &corrected), added);
	assert_true(corrected.n == 2000 + added);
	for (size_t i = 0; i < 3; i++)
		same_double(corrected.q[i].value,
			    tlat_hist_quantile(expected, tlat_quantiles[i].p));
	same_double(corrected.min_ns, (double)tlat_hist_min(expected));
	same_double(corrected.mean_ns, tlat_hist_mean(expected));
	tlat_hist_free(expected);
	tlat_result_free(result);
}

static void the_summary_has_the_corrected_figures_or_none(void **state)
{
	struct tlat_result *result = sample_solo(2000, 9);
	struct tlat_summary s = { .size = sizeof(s) };
	struct tlat_figures corrected;

	(void)state;
	assert_int_equal(tlat_result_summary(result, &s), 0);
	assert_true(isnan(s.corrected_p50_ns) && isnan(s.corrected_max_ns));
	result->counts.missed = 1;
	result->interval_ns = 1000;
	assert_true(tlat_result_corrected(result, &corrected) > 0);
	assert_int_equal(tlat_result_summary(result, &s), 0);
	same_double(s.corrected_p50_ns, corrected.q[0].value);
	same_double(s.corrected_p99_ns, corrected.q[2].value);
	same_double(s.corrected_p999_ns, corrected.q[3].value);
	same_double(s.corrected_max_ns, corrected.max_ns);
	assert_int_equal(s.corrected_added, tlat_result_corrected(result, &corrected));
	/* One value is of minutes: it hides more than there were. */
	assert_true(s.corrected_p50_ns > s.p50_ns);
	tlat_result_free(result);
}

static void a_stall_of_a_minute_is_corrected_at_once(void **state)
{
	struct tlat_result *result = tlat_result_new();
	const int64_t stall_ns = INT64_C(60000000000), period_ns = 10;
	struct tlat_figures corrected;
	int64_t added;

	(void)state;
	result->interval_ns = period_ns;
	result->counts.missed = 1;
	assert_int_equal(tlat_hist_new(&result->latency, 1000000000), 0);
	for (int i = 0; i < 1000; i++)
		tlat_hist_record(result->latency, stall_ns - i);
	added = tlat_result_corrected(result, &corrected);
	assert_true(llabs(added - 1000 * (stall_ns / period_ns)) < added / 1000);
	assert_true(fabs(corrected.q[0].value / (double)(stall_ns / 2) - 1) < 0.002);
	tlat_result_free(result);
}

/* 3 min at 1 ms hide 180000 expiries, 42561 of them with no bin of their own either. */
static void a_stall_without_a_bin_hides_expiries_too(void **state)
{
	struct tlat_result *result = tlat_result_new();
	const int64_t stall_ns = INT64_C(180000000000), period_ns = 1000000;
	struct tlat_summary s = { .size = sizeof(s) };
	struct tlat_figures corrected;

	(void)state;
	result->interval_ns = period_ns;
	result->counts.missed = 180000;
	assert_int_equal(tlat_hist_new(&result->latency, 1000000000), 0);
	tlat_hist_record(result->latency, 10000);
	tlat_hist_record(result->latency, stall_ns);
	assert_int_equal(tlat_result_corrected(result, &corrected), 180000);
	assert_int_equal(corrected.n, 180002);
	assert_true(fabs(corrected.q[0].value / (double)(stall_ns / 2) - 1) < 0.002);
	same_double(corrected.max_ns, (double)stall_ns);
	same_double(corrected.min_ns, 0);
	/* Of a second one only the end of the bins is known: it hides what that hides, at least. */
	tlat_hist_record(result->latency, stall_ns - 1);
	result->counts.missed = 360000;
	assert_int_equal(tlat_result_corrected(result, &corrected),
			 180000 + (INT64_C(1) << 37) / period_ns);
	assert_int_equal(tlat_result_summary(result, &s), 0);
	assert_int_equal(s.corrected_added, 180000 + (INT64_C(1) << 37) / period_ns);
	tlat_result_free(result);
}

static void the_offset_counts_for_one_way_pairs_on_two_cpus_only(void **state)
{
	struct tlat_report *report = sample_full(1000);
	struct tlat_result *pair = report->results[0];
	struct tlat_estimate p50 = { .value = 1600, .lo = 1590, .hi = 1610, .n_eff = 1000 };
	struct tlat_uncertainty u;

	(void)state;
	assert_int_equal(tlat_result_uncertainty(pair, TLAT_FIGURE_ESTIMATE, &p50, &u), 0);
	assert_true(fabs(u.component_ns[TLAT_U_OFFSET] - 264.3 / sqrt(3)) < 1e-9);
	pair->round_trip = true;
	assert_int_equal(tlat_result_uncertainty(pair, TLAT_FIGURE_ESTIMATE, &p50, &u), 0);
	same_double(u.component_ns[TLAT_U_OFFSET], 0);
	pair->round_trip = false;
	pair->wait.cpu = pair->kick.cpu;
	assert_int_equal(tlat_result_uncertainty(pair, TLAT_FIGURE_ESTIMATE, &p50, &u), 0);
	same_double(u.component_ns[TLAT_U_OFFSET], 0);
	assert_int_equal(
		tlat_result_uncertainty(report->results[1], TLAT_FIGURE_ESTIMATE, &p50, &u), 0);
	same_double(u.component_ns[TLAT_U_OFFSET], 0);
	/* A timer's one stamp is clock_gettime's. */
	same_double(u.component_ns[TLAT_U_ORDERING], sample_clock.gettime_cost_ns / sqrt(3));
	tlat_report_free(report);
}

static json_t *first_uncertainty(const json_t *document)
{
	const json_t *results = json_object_get(document, "results");

	return json_object_get(json_array_get(results, 0), "uncertainty");
}

static void without_an_offset_a_wake_across_cpus_has_no_uncertainty(void **state)
{
	struct tlat_report *report = sample_full(20000);
	struct tlat_result *pair = report->results[0];
	struct tlat_summary s = { .size = sizeof(s) };
	json_t *document, *uncertainty;
	char *text;

	(void)state;
	pair->has_offset = false;
	assert_int_equal(tlat_result_summary(pair, &s), 0);
	assert_true(isfinite(s.p50_ns) && isnan(s.u_ns) && isnan(s.worst_ns));
	text = sample_text(report);
	document = json_loads(text, 0, NULL);
	uncertainty = first_uncertainty(document);
	assert_true(json_is_null(json_object_get(uncertainty, "u_ns")));
	assert_true(json_is_null(json_object_get(uncertainty, "worst_ns")));
	assert_int_equal(json_object_size(json_object_get(uncertainty, "by_figure")), 0);
	json_decref(document);
	free(text);
	pair->round_trip = true;
	assert_int_equal(tlat_result_summary(pair, &s), 0);
	assert_true(isfinite(s.u_ns) && isfinite(s.worst_ns));
	pair->round_trip = false;
	pair->wait.cpu = pair->kick.cpu;
	assert_int_equal(tlat_result_summary(pair, &s), 0);
	assert_true(isfinite(s.u_ns) && isfinite(s.worst_ns));
	tlat_report_free(report);
}

static void the_end_is_signal_before_error_before_the_last(void **state)
{
	struct tlat_report *report = sample_report();

	(void)state;
	assert_string_equal(tlat_report_end(report), "count");
	assert_int_equal(tlat_report_add(report, sample_pair(10, 1)), 0);
	assert_int_equal(tlat_report_add(report, sample_solo(10, 1)), 0);
	assert_string_equal(tlat_report_end(report), "time");
	report->results[0]->end = TLAT_END_ERROR;
	assert_string_equal(tlat_report_end(report), "error");
	report->results[1]->end = TLAT_END_SIGNAL;
	assert_string_equal(tlat_report_end(report), "signal");
	tlat_report_free(report);
}

static void results_of_another_clock_keep_their_uncertainty(void **state)
{
	struct tlat_report *report = sample_full(5000), *other = sample_report(), *again;
	struct tlat_summary before = { .size = sizeof(before) }, after = before;
	char *text;

	(void)state;
	other->clock->quantum_ns = 1000;
	other->clock->read_cost_ns = 700;
	assert_int_equal(tlat_report_add(other, sample_pair(5000, 3)), 0);
	tlat_findings_add(tlat_report_findings(other), TLAT_INFO, "other", NULL, "another");
	assert_int_equal(tlat_result_summary(tlat_report_result(other, 0), &before), 0);
	assert_int_equal(tlat_report_append(report, other), 0);
	assert_int_equal(report->duration_ns, INT64_C(4000000000));
	text = sample_text(report);
	again = sample_read(text);
	assert_int_equal(tlat_result_summary(tlat_report_result(again, 2), &after), 0);
	same_double(before.u_ns, after.u_ns);
	same_double(before.worst_ns, after.worst_ns);
	assert_true(after.u_ns > 800);
	assert_int_equal(again->findings.n, 2);
	tlat_report_free(again);
	tlat_report_free(report);
	free(text);
}

/* A daemon that corrects the clock does so between two probes of one report, too. */
static void results_of_another_slew_keep_their_uncertainty(void **state)
{
	struct tlat_report *report = sample_full(5000), *other = sample_report(), *again;
	struct tlat_summary before[2], after;
	char *text;

	(void)state;
	tlat_report_slewed(other, 70000000);
	assert_int_equal(tlat_report_add(other, sample_solo(5000, 2)), 0);
	assert_int_equal(tlat_report_append(report, other), 0);
	text = sample_text(report);
	again = sample_read(text);
	for (size_t i = 0; i < 2; i++) {
		before[i].size = after.size = sizeof(after);
		assert_int_equal(tlat_result_summary(tlat_report_result(report, 1 + i), &before[i]),
				 0);
		assert_int_equal(tlat_result_summary(tlat_report_result(again, 1 + i), &after), 0);
		same_double(before[i].u_ns, after.u_ns);
	}
	assert_true(before[1].u_ns > before[0].u_ns);
	tlat_report_free(again);
	tlat_report_free(report);
	free(text);
}

static void arguments_that_are_no_text_become_text(void **state)
{
	static char bad[] = "a\xff\xc0\xaf\xed\xa0\x80z\n\"\\\x01", good[] = "\xe2\x82\xac";
	char *argv[] = { bad, good };
	struct tlat_report *report = sample_report(), *again;
	json_t *document, *items;
	char *text;

	(void)state;
	assert_int_equal(tlat_report_set_origin(report, 2, argv, bad), 0);
	text = sample_text(report);
	document = json_loads(text, 0, NULL);
	items = json_object_get(json_object_get(document, "tool"), "argv");
	assert_string_equal(json_string_value(json_array_get(items, 0)),
			    "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
			    "\xef\xbf\xbdz\n\"\\\x01");
	assert_string_equal(json_string_value(json_array_get(items, 1)), good);
	again = sample_read(text);
	tlat_report_free(again);
	tlat_report_free(report);
	json_decref(document);
	free(text);
}

static void the_seed_fits_a_signed_integer_and_every_id_is_new(void **state)
{
	struct tlat_report *a, *b;
	char *text;

	(void)state;
	assert_int_equal(tlat_report_new(&a, NULL, NULL, UINT64_MAX), 0);
	assert_int_equal(tlat_report_new(&b, NULL, NULL, UINT64_MAX), 0);
	text = sample_text(a);
	assert_non_null(strstr(text, "\"seed\":9223372036854775807"));
	assert_string_not_equal(a->id, b->id);
	tlat_report_free(a);
	tlat_report_free(b);
	free(text);
}

static void numbers_have_a_point_in_every_locale(void **state)
{
	struct tlat_report *report, *again;
	char *plain, *text;

	(void)state;
	comma_locale_enter();
	report = sample_full(1000);
	text = sample_text(report);
	again = sample_read(text);
	comma_locale_leave();
	plain = sample_text(report);
	assert_string_equal(plain, text);
	same_summary(report->results[0], again->results[0]);
	tlat_report_free(again);
	tlat_report_free(report);
	free(plain);
	free(text);
}

static const char *fact_of(const struct tlat_report *report, const char *name)
{
	struct tlat_fact fact;

	for (size_t i = 0; tlat_report_fact(report, i, &fact) == 0; i++)
		if (!strcmp(fact.name, name))
			return fact.value;
	return NULL;
}

static void facts_are_the_same_before_and_after_the_file(void **state)
{
	struct tlat_report *report = sample_full(10), *again;
	char *text = sample_text(report);
	struct tlat_fact fact, same;
	size_t i = 0;

	(void)state;
	again = sample_read(text);
	assert_string_equal(fact_of(report, "machine.kernel"), "6.12.0-rt #1 SMP PREEMPT_RT");
	assert_string_equal(fact_of(report, "machine.turbo"), "");
	assert_string_equal(fact_of(report, "clock.source"), "tsc");
	for (; tlat_report_fact(report, i, &fact) == 0; i++) {
		assert_int_equal(tlat_report_fact(again, i, &same), 0);
		assert_string_equal(fact.name, same.name);
		assert_string_equal(fact.value, same.value);
	}
	assert_int_equal(tlat_report_fact(again, i, &same), -ENOENT);
	tlat_report_free(again);
	tlat_report_free(report);
	free(text);
}

static void facts_have_a_point_in_every_locale(void **state)
{
	struct tlat_report *report, *abroad;
	struct tlat_fact fact, same;
	char *text;
	size_t fractions = 0;

	(void)state;
	comma_locale_enter();
	report = sample_full(10);
	text = sample_text(report);
	abroad = sample_read(text);
	tlat_report_fact(abroad, 0, &fact); /* makes all of them */
	comma_locale_leave();
	for (size_t i = 0; tlat_report_fact(report, i, &fact) == 0; i++) {
		assert_int_equal(tlat_report_fact(abroad, i, &same), 0);
		assert_string_equal(fact.value, same.value);
		fractions += !strncmp(fact.name, "clock.", 6) && strchr(fact.value, '.');
	}
	assert_true(fractions > 0);
	tlat_report_free(abroad);
	tlat_report_free(report);
	free(text);
}

static void facts_that_an_append_brings_are_told(void **state)
{
	struct tlat_report *report;

	(void)state;
	assert_int_equal(tlat_report_new(&report, NULL, NULL, 1), 0);
	report->machine.known = true;
	report->machine.online = strdup("0-3");
	assert_string_equal(fact_of(report, "machine.online"), "0-3");
	assert_null(fact_of(report, "clock.source"));
	assert_int_equal(tlat_report_append(report, sample_full(10)), 0);
	assert_string_equal(fact_of(report, "clock.source"), "tsc");
	assert_string_equal(fact_of(report, "machine.online"), "0-3");
	tlat_report_free(report);
}

static void a_note_that_was_lost_is_told(void **state)
{
	const struct tlat_finding note = { .id = "mine", .text = "x", .severity = TLAT_INFO };
	struct tlat_report *report = sample_report();
	size_t before = report->findings.n;

	(void)state;
	out_of_memory = true;
	assert_int_equal(tlat_report_add_finding(report, &note), -ENOMEM);
	out_of_memory = false;
	assert_int_equal(report->findings.n, before);
	assert_int_equal(tlat_report_add_finding(report, &note), 0);
	assert_int_equal(tlat_report_add_finding(report, &note), 0);
	assert_int_equal(report->findings.n, before + 1);
	tlat_report_free(report);
}

static void a_note_has_an_id_a_text_and_a_severity(void **state)
{
	const struct tlat_finding good = { .id = "a", .text = "b", .severity = TLAT_WARN };
	struct tlat_finding wrong[] = { good, good, good, good }, last;
	struct tlat_report *report = sample_report();

	(void)state;
	wrong[0].id = NULL;
	wrong[1].text = NULL;
	wrong[2].severity = 0;
	wrong[3].severity = TLAT_ERROR + 1;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(wrong); i++)
		assert_int_equal(tlat_report_add_finding(report, &wrong[i]), -EINVAL);
	assert_int_equal(report->findings.n, 0);
	assert_int_equal(tlat_report_add_finding(report, &good), 0);
	assert_int_equal(tlat_report_finding(report, 0, &last), 0);
	assert_string_equal(last.id, "a");
	assert_int_equal(last.severity, TLAT_WARN);
	tlat_report_free(report);
}

static void every_result_says_how_to_repeat_it(void **state)
{
	struct tlat_report *report = sample_full(10), *again;
	char *text = sample_text(report);

	(void)state;
	again = sample_read(text);
	assert_string_equal(tlat_result_repeat(tlat_report_result(report, 0)),
			    "tlat run wake-futex -c 0,1 -p 40 --settle 50us");
	assert_string_equal(tlat_result_repeat(tlat_report_result(again, 0)),
			    tlat_result_repeat(tlat_report_result(report, 0)));
	assert_null(tlat_result_repeat(tlat_report_result(again, 1)));
	tlat_report_free(again);
	tlat_report_free(report);
	free(text);
}

#define TEXT_OF(number)			#number
#define VERSION_OF(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

static void the_version_is_the_one_of_its_parts(void **state)
{
	(void)state;
	assert_string_equal(TLAT_VERSION,
			    VERSION_OF(TLAT_VERSION_MAJOR, TLAT_VERSION_MINOR, TLAT_VERSION_PATCH));
	assert_string_equal(tlat_version(), TLAT_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_that_is_read_answers_as_the_one_that_was_written),
		cmocka_unit_test(writing_what_was_read_gives_the_same_bytes),
		cmocka_unit_test(the_struct_alone_gives_the_same_result_document),
		cmocka_unit_test(what_this_library_does_not_know_survives_a_rewrite),
		cmocka_unit_test(
			a_figure_that_the_samples_cannot_carry_is_null_and_says_what_it_needs),
		cmocka_unit_test(samples_that_are_all_alike_carry_the_median_only),
		cmocka_unit_test(a_budget_is_written_term_by_term),
		cmocka_unit_test(a_run_whose_clock_failed_passes_no_budget),
		cmocka_unit_test(a_term_counts_to_its_end_however_long),
		cmocka_unit_test(a_verdict_on_what_was_read_is_written_too),
		cmocka_unit_test(an_empty_report_meets_no_budget),
		cmocka_unit_test(what_was_asked_stands_beside_what_is_in_force),
		cmocka_unit_test(an_outlier_names_its_block_and_idle_states_their_shares),
		cmocka_unit_test(a_probe_that_cannot_run_is_still_a_result),
		cmocka_unit_test(a_shorter_summary_struct_is_filled_as_far_as_it_goes),
		cmocka_unit_test(the_corrected_view_has_every_hidden_expiry),
		cmocka_unit_test(the_summary_has_the_corrected_figures_or_none),
		cmocka_unit_test(a_stall_of_a_minute_is_corrected_at_once),
		cmocka_unit_test(a_stall_without_a_bin_hides_expiries_too),
		cmocka_unit_test(the_offset_counts_for_one_way_pairs_on_two_cpus_only),
		cmocka_unit_test(without_an_offset_a_wake_across_cpus_has_no_uncertainty),
		cmocka_unit_test(the_end_is_signal_before_error_before_the_last),
		cmocka_unit_test(results_of_another_clock_keep_their_uncertainty),
		cmocka_unit_test(results_of_another_slew_keep_their_uncertainty),
		cmocka_unit_test(arguments_that_are_no_text_become_text),
		cmocka_unit_test(the_seed_fits_a_signed_integer_and_every_id_is_new),
		cmocka_unit_test(numbers_have_a_point_in_every_locale),
		cmocka_unit_test(facts_are_the_same_before_and_after_the_file),
		cmocka_unit_test(facts_have_a_point_in_every_locale),
		cmocka_unit_test(facts_that_an_append_brings_are_told),
		cmocka_unit_test(a_note_that_was_lost_is_told),
		cmocka_unit_test(a_note_has_an_id_a_text_and_a_severity),
		cmocka_unit_test(every_result_says_how_to_repeat_it),
		cmocka_unit_test(the_version_is_the_one_of_its_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* no JSON in this build */
}

#endif
