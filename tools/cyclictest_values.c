// SPDX-License-Identifier: MIT
/*
 * cyclictest_values.c - how the values of options are read: blanks around a number are allowed, as
 * callers pass '-h 3500' as one word; what is no number is refused, never cut.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <timerlat.h>

#include "cyclictest_table.h"
#include "quantity.h"
#include "tool.h"

static void *field_of(const struct tlat_cyc_option *option, struct tlat_cyc_config *config)
{
	return (char *)config + option->offset;
}

/* The number that value begins with, and where it ends, blanks skipped. */
static int read_number(const char *value, int64_t *ret_number, char **ret_end)
{
	errno = 0;
	*ret_number = strtoll(value, ret_end, 10);
	if (errno || *ret_end == value)
		return -EINVAL;
	*ret_end += strspn(*ret_end, " \t");
	return 0;
}

int tlat_cyc_take_flag(const struct tlat_cyc_option *option, const char *value,
		       struct tlat_cyc_config *config, char *why)
{
	(void)value;
	(void)why;
	*(bool *)field_of(option, config) = true;
	return 0;
}

int tlat_cyc_take_number(const struct tlat_cyc_option *option, const char *value,
			 struct tlat_cyc_config *config, char *why)
{
	int64_t number = 0;
	char *end = "";

	if (value && (read_number(value, &number, &end) < 0 || *end)) {
		snprintf(why, TLAT_WHY_TEXT, "no whole number");
		return -EINVAL;
	}
	if (number < option->min || number > option->max) {
		snprintf(why, TLAT_WHY_TEXT, "outside %lld..%lld", (long long)option->min,
			 (long long)option->max);
		return -EINVAL;
	}
	*(int64_t *)field_of(option, config) = number;
	return 0;
}

int tlat_cyc_take_text(const struct tlat_cyc_option *option, const char *value,
		       struct tlat_cyc_config *config, char *why)
{
	if (!*value) {
		snprintf(why, TLAT_WHY_TEXT, "empty");
		return -EINVAL;
	}
	*(const char **)field_of(option, config) = value;
	return 0;
}

int tlat_cyc_take_affinity(const struct tlat_cyc_option *option, const char *value,
			   struct tlat_cyc_config *config, char *why)
{
	(void)option;
	(void)why;
	config->affinity = value ? value + strspn(value, " \t") : "";
	config->announced = *config->affinity && config->verbose;
	return 0;
}

int tlat_cyc_take_policy(const struct tlat_cyc_option *option, const char *value,
			 struct tlat_cyc_config *config, char *why)
{
	static const char *const names[] = { "other", "batch", "idle", "fifo", "rr" };

	(void)option;
	if (!strcasecmp(value, "normal"))
		value = "other";
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(names); i++)
		if (!strcasecmp(value, names[i])) {
			config->policy = tlat_policy_from_name(names[i]);
			return 0;
		}
	snprintf(why, TLAT_WHY_TEXT, "no such policy; other, normal, batch, idle, fifo or rr");
	return -EINVAL;
}

bool tlat_cyc_is_ranked(const struct tlat_cyc_config *config)
{
	return config->policy == TLAT_SCHED_FIFO || config->policy == TLAT_SCHED_RR;
}

void tlat_cyc_rank(struct tlat_cyc_config *config)
{
	if (tlat_cyc_is_ranked(config))
		return;
	if (config->policy != TLAT_CYC_UNSET)
		tlat_cyc_say("policy %s has no priorities: fifo is used",
			     tlat_policy_name((int)config->policy));
	config->policy = TLAT_SCHED_FIFO;
}

/* Even 0 is a wish for a real-time policy, unless another is named after it. */
int tlat_cyc_take_priority(const struct tlat_cyc_option *option, const char *value,
			   struct tlat_cyc_config *config, char *why)
{
	int error = tlat_cyc_take_number(option, value, config, why);

	if (!error)
		tlat_cyc_rank(config);
	return error;
}

int tlat_cyc_take_clock(const struct tlat_cyc_option *option, const char *value,
			struct tlat_cyc_config *config, char *why)
{
	if (!strcmp(value, "monotonic"))
		value = "0";
	else if (!strcmp(value, "realtime"))
		value = "1";
	if (tlat_cyc_take_number(option, value, config, why) == 0)
		return 0;
	snprintf(why, TLAT_WHY_TEXT, "no such clock; 0 (monotonic) or 1 (realtime)");
	return -EINVAL;
}

int tlat_cyc_take_duration(const struct tlat_cyc_option *option, const char *value,
			   struct tlat_cyc_config *config, char *why)
{
	static const struct {
		const char *suffix;
		int64_t seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	int64_t number;
	char *end;

	if (read_number(value, &number, &end) == 0)
		for (size_t i = 0; i < TLAT_ARRAY_SIZE(units); i++)
			if (!strcasecmp(end, units[i].suffix) &&
			    number >= option->min / units[i].seconds &&
			    number <= option->max / units[i].seconds) {
				config->duration_s = number * units[i].seconds;
				return 0;
			}
	snprintf(why, TLAT_WHY_TEXT, "no duration of up to %lld s; such as 30, 5m, 2h or 1d",
		 (long long)option->max);
	return -EINVAL;
}

int tlat_cyc_take_histogram(const struct tlat_cyc_option *option, const char *value,
			    struct tlat_cyc_config *config, char *why)
{
	int error = tlat_cyc_take_number(option, value, config, why);

	if (error)
		return error;
	config->histofall = option->letter == 'H';
	if (config->rows > TLAT_CYC_ROWS_MAX) {
		config->rows = TLAT_CYC_ROWS_MAX;
		tlat_cyc_say("the histogram has %d rows, which is the most; larger values are "
			     "counted as overflows",
			     TLAT_CYC_ROWS_MAX);
	}
	return 0;
}

int tlat_cyc_take_shape(const struct tlat_cyc_option *option, const char *value,
			struct tlat_cyc_config *config, char *why)
{
	if (!strncmp(value, "2.", 2) && value[2] && !strchr("+- \t", value[2]) &&
	    tlat_cyc_take_number(option, value + 2, config, why) == 0)
		return 0;
	snprintf(why, TLAT_WHY_TEXT, "no version of rt-tests; 2.0 to 2.%lld",
		 (long long)option->max);
	return -EINVAL;
}
