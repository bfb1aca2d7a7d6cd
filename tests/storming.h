/* SPDX-License-Identifier: MIT */
/* storming.h - results that consist of metrics, as tests ask for them. */
#ifndef TLAT_TESTS_STORMING_H
#define TLAT_TESTS_STORMING_H

#include <math.h>
#include <string.h>

#include "result.h"

/* NAN: there is none of that name. */
static inline double metric(const struct tlat_report *report, const char *name)
{
	const struct tlat_result *result = tlat_report_result(report, 0);
	struct tlat_metric metric = { .size = sizeof(metric) };

	for (size_t i = 0; tlat_result_metric(result, i, &metric) == 0; i++)
		if (!strcmp(metric.name, name))
			return metric.value;
	return NAN;
}

static inline bool has_finding(const struct tlat_report *report, const char *id)
{
	const struct tlat_result *result;
	struct tlat_finding finding;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++)
		for (size_t k = 0; tlat_result_finding(result, k, &finding) == 0; k++)
			if (!strcmp(finding.id, id)) {
				print_message("%s: %s\n", id, finding.text);
				return true;
			}
	return false;
}

/* Those that "all" means here: a cpuset may withhold some that are online. */
static inline int all_cpus(void)
{
	struct tlat_machine *machine;
	int n;

	assert_int_equal(tlat_machine_open(&machine, NULL, NULL), 0);
	n = tlat_machine_cpus(machine, "all", NULL, 0, NULL);
	tlat_machine_close(machine);
	assert_true(n >= 1);
	return n;
}

static inline void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%g is not %g", value, expected);
}

static inline struct tlat_report *storm(const struct tlat_storm_opts *opts)
{
	struct tlat_report *report;
	struct tlat_error error = { 0 };

	if (tlat_storm(&report, opts, &error) < 0)
		fail_msg("%s", error.text);
	return report;
}

#endif /* TLAT_TESTS_STORMING_H */
