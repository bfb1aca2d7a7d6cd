// SPDX-License-Identifier: MIT
/*
 * report_merge.c - several reports of the same measurement made one. Histograms add up exactly. The
 * time blocks of all runs are those of the whole, and know their run: its intervals contain what
 * differed between runs as well as what differed within them.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "report_json.h"

static int no_memory(struct tlat_error *reterr)
{
	return tlat_fail(reterr, -ENOMEM, "out of memory");
}

static void begin(struct tlat_result *into)
{
	tlat_result_forget(into);
	free(into->raw);
	into->raw = NULL;
	into->n_raw = 0;
}

static bool has_blocks(const struct tlat_result *result)
{
	return result->blocks && tlat_blocks_count(result->blocks);
}

/* Blocks to be freed, which are all of a run's; one of which they are not known is one. */
static struct tlat_blocks *blocks_of(const struct tlat_result *run)
{
	int64_t length_ns = run->duration_ns > 0 ? run->duration_ns : 1;
	struct tlat_blocks *blocks;

	if (has_blocks(run))
		return tlat_blocks_copy(run->blocks);
	if (length_ns > TLAT_BLOCK_NS_MAX)
		length_ns = TLAT_BLOCK_NS_MAX;
	if (tlat_blocks_new(&blocks, length_ns) < 0)
		return NULL;
	if (!tlat_blocks_cut(blocks, run->latency))
		return blocks;
	tlat_blocks_free(blocks);
	return NULL;
}

static int64_t end_ns(const struct tlat_blocks *blocks)
{
	return tlat_blocks_begin_ns(blocks, tlat_blocks_count(blocks));
}

/* Put the blocks of from behind those of into, and say where they came to lie. */
static int add_blocks(struct tlat_result *into, const struct tlat_result *from, int32_t first_run,
		      struct tlat_stretch *ret_stretch)
{
	struct tlat_blocks *own = blocks_of(into), *more = blocks_of(from);
	int ret = own && more ? 0 : -ENOMEM;

	if (!ret) {
		ret_stretch->begin_ns = end_ns(own);
		ret_stretch->end_ns = ret_stretch->begin_ns + end_ns(more);
		ret = tlat_blocks_append(own, more, first_run);
	}
	tlat_blocks_free(into->blocks);
	into->blocks = own;
	tlat_blocks_free(more);
	return ret;
}

static void keep_common_repeat(struct tlat_result *into, const struct tlat_result *from)
{
	if (into->repeat && from->repeat && !strcmp(into->repeat, from->repeat))
		return;
	free(into->repeat);
	into->repeat = NULL;
}

/* first_run: how many runs into has. */
static int add(struct tlat_result *into, const struct tlat_result *from, int32_t first_run,
	       const char *name, struct tlat_error *reterr)
{
	struct tlat_stretch stretch;
	int ret = add_blocks(into, from, first_run, &stretch);

	if (!ret)
		ret = tlat_result_add(into, from, &stretch);
	if (!ret)
		ret = tlat_hist_add_side(&into->floor, from->floor);
	if (!ret)
		ret = tlat_hist_add_side(&into->floor_pair, from->floor_pair);
	if (ret == -EINVAL)
		return tlat_fail(reterr, -EINVAL,
				 "%s: a unit of %llu Hz and one of %llu Hz, more than 100 ppm "
				 "apart; merge what has one counter, as with --by host",
				 name, (unsigned long long)tlat_hist_hz(into->latency),
				 (unsigned long long)tlat_hist_hz(from->latency));
	if (ret < 0)
		return no_memory(reterr);
	into->duration_ns += from->duration_ns;
	keep_common_repeat(into, from);
	return 0;
}

static const char *source_of(const struct tlat_calibration *clock)
{
	return clock ? tlat_clock_source_name(clock->source) : "not known";
}

/* One that reads the time of the kernel is worth what that is kept by. */
static int check_clocks(const struct tlat_result *a, const struct tlat_result *b, const char *name,
			struct tlat_error *reterr)
{
	const char *first = source_of(a->clock), *other = source_of(b->clock);

	if (strcmp(first, other))
		return tlat_fail(reterr, -EINVAL, "%s: clock %s in one report, %s in another", name,
				 first, other);
	if (a->has_kick || !a->clock)
		return 0;
	first = a->clock->kernel_clocksource;
	other = b->clock->kernel_clocksource;
	if (!*first || !*other || !strcmp(first, other))
		return 0;
	return tlat_fail(reterr, -EINVAL,
			 "%s: kernel's clocksource %s in one report, %s in another", name, first,
			 other);
}

static int check_alike(const struct tlat_result *a, const struct tlat_result *b, const char *name,
		       struct tlat_error *reterr)
{
	struct tlat_error why;

	if (!b || a->kind || b->kind || !a->latency || !b->latency)
		return tlat_fail(reterr, -EINVAL,
				 "%s: not a latency in every report, so that there is nothing to "
				 "add up; merge reports of the same measurement",
				 name);
	if (tlat_compare_alike(a, b, name, a->has_kick, &why) < 0 ||
	    tlat_compare_settings(a, b, name, "", &why) < 0 || check_clocks(a, b, name, &why) < 0)
		return tlat_fail(reterr, -EINVAL, "%.400s; merge what was measured alike",
				 why.text);
	return 0;
}

/* What a report was made of, if it is a sum itself; else NULL. */
static json_t *merged_of(const json_t *document)
{
	json_t *merged = json_object_get(document, "merged");

	return json_array_size(merged) ? merged : NULL;
}

static int32_t runs_of(const struct tlat_report *report)
{
	json_t *merged = merged_of(report->document);

	return merged ? (int32_t)json_array_size(merged) : 1;
}

static int check_runs(struct tlat_report *const *reports, size_t n, struct tlat_error *reterr)
{
	struct tlat_run_twice twice;
	int ret = tlat_report_twice(reports, n, &twice);

	if (ret <= 0)
		return ret < 0 ? no_memory(reterr) : 0;
	return tlat_fail(
		reterr, -EINVAL,
		"run %.60s is in reports %zu and %zu: its samples would count twice; merge "
		"each run once",
		twice.id, twice.first + 1, twice.other + 1);
}

/* Nothing is changed before all of it is known to fit. */
static int check_reports(struct tlat_report *const *reports, size_t n, struct tlat_error *reterr)
{
	const struct tlat_report *first = reports[0];

	for (size_t k = 0; k < n; k++) {
		if (reports[k]->n_results != first->n_results || !first->n_results)
			return tlat_fail(reterr, -EINVAL,
					 "report %zu has %zu results, report 1 has %zu; merge "
					 "reports of the same measurement",
					 k + 1, reports[k]->n_results, first->n_results);
		for (size_t i = 0; i < first->n_results; i++) {
			const char *probe = first->results[i]->probe;
			int ret = check_alike(first->results[i],
					      tlat_member_result(reports[k], probe,
								 tlat_member_ordinal(first, i)),
					      probe, reterr);

			if (ret < 0)
				return ret;
		}
	}
	return check_runs(reports, n, reterr);
}

static int merge_result(struct tlat_report *into, size_t i, struct tlat_report *const *reports,
			size_t n, struct tlat_error *reterr)
{
	struct tlat_result *result = into->results[i];
	size_t ordinal = tlat_member_ordinal(into, i);
	int32_t runs = runs_of(reports[0]);
	int ret = 0;

	begin(result);
	for (size_t k = 1; !ret && k < n; k++) {
		ret = add(result, tlat_member_result(reports[k], result->probe, ordinal), runs,
			  result->probe, reterr);
		runs += runs_of(reports[k]);
	}
	if (!ret)
		tlat_find_few_blocks(result);
	return ret;
}

static json_t *document_of(const struct tlat_report *report)
{
	json_t *document;
	char *text;

	if (tlat_report_format(&text, report) < 0)
		return NULL;
	document = json_loads(text, 0, NULL);
	free(text);
	return document;
}

/* Where one of the reports came from. */
static json_t *source_json(struct tlat_writer *w, const json_t *document)
{
	static const char *const of_run[] = { "id", "boot_id", "start", "duration_ns", "repeat" };
	static const char *const of_machine[] = { "hostname", "kernel", "cpu_model" };
	json_t *object = json_object();
	json_t *run = json_object_get(document, "run");
	json_t *machine = json_object_get(document, "machine");

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(of_run); i++)
		tlat_json_put(w, object, of_run[i], json_incref(json_object_get(run, of_run[i])));
	for (size_t i = 0; machine && i < TLAT_ARRAY_SIZE(of_machine); i++) {
		json_t *value = json_object_get(machine, of_machine[i]);

		if (value)
			tlat_json_put(w, object, of_machine[i], json_incref(value));
	}
	return object;
}

/* Sums are one with what they were made of. */
static void add_sources(struct tlat_writer *w, json_t *sources, const struct tlat_report *report)
{
	json_t *document = document_of(report), *merged = merged_of(document);

	if (!merged)
		tlat_json_push(w, sources, source_json(w, document));
	else if (json_array_extend(sources, merged) < 0)
		w->failed = true;
	json_decref(document);
}

/* What sums among the reports said of theirs holds no more. */
static void note_kernels(struct tlat_report *into, const json_t *sources)
{
	const json_t *first = json_object_get(json_array_get(sources, 0), "kernel");
	size_t others = 0;

	if (tlat_findings_drop(&into->findings, "merged-kernels")) {
		json_object_del(into->document, "findings");
		into->n_findings_read = 0;
	}
	for (size_t i = 1; i < json_array_size(sources); i++)
		others += !json_equal(first, json_object_get(json_array_get(sources, i), "kernel"));
	if (others)
		tlat_findings_add(&into->findings, TLAT_WARN, "merged-kernels",
				  "compare them: tlat compare",
				  "%zu of %zu reports are of another kernel than the first", others,
				  json_array_size(sources));
}

/* As that of the results, where reports say what it is. */
static void widen_clock(struct tlat_writer *w, struct tlat_report *into,
			struct tlat_report *const *reports, size_t n)
{
	json_t *clock = json_object_get(into->document, "clock"), *wider;

	for (size_t k = 1; k < n; k++) {
		const struct tlat_report *from = reports[k];

		if (into->clock && from->clock && into->clock->source == from->clock->source)
			tlat_calibration_widen(into->clock, from->clock, 0);
		if (from->slew_ppb > into->slew_ppb)
			into->slew_ppb = from->slew_ppb;
	}
	if (!into->clock || n == 1)
		return;
	wider = tlat_report_clock_json(w, into);
	if (json_object_update(clock, wider) < 0)
		w->failed = true;
	json_decref(wider);
}

/* The document behind the report says whose it is now. */
static int name_sources(struct tlat_report *into, struct tlat_report *const *reports, size_t n)
{
	struct tlat_writer w = { 0 };
	json_t *sources = json_array(), *document = into->document;

	for (size_t k = 0; k < n; k++)
		add_sources(&w, sources, reports[k]);
	note_kernels(into, sources);
	widen_clock(&w, into, reports, n);
	tlat_json_put(&w, document, "design", json_null());
	tlat_json_put(&w, document, "merged", sources);
	json_object_del(document, "verdict"); /* it is on one of them */
	into->position.known = false;
	into->appended = true;
	into->duration_ns = 0;
	for (size_t k = 0; k < n; k++)
		into->duration_ns += reports[k]->duration_ns;
	return w.failed ? -ENOMEM : 0;
}

int tlat_report_merge(struct tlat_report **ret_report, struct tlat_report *const *reports, size_t n,
		      struct tlat_error *reterr)
{
	struct tlat_report *into;
	int ret;

	if (!n)
		return tlat_fail(reterr, -EINVAL, "no report to merge");
	ret = check_reports(reports, n, reterr);
	if (!ret && tlat_report_copy(&into, reports[0]) < 0)
		ret = no_memory(reterr);
	if (ret < 0)
		return ret;
	for (size_t i = 0; !ret && i < into->n_results; i++)
		ret = merge_result(into, i, reports, n, reterr);
	for (size_t k = 1; !ret && k < n; k++)
		for (size_t i = 0; i < reports[k]->findings.n; i++)
			tlat_report_add_finding(into, &reports[k]->findings.v[i]);
	if (!ret && name_sources(into, reports, n) < 0)
		ret = no_memory(reterr);
	if (ret < 0)
		tlat_report_free(into);
	else
		*ret_report = into;
	return ret;
}
