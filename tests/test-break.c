// SPDX-License-Identifier: MIT
/*
 * test-break.c - a value above a limit ends the run at once: which value that is, what the trace
 * gets, and how whole runs say it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding.h"
#include "run_book.h"
#include "tree.h"

#define VALUES 2000

/* A book as a measuring thread has it, and a break at above units of 2 ns. */
struct book {
	struct tlat_book book;
	struct tlat_outliers outliers;
	struct tlat_break brk;
	struct tlat_trace_stop trace;
	atomic_int request;
};

static struct book *new_book(int64_t above)
{
	struct book *b = aligned_alloc(_Alignof(struct book), sizeof(*b));

	assert_non_null(b);
	memset(b, 0, sizeof(*b));
	assert_int_equal(tlat_hist_new(&b->book.latency, 500000000), 0);
	b->trace = TLAT_TRACE_STOP_NONE;
	b->book.outliers = &b->outliers;
	b->book.ns_per_unit = b->brk.ns_per_unit = 2;
	b->book.brk = &b->brk;
	b->brk.above = above;
	b->brk.above_ns = 2 * above;
	b->brk.request = &b->request;
	b->brk.trace = &b->trace;
	b->brk.probe = "timer-nanosleep";
	return b;
}

static void free_book(struct book *b)
{
	tlat_hist_free(b->book.latency);
	free(b);
}

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

/* However many large values came before: the limit is looked at only among the largest so far. */
static void the_first_value_above_the_limit_is_the_one(void **state)
{
	uint64_t seed = 20261130;

	(void)state;
	for (int round = 0; round < 200; round++) {
		int64_t above = (int64_t)(draw(&seed) % 1000), value;
		struct book *b = new_book(above);
		bool expected = false;

		for (uint64_t i = 0; i < VALUES && !expected; i++) {
			value = (int64_t)(draw(&seed) % 1002) - (i % 7 == 0);
			tlat_book_record(&b->book, value, 1000 + i, i, 3);
			expected = value > above;
			assert_int_equal(b->brk.hit, expected);
			assert_int_equal(b->request, expected);
			if (!expected)
				continue;
			assert_int_equal(b->brk.outlier.value, value);
			assert_int_equal(b->brk.outlier.seq, i);
			assert_int_equal(b->brk.outlier.cpu, 3);
		}
		free_book(b);
	}
}

static void a_later_value_does_not_replace_the_first(void **state)
{
	struct book *b = new_book(10);

	(void)state;
	tlat_book_record(&b->book, 11, 1, 0, 0);
	tlat_book_record(&b->book, 900, 2, 1, 0);
	assert_int_equal(b->brk.outlier.value, 11);
	free_book(b);
}

static void a_book_without_a_limit_never_ends_a_run(void **state)
{
	struct book *b = new_book(0);

	(void)state;
	b->book.brk = NULL;
	tlat_book_record(&b->book, 1000000, 1, 0, 0);
	assert_false(b->brk.hit);
	assert_int_equal(b->request, 0);
	free_book(b);
}

/* == The trace == */

static void read_file(const struct tree *tree, const char *path, char *text, size_t size)
{
	ssize_t n;
	int fd = openat(tree->fd, path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	n = read(fd, text, size - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
}

static void check_marks_below(struct tree *tree, const char *place)
{
	char marker[128], on[128], text[256];
	struct book *b = new_book(50);

	snprintf(marker, sizeof(marker), "%s/trace_marker", place);
	snprintf(on, sizeof(on), "%s/tracing_on", place);
	put(tree, marker, "");
	put(tree, on, "1");
	assert_int_equal(tlat_trace_stop_open(&b->trace, tree->fd, NULL), 0);
	tlat_book_record(&b->book, 50, 1, 0, 1);
	read_file(tree, marker, text, sizeof(text));
	assert_string_equal(text, "");
	tlat_book_record(&b->book, 51, 2, 7, 1);
	tlat_book_record(&b->book, 99, 3, 8, 1);
	read_file(tree, marker, text, sizeof(text));
	assert_string_equal(text,
			    "timerlat: timer-nanosleep cpu 1 cycle 7: 102 ns is above 100 ns\n");
	read_file(tree, on, text, sizeof(text));
	assert_string_equal(text, "0");
	assert_int_equal(b->brk.trace_error, 0);
	tlat_trace_stop_close(&b->trace);
	unlinkat(tree->fd, marker, 0);
	free_book(b);
}

static void the_trace_is_marked_once_and_stopped(void **state)
{
	check_marks_below(*state, "sys/kernel/tracing");
	check_marks_below(*state, "sys/kernel/debug/tracing");
}

static void without_a_tracefs_there_is_a_reason(void **state)
{
	struct tree *tree = *state;
	struct tlat_trace_stop trace;
	struct tlat_error error;

	assert_int_equal(tlat_trace_stop_open(&trace, tree->fd, &error), -ENOENT);
	assert_non_null(strstr(error.text, "mount -t tracefs"));
	assert_int_equal(trace.marker_fd, -1);
	put(tree, "sys/kernel/tracing/trace_marker/is/a/directory", "");
	put(tree, "sys/kernel/tracing/tracing_on", "1");
	assert_int_equal(tlat_trace_stop_open(&trace, tree->fd, &error), -EISDIR);
	assert_non_null(strstr(error.text, "EISDIR"));
}

static void a_mark_that_the_trace_does_not_take_is_said(void **state)
{
	struct tlat_findings findings = { 0 };
	struct book *b = new_book(50);

	(void)state;
	b->trace.marker_fd = b->trace.on_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	tlat_book_record(&b->book, 51, 2, 7, 1);
	tlat_break_find(&b->brk, &findings);
	assert_int_equal(findings.n, 2);
	assert_string_equal(findings.v[0].id, "break");
	assert_string_equal(findings.v[1].id, "trace-mark-lost");
	assert_non_null(strstr(findings.v[1].text, "EBADF"));
	tlat_findings_free(&findings);
	close(b->trace.on_fd);
	free_book(b);
}

/* == Whole runs == */

static struct tlat_report *broken_run(const char *probe, const char *cpus)
{
	struct tlat_report *report;
	struct tlat_error error;

	/* Nothing takes less than this, so the first value is above it. */
	if (tlat_run(&report,
		     &TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .duration_ns = 20000000000,
				    .warmup = 5, .break_ns = 1, .flags = TLAT_RUN_NO_FLOOR),
		     &error) < 0)
		fail_msg("%s", error.text);
	return report;
}

static void check_broken_result(const struct tlat_result *result)
{
	struct tlat_summary summary = { .size = sizeof(summary) };

	assert_int_equal(result->end, TLAT_END_BREAK);
	assert_int_equal(tlat_counts_balance(&result->counts), 0);
	assert_true(result->counts.asked <= 2);
	tlat_result_summary(result, &summary);
	assert_int_equal(summary.break_ns, 1);
	if (result->counts.recorded)
		assert_int_equal(result->outliers->v[0].value, tlat_hist_max(result->latency));
}

static void check_broken_run(const char *probe, const char *cpus)
{
	struct tlat_report *report = broken_run(probe, cpus);
	const struct tlat_result *result;
	struct tlat_error error;
	int said = 0;

	assert_string_equal(tlat_report_end(report), "break");
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		check_broken_result(result);
		said += has_finding(result, "break");
		assert_non_null(strstr(tlat_result_repeat(result), " --break 1ns"));
		assert_true(tlat_budget_check("p50<10s", result, NULL, 0, &error) != TLAT_PASS);
	}
	assert_true(said >= 1);
	tlat_report_free(report);
}

static void the_first_value_ends_a_run_of_any_kind(void **state)
{
	(void)state;
	check_broken_run("timer-nanosleep", NULL);
	check_broken_run("timer-timerfd", NULL);
	check_broken_run("wake-futex", NULL);
	check_broken_run("null", NULL);
}

static void one_thread_ends_all(void **state)
{
	(void)state;
	check_broken_run("timer-nanosleep", "all");
}

/* What is said of the end is in the file too, and read back. */
static void a_report_keeps_the_break(void **state)
{
	struct tlat_report *report = broken_run("timer-nanosleep", NULL), *read;
	struct tlat_summary summary = { .size = sizeof(summary) };
	struct tree *tree = *state;
	char path[128];

	snprintf(path, sizeof(path), "%s/report.json", tree->path);
	if (tlat_report_write(report, path, 0, NULL) == -EOPNOTSUPP) {
		tlat_report_free(report);
		skip();
	}
	assert_int_equal(tlat_report_read(&read, path, NULL), 0);
	assert_string_equal(tlat_report_end(read), "break");
	tlat_result_summary(tlat_report_result(read, 0), &summary);
	assert_int_equal(summary.break_ns, 1);
	tlat_report_free(read);
	tlat_report_free(report);
}

static void nonsense_is_refused(void **state)
{
	struct tlat_report *report;
	struct tlat_error error;

	(void)state;
	assert_int_equal(tlat_run(&report, &TLAT_RUN_OPTS(.probe = "null", .break_ns = -1), &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "break"));
	assert_int_equal(tlat_run(&report,
				  &TLAT_RUN_OPTS(.probe = "null", .flags = TLAT_RUN_TRACE_MARK),
				  &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "needs a break"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_value_above_the_limit_is_the_one),
		cmocka_unit_test(a_later_value_does_not_replace_the_first),
		cmocka_unit_test(a_book_without_a_limit_never_ends_a_run),
		cmocka_unit_test_setup_teardown(the_trace_is_marked_once_and_stopped, tree_setup,
						tree_teardown),
		cmocka_unit_test_setup_teardown(without_a_tracefs_there_is_a_reason, tree_setup,
						tree_teardown),
		cmocka_unit_test(a_mark_that_the_trace_does_not_take_is_said),
		cmocka_unit_test(the_first_value_ends_a_run_of_any_kind),
		cmocka_unit_test(one_thread_ends_all),
		cmocka_unit_test_setup_teardown(a_report_keeps_the_break, tree_setup,
						tree_teardown),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
