/* SPDX-License-Identifier: MIT */
/* cyclictest_cpus.h - which CPUs the threads use, and the main thread. */
#ifndef TLAT_CYCLICTEST_CPUS_H
#define TLAT_CYCLICTEST_CPUS_H

#include <timerlat.h>

#include "cyclictest.h"

struct tlat_cyc_cpus {
	int32_t *cpus; /* ascending; thread k is on number k modulo n, unless it floats */
	int32_t n;
	char *list; /* the same as text */
	char *rest; /* those that this process may use beside them; NULL: none */
	int32_t threads;
	bool floats;
};

/* Returns 0, or a negative errno after one line on standard error. Free it either way. */
int tlat_cyc_cpus_find(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
		       const struct tlat_machine *machine);
/* The same for what --mainaffinity names: cpus, n and list only. */
int tlat_cyc_cpus_find_main(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
			    const struct tlat_machine *machine);
void tlat_cyc_cpus_free(struct tlat_cyc_cpus *cpus);

/* As the library wants a list of libnuma's kind, "!0-1" or "+0-1"; to be given to free(3). NULL:
 * memory is short. */
char *tlat_cyc_cpus_translate(const char *text, const int32_t *allowed, int32_t n_allowed);

/* The NUMA node that a CPU belongs to; 0 where the machine does not tell. */
int32_t tlat_cyc_cpus_node(const struct tlat_machine *machine, int32_t cpu);

#endif /* TLAT_CYCLICTEST_CPUS_H */
