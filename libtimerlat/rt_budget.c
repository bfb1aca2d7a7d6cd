// SPDX-License-Identifier: MIT
/* rt_budget.c - the limits of real-time scheduling, by sysctl and by control group */
#include <stdio.h>

#include "cgroup.h"
#include "rt_budget.h"

#define FAIR_SERVER_DIR "sys/kernel/debug/sched/fair_server/cpu%d/"

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

/* Where debugfs is not there or not to be read, what the kernel boots with. */
static int64_t fair_server_ns(const struct tlat_machine *machine, int32_t cpu, const char *name,
			      int64_t otherwise_ns)
{
	char path[96];
	int64_t value_ns;

	snprintf(path, sizeof(path), FAIR_SERVER_DIR "%s", (int)cpu, name);
	return tlat_root_read_int(tlat_machine_root_fd(machine), path, &value_ns) < 0 ? otherwise_ns
										      : value_ns;
}

struct tlat_rt_budget tlat_rt_budget_on(const struct tlat_machine *machine, int32_t cpu)
{
	struct tlat_rt_budget budget = tlat_rt_budget(machine);
	int64_t served_ns;

	if (tlat_machine_throttles(tlat_machine_facts(machine)))
		return budget;
	served_ns = fair_server_ns(machine, cpu, "runtime", 50000000);
	budget.fair_server = true;
	budget.period_ns = fair_server_ns(machine, cpu, "period", TLAT_NSEC_PER_SEC);
	budget.runtime_ns = budget.period_ns - served_ns;
	return budget;
}

void tlat_rt_budget_find(const struct tlat_rt_budget *budget, int32_t cpu, const char *what,
			 struct tlat_findings *findings)
{
	long long runtime_us = budget->runtime_ns / 1000, period_us = budget->period_ns / 1000;
	char remedy[128];

	if (!budget->fair_server) {
		tlat_findings_add(findings, TLAT_WARN, "rt-throttled",
				  "sysctl -w kernel.sched_rt_runtime_us=-1 (and "
				  "cpu.rt_runtime_us of the cgroup), or --policy other",
				  "%s as long as the kernel's real-time throttling takes, and not "
				  "the hardware's: %lld of every %lld us may be used",
				  what, runtime_us, period_us);
		return;
	}
	snprintf(remedy, sizeof(remedy),
		 "keep ordinary threads off that CPU, or echo 0 > /" FAIR_SERVER_DIR "runtime",
		 (int)cpu);
	tlat_findings_add(findings, TLAT_WARN, "fair-server", remedy,
			  "%s as long as the kernel's fair server takes for ordinary threads that "
			  "starve on CPU %d, and not the hardware's: %lld of every %lld us",
			  what, (int)cpu, period_us - runtime_us, period_us);
}

bool tlat_rt_budget_explains(const struct tlat_rt_budget *budget, int64_t pause_ns)
{
	int64_t hole_ns = budget->period_ns - budget->runtime_ns;

	return budget->runtime_ns >= 0 && hole_ns > 0 && pause_ns >= hole_ns / 2 &&
	       pause_ns <= hole_ns + 2 * budget->tick_ns;
}
