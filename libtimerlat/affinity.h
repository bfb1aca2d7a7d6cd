/* SPDX-License-Identifier: MIT */
/* affinity.h - the CPUs that a thread may use */
#ifndef TLAT_AFFINITY_H
#define TLAT_AFFINITY_H

#include "cpulist.h"

/* The mask of a thread (0: the calling one); only CPUs that are online. 0 or a negative errno. */
int tlat_affinity_get(pid_t tid, struct tlat_cpuset *ret_set);
int tlat_affinity_set(pid_t tid, const struct tlat_cpuset *set);
/* To that CPU alone. */
int tlat_affinity_pin(pid_t tid, int32_t cpu);

/*
 * The mask in a text as /proc/self/status has it, which also names CPUs that are offline. 0,
 * -ENOENT when the text has no such line, -EINVAL when the line is no CPU list.
 */
int tlat_affinity_of_status(const char *status, struct tlat_cpuset *ret_set);

#endif /* TLAT_AFFINITY_H */
