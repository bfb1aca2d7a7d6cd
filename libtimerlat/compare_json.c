// SPDX-License-Identifier: MIT
/* compare_json.c - a comparison as a document, schema timerlat-comparison/1. */
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "report_json.h"

static const struct tlat_field item_fields[] = {
	TLAT_FIELD(tlat_compare_item, base, REAL),
	TLAT_FIELD_AS(tlat_compare_item, next, "new", REAL),
	TLAT_FIELD(tlat_compare_item, ratio, REAL),
	TLAT_FIELD(tlat_compare_item, p, REAL),
	TLAT_FIELD(tlat_compare_item, alpha, REAL),
	TLAT_FIELD(tlat_compare_item, sd, REAL),
	TLAT_FIELD(tlat_compare_item, base_sd, REAL),
	TLAT_FIELD_AS(tlat_compare_item, next_sd, "new_sd", REAL),
	TLAT_FIELD(tlat_compare_item, mde, REAL),
	TLAT_FIELD(tlat_compare_item, drift, REAL),
	TLAT_FIELD(tlat_compare_item, n_base, COUNT),
	TLAT_FIELD_AS(tlat_compare_item, n_next, "n_new", COUNT),
	TLAT_FIELD(tlat_compare_item, needed, COUNT),
};

static const struct tlat_field noise_fields[] = {
	TLAT_FIELD_AS(tlat_compare_item, noise_boot, "boot", REAL),
	TLAT_FIELD_AS(tlat_compare_item, noise_run, "run", REAL),
	TLAT_FIELD_AS(tlat_compare_item, noise_block, "block", REAL),
};

static const struct tlat_field figure_fields[] = {
	TLAT_FIELD(tlat_compare_figure, quantile, REAL),
	TLAT_FIELD(tlat_compare_figure, base, REAL),
	TLAT_FIELD_AS(tlat_compare_figure, next, "new", REAL),
	TLAT_FIELD(tlat_compare_figure, ratio, REAL),
	TLAT_FIELD(tlat_compare_figure, p, REAL),
	TLAT_FIELD(tlat_compare_figure, worse, INT32),
};

/* A bound that does not exist is null. */
static json_t *interval_json(struct tlat_writer *w, double lo, double hi)
{
	json_t *pair = json_array();

	tlat_json_push(w, pair, lo > 0 ? tlat_json_real(lo) : json_null());
	tlat_json_push(w, pair, tlat_json_real(hi));
	return pair;
}

static json_t *verdict_json(int verdict)
{
	return json_string(tlat_compare_verdict_name(verdict));
}

static json_t *figure_json(struct tlat_writer *w, const struct tlat_compare_figure *figure)
{
	json_t *object = json_object();

	tlat_json_put(w, object, "name", tlat_json_string(figure->name));
	tlat_json_put(w, object, "unit", tlat_json_string(figure->unit));
	tlat_json_put_fields(w, object, figure, figure_fields, TLAT_ARRAY_SIZE(figure_fields));
	tlat_json_put(w, object, "interval", interval_json(w, figure->lo, figure->hi));
	return object;
}

static json_t *figures_json(struct tlat_writer *w, const struct tlat_comparison *c, size_t item,
			    int32_t role)
{
	struct tlat_compare_figure figure = { .size = sizeof(figure) };
	json_t *array = json_array();

	for (size_t i = 0; tlat_comparison_figure(c, item, i, &figure) == 0; i++)
		if (figure.role == role)
			tlat_json_push(w, array, figure_json(w, &figure));
	return array;
}

static json_t *item_json(struct tlat_writer *w, const struct tlat_comparison *c, size_t index)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	json_t *object = json_object();

	tlat_comparison_item(c, index, &item);
	tlat_json_put(w, object, "name", tlat_json_string(item.name));
	tlat_json_put(w, object, "metric", tlat_json_string(item.metric));
	tlat_json_put(w, object, "unit", tlat_json_string(item.unit));
	tlat_json_put_fields(w, object, &item, item_fields, TLAT_ARRAY_SIZE(item_fields));
	tlat_json_put(w, object, "interval", interval_json(w, item.lo, item.hi));
	tlat_json_put(w, object, "sign_interval", interval_json(w, item.sign_lo, item.sign_hi));
	tlat_json_put(w, object, "paired", json_boolean(item.paired));
	tlat_json_put(w, object, "noise",
		      tlat_json_group(w, true, &item, noise_fields, TLAT_ARRAY_SIZE(noise_fields)));
	tlat_json_put(w, object, "tail", figures_json(w, c, index, TLAT_COMPARE_TAIL));
	tlat_json_put(w, object, "shift", figures_json(w, c, index, TLAT_COMPARE_SHIFT));
	tlat_json_put(w, object, "primary", verdict_json(item.primary));
	tlat_json_put(w, object, "verdict", verdict_json(item.verdict));
	tlat_json_put(w, object, "reason", tlat_json_string(item.reason));
	return object;
}

static json_t *difference_json(struct tlat_writer *w, const struct tlat_difference *d)
{
	json_t *object = json_object();

	tlat_json_put(w, object, "name", tlat_json_string(d->name));
	tlat_json_put(w, object, "base", tlat_json_string(d->base));
	tlat_json_put(w, object, "new", tlat_json_string(d->next));
	return object;
}

static json_t *document_json(struct tlat_writer *w, const struct tlat_comparison *c)
{
	json_t *object = json_object(), *differences = json_array(), *items = json_array();

	for (size_t i = 0; i < c->differences.n; i++)
		tlat_json_push(w, differences, difference_json(w, &c->differences.v[i]));
	for (size_t i = 0; i < c->n_items; i++)
		tlat_json_push(w, items, item_json(w, c, i));
	tlat_json_put(w, object, "schema", json_string("timerlat-comparison/1"));
	tlat_json_put(w, object, "version", json_string(TLAT_VERSION));
	tlat_json_put(w, object, "unit", json_string(c->members.by_boot ? "boot" : "run"));
	tlat_json_put(w, object, "repeat_base", tlat_json_string(c->repeat[TLAT_BASE]));
	tlat_json_put(w, object, "repeat_new", tlat_json_string(c->repeat[TLAT_NEXT]));
	tlat_json_put(w, object, "differences", differences);
	tlat_json_put(w, object, "findings", tlat_findings_json(w, &c->notes, 0));
	tlat_json_put(w, object, "items", items);
	tlat_json_put(w, object, "verdict", verdict_json(c->verdict));
	return object;
}

int tlat_comparison_format(char **ret_text, const struct tlat_comparison *comparison)
{
	struct tlat_writer w = { 0 };

	return tlat_json_dump(&w, document_json(&w, comparison), ret_text);
}
