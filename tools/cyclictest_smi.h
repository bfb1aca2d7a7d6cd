/* SPDX-License-Identifier: MIT */
/*
 * cyclictest_smi.h - system management interrupts of each thread's CPU, as the processor counts
 * them. Read beside the measurement, not in it.
 */
#ifndef TLAT_CYCLICTEST_SMI_H
#define TLAT_CYCLICTEST_SMI_H

#include "cyclictest_cpus.h"

struct tlat_cyc_smi {
	int32_t n;	 /* 0: not counted */
	int *fds;	 /* of each thread */
	uint32_t *start; /* when the run began */
	int64_t *since;	 /* how many since then */
	bool stale;	 /* a count could not be read, and that was said */
};

/* Returns 0, or a negative errno after one line on standard error. Close it either way. */
int tlat_cyc_smi_open(struct tlat_cyc_smi *smi, bool wanted, const struct tlat_cyc_cpus *cpus);
void tlat_cyc_smi_close(struct tlat_cyc_smi *smi);

/* Counts of each thread by now, or the last that could be read; NULL: not counted. */
const int64_t *tlat_cyc_smi_look(struct tlat_cyc_smi *smi);

#endif /* TLAT_CYCLICTEST_SMI_H */
