// SPDX-License-Identifier: MIT
/*
 * run_deadline.c - runs under SCHED_DEADLINE. Knows that the kernel admits a thread only where it
 * may use all CPUs of its root domain, so that a measuring thread can be pinned in a domain of one
 * CPU and has to roam in any other; and that admission counts the sum of all threads.
 */
#include <stdio.h>

#include "rt.h"
#include "run_control.h"

/* A thread that spins uses its runtime up and is throttled; one that is to be the parent of others
 * gets EAGAIN. */
#define UNFIT (TLAT_PROBE_LOOPBACK | TLAT_PROBE_NOSLEEP | TLAT_PROBE_LIBRARY_COST | TLAT_PROBE_FORK)

void tlat_deadline_resolve(struct tlat_run_opts *opts)
{
	if (opts->policy != TLAT_SCHED_DEADLINE)
		return;
	if (!opts->period_ns)
		opts->period_ns = opts->interval_ns;
	if (!opts->deadline_ns)
		opts->deadline_ns = opts->period_ns;
}

int tlat_deadline_check(const struct tlat_run *run, struct tlat_error *reterr)
{
	const struct tlat_rt_opts rt = tlat_deadline_attributes(&run->opts);

	if (run->opts.policy != TLAT_SCHED_DEADLINE)
		return 0;
	if (run->ops->flags & TLAT_PROBE_PAIR)
		return tlat_fail(reterr, -EINVAL,
				 "policy deadline is not for %s: the two threads of a pair are "
				 "ordered by priority, which a deadline has not; use fifo, or a "
				 "timer-* probe",
				 run->ops->name);
	return tlat_rt_opts_check(&rt, reterr);
}

const char *tlat_deadline_unfit(const struct tlat_run *run)
{
	if (run->opts.policy != TLAT_SCHED_DEADLINE || !(run->ops->flags & UNFIT))
		return NULL;
	return run->ops->flags & (TLAT_PROBE_LIBRARY_COST | TLAT_PROBE_FORK)
		       ? "a SCHED_DEADLINE thread cannot start others, which this probe does"
		       : "this probe spins, and a SCHED_DEADLINE thread that spins is throttled "
			 "when its runtime is used up";
}

struct tlat_rt_opts tlat_deadline_attributes(const struct tlat_run_opts *opts)
{
	return TLAT_RT_OPTS(.policy = TLAT_SCHED_DEADLINE, .runtime_ns = opts->runtime_ns,
			    .deadline_ns = opts->deadline_ns, .period_ns = opts->period_ns);
}

/* All threads at once, as far as one can stand for them: it is the sum that is admitted. Undone at
 * once; what little the trial ran is given back before the threads ask. */
static int try_all(const struct tlat_run *run, const char *cpus, struct tlat_error *reterr)
{
	struct tlat_rt_opts opts = tlat_deadline_attributes(&run->opts);
	struct tlat_rt *rt;
	int error;

	opts.cpus = cpus;
	opts.runtime_ns = opts.runtime_ns > opts.deadline_ns / run->n_instances
				  ? opts.deadline_ns
				  : opts.runtime_ns * run->n_instances;
	error = tlat_rt_apply(&rt, &opts, reterr);
	if (!error)
		tlat_rt_undo(rt);
	return error;
}

static bool is_pinned_admitted(const struct tlat_run *run)
{
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "%d", run->place.wait);
	return run->n_instances == 1 && try_all(run, cpu, NULL) == 0;
}

int tlat_deadline_refuse(const struct tlat_run *run, const struct tlat_error *why,
			 struct tlat_error *reterr)
{
	if (run->opts.policy != TLAT_SCHED_DEADLINE)
		return tlat_fail(reterr, why->code, "%s", why->text);
	return tlat_fail(reterr, why->code, "%d x %lld ns in %lld ns: %.400s", run->n_instances,
			 (long long)run->opts.runtime_ns, (long long)run->opts.period_ns,
			 why->text);
}

int tlat_deadline_admit(struct tlat_run *run, struct tlat_error *reterr)
{
	struct tlat_error why;
	int error;

	if (is_pinned_admitted(run))
		return 0;
	tlat_affinity_set(0, &run->allowed);
	error = try_all(run, NULL, &why);
	if (error)
		return tlat_deadline_refuse(run, &why, reterr);
	for (int i = 0; i < run->n_instances; i++)
		run->instances[i].measurers[0].roams = &run->allowed;
	return 0;
}

/* What was asked for by number and not done is worth a warning. */
void tlat_deadline_find(struct tlat_run *run)
{
	char cpus[TLAT_SAY_BYTES], asked[16] = "their CPUs";

	if (run->instances[0].measurers[0].roams != &run->allowed ||
	    tlat_cpuset_count(&run->allowed) == 1)
		return;
	if (run->n_instances == 1)
		snprintf(asked, sizeof(asked), "CPU %d", run->place.wait);
	tlat_findings_add(
		&run->of_result, run->opts.cpus ? TLAT_WARN : TLAT_INFO, "deadline-not-pinned",
		"for a thread that stays, make a cpuset partition of its CPU alone and run in it",
		"a SCHED_DEADLINE thread must be allowed on all CPUs of its root domain: it may "
		"move among CPUs %s instead of staying on %s, whose idle states are shown",
		tlat_cpuset_say(&run->allowed, cpus, sizeof(cpus)), asked);
}
