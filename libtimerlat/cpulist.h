/* SPDX-License-Identifier: MIT */
/* cpulist.h - private parts of cpulist.c, beyond the sets of machine.h */
#ifndef TLAT_CPULIST_H
#define TLAT_CPULIST_H

#include "machine.h"

/* Room for a set inside a message; longer ones end in "...". */
#define TLAT_SAY_BYTES 120

bool tlat_cpuset_empty(const struct tlat_cpuset *set);
/* The highest CPU of the set, or -1. */
int32_t tlat_cpuset_last(const struct tlat_cpuset *set);
struct tlat_cpuset tlat_cpuset_and(const struct tlat_cpuset *a, const struct tlat_cpuset *b);
struct tlat_cpuset tlat_cpuset_or(const struct tlat_cpuset *a, const struct tlat_cpuset *b);
struct tlat_cpuset tlat_cpuset_minus(const struct tlat_cpuset *a, const struct tlat_cpuset *b);

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
