/* SPDX-License-Identifier: MIT */
/* machine_state.h - what the files of the machine module share; nobody else includes it */
#ifndef TLAT_MACHINE_STATE_H
#define TLAT_MACHINE_STATE_H

#include <dirent.h>

#include "machine.h"

/* What is known of one CPU. Unknown: a core of its own, and -1 for cache and node. */
struct tlat_cpu {
	int32_t core; /* the lowest CPU of its core */
	int32_t llc;  /* the lowest CPU below its last-level cache */
	int32_t node;
	int32_t speed; /* core type: equal numbers are equal types, more is faster */
};

/* A frequency governor, and the online CPUs under it. */
struct tlat_governor {
	char name[32];
	struct tlat_cpuset cpus;
};

/* Linux has six. */
#define TLAT_GOVERNORS_MAX 8

struct tlat_machine {
	int root_fd;
	bool live; /* the root is this machine's, so system calls tell about it too */
	bool note_isolated, note_nohz_full; /* the file is there and says nothing readable */
	struct tlat_cpuset present;	    /* online or not */
	struct tlat_cpuset online;
	struct tlat_cpuset nodes;      /* numbers of NUMA nodes, not of CPUs */
	struct tlat_cpuset allowed;    /* the affinity mask */
	struct tlat_known_cpus cpuset; /* online CPUs that cgroups let this process have */
	char cpuset_path[128];	       /* the cgroup that says so */
	struct tlat_known_cpus isolated, nohz_full;
	struct tlat_cpuset isolated_requested, nohz_full_requested;
	char partition_invalid[192]; /* "/rt: isolated invalid (...)": asked of a cgroup */
	struct tlat_machine_facts facts;
	struct tlat_governor governors[TLAT_GOVERNORS_MAX]; /* "": no more of them */
	struct tlat_cpu cpu[TLAT_CPUS_MAX];
};

/* machine.c */

/* A file's text without blanks at its ends, cut to size; "" when it cannot be read. */
void tlat_machine_text(const struct tlat_machine *machine, const char *path, char *text,
		       size_t size);
/* A file that holds a CPU list. 0, -EINVAL when it is not one, or why it cannot be read. */
int tlat_machine_read_cpus(const struct tlat_machine *machine, const char *path,
			   struct tlat_cpuset *ret_set);
/* A directory below the root, or NULL. */
DIR *tlat_machine_opendir(const struct tlat_machine *machine, const char *path);
/* Online CPUs that this process can be moved to: all but what its cpuset withholds. */
struct tlat_cpuset tlat_machine_reachable(const struct tlat_machine *machine);

/* machine_trial.c */

struct tlat_trial {
	struct tlat_cpuset taken;   /* a thread of this process can be there */
	struct tlat_cpuset refused; /* offline, or outside of the cpuset */
};

/*
 * Try each of cpus on a thread of its own, which wakes up on home again. What could not be tried
 * is in neither set.
 */
struct tlat_trial tlat_machine_try(const struct tlat_cpuset *cpus, const struct tlat_cpuset *home);

/* machine_topology.c */
void tlat_machine_read_topology(struct tlat_machine *machine);

/* machine_cpuset.c: control groups; both need online, isolation needs the cpuset too */
void tlat_machine_read_cpuset(struct tlat_machine *machine);
/* CPUs that cgroups keep from the scheduler's domains, added to *set; true when any says so. */
bool tlat_machine_read_partitions(struct tlat_machine *machine, struct tlat_cpuset *set);

/* machine_isolation.c; needs facts.cmdline */
void tlat_machine_read_isolation(struct tlat_machine *machine);
/* The word after key= on the kernel's command line ("" when absent); false when absent. */
bool tlat_machine_parameter(const struct tlat_machine *machine, const char *key, char *value,
			    size_t size);
/* Findings of the isolation as such, the same text for a run and for an audit. */
void tlat_machine_find_isolation(const struct tlat_machine *machine,
				 struct tlat_findings *findings);

/* machine_facts.c */
void tlat_machine_read_facts(struct tlat_machine *machine);

#endif /* TLAT_MACHINE_STATE_H */
