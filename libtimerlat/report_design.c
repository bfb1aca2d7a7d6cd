// SPDX-License-Identifier: MIT
/* report_design.c - design, and when and in which boot a run was, in a document. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report_json.h"

static const struct tlat_field design_fields[] = {
	TLAT_FIELD(tlat_position, pair, INT32),
	TLAT_FIELD(tlat_position, planned, INT32),
	TLAT_FIELD(tlat_position, seed, COUNT),
};

json_t *tlat_design_json(struct tlat_writer *w, const struct tlat_position *position)
{
	const char side[] = { (char)position->side, '\0' };
	json_t *object;

	if (!position->known)
		return json_null();
	object = tlat_json_group(w, true, position, design_fields, TLAT_ARRAY_SIZE(design_fields));
	tlat_json_put(w, object, "side", json_string(side));
	tlat_json_put(w, object, "order", tlat_json_string(position->order));
	tlat_json_put(w, object, "looks", json_boolean(position->looks));
	tlat_json_put(w, object, "command", tlat_json_string(position->command));
	tlat_json_put(w, object, "setup", tlat_json_string(position->setup));
	tlat_json_put(w, object, "metric", tlat_json_string(position->metric));
	return object;
}

static int get_design(struct tlat_reader *r, const json_t *member, struct tlat_position *position)
{
	json_t *side, *looks = json_object_get(member, "looks");
	int ret;

	if ((ret = tlat_json_need(r, member, "side", JSON_STRING, &side)) < 0 ||
	    (ret = tlat_json_get_fields(r, member, position, design_fields,
					TLAT_ARRAY_SIZE(design_fields))) < 0 ||
	    (ret = tlat_json_get_string_copy(r, member, "order", &position->order)) < 0 ||
	    (ret = tlat_json_get_string_copy(r, member, "command", &position->command)) < 0 ||
	    (ret = tlat_json_get_string_copy(r, member, "setup", &position->setup)) < 0 ||
	    (ret = tlat_json_get_string_copy(r, member, "metric", &position->metric)) < 0)
		return ret;
	if (strcmp(json_string_value(side), "A") && strcmp(json_string_value(side), "B"))
		return tlat_json_refuse(r, "side", "\"%.40s\" is neither \"A\" nor \"B\"",
					json_string_value(side));
	if (position->pair < 0)
		return tlat_json_refuse(r, "pair", "%d is below 0", (int)position->pair);
	if (position->planned < 0)
		return tlat_json_refuse(r, "planned", "%d is below 0", (int)position->planned);
	position->side = *json_string_value(side);
	position->looks = json_is_true(looks);
	position->known = true;
	return 0;
}

int tlat_json_get_design(struct tlat_reader *r, const json_t *document,
			 struct tlat_position *position)
{
	json_t *member;
	int ret = tlat_json_enter(r, document, "design", &member);

	if (ret <= 0)
		return ret;
	ret = get_design(r, member, position);
	tlat_json_leave(r);
	return ret;
}

/* The digits after the point, as nanoseconds. */
static int64_t fraction_ns(const char *point)
{
	int64_t ns = 0, weight = TLAT_NSEC_PER_SEC / 10;

	for (const char *at = point + 1; *point == '.' && *at >= '0' && *at <= '9'; at++) {
		ns += weight * (*at - '0');
		weight /= 10;
	}
	return ns;
}

void tlat_json_get_origin(const json_t *run, struct tlat_report *report)
{
	const char *start = json_string_value(json_object_get(run, "start"));
	const char *boot = json_string_value(json_object_get(run, "boot_id"));
	struct tm tm = { 0 };
	const char *rest = start ? strptime(start, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int64_t seconds = rest ? (int64_t)timegm(&tm) : 0;

	/* What int64_t has room for. */
	if (seconds > 0 && seconds < INT64_C(9000000000))
		report->start_ns = seconds * TLAT_NSEC_PER_SEC + fraction_ns(rest);
	snprintf(report->boot_id, sizeof(report->boot_id), "%s", boot ? boot : "");
}
