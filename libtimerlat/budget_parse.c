// SPDX-License-Identifier: MIT
/*
 * budget_parse.c - how a latency budget is written.
 *
 *	term   = figure op value
 *	figure = min | max | mean | p PERCENT | P ( > time ) | missed | early | overflow | rejected
 *		 | disturbed | n
 *	op     = < | <= | = | >= | >
 *	value  = time (min, max, mean, p) | a share from 0 to 1 (P) | a count (all others)
 *	time   = NUMBER (ns | us | µs | ms | s) | 0
 *
 * Spaces may stand between any two of these. Numbers are read digit by digit: strtod() would
 * follow the locale, and take "1,5" for 1.5 in some of them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"

#define NUMBER_MAX   1e18
#define SOURCE_SHOWN 80 /* bytes of a term that an error quotes */

static const struct {
	const char *name;
	enum tlat_figure figure;
	enum tlat_budget_unit unit;
} figures[] = {
	{ "min", TLAT_FIGURE_MIN, TLAT_BUDGET_TIME },
	{ "max", TLAT_FIGURE_MAX, TLAT_BUDGET_TIME },
	{ "mean", TLAT_FIGURE_MEAN, TLAT_BUDGET_TIME },
	{ "missed", TLAT_FIGURE_MISSED, TLAT_BUDGET_COUNT },
	{ "early", TLAT_FIGURE_EARLY, TLAT_BUDGET_COUNT },
	{ "overflow", TLAT_FIGURE_OVERFLOW, TLAT_BUDGET_COUNT },
	{ "rejected", TLAT_FIGURE_REJECTED, TLAT_BUDGET_COUNT },
	{ "disturbed", TLAT_FIGURE_DISTURBED, TLAT_BUDGET_COUNT },
	{ "n", TLAT_FIGURE_N, TLAT_BUDGET_COUNT },
};

/* Longer ones first: the first that matches is meant. */
static const struct {
	const char *name;
	enum tlat_budget_op op;
} ops[] = {
	{ "<=", TLAT_OP_AT_MOST }, { ">=", TLAT_OP_AT_LEAST }, { "<", TLAT_OP_LESS },
	{ ">", TLAT_OP_MORE },	   { "=", TLAT_OP_EQUAL },
};

/* us also with the micro sign, or with the Greek letter that looks like it. */
static const struct {
	const char *name;
	int exponent; /* ns = value * 10^exponent */
} time_units[] = {
	{ "ns", 0 }, { "us", 3 }, { "\xc2\xb5s", 3 }, { "\xce\xbcs", 3 }, { "ms", 6 }, { "s", 9 },
};

/* A decimal number as written, so that a unit shifts it without rounding. */
struct number {
	double mantissa;
	int exponent;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void skip_spaces(const char **at)
{
	while (is_space(**at))
		(*at)++;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool accept(const char **at, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*at, word, length))
		return false;
	*at += length;
	return true;
}

/* A whole word: "s" is not the beginning of "sec". */
static bool accept_unit(const char **at, const char *unit)
{
	size_t length = strlen(unit);

	return !strncmp(*at, unit, length) && !is_letter((*at)[length]) && accept(at, unit);
}

/* Refuse with the term in front: "budget term 'p99<50': 50 has no unit; ..." */
__attribute__((format(printf, 3, 4))) static int bad_term(const struct tlat_budget_term *term,
							  struct tlat_error *reterr,
							  const char *format, ...)
{
	char reason[300];
	va_list args;

	va_start(args, format);
	tlat_vformat(reason, sizeof(reason), format, args);
	va_end(args);
	return tlat_fail(reterr, -EINVAL, "budget term '%.*s': %s",
			 term->source_length < SOURCE_SHOWN ? (int)term->source_length
							    : SOURCE_SHOWN,
			 term->source, reason);
}

static void parse_exponent(const char **at, struct number *ret)
{
	const char *digits = *at + 1 + ((*at)[1] == '-' || (*at)[1] == '+');
	bool negative = (*at)[1] == '-';
	int exponent = 0;

	for (; is_digit(*digits); digits++)
		exponent = exponent < 1000 ? exponent * 10 + (*digits - '0') : exponent;
	ret->exponent += negative ? -exponent : exponent;
	*at = digits;
}

static bool has_exponent(const char *at)
{
	if (*at != 'e' && *at != 'E')
		return false;
	return is_digit(at[1]) || ((at[1] == '-' || at[1] == '+') && is_digit(at[2]));
}

/* [+-] digits [. digits] [e [+-] digits]; false when there is no digit. */
static bool parse_number(const char **at, struct number *ret)
{
	bool negative = **at == '-', point = false, any = false;
	const char *c = *at + (**at == '-' || **at == '+');

	*ret = (struct number){ 0 };
	for (; is_digit(*c) || (*c == '.' && !point); c++) {
		if (*c == '.') {
			point = true;
			continue;
		}
		any = true;
		/* digits that a double cannot hold only move the point */
		if (ret->mantissa < 1e17)
			ret->mantissa = ret->mantissa * 10 + (*c - '0');
		else
			ret->exponent++;
		ret->exponent -= point;
	}
	if (!any)
		return false;
	if (has_exponent(c))
		parse_exponent(&c, ret);
	if (negative)
		ret->mantissa = -ret->mantissa;
	*at = c;
	return true;
}

static double number_value(const struct number *number, int shift)
{
	int exponent = number->exponent + shift;

	if (number->mantissa == 0)
		return 0;
	return exponent < 0 ? number->mantissa / pow(10, -exponent)
			    : number->mantissa * pow(10, exponent);
}

static int parse_time(const char **at, const struct tlat_budget_term *term, double *ret_ns,
		      struct tlat_error *reterr)
{
	const char *begin = *at;
	struct number number;
	int length;

	if (!parse_number(at, &number))
		return bad_term(term, reterr, "no time where one belongs; write e.g. 50us");
	length = (int)(*at - begin);
	skip_spaces(at);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(time_units); i++) {
		if (!accept_unit(at, time_units[i].name))
			continue;
		*ret_ns = number_value(&number, time_units[i].exponent);
		if (fabs(*ret_ns) > NUMBER_MAX)
			return bad_term(term, reterr, "%.*s is out of range; the most is 1e9 s",
					length, begin);
		return 0;
	}
	*ret_ns = 0;
	if (number.mantissa == 0 && !is_letter(**at))
		return 0;
	return bad_term(term, reterr, "%.*s has no unit; write %.*sus, or ns, ms or s", length,
			begin, length, begin);
}

static int parse_plain(const char **at, const struct tlat_budget_term *term, double *ret_value,
		       struct tlat_error *reterr)
{
	double most = term->unit == TLAT_BUDGET_SHARE ? 1 : NUMBER_MAX;
	const char *begin = *at;
	struct number number;

	if (!parse_number(at, &number))
		return bad_term(term, reterr, "no number where one belongs; write e.g. %s",
				term->unit == TLAT_BUDGET_SHARE ? "1e-5" : "0 or 1e6");
	*ret_value = number_value(&number, 0);
	if (*ret_value < 0 || *ret_value > most)
		return bad_term(term, reterr, "%.*s is out of range; this figure is from 0 to %s",
				(int)(*at - begin), begin,
				term->unit == TLAT_BUDGET_SHARE ? "1" : "1e18");
	return 0;
}

/* After "p": 99.9 is the share 0.999. */
static int parse_quantile(const char **at, struct tlat_budget_term *term, struct tlat_error *reterr)
{
	struct number percent;

	term->figure = TLAT_FIGURE_QUANTILE;
	term->unit = TLAT_BUDGET_TIME;
	if (parse_number(at, &percent))
		term->at = number_value(&percent, -2);
	if (term->at > 0 && term->at < 1)
		return 0;
	return bad_term(term, reterr,
			"no quantile between p0 and p100; write p99, or p99.9 for "
			"999 in 1000");
}

/* After "P": (>TIME). */
static int parse_above(const char **at, struct tlat_budget_term *term, struct tlat_error *reterr)
{
	int ret;

	term->figure = TLAT_FIGURE_ABOVE;
	term->unit = TLAT_BUDGET_SHARE;
	skip_spaces(at);
	if (!accept(at, "("))
		return bad_term(term, reterr, "P without (>TIME); write e.g. P(>50us)<1e-5");
	skip_spaces(at);
	if (!accept(at, ">"))
		return bad_term(term, reterr, "P( without >TIME; write e.g. P(>50us)<1e-5");
	skip_spaces(at);
	ret = parse_time(at, term, &term->at, reterr);
	if (ret < 0)
		return ret;
	skip_spaces(at);
	if (!accept(at, ")"))
		return bad_term(term, reterr, "no ) after the time; write e.g. P(>50us)<1e-5");
	return 0;
}

static int parse_figure(const char **at, struct tlat_budget_term *term, struct tlat_error *reterr)
{
	const char *begin = *at;
	size_t length = 0;
	int ret;

	while (is_letter(begin[length]))
		length++;
	*at = begin + length;
	if (length == 1 && *begin == 'P')
		return parse_above(at, term, reterr);
	if (length == 1 && *begin == 'p') {
		ret = parse_quantile(at, term, reterr);
		snprintf(term->name, sizeof(term->name), "%.*s", (int)(*at - begin), begin);
		return ret;
	}
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(figures); i++) {
		if (strlen(figures[i].name) != length || strncmp(begin, figures[i].name, length))
			continue;
		term->figure = figures[i].figure;
		term->unit = figures[i].unit;
		snprintf(term->name, sizeof(term->name), "%s", figures[i].name);
		return 0;
	}
	return bad_term(term, reterr,
			"no such figure; use min p50 p90 p95 p99 p99.9 p99.99 p99.999 max mean "
			"missed early overflow rejected disturbed n or P(>TIME)");
}

static int parse_op(const char **at, struct tlat_budget_term *term, struct tlat_error *reterr)
{
	skip_spaces(at);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(ops); i++) {
		if (!accept(at, ops[i].name))
			continue;
		term->op = ops[i].op;
		skip_spaces(at);
		return 0;
	}
	return bad_term(term, reterr, "no comparison after the figure; use one of < <= = >= >");
}

static void find_source(const char *at, struct tlat_budget_term *term)
{
	size_t length = strcspn(at, ",");

	while (length && is_space(at[length - 1]))
		length--;
	term->source = at;
	term->source_length = length;
}

int tlat_budget_parse_term(const char **at, struct tlat_budget_term *term,
			   struct tlat_error *reterr)
{
	int ret;

	*term = (struct tlat_budget_term){ 0 };
	skip_spaces(at);
	find_source(*at, term);
	if (!term->source_length)
		return tlat_fail(reterr, -EINVAL,
				 "budget: a term is empty; write e.g. "
				 "'p99<50us, max<=200us'");
	ret = parse_figure(at, term, reterr);
	if (!ret)
		ret = parse_op(at, term, reterr);
	if (!ret)
		ret = term->unit == TLAT_BUDGET_TIME ? parse_time(at, term, &term->limit, reterr)
						     : parse_plain(at, term, &term->limit, reterr);
	if (ret < 0)
		return ret;
	skip_spaces(at);
	if (**at && **at != ',')
		return bad_term(term, reterr, "'%.*s' is left over; terms are joined by commas",
				(int)strcspn(*at, ","), *at);
	return accept(at, ",");
}
