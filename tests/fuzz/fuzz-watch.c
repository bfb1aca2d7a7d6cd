// SPDX-License-Identifier: MIT
/* fuzz-watch.c - counters from any text that /proc could hold. */
#include "fuzz.h"
#include "watch.h"

#define ROWS 64

static void read_table(const char *text, const struct tlat_cpuset *cpus)
{
	struct tlat_watch_count rows[ROWS];
	size_t n = tlat_watch_read_table(text, cpus, rows, ROWS);

	for (size_t i = 0; i < n && i < ROWS; i++) {
		must(tlat_cpuset_has(cpus, rows[i].cpu) || rows[i].cpu == -1,
		     "a row is of a CPU that is watched");
		must(memchr(rows[i].name, '\0', sizeof(rows[i].name)), "a name ends");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct tlat_watch_cpu cpus[3] = { { .cpu = 0 }, { .cpu = 1 }, { .cpu = 4000 } };
	struct tlat_cpuset set = { 0 };
	uint64_t value;

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cpus); i++)
		tlat_cpuset_add(&set, cpus[i].cpu);
	read_table(text, &set);
	tlat_watch_read_value(text, "ctxt", &value);
	tlat_watch_read_value(text, "nr_throttled", &value);
	tlat_watch_read_steal(text, cpus, TLAT_ARRAY_SIZE(cpus));
	tlat_watch_read_timers(text, cpus, TLAT_ARRAY_SIZE(cpus));
	free(text);
	return 0;
}
