/* SPDX-License-Identifier: MIT */
/* rt_budget.h - what the kernel lets real-time threads of this process have of a CPU */
#ifndef TLAT_RT_BUDGET_H
#define TLAT_RT_BUDGET_H

#include "machine.h"

/* Real-time threads may run so long of every period; runtime -1 or >= period: always. */
struct tlat_rt_budget {
	int64_t runtime_ns, period_ns;
	int64_t tick_ns;  /* how exactly the kernel keeps to it */
	bool fair_server; /* the rest is for ordinary threads, and only for those that starve */
};

/* The smallest share of the machine's and of those of the groups above this process. */
struct tlat_rt_budget tlat_rt_budget(const struct tlat_machine *machine);

/* What a real-time thread that spins on a CPU is paused by: that, or the fair server of the CPU. */
struct tlat_rt_budget tlat_rt_budget_on(const struct tlat_machine *machine, int32_t cpu);

/*
 * The finding that pauses on a CPU are of that kind, rt-throttled or fair-server; what: the subject
 * and its verb, "a pause of 50 ms is".
 */
void tlat_rt_budget_find(const struct tlat_rt_budget *budget, int32_t cpu, const char *what,
			 struct tlat_findings *findings);

/* Whether a pause is about as long as throttling by that budget takes; a pure function. */
bool tlat_rt_budget_explains(const struct tlat_rt_budget *budget, int64_t pause_ns);

#endif /* TLAT_RT_BUDGET_H */
