// SPDX-License-Identifier: MIT
/* report_metrics.c - metrics, to and from a report. */
#include <math.h>
#include <string.h>

#include "report_json.h"

static const struct tlat_field fields[] = {
	TLAT_FIELD(tlat_number, name, NAME),  TLAT_FIELD(tlat_number, unit, NAME),
	TLAT_FIELD(tlat_number, value, REAL), TLAT_FIELD(tlat_number, sd, REAL),
	TLAT_FIELD(tlat_number, n, COUNT),
};

static const char *const better_names[] = { "lower", "none", "higher" };

json_t *tlat_metrics_json(struct tlat_writer *w, const struct tlat_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->n_metrics; i++) {
		const struct tlat_number *figure = &result->metrics[i];
		json_t *object = json_object();

		tlat_json_put_fields(w, object, figure, fields, TLAT_ARRAY_SIZE(fields));
		if (!*figure->unit) /* a plain number; null would say that it is not known */
			tlat_json_put(w, object, "unit", json_string(""));
		tlat_json_put(w, object, "better",
			      json_string(better_names[figure->better - TLAT_LOWER]));
		tlat_json_push(w, array, object);
	}
	return array;
}

static int get_better(struct tlat_reader *r, const json_t *object, int32_t *ret_better)
{
	json_t *name;
	int ret = tlat_json_get(r, object, "better", JSON_STRING, &name);

	if (ret < 0 || !name)
		return ret;
	for (int32_t i = 0; i < (int32_t)TLAT_ARRAY_SIZE(better_names); i++)
		if (!strcmp(json_string_value(name), better_names[i])) {
			*ret_better = i + TLAT_LOWER;
			return 0;
		}
	return tlat_json_refuse(r, "better", "\"%.40s\" is none of lower, higher, none",
				json_string_value(name));
}

/* Of two with one name who asks for it would get the first. */
static int note_name(struct tlat_reader *r, json_t *names, const char *name)
{
	if (json_object_get(names, name))
		return tlat_json_refuse(r, "name", "\"%s\" is there twice", name);
	return json_object_set_new(names, name, json_true()) < 0 ? tlat_json_no_memory(r) : 0;
}

static int get_metric(struct tlat_reader *r, const json_t *object, json_t *names,
		      struct tlat_result *result)
{
	struct tlat_number figure = { .value = NAN, .sd = NAN };
	json_t *name;
	int ret;

	if ((ret = tlat_json_need(r, object, "name", JSON_STRING, &name)) < 0 ||
	    (ret = tlat_json_get_fields(r, object, &figure, fields, TLAT_ARRAY_SIZE(fields))) < 0 ||
	    (ret = note_name(r, names, figure.name)) < 0 ||
	    (ret = get_better(r, object, &figure.better)) < 0)
		return ret;
	tlat_result_add_metric(result, &figure);
	return 0;
}

int tlat_json_get_metrics(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	json_t *array, *names = json_object();
	int ret = tlat_json_get(r, object, "metrics", JSON_ARRAY, &array);

	for (size_t i = 0; !ret && array && i < json_array_size(array); i++) {
		tlat_json_enter_item(r, "metrics", i);
		ret = get_metric(r, json_array_get(array, i), names, result);
		tlat_json_leave(r);
	}
	json_decref(names);
	return ret;
}
