/* SPDX-License-Identifier: MIT */
/* machine.h - the private view of the machine */
#ifndef TLAT_MACHINE_H
#define TLAT_MACHINE_H

#include "cpulist.h"

/* A set that a file may not tell. */
struct tlat_known_cpus {
	bool known;
	struct tlat_cpuset set;
};

/* Facts for reports and findings; strings are "" when unknown, numbers -1. */
struct tlat_machine_facts {
	char kernel[160]; /* release and version */
	char cmdline[2048];
	char preempt[24]; /* "none", "voluntary", "full", "lazy", "rt", or "" */
	char cpu_model[96];
	char governor[256]; /* "performance", or "0-2: powersave, 3: performance" */
	char freq_driver[32];
	char idle_driver[32], idle_governor[32];
	char clocksource[32];
	char hypervisor[32];  /* "kvm", "yes" when unnamed, "" when none or unknown */
	char sched_ext[128];  /* a BPF scheduler that is loaded, "" when none */
	char mitigations[64]; /* from the command line: "auto", "off", "" */
	int32_t hz, timer_migration, smt, rt_group_sched, thp_always, numa_balancing, turbo;
	int64_t rt_runtime_us, rt_period_us;
	int64_t signal_frame_bytes;  /* AT_MINSIGSTKSZ */
	int64_t timer_resolution_ns; /* 1: of high resolution; else a tick */
	char boot_id[40];
	char hostname[64];
	char cgroup[8]; /* hierarchies that can tell CPUs: "v1", "v2", "v1, v2", or "" */
};

const struct tlat_machine_facts *tlat_machine_facts(const struct tlat_machine *machine);
int tlat_machine_root_fd(const struct tlat_machine *machine);

const struct tlat_cpuset *tlat_machine_online(const struct tlat_machine *machine);
/* Effective isolation from the scheduler's domains, and what the command line asked for. */
const struct tlat_known_cpus *tlat_machine_isolated(const struct tlat_machine *machine);
const struct tlat_cpuset *tlat_machine_isolated_requested(const struct tlat_machine *machine);
const struct tlat_known_cpus *tlat_machine_nohz_full(const struct tlat_machine *machine);
/* The affinity mask at open, and the CPUs that cgroups leave where they withhold some. */
const struct tlat_cpuset *tlat_machine_allowed(const struct tlat_machine *machine);
const struct tlat_known_cpus *tlat_machine_cpuset(const struct tlat_machine *machine);
/*
 * Whether its affinity mask kept this process, at open, from a CPU that all others start on:
 * one that is online and not isolated.
 */
bool tlat_machine_restricted(const struct tlat_machine *machine);

/* What tlat_machine_relation() gives, static, that equals text; NULL: nothing does. */
const char *tlat_relation_from_name(const char *text);

/* Where a run happens. */
struct tlat_placement {
	int32_t kick, wait; /* pair; equal on one CPU. Solo: wait is the first, kick -1 */
	int32_t house;	    /* for the controller; -1: anywhere */
	bool house_shared;  /* house is one of the measuring CPUs */
	int32_t n;	    /* measuring CPUs, each once, in the order of the list */
	int32_t cpus[TLAT_CPUS_MAX];
};

/*
 * Choose CPUs (design section 3): for a pair two isolated neighbours, else two neighbours without
 * CPU 0, else what there is; list (as in tlat_run_opts.cpus, NULL: choose) overrides and is
 * checked: a pair takes one or two CPUs. Findings say what was not isolated, SMT siblings, a
 * narrower mask obeyed or overridden, isolation requested but not effective. Returns 0, or
 * -EINVAL when the list cannot be had.
 */
int tlat_machine_place_pair(const struct tlat_machine *machine, const char *list,
			    struct tlat_placement *ret_placement, struct tlat_findings *findings,
			    struct tlat_error *reterr);
/* The same for solo probes: one thread on each CPU of the list. NULL: on one CPU. */
int tlat_machine_place_solo(const struct tlat_machine *machine, const char *list,
			    struct tlat_placement *ret_placement, struct tlat_findings *findings,
			    struct tlat_error *reterr);

/*
 * Whether the kernel stops real-time threads that use up their time, whoever waits; else its fair
 * server lets in ordinary threads that starve.
 */
bool tlat_machine_throttles(const struct tlat_machine_facts *facts);

/*
 * Findings about the machine as such: hypervisor, governor, throttling, clocksource, ... What each
 * CPU has for itself is told of those of place (NULL: of all that are online).
 */
void tlat_machine_audit(const struct tlat_machine *machine, const struct tlat_placement *place,
			struct tlat_findings *findings);

#endif /* TLAT_MACHINE_H */
