// SPDX-License-Identifier: MIT
/* test-report-reject.c - what is no report is refused with one clear reason, and never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_sample.h"

#ifdef TLAT_WITH_JANSSON

#include <jansson.h>

static void refused(const char *text, size_t n, const char *because)
{
	struct tlat_error error = { 0 };
	struct tlat_report *report = NULL;
	int ret = tlat_report_read_text(&report, text, n, false, "r.json", &error);

	assert_int_equal(ret, -EINVAL);
	assert_int_equal(error.code, -EINVAL);
	assert_null(report);
	if (strncmp(error.text, "r.json: ", 8) || !strstr(error.text, because))
		fail_msg("\"%s\" does not say \"%s\"", error.text, because);
	assert_null(strchr(error.text, '\n'));
}

static const struct {
	const char *text, *because;
} no_reports[] = {
	{ "", "line 1, column 0" },
	{ "{\n  \"a\": ]", "line 2, column 8" },
	{ "[]", "no object" },
	{ "{}", "no \"schema\"" },
	{ "{\"schema\":1}", "no \"schema\"" },
	{ "{\"schema\":\"timerlat-report/9\"}", "timerlat-report/9 is newer than this library" },
	{ "{\"schema\":\"timerlat-report/0\"}", "not one of reports" },
	{ "{\"schema\":\"x\"}", "not one of reports" },
	{ "{\"schema\":\"timerlat-report/1\"}", "run: is missing" },
	{ "{\"schema\":\"timerlat-report/1\",\"run\":[]}", "run: is an array" },
	{ "{\"a\":1,\"a\":2}", "duplicate" },
	{ "{} {}", "follows the document" },
	{ "{\"a\":NaN}", "line 1" },
	{ "{\"a\":1e999}", "line 1" },
	{ "{\"a\":99999999999999999999}", "line 1" },
	{ "{\"a\":\"\xff\"}", "line 1" },
};

static void text_that_is_no_report_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(no_reports); i++)
		refused(no_reports[i].text, strlen(no_reports[i].text), no_reports[i].because);
	refused("{\0}", 3, "line 1");
}

static void deep_nesting_is_refused(void **state)
{
	char text[10000];

	(void)state;
	memset(text, '[', sizeof(text));
	refused(text, sizeof(text), "depth");
}

/* The member at a path such as "results/0/counts/asked"; *ret_parent and *ret_key are its place. */
static void find_place(json_t *document, const char *path, json_t **ret_parent, char *key)
{
	json_t *at = document;
	const char *slash;

	while ((slash = strchr(path, '/'))) {
		snprintf(key, 64, "%.*s", (int)(slash - path), path);
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key))
				       : json_object_get(at, key);
		assert_non_null(at);
		path = slash + 1;
	}
	snprintf(key, 64, "%s", path);
	*ret_parent = at;
}

static void replace(json_t *document, const char *path, const char *json)
{
	json_t *parent, *value = json_loads(json, JSON_DECODE_ANY, NULL);
	char key[64];

	assert_non_null(value);
	find_place(document, path, &parent, key);
	if (json_is_array(parent))
		assert_int_equal(json_array_set_new(parent, (size_t)atoi(key), value), 0);
	else
		assert_int_equal(json_object_set_new(parent, key, value), 0);
}

/* Of two names that differ in the last byte only. */
#define LONG_NAME "0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *path, *json, *because;
} wrong_members[] = {
	{ "design", "[]", "design: is an array" },
	{ "design", "{}", "design.side: is missing" },
	{ "design", "{\"side\":\"C\"}", "design.side: \"C\" is neither" },
	{ "design", "{\"side\":\"A\",\"pair\":-1}", "design.pair: -1 is below 0" },
	{ "design", "{\"side\":\"A\",\"planned\":-4}", "design.planned: -4 is below 0" },
	{ "design", "{\"side\":\"A\",\"pair\":9e99}", "design.pair: is a" },
	{ "results/0/metrics", "{}", "metrics: is an object" },
	{ "results/0/metrics", "[7]", "metrics[0].name: is missing" },
	{ "results/0/metrics", "[{\"name\":\"x\",\"better\":\"yes\"}]", "better: \"yes\" is none" },
	{ "results/0/metrics", "[{\"name\":\"x\",\"n\":-1}]", "metrics[0].n: -1 is out of range" },
	{ "results/0/metrics", "[{\"name\":\"" LONG_NAME "\"}]",
	  "metrics[0].name: \"" LONG_NAME "\" has 48 bytes, at most 47 are possible" },
	{ "results/0/metrics", "[{\"name\":\"x\",\"unit\":\"0123456789abcdef\"}]",
	  "metrics[0].unit: \"0123456789abcdef\" has 16 bytes, at most 15" },
	{ "results/0/metrics",
	  "[{\"name\":\"x\",\"value\":1},{\"name\":\"y\",\"value\":1},{\"name\":\"x\",\"value\":2}"
	  "]",
	  "metrics[2].name: \"x\" is there twice" },
	{ "results/0/probe", "\"" LONG_NAME "\"", "results[0].probe: \"" LONG_NAME "\" has 48" },
	{ "results/0/histogram/counts", "[[0,9007199254740993]]", "out of range" },
	{ "results/0/histogram/counts", "[[0,9007199254740992],[1,9007199254740992]]", "2^53" },
	{ "results/0/histogram/counts", "[[28672,1]]", "28672 is out of range" },
	{ "results/0/histogram/counts", "[[1073741824,1]]", "1073741824 is out of range" },
	{ "tool", "[]", "tool: is an array" },
	{ "run/end", "\"never\"", "none of count, time, signal, break, error, running" },
	{ "run/seed", "-1", "run.seed: -1 is out of range" },
	{ "machine", "3", "machine: is an integer" },
	{ "findings/0/severity", "\"bad\"", "findings[0].severity: \"bad\"" },
	{ "findings/0", "1", "findings[0].id: is missing" },
	{ "clock/source", "\"sundial\"", "clock.source: \"sundial\"" },
	{ "clock/hz", "\"fast\"", "clock.hz: is a string" },
	{ "results", "{}", "results: is an object" },
	{ "results/0", "7", "results[0].kind: is missing" },
	{ "results/0/probe", "null", "results[0].probe: is missing" },
	{ "results/0/relation", "\"friend\"", "results[0].relation: \"friend\"" },
	{ "results/0/wait/policy", "\"lazy\"", "results[0].wait.policy: \"lazy\"" },
	{ "results/0/wait/cpu", "99999999999", "results[0].wait.cpu: 99999999999 is out of" },
	{ "results/0/counts", "null", "results[0].counts: is missing" },
	{ "results/0/counts/asked", "7", "results[0].counts: asked is not" },
	{ "results/0/counts/recorded", "-1", "results[0].counts.recorded: -1" },
	{ "results/0/counts/missed", "9223372036854775807", "above 2^53" },
	{ "results/0/counts/rejected/moon", "1", "rejected: has a reason that" },
	{ "results/0/histogram", "null", "histogram: holds 0 recorded" },
	{ "results/0/histogram/layout", "\"log\"", "histogram.layout: is not" },
	{ "results/0/histogram/unit", "\"days\"", "histogram.unit: is neither" },
	{ "results/0/histogram/hz", "0", "histogram.hz: 0 is out of range" },
	{ "results/0/histogram/counts/0", "[28672,1]", "28672 is out of range" },
	{ "results/0/histogram/counts/0", "[-1,1]", "-1 is out of range" },
	{ "results/0/histogram/counts/1", "[0,1]", "0 is out of range" },
	{ "results/0/histogram/counts/0/1", "-5", "-5 is out of range" },
	{ "results/0/histogram/counts/0/1", "99", "histogram: holds" },
	{ "results/0/histogram/counts/0", "[1]", "not [index, count]" },
	{ "results/0/histogram/counts/0", "\"x\"", "not [index, count]" },
	{ "results/0/histogram/early/0", "[9216,1]", "9216 is out of range" },
	{ "results/0/histogram/min", "5", "histogram.min: 5 is not in" },
	{ "results/0/histogram/max", "5000", "histogram.max: 5000 is not in" },
	{ "results/0/histogram/min", "null", "histogram.min: is missing" },
	{ "results/0/histogram/overflow", "2", "histogram: holds" },
	{ "results/0/blocks/0/counts/1", "1000000", "blocks: hold" },
	{ "results/0/blocks/0/counts/0", "99999", "99999 is out of range" },
	{ "results/0/blocks/0/counts", "[3,1,3,1]", "3 is out of range" },
	{ "results/0/blocks/0/counts", "[3,1,4]", "an index that has no count" },
	{ "results/0/blocks/0/counts", "[[3,1],1]", "is an array where a report has an integer" },
	{ "results/0/blocks/0/length_ns", "0", "length_ns: 0 is out of range" },
	{ "results/0/outliers/0/value_ns", "null", "value_ns: nan is out of range" },
	{ "results/0/outliers/0/value_ns", "1", "outliers[1].value_ns: is above" },
	{ "results/0/outliers/0", "1", "outliers[0].value_ns: is missing" },
	{ "results/0/raw_ns/0", "\"x\"", "raw_ns: has an item" },
	{ "results/0/raw_ns/0", "1e300", "raw_ns: 1e+300 is out of range" },
	{ "results/0/watch/idle/1/C1/usage", "-1", "watch.idle.usage: -1" },
	{ "results/0/watch/interrupts/x", "{}", "watch.interrupts.x: is neither" },
	{ "results/0/watch/interrupts/0/LOC", "1.5", "LOC: is not a count" },
	{ "results/0/call/histogram/hz", "-2", "call.histogram.hz: -2" },
	{ "results/0/call/histogram/counts", "[[1,9007199254740992],[2,1]]", "adds up to more" },
	{ "results/0/end", "4", "results[0].end: is an integer" },
};

static void one_wrong_member_is_named(void **state)
{
	struct tlat_report *report = sample_full(2000);
	char *text = sample_text(report);

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(wrong_members); i++) {
		json_t *document = json_loads(text, 0, NULL);
		char *changed;

		replace(document, wrong_members[i].path, wrong_members[i].json);
		changed = json_dumps(document, JSON_COMPACT);
		refused(changed, strlen(changed), wrong_members[i].because);
		free(changed);
		json_decref(document);
	}
	free(text);
	tlat_report_free(report);
}

/* Whatever is read, everything that can be asked of it is asked. */
static void use(struct tlat_report *report, bool again)
{
	struct tlat_summary s = { .size = sizeof(s) };
	const struct tlat_result *result;
	char *text;

	report->appended = true;
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++) {
		double value, low, high;

		assert_int_equal(tlat_result_summary(result, &s), 0);
		assert_int_equal(tlat_counts_balance(&result->counts), 0);
		if (tlat_result_quantile_ns(result, 0.99, &value, &low, &high) == 0)
			assert_true(low <= value && value <= high);
		tlat_document_free(report->results[i]->document);
		report->results[i]->document = NULL;
	}
	/* Now from the struct, and that is a report again. */
	assert_int_equal(tlat_report_format(&text, report), 0);
	if (again)
		tlat_report_free(sample_read(text));
	free(text);
}

/* Replaces the number at text[at] by one that is near, far, or of another type. */
static size_t mutate_number(char *text, size_t n, size_t at, uint64_t *seed)
{
	static const char *const values[] = {
		"0",	"-1",	"1",  "2",     "9223372036854775807", "4503599627370496", "1e308",
		"-0.5", "null", "[]", "28671", "1000000000"
	};
	const char *value = values[sample_next(seed) % TLAT_ARRAY_SIZE(values)];
	size_t end = at, length = strlen(value);

	while (end < n && strchr("0123456789+-.eE", text[end]))
		end++;
	memmove(text + at + length, text + end, n - end);
	memcpy(text + at, value, length);
	return n - (end - at) + length;
}

static size_t mutate(char *text, size_t n, uint64_t *seed)
{
	static const char alphabet[] = "0123456789-+.eE\"\\{}[]:,ntf \n\xff\0u";
	size_t at = sample_next(seed) % n, length = sample_next(seed) % 40;

	switch (sample_next(seed) % 5) {
	case 0:
		text[at] = alphabet[sample_next(seed) % sizeof(alphabet)];
		return n;
	case 1:
		length = length < n - at ? length : n - at;
		memmove(text + at, text + at + length, n - at - length);
		return n - length;
	case 2:
		return at + 1;
	default:
		while (at < n && !strchr("0123456789-", text[at]))
			at++;
		return at < n ? mutate_number(text, n, at, seed) : n;
	}
}

static void mutations_of_a_report_never_crash_a_reader(void **state)
{
	struct tlat_report *report = sample_full(24), *read;
	char *text = sample_text(report);
	size_t n = strlen(text), accepted = 0;
	char *changed = malloc(n + 256);
	uint64_t seed = 20250101;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct tlat_error error = { 0 };
		size_t length = n;
		char *exact;

		memcpy(changed, text, n);
		for (uint64_t rounds = sample_next(&seed) % 3 + 1; rounds && length; rounds--)
			length = mutate(changed, length, &seed);
		exact = malloc(length); /* so that one byte too far is seen */
		memcpy(exact, changed, length);
		if (tlat_report_read_text(&read, exact, length, false, "fuzz", &error) == 0) {
			accepted++;
			use(read, accepted % 16 == 0);
			tlat_report_free(read);
		} else {
			assert_true(error.code < 0 && strlen(error.text) > 6);
		}
		free(exact);
	}
	assert_true(accepted > 100); /* else the mutations only tested the parser of JSON */
	free(changed);
	free(text);
	tlat_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_that_is_no_report_is_refused),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(one_wrong_member_is_named),
		cmocka_unit_test(mutations_of_a_report_never_crash_a_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* no reader in this build */
}

#endif
