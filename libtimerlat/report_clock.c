// SPDX-License-Identifier: MIT
/* report_clock.c - calibration and offsets, to and from a report. */
#include <stdlib.h>

#include "report_json.h"

static const struct tlat_field clock_fields[] = {
	TLAT_FIELD(tlat_calibration, reason, STRING),
	TLAT_FIELD(tlat_calibration, hz, COUNT),
	TLAT_FIELD(tlat_calibration, hz_error_ppb, INT64),
	TLAT_FIELD(tlat_calibration, quantum_ns, REAL),
	TLAT_FIELD(tlat_calibration, read_cost_ns, REAL),
	TLAT_FIELD(tlat_calibration, read_min_ns, REAL),
	TLAT_FIELD(tlat_calibration, read_p99_ns, REAL),
	TLAT_FIELD(tlat_calibration, gettime_cost_ns, REAL),
	TLAT_FIELD(tlat_calibration, kernel_clocksource, STRING),
	TLAT_FIELD(tlat_calibration, method, STRING),
	TLAT_FIELD(tlat_calibration, span_ms, REAL),
	TLAT_FIELD(tlat_calibration, quantum_ticks, REAL),
	TLAT_FIELD(tlat_calibration, quantum_share, REAL),
	TLAT_FIELD(tlat_calibration, vdso, BOOL),
	TLAT_FIELD(tlat_calibration, invariant, BOOL),
	TLAT_FIELD(tlat_calibration, hypervisor, BOOL),
};

static const struct tlat_field gap_fields[] = {
	TLAT_FIELD_AS(tlat_calibration, gap_cpu, "cpu", INT32),
	TLAT_FIELD_AS(tlat_calibration, gap_duration_ms, "duration_ms", REAL),
	TLAT_FIELD_AS(tlat_calibration, gap_threshold_ns, "threshold_ns", REAL),
	TLAT_FIELD_AS(tlat_calibration, gap_count, "count", COUNT),
	TLAT_FIELD_AS(tlat_calibration, gap_rate_hz, "rate_hz", REAL),
	TLAT_FIELD_AS(tlat_calibration, gap_max_ns, "max_ns", REAL),
};

static const struct tlat_field end_fields[] = {
	TLAT_FIELD_AS(tlat_calibration, end_drift_ppm, "drift_ppm", REAL),
};

static const struct tlat_field offset_fields[] = {
	TLAT_FIELD(tlat_clock_offset, a, INT32),	 TLAT_FIELD(tlat_clock_offset, b, INT32),
	TLAT_FIELD(tlat_clock_offset, lo_ns, REAL),	 TLAT_FIELD(tlat_clock_offset, hi_ns, REAL),
	TLAT_FIELD(tlat_clock_offset, rtt_min_ns, REAL),
};

static json_t *brackets_json(struct tlat_writer *w, const struct tlat_calibration *clock)
{
	json_t *array = json_array();

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(clock->anchor_bracket_ns); i++)
		tlat_json_push(w, array, tlat_json_real(clock->anchor_bracket_ns[i]));
	return array;
}

json_t *tlat_clock_json(struct tlat_writer *w, const struct tlat_calibration *clock,
			int64_t slew_ppb)
{
	json_t *object;

	if (!clock)
		return json_null();
	object = json_object();
	tlat_json_put(w, object, "source", tlat_json_string(tlat_clock_source_name(clock->source)));
	tlat_json_put_fields(w, object, clock, clock_fields, TLAT_ARRAY_SIZE(clock_fields));
	tlat_json_put(w, object, "anchor_bracket_ns", brackets_json(w, clock));
	tlat_json_put(w, object, "monotonic_slew_ppb", json_integer(slew_ppb));
	tlat_json_put(w, object, "gap",
		      tlat_json_group(w, clock->gap_known, clock, gap_fields,
				      TLAT_ARRAY_SIZE(gap_fields)));
	tlat_json_put(w, object, "end_check",
		      tlat_json_group(w, clock->end_checked, clock, end_fields,
				      TLAT_ARRAY_SIZE(end_fields)));
	return object;
}

static int get_source(struct tlat_reader *r, const json_t *object, struct tlat_calibration *clock)
{
	json_t *name;
	int ret = tlat_json_need(r, object, "source", JSON_STRING, &name);

	if (ret < 0)
		return ret;
	clock->source = tlat_clock_source_from_name(json_string_value(name));
	if (clock->source < 0)
		return tlat_json_refuse(r, "source", "\"%.40s\" is no clock source",
					json_string_value(name));
	return 0;
}

static int get_brackets(struct tlat_reader *r, const json_t *object, struct tlat_calibration *clock)
{
	json_t *array;
	int ret = tlat_json_get(r, object, "anchor_bracket_ns", JSON_ARRAY, &array);

	for (size_t i = 0; !ret && i < TLAT_ARRAY_SIZE(clock->anchor_bracket_ns); i++)
		clock->anchor_bracket_ns[i] = json_number_value(json_array_get(array, i));
	return ret;
}

/* A group that is there but empty is as good as none. */
static int get_known(struct tlat_reader *r, const json_t *object, const char *key, bool *ret_known,
		     struct tlat_calibration *clock, const struct tlat_field *fields, size_t n)
{
	int ret = tlat_json_get_group(r, object, key, clock, fields, n);

	*ret_known = ret > 0 && json_object_size(json_object_get(object, key)) > 0;
	return ret < 0 ? ret : 0;
}

static int fill_clock(struct tlat_reader *r, const json_t *object, struct tlat_calibration *clock,
		      int64_t *ret_slew_ppb)
{
	json_t *slew;
	int ret = get_source(r, object, clock);

	if (!ret)
		ret = tlat_json_get_fields(r, object, clock, clock_fields,
					   TLAT_ARRAY_SIZE(clock_fields));
	if (!ret)
		ret = get_brackets(r, object, clock);
	if (!ret)
		ret = tlat_json_get(r, object, "monotonic_slew_ppb", JSON_INTEGER, &slew);
	if (ret < 0)
		return ret;
	*ret_slew_ppb = json_integer_value(slew);
	ret = get_known(r, object, "gap", &clock->gap_known, clock, gap_fields,
			TLAT_ARRAY_SIZE(gap_fields));
	if (!ret)
		ret = get_known(r, object, "end_check", &clock->end_checked, clock, end_fields,
				TLAT_ARRAY_SIZE(end_fields));
	return ret;
}

int tlat_json_get_clock(struct tlat_reader *r, const json_t *object,
			struct tlat_calibration **ret_clock, int64_t *ret_slew_ppb)
{
	json_t *member;
	int ret = tlat_json_enter(r, object, "clock", &member);

	*ret_clock = NULL;
	if (ret <= 0)
		return ret;
	*ret_clock = calloc(1, sizeof(**ret_clock));
	ret = *ret_clock ? fill_clock(r, member, *ret_clock, ret_slew_ppb) : tlat_json_no_memory(r);
	tlat_json_leave(r);
	return ret;
}

json_t *tlat_offset_json(struct tlat_writer *w, const struct tlat_clock_offset *offset)
{
	return tlat_json_group(w, true, offset, offset_fields, TLAT_ARRAY_SIZE(offset_fields));
}

int tlat_json_get_offset(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	int ret = tlat_json_get_group(r, object, "offset", &result->offset, offset_fields,
				      TLAT_ARRAY_SIZE(offset_fields));

	result->has_offset = ret > 0;
	return ret < 0 ? ret : 0;
}
