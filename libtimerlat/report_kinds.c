// SPDX-License-Identifier: MIT
/* report_kinds.c - results that are no latencies: metrics, maybe with a distribution beside. */
#include <string.h>

#include "report_json.h"

void tlat_json_put_kind(struct tlat_writer *w, json_t *object, const struct tlat_result *result)
{
	tlat_json_put(w, object, "kind", json_string(result->kind));
	tlat_json_put(w, object, "metrics", tlat_metrics_json(w, result));
	if (tlat_result_is_metric(result)) {
		tlat_json_put(w, object, "probe", tlat_json_string(result->probe));
		return;
	}
	if (result->latency)
		tlat_json_put(w, object, "histogram", tlat_hist_json(w, result->latency));
	tlat_json_put(w, object, "watch", tlat_watch_json(w, result));
	tlat_json_put(w, object, "findings", tlat_findings_json(w, &result->findings, 0));
}

/* NULL for latencies; a kind that is not known is what its document says. */
static const char *kind_of(const char *name)
{
	static const char *const kinds[] = { "storm", "scale", "noise", TLAT_KIND_METRIC };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i], name))
			return kinds[i];
	return strcmp("latency", name) ? name : NULL;
}

/* Its own count of overflows is the only one. */
static int get_distribution(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	const json_t *hist = json_object_get(object, "histogram");
	json_int_t overflow = json_integer_value(json_object_get(hist, "overflow"));

	return tlat_json_get_hist(r, object, overflow > 0 ? (uint64_t)overflow : 0,
				  &result->latency);
}

int tlat_json_get_kind(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	json_t *kind;
	int ret = tlat_json_need(r, object, "kind", JSON_STRING, &kind);

	if (ret < 0)
		return ret;
	result->kind = kind_of(json_string_value(kind));
	return result->kind ? get_distribution(r, object, result) : 0;
}
