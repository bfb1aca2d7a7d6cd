// SPDX-License-Identifier: MIT
/* run_plan.c - from options to a plan: defaults, CPUs, priorities, limits. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "run_control.h"

#define DEFAULT_DURATION_NS 2000000000LL
#define DEFAULT_SETTLE_NS   50000LL
#define DEFAULT_INTERVAL_NS 1000000LL
#define DEFAULT_WARMUP	    1000
#define WARMUP_SPAN_NS	    200000000LL
#define MIN_INTERVAL_NS	    1000LL
#define MAX_RAW		    100000000ULL

/* == Options == */

static int check_duration(const char *what, int64_t ns, struct tlat_error *reterr)
{
	if (ns >= TLAT_ZERO)
		return 0;
	return tlat_fail(reterr, -EINVAL, "%s of %lld ns is negative; give a time >= 0", what,
			 (long long)ns);
}

static int check_times(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	const struct {
		const char *what;
		int64_t ns;
	} times[] = {
		{ "duration", opts->duration_ns }, { "interval", opts->interval_ns },
		{ "settle", opts->settle_ns },	   { "dither", opts->dither_ns },
		{ "warm-up", opts->warmup },	   { "idle latency", opts->cpu_latency_ns },
		{ "slack", opts->slack_ns },	   { "injected delay", opts->inject_ns },
	};
	int error = 0;

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(times) && !error; i++)
		error = check_duration(times[i].what, times[i].ns, reterr);
	return error;
}

static int check_policy(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	bool rt = opts->policy == TLAT_SCHED_FIFO || opts->policy == TLAT_SCHED_RR;

	if (!tlat_policy_name(opts->policy))
		return tlat_fail(reterr, -EINVAL, "policy %d is unknown; see enum tlat_policy",
				 opts->policy);
	if (opts->policy == TLAT_SCHED_DEADLINE)
		return tlat_fail(reterr, -EINVAL,
				 "a run under SCHED_DEADLINE is not offered; use "
				 "fifo, rr, other or batch");
	if (rt && (opts->priority < 1 || opts->priority > 99))
		return tlat_fail(reterr, -EINVAL, "priority %d is outside 1..99 for SCHED_%s",
				 opts->priority, opts->policy == TLAT_SCHED_FIFO ? "FIFO" : "RR");
	if (!rt && opts->priority)
		return tlat_fail(reterr, -EINVAL, "priority %d needs the policy fifo or rr",
				 opts->priority);
	return 0;
}

static int check_opts(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	int error;

	if (!opts->probe)
		return tlat_fail(reterr, -EINVAL, "no probe named; see 'tlat list'");
	error = check_times(opts, reterr);
	if (!error)
		error = check_policy(opts, reterr);
	if (!error && opts->raw > MAX_RAW)
		error = tlat_fail(reterr, -EINVAL, "%llu raw values are too many; at most %llu",
				  (unsigned long long)opts->raw, MAX_RAW);
	return error;
}

/* What only some probes have. */
static int check_shape(const struct tlat_run *run, struct tlat_error *reterr)
{
	const struct tlat_run_opts *opts = &run->opts;
	bool pair = run->ops->flags & TLAT_PROBE_PAIR;
	bool round_trip = opts->flags & TLAT_RUN_ROUND_TRIP;

	if (round_trip && !pair)
		return tlat_fail(reterr, -EINVAL,
				 "%s has one side only; a round trip needs a "
				 "wake-* probe",
				 run->ops->name);
	if (round_trip && run->place.kick == run->place.wait)
		return tlat_fail(reterr, -EINVAL,
				 "a round trip needs two CPUs, not CPU %d twice; "
				 "give -c A,B",
				 run->place.wait);
	if (opts->inject_ns && (!pair || !opts->samples || opts->inject_ns > opts->settle_ns))
		return tlat_fail(reterr, -EINVAL,
				 "an injected delay of %lld ns needs a wake-* probe, a "
				 "number of samples, and a settle time of at least as much",
				 (long long)opts->inject_ns);
	if (!pair && opts->interval_ns < MIN_INTERVAL_NS)
		return tlat_fail(reterr, -EINVAL, "interval of %lld ns is below %lld ns",
				 (long long)opts->interval_ns, MIN_INTERVAL_NS);
	if (pair && opts->policy && opts->priority == 1 && run->place.kick == run->place.wait)
		return tlat_fail(reterr, -EINVAL,
				 "priority 1 leaves none for the waker on CPU %d; "
				 "give 2 or more",
				 run->place.wait);
	return 0;
}

static int64_t or_default(int64_t asked, int64_t fallback)
{
	return asked == 0 ? fallback : asked == TLAT_ZERO ? 0 : asked;
}

static void resolve_opts(struct tlat_run *run)
{
	struct tlat_run_opts *opts = &run->opts;
	bool pair = run->ops->flags & TLAT_PROBE_PAIR;
	struct tlat_clock_facts facts = { .size = sizeof(facts) };

	tlat_clock_facts(run->clock, &facts);
	if (!opts->samples && !opts->duration_ns)
		opts->duration_ns = DEFAULT_DURATION_NS;
	opts->interval_ns = or_default(opts->interval_ns, pair ? 0 : DEFAULT_INTERVAL_NS);
	opts->settle_ns = pair ? or_default(opts->settle_ns, DEFAULT_SETTLE_NS) : 0;
	opts->dither_ns = pair ? or_default(opts->dither_ns, (int64_t)(facts.quantum_ns + 1)) : 0;
	opts->warmup = or_default(opts->warmup, DEFAULT_WARMUP);
	if (opts->inject_ns)
		opts->raw = opts->samples; /* neighbours are compared one by one */
	if (!opts->seed && getrandom(&opts->seed, sizeof(opts->seed), GRND_NONBLOCK) < 0)
		opts->seed = tlat_gettime_ns(CLOCK_REALTIME);
	opts->seed &= INT64_MAX; /* a JSON integer */
	if (!opts->seed)
		opts->seed = 1;
}

/* == CPUs == */

static int add_measuring_cpu(struct tlat_run *run, int32_t cpu)
{
	for (int i = 0; i < run->n_measuring_cpus; i++)
		if (run->measuring_cpus[i] == cpu)
			return 0;
	run->measuring_cpus[run->n_measuring_cpus++] = cpu;
	return 0;
}

static int place_pair(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = tlat_machine_place_pair(run->machine, run->opts.cpus, &run->place,
					    &run->findings, reterr);

	if (error)
		return error;
	run->n_instances = 1;
	add_measuring_cpu(run, run->place.kick);
	add_measuring_cpu(run, run->place.wait);
	return 0;
}

static int place_solo(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = tlat_machine_place_solo(run->machine, run->opts.cpus, &run->place,
					    &run->findings, reterr);

	if (error)
		return error;
	run->n_measuring_cpus = run->n_instances = run->place.n;
	memcpy(run->measuring_cpus, run->place.cpus,
	       (size_t)run->place.n * sizeof(*run->measuring_cpus));
	return 0;
}

static int place(struct tlat_run *run, struct tlat_error *reterr)
{
	run->measuring_cpus = calloc(TLAT_CPUS_MAX, sizeof(*run->measuring_cpus));
	if (!run->measuring_cpus)
		return tlat_fail(reterr, -ENOMEM, "no memory for a list of CPUs");
	return run->ops->flags & TLAT_PROBE_PAIR ? place_pair(run, reterr)
						 : place_solo(run, reterr);
}

/* == Instances == */

static void plan_measurer(struct tlat_run *run, struct tlat_instance *in, int i, int32_t cpu,
			  int32_t priority)
{
	struct tlat_measurer *m = &in->measurers[i];

	m->instance = in;
	m->gate = &run->gate;
	m->cpu = cpu;
	m->policy = run->opts.policy;
	m->priority = priority;
	m->slack_ns = run->opts.slack_ns;
	m->strict = run->opts.flags & TLAT_RUN_STRICT;
	m->end_signal = run->end_signal;
	m->done_fd = run->wake_fd;
	in->n_measurers++;
}

/* A time limit in the loop's unit; none: UINT64_MAX. */
static uint64_t limit_of(const struct tlat_run *run, bool ticks, int64_t ns)
{
	if (!ns)
		return UINT64_MAX;
	return ticks ? tlat_clock_ticks(run->clock, ns) : (uint64_t)ns;
}

static void plan_limits(struct tlat_run *run, struct tlat_limits *limits)
{
	const struct tlat_run_opts *opts = &run->opts;
	bool ticks = run->ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK);

	limits->samples = opts->samples ? opts->samples : UINT64_MAX;
	limits->duration = limit_of(run, ticks, opts->duration_ns);
	limits->warmup = (uint64_t)opts->warmup;
	limits->warmup_span = limit_of(run, ticks, WARMUP_SPAN_NS);
	limits->rest_ns = TLAT_REST_NS;
	limits->request = &run->request;
}

static void plan_pair(struct tlat_run *run, struct tlat_instance *in)
{
	const struct tlat_run_opts *opts = &run->opts;
	struct tlat_pair *pair = in->pair;
	bool same = run->place.kick == run->place.wait;
	int32_t lower = opts->priority - (same && !(run->ops->flags & TLAT_PROBE_EQUAL_PRIO));

	in->ctx->same_cpu = in->reply->same_cpu = same;
	pair->ctx = in->ctx;
	pair->reply = opts->flags & TLAT_RUN_ROUND_TRIP ? in->reply : NULL;
	pair->stop = in->stop;
	pair->settle = tlat_clock_ticks(run->clock, opts->settle_ns);
	pair->dither = tlat_clock_ticks(run->clock, opts->dither_ns);
	pair->interval = tlat_clock_ticks(run->clock, opts->interval_ns);
	pair->wait_bound = tlat_clock_ticks(run->clock, TLAT_WAIT_BOUND_NS);
	pair->grace = tlat_clock_ticks(run->clock, TLAT_GRACE_NS);
	pair->lead = tlat_clock_ticks(run->clock, opts->inject_ns);
	pair->seed = opts->seed;
	pair->verify = opts->flags & TLAT_RUN_VERIFY;
	plan_measurer(run, in, 0, run->place.wait, opts->priority);
	plan_measurer(run, in, 1, run->place.kick, opts->priority ? lower : 0);
	in->measurers[0].side.role = TLAT_ROLE_WAIT;
	in->measurers[1].side.role = TLAT_ROLE_KICK;
	in->measurers[1].records = true;
}

static void plan_solo(struct tlat_run *run, struct tlat_instance *in, int i)
{
	const struct tlat_machine_facts *facts = tlat_machine_facts(run->machine);

	in->ctx->interval_ns = run->opts.interval_ns;
	in->solo.ctx = in->ctx;
	in->solo.interval = (uint64_t)run->opts.interval_ns;
	in->solo.tick = TLAT_NSEC_PER_SEC / (uint64_t)(facts->hz > 0 ? facts->hz : 100);
	in->solo.phase = run->opts.seed % in->solo.tick;
	plan_measurer(run, in, 0, run->measuring_cpus[i], run->opts.priority);
	in->measurers[0].side.role = TLAT_ROLE_WAIT;
	in->measurers[0].records = true;
}

static int plan_instance(struct tlat_run *run, int i, struct tlat_error *reterr)
{
	const struct tlat_probe_ops *ops = run->opts.inject_ns ? &run->injection.ops : run->ops;
	struct tlat_instance *in = &run->instances[i];
	int error;

	in->result = tlat_result_new();
	if (!in->result)
		return tlat_fail(reterr, -ENOMEM, "no memory for a result");
	in->result->thread = i;
	if (!run->supported)
		return 0;
	error = tlat_instance_open(in, ops, &run->opts, run->clock, reterr);
	if (error)
		return error;
	plan_limits(run, &in->limits);
	if (in->pair)
		plan_pair(run, in);
	else
		plan_solo(run, in, i);
	return 0;
}

/* Whether the probe can run here at all; if not, its result says why. */
static void check_support(struct tlat_run *run)
{
	struct tlat_error why;
	const struct tlat_probe_ops *ops = run->ops;

	run->supported = true;
	if (ops->supported && ops->supported(&why) < 0) {
		run->supported = false;
		tlat_findings_add(&run->of_result, TLAT_ERROR, "unsupported", NULL, "%s", why.text);
	}
	if ((ops->flags & TLAT_PROBE_PAIR) && (ops->flags & TLAT_PROBE_NOSLEEP) &&
	    run->place.kick == run->place.wait) {
		run->supported = false;
		tlat_findings_add(&run->of_result, TLAT_ERROR, "unsupported",
				  "give two CPUs: -c A,B",
				  "%s spins on both sides and needs two CPUs, not CPU %d twice",
				  ops->name, run->place.wait);
	}
}

static int plan_instances(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = 0;

	check_support(run);
	run->instances = calloc((size_t)run->n_instances, sizeof(*run->instances));
	if (!run->instances)
		return tlat_fail(reterr, -ENOMEM, "no memory for %d threads", run->n_instances);
	if (run->opts.inject_ns)
		error = tlat_injection_init(&run->injection, run->ops, run->opts.inject_ns,
					    &run->instances[0].book);
	for (int i = 0; i < run->n_instances && !error; i++)
		error = plan_instance(run, i, reterr);
	return error;
}

static int open_machine(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = 0;

	run->machine = run->opts.machine;
	run->clock = run->opts.clock;
	run->owns_machine = !run->machine;
	if (run->owns_machine)
		error = tlat_machine_open(&run->machine, NULL, reterr);
	run->owns_clock = !error && !run->clock;
	if (run->owns_clock)
		error = tlat_clock_open(&run->clock, run->machine, TLAT_CLOCK_AUTO, reterr);
	return error;
}

static int copy_opts(struct tlat_run *run, const struct tlat_run_opts *opts,
		     struct tlat_error *reterr)
{
	int error = tlat_opts_copy(&run->opts, sizeof(run->opts), opts, reterr);

	if (!error)
		error = check_opts(&run->opts, reterr);
	if (error)
		return error;
	run->probe = strdup(run->opts.probe);
	run->cpus = run->opts.cpus ? strdup(run->opts.cpus) : NULL;
	if (!run->probe || (run->opts.cpus && !run->cpus))
		return tlat_fail(reterr, -ENOMEM, "no memory for options");
	run->opts.probe = run->probe;
	run->opts.cpus = run->cpus;
	run->ops = tlat_probe_find(run->probe);
	if (!run->ops)
		return tlat_fail(reterr, -ENOENT, "no probe is called '%s'; see 'tlat list'",
				 run->probe);
	return 0;
}

int tlat_run_plan(struct tlat_run *run, const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	int error = copy_opts(run, opts, reterr);

	if (!error)
		error = open_machine(run, reterr);
	if (!error)
		error = place(run, reterr);
	if (error)
		return error;
	resolve_opts(run);
	error = check_shape(run, reterr);
	if (!error)
		error = plan_instances(run, reterr);
	return error;
}

/* == Once policies are known == */

static void settle_pair(struct tlat_run *run, struct tlat_instance *in)
{
	const struct tlat_side_facts *wait = &in->measurers[0].facts;
	const struct tlat_side_facts *kick = &in->measurers[1].facts;
	struct tlat_pair *pair = in->pair;

	pair->limits = in->limits;
	pair->sleeps = !(run->ops->flags & TLAT_PROBE_NOSLEEP);
	pair->yields = in->ctx->same_cpu &&
		       !(tlat_policy_is_rt(wait->policy) && wait->priority > kick->priority);
	if (pair->yields)
		tlat_findings_add(
			&run->of_result, TLAT_WARN, "slice-included",
			"run with real-time priority, or give two CPUs",
			"waker and waiter share CPU %d without strict priority: the waiter "
			"may only run when the waker gives the CPU up, which it does right "
			"after the kick",
			wait->cpu);
	if (pair->limits.rest_after && run->opts.settle_ns > TLAT_REST_AFTER_NS)
		tlat_findings_add(
			&run->of_result, TLAT_WARN, "throttle-risk",
			"use a settle time of 8 ms or less",
			"a settle time of %lld ns spins longer than %lld ns at a time under "
			"a real-time policy, which the kernel may throttle",
			(long long)run->opts.settle_ns, TLAT_REST_AFTER_NS);
}

void tlat_run_settle(struct tlat_run *run)
{
	bool ticks = run->ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK);

	for (int i = 0; i < run->n_instances; i++) {
		struct tlat_instance *in = &run->instances[i];

		if (tlat_policy_is_rt(in->measurers[0].facts.policy))
			in->limits.rest_after = limit_of(run, ticks, TLAT_REST_AFTER_NS);
		in->solo.limits = in->limits;
		if (in->pair)
			settle_pair(run, in);
	}
}

void tlat_run_opts_init(struct tlat_run_opts *opts)
{
	memset(opts, 0, sizeof(*opts));
	opts->size = sizeof(*opts);
}
