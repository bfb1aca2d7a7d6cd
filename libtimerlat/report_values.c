// SPDX-License-Identifier: MIT
/*
 * report_values.c - single values in a report: the largest ones with their circumstances, and the
 * first ones in the order in which they came. In ns there, in the histogram's unit here.
 */
#include <math.h>
#include <stdlib.h>

#include "report_json.h"

struct outlier {
	double value_ns;
	int64_t t_ns;
	uint64_t seq;
	int32_t cpu;
	int64_t block; /* written only; -1: there are none */
};

static const struct tlat_field outlier_fields[] = {
	TLAT_FIELD(outlier, value_ns, REAL),
	TLAT_FIELD(outlier, t_ns, INT64),
	TLAT_FIELD(outlier, cpu, INT32),
	TLAT_FIELD(outlier, seq, COUNT),
};

static const struct tlat_field block_field = TLAT_FIELD(outlier, block, INT64_OR_NULL);

/* Largest first; what is equal in the order in which it came. */
static int compare_outliers(const void *a, const void *b)
{
	const struct tlat_outlier *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Blocks are cut at about their length: what comes near an edge may be next door. */
static int64_t block_of(const struct tlat_blocks *blocks, int64_t t_ns)
{
	int64_t n = blocks ? (int64_t)tlat_blocks_count(blocks) : 0, block;

	if (!n)
		return -1;
	for (block = 0; block + 1 < n; block++)
		if (t_ns < tlat_blocks_begin_ns(blocks, (size_t)block + 1))
			break;
	return block;
}

static json_t *outlier_json(struct tlat_writer *w, const struct tlat_result *result,
			    const struct tlat_outlier *from)
{
	const struct outlier outlier = {
		.value_ns = tlat_hist_ns(result->latency, (double)from->value),
		.t_ns = from->t_ns,
		.seq = from->seq,
		.cpu = from->cpu,
		.block = block_of(result->blocks, from->t_ns),
	};
	json_t *object = json_object();

	tlat_json_put_fields(w, object, &outlier, outlier_fields, TLAT_ARRAY_SIZE(outlier_fields));
	tlat_json_put_fields(w, object, &outlier, &block_field, 1);
	return object;
}

json_t *tlat_outliers_json(struct tlat_writer *w, const struct tlat_result *result)
{
	json_t *array = json_array();
	struct tlat_outliers sorted;

	if (!result->outliers || !result->latency)
		return array;
	sorted = *result->outliers;
	qsort(sorted.v, sorted.n, sizeof(sorted.v[0]), compare_outliers);
	for (size_t i = 0; i < sorted.n; i++)
		tlat_json_push(w, array, outlier_json(w, result, &sorted.v[i]));
	return array;
}

/* ns in a report to the unit of hist: what was an integer there becomes the same one again. */
static int to_units(struct tlat_reader *r, const struct tlat_hist *hist, const char *key,
		    double value_ns, int64_t *ret_value)
{
	double units = value_ns * (double)tlat_hist_hz(hist) / (double)TLAT_NSEC_PER_SEC;

	if (!(fabs(units) < 0x1p62))
		return tlat_json_refuse(r, key, "%g is out of range", value_ns);
	*ret_value = llround(units);
	return 0;
}

static int get_outlier(struct tlat_reader *r, const json_t *item, const struct tlat_hist *hist,
		       struct tlat_outlier *ret)
{
	struct outlier outlier = { .value_ns = NAN };
	int code;

	if (!json_is_object(item))
		return tlat_json_refuse(r, "value_ns", "is missing, this is no object");
	code = tlat_json_get_fields(r, item, &outlier, outlier_fields,
				    TLAT_ARRAY_SIZE(outlier_fields));
	if (code < 0)
		return code;
	ret->t_ns = outlier.t_ns;
	ret->seq = outlier.seq;
	ret->cpu = outlier.cpu;
	return to_units(r, hist, "value_ns", outlier.value_ns, &ret->value);
}

/* A report has the largest first; backwards they are the min-heap that a struct has. */
static int get_outlier_items(struct tlat_reader *r, const json_t *array,
			     const struct tlat_hist *hist, struct tlat_outliers *outliers)
{
	size_t n = json_array_size(array);
	int ret = 0;

	outliers->n = n;
	for (size_t i = 0; !ret && i < n; i++) {
		tlat_json_enter_item(r, "outliers", i);
		ret = get_outlier(r, json_array_get(array, i), hist, &outliers->v[n - 1 - i]);
		if (!ret && i && outliers->v[n - 1 - i].value > outliers->v[n - i].value)
			ret = tlat_json_refuse(r, "value_ns", "is above the one before");
		tlat_json_leave(r);
	}
	return ret;
}

int tlat_json_get_outliers(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	json_t *array;
	int ret = tlat_json_get(r, object, "outliers", JSON_ARRAY, &array);

	if (ret < 0 || !json_array_size(array))
		return ret;
	if (!result->latency || json_array_size(array) > TLAT_OUTLIERS_MAX)
		return tlat_json_refuse(r, "outliers", "%zu are more than there can be here",
					json_array_size(array));
	result->outliers = calloc(1, sizeof(*result->outliers));
	if (!result->outliers)
		return tlat_json_no_memory(r);
	return get_outlier_items(r, array, result->latency, result->outliers);
}

json_t *tlat_raw_json(struct tlat_writer *w, const struct tlat_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->n_raw; i++)
		tlat_json_push(
			w, array,
			tlat_json_real(tlat_hist_ns(result->latency, (double)result->raw[i])));
	return array;
}

int tlat_json_get_raw(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	json_t *array;
	int ret = tlat_json_get(r, object, "raw_ns", JSON_ARRAY, &array);
	size_t n = json_array_size(array);

	if (ret < 0 || !n)
		return ret;
	if (!result->latency)
		return tlat_json_refuse(r, "raw_ns", "has values, but there is no histogram");
	result->raw = calloc(n, sizeof(*result->raw));
	if (!result->raw)
		return tlat_json_no_memory(r);
	for (size_t i = 0; !ret && i < n; i++) {
		const json_t *value = json_array_get(array, i);

		ret = json_is_number(value)
			      ? to_units(r, result->latency, "raw_ns", json_number_value(value),
					 &result->raw[i])
			      : tlat_json_refuse(r, "raw_ns", "has an item that is no number");
	}
	result->n_raw = n;
	return ret;
}
