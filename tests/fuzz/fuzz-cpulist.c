// SPDX-License-Identifier: MIT
/* fuzz-cpulist.c - a list that is read can be written, and then means the same. */
#include "cpulist.h"
#include "fuzz.h"

static void round_trip(const struct tlat_cpuset *set)
{
	size_t n = tlat_cpuset_format(set, NULL, 0) + 1;
	char *text = malloc(n), say[TLAT_SAY_BYTES];
	struct tlat_cpuset again;

	must(text, "memory");
	must(tlat_cpuset_format(set, text, n) == n - 1, "a set has one spelling");
	must(tlat_cpuset_parse(&again, text) == 0, "what is written can be read");
	must(tlat_cpuset_equal(set, &again), "and means the same");
	must(strlen(tlat_cpuset_say(set, say, sizeof(say))) < sizeof(say), "a message is short");
	free(text);
}

static void read_range(const char *text, size_t n, int32_t last_cpu)
{
	struct tlat_cpu_range range;
	struct tlat_cpuset set = { 0 };

	if (tlat_cpu_range_parse(&range, text, n, last_cpu) < 0)
		return;
	must(range.first >= 0 && range.first <= range.last, "a range has an order");
	must(range.last < TLAT_CPUS_MAX, "a range is of possible CPUs");
	tlat_cpuset_add_range(&set, &range);
	must(tlat_cpuset_has(&set, range.first) || range.used == 0, "a range has its first CPU");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct tlat_cpuset set;

	if (tlat_cpuset_parse(&set, text) == 0)
		round_trip(&set);
	if (tlat_cpulist_parse(&set, text, n, 7) == 0)
		round_trip(&set);
	read_range(text, n, -1);
	read_range(text, n, 3);
	free(text);
	return 0;
}
