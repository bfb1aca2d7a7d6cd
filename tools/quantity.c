// SPDX-License-Identifier: MIT
/* quantity.c - units of time; the one place of the tools that knows them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "quantity.h"
#include "tool.h"

struct unit {
	const char *name;
	int64_t ns;
};

/* Ascending; the first of equal size is the one that is printed. */
static const struct unit units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "\xc2\xb5s", 1000 }, /* micro sign */
	{ "\xce\xbcs", 1000 }, /* greek mu */
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "min", 60000000000 },
	{ "h", 3600000000000 },
	{ "d", 86400000000000 },
};

static const struct unit *unit_find(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

static int refuse(char *why, const char *reason)
{
	snprintf(why, TLAT_WHY_TEXT, "%s", reason);
	return -EINVAL;
}

/* Digits without a sign; advances *text past them, even when they are too many (-ERANGE). */
static int read_digits(const char **text, int64_t *ret_value)
{
	int64_t value = 0;
	bool overflow = false;

	*ret_value = 0;
	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++)
		overflow |= __builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, **text - '0', &value);
	*ret_value = value;
	return overflow ? -ERANGE : 0;
}

/* Decimals are exact: a digit that stands for less than 1 ns is refused, not rounded. */
static int add_decimals(const char *digits, size_t n, int64_t unit_ns, int64_t *ns)
{
	for (size_t i = 0; i < n; i++) {
		if (digits[i] != '0' && unit_ns % 10)
			return -EINVAL;
		unit_ns /= 10;
		*ns += (digits[i] - '0') * unit_ns;
	}
	return 0;
}

static int explain_unit(const char *text, const char *name, char *why)
{
	if (*name)
		snprintf(why, TLAT_WHY_TEXT, "'%.20s' is no unit; use ns, us, ms, s, min, h or d",
			 name);
	else
		snprintf(why, TLAT_WHY_TEXT,
			 "a time needs a unit; write %.20sus, %.20sms or %.20ss", text, text, text);
	return -EINVAL;
}

int tlat_time_parse(const char *text, int64_t *ret_ns, char *why)
{
	const char *at = text, *decimals = "";
	const struct unit *unit;
	size_t n_decimals = 0;
	int64_t ns;
	int r;

	r = read_digits(&at, &ns);
	if (r == -EINVAL)
		return refuse(why, "not a time; write one such as 250us, 1ms or 0");
	if (*at == '.') {
		decimals = ++at;
		n_decimals = strspn(decimals, "0123456789");
		at += n_decimals;
	}
	unit = unit_find(at);
	if (!unit && r == 0 && ns == 0 && !strcmp(text, "0")) {
		*ret_ns = 0;
		return 0;
	}
	if (!unit)
		return explain_unit(text, at, why);
	/* A day of head-room keeps the decimals from overflowing. */
	if (r < 0 || __builtin_mul_overflow(ns, unit->ns, &ns) || ns > INT64_MAX / 16)
		return refuse(why, "too long; the longest time is about 18 years (6600d)");
	if (add_decimals(decimals, n_decimals, unit->ns, &ns) < 0)
		return refuse(why, "finer than 1 ns; use whole nanoseconds");
	*ret_ns = ns;
	return 0;
}

int tlat_count_parse(const char *text, int64_t *ret_count, char *why)
{
	int64_t count, exponent = 0;
	const char *at = text;
	int r;

	r = read_digits(&at, &count);
	if (r == 0 && *at == 'e') {
		at++;
		r = read_digits(&at, &exponent);
	}
	if (r == -EINVAL || *at)
		return refuse(why, "not a count; write digits, such as 1000 or 1e6");
	for (; r == 0 && count && exponent > 0; exponent--)
		if (__builtin_mul_overflow(count, 10, &count))
			r = -ERANGE;
	if (r < 0)
		return refuse(why, "too large; the largest count is 9e18");
	*ret_count = count;
	return 0;
}

const char *tlat_time_exact(int64_t ns, char *text)
{
	const struct unit *best = &units[0];

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(units); i++)
		if (ns % units[i].ns == 0 && units[i].ns > best->ns)
			best = &units[i];
	if (ns == 0)
		snprintf(text, TLAT_QUANTITY_TEXT, "0");
	else
		snprintf(text, TLAT_QUANTITY_TEXT, "%" PRId64 "%s", ns / best->ns, best->name);
	return text;
}

/* Decimals that leave so many significant digits, or -1 when the value rounds to 1000 or more. */
static int decimals_of(double value, int digits)
{
	double limit = 10;

	for (int decimals = digits - 1; limit <= 1000; decimals--, limit *= 10)
		if (value < limit - 0.5 * pow(10, -(decimals > 0 ? decimals : 0)))
			return decimals > 0 ? decimals : 0;
	return -1;
}

const char *tlat_time_short(double ns, int digits, char *text)
{
	static const struct unit shown[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
	};

	if (!isfinite(ns))
		return strcpy(text, "-");
	if (ns == 0)
		return strcpy(text, "0ns");
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(shown); i++) {
		double value = ns / (double)shown[i].ns;
		int decimals = decimals_of(fabs(value), digits);

		if (decimals < 0 && shown[i].ns < 1000000000)
			continue;
		snprintf(text, TLAT_QUANTITY_TEXT, "%.*f%s", decimals < 0 ? 0 : decimals, value,
			 shown[i].name);
		break;
	}
	return text;
}
