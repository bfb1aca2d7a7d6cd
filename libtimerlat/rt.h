/* SPDX-License-Identifier: MIT */
/* rt.h - private parts of rt.c, rt_explain.c, rt_idle.c, rt_policy.c, rt_try.c and caps.c */
#ifndef TLAT_RT_H
#define TLAT_RT_H

#include "internal.h"

/*
 * tlat_rt_apply() below another root, for diagnosis files (cgroup budgets, status) and
 * /dev/cpu_dma_latency.
 */
int tlat_rt_apply_at(struct tlat_rt **ret_rt, int root_fd, const struct tlat_rt_opts *opts,
		     struct tlat_error *reterr);

/*
 * All that is wrong with options and can be told without the kernel: policy and priority, what
 * SCHED_DEADLINE needs, slack, idle latency. opts is as this library has it (tlat_opts_copy()).
 * 0 or -EINVAL.
 */
int tlat_rt_opts_check(const struct tlat_rt_opts *opts, struct tlat_error *reterr);

/*
 * Fill policy, priority, deadline parameters and slack of *opts with what the calling thread has,
 * so that another thread can be given the same. No slack, which is what a real-time thread has
 * since Linux 6.12, cannot be asked for, and need not be: the threads that it creates begin and
 * stay with none, whatever their policy. slack_ns is 0 (inherit) then. A policy that cannot be
 * asked for (idle, ext) becomes TLAT_SCHED_INHERIT. 0 or a negative errno.
 */
int tlat_rt_inherit(struct tlat_rt_opts *opts);

/* FIFO and RR: real-time, by priority. */
static inline bool tlat_policy_is_ranked(int policy)
{
	return policy == TLAT_SCHED_FIFO || policy == TLAT_SCHED_RR;
}

static inline bool tlat_policy_is_rt(int policy)
{
	return tlat_policy_is_ranked(policy) || policy == TLAT_SCHED_DEADLINE;
}

/* The kernel's name of a policy: "SCHED_FIFO"; "SCHED_?" for one that is not known. Static. */
const char *tlat_policy_kernel_name(int policy);

/* The symbol of a positive errno where the C library tells it ("EPERM"), else its text. */
const char *tlat_errno_name(int error);

/* The finding cpu-lost: what tlat_affinity_set() gave for a thread that was to go back. */
void tlat_find_cpu_lost(struct tlat_findings *findings, int32_t cpu, int error);

/* Of the finding cpu-displaced. */
#define TLAT_DISPLACED_REMEDY                                                                      \
	"look for what sets masks or writes cpusets: kubelet, systemd, taskset"

/* What was asked for, and how it was answered. */
struct tlat_refusal {
	int policy, priority;
	int error;	  /* positive errno */
	bool intercepted; /* not by the kernel */
};

/*
 * Why it was refused, in one line with the remedy; reads capability sets, RLIMIT_RTPRIO, cgroup
 * budgets and seccomp. The cause's short name ("capability", "rlimit", "cgroup-budget", "seccomp",
 * "admission", "unknown") is returned, static.
 */
const char *tlat_rt_explain(int root_fd, const struct tlat_refusal *refusal, char *text,
			    size_t size);

/*
 * Hold /dev/cpu_dma_latency at latency_ns (TLAT_ZERO: 0), rounded down to us. Returns a descriptor
 * for tlat_rt_release_idle(), or a negative errno with the remedy.
 */
int tlat_rt_hold_idle(int root_fd, int64_t latency_ns, struct tlat_error *reterr);
/* Let go, also where a child that was forked meanwhile has the descriptor open; -1: nothing. */
void tlat_rt_release_idle(int fd);

/*
 * Whether the calling thread would be granted these attributes; it never has them meanwhile. 0 also
 * when it could not be tried, else what tlat_rt_apply() says.
 */
int tlat_rt_try(const struct tlat_rt_opts *opts, struct tlat_error *reterr);

/*
 * The policy to use where policy and priority are asked for: if they are refused OTHER, priority 0,
 * and the finding policy-refused. Decided once for all threads: half of them real-time would be
 * neither one thing nor the other.
 */
int32_t tlat_rt_grant(int32_t policy, int32_t *priority, struct tlat_findings *findings);

/*
 * Whether threads under the policy may spin for spin_ns without a sleep (0: they do not): where
 * RLIMIT_RTTIME is shorter, the kernel would end the process. 0, or -EPERM with the limit.
 */
int tlat_rt_try_spin(int32_t policy, int32_t priority, int64_t spin_ns, struct tlat_error *reterr);

/* tlat_rt_grant() where also that must be possible. */
int32_t tlat_rt_grant_spin(int32_t policy, int32_t *priority, int64_t spin_ns,
			   struct tlat_findings *findings);

/* Whether the calling thread has the capability in effect ("cap_sys_nice"); false if unknown. */
bool tlat_rt_capable(const char *capability);

#endif /* TLAT_RT_H */
