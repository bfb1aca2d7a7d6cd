// SPDX-License-Identifier: MIT
/* rt_budget.c - the limits of real-time scheduling, by sysctl and by control group */
#include "rt_budget.h"
#include "cgroup.h"

/* The knobs of one group, if its share is the smallest so far. */
static void lower(struct tlat_rt_budget *budget, int64_t runtime_us, int64_t period_us)
{
	if (runtime_us < 0 || period_us <= 0 ||
	    (budget->runtime_ns >= 0 &&
	     (double)runtime_us / (double)period_us >=
		     (double)budget->runtime_ns / (double)budget->period_ns))
		return;
	budget->runtime_ns = runtime_us * 1000;
	budget->period_ns = period_us * 1000;
}

struct tlat_rt_budget tlat_rt_budget(const struct tlat_machine *machine)
{
	const struct tlat_machine_facts *facts = tlat_machine_facts(machine);
	struct tlat_rt_budget budget = {
		.runtime_ns = -1,
		.tick_ns = TLAT_NSEC_PER_SEC / (facts->hz > 0 ? facts->hz : 100),
	};
	struct tlat_cgroup group;
	bool more;

	lower(&budget, facts->rt_runtime_us, facts->rt_period_us);
	more = tlat_cgroup_own(&group, tlat_machine_root_fd(machine), "cpu") == 0;
	for (; more; more = tlat_cgroup_up(&group))
		lower(&budget, tlat_cgroup_int(&group, "cpu.rt_runtime_us"),
		      tlat_cgroup_int(&group, "cpu.rt_period_us"));
	return budget;
}

bool tlat_rt_budget_explains(const struct tlat_rt_budget *budget, int64_t pause_ns)
{
	int64_t hole_ns = budget->period_ns - budget->runtime_ns;

	return budget->runtime_ns >= 0 && hole_ns > 0 && pause_ns >= hole_ns / 2 &&
	       pause_ns <= hole_ns + 2 * budget->tick_ns;
}
