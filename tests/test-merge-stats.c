// SPDX-License-Identifier: MIT
/*
 * test-merge-stats.c - what a sum of reports claims: no more than its runs can carry, whatever they
 * have in common, and where its largest values lie.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_sample.h"
#include "simulate.h"

#ifdef TLAT_WITH_JANSSON

#include <jansson.h>

#define BLOCK_NS INT64_C(31250000)

/* Values that come in a row as often as that: one in so many is independent. */
#define IN_A_ROW 30

/* What goes into one run. */
struct make {
	int n, blocks;
	double level; /* of all its values */
	int in_a_row;
};

static const struct make usual = { 19200, 64, 4000, IN_A_ROW };

static void clear(struct tlat_result *result)
{
	tlat_hist_free(result->latency);
	tlat_blocks_free(result->blocks);
	result->outliers->n = 0;
	result->counts = (struct tlat_counts){ 0 };
	assert_int_equal(tlat_hist_new(&result->latency, TLAT_NSEC_PER_SEC), 0);
	result->blocks = NULL;
}

static void record(struct tlat_result *result, const struct make *make, uint64_t *seed)
{
	int64_t value = 0;

	if (make->blocks)
		assert_int_equal(tlat_blocks_new(&result->blocks, BLOCK_NS), 0);
	for (int i = 0; i < make->n; i++) {
		if (i % make->in_a_row == 0)
			value = (int64_t)(make->level * exp(0.05 * sim_normal(seed)));
		tlat_hist_record(result->latency, value);
		if (make->blocks && (i + 1) % (make->n / make->blocks) == 0)
			assert_int_equal(tlat_blocks_cut(result->blocks, result->latency), 0);
	}
	result->counts.asked = result->counts.recorded = (uint64_t)make->n;
}

/* A run, of so many blocks of one length, or of 2 s where none are known. */
static struct tlat_report *run_of(const struct make *make, uint64_t seed)
{
	struct tlat_report *report = sample_report();
	struct tlat_result *result = sample_solo(8, 1);

	clear(result);
	record(result, make, &seed);
	result->duration_ns = make->blocks ? make->blocks * BLOCK_NS : 2 * TLAT_NSEC_PER_SEC;
	assert_int_equal(tlat_report_add(report, result), 0);
	return report;
}

static struct tlat_report *merge(struct tlat_report *const *reports, size_t n)
{
	struct tlat_error error = { 0 };
	struct tlat_report *merged, *again;
	char *text;

	if (tlat_report_merge(&merged, reports, n, &error) < 0)
		fail_msg("%s", error.text);
	text = sample_text(merged);
	again = sample_read(text);
	free(text);
	tlat_report_free(merged);
	return again;
}

static double tau(const struct tlat_report *report, double p)
{
	const struct tlat_result *result = report->results[0];
	struct tlat_estimate e;

	tlat_stats_quantile(result->latency, result->blocks, p, &e);
	return e.tau;
}

static bool has_few_blocks(const struct tlat_report *report)
{
	return tlat_findings_get(&report->results[0]->findings, "few-blocks");
}

static void discard(struct tlat_report **reports, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tlat_report_free(reports[i]);
}

static json_t *result_json(const struct tlat_report *report)
{
	char *text = sample_text(report);
	json_t *document = json_loads(text, 0, NULL);
	json_t *result = json_incref(json_array_get(json_object_get(document, "results"), 0));

	json_decref(document);
	free(text);
	return result;
}

static char *verdict_on(const struct tlat_report *report, const char *budget)
{
	char text[1024];
	int verdict = tlat_budget_check(budget, report->results[0], text, sizeof(text), NULL);

	assert_true(verdict >= 0);
	return strdup(text);
}

/* Whatever a report claims of its figures, its sum claims too, to the last digit. */
static void a_sum_of_one_report_says_what_the_report_says(void **state)
{
	static const char *const keys[] = { "summary",	   "needs",    "interval", "tau",
					    "uncertainty", "rare",     "blocks",   "outliers",
					    "corrected",   "histogram" };
	struct tlat_report *report = run_of(&usual, 7), *sum = merge(&report, 1);
	json_t *own, *of_sum;
	char *before, *after;

	(void)state;
	own = result_json(report);
	of_sum = result_json(sum);
	assert_true(tau(report, 0.5) > IN_A_ROW / 2.0);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(keys); i++) {
		assert_non_null(json_object_get(own, keys[i]));
		if (!json_equal(json_object_get(own, keys[i]), json_object_get(of_sum, keys[i])))
			fail_msg("%s differs", keys[i]);
	}
	before = verdict_on(report, "P(>50us)<1e-3, p50<1s, p99.9<4.7us");
	after = verdict_on(sum, "P(>50us)<1e-3, p50<1s, p99.9<4.7us");
	assert_string_equal(before, after);
	assert_non_null(strstr(before, "P(> 50 us) < 0.001: INCONCLUSIVE"));
	assert_true(json_is_null(json_object_get(json_object_get(of_sum, "summary"), "p999_ns")));
	free(before);
	free(after);
	json_decref(own);
	json_decref(of_sum);
	tlat_report_free(sum);
	tlat_report_free(report);
}

/* By the runs alone it would be below a tenth of that once in four times. */
static void samples_of_few_runs_are_as_much_alike_as_in_each(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tlat_report *reports[2] = { run_of(&usual, seed),
						   run_of(&usual, seed + 99) };
		struct tlat_report *sum = merge(reports, 2);
		double own = fmin(tau(reports[0], 0.5), tau(reports[1], 0.5));

		assert_int_equal(tlat_blocks_count(sum->results[0]->blocks), 64);
		if (tau(sum, 0.5) < own / 2 || tau(sum, 0.5) < IN_A_ROW / 2.0)
			fail_msg("seed %d: tau %g, of a run %g", (int)seed, tau(sum, 0.5), own);
		tlat_report_free(sum);
		discard(reports, 2);
	}
}

/* Values as they come, but each run at a level of its own: its blocks are of no use for that. */
static void what_differs_between_runs_is_in_the_intervals(void **state)
{
	enum { RUNS = 16 };
	struct tlat_report *apart[RUNS], *as_one[RUNS], *sum, *by_runs;
	uint64_t seed = 5;

	(void)state;
	for (size_t i = 0; i < RUNS; i++) {
		struct make make = { 6400, 64, 4000 * exp(0.02 * sim_normal(&seed)), 1 };

		apart[i] = run_of(&make, i + 1);
		make.blocks = 1;
		as_one[i] = run_of(&make, i + 1);
	}
	sum = merge(apart, RUNS);
	by_runs = merge(as_one, RUNS);
	assert_true(tau(by_runs, 0.5) > 100);
	assert_true(tau(sum, 0.5) > 0.999 * tau(by_runs, 0.5));
	tlat_report_free(sum);
	tlat_report_free(by_runs);
	discard(apart, RUNS);
	discard(as_one, RUNS);
}

static bool is_stationary(struct tlat_report *const *reports, size_t n)
{
	struct tlat_comparison *comparison;
	struct tlat_finding finding;
	struct tlat_error error = { 0 };
	bool stationary = true;

	if (tlat_compare(&comparison, reports, n / 2, reports + n / 2, n - n / 2, NULL, &error) < 0)
		fail_msg("%s", error.text);
	for (size_t i = 0; !tlat_comparison_finding(comparison, i, &finding); i++)
		stationary = stationary && strcmp(finding.id, "not-stationary") != 0;
	tlat_comparison_free(comparison);
	return stationary;
}

/* The one step of a sum is between its runs; that of a run is in it. */
static void what_differs_between_runs_is_no_drift_of_one(void **state)
{
	enum { SUMS = 4 };
	const struct make low = { 6400, 32, 4000, 1 }, high = { 6400, 32, 4400, 1 };
	struct tlat_report *sums[SUMS], *drifting[SUMS];

	(void)state;
	for (size_t i = 0; i < SUMS; i++) {
		struct tlat_report *runs[] = { run_of(&low, i + 1), run_of(&high, i + 9) };

		sums[i] = merge(runs, 2);
		discard(runs, 2);
		drifting[i] = run_of(&low, i + 1);
		clear(drifting[i]->results[0]);
		record(drifting[i]->results[0], &low, &(uint64_t){ i + 1 });
		for (int more = 0; more < 32; more++) {
			for (int k = 0; k < 200; k++)
				tlat_hist_record(drifting[i]->results[0]->latency, 4400 + k);
			assert_int_equal(tlat_blocks_cut(drifting[i]->results[0]->blocks,
							 drifting[i]->results[0]->latency),
					 0);
		}
	}
	assert_true(is_stationary(sums, SUMS));
	assert_false(is_stationary(drifting, SUMS));
	discard(sums, SUMS);
	discard(drifting, SUMS);
}

static void a_sum_of_few_blocks_says_so(void **state)
{
	static const struct make makes[] = { { 2000, 0, 4000, 1 },
					     { 2000, 4, 4000, 1 },
					     { 2000, 64, 4000, 1 } };
	struct tlat_report *reports[4], *sum;

	(void)state;
	for (size_t k = 0; k < TLAT_ARRAY_SIZE(makes); k++) {
		for (size_t i = 0; i < 4; i++) {
			reports[i] = run_of(&makes[k], i + 1);
			tlat_find_few_blocks(reports[i]->results[0]);
			assert_int_equal(has_few_blocks(reports[i]), k < 2);
		}
		sum = merge(reports, 1);
		assert_int_equal(has_few_blocks(sum), k < 2);
		tlat_report_free(sum);
		sum = merge(reports, 4);
		assert_int_equal(has_few_blocks(sum), k < 1);
		assert_int_equal(tlat_blocks_count(sum->results[0]->blocks), k == 0   ? 4
									     : k == 1 ? 16
										      : 64);
		tlat_report_free(sum);
		discard(reports, 4);
	}
}

/* Each of 60 short runs keeps a block; that leaves few to the long one, which is nearly all. */
static void few_blocks_of_nearly_all_samples_are_few(void **state)
{
	enum { SHORT = 60 };
	const struct make brief = { 30, 1, 4000, 1 };
	struct tlat_report *reports[SHORT + 1], *sum;

	(void)state;
	for (size_t i = 0; i < SHORT; i++)
		reports[i] = run_of(&brief, i + 1);
	reports[SHORT] = run_of(&usual, 99);
	sum = merge(reports, SHORT + 1);
	assert_int_equal(tlat_blocks_count(sum->results[0]->blocks), 64);
	assert_true(has_few_blocks(sum));
	assert_true(tau(sum, 0.5) > IN_A_ROW / 10.0);
	tlat_report_free(sum);
	discard(reports, SHORT + 1);
}

static bool holds(const struct tlat_blocks *blocks, size_t i, int64_t value)
{
	struct tlat_block_bin bin;
	size_t cursor = 0;

	while (tlat_blocks_next(blocks, i, &cursor, &bin))
		if (bin.index == tlat_hist_slot(value))
			return true;
	return false;
}

/* The largest value of run i comes in block i of it. */
static struct tlat_report *run_with_outlier(size_t i)
{
	const struct make make = { 64, 4 + (int)i, 4000, 1 };
	struct tlat_report *report = run_of(&make, i + 1);
	struct tlat_result *result = report->results[0];
	struct tlat_block_bin bin = { .index = tlat_hist_slot(90000 + 1000 * (int64_t)i),
				      .count = 1 };
	struct tlat_hist *hist = result->latency;

	tlat_blocks_free(result->blocks);
	assert_int_equal(tlat_blocks_new(&result->blocks, BLOCK_NS), 0);
	for (size_t k = 0; k < 4 + i; k++)
		assert_int_equal(tlat_blocks_add(result->blocks, &bin, k == i), 0);
	tlat_hist_record(hist, 90000 + 1000 * (int64_t)i);
	result->counts.asked++;
	result->counts.recorded++;
	result->outliers->n = 1;
	result->outliers->v[0] =
		(struct tlat_outlier){ .value = 90000 + 1000 * (int64_t)i,
				       .t_ns = (int64_t)i * BLOCK_NS + BLOCK_NS / 2,
				       .seq = i };
	return report;
}

static int64_t integer_of(const json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

/* Beside the run, so that a time line can be drawn of blocks and values. */
static void outliers_are_expected(const struct tlat_report *sum, size_t n)
{
	const struct tlat_blocks *blocks = sum->results[0]->blocks;
	json_t *result = result_json(sum), *outlier;
	size_t at;

	assert_int_equal(json_array_size(json_object_get(result, "outliers")), n);
	json_array_foreach (json_object_get(result, "outliers"), at, outlier) {
		size_t block = (size_t)integer_of(outlier, "block");
		int64_t t_ns = integer_of(outlier, "t_ns");
		const json_t *of = json_array_get(json_object_get(result, "blocks"), block);

		assert_int_equal(integer_of(of, "run"), integer_of(outlier, "seq"));
		assert_int_equal(tlat_blocks_run(blocks, block), integer_of(outlier, "seq"));
		assert_true(holds(blocks, block, 90000 + 1000 * integer_of(outlier, "seq")));
		assert_true(t_ns >= tlat_blocks_begin_ns(blocks, block));
		assert_true(t_ns < tlat_blocks_begin_ns(blocks, block + 1));
	}
	json_decref(result);
}

static void outliers_lie_in_the_blocks_of_their_runs(void **state)
{
	enum { RUNS = 20 };
	struct tlat_report *reports[RUNS], *sum;

	(void)state;
	for (size_t i = 0; i < RUNS; i++)
		reports[i] = run_with_outlier(i);
	sum = merge(reports, 3);
	assert_int_equal(tlat_blocks_count(sum->results[0]->blocks), 4 + 5 + 6);
	outliers_are_expected(sum, 3);
	tlat_report_free(sum);
	sum = merge(reports, RUNS);
	assert_int_equal(tlat_blocks_count(sum->results[0]->blocks), 64);
	outliers_are_expected(sum, RUNS);
	tlat_report_free(sum);
	discard(reports, RUNS);
}

/* Blocks are cut at about their length: an outlier can be later than all of them. */
static void an_outlier_past_the_end_stays_in_its_run(void **state)
{
	struct tlat_report *reports[2] = { run_with_outlier(0), run_with_outlier(1) }, *sum;
	const struct tlat_outlier *smaller;

	(void)state;
	reports[0]->results[0]->outliers->v[0].t_ns = 100 * BLOCK_NS;
	sum = merge(reports, 2);
	smaller = &sum->results[0]->outliers->v[0];
	assert_int_equal(smaller->seq, 0);
	assert_int_equal(smaller->t_ns, 4 * BLOCK_NS - 1);
	tlat_report_free(sum);
	discard(reports, 2);
}

static void a_sum_of_sums_is_the_sum_of_all(void **state)
{
	struct tlat_report *reports[3], *two, *parts[2], *stepwise, *all;
	const struct tlat_result *a, *b;
	json_t *x, *y;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		reports[i] = run_with_outlier(i);
	strcpy(reports[1]->machine.facts.kernel, "6.13");
	all = merge(reports, 3);
	two = merge(reports, 2);
	parts[0] = two;
	parts[1] = reports[2];
	stepwise = merge(parts, 2);
	a = all->results[0];
	b = stepwise->results[0];
	assert_true(json_equal(json_object_get(all->document, "merged"),
			       json_object_get(stepwise->document, "merged")));
	assert_int_equal(json_array_size(json_object_get(all->document, "merged")), 3);
	x = result_json(all);
	y = result_json(stepwise);
	assert_true(json_equal(x, y));
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(all->findings.n, stepwise->findings.n);
	for (size_t i = 0; i < all->findings.n; i++)
		assert_string_equal(all->findings.v[i].text, stepwise->findings.v[i].text);
	json_decref(x);
	json_decref(y);
	tlat_report_free(stepwise);
	tlat_report_free(two);
	tlat_report_free(all);
	discard(reports, 3);
}

/* Two threads, which never end at quite the same time. */
static struct tlat_report *run_of_threads(uint64_t seed)
{
	struct tlat_report *report = run_of(&usual, seed), *second = run_of(&usual, seed + 50);
	struct tlat_result *result = second->results[0];

	result->thread = 1;
	result->duration_ns += 1 + (int64_t)seed % 7;
	second->n_results = 0;
	result->of_run = NULL;
	assert_int_equal(tlat_report_add(report, result), 0);
	tlat_report_free(second);
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

static void threads_can_be_joined_before_or_after(void **state)
{
	enum { RUNS = 3 };
	struct tlat_report *reports[RUNS], *joined[RUNS], *sum, *before, *after;
	const struct tlat_blocks *a, *b;

	(void)state;
	for (size_t i = 0; i < RUNS; i++) {
		reports[i] = run_of_threads(i + 1);
		joined[i] = join(reports[i]);
	}
	before = merge(joined, RUNS);
	sum = merge(reports, RUNS);
	after = join(sum);
	assert_int_equal(sum->n_results, 2);
	assert_int_equal(after->n_results, 1);
	a = before->results[0]->blocks;
	b = after->results[0]->blocks;
	assert_int_equal(tlat_blocks_count(a), 64);
	assert_int_equal(tlat_blocks_count(b), 64);
	for (size_t i = 0; i < 64; i++) {
		assert_int_equal(tlat_blocks_run(a, i), tlat_blocks_run(b, i));
		assert_int_equal(tlat_blocks_begin_ns(a, i), tlat_blocks_begin_ns(b, i));
		assert_true(tlat_blocks_samples(a, i) == tlat_blocks_samples(b, i));
	}
	assert_true(tau(before, 0.5) == tau(after, 0.5) && tau(after, 0.5) > IN_A_ROW / 2.0);
	tlat_report_free(before);
	tlat_report_free(after);
	tlat_report_free(sum);
	discard(reports, RUNS);
	discard(joined, RUNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_of_one_report_says_what_the_report_says),
		cmocka_unit_test(samples_of_few_runs_are_as_much_alike_as_in_each),
		cmocka_unit_test(what_differs_between_runs_is_in_the_intervals),
		cmocka_unit_test(what_differs_between_runs_is_no_drift_of_one),
		cmocka_unit_test(a_sum_of_few_blocks_says_so),
		cmocka_unit_test(few_blocks_of_nearly_all_samples_are_few),
		cmocka_unit_test(outliers_lie_in_the_blocks_of_their_runs),
		cmocka_unit_test(an_outlier_past_the_end_stays_in_its_run),
		cmocka_unit_test(a_sum_of_sums_is_the_sum_of_all),
		cmocka_unit_test(threads_can_be_joined_before_or_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77;
}

#endif
