// SPDX-License-Identifier: MIT
/*
 * report_write.c - the document: run, machine, clock, results. A report that was read is written
 * from its own document, changed only where the report has changed since.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_json.h"

static const struct tlat_field machine_fields[] = {
	TLAT_FIELD(tlat_machine_facts, kernel, STRING),
	TLAT_FIELD(tlat_machine_facts, cmdline, STRING),
	TLAT_FIELD(tlat_machine_facts, preempt, STRING),
	TLAT_FIELD(tlat_machine_facts, hz, INT32_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, cpu_model, STRING),
	TLAT_FIELD(tlat_machine_facts, hostname, STRING),
	TLAT_FIELD(tlat_machine_facts, governor, STRING),
	TLAT_FIELD(tlat_machine_facts, freq_driver, STRING),
	TLAT_FIELD(tlat_machine_facts, turbo, INT32_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, idle_driver, STRING),
	TLAT_FIELD(tlat_machine_facts, idle_governor, STRING),
	TLAT_FIELD(tlat_machine_facts, clocksource, STRING),
	TLAT_FIELD(tlat_machine_facts, hypervisor, STRING),
	TLAT_FIELD(tlat_machine_facts, sched_ext, STRING),
	TLAT_FIELD(tlat_machine_facts, timer_migration, INT32_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, rt_period_us, INT64_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, timer_resolution_ns, INT64_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, signal_frame_bytes, INT64_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, rt_group_sched, INT32_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, mitigations, STRING),
	TLAT_FIELD(tlat_machine_facts, smt, INT32_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, thp_always, INT32_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, numa_balancing, INT32_OR_NULL),
	TLAT_FIELD(tlat_machine_facts, cgroup, STRING),
};

json_t *tlat_report_machine_json(struct tlat_writer *w, const struct tlat_report *report)
{
	const struct tlat_report_machine *machine = &report->machine;
	json_t *object;

	if (!machine->known)
		return json_null();
	object = json_object();
	tlat_json_put_fields(w, object, &machine->facts, machine_fields,
			     TLAT_ARRAY_SIZE(machine_fields));
	/* Here -1 has a meaning, no throttling, where the period is known. */
	tlat_json_put(w, object, "rt_runtime_us",
		      machine->facts.rt_period_us < 0 ? json_null()
						      : json_integer(machine->facts.rt_runtime_us));
	tlat_json_put(w, object, "online", tlat_json_string(machine->online));
	tlat_json_put(w, object, "isolated", tlat_json_string(machine->isolated));
	tlat_json_put(w, object, "isolated_requested",
		      tlat_json_string(machine->isolated_requested));
	tlat_json_put(w, object, "nohz_full", tlat_json_string(machine->nohz_full));
	tlat_json_put(w, object, "allowed", tlat_json_string(machine->allowed));
	tlat_json_put(w, object, "cpuset", tlat_json_string(machine->cpuset));
	return object;
}

static json_t *tool_json(struct tlat_writer *w, const struct tlat_report *report)
{
	json_t *object = json_object(), *argv = json_array();

	for (char **arg = report->argv; arg && *arg; arg++)
		tlat_json_push(w, argv, tlat_json_string(*arg));
	tlat_json_put(w, object, "version", json_string(TLAT_VERSION));
	tlat_json_put(w, object, "argv", argv);
	return object;
}

/* ISO 8601 in UTC, to the nanosecond. */
static json_t *time_json(int64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / TLAT_NSEC_PER_SEC);
	char date[32], text[48];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		return json_null();
	snprintf(text, sizeof(text), "%s.%09lldZ", date,
		 (long long)(realtime_ns % TLAT_NSEC_PER_SEC));
	return json_string(text);
}

/* The command of the whole, or of the first result where nobody told. */
static const char *repeat_of(const struct tlat_report *report)
{
	if (report->repeat || !report->n_results)
		return report->repeat;
	return report->results[0]->repeat;
}

static json_t *run_json(struct tlat_writer *w, const struct tlat_report *report)
{
	const char *boot_id = report->machine.known ? report->machine.facts.boot_id : "";
	json_t *object = json_object();

	tlat_json_put(w, object, "id", tlat_json_string(report->id));
	tlat_json_put(w, object, "boot_id", tlat_json_string(*boot_id ? boot_id : NULL));
	tlat_json_put(w, object, "start", time_json(report->start_ns));
	tlat_json_put(w, object, "duration_ns", json_integer(report->duration_ns));
	tlat_json_put(w, object, "seed", json_integer((json_int_t)(report->seed & INT64_MAX)));
	tlat_json_put(w, object, "repeat", tlat_json_string(repeat_of(report)));
	tlat_json_put(w, object, "end", json_string(tlat_report_end(report)));
	return object;
}

static bool has_equal(const json_t *array, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (json_equal(json_array_get(array, i), value))
			return true;
	return false;
}

/* The offsets of all results join those that are in the list, each once. */
static void add_offsets(struct tlat_writer *w, json_t *offsets, const struct tlat_report *report)
{
	for (size_t i = 0; i < report->n_results; i++) {
		const struct tlat_result *result = report->results[i];
		json_t *offset;

		if (!result->has_offset)
			continue;
		offset = tlat_offset_json(w, &result->offset);
		if (!has_equal(offsets, offset))
			tlat_json_push(w, offsets, json_incref(offset));
		json_decref(offset);
	}
}

json_t *tlat_report_clock_json(struct tlat_writer *w, const struct tlat_report *report)
{
	json_t *object = tlat_clock_json(w, report->clock, report->slew_ppb);
	json_t *offsets;

	if (!json_is_object(object))
		return object;
	offsets = json_array();
	add_offsets(w, offsets, report);
	tlat_json_put(w, object, "offsets", offsets);
	return object;
}

static json_t *results_json(struct tlat_writer *w, const struct tlat_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->n_results; i++)
		tlat_json_push(w, array, tlat_result_json(w, report, report->results[i]));
	return array;
}

static void put_verdict(struct tlat_writer *w, json_t *object, const struct tlat_report *report)
{
	if (report->verdict != TLAT_NO_VERDICT)
		tlat_json_put(w, object, "verdict",
			      json_string(tlat_verdict_name(report->verdict)));
}

static json_t *fresh_document(struct tlat_writer *w, const struct tlat_report *report)
{
	json_t *object = json_object();

	tlat_json_put(w, object, "schema", json_string(TLAT_REPORT_SCHEMA));
	tlat_json_put(w, object, "tool", tool_json(w, report));
	tlat_json_put(w, object, "run", run_json(w, report));
	tlat_json_put(w, object, "design", tlat_design_json(w, &report->position));
	tlat_json_put(w, object, "findings", tlat_findings_json(w, &report->findings, 0));
	tlat_json_put(w, object, "machine", tlat_report_machine_json(w, report));
	tlat_json_put(w, object, "clock", tlat_report_clock_json(w, report));
	tlat_json_put(w, object, "results", results_json(w, report));
	put_verdict(w, object, report);
	return object;
}

/* A deep copy of a member of the document, or an empty one where there is none. */
static json_t *member_copy(const json_t *document, const char *key, json_type type)
{
	const json_t *member = json_object_get(document, key);

	if (member && json_typeof(member) == type)
		return json_deep_copy(member);
	return type == JSON_ARRAY ? json_array() : json_object();
}

static void merge_run(struct tlat_writer *w, json_t *object, const struct tlat_report *report)
{
	json_t *run = member_copy(object, "run", JSON_OBJECT);

	if (report->argv) {
		tlat_json_put(w, object, "tool", tool_json(w, report));
		tlat_json_put(w, run, "repeat", tlat_json_string(report->repeat));
	}
	if (report->appended) {
		tlat_json_put(w, run, "duration_ns", json_integer(report->duration_ns));
		tlat_json_put(w, run, "end", json_string(tlat_report_end(report)));
	}
	tlat_json_put(w, object, "run", run);
}

static void merge_findings(struct tlat_writer *w, json_t *object, const struct tlat_report *report)
{
	json_t *findings = member_copy(object, "findings", JSON_ARRAY);
	json_t *more = tlat_findings_json(w, &report->findings, report->n_findings_read);

	if (json_array_extend(findings, more) < 0)
		w->failed = true;
	json_decref(more);
	tlat_json_put(w, object, "findings", findings);
}

static void merge_offsets(struct tlat_writer *w, json_t *object, const struct tlat_report *report)
{
	json_t *clock, *offsets;

	if (!json_is_object(json_object_get(object, "clock")))
		return;
	clock = member_copy(object, "clock", JSON_OBJECT);
	offsets = member_copy(clock, "offsets", JSON_ARRAY);
	add_offsets(w, offsets, report);
	tlat_json_put(w, clock, "offsets", offsets);
	tlat_json_put(w, object, "clock", clock);
}

static json_t *merged_document(struct tlat_writer *w, const struct tlat_report *report)
{
	json_t *object = json_copy(report->document);

	if (report->argv || report->appended)
		merge_run(w, object, report);
	if (report->findings.n > report->n_findings_read)
		merge_findings(w, object, report);
	if (report->placed)
		tlat_json_put(w, object, "design", tlat_design_json(w, &report->position));
	put_verdict(w, object, report);
	if (report->appended)
		merge_offsets(w, object, report);
	tlat_json_put(w, object, "results", results_json(w, report));
	return object;
}

int tlat_report_format(char **ret_text, const struct tlat_report *report)
{
	struct tlat_writer w = { 0 };
	json_t *document =
		report->document ? merged_document(&w, report) : fresh_document(&w, report);

	return tlat_json_dump(&w, document, ret_text);
}

int tlat_report_write(const struct tlat_report *report, const char *path, unsigned int flags,
		      struct tlat_error *reterr)
{
	char *text;
	size_t n;
	int ret;

	if (flags & ~(unsigned int)TLAT_WRITE_APPEND)
		return tlat_fail(reterr, -EINVAL, "%s: write flags %#x are not known", path, flags);
	ret = tlat_report_format(&text, report);
	if (ret < 0)
		return tlat_fail(reterr, ret, "%s: not written: out of memory", path);
	n = strlen(text);
	text[n++] = '\n'; /* where the terminator was: files are told the length */
	ret = flags & TLAT_WRITE_APPEND ? tlat_file_append(path, text, n, reterr)
					: tlat_file_replace(path, text, n, reterr);
	free(text);
	return ret;
}
