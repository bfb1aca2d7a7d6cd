// SPDX-License-Identifier: MIT
/* test-compare.c - from reports to a verdict: units, pairs, refusals, what forbids a verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "comma-locale.h"
#include "compare.h"
#include "report_sample.h"
#include "simulate.h"

#define RUNS_MAX 64

/* What a run is like, and how it is changed for a test. */
struct setting {
	double factor, noise; /* of the median, and its spread from run to run */
	const char *kernel;
	void (*change)(struct tlat_result *result);
};

struct side {
	struct tlat_report *runs[RUNS_MAX];
	size_t n;
};

static const struct setting plain = { 1, 0.002, "6.12", NULL };

/* n values about the factor, of which every so many is of a tail without a mean; wild 0: none. */
static void fill(struct tlat_result *result, double factor, uint64_t seed, size_t n, size_t wild)
{
	struct tlat_counts *counts = &result->counts;

	tlat_hist_free(result->latency);
	tlat_blocks_free(result->blocks);
	free(result->outliers);
	result->outliers = NULL;
	memset(counts, 0, sizeof(*counts));
	assert_int_equal(tlat_hist_new(&result->latency, SAMPLE_HZ), 0);
	assert_int_equal(tlat_blocks_new(&result->blocks, 250000000), 0);
	for (size_t i = 0; i < n; i++) {
		double rare = wild && i % wild == 0 ? 2 / sim_uniform(&seed) : 1;

		tlat_hist_record(result->latency,
				 (int64_t)(rare * factor * 4000 * exp(0.05 * sim_normal(&seed))));
		if (i % (n / 20) == n / 20 - 1)
			assert_int_equal(tlat_blocks_cut(result->blocks, result->latency), 0);
	}
	counts->asked = counts->recorded = n;
}

/* Half as slow again from beginning to end, in blocks of which one is empty. */
static void drift(struct tlat_result *result, size_t empty)
{
	uint64_t seed = 4;

	fill(result, 1, seed, 20, 0);
	tlat_blocks_free(result->blocks);
	assert_int_equal(tlat_blocks_new(&result->blocks, 250000000), 0);
	for (size_t block = 0; block < 30; block++) {
		for (size_t i = 0; block != empty && i < 100; i++)
			tlat_hist_record(result->latency,
					 (int64_t)(4000 * (1 + (double)block / 60) *
						   exp(0.01 * sim_normal(&seed))));
		assert_int_equal(tlat_blocks_cut(result->blocks, result->latency), 0);
	}
	result->counts.asked = result->counts.recorded = tlat_hist_count(result->latency);
}

/* One run; boot 0 and up, start in minutes. */
static void add_run(struct side *side, const struct setting *with, int boot, int minute)
{
	struct tlat_report *report = sample_report();
	struct tlat_result *result = sample_pair(100, (uint64_t)minute + 1);
	uint64_t seed = (uint64_t)minute * 77 + 5;

	fill(result, with->factor * exp(with->noise * sim_normal(&seed)), seed, 2000, 0);
	if (with->change)
		with->change(result);
	assert_int_equal(tlat_report_add(report, result), 0);
	snprintf(report->boot_id, sizeof(report->boot_id), "%08d-0000-0000-0000-000000000000",
		 boot);
	snprintf(report->machine.facts.kernel, sizeof(report->machine.facts.kernel), "%s",
		 with->kernel);
	tlat_report_started(report, INT64_C(1767225600000000000) + minute * INT64_C(60000000000));
	side->runs[side->n++] = report;
}

static void place(struct tlat_report *report, int side, int pair, int planned)
{
	assert_int_equal(
		tlat_report_set_design(report, &TLAT_DESIGN(.side = side, .pair = pair,
							    .planned = planned, .seed = 7,
							    .looks = planned > 0, .order = "ABBA")),
		0);
}

/* n pairs in the order ABBA, in one boot. */
static void add_pairs(struct side *a, struct side *b, const struct setting *base,
		      const struct setting *next, int n, int planned)
{
	for (int i = 0; i < n; i++) {
		add_run(a, base, 0, 2 * i + i % 2);
		place(a->runs[a->n - 1], 'A', i, planned);
		add_run(b, next, 0, 2 * i + !(i % 2));
		place(b->runs[b->n - 1], 'B', i, planned);
	}
}

static void free_side(struct side *side)
{
	for (size_t i = 0; i < side->n; i++)
		tlat_report_free(side->runs[i]);
}

static struct tlat_comparison *compared(const struct side *a, const struct side *b, uint32_t flags)
{
	struct tlat_comparison *c;
	struct tlat_error error = { 0 };

	if (tlat_compare(&c, a->runs, a->n, b->runs, b->n, &TLAT_COMPARE_OPTS(.flags = flags),
			 &error) < 0)
		fail_msg("refused: %s", error.text);
	return c;
}

static void expect(const struct side *a, const struct side *b, int verdict, const char *because)
{
	struct tlat_comparison *c = compared(a, b, 0);
	struct tlat_compare_item item = { .size = sizeof(item) };

	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	if (tlat_comparison_verdict(c) != verdict || !strstr(item.reason, because))
		fail_msg("%s: %s", tlat_compare_verdict_name(tlat_comparison_verdict(c)),
			 item.reason);
	tlat_comparison_free(c);
}

static void expect_pairs(const struct setting *base, const struct setting *next, int n, int verdict,
			 const char *because)
{
	struct side a = { 0 }, b = { 0 };

	add_pairs(&a, &b, base, next, n, 0);
	expect(&a, &b, verdict, because);
	free_side(&a);
	free_side(&b);
}

static void twenty_pairs_tell_a_shift_of_one_percent(void **state)
{
	const struct setting worse = { 1.01, 0.002, "6.12", NULL };
	const struct setting better = { 0.99, 0.002, "6.12", NULL };

	(void)state;
	expect_pairs(&plain, &worse, 20, TLAT_COMPARE_REGRESSION, "beyond the threshold");
	expect_pairs(&plain, &better, 20, TLAT_COMPARE_IMPROVEMENT, "beyond the threshold");
	expect_pairs(&plain, &plain, 20, TLAT_COMPARE_EQUIVALENT, "is within the threshold");
}

static void too_few_pairs_say_how_many_it_takes(void **state)
{
	(void)state;
	expect_pairs(&plain, &plain, 4, TLAT_COMPARE_INCONCLUSIVE, "8 pairs would find");
	expect_pairs(&plain, &plain, 1, TLAT_COMPARE_INDICATIVE, "one run on a side");
}

/* The estimate is a ratio of medians, whatever the sides are called. */
static void figures_of_an_item_are_those_of_its_runs(void **state)
{
	const struct setting worse = { 1.02, 0.0001, "6.12", NULL };
	struct tlat_compare_figure figure = { .size = sizeof(figure) };
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	size_t i, shifts = 0, tails = 0;

	(void)state;
	add_pairs(&a, &b, &plain, &worse, 12, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_int_equal(tlat_comparison_item(c, 1, &item), -ENOENT);
	assert_string_equal(item.name, "wake-futex 0->1");
	assert_string_equal(item.metric, "p50");
	assert_true(item.paired && item.n_base == 12 && item.n_next == 12);
	assert_true(fabs(item.ratio - 1.02) < 0.003);
	assert_true(item.lo < item.ratio && item.ratio < item.hi);
	assert_true(item.sign_lo <= item.ratio && item.ratio <= item.sign_hi);
	assert_true(fabs(item.base - 4000 * 1e9 / SAMPLE_HZ) < 10);
	assert_true(item.mde > 0 && item.mde < 0.01);
	assert_true(item.noise_block > 0);
	for (i = 0; tlat_comparison_figure(c, 0, i, &figure) == 0; i++) {
		shifts += figure.role == TLAT_COMPARE_SHIFT;
		tails += figure.role == TLAT_COMPARE_TAIL;
		assert_true(figure.lo <= figure.ratio && figure.ratio <= figure.hi);
		assert_string_equal(figure.unit, strncmp(figure.name, "rate>", 5) ? "ns" : "1");
		if (figure.role == TLAT_COMPARE_SHIFT)
			if (fabs(figure.ratio - 1.02) > 0.01 || !isnan(figure.p))
				fail_msg("%s: %g, p %g", figure.name, figure.ratio, figure.p);
	}
	/* 2000 samples carry p1 to p99, and nothing beyond. */
	assert_int_equal(shifts, 9);
	assert_int_equal(tails, 5);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static void change_settle(struct tlat_result *result)
{
	result->settle_ns = 100000;
}

static void change_interval(struct tlat_result *result)
{
	result->interval_ns = 1000000;
}

static void change_policy(struct tlat_result *result)
{
	result->wait.policy = TLAT_SCHED_OTHER;
}

static void change_priority(struct tlat_result *result)
{
	result->wait.priority = 50;
}

static void change_cpu(struct tlat_result *result)
{
	result->wait.cpu = 2;
}

static void on_several_cpus(struct tlat_result *result)
{
	result->wait.cpu = -1;
}

static void change_relation(struct tlat_result *result)
{
	result->relation = "smt";
}

static void change_way(struct tlat_result *result)
{
	result->round_trip = true;
}

static void change_target(struct tlat_result *result)
{
	result->target = TLAT_TARGET_SLEEPING;
}

static void change_waker(struct tlat_result *result)
{
	result->kick.priority = 1;
}

static void change_waker_policy(struct tlat_result *result)
{
	result->kick.policy = TLAT_SCHED_OTHER;
}

static void change_deadline(struct tlat_result *result)
{
	result->wait.runtime_ns = 200000;
}

static void change_suspend(struct tlat_result *result)
{
	tlat_findings_add(&result->findings, TLAT_WARN, "suspended", NULL, "slept for 3 s");
}

static void change_clock(struct tlat_result *result)
{
	tlat_findings_add(&result->findings, TLAT_ERROR, "clock-order", NULL, "went back by 3 ns");
}

static void lose_offset(struct tlat_result *result)
{
	result->has_offset = false;
}

static void change_offset(struct tlat_result *result)
{
	lose_offset(result);
	tlat_findings_add(&result->findings, TLAT_WARN, "clock-offset", NULL, "CPUs 0 and 1 warp");
}

static void change_probe(struct tlat_result *result)
{
	strcpy(result->probe, "wake-eventfd");
}

static void change_dwell(struct tlat_result *result)
{
	tlat_hist_free(result->dwell);
	result->dwell = sample_hist(SAMPLE_HZ, 3, 100, 160000, 4000);
}

static void change_unit(struct tlat_result *result)
{
	struct tlat_hist *hist;

	assert_int_equal(tlat_hist_new(&hist, SAMPLE_HZ / 2), 0);
	tlat_hist_record(hist, 2000);
	tlat_hist_free(result->latency);
	result->latency = hist;
}

static void change_nothing_left(struct tlat_result *result)
{
	tlat_hist_reset(result->latency);
}

static const struct {
	void (*change)(struct tlat_result *result);
	const char *because;
	bool forced_too;
} refusals[] = {
	{ change_settle, "settle 50000ns in one report, 100000ns", false },
	{ change_interval, "interval 0ns in one report, 1000000ns", false },
	{ change_policy, "policy fifo in one report, other", false },
	{ change_priority, "priority 40 in one report, 50", false },
	{ change_cpu, "CPU 1 in one report, 2", false },
	{ on_several_cpus, "CPU 1 in one report, several", false },
	{ change_relation, "placement llc in one report, smt", false },
	{ change_way, "round trip 0 in one report, 1", false },
	{ change_target, "target busy in one report, sleeping", false },
	{ change_waker, "waker's priority 40 in one report, 1", false },
	{ change_waker_policy, "waker's policy fifo in one report, other", false },
	{ change_deadline, "runtime 0ns in one report, 200000ns", false },
	{ change_suspend, "cannot be relied on: slept for 3 s", false },
	{ change_clock, "cannot be relied on: went back by 3 ns", false },
	{ change_offset, "cannot be relied on: CPUs 0 and 1 warp", false },
	{ change_dwell, "had slept", false },
	{ change_probe, "the base side measured wake-futex, the new one wake-eventfd", true },
	{ change_unit, "more than 100 ppm apart", true },
	{ change_nothing_left, "has no sample", true },
};

static void what_is_not_alike_is_refused_and_figures_are_forced(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(refusals); i++) {
		struct setting other = { 1, 0.002, "6.12", refusals[i].change };
		struct side a = { 0 }, b = { 0 };
		struct tlat_comparison *c = NULL;
		struct tlat_error error = { 0 };

		add_pairs(&a, &b, &plain, &other, 8, 0);
		assert_int_equal(tlat_compare(&c, a.runs, a.n, b.runs, b.n, NULL, &error), -EINVAL);
		assert_null(c);
		if (!strstr(error.text, refusals[i].because) || strchr(error.text, '\n'))
			fail_msg("\"%s\" does not say \"%s\"", error.text, refusals[i].because);
		if (!refusals[i].forced_too) {
			c = compared(&a, &b, TLAT_COMPARE_FORCE);
			assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_NONE);
			tlat_comparison_free(c);
		}
		free_side(&a);
		free_side(&b);
	}
}

static void timer_on_several_cpus(struct tlat_result *result)
{
	result->has_kick = false;
	on_several_cpus(result);
}

/* As tlat_report_merge() makes them of runs on other CPUs. */
static void a_sum_over_cpus_is_named_without_one(void **state)
{
	struct setting sums = { 1, 0.002, "6.12", timer_on_several_cpus };
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &sums, &sums, 8, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_string_equal(item.name, "wake-futex");
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static void end_in_error(struct tlat_result *result)
{
	result->end = TLAT_END_ERROR;
}

static void go_on(struct tlat_result *result)
{
	result->end = TLAT_END_RUNNING;
}

static void lose_wake(struct tlat_result *result)
{
	result->counts.rejected[TLAT_REJECTED_TIMEOUT] = 1;
	result->counts.asked++;
	tlat_findings_add(&result->findings, TLAT_ERROR, "lost-wake", NULL, "1 cycle was given up");
}

static const struct {
	void (*change)(struct tlat_result *result);
	const char *because;
} failures[] = {
	{ end_in_error, "cannot be relied on: an error ended it; measure it again" },
	{ go_on, "cannot be relied on: it was still running" },
	{ lose_wake, "cannot be relied on: 1 cycle was given up" },
};

static void expect_refusal(const struct side *a, const struct side *b, const char *id,
			   const char *because)
{
	struct tlat_comparison *c = NULL;
	struct tlat_error error = { 0 };

	assert_int_equal(tlat_compare(&c, a->runs, a->n, b->runs, b->n, NULL, &error), -EINVAL);
	assert_null(c);
	if (!strstr(error.text, because) || !strstr(error.text, id))
		fail_msg("\"%s\" does not say \"%s\" of \"%s\"", error.text, because, id);
	c = compared(a, b, TLAT_COMPARE_FORCE);
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_NONE);
	tlat_comparison_free(c);
}

/* One run of sixteen, and equal figures: what failed is no sample of what was to be measured. */
static void a_run_that_failed_is_refused_and_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(failures); i++) {
		struct side a = { 0 }, b = { 0 };

		add_pairs(&a, &b, &plain, &plain, 8, 0);
		failures[i].change(b.runs[5]->results[0]);
		expect_refusal(&a, &b, b.runs[5]->id, failures[i].because);
		free_side(&a);
		free_side(&b);
	}
}

/* Said of the whole report, and for metrics as well as for latencies. */
static void a_failure_of_the_whole_run_counts_for_all_that_it_has(void **state)
{
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	for (int i = 0; i < 8; i++) {
		a.runs[i]->results[0]->kind = b.runs[i]->results[0]->kind = "storm";
		tlat_result_put_metric(a.runs[i]->results[0], 5, "Hz", TLAT_HIGHER, "progress_hz");
		tlat_result_put_metric(b.runs[i]->results[0], 5, "Hz", TLAT_HIGHER, "progress_hz");
	}
	tlat_comparison_free(compared(&a, &b, 0));
	tlat_findings_add(&a.runs[2]->findings, TLAT_ERROR, "own", NULL, "the fan stood still");
	expect_refusal(&a, &b, a.runs[2]->id, "cannot be relied on: the fan stood still");
	free_side(&a);
	free_side(&b);
}

static void wait_for_slots(struct tlat_result *result)
{
	result->interval_ns = 1000000;
}

static void wait_for_slots_longer(struct tlat_result *result)
{
	change_dwell(result);
	wait_for_slots(result);
}

/* NULL: it has no such note. */
static const char *note(const struct tlat_comparison *c, const char *id)
{
	struct tlat_finding finding;

	for (size_t i = 0; tlat_comparison_finding(c, i, &finding) == 0; i++)
		if (!strcmp(finding.id, id))
			return finding.text;
	return NULL;
}

static bool says(const struct tlat_comparison *c, const char *id, const char *part)
{
	struct tlat_finding finding;

	for (size_t i = 0; tlat_comparison_finding(c, i, &finding) == 0; i++)
		if (!strcmp(finding.id, id) && strstr(finding.text, part))
			return true;
	return false;
}

static void expect_note(const struct side *a, const struct side *b, uint32_t flags, const char *id,
			const char *text)
{
	struct tlat_comparison *c = compared(a, b, flags);
	const char *said = note(c, id);

	if (!said != !text || (text && !strstr(said, text)))
		fail_msg("%s: \"%s\" and not \"%s\"", id, said ? said : "", text ? text : "");
	tlat_comparison_free(c);
}

static void a_run_that_was_cut_short_is_compared_and_said_to_be(void **state)
{
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 12, 0);
	expect_note(&a, &b, 0, "ended-early", NULL);
	a.runs[3]->results[0]->end = TLAT_END_SIGNAL;
	b.runs[7]->results[0]->end = TLAT_END_BREAK;
	expect_note(&a, &b, 0, "ended-early", "ended 2 of 24 runs");
	expect(&a, &b, TLAT_COMPARE_EQUIVALENT, "is within the threshold");
	free_side(&a);
	free_side(&b);
}

static void miss(struct side *side, size_t run, uint64_t n)
{
	struct tlat_counts *counts = &side->runs[run]->results[0]->counts;

	counts->asked += n - counts->missed;
	counts->missed = n;
}

/* What no quantile shows. One stall, and what both sides miss alike, are no difference. */
static void a_side_that_misses_or_loses_more_is_said_to(void **state)
{
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 10, 0);
	expect_note(&a, &b, 0, "missed-differ", NULL);
	miss(&b, 4, 100);
	expect_note(&a, &b, 0, "missed-differ", NULL);
	for (size_t i = 0; i < 10; i++) {
		miss(&a, i, 40 + i);
		miss(&b, i, 41 + i * 9 % 10);
	}
	expect_note(&a, &b, 0, "missed-differ", NULL);
	for (size_t i = 0; i < 10; i++)
		miss(&b, i, 140 + i);
	expect_note(&a, &b, 0, "missed-differ",
		    "2.18 % (445 of 20445) on the base side, 6.74 % (1445 of 21445)");
	expect_note(&a, &b, 0, "wakes-lost", NULL);
	for (size_t i = 0; i < 10; i++)
		lose_wake(b.runs[i]->results[0]);
	expect_note(&a, &b, TLAT_COMPARE_FORCE, "wakes-lost", "0 % (0 of 20445) on the base side");
	free_side(&a);
	free_side(&b);
}

/* An open loop has the dwell that it gets: it is said, and compared. */
static void another_dwell_is_shown_where_slots_set_the_pace(void **state)
{
	const struct setting base = { 1, 0.002, "6.12", wait_for_slots };
	const struct setting next = { 1, 0.002, "6.12", wait_for_slots_longer };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &base, &next, 12, 0);
	c = compared(&a, &b, 0);
	assert_non_null(note(c, "dwell-differs"));
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_EQUIVALENT);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static double drift_of(const struct side *a, const struct side *b)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_comparison *c = compared(a, b, 0);

	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	tlat_comparison_free(c);
	return item.drift;
}

static void sides_one_after_the_other_get_no_verdict(void **state)
{
	const struct setting worse = { 1.05, 0.002, "6.12", NULL };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	for (int i = 0; i < 8; i++) {
		add_run(&a, &plain, 0, i);
		add_run(&b, &worse, 0, 100 + i);
	}
	expect(&a, &b, TLAT_COMPARE_INCONCLUSIVE, "not measured in turn");
	c = compared(&a, &b, 0);
	assert_non_null(note(c, "order-blocked"));
	tlat_comparison_free(c);
	/* Nor when nobody knows the order, in which nothing drifts. */
	assert_true(isfinite(drift_of(&a, &b)));
	a.runs[3]->start_ns = 0;
	expect(&a, &b, TLAT_COMPARE_INCONCLUSIVE, "when is not known");
	assert_true(isnan(drift_of(&a, &b)));
	free_side(&a);
	free_side(&b);
}

static void one_way_is_round_trip(struct tlat_result *result)
{
	result->round_trip = true;
}

static void expect_nothing_worse(const struct side *a, const struct side *b, uint32_t flags,
				 int verdict)
{
	struct tlat_compare_figure figure = { .size = sizeof(figure) };
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_comparison *c = compared(a, b, flags);

	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_int_equal(item.verdict, verdict);
	assert_int_equal(item.primary, verdict);
	assert_int_equal(item.tail, verdict);
	for (size_t i = 0; tlat_comparison_figure(c, 0, i, &figure) == 0; i++)
		assert_int_equal(figure.worse, 0);
	tlat_comparison_free(c);
}

/* By 5 % and in turn all of it is worse; what has no verdict says so of no figure. */
static void no_figure_is_worse_where_there_is_no_verdict(void **state)
{
	const struct setting worse = { 1.05, 0.002, "6.12", NULL };
	struct tlat_compare_figure figure = { .size = sizeof(figure) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 8; i++) {
		add_run(&a, &plain, 0, 2 * i);
		add_run(&b, &worse, 0, 2 * i + 1);
	}
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_REGRESSION);
	for (size_t i = 0; tlat_comparison_figure(c, 0, i, &figure) == 0; i++)
		n += figure.worse > 0;
	assert_true(n > 0);
	tlat_comparison_free(c);
	expect_nothing_worse(&a, &b, TLAT_COMPARE_FORCE, TLAT_COMPARE_NONE);
	for (size_t i = 0; i < 8; i++)
		b.runs[i]->results[0]->has_offset = false;
	expect_nothing_worse(&a, &b, 0, TLAT_COMPARE_INCONCLUSIVE);
	for (size_t i = 0; i < 8; i++)
		a.runs[i]->start_ns = 0;
	expect_nothing_worse(&a, &b, 0, TLAT_COMPARE_INCONCLUSIVE);
	free_side(&a);
	free_side(&b);
}

static void ask_for_slack(struct tlat_result *result)
{
	result->wait.slack_ns = 50000;
}

static void ask_for_latency(struct tlat_result *result)
{
	result->cpu_latency_ns = 0;
}

static void ask_for_policy(struct tlat_result *result)
{
	result->policy_asked = TLAT_SCHED_OTHER;
}

static void inject(struct tlat_result *result)
{
	result->injected = true;
	result->inject_ns = 1000;
}

static void chain(struct tlat_result *result)
{
	result->chain_adds = 100;
}

static const struct {
	void (*change)(struct tlat_result *result);
	const char *because;
} settings[] = {
	{ ask_for_slack, "run.slack 1ns in one report of the new side, 50000ns in another" },
	{ ask_for_latency, "run.cpu_latency default in one report of the new side, 0ns" },
	{ ask_for_policy, "run.policy_asked fifo:41 in one report of the new side, other:41" },
	{ inject, "run.inject none in one report of the new side, 1000ns" },
	{ chain, "run.chain none in one report of the new side, 100 additions" },
};

/* What may be what the sides are about is not what one side has both of. */
static void a_side_is_of_one_setting(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(settings); i++) {
		struct side a = { 0 }, b = { 0 };

		add_pairs(&a, &b, &plain, &plain, 8, 0);
		for (size_t k = 1; k < 8; k += 2)
			settings[i].change(b.runs[k]->results[0]);
		expect_refusal(&a, &b, "wake-futex", settings[i].because);
		for (size_t k = 0; k < 8; k += 2)
			settings[i].change(b.runs[k]->results[0]);
		tlat_comparison_free(compared(&a, &b, 0));
		free_side(&a);
		free_side(&b);
	}
}

#ifdef TLAT_WITH_JANSSON /* facts are what the document has */
/* Whichever comes first: a boot of another kernel makes boots the units. */
static void kernels_that_differ_within_a_side_count_by_boot(void **state)
{
	const struct setting worse = { 1.05, 0.002, "6.1", one_way_is_round_trip };

	(void)state;
	for (int first = 0; first < 2; first++) {
		struct side a = { 0 }, b = { 0 };

		for (int i = 0; i < 8; i++) {
			int boot = (i + first) % 2;
			const struct setting base = { 1, 0.002, boot ? "6.2" : "6.1",
						      one_way_is_round_trip };

			add_run(&a, &base, boot, 2 * i);
			add_run(&b, &worse, 0, 2 * i + 1);
		}
		expect(&a, &b, TLAT_COMPARE_INDICATIVE, "one boot on a side");
		free_side(&a);
		free_side(&b);
	}
}
#endif

static void runs_without_a_design_are_compared_unpaired(void **state)
{
	const struct setting worse = { 1.02, 0.002, "6.12", NULL };
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	for (int i = 0; i < 8; i++) {
		add_run(&a, &plain, 0, 2 * i);
		add_run(&b, &worse, 0, 2 * i + 1);
	}
	add_run(&b, &worse, 0, 17);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_false(item.paired);
	assert_int_equal(item.n_next, 9);
	assert_true(isnan(item.sign_lo));
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_REGRESSION);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* Runs of a boot do not count: one boot a side is one unit, however many runs it has. */
static void one_boot_a_side_is_indicative_and_says_why(void **state)
{
	const struct setting old = { 1, 0.002, "6.1", one_way_is_round_trip };
	const struct setting new = { 1.05, 0.002, "6.12", one_way_is_round_trip };
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	for (int i = 0; i < 10; i++) {
		add_run(&a, &old, 0, i);
		add_run(&b, &new, 1, 100 + i);
	}
	expect(&a, &b, TLAT_COMPARE_INDICATIVE, "one boot on a side");
	c = compared(&a, &b, 0);
	assert_non_null(note(c, "one-boot"));
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_int_equal(item.n_base, 1);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* The same kernel, but no boot that had both sides: the boot is the unit all the same. */
static void boots_in_turn_are_pairs_where_the_design_says_so(void **state)
{
	const struct setting old = { 1, 0.002, "6.12", one_way_is_round_trip };
	const struct setting new = { 1.05, 0.002, "6.12", one_way_is_round_trip };
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	for (int i = 0; i < 16; i++) {
		struct side *side = i % 2 ? &b : &a;

		for (int run = 0; run < 3; run++) {
			add_run(side, i % 2 ? &new : &old, i, 10 * i + run);
			place(side->runs[side->n - 1], i % 2 ? 'B' : 'A', i / 2, 0);
		}
	}
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_true(item.paired && item.n_base == 8 && item.n_next == 8);
	assert_true(item.noise_boot >= 0 && item.noise_run >= 0);
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_REGRESSION);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* 264 ns at either boot: a shift of 5 % of 1.5 us is less than that. */
static void across_boots_a_one_way_shift_below_the_offset_is_inconclusive(void **state)
{
	const struct setting old = { 1, 0.002, "6.1", NULL }, new = { 1.05, 0.002, "6.12", NULL };
	const struct setting far = { 1.5, 0.002, "6.12", NULL };
	struct side a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	for (int i = 0; i < 8; i++) {
		add_run(&a, &old, 3 * i, 30 * i);
		add_run(&b, &new, 3 * i + 1, 30 * i + 10);
		add_run(&c, &far, 3 * i + 2, 30 * i + 20);
	}
	expect(&a, &b, TLAT_COMPARE_INCONCLUSIVE, "offset: one way");
	expect(&a, &c, TLAT_COMPARE_REGRESSION, "beyond the threshold");
	free_side(&a);
	free_side(&b);
	free_side(&c);
}

/* Down as well as up: 528.6 ns over both boots, of a median of 1541 ns. */
static void a_one_way_shift_of_either_sign_is_held_against_the_offset(void **state)
{
	const struct setting old = { 1, 0.0005, "6.1", NULL };
	struct side a = { 0 };

	(void)state;
	for (int i = 0; i < 8; i++)
		add_run(&a, &old, 2 * i, 20 * i);
	for (double factor = 0.5; factor < 1.5; factor += 0.06) {
		const struct setting new = { factor, 0.0005, "6.12", NULL };
		double shift_ns = fabs(factor - 1) * 4000 * 1e9 / SAMPLE_HZ;
		bool wider = factor > 1.25; /* the spread, in which the offset cancels */
		struct side b = { 0 };

		for (int i = 0; i < 8; i++)
			add_run(&b, &new, 2 * i + 1, 20 * i + 10);
		if (shift_ns < 2 * 264.3 - 10)
			expect(&a, &b,
			       wider ? TLAT_COMPARE_TAIL_REGRESSION : TLAT_COMPARE_INCONCLUSIVE,
			       wider ? "spread is" : "offset: one way");
		else if (shift_ns > 2 * 264.3 + 10)
			expect(&a, &b,
			       factor < 1 ? TLAT_COMPARE_IMPROVEMENT : TLAT_COMPARE_REGRESSION,
			       "beyond the threshold");
		free_side(&b);
	}
	free_side(&a);
}

static void record_more(struct tlat_result *result, size_t n, double factor, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		tlat_hist_record(result->latency,
				 (int64_t)(factor * 4000 * exp(0.01 * sim_normal(&seed))));
	result->counts.asked = result->counts.recorded += n;
}

/* One in fifty takes ten times as long, and the median is where it was. */
static void grow_tail(struct tlat_result *result)
{
	record_more(result, 40, 10, 3);
}

/* The same of four in a thousand, which p99 does not show. */
static void grow_far_tail(struct tlat_result *result)
{
	record_more(result, 80, 10, 3);
}

static void take_many(struct tlat_result *result)
{
	record_more(result, 18000, 1, tlat_hist_count(result->latency));
}

static void take_many_of_far_tail(struct tlat_result *result)
{
	take_many(result);
	grow_far_tail(result);
}

/* One in eight is 400 ns above where the median was. */
static void raise_upper_decile(struct tlat_result *result)
{
	record_more(result, 280, 1.26, 4);
}

struct held {
	struct tlat_compare_item item;
	struct tlat_compare_figure figures[3 * TLAT_FAMILY_MAX];
	size_t n;
};

static const struct tlat_compare_figure *tail_figure(const struct held *held, const char *name,
						     size_t which)
{
	for (size_t i = 0; i < held->n; i++)
		if (held->figures[i].role == TLAT_COMPARE_TAIL &&
		    !strncmp(held->figures[i].name, name, strlen(name)) && !which--)
			return &held->figures[i];
	fail_msg("no figure %s", name);
	return NULL;
}

/* Eight boots of each kernel, in turn; *ret_c holds the names. */
static struct held across_boots(const struct setting *old, const struct setting *new,
				struct tlat_comparison **ret_c)
{
	struct held held = { .item = { .size = sizeof(held.item) } };
	struct side a = { 0 }, b = { 0 };

	for (int i = 0; i < 8; i++) {
		add_run(&a, old, 2 * i, 20 * i);
		add_run(&b, new, 2 * i + 1, 20 * i + 10);
	}
	*ret_c = compared(&a, &b, 0);
	free_side(&a);
	free_side(&b);
	assert_int_equal(tlat_comparison_item(*ret_c, 0, &held.item), 0);
	do
		held.figures[held.n].size = sizeof(held.figures[0]);
	while (tlat_comparison_figure(*ret_c, 0, held.n, &held.figures[held.n]) == 0 && ++held.n);
	return held;
}

static void a_tail_beyond_the_offset_is_worse_though_the_median_is_not(void **state)
{
	const struct setting old = { 1, 0.002, "6.1", NULL };
	const struct setting new = { 1, 0.002, "6.12", grow_tail };
	struct tlat_comparison *c;
	struct held held;

	(void)state;
	held = across_boots(&old, &new, &c);
	if (held.item.verdict != TLAT_COMPARE_TAIL_REGRESSION)
		fail_msg("%s: %s", tlat_compare_verdict_name(held.item.verdict), held.item.reason);
	assert_int_equal(held.item.tail, TLAT_COMPARE_TAIL_REGRESSION);
	assert_int_equal(held.item.primary, TLAT_COMPARE_INCONCLUSIVE);
	assert_true(held.item.withheld);
	assert_null(strstr(held.item.reason, "offset"));
	assert_int_equal(tail_figure(&held, "p99", 0)->worse, 1);
	assert_int_equal(tail_figure(&held, "rate>", 0)->worse, 1);
	assert_int_equal(tail_figure(&held, "p90", 0)->worse, 0);
	tlat_comparison_free(c);
}

/* Some 300 ns of p90 are less than the 529 ns, however far down the median went. */
static void a_tail_within_the_offset_is_held_though_the_median_is_beyond(void **state)
{
	const struct setting old = { 1, 0.002, "6.1", NULL };
	const struct setting new = { 0.6, 0.002, "6.12", raise_upper_decile };
	struct tlat_comparison *c;
	struct held held;

	(void)state;
	held = across_boots(&old, &new, &c);
	if (held.item.verdict != TLAT_COMPARE_INCONCLUSIVE ||
	    !strstr(held.item.reason, "p90 may be worse by that alone"))
		fail_msg("%s: %s", tlat_compare_verdict_name(held.item.verdict), held.item.reason);
	assert_int_equal(held.item.primary, TLAT_COMPARE_IMPROVEMENT);
	assert_false(held.item.withheld);
	for (size_t i = 0; i < held.n; i++)
		assert_true(held.figures[i].worse <= 0);
	tlat_comparison_free(c);
}

/* Each rate is held by the quantile that its threshold is of. */
static void a_rate_is_as_sure_as_its_quantile(void **state)
{
	const struct setting old = { 1, 0.002, "6.1", take_many };
	const struct setting new = { 1, 0.002, "6.12", take_many_of_far_tail };
	struct tlat_comparison *c;
	struct held held;

	(void)state;
	held = across_boots(&old, &new, &c);
	assert_int_equal(held.item.verdict, TLAT_COMPARE_TAIL_REGRESSION);
	assert_int_equal(tail_figure(&held, "p99.9", 0)->worse, 1);
	assert_true(tail_figure(&held, "rate>", 0)->ratio > 1.3);
	assert_true(tail_figure(&held, "rate>", 0)->p <= 0.01);
	assert_int_equal(tail_figure(&held, "rate>", 0)->worse, 0);
	assert_int_equal(tail_figure(&held, "rate>", 1)->worse, 1);
	tlat_comparison_free(c);
}

static void round_trip_without_offset(struct tlat_result *result)
{
	change_offset(result);
	result->round_trip = true;
}

/* Where nothing says that the counters agree, one boot does not cancel their offset either. */
static void a_one_way_shift_without_an_offset_is_inconclusive(void **state)
{
	const struct setting base = { 1, 0.002, "6.12", lose_offset };
	const struct setting next = { 2, 0.002, "6.12", lose_offset };
	const struct setting base_back = { 1, 0.002, "6.12", round_trip_without_offset };
	const struct setting next_back = { 2, 0.002, "6.12", round_trip_without_offset };
	struct side a = { 0 }, b = { 0 };

	(void)state;
	expect_pairs(&base, &next, 8, TLAT_COMPARE_INCONCLUSIVE, "does not say how large");
	expect_pairs(&plain, &next, 8, TLAT_COMPARE_INCONCLUSIVE, "does not say how large");
	expect_pairs(&base_back, &next_back, 8, TLAT_COMPARE_REGRESSION, "beyond the threshold");
	for (int i = 0; i < 8; i++) {
		add_run(&a, &plain, 2 * i, 20 * i);
		add_run(&b, &next, 2 * i + 1, 20 * i + 10);
	}
	expect(&a, &b, TLAT_COMPARE_INCONCLUSIVE, "does not say how large");
	free_side(&a);
	free_side(&b);
}

static void expect_error(const struct side *a, const struct side *b, uint32_t flags,
			 const char *because)
{
	struct tlat_comparison *c = NULL;
	struct tlat_error error = { 0 };

	assert_int_equal(tlat_compare(&c, a->runs, a->n, b->runs, b->n,
				      &TLAT_COMPARE_OPTS(.flags = flags), &error),
			 -EINVAL);
	if (!strstr(error.text, because) || strchr(error.text, '\n'))
		fail_msg("\"%s\" does not say \"%s\"", error.text, because);
}

/* Two sessions, each with both of its sides in it: neither is a side, forced or not. */
static void both_sides_of_a_session_are_not_one_side(void **state)
{
	const struct setting worse = { 1.05, 0.002, "6.12", NULL };
	struct side a = { 0 }, b = { 0 }, first = { 0 }, second = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &worse, 16, 0);
	for (int i = 0; i < 16; i++) {
		struct side *session = i < 8 ? &first : &second;

		session->runs[session->n++] = a.runs[i];
		session->runs[session->n++] = b.runs[i];
	}
	expect_error(&first, &second, 0, "the base side has runs of side A and of side B");
	expect_error(&first, &second, TLAT_COMPARE_FORCE, "the base side has runs of side A");
	expect_error(&a, &second, 0, "the new side has runs of side A and of side B");
	free_side(&a);
	free_side(&b);
}

/* Nothing is seen twice by being told twice. */
static void a_run_that_is_there_twice_is_refused(void **state)
{
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	strcpy(a.runs[6]->id, a.runs[2]->id);
	expect_error(&a, &b, 0, "in report 3 of the base side and in report 7 of the base side");
	expect_error(&a, &b, 0, a.runs[2]->id);
	strcpy(a.runs[6]->id, b.runs[0]->id);
	expect_error(&a, &b, 0, "in report 7 of the base side and in report 1 of the new side");
	tlat_comparison_free(compared(&a, &a, TLAT_COMPARE_FORCE)); /* figures, no verdict */
	/* What is not known is not the same. */
	a.runs[6]->id[0] = b.runs[0]->id[0] = '\0';
	tlat_comparison_free(compared(&a, &b, 0));
	free_side(&a);
	free_side(&b);
}

/* Pairs are of two sides: equal numbers of one letter are those of two sessions. */
static void runs_of_one_letter_are_no_pairs(void **state)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 12, 0);
	for (int i = 0; i < 12; i++)
		place(b.runs[i], 'A', i, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_false(item.paired);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static void looks_are_taken_where_they_were_planned(void **state)
{
	const struct setting worse = { 1.02, 0.002, "6.12", NULL };
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &worse, 10, 20);
	expect(&a, &b, TLAT_COMPARE_REGRESSION, "beyond the threshold");
	a.n--;
	expect(&a, &b, TLAT_COMPARE_INCONCLUSIVE, "9 of 20 pairs: a look is planned at 10");
	a.n++;
	free_side(&a);
	free_side(&b);
}

static double alpha_of(const struct side *a, const struct side *b, double asked)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_comparison *c;

	assert_int_equal(tlat_compare(&c, a->runs, a->n, b->runs, b->n,
				      &TLAT_COMPARE_OPTS(.alpha = asked), NULL),
			 0);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	tlat_comparison_free(c);
	return item.alpha;
}

static void an_item_tells_the_alpha_of_its_intervals(void **state)
{
	struct side a = { 0 }, b = { 0 }, planned_a = { 0 }, planned_b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 4, 0);
	assert_true(alpha_of(&a, &b, 0) == 0.01);
	assert_true(alpha_of(&a, &b, 0.1) == 0.1);
	add_pairs(&planned_a, &planned_b, &plain, &plain, 10, 20);
	assert_true(alpha_of(&planned_a, &planned_b, 0.05) ==
		    tlat_compare_look(10, 20, 0.05, NULL));
	free_side(&a);
	free_side(&b);
	free_side(&planned_a);
	free_side(&planned_b);
}

/* As a document may have them: any number that fits, and holes between them. */
static void pairs_are_told_apart_by_any_numbers(void **state)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	char *before = NULL, *after = NULL;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 9, 0);
	c = compared(&a, &b, 0);
	tlat_comparison_format(&before, c);
	tlat_comparison_free(c);
	for (int i = 0; i < 9; i++) {
		place(a.runs[i], 'A', INT32_MAX - 9000 + 1000 * i, 0);
		place(b.runs[i], 'B', INT32_MAX - 9000 + 1000 * i, 0);
	}
	c = compared(&a, &b, 0);
	assert_true(c->items[0].units.paired && c->items[0].units.n[TLAT_BASE] == 9);
	tlat_comparison_format(&after, c);
	if (before)
		assert_string_equal(before, after);
	free(before);
	free(after);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* Ten odd results out of ten would be odd; one of ten is not. */
static void several_results_are_held_to_a_stricter_measure(void **state)
{
	const struct setting worse = { 1.02, 0.002, "6.12", NULL };
	struct tlat_compare_item one = { .size = sizeof(one) }, two = one;
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &plain, &worse, 10, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_item(c, 0, &one), 0);
	tlat_comparison_free(c);
	for (size_t i = 0; i < a.n; i++) {
		struct side more = { 0 };

		add_run(&more, &plain, 0, 500 + (int)i);
		add_run(&more, &plain, 0, 600 + (int)i);
		assert_int_equal(tlat_report_append(a.runs[i], more.runs[0]), 0);
		assert_int_equal(tlat_report_append(b.runs[i], more.runs[1]), 0);
	}
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_item(c, 0, &two), 0);
	assert_true(two.p > 1.9 * one.p);
	assert_int_equal(tlat_comparison_item(c, 1, &two), 0);
	assert_int_equal(tlat_comparison_item(c, 2, &two), -ENOENT);
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_REGRESSION);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static void add_metric(struct tlat_report *report, double value)
{
	assert_int_equal(tlat_report_add_metric(report, "netperf",
						&TLAT_METRIC(.name = "throughput", .unit = "MB",
							     .value = value, .better = 1, .n = 1)),
			 0);
}

/* Eight pairs show a change of the tail by 1 in 128, which halved would be too much. */
static void metrics_do_not_hide_a_tail(void **state)
{
	const struct setting worse = { 1, 0.002, "6.12", grow_tail };
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &worse, 8, 0);
	expect(&a, &b, TLAT_COMPARE_TAIL_REGRESSION, "p = 0.0078 in its family");
	for (size_t i = 0; i < a.n; i++) {
		add_metric(a.runs[i], 100);
		add_metric(b.runs[i], 100);
	}
	expect(&a, &b, TLAT_COMPARE_TAIL_REGRESSION, "p = 0.0078 in its family");
	free_side(&a);
	free_side(&b);
}

static void expect_tail_unseen(const struct side *a, const struct side *b, const char *takes)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_comparison *c = compared(a, b, 0);

	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_int_equal(item.verdict, TLAT_COMPARE_EQUIVALENT);
	assert_int_equal(item.tail, TLAT_COMPARE_NONE);
	if (!strstr(item.reason, takes ? takes : "%") ||
	    !strstr(item.reason, "no change of the tail") != !takes)
		fail_msg("\"%s\" does not say \"%s\"", item.reason, takes ? takes : "nothing");
	tlat_comparison_free(c);
}

static void what_so_few_pairs_cannot_show_of_a_tail_is_said(void **state)
{
	const struct setting worse = { 1, 0.002, "6.12", grow_tail };
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &worse, 7, 0);
	expect_tail_unseen(&a, &b, "however large: it takes 8");
	free_side(&a);
	free_side(&b);
	a.n = b.n = 0;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	expect_tail_unseen(&a, &b, NULL);
	for (size_t i = 0; i < a.n; i++) {
		struct side more = { 0 };

		add_run(&more, &plain, 0, 500 + (int)i);
		add_run(&more, &plain, 0, 600 + (int)i);
		assert_int_equal(tlat_report_append(a.runs[i], more.runs[0]), 0);
		assert_int_equal(tlat_report_append(b.runs[i], more.runs[1]), 0);
	}
	expect_tail_unseen(&a, &b, "however large: it takes 9");
	free_side(&a);
	free_side(&b);
}

static void any_metric_can_be_compared(void **state)
{
	struct tlat_compare_opts opts = TLAT_COMPARE_OPTS(.metric = "throughput");
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	struct tlat_error error;
	uint64_t seed = 3;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 20, 0);
	for (size_t i = 0; i < a.n; i++) {
		add_metric(a.runs[i], 1000 * exp(0.007 * sim_normal(&seed)));
		add_metric(b.runs[i], 988 * exp(0.007 * sim_normal(&seed)));
	}
	assert_int_equal(tlat_compare(&c, a.runs, a.n, b.runs, b.n, &opts, &error), 0);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_string_equal(item.metric, "throughput");
	/* Lower is worse. */
	assert_int_equal(item.verdict, TLAT_COMPARE_REGRESSION);
	assert_int_equal(tlat_comparison_item(c, 1, &item), -ENOENT);
	tlat_comparison_free(c);
	opts.metric = "goodput";
	assert_int_equal(tlat_compare(&c, a.runs, a.n, b.runs, b.n, &opts, &error), -EINVAL);
	assert_non_null(strstr(error.text, "goodput"));
	free_side(&a);
	free_side(&b);
}

/* == Metrics of what is no latency == */

#define NOISE_COMMAND "tlat noise -c 1 -d 300ms --threshold 1us --policy fifo -p 40"

static struct tlat_number *number(struct tlat_report *report, const char *name)
{
	struct tlat_result *result = report->results[0];

	for (size_t i = 0; i < result->n_metrics; i++)
		if (!strcmp(result->metrics[i].name, name))
			return &result->metrics[i];
	fail_msg("%s: no such metric", name);
	return NULL;
}

/* What tlat noise would have left: gaps at a rate, one of them long. */
static void become_noise(struct tlat_report *report, double rate_hz)
{
	struct tlat_result *result = report->results[0];

	result->kind = "noise";
	strcpy(result->probe, "noise");
	free(result->repeat);
	result->repeat = strdup(NOISE_COMMAND);
	result->duration_ns = 300000000;
	tlat_result_put_metric(result, 0.3 * rate_hz, "1", TLAT_LOWER, "gap.count");
	tlat_result_put_metric(result, rate_hz, "Hz", TLAT_LOWER, "gap.rate_hz");
	tlat_result_put_metric(result, 0, "1", TLAT_LOWER, "gap.steal.count");
}

static void add_noise(struct side *a, struct side *b, int n)
{
	uint64_t seed = 11;

	add_pairs(a, b, &plain, &plain, n, 0);
	for (int i = 0; i < n; i++) {
		become_noise(a->runs[i], 1000 * exp(0.001 * sim_normal(&seed)));
		become_noise(b->runs[i], 1000 * exp(0.001 * sim_normal(&seed)));
	}
}

static void set_command(struct tlat_result *result, const char *command)
{
	free(result->repeat);
	result->repeat = strdup(command);
}

static void raise_threshold(struct tlat_result *result)
{
	set_command(result, "tlat noise -c 1 -d 300ms --threshold 20us --policy fifo -p 40");
}

static void leave_threshold_out(struct tlat_result *result)
{
	set_command(result, "tlat noise -c 1 -d 300ms --policy fifo -p 40");
}

static void add_flag(struct tlat_result *result)
{
	set_command(result, NOISE_COMMAND " --threads");
}

static void prefer_more(struct tlat_result *result)
{
	for (size_t i = 0; i < result->n_metrics; i++)
		result->metrics[i].better = TLAT_HIGHER;
}

static void become_storm(struct tlat_result *result)
{
	result->kind = "storm";
}

static const struct {
	void (*change)(struct tlat_result *result);
	const char *because;
} other_metrics[] = {
	{ raise_threshold, "--threshold 1us in one report, 20us in another" },
	{ leave_threshold_out, "--threshold 1us in one report, none in another" },
	{ add_flag, "--threads given in one report, none in another" },
	{ change_policy, "policy fifo in one report, other" },
	{ change_interval, "interval 0ns in one report, 1000000ns" },
	{ change_cpu, "CPU 1 in one report, 2" },
	{ become_storm, "kind of result noise in one report, storm" },
	{ prefer_more, "better is lower in one report, higher in another" },
};

/* Equal figures of what was not measured alike are no answer, and different ones neither. */
static void metrics_of_other_settings_are_refused_and_figures_are_forced(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(other_metrics); i++) {
		struct side a = { 0 }, b = { 0 };
		struct tlat_comparison *c;

		add_noise(&a, &b, 8);
		c = compared(&a, &b, 0);
		assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_EQUIVALENT);
		tlat_comparison_free(c);
		for (size_t k = 0; k < b.n; k++)
			other_metrics[i].change(b.runs[k]->results[0]);
		expect_refusal(&a, &b, "noise", other_metrics[i].because);
		free_side(&a);
		free_side(&b);
	}
}

static bool has_item(const struct tlat_comparison *c, const char *metric)
{
	struct tlat_compare_item item = { .size = sizeof(item) };

	for (size_t i = 0; tlat_comparison_item(c, i, &item) == 0; i++)
		if (!strcmp(item.metric, metric))
			return true;
	return false;
}

static void expect_metric_refused(const struct side *a, const struct side *b, const char *metric,
				  const char *because)
{
	struct tlat_comparison *c;
	struct tlat_error error;

	assert_int_equal(tlat_compare(&c, a->runs, a->n, b->runs, b->n,
				      &TLAT_COMPARE_OPTS(.metric = metric), &error),
			 -EINVAL);
	if (!strstr(error.text, because) || !strstr(error.text, metric))
		fail_msg("\"%s\" does not say \"%s\" of %s", error.text, because, metric);
}

/* Three times the time has three times the gaps, and is no noisier. */
static void what_grows_with_time_is_compared_for_equal_times_only(void **state)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_noise(&a, &b, 8);
	for (size_t i = 0; i < b.n; i++) {
		set_command(b.runs[i]->results[0],
			    "tlat noise -c 1 -d 900ms --threshold 1us --policy fifo -p 40");
		b.runs[i]->results[0]->duration_ns = 900000012;
		number(b.runs[i], "gap.count")->value *= 3;
	}
	c = compared(&a, &b, 0);
	assert_false(has_item(c, "gap.count"));
	assert_true(has_item(c, "gap.rate_hz"));
	assert_non_null(strstr(note(c, "unequal-times"), "gap.count"));
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_EQUIVALENT);
	tlat_comparison_free(c);
	expect_metric_refused(&a, &b, "gap.count", "runs are not of one length");
	c = compared(&a, &b, TLAT_COMPARE_FORCE);
	assert_true(has_item(c, "gap.count"));
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* Each is close to the first one, but the sides are not to each other. */
static void runs_are_of_one_length_if_all_of_them_are(void **state)
{
	struct side a = { 0 }, b = { 0 };

	(void)state;
	add_noise(&a, &b, 8);
	for (size_t i = 0; i < a.n; i++) {
		a.runs[i]->results[0]->duration_ns = i ? 298800000 : 300000000;
		b.runs[i]->results[0]->duration_ns = 301200000;
	}
	expect_metric_refused(&a, &b, "gap.count", "runs are not of one length");
	free_side(&a);
	free_side(&b);
}

static bool has_figure(const struct tlat_comparison *c, const char *name)
{
	struct tlat_compare_figure figure = { .size = sizeof(figure) };

	for (size_t i = 0; tlat_comparison_figure(c, 0, i, &figure) == 0; i++)
		if (!strcmp(figure.name, name))
			return true;
	return false;
}

static void measure_shortly(struct tlat_result *result)
{
	fill(result, 1, (uint64_t)tlat_hist_min(result->latency), 2000, 100);
}

static void measure_for_long(struct tlat_result *result)
{
	fill(result, 1, (uint64_t)tlat_hist_min(result->latency), 40000, 100);
	result->duration_ns *= 20;
}

static void measure_more_often(struct tlat_result *result)
{
	measure_for_long(result);
	result->duration_ns /= 20;
}

/* Twenty times the samples have a maximum twenty times as large, and no worse a tail. */
static void the_largest_of_more_samples_is_no_regression(void **state)
{
	const struct setting brief = { 1, 0.002, "6.12", measure_shortly };
	const struct setting lengthy = { 1, 0.002, "6.12", measure_for_long };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &brief, &lengthy, 20, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_EQUIVALENT);
	assert_false(has_figure(c, "max"));
	assert_true(has_figure(c, "p99"));
	assert_non_null(strstr(note(c, "unequal-times"), "not compared: max"));
	tlat_comparison_free(c);
	c = compared(&a, &b, TLAT_COMPARE_FORCE);
	assert_true(has_figure(c, "max"));
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
	expect_pairs(&brief, &brief, 20, TLAT_COMPARE_EQUIVALENT, "is within the threshold");
}

/* A side that is faster has more samples in the same time. */
static void maxima_of_the_same_time_are_compared(void **state)
{
	const struct setting plain_time = { 1, 0.002, "6.12", measure_shortly };
	const struct setting often = { 1, 0.002, "6.12", measure_more_often };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &plain_time, &often, 4, 0);
	c = compared(&a, &b, 0);
	assert_true(has_figure(c, "max"));
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* And are named, with the runs that have a value, as nothing else tells of them. */
static void metrics_that_make_no_ratio_are_left_out_with_a_note(void **state)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_noise(&a, &b, 8);
	c = compared(&a, &b, 0);
	assert_false(has_item(c, "gap.steal.count"));
	assert_non_null(
		strstr(note(c, "metric-zero"), "0 in every run, and not compared: gap.steal"));
	tlat_comparison_free(c);
	for (size_t i = 0; i < 7; i++)
		number(b.runs[i], "gap.steal.count")->value = 150;
	strcpy(number(b.runs[4], "gap.rate_hz")->name, "gap.rate");
	c = compared(&a, &b, 0);
	assert_non_null(strstr(note(c, "metric-zero"),
			       "gap.steal.count (in 0 of 8 runs of base, 7 of 8 of new)"));
	assert_non_null(strstr(note(c, "not-everywhere"), "gap.rate_hz"));
	assert_true(has_item(c, "gap.count") && !has_item(c, "gap.rate_hz"));
	tlat_comparison_free(c);
	expect_metric_refused(&a, &b, "gap.steal.count", "not above 0 in every run");
	expect_metric_refused(&a, &b, "gap.rate_hz", "not in every run");
	for (size_t i = 0; i < 8; i++)
		a.runs[i]->results[0]->metrics[0].value = 0;
	expect_metric_refused(&a, &b, "gap.count", "not above 0 in every run");
	free_side(&a);
	free_side(&b);
}

static void add_named(struct tlat_report *report, const char *name, double value)
{
	assert_int_equal(tlat_report_add_metric(report, "bench",
						&TLAT_METRIC(.name = name, .unit = "ms",
							     .value = value, .better = -1, .n = 1)),
			 0);
}

/* What a program counts itself is its own affair, and has no length. */
static void a_count_of_a_program_is_compared(void **state)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	uint64_t seed = 22;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	for (size_t i = 0; i < a.n; i++) {
		add_named(a.runs[i], "alloc_count", 10 * exp(0.001 * sim_normal(&seed)));
		add_named(b.runs[i], "alloc_count", 10 * exp(0.001 * sim_normal(&seed)));
	}
	c = compared(&a, &b, 0);
	assert_true(has_item(c, "alloc_count"));
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static void become_unsupported(struct tlat_result *result)
{
	tlat_hist_free(result->latency);
	tlat_blocks_free(result->blocks);
	result->latency = NULL;
	result->blocks = NULL;
	result->supported = false;
}

/* Whichever it is. */
static void what_one_run_lacks_is_named(void **state)
{
	(void)state;
	for (size_t lacks = 0; lacks < 16; lacks++) {
		struct side a = { 0 }, b = { 0 };
		struct tlat_report *poor;
		struct tlat_comparison *c;
		uint64_t seed = 23;

		add_pairs(&a, &b, &plain, &plain, 8, 0);
		poor = lacks < 8 ? a.runs[lacks] : b.runs[lacks - 8];
		for (size_t i = 0; i < 16; i++) {
			struct tlat_report *report = i < 8 ? a.runs[i] : b.runs[i - 8];

			add_named(report, "kept", 10 * exp(0.001 * sim_normal(&seed)));
			if (report != poor)
				add_named(report, "missing", 10);
		}
		become_unsupported(poor->results[0]);
		c = compared(&a, &b, 0);
		assert_true(has_item(c, "kept"));
		assert_true(says(c, "not-everywhere", "not every run has it"));
		assert_true(says(c, "not-everywhere", "not compared: missing"));
		tlat_comparison_free(c);
		free_side(&a);
		free_side(&b);
	}
}

/* A pause in the first third leaves a block without a sample; the rest drifts. */
static void a_drift_is_seen_past_an_empty_block(void **state)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	for (size_t i = 0; i < a.n; i++)
		drift(a.runs[i]->results[0], 5);
	c = compared(&a, &b, TLAT_COMPARE_FORCE);
	assert_non_null(note(c, "not-stationary"));
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* A command that prints them in another order has not changed. */
static void metrics_are_known_by_their_names_and_not_by_their_places(void **state)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	uint64_t seed = 21;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	for (size_t i = 0; i < a.n; i++) {
		add_named(a.runs[i], "small", 10 * exp(0.001 * sim_normal(&seed)));
		add_named(a.runs[i], "large", 20 * exp(0.001 * sim_normal(&seed)));
		add_named(a.runs[i], "gone", 30);
		add_named(b.runs[i], "large", 20 * exp(0.001 * sim_normal(&seed)));
		add_named(b.runs[i], "small", 10 * exp(0.001 * sim_normal(&seed)));
	}
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_verdict(c), TLAT_COMPARE_EQUIVALENT);
	assert_int_equal(tlat_comparison_item(c, 2, &item), 0);
	assert_string_equal(item.metric, "large");
	assert_true(fabs(item.ratio - 1) < 0.01);
	assert_int_equal(tlat_comparison_item(c, 3, &item), -ENOENT);
	assert_non_null(
		strstr(note(c, "not-everywhere"), "not in every run, and not compared: gone"));
	tlat_comparison_free(c);
	expect_metric_refused(&a, &b, "gone", "not in every run");
	free_side(&a);
	free_side(&b);
}

/* n pairs of ten metrics, of which the first shifts by a factor. */
static struct tlat_comparison *ten_metrics(size_t n, double factor)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	uint64_t seed = 31;

	add_pairs(&a, &b, &plain, &plain, (int)n, 0);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < 10; k++) {
			char name[2] = { (char)('a' + k), '\0' };

			a.runs[i]->results[0]->kind = b.runs[i]->results[0]->kind = "storm";
			add_named(a.runs[i], name, exp(0.001 * sim_normal(&seed)));
			add_named(b.runs[i], name,
				  (k ? 1 : factor) * exp(0.001 * sim_normal(&seed)));
		}
	c = compared(&a, &b, 0);
	free_side(&a);
	free_side(&b);
	return c;
}

/*
 * Nine pairs have no p below 2 / 512, and of ten items the first needs 0.001: what it would take
 * is what takes it.
 */
static void what_would_be_found_is_found_among_several_items(void **state)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_comparison *c = ten_metrics(9, 1.5);
	uint64_t needed;

	(void)state;
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_int_equal(item.verdict, TLAT_COMPARE_INCONCLUSIVE);
	assert_true(isinf(item.mde));
	assert_non_null(strstr(item.reason, "significant alone, and not among 10 items"));
	assert_non_null(strstr(item.reason, "p = 0.0039"));
	assert_non_null(strstr(item.reason, "so few pairs would find no shift, however large"));
	needed = item.needed;
	assert_int_equal(needed, 11);
	for (size_t i = 1; i < 10; i++) {
		assert_int_equal(tlat_comparison_item(c, i, &item), 0);
		assert_true(isinf(item.mde) && !strstr(item.reason, "inf"));
	}
	tlat_comparison_free(c);
	c = ten_metrics((size_t)needed, 1.01);
	assert_int_equal(tlat_comparison_item(c, 0, &item), 0);
	assert_int_equal(item.verdict, TLAT_COMPARE_REGRESSION);
	assert_true(item.mde < 0.01);
	assert_true(item.mde == tlat_compare_mde(item.sd, needed, 0.001, 0.9));
	tlat_comparison_free(c);
}

static const char *difference(const struct tlat_comparison *c, const char *name)
{
	struct tlat_difference d;

	for (size_t i = 0; tlat_comparison_difference(c, i, &d) == 0; i++)
		if (!strcmp(d.name, name))
			return d.next;
	return NULL;
}

static void sleep_deeper(struct tlat_result *result)
{
	result->watch->idle[0].time_ns = 100000000;
	result->wait.slack_ns = 50000;
}

static void differences_of_the_surroundings_are_listed(void **state)
{
	const struct setting next = { 1, 0.002, "6.13", sleep_deeper };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &plain, &next, 8, 0);
	for (size_t i = 0; i < b.n; i++)
		b.runs[i]->machine.facts.timer_migration = 1;
	c = compared(&a, &b, 0);
#ifdef TLAT_WITH_JANSSON
	assert_string_equal(difference(c, "machine.kernel"), "6.13");
	assert_string_equal(difference(c, "machine.timer_migration"), "1");
	assert_null(difference(c, "machine.cmdline"));
#endif
	assert_string_equal(difference(c, "run.slack"), "50000ns");
	assert_string_equal(difference(c, "idle.C1"), "5.0% of time");
	assert_null(difference(c, "idle.C6"));
	assert_null(difference(c, "run.cpu_latency"));
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* Reports that do not know their CPUs are not of the same. */
static void what_neither_side_knows_is_not_called_equal(void **state)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	for (size_t i = 0; i < b.n; i++) {
		a.runs[i]->machine.facts.cpu_model[0] = '\0';
		b.runs[i]->machine.facts.cpu_model[0] = '\0';
		a.runs[i]->machine.facts.governor[0] = '\0';
		b.runs[i]->machine.facts.governor[0] = '\0';
	}
	c = compared(&a, &b, 0);
#ifdef TLAT_WITH_JANSSON
	assert_string_equal(difference(c, "machine.cpu_model"), "(not known)");
#endif
	assert_null(difference(c, "machine.governor"));
	assert_null(difference(c, "machine.kernel"));
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	const struct tlat_compare_opts wrong[] = {
		TLAT_COMPARE_OPTS(.alpha = 0.5),   TLAT_COMPARE_OPTS(.alpha = -1),
		TLAT_COMPARE_OPTS(.threshold = 2), TLAT_COMPARE_OPTS(.tail_ratio = 0.9),
		TLAT_COMPARE_OPTS(.power = 1),	   TLAT_COMPARE_OPTS(.flags = 1u << 9),
		TLAT_COMPARE_OPTS(.reserved = 1),  { .size = 0 },
	};
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	struct tlat_error error;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 3, 0);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(wrong); i++)
		assert_int_equal(tlat_compare(&c, a.runs, a.n, b.runs, b.n, &wrong[i], &error),
				 -EINVAL);
	assert_int_equal(tlat_compare(&c, a.runs, 0, b.runs, b.n, NULL, &error), -EINVAL);
	assert_int_equal(tlat_compare(&c, a.runs, a.n, b.runs, 0, NULL, &error), -EINVAL);
	/* A pair that nobody completed. */
	place(b.runs[0], 'B', 9, 0);
	assert_int_equal(tlat_compare(&c, a.runs, 1, b.runs, 1, NULL, &error), -EINVAL);
	assert_non_null(strstr(error.text, "no pair is complete"));
	free_side(&a);
	free_side(&b);
}

#ifdef TLAT_WITH_JANSSON
static void the_document_says_what_the_calls_say(void **state)
{
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	char *text;

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 3, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_format(&text, c), 0);
	assert_non_null(strstr(text, "\"schema\":\"timerlat-comparison/1\""));
	assert_non_null(strstr(text, "\"verdict\":\"INCONCLUSIVE\""));
	/* With three pairs there is no bound; it is null and not a number that looks like one. */
	assert_non_null(strstr(text, "\"interval\":[null,null]"));
	free(text);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

/* The names of quantities, reasons and differences, and all numbers beside them. */
static void a_document_is_the_same_in_every_locale(void **state)
{
	const struct setting worse = { 1.02, 0.002, "6.13", sleep_deeper };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	char *plain_text, *text;

	(void)state;
	comma_locale_enter();
	add_pairs(&a, &b, &plain, &worse, 9, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_format(&text, c), 0);
	comma_locale_leave();
	tlat_comparison_free(c);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_format(&plain_text, c), 0);
	assert_string_equal(plain_text, text);
	assert_non_null(strstr(text, "\"rate>"));
	free(plain_text);
	free(text);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}

static void the_runs_of_a_sum_are_there_once(void **state)
{
	struct side a = { 0 }, b = { 0 }, sums = { 0 };

	(void)state;
	add_pairs(&a, &b, &plain, &plain, 8, 0);
	assert_int_equal(tlat_report_merge(&sums.runs[0], a.runs, 3, NULL), 0);
	assert_int_equal(tlat_report_merge(&sums.runs[1], a.runs + 3, 3, NULL), 0);
	sums.n = 2;
	tlat_comparison_free(compared(&sums, &b, 0));
	place(a.runs[4], 'B', 8, 0);
	b.runs[b.n++] = a.runs[4];
	expect_error(&sums, &b, 0, "in report 2 of the base side and in report 9 of the new side");
	expect_error(&sums, &b, 0, a.runs[4]->id);
	b.n--;
	free_side(&sums);
	free_side(&a);
	free_side(&b);
}

/* Reports that went through a file have the same answer. */
static void reports_that_were_read_compare_as_those_that_were_made(void **state)
{
	const struct setting worse = { 1.02, 0.002, "6.12", NULL };
	struct side a = { 0 }, b = { 0 };
	struct tlat_comparison *c;
	char *before, *after;

	(void)state;
	add_pairs(&a, &b, &plain, &worse, 9, 0);
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_format(&before, c), 0);
	tlat_comparison_free(c);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < a.n; i++) {
			struct tlat_report **run = side ? &b.runs[i] : &a.runs[i];
			char *text = sample_text(*run);

			tlat_report_free(*run);
			*run = sample_read(text);
			free(text);
		}
	c = compared(&a, &b, 0);
	assert_int_equal(tlat_comparison_format(&after, c), 0);
	/* Repeat commands alone are of the whole there and of the result here. */
	assert_string_equal(strstr(before, "\"differences\""), strstr(after, "\"differences\""));
	free(before);
	free(after);
	tlat_comparison_free(c);
	free_side(&a);
	free_side(&b);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twenty_pairs_tell_a_shift_of_one_percent),
		cmocka_unit_test(too_few_pairs_say_how_many_it_takes),
		cmocka_unit_test(figures_of_an_item_are_those_of_its_runs),
		cmocka_unit_test(what_is_not_alike_is_refused_and_figures_are_forced),
		cmocka_unit_test(a_sum_over_cpus_is_named_without_one),
		cmocka_unit_test(a_run_that_failed_is_refused_and_named),
		cmocka_unit_test(a_failure_of_the_whole_run_counts_for_all_that_it_has),
		cmocka_unit_test(a_run_that_was_cut_short_is_compared_and_said_to_be),
		cmocka_unit_test(a_side_that_misses_or_loses_more_is_said_to),
		cmocka_unit_test(another_dwell_is_shown_where_slots_set_the_pace),
		cmocka_unit_test(sides_one_after_the_other_get_no_verdict),
		cmocka_unit_test(no_figure_is_worse_where_there_is_no_verdict),
		cmocka_unit_test(a_side_is_of_one_setting),
		cmocka_unit_test(runs_without_a_design_are_compared_unpaired),
		cmocka_unit_test(one_boot_a_side_is_indicative_and_says_why),
		cmocka_unit_test(boots_in_turn_are_pairs_where_the_design_says_so),
		cmocka_unit_test(across_boots_a_one_way_shift_below_the_offset_is_inconclusive),
		cmocka_unit_test(a_one_way_shift_of_either_sign_is_held_against_the_offset),
		cmocka_unit_test(a_tail_beyond_the_offset_is_worse_though_the_median_is_not),
		cmocka_unit_test(a_tail_within_the_offset_is_held_though_the_median_is_beyond),
		cmocka_unit_test(a_rate_is_as_sure_as_its_quantile),
		cmocka_unit_test(a_one_way_shift_without_an_offset_is_inconclusive),
		cmocka_unit_test(both_sides_of_a_session_are_not_one_side),
		cmocka_unit_test(a_run_that_is_there_twice_is_refused),
		cmocka_unit_test(runs_of_one_letter_are_no_pairs),
		cmocka_unit_test(looks_are_taken_where_they_were_planned),
		cmocka_unit_test(an_item_tells_the_alpha_of_its_intervals),
		cmocka_unit_test(pairs_are_told_apart_by_any_numbers),
		cmocka_unit_test(several_results_are_held_to_a_stricter_measure),
		cmocka_unit_test(metrics_do_not_hide_a_tail),
		cmocka_unit_test(what_so_few_pairs_cannot_show_of_a_tail_is_said),
		cmocka_unit_test(any_metric_can_be_compared),
		cmocka_unit_test(metrics_of_other_settings_are_refused_and_figures_are_forced),
		cmocka_unit_test(what_grows_with_time_is_compared_for_equal_times_only),
		cmocka_unit_test(the_largest_of_more_samples_is_no_regression),
		cmocka_unit_test(runs_are_of_one_length_if_all_of_them_are),
		cmocka_unit_test(a_count_of_a_program_is_compared),
		cmocka_unit_test(what_one_run_lacks_is_named),
		cmocka_unit_test(a_drift_is_seen_past_an_empty_block),
		cmocka_unit_test(maxima_of_the_same_time_are_compared),
		cmocka_unit_test(metrics_that_make_no_ratio_are_left_out_with_a_note),
		cmocka_unit_test(metrics_are_known_by_their_names_and_not_by_their_places),
		cmocka_unit_test(what_would_be_found_is_found_among_several_items),
		cmocka_unit_test(differences_of_the_surroundings_are_listed),
		cmocka_unit_test(what_neither_side_knows_is_not_called_equal),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
#ifdef TLAT_WITH_JANSSON
		cmocka_unit_test(kernels_that_differ_within_a_side_count_by_boot),
		cmocka_unit_test(a_document_is_the_same_in_every_locale),
		cmocka_unit_test(the_document_says_what_the_calls_say),
		cmocka_unit_test(the_runs_of_a_sum_are_there_once),
		cmocka_unit_test(reports_that_were_read_compare_as_those_that_were_made),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
