// SPDX-License-Identifier: MIT
/* cpulist.c - sets of CPU numbers and the kernel's list syntax, as text and as bits; pure. */
#include <stdio.h>
#include <string.h>

#include "cpulist.h"

#define WORD_BITS 64
#define WORDS	  (TLAT_CPUS_MAX / WORD_BITS)

static_assert(TLAT_CPUS_MAX % WORD_BITS == 0, "a set is whole words");

static bool in_range(int32_t cpu)
{
	return cpu >= 0 && cpu < TLAT_CPUS_MAX;
}

void tlat_cpuset_add(struct tlat_cpuset *set, int32_t cpu)
{
	if (in_range(cpu))
		set->bits[cpu / WORD_BITS] |= UINT64_C(1) << (cpu % WORD_BITS);
}

bool tlat_cpuset_has(const struct tlat_cpuset *set, int32_t cpu)
{
	return in_range(cpu) && (set->bits[cpu / WORD_BITS] >> (cpu % WORD_BITS) & 1);
}

size_t tlat_cpuset_count(const struct tlat_cpuset *set)
{
	size_t n = 0;

	for (size_t i = 0; i < WORDS; i++)
		n += (size_t)__builtin_popcountll(set->bits[i]);
	return n;
}

bool tlat_cpuset_equal(const struct tlat_cpuset *a, const struct tlat_cpuset *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool tlat_cpuset_empty(const struct tlat_cpuset *set)
{
	return tlat_cpuset_next(set, -1) < 0;
}

int32_t tlat_cpuset_last(const struct tlat_cpuset *set)
{
	for (int32_t i = WORDS - 1; i >= 0; i--)
		if (set->bits[i])
			return i * WORD_BITS + WORD_BITS - 1 - __builtin_clzll(set->bits[i]);
	return -1;
}

int32_t tlat_cpuset_next(const struct tlat_cpuset *set, int32_t cpu)
{
	int32_t from = cpu < 0 ? 0 : cpu + 1;

	for (int32_t i = from / WORD_BITS; i < WORDS; i++) {
		uint64_t word = set->bits[i];

		if (i == from / WORD_BITS)
			word &= ~UINT64_C(0) << (from % WORD_BITS);
		if (word)
			return i * WORD_BITS + __builtin_ctzll(word);
	}
	return -1;
}

struct tlat_cpuset tlat_cpuset_and(const struct tlat_cpuset *a, const struct tlat_cpuset *b)
{
	struct tlat_cpuset set;

	for (size_t i = 0; i < WORDS; i++)
		set.bits[i] = a->bits[i] & b->bits[i];
	return set;
}

struct tlat_cpuset tlat_cpuset_or(const struct tlat_cpuset *a, const struct tlat_cpuset *b)
{
	struct tlat_cpuset set;

	for (size_t i = 0; i < WORDS; i++)
		set.bits[i] = a->bits[i] | b->bits[i];
	return set;
}

struct tlat_cpuset tlat_cpuset_minus(const struct tlat_cpuset *a, const struct tlat_cpuset *b)
{
	struct tlat_cpuset set;

	for (size_t i = 0; i < WORDS; i++)
		set.bits[i] = a->bits[i] & ~b->bits[i];
	return set;
}

/* Digits, or "N" for the last CPU where the reader has one. Not isdigit(3): no locale here. */
static int parse_number(const char **text, const char *end, int32_t last_cpu, int32_t *ret_value)
{
	const char *p = *text;
	int64_t value = 0;

	if (p < end && *p == 'N' && last_cpu >= 0) {
		*text = p + 1;
		*ret_value = last_cpu;
		return 0;
	}
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (value < TLAT_CPUS_MAX)
			value = value * 10 + (*p - '0');
	if (p == *text)
		return -EINVAL;
	*text = p;
	*ret_value = value < TLAT_CPUS_MAX ? (int32_t)value : TLAT_CPUS_MAX;
	return 0;
}

/* ":USED/GROUP": the first USED of every GROUP. */
static int parse_pattern(const char **text, const char *end, struct tlat_cpu_range *range)
{
	if (*text == end)
		return 0;
	if (*(*text)++ != ':' || parse_number(text, end, -1, &range->used) < 0)
		return -EINVAL;
	if (*text == end || *(*text)++ != '/' || parse_number(text, end, -1, &range->group) < 0)
		return -EINVAL;
	return range->group < 1 || range->used > range->group ? -EINVAL : 0;
}

/* "N", "N-M", or the kernel's "all". */
static int parse_span(const char **text, const char *end, int32_t last_cpu,
		      struct tlat_cpu_range *range)
{
	if (last_cpu >= 0 && end - *text >= 3 && !memcmp(*text, "all", 3)) {
		*text += 3;
		range->last = last_cpu;
		return 0;
	}
	if (parse_number(text, end, last_cpu, &range->first) < 0)
		return -EINVAL;
	range->last = range->first;
	if (*text == end)
		return 0;
	if (*(*text)++ != '-')
		return -EINVAL;
	return parse_number(text, end, last_cpu, &range->last);
}

int tlat_cpu_range_parse(struct tlat_cpu_range *ret_range, const char *text, size_t length,
			 int32_t last_cpu)
{
	struct tlat_cpu_range range = { .used = 1, .group = 1 };
	const char *end = text + length;

	if (parse_span(&text, end, last_cpu, &range) < 0 || parse_pattern(&text, end, &range) < 0 ||
	    text != end)
		return -EINVAL;
	if (range.first > range.last)
		return -EDOM;
	*ret_range = range;
	return range.last >= TLAT_CPUS_MAX ? -ERANGE : 0;
}

void tlat_cpuset_add_range(struct tlat_cpuset *set, const struct tlat_cpu_range *range)
{
	for (int32_t cpu = range->first; cpu <= range->last && cpu < TLAT_CPUS_MAX; cpu++)
		if ((cpu - range->first) % range->group < range->used)
			tlat_cpuset_add(set, cpu);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t tlat_cpulist_trim(const char **text, size_t length)
{
	while (length && is_blank(**text)) {
		(*text)++;
		length--;
	}
	while (length && is_blank((*text)[length - 1]))
		length--;
	return length;
}

int tlat_cpulist_parse(struct tlat_cpuset *ret_set, const char *text, size_t length,
		       int32_t last_cpu)
{
	struct tlat_cpuset set = { { 0 } };

	length = tlat_cpulist_trim(&text, length);
	for (const char *end = text + length, *p = text; length && p <= end;) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		const char *term_end = comma ? comma : end;
		struct tlat_cpu_range range;

		if (tlat_cpu_range_parse(&range, p, (size_t)(term_end - p), last_cpu) < 0)
			return -EINVAL;
		tlat_cpuset_add_range(&set, &range);
		p = term_end + 1;
	}
	*ret_set = set;
	return 0;
}

int tlat_cpuset_parse(struct tlat_cpuset *ret_set, const char *text)
{
	return tlat_cpulist_parse(ret_set, text, strlen(text), -1);
}

size_t tlat_cpuset_format(const struct tlat_cpuset *set, char *text, size_t size)
{
	size_t n = 0;

	if (size)
		text[0] = '\0';
	for (int32_t first = tlat_cpuset_next(set, -1), last; first >= 0;
	     first = tlat_cpuset_next(set, last)) {
		char *at = n < size ? text + n : NULL;
		size_t left = n < size ? size - n : 0;
		const char *comma = n ? "," : "";

		for (last = first; tlat_cpuset_has(set, last + 1);)
			last++;
		if (last == first)
			n += (size_t)snprintf(at, left, "%s%d", comma, first);
		else
			n += (size_t)snprintf(at, left, "%s%d-%d", comma, first, last);
	}
	return n;
}

/* Where text was cut so that three dots fit: after the last comma. */
static char *cut_at(char *text, size_t size)
{
	char *end = text + size - sizeof(",...");

	while (end > text && *end != ',')
		end--;
	return *end == ',' ? end + 1 : end;
}

const char *tlat_cpuset_say(const struct tlat_cpuset *set, char *text, size_t size)
{
	size_t n = tlat_cpuset_format(set, text, size);

	assert(size > sizeof("..."));
	if (n == 0)
		snprintf(text, size, "none");
	else if (n >= size)
		memcpy(cut_at(text, size), "...", sizeof("..."));
	return text;
}
