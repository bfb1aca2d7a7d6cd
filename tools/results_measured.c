// SPDX-License-Identifier: MIT
/* results_measured.c - whether there is an answer: exit codes follow from it. */
#include <string.h>

#include "metrics.h"
#include "results.h"

/* Timers that could not be armed ask for nothing: what such a storm counts is not theirs. */
static bool is_request(const struct tlat_metric *metric)
{
	const char *dot = strrchr(metric->name, '.');

	return dot && !strcmp(dot, ".requested_hz") && metric->value > 0;
}

static bool has_metric(const struct tlat_result *result)
{
	struct tlat_metric metric = { .size = sizeof(metric) };
	bool storm = !strcmp(tlat_result_kind(result), "storm");

	for (size_t i = 0; tlat_result_metric(result, i, &metric) == 0; i++)
		if (!storm || is_request(&metric))
			return true;
	return false;
}

static bool is_measured(const struct tlat_result *result)
{
	struct tlat_summary summary;

	if (!tlat_metrics_is_latency(result))
		return has_metric(result);
	tlat_results_summary(result, &summary);
	return summary.asked;
}

bool tlat_results_measured(const struct tlat_report *report)
{
	const struct tlat_result *result;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++)
		if (is_measured(result))
			return true;
	return false;
}
