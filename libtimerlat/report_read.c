// SPDX-License-Identifier: MIT
/*
 * report_read.c - a document becomes a report again, or one clear reason why not. The document is
 * kept, so that what this library does not know survives a rewrite.
 */
#include <stdlib.h>
#include <string.h>

#include "report_json.h"

#define SCHEMA_PREFIX "timerlat-report/"

void tlat_document_free(void *document)
{
	json_decref(document);
}

static int check_schema(struct tlat_reader *r, const json_t *document)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	size_t prefix = strlen(SCHEMA_PREFIX);

	if (!schema)
		return tlat_fail(r->reterr, -EINVAL,
				 "%.200s: has no \"schema\", so it is no report; "
				 "expected \"" TLAT_REPORT_SCHEMA "\"",
				 r->name);
	if (!strcmp(schema, TLAT_REPORT_SCHEMA))
		return 0;
	if (!strncmp(schema, SCHEMA_PREFIX, prefix) && strtol(schema + prefix, NULL, 10) > 1)
		return tlat_fail(r->reterr, -EINVAL,
				 "%.200s: schema %.60s is newer than this library, "
				 "libtimerlat %s reads " TLAT_REPORT_SCHEMA "; use a newer one",
				 r->name, schema, TLAT_VERSION);
	return tlat_fail(r->reterr, -EINVAL,
			 "%.200s: schema \"%.60s\" is not one of reports; "
			 "expected \"" TLAT_REPORT_SCHEMA "\"",
			 r->name, schema);
}

static int get_run(struct tlat_reader *r, const json_t *document, struct tlat_report *report)
{
	static const struct tlat_field fields[] = {
		TLAT_FIELD(tlat_report, id, STRING),
		TLAT_FIELD(tlat_report, duration_ns, INT64),
		TLAT_FIELD(tlat_report, seed, COUNT),
	};
	json_t *run;
	int ret;

	if ((ret = tlat_json_need(r, document, "run", JSON_OBJECT, &run)) < 0 ||
	    (ret = tlat_json_enter(r, document, "run", &run)) < 0)
		return ret;
	ret = tlat_json_get_fields(r, run, report, fields, TLAT_ARRAY_SIZE(fields));
	if (!ret)
		ret = tlat_json_get_string_copy(r, run, "repeat", &report->repeat);
	if (!ret)
		ret = tlat_json_get_end(r, run, &report->end_read);
	tlat_json_get_origin(run, report);
	tlat_json_leave(r);
	return ret;
}

/* Members that are only handed on must at least be what they say. */
static int check_members(struct tlat_reader *r, const json_t *document)
{
	static const char *const objects[] = { "tool", "machine" };
	json_t *member;
	int ret = 0;

	for (size_t i = 0; !ret && i < TLAT_ARRAY_SIZE(objects); i++)
		ret = tlat_json_get(r, document, objects[i], JSON_OBJECT, &member);
	return ret;
}

static int add_result(struct tlat_reader *r, json_t *item, struct tlat_report *report)
{
	struct tlat_result *result;
	int ret = tlat_json_get_result(r, item, &result);

	if (ret < 0)
		return ret;
	if (!json_object_get(item, "end"))
		result->end = report->end_read;
	tlat_report_own(report, result);
	return tlat_report_calibrate(report, result) < 0 ? tlat_json_no_memory(r) : 0;
}

static int get_results(struct tlat_reader *r, const json_t *document, struct tlat_report *report)
{
	json_t *array;
	int ret = tlat_json_need(r, document, "results", JSON_ARRAY, &array);
	size_t n = json_array_size(array);

	if (ret < 0)
		return ret;
	report->results = calloc(n + 1, sizeof(struct tlat_result *));
	if (!report->results)
		return tlat_json_no_memory(r);
	for (size_t i = 0; !ret && i < n; i++) {
		tlat_json_enter_item(r, "results", i);
		ret = add_result(r, json_array_get(array, i), report);
		tlat_json_leave(r);
	}
	return ret;
}

static int fill_report(struct tlat_reader *r, const json_t *document, struct tlat_report *report)
{
	int ret;

	if ((ret = check_schema(r, document)) < 0 || (ret = check_members(r, document)) < 0 ||
	    (ret = get_run(r, document, report)) < 0 ||
	    (ret = tlat_json_get_design(r, document, &report->position)) < 0 ||
	    (ret = tlat_json_get_findings(r, document, &report->findings)) < 0 ||
	    (ret = tlat_json_get_clock(r, document, &report->clock, &report->slew_ppb)) < 0)
		return ret;
	report->n_findings_read = report->findings.n;
	return get_results(r, document, report);
}

static int from_document(struct tlat_report **ret_report, json_t *document, const char *name,
			 struct tlat_error *reterr)
{
	struct tlat_reader r = { .name = name, .reterr = reterr };
	struct tlat_report *report;
	int ret;

	if (!json_is_object(document))
		return tlat_fail(reterr, -EINVAL,
				 "%.200s: is JSON, but no object, so it is no report", name);
	report = tlat_report_alloc();
	if (!report)
		return tlat_json_no_memory(&r);
	ret = fill_report(&r, document, report);
	if (ret < 0) {
		tlat_report_free(report);
		return ret;
	}
	report->document = json_incref(document);
	*ret_report = report;
	return 0;
}

/* Of a JSON Lines file only the first line is read; but that line must end with the document. */
static int check_rest(const char *text, size_t n, size_t position, const char *name,
		      struct tlat_error *reterr)
{
	for (size_t i = position; i < n && text[i] != '\n'; i++)
		if (!memchr(" \t\r", text[i], 3))
			return tlat_fail(reterr, -EINVAL,
					 "%.200s: something follows the document on its "
					 "line (byte %zu)",
					 name, i + 1);
	return 0;
}

int tlat_report_read_text(struct tlat_report **ret_report, const char *text, size_t n, bool more,
			  const char *name, struct tlat_error *reterr)
{
	json_error_t error;
	json_t *document =
		json_loadb(text, n, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
	int ret;

	if (!document && more)
		return tlat_fail(reterr, -EFBIG,
				 "%.200s: no document ends within the first %u MiB, "
				 "which is all that is read",
				 name, TLAT_REPORT_BYTES_MAX >> 20);
	if (!document)
		return tlat_fail(reterr, -EINVAL, "%.160s: not JSON, line %d, column %d: %.160s",
				 name, error.line, error.column, error.text);
	ret = check_rest(text, n, (size_t)error.position, name, reterr);
	if (!ret)
		ret = from_document(ret_report, document, name, reterr);
	json_decref(document);
	return ret;
}

int tlat_report_read(struct tlat_report **ret_report, const char *path, struct tlat_error *reterr)
{
	bool more;
	char *text;
	ssize_t n = tlat_file_read(path, TLAT_REPORT_BYTES_MAX, &text, &more, reterr);
	int ret;

	if (n < 0)
		return (int)n;
	ret = tlat_report_read_text(ret_report, text, (size_t)n, more,
				    strcmp(path, "-") ? path : "standard input", reterr);
	free(text);
	return ret;
}

int tlat_report_copy(struct tlat_report **ret_copy, const struct tlat_report *report)
{
	char *text;
	int ret = tlat_report_format(&text, report);

	if (ret < 0)
		return ret;
	ret = tlat_report_read_text(ret_copy, text, strlen(text), false, "copy", NULL);
	free(text);
	return ret;
}
