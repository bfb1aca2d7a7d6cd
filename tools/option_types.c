// SPDX-License-Identifier: MIT
/* option_types.c - how the value of each kind of option is read, told unset, written back. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "quantity.h"
#include "text.h"
#include "tool.h"

static bool number_is_set(const void *field)
{
	return *(const int64_t *)field != TLAT_UNSET;
}

static int check_range(const struct tlat_option *o, int64_t value, char *why)
{
	if (!o->min && !o->max)
		return 0;
	if (value >= o->min && (!o->max || value <= o->max))
		return 0;
	if (o->max)
		snprintf(why, TLAT_WHY_TEXT, "out of range; use %" PRId64 " to %" PRId64, o->min,
			 o->max);
	else
		snprintf(why, TLAT_WHY_TEXT, "too small; use %" PRId64 "%s or more", o->min,
			 o->type == &tlat_option_count ? "" : "ns");
	return -EINVAL;
}

static int flag_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	(void)o;
	(void)value;
	(void)why;
	*(bool *)field = true;
	return 0;
}

static bool flag_is_set(const void *field)
{
	return *(const bool *)field;
}

const struct tlat_option_type tlat_option_flag = {
	.parse = flag_parse,
	.is_set = flag_is_set,
};

static int text_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	(void)o;
	(void)why;
	*(const char **)field = value;
	return 0;
}

static bool text_is_set(const void *field)
{
	return *(const char *const *)field != NULL;
}

static void text_format(const void *field, FILE *out)
{
	tlat_shell_quote(*(const char *const *)field, out);
}

const struct tlat_option_type tlat_option_text = {
	.parse = text_parse,
	.is_set = text_is_set,
	.format = text_format,
};

static int time_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	int64_t ns;

	if (tlat_time_parse(value, &ns, why) < 0 || check_range(o, ns, why) < 0)
		return -EINVAL;
	*(int64_t *)field = ns;
	return 0;
}

static void time_format(const void *field, FILE *out)
{
	char text[TLAT_QUANTITY_TEXT];

	fputs(tlat_time_exact(*(const int64_t *)field, text), out);
}

const struct tlat_option_type tlat_option_time = {
	.parse = time_parse,
	.is_set = number_is_set,
	.format = time_format,
};

static int time_default_parse(const struct tlat_option *o, const char *value, void *field,
			      char *why)
{
	if (strcmp(value, "default"))
		return time_parse(o, value, field, why);
	*(int64_t *)field = TLAT_DEFAULT;
	return 0;
}

static void time_default_format(const void *field, FILE *out)
{
	if (*(const int64_t *)field == TLAT_DEFAULT)
		fputs("default", out);
	else
		time_format(field, out);
}

const struct tlat_option_type tlat_option_time_default = {
	.parse = time_default_parse,
	.is_set = number_is_set,
	.format = time_default_format,
};

static int count_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	int64_t count;

	if (tlat_count_parse(value, &count, why) < 0 || check_range(o, count, why) < 0)
		return -EINVAL;
	*(int64_t *)field = count;
	return 0;
}

static void count_format(const void *field, FILE *out)
{
	fprintf(out, "%" PRId64, *(const int64_t *)field);
}

const struct tlat_option_type tlat_option_count = {
	.parse = count_parse,
	.is_set = number_is_set,
	.format = count_format,
};

/* A number, or with % a hundredth of it; above 0. */
static int ratio_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	char *end;
	double number = strtod(value, &end);

	(void)o;
	if (*end == '%') {
		number /= 100;
		end++;
	}
	if (end == value || *end || !(number > 0 && number < 1e9)) {
		snprintf(why, TLAT_WHY_TEXT, "not a number above 0; write 0.01, or 1%%");
		return -EINVAL;
	}
	*(double *)field = number;
	return 0;
}

static bool ratio_is_set(const void *field)
{
	return *(const double *)field > 0;
}

static void ratio_format(const void *field, FILE *out)
{
	fprintf(out, "%.10g", *(const double *)field);
}

const struct tlat_option_type tlat_option_ratio = {
	.parse = ratio_parse,
	.is_set = ratio_is_set,
	.format = ratio_format,
};

static int policy_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	static const int usable[] = { TLAT_SCHED_INHERIT, TLAT_SCHED_OTHER, TLAT_SCHED_FIFO,
				      TLAT_SCHED_RR,	  TLAT_SCHED_BATCH, TLAT_SCHED_DEADLINE,
				      TLAT_SCHED_IDLE };
	int policy = tlat_policy_from_name(value);
	size_t i = 0;

	(void)o;
	while (i < TLAT_ARRAY_SIZE(usable) && usable[i] != policy)
		i++;
	if (i == TLAT_ARRAY_SIZE(usable)) {
		snprintf(why, TLAT_WHY_TEXT,
			 "no such policy; fifo, rr, other, batch, idle, deadline or inherit");
		return -EINVAL;
	}
	*(int64_t *)field = policy;
	return 0;
}

static void policy_format(const void *field, FILE *out)
{
	fputs(tlat_policy_name((int)*(const int64_t *)field), out);
}

const struct tlat_option_type tlat_option_policy = {
	.parse = policy_parse,
	.is_set = number_is_set,
	.format = policy_format,
};

static int target_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	int target = tlat_target_from_name(value);

	(void)o;
	if (target < 0) {
		snprintf(why, TLAT_WHY_TEXT, "no such target; use sleeping or busy");
		return -EINVAL;
	}
	*(int64_t *)field = target;
	return 0;
}

static void target_format(const void *field, FILE *out)
{
	fputs(tlat_target_name((int)*(const int64_t *)field), out);
}

const struct tlat_option_type tlat_option_target = {
	.parse = target_parse,
	.is_set = number_is_set,
	.format = target_format,
};

static int clock_parse(const struct tlat_option *o, const char *value, void *field, char *why)
{
	int source = tlat_clock_source_from_name(value);

	(void)o;
	if (source < 0) {
		snprintf(why, TLAT_WHY_TEXT,
			 "no such clock; use auto, tsc, cntvct, rdtime or clock_gettime");
		return -EINVAL;
	}
	*(int64_t *)field = source;
	return 0;
}

static void clock_format(const void *field, FILE *out)
{
	fputs(tlat_clock_source_name((int)*(const int64_t *)field), out);
}

const struct tlat_option_type tlat_option_clock = {
	.parse = clock_parse,
	.is_set = number_is_set,
	.format = clock_format,
};
