// SPDX-License-Identifier: MIT
/* report_sources.c - which runs a report holds: the one that made it, and those of a sum. */
#include "report_json.h"

const char *tlat_report_run_id(const struct tlat_report *report, size_t index)
{
	const json_t *merged = json_object_get(report->document, "merged");
	const char *id;

	if (!index)
		return report->id;
	if (index > json_array_size(merged))
		return NULL;
	id = json_string_value(json_object_get(json_array_get(merged, index - 1), "id"));
	return id ? id : "";
}
