// SPDX-License-Identifier: MIT
/* run_plan.c - from options to a plan: defaults, CPUs, priorities, limits. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "run_control.h"

#define CHAIN_ADDS_MAX	    1000000 /* a spin must be short */
#define DEFAULT_DURATION_NS 2000000000LL
#define DEFAULT_SETTLE_NS   50000LL
#define DEFAULT_INTERVAL_NS 1000000LL
#define DEFAULT_WARMUP	    1000
#define WARMUP_SPAN_NS	    200000000LL
#define MIN_INTERVAL_NS	    10000LL

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
	if (!pair && opts->flags & TLAT_RUN_VERIFY)
		return tlat_fail(reterr, -EINVAL,
				 "%s has no waker whose waiter could be awake; --verify needs a "
				 "wake-* probe",
				 run->ops->name);
	if (pair && (opts->threads > 1 || opts->total_threads || opts->offset_ns ||
		     opts->interval_step_ns || opts->align_ns || opts->priority_step ||
		     opts->flags & (TLAT_RUN_FLOAT | TLAT_RUN_COMPLETE)))
		return tlat_fail(reterr, -EINVAL,
				 "%s has two sides; threads, steps, alignment, floating and "
				 "complete counts are for one-sided probes",
				 run->ops->name);
	if (opts->inject_ns &&
	    (round_trip || !pair || !opts->samples || opts->inject_ns > opts->settle_ns))
		return tlat_fail(reterr, -EINVAL,
				 "an injected delay of %lld ns needs a wake-* probe, a "
				 "number of samples, and a settle time of at least as much",
				 (long long)opts->inject_ns);
	if (opts->chain_adds && (!pair || opts->inject_ns || opts->chain_adds > CHAIN_ADDS_MAX))
		return tlat_fail(reterr, -EINVAL,
				 "a chain of %llu additions needs a wake-* probe without an "
				 "injected delay, and is of %d at most",
				 (unsigned long long)opts->chain_adds, CHAIN_ADDS_MAX);
	if (!pair && opts->interval_ns < MIN_INTERVAL_NS)
		return tlat_fail(reterr, -EINVAL, "interval of %lld ns is below %lld ns",
				 (long long)opts->interval_ns, MIN_INTERVAL_NS);
	if (pair && opts->policy && opts->priority == 1 && run->place.kick == run->place.wait)
		return tlat_fail(reterr, -EINVAL,
				 "priority 1 leaves none for the waker on CPU %d; "
				 "give 2 or more",
				 run->place.wait);
	return tlat_deadline_check(run, reterr);
}

/* What inherit means is settled here, on the caller's attributes: the controller is another thread.
 * A policy that a run does not offer becomes the ordinary one. */
static void resolve_policy(struct tlat_run *run)
{
	struct tlat_run_opts *opts = &run->opts;
	const struct tlat_rt_opts *caller = &run->caller;
	bool rt = tlat_policy_is_ranked(caller->policy);

	if (opts->policy == TLAT_SCHED_INHERIT) {
		opts->policy = rt || caller->policy == TLAT_SCHED_BATCH ? caller->policy
									: TLAT_SCHED_OTHER;
		opts->priority = rt ? caller->priority : 0;
	}
	if (!opts->slack_ns)
		opts->slack_ns = caller->slack_ns;
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
	tlat_deadline_resolve(opts);
	if (opts->inject_ns)
		opts->raw = opts->samples; /* neighbours are compared one by one */
	if (!opts->seed && getrandom(&opts->seed, sizeof(opts->seed), GRND_NONBLOCK) < 0)
		opts->seed = tlat_gettime_ns(CLOCK_REALTIME);
	opts->seed &= INT64_MAX;
	if (!opts->seed)
		opts->seed = 1;
}

/* One instance for a pair, else one for each thread. */
static int place(struct tlat_run *run, struct tlat_error *reterr)
{
	bool pair = run->ops->flags & TLAT_PROBE_PAIR;
	int error = pair ? tlat_machine_place_pair(run->machine, run->opts.cpus, &run->place,
						   &run->findings, reterr)
			 : tlat_machine_place_solo(run->machine, run->opts.cpus, &run->place,
						   &run->findings, reterr);

	if (error)
		return error;
	run->n_instances = pair ? 1 : run->place.n * (run->opts.threads ? run->opts.threads : 1);
	if (run->opts.total_threads)
		run->n_instances = run->opts.total_threads;
	for (int32_t i = 0; i < run->place.n; i++)
		tlat_cpuset_add(&run->floats, run->place.cpus[i]);
	if (run->n_instances > TLAT_THREADS_MAX)
		return tlat_fail(reterr, -EINVAL,
				 "%d threads on each of %d CPUs are more than %d; ask for fewer",
				 run->opts.threads, run->place.n, TLAT_THREADS_MAX);
	return 0;
}

/* == Instances == */

static void plan_measurer(struct tlat_run *run, struct tlat_instance *in, int i, int32_t cpu,
			  int32_t priority)
{
	struct tlat_measurer *m = &in->measurers[i];

	m->instance = in;
	m->gate = &run->gate;
	m->policies = &run->policies;
	m->cpu = cpu;
	m->policy = run->opts.policy;
	m->priority = priority;
	m->slack_ns = run->opts.slack_ns;
	m->end_signal = run->end_signal;
	m->done_fd = run->wake_fd;
	in->n_measurers++;
}

uint64_t tlat_run_in_unit(const struct tlat_run *run, int64_t ns)
{
	bool ticks = run->ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK);

	return ticks ? tlat_clock_ticks(run->clock, ns) : (uint64_t)ns;
}

/* A time limit in the loop's unit; none: UINT64_MAX. */
static uint64_t limit_of(const struct tlat_run *run, int64_t ns)
{
	return ns ? tlat_run_in_unit(run, ns) : UINT64_MAX;
}

static void plan_limits(struct tlat_run *run, struct tlat_limits *limits)
{
	const struct tlat_run_opts *opts = &run->opts;

	limits->samples = opts->samples ? opts->samples : UINT64_MAX;
	limits->duration = limit_of(run, opts->duration_ns);
	limits->warmup = (uint64_t)or_default(opts->warmup, DEFAULT_WARMUP);
	/* a number that was asked for is not cut short */
	limits->warmup_span = opts->warmup ? UINT64_MAX : limit_of(run, WARMUP_SPAN_NS);
	limits->away = tlat_run_in_unit(run, TLAT_AWAY_NS);
	limits->request = run->request;
}

/* On one CPU the waiter must preempt the waker, so that the waker running proves it asleep. */
int32_t tlat_run_kick_priority(const struct tlat_run *run)
{
	bool same = run->place.kick == run->place.wait;

	if (!run->opts.priority)
		return 0;
	return run->opts.priority - (same && !(run->ops->flags & TLAT_PROBE_EQUAL_PRIO));
}

static void plan_pair(struct tlat_run *run, struct tlat_instance *in)
{
	const struct tlat_run_opts *opts = &run->opts;
	struct tlat_pair *pair = in->pair;
	bool same = run->place.kick == run->place.wait;

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
	pair->nap_before = tlat_clock_ticks(run->clock, 2 * TLAT_NAP_NS);
	pair->seed = opts->seed;
	pair->verify = opts->flags & TLAT_RUN_VERIFY;
	plan_measurer(run, in, 0, run->place.wait, opts->priority);
	plan_measurer(run, in, 1, run->place.kick, tlat_run_kick_priority(run));
	in->measurers[0].side.role = in->measurers[1].reply.role = TLAT_ROLE_WAIT;
	in->measurers[1].side.role = in->measurers[0].reply.role = TLAT_ROLE_KICK;
	in->measurers[1].records = true;
}

/* splitmix64's finalizer (Steele, Lea & Flood 2014): neighbouring seeds give unlike phases. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* 1 follows the largest, as 0 would ask for any. */
uint64_t tlat_run_seed(const struct tlat_run_opts *opts, int i)
{
	return (opts->seed - 1 + (uint64_t)i) % INT64_MAX + 1;
}

/* Where the grid of thread i begins: aligned, or drawn within a tick, for each thread or, given
 * their distance, for the first. */
static uint64_t phase_of(const struct tlat_run_opts *opts, uint64_t tick, int i)
{
	uint64_t further = (uint64_t)i * (uint64_t)or_default(opts->offset_ns, 0);

	if (opts->align_ns)
		return (uint64_t)opts->phase_ns + further;
	if (!opts->offset_ns)
		return mix(tlat_run_seed(opts, i)) % tick;
	return mix(opts->seed) % tick + further;
}

int64_t tlat_run_interval_ns(const struct tlat_run *run, int i)
{
	return run->opts.interval_ns + i * run->opts.interval_step_ns;
}

int32_t tlat_run_priority(const struct tlat_run *run, int i)
{
	int32_t priority = run->opts.priority - i * run->opts.priority_step;

	return priority < 1 && run->opts.priority ? 1 : priority;
}

static void plan_solo(struct tlat_run *run, struct tlat_instance *in, int i)
{
	const struct tlat_machine_facts *facts = tlat_machine_facts(run->machine);
	const struct tlat_run_opts *opts = &run->opts;
	int at = i % run->place.n;

	in->solo->ctx = in->ctx;
	in->solo->interval = (uint64_t)in->ctx->interval_ns;
	in->solo->tick = TLAT_NSEC_PER_SEC / (uint64_t)(facts->hz > 0 ? facts->hz : 100);
	if (opts->align_ns)
		in->solo->tick = (uint64_t)opts->align_ns;
	in->solo->phase = phase_of(opts, in->solo->tick, i);
	in->solo->complete = opts->flags & TLAT_RUN_COMPLETE;
	plan_measurer(run, in, 0, run->place.cpus[at], tlat_run_priority(run, i));
	if (opts->flags & TLAT_RUN_FLOAT)
		in->measurers[0].roams = &run->floats;
	in->measurers[0].side.role = TLAT_ROLE_WAIT;
	in->measurers[0].records = true;
}

/* The ring and the units come once the thread has its memory. */
static void plan_tap(struct tlat_run *run, struct tlat_instance *in)
{
	if (!run->opts.stream)
		return;
	in->tap.size = tlat_tap_slots(run->opts.stream);
	in->book->tap = &in->tap;
}

static void check_support(struct tlat_run *run)
{
	const struct tlat_probe_ops *ops = run->ops;
	bool spins = ops->flags & TLAT_PROBE_PAIR && ops->flags & TLAT_PROBE_NOSLEEP;
	const char *unfit = tlat_deadline_unfit(run);
	struct tlat_error why;

	run->supported = true;
	if (ops->supported && ops->supported(&why) < 0)
		tlat_run_unsupported(run, why.text, NULL);
	if (unfit)
		tlat_run_unsupported(run, unfit, "use --policy fifo");
	if (spins && run->place.kick == run->place.wait)
		tlat_run_unsupported(run, "both sides spin, which needs two CPUs",
				     "give two: -c A,B");
}

static void plan_break(struct tlat_run *run, struct tlat_instance *in)
{
	if (!run->opts.break_ns)
		return;
	in->brk.above_ns = run->opts.break_ns;
	in->brk.request = run->request;
	in->brk.trace = &run->trace;
	in->brk.probe = run->ops->name;
	in->book->brk = &in->brk;
}

static int plan_instance(struct tlat_run *run, int i, struct tlat_error *reterr)
{
	const struct tlat_probe_ops *ops = run->opts.inject_ns	  ? &run->injection.ops
					   : run->opts.chain_adds ? &run->chain.ops
								  : run->ops;
	struct tlat_instance *in = &run->instances[i];
	struct tlat_error why;
	int error;

	in->result = tlat_result_new();
	if (!in->result)
		return tlat_fail(reterr, -ENOMEM, "no memory for a result");
	in->result->thread = i;
	in->wants_floor = i == 0 && !(run->opts.flags & TLAT_RUN_NO_FLOOR);
	error = tlat_instance_map(in, ops, reterr);
	if (error)
		return error;
	if (i == 0)
		run->request = in->request;
	if (!run->supported)
		return 0;
	if (run->opts.inject_ns)
		run->injection.book = in->book;
	in->ctx->interval_ns = tlat_run_interval_ns(run, i);
	error = tlat_instance_open(in, ops, &run->opts, run->clock, &why);
	if (error) {
		tlat_run_unsupported(run, why.text, NULL);
		return 0;
	}
	plan_limits(run, &in->limits);
	plan_break(run, in);
	plan_tap(run, in);
	if (in->pair)
		plan_pair(run, in);
	else
		plan_solo(run, in, i);
	pthread_barrier_init(&in->done, NULL, (unsigned int)in->n_measurers);
	return 0;
}

static int plan_instances(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = 0;

	check_support(run);
	run->instances =
		aligned_alloc(TLAT_CACHE_LINE, (size_t)run->n_instances * sizeof(*run->instances));
	if (!run->instances)
		return tlat_fail(reterr, -ENOMEM, "no memory for %d threads", run->n_instances);
	memset(run->instances, 0, (size_t)run->n_instances * sizeof(*run->instances));
	if (run->opts.chain_adds)
		tlat_chain_init(&run->chain, run->ops, run->opts.chain_adds);
	if (run->opts.inject_ns)
		error = tlat_injection_init(&run->injection, run->ops, run->opts.inject_ns);
	for (int i = 0; i < run->n_instances && !error; i++)
		error = plan_instance(run, i, reterr);
	return error;
}

static int open_machine(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = 0;

	run->machine = run->opts.machine;
	run->clock = run->opts.clock;
	if (!run->machine)
		error = tlat_machine_open(&run->own_machine, NULL, reterr);
	if (run->own_machine)
		run->machine = run->own_machine;
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
		error = tlat_run_opts_check(&run->opts, reterr);
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
	if (run->opts.target == TLAT_TARGET_SLEEPING)
		return 0;
	if (!run->ops->busy)
		return tlat_fail(reterr, -EINVAL,
				 "%s has no waiter that is interrupted while busy; --target busy "
				 "is for signal-*-handler",
				 run->probe);
	run->ops = run->ops->busy;
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
	resolve_policy(run);
	resolve_opts(run);
	error = check_shape(run, reterr);
	if (!error)
		error = plan_instances(run, reterr);
	return error;
}
