// SPDX-License-Identifier: MIT
/*
 * report_figures.c - the computed part of a result's document: summary, intervals, what the samples
 * cannot carry, the corrected view, uncertainty. Written only; readers compute it anew.
 */
#include <math.h>

#include "report_json.h"

static void put_figures(struct tlat_writer *w, json_t *object, const struct tlat_figures *f)
{
	tlat_json_put(w, object, "min_ns", tlat_json_real(f->min_ns));
	for (size_t i = 0; i < TLAT_QUANTILES; i++)
		tlat_json_put(w, object, tlat_quantiles[i].key, tlat_json_real(f->q[i].value));
	tlat_json_put(w, object, "max_ns", tlat_json_real(f->max_ns));
	tlat_json_put(w, object, "mean_ns", tlat_json_real(f->mean_ns));
	tlat_json_put(w, object, "sd_ns", tlat_json_real(f->sd_ns));
}

static json_t *summary_json(struct tlat_writer *w, const struct tlat_figures *f)
{
	json_t *object;

	if (!f->n)
		return json_null();
	object = json_object();
	put_figures(w, object, f);
	return object;
}

json_t *tlat_side_figures_json(struct tlat_writer *w, const struct tlat_hist *hist)
{
	struct tlat_figures f;
	json_t *object;

	tlat_figures(hist, NULL, &f);
	if (!f.n)
		return json_null();
	object = json_object();
	tlat_json_put(w, object, "n", json_integer((json_int_t)f.n));
	put_figures(w, object, &f);
	tlat_json_put(w, object, "histogram", tlat_hist_json(w, hist));
	return object;
}

/* Samples from which on there would be a figure, if they are as much alike as these. */
static json_t *needs_json(struct tlat_writer *w, const struct tlat_figures *f)
{
	json_t *object = json_object();

	for (size_t i = 0; i < TLAT_QUANTILES; i++) {
		uint64_t needed = tlat_stats_needed_at(tlat_quantiles[i].p, fmax(f->q[i].tau, 1));

		if (!f->q[i].supported)
			tlat_json_put(w, object, tlat_quantiles[i].key,
				      json_integer((json_int_t)needed));
	}
	return object;
}

static json_t *intervals_json(struct tlat_writer *w, const struct tlat_figures *f)
{
	json_t *object = json_object();

	for (size_t i = 0; i < TLAT_QUANTILES; i++) {
		json_t *pair;

		if (!f->q[i].supported)
			continue;
		pair = json_array();
		tlat_json_push(w, pair, tlat_json_real(f->q[i].lo));
		tlat_json_push(w, pair, tlat_json_real(f->q[i].hi));
		tlat_json_put(w, object, tlat_quantiles[i].key, pair);
	}
	return object;
}

/* One sample in so many is independent; also where that leaves too few. */
static json_t *tau_json(struct tlat_writer *w, const struct tlat_figures *f)
{
	json_t *object = json_object();

	for (size_t i = 0; i < TLAT_QUANTILES; i++)
		if (f->n)
			tlat_json_put(w, object, tlat_quantiles[i].key,
				      tlat_json_real(f->q[i].tau));
	return object;
}

static json_t *corrected_json(struct tlat_writer *w, const struct tlat_result *result)
{
	struct tlat_figures f;
	int64_t added = tlat_result_corrected(result, &f);
	json_t *object;

	if (added == -ENOMEM)
		w->failed = true;
	if (added < 0)
		return json_null();
	object = json_object();
	tlat_json_put(w, object, "n", json_integer((json_int_t)f.n));
	tlat_json_put(w, object, "added", json_integer(added));
	put_figures(w, object, &f);
	return object;
}

static const struct tlat_field rare_fields[] = {
	TLAT_FIELD(tlat_rare, independent, REAL),
	TLAT_FIELD(tlat_rare, share_bound, REAL),
	TLAT_FIELD(tlat_rare, hourly_bound, REAL),
	TLAT_FIELD_AS(tlat_rare, needed, "samples_for_1e6", REAL),
	TLAT_FIELD_AS(tlat_rare, needed_ns, "ns_for_1e6", REAL),
};

/* Values above the largest: nothing but the rule of three. */
static json_t *rare_json(struct tlat_writer *w, const struct tlat_result *result)
{
	struct tlat_rare rare = { .size = sizeof(rare) };
	bool known = tlat_result_rare(result, 1e-6, &rare) == 0;

	return tlat_json_group(w, known, &rare, rare_fields, TLAT_ARRAY_SIZE(rare_fields));
}

static void put_u(struct tlat_writer *w, json_t *by_figure, const char *key,
		  const struct tlat_result *result, enum tlat_figure_kind kind,
		  const struct tlat_estimate *estimate)
{
	struct tlat_uncertainty u;
	json_t *object;

	if (tlat_result_uncertainty(result, kind, estimate, &u) < 0)
		return;
	object = json_object();
	tlat_json_put(w, object, "u_ns", tlat_json_real(u.u_ns));
	tlat_json_put(w, object, "worst_ns", tlat_json_real(u.worst_ns));
	tlat_json_put(w, by_figure, key, object);
}

/* The mean as an estimate; its samples depend on each other as much as the median's do. */
static struct tlat_estimate mean_estimate(const struct tlat_figures *f)
{
	double tau = fmax(f->q[0].tau, 1);
	double n = (double)f->n / tau;
	double half = 1.959964 * f->sd_ns / sqrt(n);

	return (struct tlat_estimate){
		.value = f->mean_ns,
		.lo = f->mean_ns - half,
		.hi = f->mean_ns + half,
		.n_eff = n,
	};
}

static json_t *by_figure_json(struct tlat_writer *w, const struct tlat_result *result,
			      const struct tlat_figures *f)
{
	const struct tlat_estimate min = { .value = f->min_ns }, max = { .value = f->max_ns };
	const struct tlat_estimate mean = mean_estimate(f);
	json_t *object = json_object();

	put_u(w, object, "min_ns", result, TLAT_FIGURE_EXTREME, &min);
	for (size_t i = 0; i < TLAT_QUANTILES; i++)
		put_u(w, object, tlat_quantiles[i].key, result, TLAT_FIGURE_ESTIMATE, &f->q[i]);
	put_u(w, object, "max_ns", result, TLAT_FIGURE_EXTREME, &max);
	put_u(w, object, "mean_ns", result, TLAT_FIGURE_ESTIMATE, &mean);
	return object;
}

static json_t *components_json(struct tlat_writer *w, const struct tlat_uncertainty *u)
{
	json_t *object = json_object();

	for (size_t i = 0; i < TLAT_U_COUNT; i++)
		tlat_json_put(w, object, tlat_component_names[i],
			      tlat_json_real(u->component_ns[i]));
	return object;
}

static json_t *uncertainty_json(struct tlat_writer *w, const struct tlat_result *result,
				const struct tlat_figures *f)
{
	struct tlat_uncertainty u;
	json_t *object;
	bool known = tlat_result_uncertainty(result, TLAT_FIGURE_ESTIMATE, &f->q[0], &u) == 0;

	if (!f->n || !result->clock)
		return json_null();
	object = json_object();
	tlat_json_put(w, object, "k", json_integer(2));
	tlat_json_put(w, object, "u_ns", known ? tlat_json_real(u.u_ns) : json_null());
	tlat_json_put(w, object, "worst_ns", known ? tlat_json_real(u.worst_ns) : json_null());
	tlat_json_put(w, object, "by_figure", by_figure_json(w, result, f));
	tlat_json_put(w, object, "components", known ? components_json(w, &u) : json_object());
	return object;
}

void tlat_json_put_figures(struct tlat_writer *w, json_t *object, const struct tlat_result *result)
{
	struct tlat_figures f;

	tlat_figures(result->latency, result->blocks, &f);
	tlat_json_put(w, object, "summary", summary_json(w, &f));
	tlat_json_put(w, object, "needs", result->latency ? needs_json(w, &f) : json_object());
	tlat_json_put(w, object, "interval", intervals_json(w, &f));
	tlat_json_put(w, object, "tau", tau_json(w, &f));
	tlat_json_put(w, object, "rare", rare_json(w, result));
	tlat_json_put(w, object, "corrected", corrected_json(w, result));
	tlat_json_put(w, object, "uncertainty", uncertainty_json(w, result, &f));
}
