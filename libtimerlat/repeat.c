// SPDX-License-Identifier: MIT
/* repeat.c - options of a command line, as they are typed. */
#include <inttypes.h>

#include "internal.h"
#include "repeat.h"

void tlat_repeat_time(FILE *out, const char *option, int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = {
		{ 1000000000, "s" },
		{ 1000000, "ms" },
		{ 1000, "us" },
		{ 1, "ns" },
	};

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(units); i++) {
		if (ns % units[i].ns)
			continue;
		fprintf(out, " %s %" PRId64 "%s", option, ns / units[i].ns,
			ns ? units[i].name : "");
		return;
	}
}

void tlat_repeat_policy(FILE *out, int32_t policy, int32_t priority)
{
	fprintf(out, " --policy %s", tlat_policy_name(policy));
	if (priority > 0)
		fprintf(out, " -p %" PRId32, priority);
}
