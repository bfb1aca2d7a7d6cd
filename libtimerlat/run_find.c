// SPDX-License-Identifier: MIT
/* run_find.c - what the books of a run show that its reader has to know. */
#include <string.h>

#include "rt.h"
#include "rt_budget.h"
#include "run_control.h"
#include "stats.h"

#define STALL_NS 50e6 /* what the kernel throttles for at least */

static void find_losses(const struct tlat_instance *in, struct tlat_result *result)
{
	const struct tlat_counts *counts = &result->counts;

	if (in->book->lost_wake)
		tlat_findings_add(&result->findings, TLAT_ERROR, "lost-wake", NULL,
				  "a wait did not end within %lld s of its kick; %llu cycles were "
				  "given up",
				  TLAT_WAIT_BOUND_NS / TLAT_NSEC_PER_SEC,
				  (unsigned long long)counts->rejected[TLAT_REJECTED_TIMEOUT]);
	else if (in->book->end == TLAT_END_ERROR && !in->book->error)
		tlat_findings_add(&result->findings, TLAT_ERROR, "waiter-missing",
				  "look for something of a higher priority on its CPU",
				  "the waiter on CPU %d was not ready within %lld s",
				  in->measurers[0].cpu, TLAT_WAIT_BOUND_NS / TLAT_NSEC_PER_SEC);
	if (in->book->error)
		tlat_findings_add(&result->findings, TLAT_ERROR, "probe-failed",
				  in->book->error == -EAGAIN
					  ? "raise the limits of this user, ulimit -i for signals"
					  : NULL,
				  "%s failed in the loop: %s", result->probe,
				  strerror(-in->book->error));
	if (counts->rejected[TLAT_REJECTED_NOT_ASLEEP] * 2 > counts->asked)
		tlat_findings_add(
			&result->findings, TLAT_WARN, "waiter-awake", "use a longer --settle",
			"in %llu of %llu cycles the waiter was not asleep when it was woken",
			(unsigned long long)counts->rejected[TLAT_REJECTED_NOT_ASLEEP],
			(unsigned long long)counts->asked);
}

/* The limit that a pause has the length of: only a thread that spins uses its time up. */
static void find_throttling(const struct tlat_run *run, const struct tlat_instance *in,
			    int64_t pause_ns, struct tlat_result *result)
{
	const struct tlat_measurer *m = &in->measurers[in->n_measurers - 1];
	struct tlat_rt_budget budget = tlat_rt_budget_on(run->machine, m->cpu);
	char what[48];

	if (!tlat_policy_is_ranked(m->policy) ||
	    !(run->ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_NOSLEEP)) ||
	    !tlat_rt_budget_explains(&budget, pause_ns))
		return;
	tlat_format(what, sizeof(what), "a pause of %.0f ms is", (double)pause_ns / 1e6);
	tlat_rt_budget_find(&budget, m->cpu, what, &result->findings);
}

/* Real-time throttling, a hypervisor, SIGSTOP: what no probe can tell apart, but must not hide. */
static void find_stalls(const struct tlat_run *run, const struct tlat_instance *in,
			struct tlat_result *result)
{
	double max_ns = (double)tlat_hist_max(result->latency) * in->book->ns_per_unit;
	double stopped_ns = (double)in->book->stopped * in->book->ns_per_unit;

	if (in->book->stops)
		tlat_findings_add(&result->findings, TLAT_WARN, "stopped",
				  "compare cpu.rt_runtime_us of the cgroup, sched_rt_runtime_us, "
				  "and steal",
				  "between the samples a thread was kept from its CPU %llu time%s, "
				  "up to %.0f ms: real-time throttling, another thread, the "
				  "hypervisor, or a stop signal",
				  (unsigned long long)in->book->stops,
				  in->book->stops == 1 ? "" : "s", stopped_ns / 1e6);
	if (max_ns > STALL_NS)
		tlat_findings_add(&result->findings, TLAT_WARN, "stall",
				  "look for throttling, steal and stop signals at that time",
				  "the largest value is %.0f ms: a stall rather than a latency",
				  max_ns / 1e6);
	if (in->book->stops || max_ns > STALL_NS)
		find_throttling(run, in, (int64_t)(stopped_ns > max_ns ? stopped_ns : max_ns),
				result);
}

/* The wheel counts ticks: it is early by what the tick was late by when it was armed. */
static void find_early(const struct tlat_instance *in, uint64_t early, struct tlat_result *result)
{
	const uint32_t wheel = TLAT_PROBE_RELATIVE | TLAT_PROBE_TICK_BOUND;

	if ((in->ctx->ops->flags & wheel) == wheel)
		tlat_findings_add(&result->findings, TLAT_WARN, "early",
				  "look for what keeps the CPU that counts ticks from it: steal, "
				  "interrupts off",
				  "%llu timeouts ended before they were due: a tick was late when "
				  "they began, and they count in ticks",
				  (unsigned long long)early);
	else
		tlat_findings_add(&result->findings, TLAT_ERROR, "early",
				  "check the clock: a timer never fires early",
				  "%llu expiries were stamped before they were due",
				  (unsigned long long)early);
}

/* No wake ends before its kick; from CPU to CPU it may look so, by what the counters may differ. */
static void find_early_wake(const struct tlat_run *run, struct tlat_result *result)
{
	bool one_way = run->place.kick != run->place.wait && !result->round_trip;
	double least_ns = one_way ? result->offset.lo_ns : 0, min_ns;

	if (!tlat_hist_count(result->latency) || (one_way && !result->has_offset))
		return;
	min_ns = (double)tlat_hist_min(result->latency) * 1e9 /
		 (double)tlat_hist_hz(result->latency);
	if (min_ns < least_ns)
		tlat_findings_add(
			&result->findings, TLAT_ERROR, "early",
			one_way ? "use --round-trip or --clock clock_gettime"
				: "use --clock clock_gettime",
			"the smallest value is %.0f ns, but with stamps that hold none can "
			"be below %.0f ns: the clock is wrong",
			min_ns, least_ns);
}

static void find_oddities(const struct tlat_run *run, const struct tlat_instance *in,
			  struct tlat_result *result)
{
	const struct tlat_counts *counts = &result->counts;

	if (in->pair)
		find_early_wake(run, result);
	else if (counts->early)
		find_early(in, counts->early, result);
	if (counts->missed * 10 > counts->asked)
		tlat_findings_add(&result->findings, TLAT_WARN, "many-missed",
				  "use a longer interval (-i), or see the corrected figures",
				  "%llu of %llu expiries passed while an earlier one was late: the "
				  "observed figures leave them out",
				  (unsigned long long)counts->missed,
				  (unsigned long long)counts->asked);
	if (!tlat_hist_count(result->latency) && in->book->end != TLAT_END_SIGNAL)
		tlat_findings_add(&result->findings, TLAT_ERROR, "no-sample",
				  "measure longer (-d) than warm-up and one cycle take",
				  "no cycle of %llu gave a sample",
				  (unsigned long long)counts->asked);
}

/* A timer that counts its expirations must have counted all of them. */
static void find_miscounts(const struct tlat_instance *in, struct tlat_result *result)
{
	const struct tlat_tally *tally = &in->book->tally;

	if (tally->miscounts)
		tlat_findings_add(&result->findings, TLAT_ERROR, "conservation",
				  "report this to the kernel's developers, or as a bug of ours",
				  "at %llu events the timer counted more expirations than there "
				  "had been, or fewer: missed cannot be trusted",
				  (unsigned long long)tally->miscounts);
	if (tally->closed && tally->counted != tally->expired)
		tlat_findings_add(
			&result->findings, TLAT_ERROR, "conservation",
			"report this to the kernel's developers, or as a bug of ours",
			"the timer counted %llu expirations, but by its next expiry there "
			"were %llu (0: none of its grid): missed cannot be trusted",
			(unsigned long long)tally->counted, (unsigned long long)tally->expired);
}

/* What a grid of the same interval would have had in the time that a closed loop took. */
static void find_closed_loop(struct tlat_result *result)
{
	uint64_t points = (uint64_t)(result->duration_ns / result->interval_ns);
	uint64_t served = result->counts.asked;

	if (points > served)
		tlat_findings_add(&result->findings, TLAT_INFO, "closed-loop", NULL,
				  "each wait of %s begins after the one before, so none is missed; "
				  "a grid of %lld ns would have had %llu expiries in that time, of "
				  "which %llu were served",
				  result->probe, (long long)result->interval_ns,
				  (unsigned long long)points, (unsigned long long)served);
}

/* A sleep ends in the interrupt itself, but on PREEMPT_RT only that of a real-time thread. */
static bool is_soft_sleep(uint32_t flags, int32_t policy)
{
	return !tlat_policy_is_rt(policy) &&
	       !(flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK | TLAT_PROBE_NOSLEEP));
}

static void find_soft_expiry(const struct tlat_run *run, struct tlat_result *result)
{
	uint32_t flags = run->ops->flags;
	bool soft_timer = flags & TLAT_PROBE_SOFT_EXPIRY;

	if (strcmp(tlat_machine_facts(run->machine)->preempt, "rt") ||
	    !(soft_timer || is_soft_sleep(flags, result->wait.policy)))
		return;
	tlat_findings_add(&result->findings, TLAT_WARN, "softirq-expiry",
			  soft_timer ? "raise the thread: chrt -f -p PRIO $(pgrep ktimers/N), or "
				       "use timer-nanosleep"
				     : "use --policy fifo, or raise the thread: chrt -f -p PRIO "
				       "$(pgrep ktimers/N)",
			  "on PREEMPT_RT this %s expires in the thread ktimers/%d, at SCHED_FIFO "
			  "1 unless it was raised: any real-time thread above that on the CPU "
			  "holds it back",
			  soft_timer ? "timer" : "sleep under an ordinary policy",
			  result->wait.cpu);
}

/* What this way of being woken brings with it, wherever it is measured. */
static void find_nature(const struct tlat_run *run, struct tlat_result *result)
{
	uint32_t flags = run->ops->flags;

	if (flags & TLAT_PROBE_CLOSED && result->duration_ns > 0)
		find_closed_loop(result);
	if (flags & TLAT_PROBE_LIBRARY_COST)
		tlat_findings_add(&result->findings, TLAT_INFO, "library-cost", NULL,
				  "%s includes the C library's helper thread and a new thread for "
				  "each expiry, which have not the policy asked for: this is not "
				  "the kernel's latency",
				  result->probe);
	if (flags & TLAT_PROBE_DRIFTS)
		tlat_findings_add(&result->findings, TLAT_INFO, "drift", "use timer-uring",
				  "the kernel re-arms this timer when its task has run, not on a "
				  "grid: within a burst the lateness of all expiries adds up, and "
				  "is in the figures");
	find_soft_expiry(run, result);
}

/* What traps is in every stamp, and hides all that is shorter. */
static void find_slow_stamps(const struct tlat_run *run, const struct tlat_instance *in,
			     struct tlat_result *result)
{
	const struct tlat_calibration *cal = tlat_clock_calibration(run->clock);
	double cost_ns = in->ctx->stamper.kind == TLAT_STAMP_GETTIME ? cal->gettime_cost_ns
								     : cal->read_cost_ns;

	if (cost_ns > TLAT_TRAPPED_READ_NS)
		tlat_findings_add(&result->findings, TLAT_WARN, "clock-slow",
				  TLAT_SLOW_CLOCK_REMEDY,
				  "a stamp takes %.1f us: the figures contain that, and what is "
				  "shorter cannot be measured",
				  cost_ns / 1e3);
}

/* Samples tell the CPU of their last stamp: not where a waker was when it took the first one. */
void tlat_run_find_displaced(const struct tlat_instance *in, struct tlat_result *result)
{
	for (int i = 0; i < in->n_measurers; i++) {
		const struct tlat_measurer *m = &in->measurers[i];
		bool kicks = m->side.role == TLAT_ROLE_KICK;

		if (!m->displaced)
			continue;
		tlat_findings_add(
			&result->findings, kicks ? TLAT_WARN : TLAT_INFO, "cpu-displaced",
			TLAT_DISPLACED_REMEDY,
			"at %u looks, about two a second, the affinity mask of the %s on CPU %d "
			"was another than was set, and it was put back: %s",
			m->displaced, kicks ? "waker" : "measuring thread", m->cpu,
			kicks ? "what it kicked from elsewhere until then is in no count"
			      : "samples from elsewhere until then are in disturbed.migrated");
	}
}

void tlat_run_find(const struct tlat_run *run, const struct tlat_instance *in,
		   struct tlat_result *result)
{
	tlat_run_find_displaced(in, result);
	find_losses(in, result);
	find_oddities(run, in, result);
	find_stalls(run, in, result);
	find_miscounts(in, result);
	find_nature(run, result);
	tlat_find_few_blocks(result);
	find_slow_stamps(run, in, result);
}
