/* SPDX-License-Identifier: MIT */
/*
 * rights.h - what tlat may do: capabilities shrink as the run goes on, and a
 * limit on real-time CPU time catches a thread that would hang the machine.
 */
#ifndef TLAT_RIGHTS_H
#define TLAT_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* RLIMIT_RTPRIO: what the user may raise by hand is no reason to refuse. A load that was started
 * before keeps what it had. */
void tlat_rights_raise_priority(void);

/* Before threads exist: keep what probes need, and the right to write to the user's file or to
 * /dev/cpu_dma_latency. Raises the priority limit. */
void tlat_rights_for_probes(bool writes);

/* After the last probe has started. */
void tlat_rights_for_writing(bool writes_file);

/*
 * From now on, at RLIMIT_RTTIME the program says so and ends with that exit code: something else
 * holds a thread up that another one waits for, and the machine with it. RLIMIT_CPU, all CPU time
 * of the process, is none of that: at it the program gets a SIGTERM, a second before the kernel
 * would kill it where the user set no soft limit of its own.
 */
void tlat_rights_heed_limits(const char *program, int code);

/*
 * The same, with RLIMIT_RTTIME, the CPU time a real-time thread may use without blocking, lowered
 * to ten times its longest spin, at least 2 s. Threads that spin rest every 8 ms, except that a
 * single settle, or the interval of a wait that takes CPU time, may be as long as the user says. A
 * stricter limit of the user's stays; a thread that would spin for longer then does without a
 * real-time policy.
 */
void tlat_rights_limit_rt(int64_t spin_ns, const char *program, int code);

/* At the end of the program: that RLIMIT_CPU ended the run, if it did. */
void tlat_rights_tell_limit(void);

#endif /* TLAT_RIGHTS_H */
