// SPDX-License-Identifier: MIT
/* run_adapt.c - what a plan takes from the policies in force: rests of those who spin, yields. */
#include "run_control.h"

#define MAX_SPIN_NS 400000000LL /* of every second, well below 950 ms */

static bool is_rt(const struct tlat_instance *in)
{
	for (int i = 0; i < in->n_measurers; i++)
		if (tlat_policy_is_rt(in->measurers[i].facts.policy))
			return true;
	return false;
}

/* How long a cycle is asked to take: a probe that does not sleep spins through it. */
static int64_t cycle_ns(const struct tlat_run *run)
{
	bool paced = run->ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_NOSLEEP);
	int64_t settle_ns = run->opts.settle_ns, interval_ns = 0;

	if (paced) /* steps lead up */
		interval_ns = tlat_run_interval_ns(run, run->n_instances - 1);
	return settle_ns > interval_ns ? settle_ns : interval_ns;
}

/* After how long a real-time thread that spins rests. */
static int64_t rest_after_ns(const struct tlat_run *run)
{
	int64_t after_ns = TLAT_REST_AFTER_CYCLES * cycle_ns(run);

	if (after_ns < TLAT_REST_AFTER_NS)
		return TLAT_REST_AFTER_NS;
	return after_ns < MAX_SPIN_NS ? after_ns : MAX_SPIN_NS;
}

static bool spins(const struct tlat_run *run)
{
	return run->ops->flags & (TLAT_PROBE_NOSLEEP | TLAT_PROBE_LOOPBACK);
}

/* The rest comes with the end of a cycle. */
int64_t tlat_run_spin_ns(const struct tlat_run *run)
{
	return spins(run) ? rest_after_ns(run) + cycle_ns(run) : 0;
}

/*
 * Rests of a real-time thread that spins, so that the kernel need not throttle it: after so long or
 * so many cycles, for a quarter of that. A waker that naps between its kicks needs none, unless its
 * waiter spins.
 */
static void plan_rests(struct tlat_run *run, struct tlat_instance *in)
{
	int64_t after_ns = rest_after_ns(run);

	in->limits.rest_ns = (uint64_t)(after_ns / 4);
	in->limits.rest = tlat_run_in_unit(run, after_ns / 4);
	if (is_rt(in) && (spins(run) || (in->pair && cycle_ns(run) <= 2 * TLAT_NAP_NS)))
		in->limits.rest_after = tlat_run_in_unit(run, after_ns);
	if (in->limits.rest_after && spins(run) && cycle_ns(run) > MAX_SPIN_NS)
		tlat_findings_add(&run->of_result, TLAT_WARN, "throttle-risk",
				  "use a shorter settle time or interval",
				  "a thread spins for %lld ms at a time under a real-time policy, "
				  "which the kernel may throttle",
				  (long long)(cycle_ns(run) / 1000000));
}

static void adapt_pair(struct tlat_run *run, struct tlat_instance *in)
{
	const struct tlat_side_facts *wait = &in->measurers[0].facts;
	const struct tlat_side_facts *kick = &in->measurers[1].facts;
	struct tlat_pair *pair = in->pair;

	pair->limits = in->limits;
	pair->sleeps = !(run->ops->flags & TLAT_PROBE_NOSLEEP);
	pair->yields = in->ctx->same_cpu &&
		       !(tlat_policy_is_rt(wait->policy) && wait->priority > kick->priority);
	if (pair->yields)
		tlat_findings_add(&run->of_result, TLAT_WARN, "slice-included",
				  "run with real-time priority, or give two CPUs",
				  "waker and waiter share CPU %d without strict priority: the "
				  "waiter may only run when the waker gives the CPU up, which it "
				  "does right after the kick",
				  wait->cpu);
}

void tlat_run_adapt(struct tlat_run *run)
{
	for (int i = 0; i < run->n_instances; i++) {
		struct tlat_instance *in = &run->instances[i];

		plan_rests(run, in);
		in->solo->limits = in->limits;
		if (in->pair)
			adapt_pair(run, in);
	}
}
