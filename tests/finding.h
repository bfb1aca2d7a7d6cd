/* SPDX-License-Identifier: MIT */
/* finding.h - whether a result says something, and what. */
#ifndef TLAT_TEST_FINDING_H
#define TLAT_TEST_FINDING_H

#include <stdbool.h>
#include <string.h>

#include "timerlat.h"

static inline bool get_finding(const struct tlat_result *result, const char *id,
			       struct tlat_finding *finding)
{
	for (size_t i = 0; tlat_result_finding(result, i, finding) == 0; i++)
		if (!strcmp(finding->id, id))
			return true;
	return false;
}

static inline bool has_finding(const struct tlat_result *result, const char *id)
{
	struct tlat_finding finding;

	return get_finding(result, id, &finding);
}

#endif /* TLAT_TEST_FINDING_H */
