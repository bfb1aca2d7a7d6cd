// SPDX-License-Identifier: MIT
/* noise.c - noise as its caller sees it: options, what they mean here, one call. */
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "rt.h"
#include "thread.h"

#define DEFAULT_DURATION_NS  2000000000LL
#define DEFAULT_THRESHOLD_NS 1000LL
#define MIN_THRESHOLD_NS     100LL
#define MAX_DURATION_NS	     86400000000000LL /* a day */
#define LOOK_NS		     1000000LL	      /* between two looks at the CPU it is on */

TLAT_ASSERT_LAYOUT(struct tlat_noise_opts, 7 * 8 + 2 * 4);

static int check_opts(const struct tlat_noise_opts *opts, struct tlat_error *reterr)
{
	const struct tlat_rt_opts rt =
		TLAT_RT_OPTS(.policy = opts->policy, .priority = opts->priority);

	if (opts->duration_ns < 0 || opts->duration_ns > MAX_DURATION_NS)
		return tlat_fail(reterr, -EINVAL, "duration of %lld ns is outside 0..%lld",
				 (long long)opts->duration_ns, MAX_DURATION_NS);
	if (opts->threshold_ns &&
	    (opts->threshold_ns < MIN_THRESHOLD_NS || opts->threshold_ns > TLAT_NSEC_PER_SEC))
		return tlat_fail(reterr, -EINVAL,
				 "threshold of %lld ns is outside %lld..%lld: a stamp alone takes "
				 "tens of ns",
				 (long long)opts->threshold_ns, MIN_THRESHOLD_NS,
				 TLAT_NSEC_PER_SEC);
	if (opts->policy == TLAT_SCHED_DEADLINE)
		return tlat_fail(reterr, -EINVAL,
				 "policy deadline is not one to spin under; use fifo, rr, other or "
				 "batch");
	return tlat_rt_opts_check(&rt, reterr);
}

/* == Preparation == */

/* What the threads would have; a policy that they inherit is the caller's. */
static struct tlat_rt_opts policy_wanted(const struct tlat_noise_opts *o)
{
	struct tlat_rt_opts wanted = TLAT_RT_OPTS(.policy = o->policy, .priority = o->priority);

	if (o->policy == TLAT_SCHED_INHERIT)
		tlat_rt_inherit(&wanted);
	return wanted;
}

static int decide_policy(struct tlat_noise *noise, struct tlat_error *reterr)
{
	const struct tlat_noise_opts *o = &noise->opts;
	struct tlat_cpuset left =
		tlat_cpuset_minus(tlat_machine_online(noise->machine), &noise->set);
	struct tlat_rt_opts wanted = policy_wanted(o);

	if (tlat_policy_is_ranked(wanted.policy) && tlat_cpuset_empty(&left) &&
	    tlat_rt_budget(noise->machine).runtime_ns < 0)
		return tlat_fail(
			reterr, -EINVAL,
			"every CPU would spin under policy %s, and nothing limits it "
			"(sched_rt_runtime_us is -1): the machine would stand still; leave "
			"a CPU out",
			tlat_policy_name(wanted.policy));
	noise->priority = wanted.priority;
	noise->policy = tlat_rt_grant_spin(wanted.policy, &noise->priority, o->duration_ns,
					   &noise->of_result);
	/* What is inherited need not be asked for: the right to it may be gone. */
	if (noise->policy == wanted.policy) {
		noise->policy = o->policy;
		noise->priority = o->priority;
	}
	return 0;
}

static int open_machine(struct tlat_noise *noise, struct tlat_error *reterr)
{
	int error = 0;

	noise->machine = noise->opts.machine;
	if (!noise->machine) {
		error = tlat_machine_open(&noise->own_machine, NULL, reterr);
		noise->machine = noise->own_machine;
	}
	noise->clock = noise->opts.clock;
	if (!error && !noise->clock) {
		error = tlat_clock_open(&noise->own_clock, noise->machine, TLAT_CLOCK_AUTO, reterr);
		noise->clock = noise->own_clock;
	}
	return error;
}

static int place(struct tlat_noise *noise, struct tlat_error *reterr)
{
	int error;

	noise->place = malloc(sizeof(*noise->place));
	if (!noise->place)
		return tlat_fail(reterr, -ENOMEM, "no memory for a list of CPUs");
	error = tlat_machine_place_solo(noise->machine, noise->opts.cpus, noise->place,
					&noise->findings, reterr);
	for (int32_t i = 0; !error && i < noise->place->n; i++)
		tlat_cpuset_add(&noise->set, noise->place->cpus[i]);
	return error;
}

static void hold_threshold(struct tlat_noise *noise)
{
	const struct tlat_calibration *cal = tlat_clock_calibration(noise->clock);
	int64_t least_ns = tlat_clock_gap_least_ns(noise->clock);
	int64_t asked_ns = noise->opts.threshold_ns;

	noise->slow_clock = least_ns > asked_ns || cal->read_cost_ns > TLAT_TRAPPED_READ_NS;
	if (least_ns > asked_ns) {
		noise->opts.threshold_ns = least_ns;
		tlat_findings_add(&noise->of_result, TLAT_WARN, "clock-slow",
				  TLAT_SLOW_CLOCK_REMEDY,
				  "stamps take up to %.3g us and advance in steps of %.3g us: gaps "
				  "are told from %.3g us on, not from %.3g us",
				  cal->read_p99_ns / 1e3, cal->quantum_ns / 1e3,
				  (double)least_ns / 1e3, (double)asked_ns / 1e3);
	} else if (noise->slow_clock) {
		tlat_findings_add(
			&noise->of_result, TLAT_WARN, "clock-slow", TLAT_SLOW_CLOCK_REMEDY,
			"a stamp takes %.3g us: gaps contain that", cal->read_cost_ns / 1e3);
	}
}

static int plan_thread(struct tlat_noise *noise, int32_t i)
{
	struct tlat_noise_thread *t = &noise->threads[i];

	t->noise = noise;
	t->stamper = tlat_clock_stamper(noise->clock);
	t->threshold = tlat_clock_ticks(noise->clock, noise->opts.threshold_ns);
	t->duration = tlat_clock_ticks(noise->clock, noise->opts.duration_ns);
	t->look_every = tlat_clock_ticks(noise->clock, LOOK_NS);
	t->cpu = noise->place->cpus[i];
	t->policy = noise->policy;
	t->priority = noise->priority;
	t->throttle.budget = tlat_rt_budget_on(noise->machine, t->cpu);
	t->log = malloc(TLAT_NOISE_LOG * sizeof(*t->log));
	if (!t->log)
		return -ENOMEM;
	memset(t->log, 0, TLAT_NOISE_LOG * sizeof(*t->log)); /* no page fault while it spins */
	return tlat_hist_new(&t->hist, tlat_clock_hz(noise->clock));
}

static int plan(struct tlat_noise *noise, struct tlat_error *reterr)
{
	int error = 0;

	noise->threads = calloc((size_t)noise->place->n, sizeof(*noise->threads));
	if (!noise->threads)
		return tlat_fail(reterr, -ENOMEM, "no memory for %d threads", noise->place->n);
	noise->n_threads = noise->place->n;
	for (int32_t i = 0; i < noise->n_threads && !error; i++)
		error = plan_thread(noise, i);
	if (!error)
		error = tlat_watch_new(&noise->watch, tlat_machine_root_fd(noise->machine),
				       noise->place->cpus, (size_t)noise->place->n);
	return error ? tlat_fail(reterr, error, "no memory for %d threads", noise->n_threads) : 0;
}

static int prepare(struct tlat_noise *noise, const struct tlat_noise_opts *opts,
		   struct tlat_error *reterr)
{
	int error = tlat_opts_copy(&noise->opts, sizeof(noise->opts), opts, reterr);

	if (!error)
		error = check_opts(&noise->opts, reterr);
	if (error)
		return error;
	if (!noise->opts.duration_ns)
		noise->opts.duration_ns = DEFAULT_DURATION_NS;
	if (!noise->opts.threshold_ns)
		noise->opts.threshold_ns = DEFAULT_THRESHOLD_NS;
	error = open_machine(noise, reterr);
	if (!error)
		error = place(noise, reterr);
	if (!error)
		error = decide_policy(noise, reterr);
	if (error)
		return error;
	hold_threshold(noise);
	return plan(noise, reterr);
}

static int control(struct tlat_noise *noise, struct tlat_error *reterr)
{
	pthread_t thread;
	int error = tlat_thread_start(&thread, NULL, tlat_noise_control, noise);
	char why[TLAT_REFUSAL_TEXT];

	if (error)
		return tlat_fail(reterr, error, "controller thread not created: %s",
				 tlat_thread_refusal(error, 0, why, sizeof(why)));
	pthread_join(thread, NULL);
	return noise->failed ? tlat_fail(reterr, noise->failed, "%s", noise->error.text) : 0;
}

static void forget(struct tlat_noise *noise)
{
	for (int32_t i = 0; i < noise->n_threads; i++) {
		tlat_hist_free(noise->threads[i].hist);
		free(noise->threads[i].log);
	}
	free(noise->threads);
	tlat_watch_free(noise->watch);
	tlat_watch_delta_free(noise->seen);
	tlat_findings_free(&noise->findings);
	tlat_findings_free(&noise->of_result);
	tlat_gate_destroy(&noise->gate);
	tlat_clock_close(noise->own_clock);
	tlat_machine_close(noise->own_machine);
	free(noise->place);
}

int tlat_noise(struct tlat_report **ret_report, const struct tlat_noise_opts *opts,
	       struct tlat_error *reterr)
{
	struct tlat_noise noise = { 0 };
	int error;

	tlat_error_begin(reterr);
	tlat_gate_init(&noise.gate);
	error = prepare(&noise, opts, reterr);
	if (!error)
		error = control(&noise, reterr);
	if (!error) {
		tlat_machine_audit(noise.machine, noise.place, &noise.findings);
		error = tlat_noise_report(&noise, ret_report);
		if (error)
			tlat_fail(reterr, error, "no report: %s", strerror(-error));
	}
	forget(&noise);
	return tlat_error_end(reterr, error);
}
