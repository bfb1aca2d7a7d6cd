// SPDX-License-Identifier: MIT
/* metrics.c - the numbers of results that are no distributions: rates, costs, exponents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

TLAT_ASSERT_LAYOUT(struct tlat_metric, 6 * 8 + 2 * 4);

void tlat_result_add_metric(struct tlat_result *result, const struct tlat_number *figure)
{
	struct tlat_number *grown;

	if (!isfinite(figure->value))
		return;
	grown = realloc(result->metrics, (result->n_metrics + 1) * sizeof(*grown));
	if (!grown)
		return;
	result->metrics = grown;
	result->metrics[result->n_metrics++] = *figure;
}

void tlat_result_put_metric(struct tlat_result *result, double value, const char *unit,
			    enum tlat_better better, const char *format, ...)
{
	struct tlat_number figure = { .value = value, .sd = NAN, .n = 1, .better = better };
	va_list args;

	va_start(args, format);
	tlat_vformat(figure.name, sizeof(figure.name), format, args);
	va_end(args);
	snprintf(figure.unit, sizeof(figure.unit), "%s", unit);
	tlat_result_add_metric(result, &figure);
}

const char *tlat_result_kind(const struct tlat_result *result)
{
	return result->kind ? result->kind : "latency";
}

bool tlat_result_is_metric(const struct tlat_result *result)
{
	return result->kind && !strcmp(result->kind, TLAT_KIND_METRIC);
}

int tlat_result_metric(const struct tlat_result *result, size_t index, struct tlat_metric *metric)
{
	const struct tlat_number *figure;
	struct tlat_metric copy = { 0 };

	if (index >= result->n_metrics)
		return -ENOENT;
	figure = &result->metrics[index];
	copy.name = figure->name;
	copy.unit = figure->unit;
	copy.value = figure->value;
	copy.sd = figure->sd;
	copy.n = figure->n;
	copy.better = figure->better;
	return tlat_facts_copy(metric, &copy, sizeof(copy));
}

static bool fits(const char *text, size_t size)
{
	return text && strlen(text) < size;
}

/* As the schema of reports has it. */
static bool is_metric(const struct tlat_metric *m)
{
	struct tlat_number kept;

	return fits(m->name, sizeof(kept.name)) && *m->name && fits(m->unit, sizeof(kept.unit)) &&
	       isfinite(m->value) && !(m->sd < 0) && m->n <= INT64_MAX && m->better >= -1 &&
	       m->better <= 1;
}

int tlat_report_add_metric(struct tlat_report *report, const char *source,
			   const struct tlat_metric *metric)
{
	struct tlat_number figure;
	struct tlat_result *result;
	struct tlat_metric m;
	int ret = tlat_opts_copy(&m, sizeof(m), metric, NULL);

	if (ret < 0)
		return ret;
	if (!fits(source, sizeof(result->probe)) || !*source || !is_metric(&m))
		return -EINVAL;
	result = tlat_result_new();
	if (!result)
		return -ENOMEM;
	result->kind = TLAT_KIND_METRIC;
	strcpy(result->probe, source);
	figure = (struct tlat_number){ .better = m.better, .value = m.value, .sd = m.sd };
	figure.n = m.n ? m.n : 1;
	strcpy(figure.name, m.name);
	strcpy(figure.unit, m.unit);
	tlat_result_add_metric(result, &figure);
	if (!result->n_metrics) {
		tlat_result_free(result);
		return -ENOMEM;
	}
	return tlat_report_add(report, result);
}
