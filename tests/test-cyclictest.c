// SPDX-License-Identifier: MIT
/*
 * test-cyclictest.c - what of tlat-cyclictest needs no run: the command line, CPU lists, the
 * figures, the histogram and the results file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cyclictest.h"
#include "cyclictest_cpus.h"
#include "cyclictest_smi.h"
#include "cyclictest_stats.h"
#include "cyclictest_text.h"
#include "tool.h"

static char said[1024];

/* In the place of the program's own. */
int tlat_cyc_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	return TLAT_CYC_BAD;
}

/* xorshift64 (Marsaglia 2003). */
static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* == Command line == */

#define WORDS_MAX 16

/* Words apart by '|', so that they can hold blanks and be empty. */
static int parse(struct tlat_cyc_config *config, const char *line)
{
	static char text[512];
	char *argv[WORDS_MAX + 1], *rest = text;
	int argc = 0;

	snprintf(text, sizeof(text), "%s", line);
	while (rest && argc < WORDS_MAX)
		argv[argc++] = strsep(&rest, "|");
	argv[argc] = NULL;
	optind = 0; /* glibc: begin anew */
	*said = '\0';
	return tlat_cyc_options(config, argc, argv);
}

static void defaults_are_those_of_the_original(void **state)
{
	struct tlat_cyc_config c;

	(void)state;
	assert_int_equal(parse(&c, "cyc"), 0);
	assert_int_equal(c.threads, 1);
	assert_int_equal(c.interval_us, 1000);
	assert_int_equal(c.distance_us, 500);
	assert_int_equal(c.policy, TLAT_SCHED_OTHER);
	assert_int_equal(c.priority, 0);
	assert_int_equal(c.latency_us, 0);
	assert_int_equal(c.spike_nodes, 1024);
	assert_null(c.affinity);
	assert_false(c.default_system);
	assert_string_equal(said, "");
}

static void words_are_taken_as_callers_give_them(void **state)
{
	struct tlat_cyc_config c;

	(void)state;
	assert_int_equal(parse(&c, "cyc|-i100|-qmu|-h 3500|-p95|-t4|-a0,2-3||"), 0);
	assert_int_equal(c.interval_us, 100);
	assert_true(c.quiet && c.mlockall && c.unbuffered);
	assert_int_equal(c.rows, 3500);
	assert_false(c.histofall);
	assert_int_equal(c.distance_us, 0); /* there is a histogram */
	assert_int_equal(c.priority, 95);
	assert_int_equal(c.policy, TLAT_SCHED_FIFO);
	assert_int_equal(c.threads, 4);
	assert_string_equal(c.affinity, "0,2-3");

	assert_int_equal(parse(&c, "cyc|-t|3|-a|!0|-A|200|-H|5"), 0);
	assert_int_equal(c.threads, 3);
	assert_string_equal(c.affinity, "!0");
	assert_int_equal(c.aligned_us, 200);
	assert_true(c.histofall);
	assert_int_equal(parse(&c, "cyc|--secaligned|7"), 0);
	assert_int_equal(c.secaligned_us, 7);

	assert_int_equal(parse(&c, "cyc|-t|-a|-A|-q"), 0);
	assert_int_equal(c.threads, TLAT_CYC_ALL);
	assert_string_equal(c.affinity, "");
	assert_int_equal(c.aligned_us, 0);

	assert_int_equal(parse(&c, "cyc|--json|f.json|--affinity|2-5|--mainaffinity|1"), 0);
	assert_string_equal(c.json, "f.json");
	assert_string_equal(c.affinity, "2-5");
	assert_string_equal(c.mainaffinity, "1");

	assert_int_equal(parse(&c, "cyc|-a|all|-t"), 0);
	assert_string_equal(c.affinity, "all");
	assert_int_equal(parse(&c, "cyc|-S|-p|80"), 0);
	assert_int_equal(c.threads, TLAT_CYC_ALL);
	assert_string_equal(c.affinity, "");
}

/* Names that rt-tests does not have must stand in full. */
static void long_names_can_be_shortened_as_with_rt_tests(void **state)
{
	struct tlat_cyc_config c;

	(void)state;
	assert_int_equal(parse(&c, "cyc||--trace|--verb|--n|--de|--tracer=x|--trace|--irqsoff"), 0);
	assert_true(c.tracemark && c.verbose && c.nsecs && c.default_system);
	assert_int_equal(parse(&c, "cyc|-l|5|word|--ver"), 0);
	assert_true(c.verbose && c.loops == 5);
	assert_int_equal(parse(&c, "cyc|--align=3|--prio|7|--priospread|--policy=rr"), 0);
	assert_int_equal(c.aligned_us, 3);
	assert_int_equal(c.priority, 7);
	assert_int_equal(c.policy, TLAT_SCHED_RR);
	assert_int_equal(parse(&c, "cyc|--notrac"), -EINVAL);
	assert_non_null(strstr(said, "no option --notrac"));
	assert_int_equal(parse(&c, "cyc|--s"), -EINVAL);
	assert_int_equal(parse(&c, "cyc|--version"), 1);
}

/* Before or after it. */
static void a_list_is_left_out_beside_one_thread_per_cpu(void **state)
{
	static const char *const lines[] = { "cyc|-v|-S|-a|0", "cyc|-v|-a|0|-S",
					     "cyc|-v|-a0|--numa|--smp" };
	struct tlat_cyc_config c;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse(&c, lines[i]), 0);
		assert_string_equal(c.affinity, "");
		assert_false(c.announced);
		assert_non_null(strstr(said, "-a is left out of account"));
	}
	assert_int_equal(parse(&c, "cyc|-S|-a"), 0);
	assert_string_equal(said, "");
}

/* Such as the second CPU of "-a 0 1". */
static void words_of_no_option_are_left_out(void **state)
{
	struct tlat_cyc_config c;

	(void)state;
	assert_int_equal(parse(&c, "cyc|-a|0|1|-t|2|-q"), 0);
	assert_string_equal(c.affinity, "0");
	assert_true(c.threads == 2 && c.quiet);
	assert_non_null(strstr(said, "'1' is no option and belongs to none: it is left out"));
	assert_int_equal(parse(&c, "cyc|-l|5||-q|"), 0);
	assert_string_equal(said, "");
}

static void a_duration_below_0_is_over_with_the_first_cycle(void **state)
{
	struct tlat_cyc_config c;

	(void)state;
	assert_int_equal(parse(&c, "cyc|-D|-1|-l|20"), 0);
	assert_true(c.loops == 1 && c.duration_s == 0);
	assert_non_null(strstr(said, "duration is below 0"));
	assert_int_equal(parse(&c, "cyc|-D-1m|-D5"), 0);
	assert_true(c.loops == 0 && c.duration_s == 5);
	assert_string_equal(said, "");
	assert_int_equal(parse(&c, "cyc|-d|-5"), 0);
	assert_int_equal(c.distance_us, -5);
	assert_int_equal(parse(&c, "cyc|-d|-5|-h9"), 0);
	assert_int_equal(c.distance_us, 0);
	assert_non_null(strstr(said, "distance is 0"));
}

static void durations_have_suffixes(void **state)
{
	static const struct {
		const char *line;
		int64_t seconds;
	} cases[] = {
		{ "cyc|-D|30", 30 },	{ "cyc|-D|30s", 30 },  { "cyc|-D|5m", 300 },
		{ "cyc|-D|2h", 7200 },	{ "cyc|-D1d", 86400 }, { "cyc|--duration= 7 ", 7 },
		{ "cyc|-D|0", 0 },	{ "cyc|-D|1M", 60 },   { "cyc|-D|1H", 3600 },
		{ "cyc|-D2D", 172800 },
	};
	struct tlat_cyc_config c;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&c, cases[i].line), 0);
		assert_int_equal(c.duration_s, cases[i].seconds);
	}
}

static void policy_and_priority_agree(void **state)
{
	static const struct {
		const char *line;
		int policy, priority; /* of 3 threads */
		const char *says;
	} cases[] = {
		{ "cyc|--policy=batch", TLAT_SCHED_BATCH, 0, "" },
		{ "cyc|--policy=idle", TLAT_SCHED_IDLE, 0, "" },
		{ "cyc|--policy=normal", TLAT_SCHED_OTHER, 0, "" },
		{ "cyc|--policy=rr|-p3", TLAT_SCHED_RR, 3, "" },
		{ "cyc|--policy=FIFO|-p3", TLAT_SCHED_FIFO, 3, "" },
		{ "cyc|--policy=Normal", TLAT_SCHED_OTHER, 0, "" },
		{ "cyc|--policy=fifo", TLAT_SCHED_FIFO, 4, "priority 4 is used" },
		{ "cyc|--policy=rr|-p0", TLAT_SCHED_RR, 4, "priority 4 is used" },
		{ "cyc|-p0", TLAT_SCHED_FIFO, 4, "priority 4 is used" },
		{ "cyc|--priospread", TLAT_SCHED_FIFO, 4, "priority 4 is used" },
		{ "cyc|--priospread|--policy=rr", TLAT_SCHED_RR, 4, "priority 4 is used" },
		{ "cyc|--priospread|-p9", TLAT_SCHED_FIFO, 9, "" },
		{ "cyc|--policy=batch|-p0", TLAT_SCHED_FIFO, 4, "priority 4 is used" },
		{ "cyc|-p0|--policy=batch", TLAT_SCHED_BATCH, 0, "" },
		{ "cyc|--policy=other|-p5", TLAT_SCHED_FIFO, 5, "policy other has no priorities" },
		{ "cyc|-p5|--policy=other", TLAT_SCHED_FIFO, 5, "policy other has no priorities" },
		{ "cyc|-y|rr|-p5", TLAT_SCHED_RR, 5, "is now --policy" },
	};
	struct tlat_cyc_config c;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(&c, cases[i].line), 0);
		tlat_cyc_choose_priority(&c, 3);
		assert_int_equal(c.policy, cases[i].policy);
		assert_int_equal(c.priority, cases[i].priority);
		assert_non_null(strstr(said, cases[i].says));
		assert_true(*cases[i].says || !*said);
	}
	assert_int_equal(parse(&c, "cyc|--priospread"), 0);
	tlat_cyc_choose_priority(&c, 300);
	assert_int_equal(c.priority, 99);
}

static void what_cannot_be_read_is_refused_by_name(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "cyc|-i|0", "--interval '0': outside 10.." },
		{ "cyc|-i|10us", "--interval '10us': no whole number" },
		{ "cyc|-i|", "--interval '': no whole number" },
		{ "cyc|-p100", "--priority '100': outside 0..99" },
		{ "cyc|-p", "-p needs an argument" },
		{ "cyc|--json", "--json needs an argument" },
		{ "cyc|-h0", "--histogram '0'" },
		{ "cyc|-c2", "--clock '2'" },
		{ "cyc|-D1x", "--duration '1x'" },
		{ "cyc|-D99999999999d", "--duration '99999999999d'" },
		{ "cyc|-l99999999999999999999", "--loops" },
		{ "cyc|--policy=deadline", "no such policy" },
		{ "cyc|--nonsense", "no option --nonsense" },
		{ "cyc|-k", "no option -k" },
		{ "cyc|-a|foo", "--affinity 'foo': cannot be read" },
		{ "cyc|-l5|-t|foo", "--threads 'foo': cannot be read" },
		{ "cyc|-d|-5us", "--distance '-5us': no whole number" },
		{ "cyc|-D|-1x", "--duration '-1x'" },
		{ "cyc|-o3", "-o reduces what -v prints" },
		{ "cyc|-A|--secaligned", "-A and --secaligned exclude each other" },
		{ "cyc|--shape|1.9", "--shape '1.9'" },
		{ "cyc|--shape|2.-4", "--shape '2.-4'" },
		{ "cyc|--histfile=", "--histfile '': empty" },
	};
	struct tlat_cyc_config c;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		if (parse(&c, cases[i].line) != -EINVAL)
			fail_msg("%s is taken", cases[i].line);
		if (!strstr(said, cases[i].says))
			fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].line, said,
				 cases[i].says);
	}
}

static const char *const parts[] = { "-",
				     "--",
				     "=",
				     "a",
				     "t",
				     "A",
				     "h",
				     "H",
				     "i",
				     "10",
				     "0",
				     "-1",
				     "99999999999999999999",
				     "policy",
				     "fifo",
				     "affinity",
				     "!",
				     "+",
				     ",",
				     " ",
				     "l",
				     "D",
				     "m",
				     "N",
				     "secaligned",
				     "json",
				     "x",
				     "q",
				     "v",
				     "o",
				     "S",
				     "M",
				     "b",
				     "spike",
				     "threads",
				     "\xff",
				     "2.4" };

/* No crash, and what is taken is within its bounds. --help and --version print. */
static void random_words_are_taken_or_refused(void **state)
{
	uint64_t seed = 20260102;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char line[256] = "cyc";
		struct tlat_cyc_config c;
		int r;

		for (uint64_t i = 2 + next(&seed) % 12; i > 0; i--) {
			if (next(&seed) % 3 == 0)
				strcat(line, "|");
			strcat(line, parts[next(&seed) % TLAT_ARRAY_SIZE(parts)]);
		}
		r = parse(&c, line);
		assert_true(r == 0 || r == -EINVAL);
		if (r == 0) {
			assert_true(c.interval_us >= 10 && c.threads >= 0 && c.threads <= 8192);
			assert_true(c.rows >= 0 && c.rows <= TLAT_CYC_ROWS_MAX);
			assert_true(c.priority >= 0 && c.priority <= 99);
			assert_true(c.duration_s >= 0);
		} else {
			assert_true(*said);
		}
	}
}

static void cpu_lists_of_libnuma_are_put_into_ours(void **state)
{
	static const struct {
		const char *theirs, *ours;
	} cases[] = {
		{ "0-3,8", "0-3,8" }, { "all", "all" },
		{ "!0-1", "!0-1" },   { "!0,2-3", "!0,!2-3" },
		{ "+0", "4" },	      { "+1-2,0", "6,9,4" },
		{ "+1-3", "8192" },   { "isolated", "isolated" },
	};
	const int32_t allowed[] = { 4, 6, 9 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		char *list = tlat_cyc_cpus_translate(cases[i].theirs, allowed, 3);

		assert_string_equal(list, cases[i].ours);
		free(list);
	}
}

/* == Figures == */

static int64_t cut(int64_t ns)
{
	return ns / 1000;
}

/* The oracle cuts each value and keeps them all. */
static void figures_are_of_values_cut_to_the_unit(void **state)
{
	const struct tlat_cyc_config config = { .rows = 50, .spike_above = 40, .spike_nodes = 7 };
	struct tlat_cyc_stats stats;
	uint64_t seed = 20260103, rows[50] = { 0 }, over = 0, spikes = 0;
	int64_t sum = 0, min = INT64_MAX, max = INT64_MIN;

	(void)state;
	assert_int_equal(tlat_cyc_stats_init(&stats, &config, 1), 0);
	for (int64_t i = 0; i < 5000; i++) {
		struct tlat_sample sample = { .at_ns = i * 1000000,
					      .value_ns = (int64_t)(next(&seed) % 60000) };
		int64_t value = cut(sample.value_ns);

		assert_int_equal(tlat_cyc_stats_add(&stats, 0, &sample), value);
		sum += value;
		min = value < min ? value : min;
		max = value > max ? value : max;
		spikes += value > 40;
		if (value < 50)
			rows[value]++;
		else if (over++ < 50)
			assert_int_equal(stats.threads[0].over_at[over - 1], i);
		assert_int_equal(stats.threads[0].last, value);
	}
	assert_int_equal(stats.threads[0].cycles, 5000);
	assert_int_equal(stats.threads[0].min, min);
	assert_int_equal(stats.threads[0].max, max);
	assert_int_equal(stats.threads[0].sum, sum);
	assert_int_equal(stats.threads[0].over, over);
	assert_memory_equal(stats.threads[0].rows, rows, sizeof(rows));
	assert_int_equal(stats.n_spikes, spikes);
	assert_true(over > 50);
	tlat_cyc_stats_free(&stats);
}

static void a_limit_is_passed_by_what_is_printed_above_it(void **state)
{
	uint64_t seed = 20260104;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const struct tlat_cyc_config config = { .nsecs = i % 2 };
		int64_t above = (int64_t)(next(&seed) % 100);
		int64_t ns = (int64_t)(next(&seed) % (i % 2 ? 200 : 200000));

		assert_int_equal(tlat_cyc_value(&config, ns) > above,
				 ns > tlat_cyc_limit_ns(&config, above));
	}
}

static void early_values_are_kept_below_zero_and_in_the_first_row(void **state)
{
	const struct tlat_cyc_config config = { .rows = 4 };
	const struct tlat_sample samples[] = { { 0, -2500 }, { 0, -300 }, { 0, 2000 } };
	struct tlat_cyc_stats stats;

	(void)state;
	assert_int_equal(tlat_cyc_stats_init(&stats, &config, 1), 0);
	for (size_t i = 0; i < 3; i++)
		tlat_cyc_stats_add(&stats, 0, &samples[i]);
	assert_int_equal(stats.threads[0].min, -2);
	assert_int_equal(stats.threads[0].max, 2);
	assert_int_equal(stats.threads[0].early, 2);
	assert_int_equal(stats.threads[0].rows[0], 2);
	assert_int_equal(stats.threads[0].rows[2], 1);
	tlat_cyc_stats_free(&stats);
}

static void lost_values_are_in_the_extremes(void **state)
{
	const struct tlat_cyc_config config = { .rows = 0 };
	struct tlat_cyc_stats stats;

	(void)state;
	assert_int_equal(tlat_cyc_stats_init(&stats, &config, 1), 0);
	tlat_cyc_stats_add(&stats, 0, &(struct tlat_sample){ 0, 5000 });
	tlat_cyc_stats_lost(&stats, 0, 0, 1000, 9000);
	assert_int_equal(stats.threads[0].max, 5);
	tlat_cyc_stats_lost(&stats, 0, 3, 1000, 9999);
	assert_int_equal(stats.threads[0].min, 1);
	assert_int_equal(stats.threads[0].max, 9);
	assert_int_equal(stats.threads[0].cycles, 1);
	tlat_cyc_stats_free(&stats);
}

/* == Output == */

static void fill(struct tlat_cyc_stats *stats, const struct tlat_cyc_config *config)
{
	static const int64_t us[2][6] = { { 0, 1, 1, 7, 8, 9 }, { 2, 2, 0, 1, 5, 3 } };

	assert_int_equal(tlat_cyc_stats_init(stats, config, 2), 0);
	for (int32_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 6; k++)
			tlat_cyc_stats_add(stats, i, &(struct tlat_sample){ 0, us[i][k] * 1000 });
}

static char *printed(const struct tlat_cyc_config *config)
{
	struct tlat_cyc_stats stats;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fill(&stats, config);
	tlat_cyc_put_histogram(&stats, NULL, out);
	fclose(out);
	tlat_cyc_stats_free(&stats);
	return text;
}

static void the_histogram_is_printed_column_for_column(void **state)
{
	struct tlat_cyc_config config = { .rows = 2, .histofall = true, .shape = 4 };
	char *text = printed(&config);

	(void)state;
	assert_string_equal(text, "# Histogram\n"
				  "000000 000001\t000001\t000002\n"
				  "000001 000002\t000001\t000003\n"
				  "# Total: 000000003 000000002 000000005\n"
				  "# Min Latencies: 00000 00000\n"
				  "# Avg Latencies: 00004 00002\n"
				  "# Max Latencies: 00009 00005 00009\n"
				  "# Histogram Overflows: 00003 00004 00007\n"
				  "# Histogram Overflow at cycle number:\n"
				  "# Thread 0: 00003 00004 # 00001 others\n"
				  "# Thread 1: 00000 00001 # 00002 others\n"
				  "\n");
	free(text);
	config = (struct tlat_cyc_config){ .rows = 6, .shape = 7 };
	text = printed(&config);
	assert_string_equal(text, "# Histogram\n"
				  "000000 000001\t000001\n"
				  "000001 000002\t000001\n"
				  "000002 000000\t000002\n"
				  "000003 000000\t000001\n"
				  "000005 000000\t000001\n"
				  "# Min Latencies: 00000 00000\n"
				  "# Avg Latencies: 00004 00002\n"
				  "# Max Latencies: 00009 00005\n"
				  "# Histogram Overflows: 00003 00000\n"
				  "# Histogram Overflow at cycle number:\n"
				  "# Thread 0: 00003 00004 00005\n"
				  "# Thread 1:\n"
				  "\n");
	free(text);
}

static void a_line_of_a_thread_has_fixed_columns(void **state)
{
	struct tlat_cyc_config config = { .shape = 4 };
	struct tlat_cyc_stats stats;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const int64_t smis[] = { 0, 3 };

	(void)state;
	fill(&stats, &config);
	stats.threads[0].tid = 77;
	stats.threads[0].priority = 9;
	stats.threads[0].interval_us = 1000;
	stats.threads[1].tid = 1234567;
	stats.threads[1].interval_us = 1500;
	tlat_cyc_put_threads(&stats, NULL, out);
	config.nsecs = true;
	tlat_cyc_put_threads(&stats, smis, out);
	fclose(out);
	assert_string_equal(
		text,
		"T: 0 (   77) P: 9 I:1000 C:      6 Min:      0 Act:    9 Avg:    4 Max:       9\n"
		"T: 1 (1234567) P: 0 I:1500 C:      6 Min:      0 Act:    3 Avg:    2 Max:       "
		"5\n"
		"T: 0 (   77) P: 9 I:1000 C:      6 Min:      0 Act:       9 Avg:       4 "
		"Max:       9 SMI:       0\n"
		"T: 1 (1234567) P: 0 I:1500 C:      6 Min:      0 Act:       3 Avg:       2 "
		"Max:       5 SMI:       3\n");
	free(text);
	tlat_cyc_stats_free(&stats);
}

static char *written(char **argv, int argc)
{
	const struct tlat_cyc_config config = { .shape = 4, .rows = 3 };
	struct tlat_machine *machine;
	struct tlat_cyc_stats stats;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(tlat_machine_open(&machine, NULL, NULL), 0);
	assert_int_equal(tlat_cyc_stats_init(&stats, &config, 2), 0);
	for (int64_t i = 1; i < 4; i++)
		tlat_cyc_stats_add(&stats, 0, &(struct tlat_sample){ 0, i * i * 500 });
	assert_true(tlat_cyc_write_json(&(struct tlat_cyc_document){ .config = &config,
								     .stats = &stats,
								     .machine = machine,
								     .argc = argc,
								     .argv = argv,
								     .code = 1 },
					out));
	fclose(out);
	tlat_cyc_stats_free(&stats);
	tlat_machine_close(machine);
	return text;
}

static void the_results_file_has_the_keys_of_rt_tests(void **state)
{
	char *argv[] = { "cyc", "-q" }, *text = written(argv, 2);

	(void)state;
	assert_non_null(strstr(text, "{\n  \"file_version\": 1,\n  \"cmdline:\": \"cyc -q\",\n"
				     "  \"rt_test_version:\": \"2.40\",\n  \"start_time\": \""));
	assert_non_null(strstr(text, "  \"return_code\": 1,\n  \"sysinfo\": {\n"));
	assert_non_null(strstr(text, "  \"num_threads\": 2,\n  \"resolution_in_ns\": 0,\n"
				     "  \"thread\": {\n    \"0\": {\n"
				     "      \"histogram\": {\n        \"0\": 1,\n"
				     "        \"2\": 1\n      },\n"
				     "      \"cycles\": 3,\n      \"min\": 0,\n      \"max\": 4,\n"
				     "      \"avg\": 2.00,\n      \"cpu\": 0,\n"));
	assert_non_null(strstr(text, "    \"1\": {\n      \"histogram\": {      },\n"
				     "      \"cycles\": 0,\n      \"min\": null,\n"
				     "      \"max\": null,\n      \"avg\": null,\n"));
	free(text);
}

/* What is no text is replaced, so that the file is JSON whatever was typed. */
static void strings_are_escaped_and_made_text(void **state)
{
	static const struct {
		const char *word, *inside;
	} cases[] = {
		{ "a\"b\\c", "a\\\"b\\\\c" },
		{ "\n\t\x01\x7f", "\\u000a\\u0009\\u0001\\u007f" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xff\xfe", "\\ufffd\\ufffd" },
		{ "\xc3", "\\ufffd" },
		{ "\xc0\xaf", "\\ufffd\\ufffd" },
		{ "\xe0\x80\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		char word[32], expected[128], *argv[] = { word }, *text;

		snprintf(word, sizeof(word), "%s", cases[i].word);
		snprintf(expected, sizeof(expected), "\"cmdline:\": \"%s\",\n", cases[i].inside);
		text = written(argv, 1);
		if (!strstr(text, expected))
			fail_msg("%s is not in %s", expected, text);
		free(text);
	}
}

/* == SMIs == */

/* A processor that counts them, and its register. */
static uint32_t smis;
static int msr_errno; /* 0: it can be read */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	static char text[] = "vendor_id\t: GenuineIntel\n";

	return strcmp(path, "/proc/cpuinfo") ? __real_fopen(path, mode)
					     : fmemopen(text, strlen(text), "r");
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	return __real_open(strncmp(path, "/dev/cpu/", 9) ? path : "/dev/null", flags, mode);
}

ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset)
{
	const uint64_t value = smis;

	(void)fd;
	assert_int_equal(offset, 0x34);
	assert_int_equal(size, sizeof(value));
	if (msr_errno) {
		errno = msr_errno;
		return -1;
	}
	memcpy(buffer, &value, sizeof(value));
	return sizeof(value);
}

static void smis_that_cannot_be_read_are_not_counted_as_none(void **state)
{
	int32_t cpu = 3;
	const struct tlat_cyc_cpus cpus = { .threads = 1, .cpus = &cpu, .n = 1 };
	struct tlat_cyc_smi smi;

	(void)state;
	msr_errno = EIO;
	assert_int_equal(tlat_cyc_smi_open(&smi, true, &cpus), -EIO);
	assert_non_null(strstr(said, "/dev/cpu/3/msr"));
	assert_non_null(strstr(said, strerror(EIO)));
	tlat_cyc_smi_close(&smi);
}

static void the_last_count_of_smis_stays(void **state)
{
	int32_t cpu = 3;
	const struct tlat_cyc_cpus cpus = { .threads = 1, .cpus = &cpu, .n = 1 };
	struct tlat_cyc_smi smi;

	(void)state;
	msr_errno = 0;
	smis = UINT32_MAX; /* it has 32 bits */
	assert_int_equal(tlat_cyc_smi_open(&smi, true, &cpus), 0);
	smis = 6;
	assert_int_equal(tlat_cyc_smi_look(&smi)[0], 7);
	msr_errno = EIO;
	*said = '\0';
	assert_int_equal(tlat_cyc_smi_look(&smi)[0], 7);
	assert_non_null(strstr(said, "can no longer be read"));
	*said = '\0';
	assert_int_equal(tlat_cyc_smi_look(&smi)[0], 7);
	assert_string_equal(said, "");
	tlat_cyc_smi_close(&smi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_original),
		cmocka_unit_test(words_are_taken_as_callers_give_them),
		cmocka_unit_test(long_names_can_be_shortened_as_with_rt_tests),
		cmocka_unit_test(a_list_is_left_out_beside_one_thread_per_cpu),
		cmocka_unit_test(words_of_no_option_are_left_out),
		cmocka_unit_test(a_duration_below_0_is_over_with_the_first_cycle),
		cmocka_unit_test(durations_have_suffixes),
		cmocka_unit_test(policy_and_priority_agree),
		cmocka_unit_test(what_cannot_be_read_is_refused_by_name),
		cmocka_unit_test(random_words_are_taken_or_refused),
		cmocka_unit_test(cpu_lists_of_libnuma_are_put_into_ours),
		cmocka_unit_test(figures_are_of_values_cut_to_the_unit),
		cmocka_unit_test(a_limit_is_passed_by_what_is_printed_above_it),
		cmocka_unit_test(early_values_are_kept_below_zero_and_in_the_first_row),
		cmocka_unit_test(lost_values_are_in_the_extremes),
		cmocka_unit_test(the_histogram_is_printed_column_for_column),
		cmocka_unit_test(a_line_of_a_thread_has_fixed_columns),
		cmocka_unit_test(the_results_file_has_the_keys_of_rt_tests),
		cmocka_unit_test(strings_are_escaped_and_made_text),
		cmocka_unit_test(smis_that_cannot_be_read_are_not_counted_as_none),
		cmocka_unit_test(the_last_count_of_smis_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
