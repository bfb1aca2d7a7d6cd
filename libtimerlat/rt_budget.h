/* SPDX-License-Identifier: MIT */
/* rt_budget.h - what the kernel lets real-time threads of this process have of a CPU */
#ifndef TLAT_RT_BUDGET_H
#define TLAT_RT_BUDGET_H

#include "machine.h"

/* Real-time threads may run so long of every period; runtime -1 or >= period: always. */
struct tlat_rt_budget {
	int64_t runtime_ns, period_ns;
	int64_t tick_ns; /* how exactly the kernel keeps to it */
};

/* The smallest share of the machine's and of those of the groups above this process. */
struct tlat_rt_budget tlat_rt_budget(const struct tlat_machine *machine);

/* Whether a pause is about as long as throttling by that budget takes; a pure function. */
bool tlat_rt_budget_explains(const struct tlat_rt_budget *budget, int64_t pause_ns);

#endif /* TLAT_RT_BUDGET_H */
