// SPDX-License-Identifier: MIT
/*
 * machine_audit.c - what about this machine, apart from any run, makes latency worse or figures
 * harder to read, and what to type against it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "machine_state.h"
#include "proc_stat.h"
#include "slew.h"

/* Idle states that take longer to leave than this stand out in a wake-up latency. */
#define DEEP_IDLE_US	10
#define IDLE_STATES_MAX 16

static void find_hypervisor(const struct tlat_machine_facts *facts, struct tlat_findings *findings)
{
	if (facts->hypervisor[0])
		tlat_findings_add(findings, TLAT_INFO, "hypervisor", NULL,
				  "this is a virtual machine (%s): its host can stop any CPU at "
				  "any time, and only part of that is seen here",
				  facts->hypervisor);
}

/* As a service with ProcSubset=pid sees it, or a container. */
static void find_restricted(const struct tlat_machine *machine, struct tlat_findings *findings)
{
	if (faccessat(machine->root_fd, "proc/self/status", F_OK, 0) == 0 &&
	    faccessat(machine->root_fd, "proc/sys/kernel", F_OK, 0) < 0)
		tlat_findings_add(findings, TLAT_INFO, "proc-restricted",
				  "ProcSubset=all in the service, or mount proc without subset=pid",
				  "/proc shows processes only: limits of real-time threads, "
				  "interrupts and stolen time are not known here");
	if (tlat_proc_stat_is_faked(machine->root_fd))
		tlat_findings_add(
			findings, TLAT_INFO, "proc-stat-faked",
			"umount /proc/stat in the container, or measure outside of it",
			"/proc/stat is a container's own (lxcfs), which numbers CPUs anew: "
			"what was stolen from a CPU, and how idle it was, are not known here");
}

static void find_governor(const struct tlat_machine *machine, const struct tlat_cpuset *cpus,
			  struct tlat_findings *findings)
{
	for (size_t i = 0; i < TLAT_GOVERNORS_MAX; i++) {
		const struct tlat_governor *governor = &machine->governors[i];
		struct tlat_cpuset slow = tlat_cpuset_and(&governor->cpus, cpus);
		char list[TLAT_SAY_BYTES];

		if (!strcmp(governor->name, "performance") || tlat_cpuset_empty(&slow))
			continue;
		tlat_findings_add(findings, TLAT_WARN, "cpu-governor",
				  "cpupower frequency-set -g performance",
				  "the frequency governor of CPUs %s is %s, not performance: "
				  "latency depends on how fast the CPU happens to run",
				  tlat_cpuset_say(&slow, list, sizeof(list)), governor->name);
	}
}

/* Counters that are read in user space at one cost, and those that need a hypervisor's scale. */
static void find_clocksource(const struct tlat_machine_facts *facts, struct tlat_findings *findings)
{
	static const char *const counters[] = {
		"tsc", "arch_sys_counter", "riscv_clocksource", "timebase", "tod", "",
	};
	static const char *const paravirtual[] = { "kvm-clock", "hyperv_clocksource_tsc_page" };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(counters); i++)
		if (!strcmp(facts->clocksource, counters[i]))
			return;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(paravirtual); i++)
		if (!strcmp(facts->clocksource, paravirtual[i])) {
			tlat_findings_add(findings, TLAT_INFO, "clocksource-scaled", NULL,
					  "the clocksource is %s: the counter, scaled by the "
					  "host, who may change the scale",
					  facts->clocksource);
			return;
		}
	tlat_findings_add(findings, TLAT_WARN, "clocksource",
			  "dmesg | grep -i -e tsc -e clocksource",
			  "the clocksource is %s, not the CPU's counter: reading the time takes "
			  "long and may enter the kernel",
			  facts->clocksource);
}

/* "6.18.44-..." as 6018; a text that begins otherwise ("Linux version 6...") is stepped into. */
static int kernel_number(const char *kernel)
{
	int major, minor;

	kernel += strcspn(kernel, "0123456789");
	return sscanf(kernel, "%d.%d", &major, &minor) == 2 ? major * 1000 + minor : -1;
}

/*
 * Linux 6.12 replaced the throttle by the fair server except for RT_GROUP_SCHED. No file says which
 * one is in force, so this is the one place that asks the version.
 */
bool tlat_machine_throttles(const struct tlat_machine_facts *facts)
{
	int kernel = kernel_number(facts->kernel);

	return facts->rt_group_sched == 1 || (kernel >= 0 && kernel < 6012);
}

static void find_throttling(const struct tlat_machine_facts *facts, struct tlat_findings *findings)
{
	if (!tlat_machine_throttles(facts) || facts->rt_runtime_us < 0 ||
	    facts->rt_runtime_us >= facts->rt_period_us)
		return;
	tlat_findings_add(findings, TLAT_INFO, "rt-throttling",
			  "sysctl -w kernel.sched_rt_runtime_us=-1",
			  "real-time threads may run %lld us of every %lld us on a CPU: one that "
			  "spins is stopped for the rest",
			  (long long)facts->rt_runtime_us, (long long)facts->rt_period_us);
}

/* What one group may use, of version 2 (cpu.max) or 1; false: no limit, or not known. */
static bool read_quota(const struct tlat_cgroup *group, int64_t *ret_us, int64_t *ret_period_us)
{
	char path[TLAT_CGROUP_FILE_BYTES], text[64];
	long long us, period_us;

	if (tlat_root_read(group->root_fd, tlat_cgroup_file(group, "cpu.max", path), text,
			   sizeof(text)) >= 0) {
		if (sscanf(text, "%lld %lld", &us, &period_us) != 2)
			return false; /* "max 100000" */
		*ret_us = us;
		*ret_period_us = period_us;
		return true;
	}
	tlat_cgroup_file(group, "cpu.cfs_quota_us", path);
	if (tlat_root_read_int(group->root_fd, path, ret_us) < 0 || *ret_us < 0)
		return false;
	tlat_cgroup_file(group, "cpu.cfs_period_us", path);
	return tlat_root_read_int(group->root_fd, path, ret_period_us) >= 0;
}

/* A quota is a share of time, not a number of CPUs: threads run at once and stop together. */
static void find_quota(const struct tlat_machine *machine, struct tlat_findings *findings)
{
	struct tlat_cgroup group;
	int64_t us, period_us;

	if (tlat_cgroup_own(&group, machine->root_fd, "cpu") < 0 &&
	    tlat_cgroup_own(&group, machine->root_fd, NULL) < 0)
		return;
	while (!read_quota(&group, &us, &period_us))
		if (!tlat_cgroup_up(&group))
			return;
	tlat_findings_add(findings, TLAT_INFO, "cpu-quota",
			  "measure outside of the group, or lift its quota",
			  "the cgroup %.100s may use %lld us of CPU time in every %lld us: its "
			  "threads under ordinary policies are stopped for the rest",
			  group.path, (long long)us, (long long)period_us);
}

static void find_smt(const struct tlat_machine_facts *facts, struct tlat_findings *findings)
{
	if (facts->smt == 1)
		tlat_findings_add(findings, TLAT_INFO, "smt-active",
				  "echo off > /sys/devices/system/cpu/smt/control",
				  "SMT is active: what runs on a CPU's sibling slows it");
}

/* The slowest idle state that a CPU may enter. */
struct idle {
	int64_t latency_us; /* 0: there is none */
	char name[32];
};

static struct idle deepest_idle(const struct tlat_machine *machine, int32_t cpu)
{
	struct idle deepest = { .latency_us = 0 };

	for (int i = 0; i < IDLE_STATES_MAX; i++) {
		char dir[64], path[96];
		int64_t latency_us, disabled = 0;

		snprintf(dir, sizeof(dir), "sys/devices/system/cpu/cpu%d/cpuidle/state%d", cpu, i);
		snprintf(path, sizeof(path), "%s/latency", dir);
		if (tlat_root_read_int(machine->root_fd, path, &latency_us) < 0)
			break;
		snprintf(path, sizeof(path), "%s/disable", dir);
		tlat_root_read_int(machine->root_fd, path, &disabled);
		if (disabled || latency_us <= deepest.latency_us)
			continue;
		deepest.latency_us = latency_us;
		snprintf(path, sizeof(path), "%s/name", dir);
		tlat_machine_text(machine, path, deepest.name, sizeof(deepest.name));
	}
	return deepest;
}

static void find_idle(const struct tlat_machine *machine, const struct tlat_cpuset *cpus,
		      struct tlat_findings *findings)
{
	struct idle deepest = { .latency_us = 0 };
	struct tlat_cpuset deep = { { 0 } };
	char list[TLAT_SAY_BYTES];

	for (int32_t cpu = tlat_cpuset_next(cpus, -1); cpu >= 0;
	     cpu = tlat_cpuset_next(cpus, cpu)) {
		struct idle idle = deepest_idle(machine, cpu);

		if (idle.latency_us > DEEP_IDLE_US)
			tlat_cpuset_add(&deep, cpu);
		if (idle.latency_us > deepest.latency_us)
			deepest = idle;
	}
	if (!tlat_cpuset_empty(&deep))
		tlat_findings_add(findings, TLAT_INFO, "deep-idle-states",
				  "tlat run --cpu-latency 0 PROBE, or: cpupower idle-set -D 10",
				  "idle state %s takes up to %lld us to leave, and a wake-up from "
				  "it contains that; CPUs with states above %d us: %s",
				  deepest.name, (long long)deepest.latency_us, DEEP_IDLE_US,
				  tlat_cpuset_say(&deep, list, sizeof(list)));
}

static void find_memory(const struct tlat_machine_facts *facts, struct tlat_findings *findings)
{
	if (facts->thp_always == 1)
		tlat_findings_add(findings, TLAT_INFO, "transparent-hugepages",
				  "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
				  "transparent huge pages are made for every process: collapsing "
				  "them stops threads for up to milliseconds");
	if (facts->numa_balancing > 0)
		tlat_findings_add(findings, TLAT_INFO, "numa-balancing",
				  "sysctl -w kernel.numa_balancing=0",
				  "NUMA balancing is on: it makes page faults to see who uses "
				  "which memory");
}

static void find_resolution(const struct tlat_machine_facts *facts, struct tlat_findings *findings)
{
	if (facts->timer_resolution_ns > 1)
		tlat_findings_add(
			findings, TLAT_WARN, "low-resolution",
			"boot without highres=off, a kernel with CONFIG_HIGH_RES_TIMERS=y",
			"high-resolution timers are off: timers expire at the tick, in "
			"steps of %.3g ms, and every figure of a timer or a sleep "
			"contains the wait for it",
			(double)facts->timer_resolution_ns / 1e6);
}

/* As a service with ProtectClock=yes, which a filter keeps from the call that sets the clock. */
static void find_slew(const struct tlat_machine *machine, struct tlat_findings *findings)
{
	int refused = machine->live ? tlat_slew_refused() : 0;

	if (refused)
		tlat_findings_add(
			findings, TLAT_INFO, "slew-unknown",
			"ProtectClock=no in the service, or allow adjtimex(2) in the "
			"container's filter",
			"adjtimex(2): %s: how far CLOCK_MONOTONIC is slewed is not known, "
			"and the uncertainty of timers contains the most that the kernel "
			"allows, a tenth of their length",
			strerror(-refused));
}

/* A nohz_full CPU is never a target of its own timers while migration is on. */
static void find_timer_migration(const struct tlat_machine *machine, const struct tlat_cpuset *cpus,
				 struct tlat_findings *findings)
{
	struct tlat_cpuset full = tlat_cpuset_and(&machine->nohz_full.set, cpus);
	char list[TLAT_SAY_BYTES];

	if (tlat_cpuset_empty(&full) || machine->facts.timer_migration != 1)
		return;
	tlat_findings_add(findings, TLAT_INFO, "timer-migration",
			  "sysctl -w kernel.timer_migration=0",
			  "timers set on nohz_full CPUs %s are queued on other CPUs: each expiry "
			  "contains a wake across CPUs",
			  tlat_cpuset_say(&full, list, sizeof(list)));
}

void tlat_machine_audit(const struct tlat_machine *machine, const struct tlat_placement *place,
			struct tlat_findings *findings)
{
	const struct tlat_machine_facts *facts = &machine->facts;
	struct tlat_cpuset cpus = { { 0 } };

	for (int32_t i = 0; place && i < place->n; i++)
		tlat_cpuset_add(&cpus, place->cpus[i]);
	if (!place)
		cpus = machine->online;
	find_hypervisor(facts, findings);
	find_restricted(machine, findings);
	tlat_machine_find_isolation(machine, findings);
	find_governor(machine, &cpus, findings);
	find_clocksource(facts, findings);
	find_resolution(facts, findings);
	find_slew(machine, findings);
	find_throttling(facts, findings);
	find_quota(machine, findings);
	find_smt(facts, findings);
	find_idle(machine, &cpus, findings);
	find_memory(facts, findings);
	find_timer_migration(machine, &cpus, findings);
}
