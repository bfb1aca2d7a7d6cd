// SPDX-License-Identifier: MIT
/*
 * rt_try.c - whether attributes would be granted: tried on a thread of its own, then undone. Knows
 * the limit that a real-time thread meets later, when it spins.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "rt_parts.h"
#include "thread.h"

/* A thread does not sleep either before its spin and after it, and the kernel counts in ticks. */
#define SPARE_NS 20000000

struct trial {
	const struct tlat_rt_opts *opts;
	struct tlat_error why;
	int error;
};

static void *try_out(void *arg)
{
	struct trial *trial = arg;
	struct tlat_rt *rt;

	trial->error = tlat_rt_apply(&rt, trial->opts, &trial->why);
	if (!trial->error)
		tlat_rt_undo(rt);
	return NULL;
}

int tlat_rt_try(const struct tlat_rt_opts *opts, struct tlat_error *reterr)
{
	struct trial trial = { .opts = opts };
	pthread_t thread;

	if (tlat_thread_start(&thread, NULL, try_out, &trial))
		return 0;
	pthread_join(thread, NULL);
	return trial.error ? tlat_fail(reterr, trial.error, "%s", trial.why.text) : 0;
}

static int fail_limit(const char *asked, int64_t spin_ns, const struct rlimit *limit,
		      rlim_t least_us, struct tlat_error *reterr)
{
	unsigned long long soft_us = limit->rlim_cur, hard_us = limit->rlim_max;
	double spin_s = (double)spin_ns * 1e-9;

	if (limit->rlim_max >= least_us)
		return tlat_fail(reterr, -EPERM,
				 "%s refused: it would spin for %.3g s, and RLIMIT_RTTIME (%llu "
				 "us) ends a process whose real-time threads do not sleep; raise "
				 "the soft limit before starting: prlimit --rttime=%llu:",
				 asked, spin_s, soft_us, (unsigned long long)least_us);
	return tlat_fail(reterr, -EPERM,
			 "%s refused: it would spin for %.3g s, and RLIMIT_RTTIME (hard limit %llu "
			 "us) ends a process whose real-time threads do not sleep; spin for less, "
			 "or raise it as root: prlimit --pid $$ --rttime=unlimited",
			 asked, spin_s, hard_us);
}

/* The soft limit's SIGXCPU ends whoever has no handler, the hard limit's SIGKILL everybody. */
int tlat_rt_try_spin(int32_t policy, int32_t priority, int64_t spin_ns, struct tlat_error *reterr)
{
	rlim_t least_us = (rlim_t)(spin_ns + SPARE_NS) / 1000;
	struct rlimit limit;
	char asked[40];

	if (!spin_ns || !tlat_policy_is_ranked(policy) || getrlimit(RLIMIT_RTTIME, &limit) < 0 ||
	    limit.rlim_cur >= least_us)
		return 0;
	tlat_sched_text(asked, sizeof(asked), policy, priority);
	return fail_limit(asked, spin_ns, &limit, least_us, reterr);
}

int32_t tlat_rt_grant(int32_t policy, int32_t *priority, struct tlat_findings *findings)
{
	return tlat_rt_grant_spin(policy, priority, 0, findings);
}

int32_t tlat_rt_grant_spin(int32_t policy, int32_t *priority, int64_t spin_ns,
			   struct tlat_findings *findings)
{
	struct tlat_rt_opts opts = TLAT_RT_OPTS(.policy = policy, .priority = *priority);
	struct tlat_error why;

	if (policy == TLAT_SCHED_INHERIT ||
	    (tlat_rt_try_spin(policy, *priority, spin_ns, &why) == 0 &&
	     tlat_rt_try(&opts, &why) == 0))
		return policy;
	tlat_findings_add(findings, TLAT_WARN, "policy-refused", NULL, "%s", why.text);
	*priority = 0;
	return TLAT_SCHED_OTHER;
}
