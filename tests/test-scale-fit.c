// SPDX-License-Identifier: MIT
/* test-scale-fit.c - exponents and their intervals, and the arithmetic of limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "compare_stats.h"
#include "scale.h"
#include "tree.h"

/* splitmix64 and the sum of twelve uniform numbers: close enough to normal. */
static double draw(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

		x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
		x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
		sum += (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
	}
	return sum;
}

static void exact_powers_are_recovered(void **state)
{
	const double x[] = { 1, 2, 5, 10, 100, 1000 };

	(void)state;
	for (double power = -1; power <= 2; power += 0.25) {
		struct tlat_fit fit;
		double y[6];

		for (size_t i = 0; i < 6; i++)
			y[i] = 7 * pow(x[i], power);
		assert_true(tlat_fit_power(x, y, 6, &fit));
		assert_true(fabs(fit.slope - power) < 1e-9);
		assert_true(fit.hi - fit.lo < 1e-6);
	}
}

static void t_quantiles_are_those_of_the_tables(void **state)
{
	(void)state;
	assert_true(fabs(tlat_student_quantile(0.025, 1) - 12.706205) < 1e-4);
	assert_true(fabs(tlat_student_quantile(0.025, 2) - 4.302653) < 1e-5);
	assert_true(fabs(tlat_student_quantile(0.025, 10) - 2.228139) < 1e-5);
	assert_true(fabs(tlat_student_quantile(0.025, 100) - 1.983972) < 1e-5);
}

/* Binomial(2000, 0.95) is outside 1860..1940 less than once in 100 000. */
static void the_interval_contains_the_truth_95_times_in_100(void **state)
{
	const double sizes[] = { 1000, 5000, 20000 };
	uint64_t seed = 7;
	int inside = 0;

	(void)state;
	for (int trial = 0; trial < 2000; trial++) {
		double x[15], y[15];
		struct tlat_fit fit;

		for (size_t i = 0; i < 15; i++) {
			x[i] = sizes[i / 5];
			y[i] = 3 * pow(x[i], 1.2) * exp(0.2 * draw(&seed));
		}
		assert_true(tlat_fit_power(x, y, 15, &fit));
		inside += fit.lo <= 1.2 && 1.2 <= fit.hi;
	}
	print_message("%d of 2000 inside\n", inside);
	assert_in_range(inside, 1860, 1940);
}

static void what_cannot_be_told_is_not(void **state)
{
	const double x[] = { 10, 10, 10 }, y[] = { 1, 2, 3 };
	struct tlat_fit fit;

	(void)state;
	assert_false(tlat_fit_power(x, y, 3, &fit));
	assert_false(tlat_fit_power(y, x, 2, &fit));
	assert_false(tlat_fit_power(x, y, 0, &fit));
}

/* == Limits == */

static void fill(struct tlat_scale *s, struct tlat_placement *place, int32_t workers)
{
	const int64_t sizes[] = { 1000, 5000, 20000 };

	*s = (struct tlat_scale){ .place = place, .n_sizes = 3, .result = tlat_result_new() };
	assert_non_null(s->result);
	memcpy(s->sizes, sizes, sizeof(sizes));
	place->n = workers;
}

static void sizes_keep_their_proportions_when_the_limit_is_lower(void **state)
{
	static struct tlat_placement place;
	const struct tlat_scale_budget budget = { 900, 1000, 100, INT64_MAX, false };
	struct tlat_error error;
	struct tlat_scale s;

	(void)state;
	fill(&s, &place, 1);
	assert_int_equal(tlat_scale_fit_limits(&s, &budget, &error), 0);
	assert_int_equal(s.n_sizes, 3);
	assert_int_equal(s.sizes[0], 45);
	assert_int_equal(s.sizes[1], 225);
	assert_int_equal(s.sizes[2], 900);
	assert_int_equal(s.result->findings.n, 1);
	assert_string_equal(s.result->findings.v[0].id, "signal-limit");
	tlat_result_free(s.result);

	fill(&s, &place, 63);
	assert_int_equal(tlat_scale_fit_limits(&s, &budget, &error), 0);
	assert_int_equal(s.sizes[s.n_sizes - 1], 900 / 63);
	tlat_result_free(s.result);

	fill(&s, &place, 901);
	assert_int_equal(tlat_scale_fit_limits(&s, &budget, &error), -EAGAIN);
	tlat_result_free(s.result);
}

static void memory_is_a_limit_too(void **state)
{
	static struct tlat_placement place;
	const struct tlat_scale_budget budget = { INT64_MAX, INT64_MAX, 0, 2 * 640 * 10000, false };
	struct tlat_error error;
	struct tlat_scale s;

	(void)state;
	fill(&s, &place, 2);
	assert_int_equal(tlat_scale_fit_limits(&s, &budget, &error), 0);
	assert_int_equal(s.sizes[s.n_sizes - 1], 5000);
	assert_string_equal(s.result->findings.v[0].id, "memory-limit");
	tlat_result_free(s.result);
}

static void enough_is_left_alone(void **state)
{
	static struct tlat_placement place;
	const struct tlat_scale_budget budget = { 40000, 50000, 10000, INT64_MAX, false };
	struct tlat_error error;
	struct tlat_scale s;

	(void)state;
	fill(&s, &place, 2);
	assert_int_equal(tlat_scale_fit_limits(&s, &budget, &error), 0);
	assert_int_equal(s.sizes[2], 20000);
	assert_int_equal(s.result->findings.n, 0);
	tlat_result_free(s.result);
}

static void this_process_has_a_budget(void **state)
{
	struct tlat_scale_budget budget;
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	tlat_scale_budget(root, &budget);
	assert_true(budget.signals >= 0 && budget.used >= 0);
	assert_true(budget.memory_bytes > 0);
	close(root);
}

static int64_t memory_in(const struct tree *tree, bool of_group)
{
	struct tlat_scale_budget budget;

	tlat_scale_budget(tree->fd, &budget);
	assert_int_equal(budget.memory_of_group, of_group);
	return budget.memory_bytes;
}

/* Any group up to the root may be the narrowest; cached files are no obstacle. */
static void a_group_may_have_less_memory_than_the_machine(void **state)
{
	const struct tree *tree = *state;

	put(tree, "proc/meminfo", "MemTotal: 4000 kB\nMemAvailable:    3000 kB\n");
	assert_int_equal(memory_in(tree, false), 3000 * 1024);
	put(tree, "proc/self/cgroup", "0::/a/b\n");
	put(tree, "sys/fs/cgroup/cgroup.controllers", "memory\n");
	put(tree, "sys/fs/cgroup/a/b/memory.max", "max\n");
	put(tree, "sys/fs/cgroup/a/b/memory.high", "max\n");
	put(tree, "sys/fs/cgroup/a/b/memory.current", "500000\n");
	assert_int_equal(memory_in(tree, false), 3000 * 1024);
	put(tree, "sys/fs/cgroup/a/memory.max", "1000000\n");
	assert_int_equal(memory_in(tree, true), 1000000);
	put(tree, "sys/fs/cgroup/a/memory.current", "900000\n");
	assert_int_equal(memory_in(tree, true), 100000);
	put(tree, "sys/fs/cgroup/a/memory.stat", "active_file 7\ninactive_file 300000\n");
	assert_int_equal(memory_in(tree, true), 400000);
	put(tree, "sys/fs/cgroup/a/b/memory.high", "600000\n");
	assert_int_equal(memory_in(tree, true), 100000);
	put(tree, "sys/fs/cgroup/a/b/memory.current", "700000\n");
	assert_int_equal(memory_in(tree, true), 0);
}

static void a_group_of_version_1_does_too(void **state)
{
	const struct tree *tree = *state;

	put(tree, "proc/meminfo", "MemAvailable: 3000 kB\n");
	put(tree, "proc/self/cgroup", "4:memory:/c\n0::/\n");
	put(tree, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put(tree, "sys/fs/cgroup/memory/memory.usage_in_bytes", "800000\n");
	assert_int_equal(memory_in(tree, false), 3000 * 1024);
	put(tree, "sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1000000\n");
	put(tree, "sys/fs/cgroup/memory/c/memory.usage_in_bytes", "700000\n");
	put(tree, "sys/fs/cgroup/memory/c/memory.stat",
	    "inactive_file 1\ntotal_inactive_file 50000\n");
	assert_int_equal(memory_in(tree, true), 350000);
}

static void a_group_without_memory_is_named(void **state)
{
	static struct tlat_placement place;
	const struct tlat_scale_budget budget = { INT64_MAX, INT64_MAX, 0, 640, true };
	struct tlat_error error;
	struct tlat_scale s;

	(void)state;
	fill(&s, &place, 1);
	assert_int_equal(tlat_scale_fit_limits(&s, &budget, &error), -EAGAIN);
	assert_non_null(
		strstr(error.text, "640 bytes of memory are available in the memory cgroup"));
	tlat_result_free(s.result);
}

/* == Words == */

static bool says(const struct tlat_findings *findings, const char *part)
{
	return findings->n && strstr(findings->v[findings->n - 1].text, part);
}

static void chains_caches_and_locks_are_kept_apart(void **state)
{
	const struct tlat_scale_hash old = { 512, false, false }, new = { 32768, true, true };
	const struct tlat_fit flat = { 1.0, 0.01, 0.98, 1.02 }, steep = { 2.0, 0.02, 1.95, 2.05 };
	const struct tlat_fit mild = { 1.25, 0.02, 1.21, 1.29 }, vague = { 1.2, 0.3, 0.5, 1.9 };
	struct tlat_findings f = { 0 };

	(void)state;
	tlat_scale_judge_timers(&f, "create", &flat, &old, 100000, NAN, false);
	assert_true(says(&f, "constant per timer"));
	tlat_scale_judge_timers(&f, "create", &steep, &old, 100000, NAN, false);
	assert_true(says(&f, "as a walk along chains does"));
	assert_true(says(&f, "2e+02 timers in each of 512 buckets, one lock"));
	tlat_scale_judge_timers(&f, "create", &mild, &new, 20000, 3.5, false);
	assert_true(says(&f, "by caches"));
	assert_true(says(&f, "3.50 times what it costs one alone: locks"));
	tlat_scale_judge_timers(&f, "create", &vague, &new, 20000, 1.0, false);
	assert_true(says(&f, "not decided"));
	assert_false(says(&f, "locks, or"));
	tlat_scale_judge_timers(&f, "create", &steep, &old, 100000, NAN, true);
	assert_true(says(&f, "not judged"));
	tlat_findings_free(&f);
}

static void a_law_is_stated_where_the_interval_has_one_only(void **state)
{
	const struct {
		struct tlat_fit fit;
		const char *words;
	} cases[] = {
		{ { 0.0, 0.02, -0.05, 0.05 }, ", constant" },
		{ { 1.0, 0.02, 0.95, 1.05 }, ", grows with their number" },
		{ { 0.5, 0.02, 0.45, 0.55 }, ", grows more slowly than their number" },
		{ { 1.4, 0.02, 1.35, 1.45 }, ", grows faster than their number" },
		{ { -0.3, 0.02, -0.35, -0.25 }, ", shrinks as their number grows" },
		{ { 1.2, 0.03, 1.15, 1.28 }, ", not decided" },
		{ { 1.0, 0.07, 0.85, 1.15 }, ", not decided" },
		{ { 1.1, 0.5, 0.1, 2.1 }, ", not decided" },
		{ { 0.1, 0.1, -0.1, 0.3 }, ", not decided" },
	};
	struct tlat_findings f = { 0 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		tlat_scale_judge(&f, "median wake", "pairs", &cases[i].fit);
		assert_true(says(&f, cases[i].words));
	}
	tlat_findings_free(&f);
}

#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_powers_are_recovered),
		cmocka_unit_test(t_quantiles_are_those_of_the_tables),
		cmocka_unit_test(the_interval_contains_the_truth_95_times_in_100),
		cmocka_unit_test(what_cannot_be_told_is_not),
		cmocka_unit_test(sizes_keep_their_proportions_when_the_limit_is_lower),
		cmocka_unit_test(memory_is_a_limit_too),
		cmocka_unit_test(enough_is_left_alone),
		cmocka_unit_test(this_process_has_a_budget),
		REPLAYED(a_group_may_have_less_memory_than_the_machine),
		REPLAYED(a_group_of_version_1_does_too),
		cmocka_unit_test(a_group_without_memory_is_named),
		cmocka_unit_test(chains_caches_and_locks_are_kept_apart),
		cmocka_unit_test(a_law_is_stated_where_the_interval_has_one_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
