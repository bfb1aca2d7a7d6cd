// SPDX-License-Identifier: MIT
/*
 * run_setup.c - a run until its loops may begin, on the controller: what is held while it lasts,
 * the clock across the pair, the policy, the floor of a pair, all measuring threads parked.
 */
#include <string.h>

#include "affinity.h"
#include "rt.h"
#include "run_control.h"
#include "thread.h"

#define GAP_NS		 50000000LL
#define GAP_THRESHOLD_NS 1000LL

/* == Conditions == */

static void hold_idle(struct tlat_run *run)
{
	struct tlat_error why;
	int64_t ns = run->opts.cpu_latency_ns;

	if (!ns)
		return;
	run->idle_fd = tlat_rt_hold_idle(tlat_machine_root_fd(run->machine),
					 ns == TLAT_ZERO ? 0 : ns, &why);
	if (run->idle_fd < 0)
		tlat_findings_add(&run->of_result, TLAT_WARN, "cpu-latency-refused", NULL, "%s",
				  why.text);
}

/* Asked for only: by default nothing but our own buffers and stacks is locked. */
static void lock_all(struct tlat_run *run)
{
	struct tlat_rt_opts opts = TLAT_RT_OPTS(.lock_all = 1);
	struct tlat_error why;

	if (!(run->opts.flags & TLAT_RUN_LOCK_ALL))
		return;
	if (tlat_rt_apply(&run->locked, &opts, &why) < 0)
		tlat_findings_add(&run->of_result, TLAT_WARN, "lock-all-refused", NULL, "%s",
				  why.text);
}

/* The gaps that a spinning thread sees, and the clock across the pair. */
static void calibrate(struct tlat_run *run)
{
	if (!tlat_clock_calibration(run->clock)->gap_known)
		tlat_clock_gap(run->clock, run->place.wait, GAP_NS, GAP_THRESHOLD_NS);
	tlat_run_offset_begin(run);
}

/* A flag in shared memory on the same CPUs, there or there and back: what no wake can undercut. */
static void measure_floor_pair(struct tlat_run *run)
{
	uint32_t round_trip = run->opts.flags & TLAT_RUN_ROUND_TRIP;
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = "wake-spin", .cpus = run->cpus, .machine = run->machine,
			      .clock = run->clock, .samples = 2000, .settle_ns = 1000,
			      .policy = run->opts.policy, .priority = run->opts.priority,
			      .slack_ns = run->opts.slack_ns, .duration_ns = 200000000,
			      .seed = run->opts.seed, .flags = TLAT_RUN_NO_FLOOR | round_trip);
	const struct tlat_hist *latency;
	struct tlat_run *floor;

	if (!(run->ops->flags & TLAT_PROBE_PAIR) || run->ops->flags & TLAT_PROBE_NOSLEEP ||
	    run->opts.flags & TLAT_RUN_NO_FLOOR || run->place.kick == run->place.wait)
		return;
	if (tlat_run_start(&floor, &opts, NULL) < 0)
		return;
	tlat_run_join(floor);
	latency = floor->instances[0].book->latency;
	if (latency && !tlat_hist_new(&run->floor_pair, tlat_hist_hz(latency)))
		tlat_hist_merge(run->floor_pair, latency);
	tlat_run_free(floor);
}

static int try_policy(const struct tlat_run *run, struct tlat_error *reterr)
{
	struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.policy = run->opts.policy, .priority = run->opts.priority);
	struct tlat_rt *rt;
	int error;

	if (opts.policy == TLAT_SCHED_IDLE) /* granted to anybody, but there may be no way back */
		return 0;
	error = tlat_rt_try_spin(opts.policy, opts.priority, tlat_run_spin_ns(run), reterr);
	if (!error)
		error = tlat_rt_apply(&rt, &opts, reterr);
	if (!error)
		tlat_rt_undo(rt);
	return error;
}

/* No thread of the run has the policy: half a pair with it would be neither one nor the other. */
static void go_without_policy(struct tlat_run *run, const char *why)
{
	tlat_findings_add(&run->of_result, TLAT_WARN, "policy-refused", NULL, "%s", why);
	for_each_measurer (run, in, m) {
		m->policy = TLAT_SCHED_OTHER;
		m->priority = 0;
		m->roams = run->opts.flags & TLAT_RUN_FLOAT ? &run->floats : NULL;
	}
}

/* Find out once, for all threads of the run, whether the policy is granted. Tried on the controller
 * itself, then undone. */
static int decide_policy(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = run->opts.policy == TLAT_SCHED_DEADLINE ? tlat_deadline_admit(run, reterr)
							    : try_policy(run, reterr);

	if (!error || run->opts.flags & TLAT_RUN_STRICT)
		return error;
	go_without_policy(run, reterr->text);
	return 0;
}

static int watch(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = tlat_watch_new(&run->watch, tlat_machine_root_fd(run->machine), run->place.cpus,
				   (size_t)run->place.n);

	if (!error)
		error = tlat_watch_begin(run->watch);
	if (error)
		return tlat_fail(reterr, error, "kernel counters cannot be watched: %s",
				 strerror(-error));
	return 0;
}

/* == Measuring threads == */

void tlat_run_unsupported(struct tlat_run *run, const char *text, const char *remedy)
{
	run->supported = false;
	tlat_findings_add(&run->of_result, TLAT_ERROR, "unsupported", remedy, "%s", text);
}

static int count_measurers(struct tlat_run *run)
{
	int n = 0;

	for_each_measurer (run, in, m)
		n++;
	return n;
}

static int start_measurers(struct tlat_run *run, int *ret_started, struct tlat_error *reterr)
{
	*ret_started = 0;
	for_each_measurer (run, in, m) {
		int error = tlat_measurer_start(m, &m->why);

		if (error)
			return tlat_fail(reterr, error, "%d of %d threads started: %s",
					 *ret_started, count_measurers(run), m->why.text);
		++*ret_started;
	}
	return 0;
}

static int first_failure(struct tlat_run *run, struct tlat_error *reterr)
{
	for_each_measurer (run, in, m) {
		if (m->why.code) {
			*reterr = m->why;
			return m->why.code;
		}
	}
	return tlat_fail(reterr, -EIO, "a measuring thread could not be set up");
}

/* Let go of the threads that are parked; none is left. */
static void abandon(struct tlat_run *run)
{
	tlat_gate_set(&run->gate, TLAT_GATE_ABORTED);
	tlat_run_join_measurers(run);
}

/* Whether nothing has failed but the probe: what it needs of each thread is not to be had. */
static bool is_barred(struct tlat_run *run)
{
	for_each_measurer (run, in, m)
		if (m->why.code && !m->barred)
			return false;
	return true;
}

/* What was granted to one thread may be refused to all of them: for deadlines the sum counts. */
static void settle_policy(struct tlat_run *run, int started)
{
	struct tlat_error first, why;

	if (tlat_gate_gather(&run->policies, started) && !(run->opts.flags & TLAT_RUN_STRICT)) {
		first_failure(run, &first);
		tlat_deadline_refuse(run, &first, &why);
		go_without_policy(run, why.text);
	}
	tlat_gate_set(&run->policies, TLAT_GATE_OPEN);
}

static int start_and_gather(struct tlat_run *run, struct tlat_error *reterr)
{
	int started, failed, error = start_measurers(run, &started, reterr);

	settle_policy(run, started);
	failed = tlat_gate_gather(&run->gate, started);
	return error || !failed ? error : first_failure(run, reterr);
}

/* All threads set up and parked; or none left, since there is an error or no support. */
static int bring_up(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = start_and_gather(run, reterr);

	if (!error) {
		tlat_run_adapt(run);
		tlat_deadline_find(run);
		return 0;
	}
	abandon(run);
	if (!is_barred(run))
		return error;
	tlat_run_unsupported(run, reterr->text, NULL);
	return 0;
}

/* == All of it == */

void tlat_run_pin_controller(const struct tlat_run *run)
{
	int32_t cpu = run->place.house;

	if (run->place.house_shared && run->place.kick >= 0)
		cpu = run->place.kick; /* it spins: its idle state is not what is measured */
	if (cpu >= 0)
		tlat_affinity_pin(0, cpu);
}

int tlat_run_set_up(struct tlat_run *run)
{
	int error;

	tlat_thread_be_ordinary();
	tlat_run_pin_controller(run);
	if (run->opts.flags & TLAT_RUN_TRACE_MARK) {
		error = tlat_trace_stop_open(&run->trace, tlat_machine_root_fd(run->machine),
					     &run->error);
		if (error)
			return error;
	}
	hold_idle(run);
	lock_all(run);
	calibrate(run);
	error = decide_policy(run, &run->error);
	if (error)
		return error;
	tlat_run_pin_controller(run);
	measure_floor_pair(run);
	error = bring_up(run, &run->error);
	if (error || !run->supported)
		return error;
	error = watch(run, &run->error);
	if (error)
		abandon(run);
	return error;
}
