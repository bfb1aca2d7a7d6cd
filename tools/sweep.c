// SPDX-License-Identifier: MIT
/* sweep.c - the values of --sweep. */
#include <errno.h>
#include <string.h>

#include "options.h"
#include "quantity.h"
#include "sweep.h"
#include "tool.h"

static const struct {
	const char *prefix;
	enum tlat_sweep_kind kind;
} kinds[] = {
	{ "settle=", TLAT_SWEEP_SETTLE },
	{ "cpu-latency=", TLAT_SWEEP_CPU_LATENCY },
};

static int refuse(struct tlat_error *reterr, const char *what, const char *why)
{
	return tlat_tool_fail(reterr, -EINVAL, "--sweep '%.100s': %s", what, why);
}

static const char *find_kind(struct tlat_sweep *sweep, const char *text)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(kinds); i++)
		if (!strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix))) {
			sweep->kind = kinds[i].kind;
			return text + strlen(kinds[i].prefix);
		}
	return NULL;
}

static int add_point(struct tlat_sweep *sweep, const char *value, struct tlat_error *reterr)
{
	char why[TLAT_WHY_TEXT];
	int64_t ns;

	if (sweep->n == TLAT_SWEEP_MAX)
		return refuse(reterr, value, "more than 256 values; split the sweep");
	if (sweep->kind == TLAT_SWEEP_CPU_LATENCY && !strcmp(value, "default"))
		ns = TLAT_DEFAULT;
	else if (tlat_time_parse(value, &ns, why) < 0)
		return refuse(reterr, value, why);
	sweep->points_ns[sweep->n++] = ns;
	return 0;
}

int tlat_sweep_parse(struct tlat_sweep *sweep, const char *text, struct tlat_error *reterr)
{
	const char *at;

	*sweep = (struct tlat_sweep){ .kind = TLAT_SWEEP_NONE, .n = 1 };
	if (!text)
		return 0;
	at = find_kind(sweep, text);
	if (!at)
		return refuse(reterr, text, "write settle=0,100ns,1us or cpu-latency=default,0");
	sweep->n = 0;
	for (;;) {
		size_t length = strcspn(at, ",");
		char value[64];

		if (length >= sizeof(value))
			return refuse(reterr, at, "not a time; write one such as 250us or 0");
		memcpy(value, at, length);
		value[length] = '\0';
		if (add_point(sweep, value, reterr) < 0)
			return -EINVAL;
		if (!at[length])
			return 0;
		at += length + 1;
	}
}

void tlat_sweep_apply(const struct tlat_sweep *sweep, size_t i, struct tlat_run_opts *opts)
{
	int64_t ns = sweep->points_ns[i];

	if (sweep->kind == TLAT_SWEEP_SETTLE)
		opts->settle_ns = ns ? ns : TLAT_ZERO;
	else if (sweep->kind == TLAT_SWEEP_CPU_LATENCY && ns == TLAT_DEFAULT)
		opts->cpu_latency_ns = 0;
	else if (sweep->kind == TLAT_SWEEP_CPU_LATENCY)
		opts->cpu_latency_ns = ns ? ns : TLAT_ZERO;
}

int64_t tlat_sweep_max_settle_ns(const struct tlat_sweep *sweep, int64_t fallback_ns)
{
	int64_t max_ns = fallback_ns;

	for (size_t i = 0; sweep->kind == TLAT_SWEEP_SETTLE && i < sweep->n; i++)
		if (i == 0 || sweep->points_ns[i] > max_ns)
			max_ns = sweep->points_ns[i];
	return max_ns;
}
