// SPDX-License-Identifier: MIT
/* rt_try.c - whether attributes would be granted: tried on a thread of its own, then undone. */
#include "rt.h"
#include "thread.h"

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

int32_t tlat_rt_grant(int32_t policy, int32_t *priority, struct tlat_findings *findings)
{
	struct tlat_rt_opts opts = TLAT_RT_OPTS(.policy = policy, .priority = *priority);
	struct tlat_error why;

	if (policy == TLAT_SCHED_INHERIT || tlat_rt_try(&opts, &why) == 0)
		return policy;
	tlat_findings_add(findings, TLAT_WARN, "policy-refused", NULL, "%s", why.text);
	*priority = 0;
	return TLAT_SCHED_OTHER;
}
