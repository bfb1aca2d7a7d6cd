/* SPDX-License-Identifier: MIT */
/* cpulist.h - sets of CPU numbers, and the kernel's list syntax; all of it is pure */
#ifndef TLAT_CPULIST_H
#define TLAT_CPULIST_H

#include "internal.h"

/* Room for a set inside a message; longer ones end in "...". */
#define TLAT_SAY_BYTES 120

/* A set of CPU numbers, by value; no allocation. */
struct tlat_cpuset {
	uint64_t bits[TLAT_CPUS_MAX / 64];
};

/* A number that is no possible CPU is not added. */
void tlat_cpuset_add(struct tlat_cpuset *set, int32_t cpu);
bool tlat_cpuset_has(const struct tlat_cpuset *set, int32_t cpu);
size_t tlat_cpuset_count(const struct tlat_cpuset *set);
bool tlat_cpuset_equal(const struct tlat_cpuset *a, const struct tlat_cpuset *b);
bool tlat_cpuset_empty(const struct tlat_cpuset *set);
/* The next CPU of the set after cpu (-1: the first), or -1. */
int32_t tlat_cpuset_next(const struct tlat_cpuset *set, int32_t cpu);
/* The highest CPU of the set, or -1. */
int32_t tlat_cpuset_last(const struct tlat_cpuset *set);
struct tlat_cpuset tlat_cpuset_and(const struct tlat_cpuset *a, const struct tlat_cpuset *b);
struct tlat_cpuset tlat_cpuset_or(const struct tlat_cpuset *a, const struct tlat_cpuset *b);
struct tlat_cpuset tlat_cpuset_minus(const struct tlat_cpuset *a, const struct tlat_cpuset *b);

/* Strict reader of the kernel's list syntax as files have it; empty means none. 0 or -EINVAL. */
int tlat_cpuset_parse(struct tlat_cpuset *ret_set, const char *text);
/* The shortest kernel syntax ("0-3,8"); returns the length as snprintf does. */
size_t tlat_cpuset_format(const struct tlat_cpuset *set, char *text, size_t size);

/* One term of a list: first..last, of these the first `used` of every `group`. */
struct tlat_cpu_range {
	int32_t first, last;
	int32_t used, group;
};

/*
 * Read "5", "0-3" or "0-15:2/4". last_cpu >= 0 also allows the kernel's "N" for that CPU and
 * "all". Returns 0; -EINVAL when unreadable; -EDOM when reversed; -ERANGE (range filled, numbers
 * capped at TLAT_CPUS_MAX) when a number is no possible CPU.
 */
int tlat_cpu_range_parse(struct tlat_cpu_range *ret_range, const char *text, size_t length,
			 int32_t last_cpu);
void tlat_cpuset_add_range(struct tlat_cpuset *set, const struct tlat_cpu_range *range);

/* Step over blanks at both ends; returns the length left. */
size_t tlat_cpulist_trim(const char **text, size_t length);
/* tlat_cpuset_parse() of a part of a text, with last_cpu as above. */
int tlat_cpulist_parse(struct tlat_cpuset *ret_set, const char *text, size_t length,
		       int32_t last_cpu);

/* The set as text for messages: "none" when empty, cut with "..." when too long. Returns text. */
const char *tlat_cpuset_say(const struct tlat_cpuset *set, char *text, size_t size);

#endif /* TLAT_CPULIST_H */
