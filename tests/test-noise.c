// SPDX-License-Identifier: MIT
/*
 * test-noise.c - gaps of a spinning thread: what is made of counts, and what is seen of a thread
 * that gets in the way, of throttling and of a stop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "finding.h"
#include "noise.h"
#include "tree.h"

#define MS 1000000LL

/* == Causes == */

static struct tlat_noise_throttle real_time(void)
{
	return (struct tlat_noise_throttle){
		.budget = { .runtime_ns = 950 * MS, .period_ns = 1000 * MS, .tick_ns = 4 * MS },
		.real_time = true,
	};
}

static struct tlat_noise_gap gap(int64_t length_ns)
{
	return (struct tlat_noise_gap){ .length_ns = length_ns };
}

static void interrupts_explain_as_many_gaps_as_there_were(void **state)
{
	struct tlat_noise_gap gaps[] = { gap(2000), gap(3000), gap(50 * MS), gap(2000) };
	const struct tlat_noise_counted counted = { .interrupts = 2 };
	uint64_t spare = 0;

	(void)state;
	tlat_noise_judge(&spare, gaps, 4, &counted);
	assert_int_equal(gaps[0].cause, TLAT_NOISE_INTERRUPTS);
	assert_int_equal(gaps[1].cause, TLAT_NOISE_INTERRUPTS);
	assert_int_equal(gaps[2].cause, TLAT_NOISE_UNKNOWN);
	assert_int_equal(gaps[3].cause, TLAT_NOISE_UNKNOWN);
}

static void no_interrupt_takes_50_ms(void **state)
{
	struct tlat_noise_gap gaps[] = { gap(50 * MS) };
	const struct tlat_noise_counted counted = { .interrupts = 1000 };
	uint64_t spare = 0;

	(void)state;
	tlat_noise_judge(&spare, gaps, 1, &counted);
	assert_int_equal(gaps[0].cause, TLAT_NOISE_UNKNOWN);
}

static void stolen_time_goes_to_the_longest_gaps(void **state)
{
	struct tlat_noise_gap gaps[] = { gap(2000), gap(8 * MS), gap(3 * MS), gap(4000) };
	const struct tlat_noise_counted counted = { .interrupts = 2, .steal_ns = 10 * MS };
	uint64_t spare = 0;

	(void)state;
	tlat_noise_judge(&spare, gaps, 4, &counted);
	assert_int_equal(gaps[1].cause, TLAT_NOISE_STEAL);
	assert_int_equal(gaps[2].cause, TLAT_NOISE_STEAL);
	assert_int_equal(gaps[0].cause, TLAT_NOISE_INTERRUPTS);
	assert_int_equal(gaps[3].cause, TLAT_NOISE_INTERRUPTS);
}

/* What was counted just before its gap was logged is not lost, but does not pile up either. */
static void a_few_interrupts_are_kept_for_the_next_look(void **state)
{
	struct tlat_noise_gap gaps[] = { gap(2000), gap(2000), gap(2000) };
	const struct tlat_noise_counted many = { .interrupts = 50 }, none = { 0 };
	uint64_t spare = 0;

	(void)state;
	tlat_noise_judge(&spare, NULL, 0, &many);
	tlat_noise_judge(&spare, gaps, 3, &none);
	assert_int_equal(gaps[0].cause, TLAT_NOISE_INTERRUPTS);
	assert_int_equal(gaps[1].cause, TLAT_NOISE_INTERRUPTS);
	assert_int_equal(gaps[2].cause, TLAT_NOISE_UNKNOWN);
}

static void nothing_is_unknown_where_interrupts_were_not_read(void **state)
{
	struct tlat_noise_gap gaps[] = { gap(2000), gap(20 * MS), gap(3000) };
	const struct tlat_noise_counted counted = { .steal_ns = 10 * MS, .partial = true };
	uint64_t spare = 1;

	(void)state;
	tlat_noise_judge(&spare, gaps, 3, &counted);
	assert_int_equal(gaps[0].cause, TLAT_NOISE_INTERRUPTS);
	assert_int_equal(gaps[1].cause, TLAT_NOISE_STEAL);
	assert_int_equal(gaps[2].cause, TLAT_NOISE_UNJUDGED);
}

static void what_was_counted_is_shared_with_gaps_that_are_not_judged(void **state)
{
	const struct tlat_noise_counted counted = { .interrupts = 1000, .steal_ns = 600 * MS };
	const struct tlat_noise_total judged = { 100, 10 * MS, MS }, none = { 0 },
				      others = { 400, 50 * MS, MS };
	struct tlat_noise_counted part = tlat_noise_part(&counted, &judged, &others);

	(void)state;
	assert_int_equal(part.interrupts, 200);
	assert_int_equal(part.steal_ns, 100 * MS);
	part = tlat_noise_part(&counted, &none, &none);
	assert_int_equal(part.interrupts, 1000);
	assert_int_equal(part.steal_ns, 600 * MS);
}

static void throttling_comes_after_the_runtime_and_fills_the_period(void **state)
{
	static const struct {
		int64_t at_ms, length_ms;
	} gaps[] = {
		{ 10, 50 },   /* it has not run enough yet */
		{ 950, 49 },  /* the first hole */
		{ 1100, 50 }, /* too soon after it */
		{ 1950, 50 }, /* the second */
		{ 2900, 20 }, /* too short */
		{ 2950, 90 }, /* too long */
	};
	struct tlat_noise_throttle throttle = real_time();

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(gaps); i++)
		assert_int_equal(tlat_noise_judge_switched(&throttle, gaps[i].at_ms * MS,
							   gaps[i].length_ms * MS),
				 i == 1 || i == 3 ? TLAT_NOISE_THROTTLING : TLAT_NOISE_SWITCHES);
}

/* From Linux 6.12 on it is another thread that got the CPU, and had to starve for it. */
static void the_fair_server_does_not_throttle(void **state)
{
	struct tlat_noise_throttle throttle = real_time();

	(void)state;
	throttle.budget.fair_server = true;
	for (int64_t at_ms = 950; at_ms < 3950; at_ms += 1000)
		assert_int_equal(tlat_noise_judge_switched(&throttle, at_ms * MS, 50 * MS),
				 TLAT_NOISE_SWITCHES);
	assert_int_equal(tlat_noise_judge_switched(&throttle, 3100 * MS, 50 * MS),
			 TLAT_NOISE_SWITCHES);
	assert_int_equal(throttle.served.count, 3);
	assert_int_equal(throttle.served.max_ns, 50 * MS);
}

static void nothing_throttles_what_has_no_limit(void **state)
{
	struct tlat_noise_throttle throttles[] = { real_time(), real_time(), real_time() };

	(void)state;
	throttles[0].real_time = false;
	throttles[1].budget.runtime_ns = -1;
	throttles[2].budget.runtime_ns = throttles[2].budget.period_ns;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(tlat_noise_judge_switched(&throttles[i], 950 * MS, 50 * MS),
				 TLAT_NOISE_SWITCHES);
}

/* Random gaps against what must hold of any: each has one cause, and none is explained twice. */
static void causes_never_explain_more_than_was_counted(void **state)
{
	(void)state;
	srand(11);
	for (int round = 0; round < 500; round++) {
		struct tlat_noise_gap gaps[40];
		struct tlat_noise_counted counted = { .interrupts = (uint64_t)(rand() % 30),
						      .steal_ns = rand() % 3 * 10 * MS };
		uint64_t by_cause[TLAT_NOISE_CAUSES] = { 0 }, spare = 0;
		int64_t stolen = 0, shortest = INT64_MAX;
		size_t n = (size_t)(rand() % 40);

		for (size_t i = 0; i < n; i++)
			gaps[i] = gap(1000 + rand() % (8 * MS));
		tlat_noise_judge(&spare, gaps, n, &counted);
		for (size_t i = 0; i < n; i++) {
			assert_in_range(gaps[i].cause, 0, TLAT_NOISE_CAUSES - 1);
			by_cause[gaps[i].cause]++;
			if (gaps[i].cause != TLAT_NOISE_STEAL)
				continue;
			stolen += gaps[i].length_ns;
			shortest = gaps[i].length_ns < shortest ? gaps[i].length_ns : shortest;
		}
		assert_int_equal(by_cause[TLAT_NOISE_SWITCHES] + by_cause[TLAT_NOISE_THROTTLING] +
					 by_cause[TLAT_NOISE_UNJUDGED],
				 0);
		assert_true(by_cause[TLAT_NOISE_INTERRUPTS] <= counted.interrupts);
		assert_true(!stolen || stolen - shortest < counted.steal_ns);
	}
}

/* == What the kernel counts == */

#define INTERRUPTS_OF_BOTH                                                                         \
	"           CPU0       CPU1\n"                                                             \
	" LOC:       1000       7000   Local timer interrupts\n"                                   \
	" RES:          1          5   Rescheduling interrupts\n"                                  \
	" ERR:         99\n"
#define STEAL_OF_BOTH "cpu0 1 0 1 1 0 0 0 3 0 0\ncpu1 1 0 1 1 0 0 0 500 0 0\n"

static struct tlat_noise_counted counted_now(const struct tree *tree, struct tlat_noise_thread *t)
{
	struct tlat_noise_reading before = t->counted;

	tlat_noise_count(t, 1, tree->fd);
	return tlat_noise_between(&before, &t->counted);
}

static int64_t ticks_ns(int64_t ticks)
{
	return ticks * (TLAT_NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
}

/* Since boot is not since the last look. */
static void the_first_reading_counts_nothing(void **state)
{
	struct tlat_noise_thread t = { .cpu = 1 };
	struct tlat_noise_counted counted;

	put(*state, "proc/interrupts", INTERRUPTS_OF_BOTH);
	put(*state, "proc/stat", STEAL_OF_BOTH);
	counted = counted_now(*state, &t);
	assert_int_equal(t.counted.interrupts, 7005);
	assert_int_equal(t.counted.steal_ns, ticks_ns(500));
	assert_int_equal(counted.interrupts, 0);
	assert_int_equal(counted.steal_ns, 0);
	assert_true(counted.partial);
}

static void a_cpu_that_comes_back_has_what_was_counted_since_it_went(void **state)
{
	struct tlat_noise_thread t = { .cpu = 1 };
	struct tlat_noise_counted counted;

	put(*state, "proc/interrupts", INTERRUPTS_OF_BOTH);
	put(*state, "proc/stat", STEAL_OF_BOTH);
	counted_now(*state, &t);
	put(*state, "proc/interrupts", "  CPU0\n LOC: 1100 Local timer interrupts\n");
	put(*state, "proc/stat", "cpu0 1 0 1 1 0 0 0 3 0 0\n");
	counted = counted_now(*state, &t);
	assert_int_equal(counted.interrupts, 0);
	assert_int_equal(counted.steal_ns, 0);
	assert_true(counted.partial);
	put(*state, "proc/interrupts", "  CPU0 CPU1\n LOC: 1200 7105 Local timer interrupts\n");
	put(*state, "proc/stat", "cpu1 1 0 1 1 0 0 0 502 0 0\n");
	counted = counted_now(*state, &t);
	assert_int_equal(counted.interrupts, 100);
	assert_int_equal(counted.steal_ns, ticks_ns(2));
	assert_false(counted.partial);
}

static void a_count_that_cannot_be_read_is_no_count(void **state)
{
	struct tlat_noise_thread t = { .cpu = 1 };
	struct tlat_noise_counted counted;

	put(*state, "proc/interrupts", INTERRUPTS_OF_BOTH);
	counted_now(*state, &t);
	put(*state, "proc/interrupts", " CPU0 CPU1\n LOC: 1000 6000 Local timer interrupts\n");
	counted = counted_now(*state, &t); /* one has wrapped */
	assert_int_equal(counted.interrupts, 0);
	assert_true(counted.partial);
	assert_int_equal(unlinkat(((struct tree *)*state)->fd, "proc/interrupts", 0), 0);
	counted = counted_now(*state, &t);
	assert_int_equal(counted.interrupts, 0);
	assert_true(counted.partial);
}

/* == Real ones == */

static struct tlat_machine *machine;
static struct tlat_clock *clock_used;
static int32_t cpu;
static char cpu_text[16];

static int open_all(void **state)
{
	int32_t cpus[2];
	int n;

	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) < 0 ||
	    tlat_clock_open(&clock_used, machine, TLAT_CLOCK_AUTO, NULL) < 0)
		return -1;
	n = tlat_machine_cpus(machine, "all", cpus, 2, NULL);
	cpu = cpus[n >= 2];
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	tlat_clock_close(clock_used);
	tlat_machine_close(machine);
	return 0;
}

/* In containers the file may be hidden, and then no gap can be called unknown. */
static bool interrupts_are_counted(void)
{
	struct tlat_noise_thread t = { .cpu = cpu };

	tlat_noise_count(&t, 1, tlat_machine_root_fd(machine));
	return t.counted.has_interrupts;
}

/* NAN: there is none. */
static double metric_if_any(const struct tlat_result *result, const char *name)
{
	struct tlat_metric m = { .size = sizeof(m) };

	for (size_t i = 0; tlat_result_metric(result, i, &m) == 0; i++)
		if (!strcmp(m.name, name))
			return m.value;
	return NAN;
}

static double metric(const struct tlat_result *result, const char *name)
{
	double value = metric_if_any(result, name);

	if (isnan(value))
		fail_msg("no metric %s", name);
	return value;
}

static struct tlat_noise_opts base(int64_t duration_ns, int32_t policy, int32_t priority)
{
	return TLAT_NOISE_OPTS(.cpus = cpu_text, .machine = machine, .clock = clock_used,
			       .duration_ns = duration_ns, .policy = policy, .priority = priority);
}

static struct tlat_report *measured(const struct tlat_noise_opts *opts)
{
	struct tlat_report *report;
	struct tlat_error error;

	if (tlat_noise(&report, opts, &error) < 0)
		fail_msg("%s", error.text);
	return report;
}

/* The causes are a partition of the gaps, and the histogram has each. */
static void assert_adds_up(const struct tlat_result *result)
{
	static const char *const kinds[] = { "count", "share" };
	const struct tlat_hist *hist = tlat_result_hist(result);

	for (size_t k = 0; k < TLAT_ARRAY_SIZE(kinds); k++) {
		char name[64];
		double sum = 0, all;

		for (size_t i = 0; i < TLAT_NOISE_CAUSES; i++) {
			snprintf(name, sizeof(name), "gap.%s.%s", tlat_noise_cause_names[i],
				 kinds[k]);
			sum += metric(result, name);
		}
		snprintf(name, sizeof(name), "gap.%s", kinds[k]);
		all = metric(result, name);
		assert_true(fabs(sum - all) <= 1e-9 * (1 + all));
		assert_true(k == 0 || all <= 1.001);
	}
	assert_int_equal(tlat_hist_count(hist), (uint64_t)metric(result, "gap.count"));
	if (tlat_hist_count(hist))
		assert_true((double)tlat_hist_min(hist) * 1e9 / (double)tlat_hist_hz(hist) >= 1000);
}

/* Of no gaps there is no longest. */
static void assert_maxima_exist_with_gaps(const struct tlat_result *result)
{
	for (size_t i = 0; i < TLAT_NOISE_CAUSES; i++) {
		char count[64], max[64];

		snprintf(count, sizeof(count), "gap.%s.count", tlat_noise_cause_names[i]);
		snprintf(max, sizeof(max), "gap.%s.max_ns", tlat_noise_cause_names[i]);
		assert_true((metric(result, count) > 0) == (metric_if_any(result, max) > 0));
	}
}

static void gaps_add_up_under_any_policy(void **state)
{
	const struct {
		int32_t policy, priority;
	} policies[] = { { 0, 0 }, { TLAT_SCHED_OTHER, 0 }, { TLAT_SCHED_FIFO, 40 } };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(policies); i++) {
		struct tlat_noise_opts opts =
			base(200 * MS, policies[i].policy, policies[i].priority);
		struct tlat_report *report = measured(&opts);
		const struct tlat_result *result = tlat_report_result(report, 0);

		assert_string_equal(tlat_result_kind(result), "noise");
		assert_string_equal(tlat_report_end(report), "time");
		assert_adds_up(result);
		assert_maxima_exist_with_gaps(result);
		assert_true(metric(result, "watched_s") >= 0.199);
		assert_null(tlat_report_result(report, 1));
		tlat_report_free(report);
	}
}

/* Steps of 10 us, and a jump of 50 us at each hundredth reading that the kernel knows nothing of.
 */
static uint64_t coarse_time(void *data, enum tlat_stamp_edge edge)
{
	static atomic_ullong reads;

	(void)data;
	(void)edge;
	return tlat_gettime_ns(CLOCK_MONOTONIC) / 10000 + atomic_fetch_add(&reads, 1) / 100 * 5;
}

static void a_threshold_that_the_clock_cannot_tell_is_raised(void **state)
{
	struct tlat_noise_opts opts = base(100 * MS, TLAT_SCHED_OTHER, 0);
	struct tlat_clock *coarse;
	struct tlat_finding finding;
	struct tlat_report *report;
	const struct tlat_result *result;

	(void)state;
	assert_int_equal(tlat_clock_open_script(&coarse, coarse_time, NULL, 100000), 0);
	opts.clock = coarse;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	assert_true(metric(result, "threshold_ns") == 20000);
	assert_true(metric_if_any(result, "gap.max_ns") > 20000);
	assert_true(get_finding(result, "clock-slow", &finding));
	assert_int_equal(finding.severity, TLAT_WARN);
	assert_non_null(strstr(finding.text, "from 20 us on, not from 1 us"));
	/* Who would know whether it was firmware. */
	if (interrupts_are_counted()) {
		assert_true(get_finding(result, "noise-unknown", &finding));
		assert_null(strstr(finding.text, "firmware"));
	}
	tlat_report_free(report);
	opts.threshold_ns = 20000;
	report = measured(&opts);
	assert_false(has_finding(tlat_report_result(report, 0), "clock-slow"));
	tlat_report_free(report);
	tlat_clock_close(coarse);
}

/* 100 ns a reading, and 50 us at so many of them, every thousandth. */
struct sparse {
	atomic_ullong reads, ns;
	uint64_t gaps;
};

static uint64_t sparse_time(void *data, enum tlat_stamp_edge edge)
{
	struct sparse *sparse = data;
	uint64_t reads = atomic_fetch_add(&sparse->reads, 1) + 1;
	bool is_gap = reads % 1000 == 0 && reads / 1000 <= sparse->gaps;

	(void)edge;
	return atomic_fetch_add(&sparse->ns, is_gap ? 50000 : 100);
}

static void lengths_have_quantiles_only_where_there_are_enough(void **state)
{
	static const uint64_t gaps[] = { 5, 300, 3000 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(gaps); i++) {
		struct tlat_noise_opts opts = base(500 * MS, TLAT_SCHED_OTHER, 0);
		struct sparse sparse = { .gaps = gaps[i] };
		struct tlat_clock *clock;
		struct tlat_report *report;
		const struct tlat_result *result;

		assert_int_equal(
			tlat_clock_open_script(&clock, sparse_time, &sparse, TLAT_NSEC_PER_SEC), 0);
		opts.clock = clock;
		report = measured(&opts);
		result = tlat_report_result(report, 0);
		assert_true(metric(result, "gap.count") > (double)gaps[i] / 2);
		assert_true(metric(result, "gap.count") <= (double)gaps[i]);
		assert_int_equal(isnan(metric_if_any(result, "gap.p50_ns")), i == 0);
		assert_int_equal(isnan(metric_if_any(result, "gap.p99_ns")), i <= 1);
		tlat_report_free(report);
		tlat_clock_close(clock);
	}
}

/* 100 ns a reading; after half of those of a run it begins anew. */
static uint64_t reset_time(void *data, enum tlat_stamp_edge edge)
{
	uint64_t reads = atomic_fetch_add((atomic_ullong *)data, 1);

	(void)edge;
	return (reads < 100000 ? 1000000000 + reads : reads - 99990) * 100;
}

static void a_counter_that_is_reset_is_no_gap(void **state)
{
	struct tlat_noise_opts opts = base(20 * MS, TLAT_SCHED_OTHER, 0);
	atomic_ullong reads = 0;
	struct tlat_clock *clock;
	struct tlat_report *report;
	const struct tlat_result *result;

	(void)state;
	assert_int_equal(tlat_clock_open_script(&clock, reset_time, &reads, TLAT_NSEC_PER_SEC), 0);
	opts.clock = clock;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	assert_true(reads > 150000);
	assert_int_equal((int)metric(result, "gap.count"), 0);
	assert_true(metric(result, "watched_s") > 0.0199);
	assert_true(metric(result, "watched_s") < 0.021);
	tlat_report_free(report);
	tlat_clock_close(clock);
}

static void every_cpu_has_a_result_of_its_own(void **state)
{
	struct tlat_noise_opts opts = base(100 * MS, TLAT_SCHED_OTHER, 0);
	struct tlat_report *report;
	int32_t cpus[8];
	int n = tlat_machine_cpus(machine, "all", cpus, 8, NULL);

	(void)state;
	if (n < 2 || n > 8)
		skip();
	opts.cpus = "all";
	report = measured(&opts);
	for (int i = 0; i < n; i++) {
		assert_non_null(tlat_report_result(report, (size_t)i));
		assert_int_equal(tlat_report_result(report, (size_t)i)->wait.cpu, cpus[i]);
		assert_adds_up(tlat_report_result(report, (size_t)i));
	}
	tlat_report_free(report);
}

#define SHORT_READS 20000

/* Each reading is late: first by 10 us, then, when the log is long full, by a millisecond; and the
 * thread then sleeps at each hundredth. Of each thread by itself. */
static uint64_t late_time(void *data, enum tlat_stamp_edge edge)
{
	static _Thread_local uint64_t reads;
	const struct timespec nap = { .tv_nsec = 100000 };

	(void)data;
	(void)edge;
	reads++;
	if (reads > SHORT_READS && reads % 100 == 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	return reads <= SHORT_READS ? reads * 10 : SHORT_READS * 10 + (reads - SHORT_READS) * 1000;
}

static void assert_full_log_blames_nobody(const struct tlat_result *result)
{
	struct tlat_finding finding;

	assert_adds_up(result);
	assert_true(metric(result, "gap.unjudged.count") > 5000);
	assert_true(metric(result, "gap.unjudged.max_ns") > 900000);
	assert_true(metric(result, "gap.unknown.count") <= TLAT_NOISE_LOG);
	assert_true(metric(result, "gap.unknown.max_ns") < 100000);
	assert_true(get_finding(result, "noise-unknown", &finding));
	assert_non_null(strstr(finding.text, "the longest of 10.0 us"));
	assert_true(has_finding(result, "noise-dropped"));
	/* What the thread knows by itself needs no room: each sleep is a switch. */
	assert_true(metric(result, "gap.switches.count") >= 80);
}

/* Where a CPU is left a controller takes the gaps away all the time. */
static void a_full_log_makes_no_gap_unknown(void **state)
{
	struct tlat_noise_opts opts = base(10000 * MS, TLAT_SCHED_OTHER, 0);
	size_t online = tlat_cpuset_count(tlat_machine_online(machine));
	struct tlat_clock *late;
	struct tlat_report *report;
	int32_t cpus[64];

	(void)state;
	if (tlat_machine_cpus(machine, "all", cpus, 64, NULL) != (int)online ||
	    !interrupts_are_counted())
		skip();
	assert_int_equal(tlat_clock_open_script(&late, late_time, NULL, 1000000), 0);
	opts.clock = late;
	opts.cpus = "all";
	report = measured(&opts);
	for (size_t i = 0; i < online; i++)
		assert_full_log_blames_nobody(tlat_report_result(report, i));
	tlat_report_free(report);
	tlat_clock_close(late);
}

/* == A thread that gets in the way == */

#define PREEMPT_NS    (5 * MS)
#define PREEMPT_EVERY (100 * MS)

static atomic_int preempter_ends;

/* Real-time and above the spinning thread, for 5 ms of every 100. */
static void *preempt(void *arg)
{
	struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.cpus = cpu_text, .policy = TLAT_SCHED_FIFO, .priority = 50);
	uint64_t *times = arg;
	struct tlat_rt *rt;

	if (tlat_rt_apply(&rt, &opts, NULL) < 0)
		return NULL;
	while (!atomic_load(&preempter_ends)) {
		struct timespec pause = tlat_timespec_of_ns(PREEMPT_EVERY - PREEMPT_NS);
		uint64_t since;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		since = tlat_gettime_ns(CLOCK_MONOTONIC);
		while (tlat_gettime_ns(CLOCK_MONOTONIC) - since < PREEMPT_NS)
			;
		++*times;
	}
	tlat_rt_undo(rt);
	return NULL;
}

static void a_preempter_of_5_ms_is_found_and_called_a_switch(void **state)
{
	struct tlat_noise_opts opts = base(800 * MS, TLAT_SCHED_FIFO, 40);
	struct tlat_report *report;
	const struct tlat_result *result;
	uint64_t times = 0;
	pthread_t thread;

	(void)state;
	atomic_store(&preempter_ends, 0);
	assert_int_equal(pthread_create(&thread, NULL, preempt, &times), 0);
	report = measured(&opts);
	atomic_store(&preempter_ends, 1);
	pthread_join(thread, NULL);
	result = tlat_report_result(report, 0);
	if (!times || has_finding(result, "policy-refused")) {
		tlat_report_free(report);
		skip();
	}
	printf("%llu preemptions; switches: %.0f, up to %.2f ms, %.2f %% of the time\n",
	       (unsigned long long)times, metric(result, "gap.switches.count"),
	       metric_if_any(result, "gap.switches.max_ns") / 1e6,
	       100 * metric(result, "gap.switches.share"));
	/* All but those at the edges, and those that met a throttled CPU. */
	assert_true(metric(result, "gap.switches.count") >= 4);
	assert_true(metric(result, "gap.switches.max_ns") >= 0.99 * PREEMPT_NS);
	assert_true(metric(result, "gap.switches.share") >= 4 * 0.99 * PREEMPT_NS / (800.0 * MS));
	assert_true(has_finding(result, "noise-switches"));
	assert_adds_up(result);
	tlat_report_free(report);
}

/* Whether it was seen and named; -1: real-time is not granted; *due: unless the hypervisor and
 * others had so much of the CPU that what was left did not reach the limit. */
static int throttling_seen(const struct tlat_noise_opts *opts, double hole_ns, bool *due)
{
	struct tlat_report *report = measured(opts);
	const struct tlat_result *result = tlat_report_result(report, 0);
	bool refused = has_finding(result, "policy-refused");
	double count = metric(result, "gap.throttling.count");

	*due |= metric(result, "gap.share") < 0.8 * hole_ns / 1e9 ||
		metric_if_any(result, "gap.max_ns") >= hole_ns / 2;
	printf("throttling: %.0f, up to %.2f ms; switches: up to %.2f ms; unknown: up to %.2f ms\n",
	       count, metric_if_any(result, "gap.throttling.max_ns") / 1e6,
	       metric_if_any(result, "gap.switches.max_ns") / 1e6,
	       metric_if_any(result, "gap.unknown.max_ns") / 1e6);
	assert_adds_up(result);
	assert_int_equal(has_finding(result, "rt-throttled"), count > 0);
	if (count > 0)
		assert_true(metric(result, "gap.throttling.max_ns") >= hole_ns / 2);
	tlat_report_free(report);
	return refused ? -1 : count > 0;
}

/* Another real-time thread on the CPU uses up the time, or prolongs the hole: then again. */
static void throttling_is_called_by_its_name(void **state)
{
	const struct tlat_machine_facts *facts = tlat_machine_facts(machine);
	struct tlat_noise_opts opts = base(2300 * MS, TLAT_SCHED_FIFO, 40);
	double hole_ns = (double)(facts->rt_period_us - facts->rt_runtime_us) * 1e3;
	bool due = false;
	int seen = 0;

	(void)state;
	/* Without group scheduling newer kernels let the fair server in only where it is needed. */
	if (facts->rt_group_sched != 1 || facts->rt_runtime_us != 950000 ||
	    facts->rt_period_us != 1000000)
		skip();
	for (int attempt = 0; attempt < 6 && !seen; attempt++)
		seen = throttling_seen(&opts, hole_ns, &due);
	if (seen < 0 || (!seen && !due))
		skip();
	assert_int_equal(seen, 1);
}

/* == A limit that kills who spins == */

struct limited {
	struct rlimit limit; /* us */
	int64_t spin_ns;
};

/* What it spun under, and why. */
static void spin_limited(struct words *words, const void *arg)
{
	const struct limited *l = arg;
	struct tlat_noise_opts opts = base(l->spin_ns, TLAT_SCHED_FIFO, 40);
	struct tlat_finding finding;
	struct tlat_report *report;
	const struct tlat_result *result;

	if (setrlimit(RLIMIT_RTTIME, &l->limit) || tlat_noise(&report, &opts, NULL) < 0)
		return;
	result = tlat_report_result(report, 0);
	say(words, "%s\n", tlat_policy_name(result->wait.policy));
	if (get_finding(result, "policy-refused", &finding))
		say(words, "%s\n", finding.text);
	tlat_report_free(report);
}

static void who_would_be_killed_for_spinning_is_not_real_time(void **state)
{
	const struct limited hard = { { 200000, 200000 }, 600 * MS };
	const char *text = in_child(spin_limited, &hard);

	(void)state;
	assert_says(text, "other\nSCHED_FIFO 40 refused: it would spin for 0.6 s, and "
			  "RLIMIT_RTTIME (hard limit 200000 us) ends");
	assert_says(text, "prlimit --pid $$ --rttime=unlimited");
}

static void a_soft_limit_says_how_to_raise_it(void **state)
{
	const struct limited soft = { { 200000, 60000000 }, 600 * MS };
	const char *text = in_child(spin_limited, &soft);

	(void)state;
	assert_says(text, "other\n");
	assert_says(text, "RLIMIT_RTTIME (200000 us)");
	assert_says(text, "prlimit --rttime=620000:");
}

static void a_limit_that_is_long_enough_refuses_nothing(void **state)
{
	const struct limited long_enough = { { 5000000, 5000000 }, 100 * MS };

	(void)state;
	assert_null(strstr(in_child(spin_limited, &long_enough), "RLIMIT_RTTIME"));
}

/* == The caller's policy == */

static void spin_as_child_of_fifo(struct words *words, const void *arg)
{
	const struct tlat_rt_opts fifo = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 7);
	struct tlat_noise_opts opts = base(100 * MS, TLAT_SCHED_INHERIT, 0);
	const struct tlat_result *result;
	struct tlat_report *report;
	struct tlat_rt *rt;

	(void)arg;
	if (tlat_rt_apply(&rt, &fifo, NULL) < 0) {
		say(words, "refused\n");
		return;
	}
	if (tlat_noise(&report, &opts, NULL) < 0)
		return;
	result = tlat_report_result(report, 0);
	say(words, "%s %d\n", tlat_policy_name(result->wait.policy), result->wait.priority);
	tlat_report_free(report);
	tlat_rt_undo(rt);
}

static void the_policy_of_the_caller_is_inherited(void **state)
{
	const char *text = in_child(spin_as_child_of_fifo, NULL);

	(void)state;
	if (!strcmp(text, "refused\n"))
		skip();
	assert_string_equal(text, "fifo 7\n");
}

/* == Ends and refusals == */

static volatile int32_t stop;

static void *stop_soon(void *arg)
{
	const struct timespec *pause = arg;

	clock_nanosleep(CLOCK_MONOTONIC, 0, pause, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Seconds that were watched until a stop so long after the beginning. */
static double watched_until_stop(int64_t after_ns)
{
	struct tlat_noise_opts opts = base(3600000 * MS, TLAT_SCHED_OTHER, 0);
	struct timespec pause = tlat_timespec_of_ns(after_ns);
	struct tlat_report *report;
	pthread_t thread;
	double watched_s;

	stop = 0;
	opts.stop = &stop;
	assert_int_equal(pthread_create(&thread, NULL, stop_soon, &pause), 0);
	report = measured(&opts);
	pthread_join(thread, NULL);
	assert_string_equal(tlat_report_end(report), "signal");
	assert_adds_up(tlat_report_result(report, 0));
	watched_s = metric(tlat_report_result(report, 0), "watched_s");
	tlat_report_free(report);
	return watched_s;
}

/* On a busy machine the stop can come before the first look. */
static void a_stop_leaves_what_was_measured(void **state)
{
	double watched_s = 0;

	(void)state;
	for (int64_t after_ns = 100 * MS; watched_s <= 0.01 && after_ns < 10000 * MS; after_ns *= 2)
		watched_s = watched_until_stop(after_ns);
	assert_true(watched_s > 0.01);
}

static void a_report_of_noise_reads_as_it_was_written(void **state)
{
	struct tlat_noise_opts opts = base(100 * MS, TLAT_SCHED_OTHER, 0);
	struct tlat_report *report = measured(&opts), *read;
	char path[] = "/tmp/tlat-noise-XXXXXX";
	const struct tlat_result *result;
	int error, fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	error = tlat_report_write(report, path, 0, NULL);
	if (error == -EOPNOTSUPP) {
		tlat_report_free(report);
		unlink(path);
		skip();
	}
	assert_int_equal(error, 0);
	assert_int_equal(tlat_report_read(&read, path, NULL), 0);
	unlink(path);
	result = tlat_report_result(read, 0);
	assert_string_equal(tlat_result_kind(result), "noise");
	assert_int_equal(tlat_hist_count(tlat_result_hist(result)),
			 tlat_hist_count(tlat_result_hist(tlat_report_result(report, 0))));
	assert_adds_up(result);
	assert_non_null(strstr(tlat_result_repeat(result), "tlat noise -c "));
	tlat_report_free(read);
	tlat_report_free(report);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	const struct {
		struct tlat_noise_opts opts;
		const char *part;
	} cases[] = {
		{ TLAT_NOISE_OPTS(.duration_ns = -1), "duration of -1" },
		{ TLAT_NOISE_OPTS(.threshold_ns = 5), "threshold of 5" },
		{ TLAT_NOISE_OPTS(.policy = TLAT_SCHED_DEADLINE), "deadline" },
		{ TLAT_NOISE_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 100), "100" },
		{ TLAT_NOISE_OPTS(.cpus = "99999"), "99999" },
	};
	struct tlat_report *report;
	struct tlat_error error;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(tlat_noise(&report, &cases[i].opts, &error), -EINVAL);
		assert_non_null(strstr(error.text, cases[i].part));
	}
}

#define in_tree(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts_explain_as_many_gaps_as_there_were),
		cmocka_unit_test(no_interrupt_takes_50_ms),
		cmocka_unit_test(stolen_time_goes_to_the_longest_gaps),
		cmocka_unit_test(a_few_interrupts_are_kept_for_the_next_look),
		cmocka_unit_test(nothing_is_unknown_where_interrupts_were_not_read),
		cmocka_unit_test(what_was_counted_is_shared_with_gaps_that_are_not_judged),
		cmocka_unit_test(throttling_comes_after_the_runtime_and_fills_the_period),
		cmocka_unit_test(the_fair_server_does_not_throttle),
		cmocka_unit_test(nothing_throttles_what_has_no_limit),
		cmocka_unit_test(causes_never_explain_more_than_was_counted),
		in_tree(the_first_reading_counts_nothing),
		in_tree(a_cpu_that_comes_back_has_what_was_counted_since_it_went),
		in_tree(a_count_that_cannot_be_read_is_no_count),
		cmocka_unit_test(gaps_add_up_under_any_policy),
		cmocka_unit_test(a_threshold_that_the_clock_cannot_tell_is_raised),
		cmocka_unit_test(lengths_have_quantiles_only_where_there_are_enough),
		cmocka_unit_test(a_counter_that_is_reset_is_no_gap),
		cmocka_unit_test(every_cpu_has_a_result_of_its_own),
		cmocka_unit_test(a_full_log_makes_no_gap_unknown),
		cmocka_unit_test(a_preempter_of_5_ms_is_found_and_called_a_switch),
		cmocka_unit_test(throttling_is_called_by_its_name),
		cmocka_unit_test(who_would_be_killed_for_spinning_is_not_real_time),
		cmocka_unit_test(a_soft_limit_says_how_to_raise_it),
		cmocka_unit_test(a_limit_that_is_long_enough_refuses_nothing),
		cmocka_unit_test(the_policy_of_the_caller_is_inherited),
		cmocka_unit_test(a_stop_leaves_what_was_measured),
		cmocka_unit_test(a_report_of_noise_reads_as_it_was_written),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
