// SPDX-License-Identifier: MIT
/* run_opts.c - what options of a run can be refused without looking at probe or machine. */
#include <string.h>

#include "rt.h"
#include "run_control.h"

#define MAX_RAW	   100000000ULL
#define MAX_STREAM 16777216ULL
#define MAX_NUMBER 1000000000000000000LL /* 31 years of ns: sums and ticks stay in range */
#define MAX_STEP   100000000000000LL
#define KNOWN_FLAGS                                                                                \
	(TLAT_RUN_ROUND_TRIP | TLAT_RUN_VERIFY | TLAT_RUN_STRICT | TLAT_RUN_LOCK_ALL |             \
	 TLAT_RUN_NO_FLOOR | TLAT_RUN_TRACE_MARK | TLAT_RUN_FLOAT | TLAT_RUN_COMPLETE)

static_assert(MAX_STEP <= MAX_NUMBER / TLAT_THREADS_MAX, "steps are multiplied");
TLAT_ASSERT_LAYOUT(struct tlat_run_opts, 26 * 8 + 8 * 4);
TLAT_ASSERT_LAYOUT(struct tlat_sample, 2 * 8);
TLAT_ASSERT_LAYOUT(struct tlat_progress, 7 * 8 + 4 * 4);

static int check_times(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	const struct {
		const char *what, *unit;
		int64_t value, least;
	} numbers[] = {
		{ "duration", " ns", opts->duration_ns, 0 },
		{ "interval", " ns", opts->interval_ns, TLAT_ZERO },
		{ "settle time", " ns", opts->settle_ns, TLAT_ZERO },
		{ "dither", " ns", opts->dither_ns, TLAT_ZERO },
		{ "warm-up", " cycles", opts->warmup, TLAT_ZERO },
		{ "idle latency", " ns", opts->cpu_latency_ns, TLAT_ZERO },
		{ "timer slack", " ns", opts->slack_ns, 0 },
		{ "injected delay", " ns", opts->inject_ns, 0 },
		{ "runtime", " ns", opts->runtime_ns, 0 },
		{ "deadline", " ns", opts->deadline_ns, 0 },
		{ "period", " ns", opts->period_ns, 0 },
		{ "interval step", " ns", opts->interval_step_ns, 0 },
		{ "alignment", " ns", opts->align_ns, 0 },
		{ "phase", " ns", opts->phase_ns, 0 },
		{ "break", " ns", opts->break_ns, 0 },
		{ "offset", " ns", opts->offset_ns, TLAT_ZERO },
	};

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(numbers); i++)
		if (numbers[i].value < numbers[i].least || numbers[i].value > MAX_NUMBER)
			return tlat_fail(reterr, -EINVAL, "%s of %lld%s is outside 0..%lld",
					 numbers[i].what, (long long)numbers[i].value,
					 numbers[i].unit, MAX_NUMBER);
	return 0;
}

static int check_policy(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	struct tlat_rt_opts rt =
		TLAT_RT_OPTS(.policy = opts->policy, .priority = opts->priority,
			     .runtime_ns = opts->runtime_ns, .deadline_ns = opts->deadline_ns,
			     .period_ns = opts->period_ns);

	if (opts->policy != TLAT_SCHED_DEADLINE)
		return tlat_rt_opts_check(&rt, reterr);
	if (!opts->runtime_ns)
		return tlat_fail(reterr, -EINVAL,
				 "policy deadline without a runtime: say how much of each period "
				 "the thread may use, such as 100 us");
	/* times that depend on the interval are checked once that is known */
	rt.runtime_ns = rt.deadline_ns = rt.period_ns = 1;
	return tlat_rt_opts_check(&rt, reterr);
}

static int check_numbers(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	if (opts->flags & ~(uint32_t)KNOWN_FLAGS || !tlat_target_name(opts->target))
		return tlat_fail(reterr, -EINVAL,
				 "flags %#x or target %d are not known to libtimerlat %s",
				 opts->flags, opts->target, TLAT_VERSION);
	if (opts->flags & TLAT_RUN_TRACE_MARK && !opts->break_ns)
		return tlat_fail(reterr, -EINVAL,
				 "a mark in the kernel's trace needs a break, at which it is made");
	if (opts->threads < 0 || opts->threads > TLAT_THREADS_MAX)
		return tlat_fail(reterr, -EINVAL, "%d threads on each CPU are outside 1..%d",
				 opts->threads, TLAT_THREADS_MAX);
	return 0;
}

static int check_threads(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	if (opts->total_threads < 0 || opts->total_threads > TLAT_THREADS_MAX)
		return tlat_fail(reterr, -EINVAL, "%d threads are outside 0..%d",
				 opts->total_threads, TLAT_THREADS_MAX);
	if (opts->priority_step < 0 || opts->priority_step > 99)
		return tlat_fail(reterr, -EINVAL, "priority step of %d is outside 0..99",
				 opts->priority_step);
	if (opts->interval_step_ns > MAX_STEP || opts->offset_ns > MAX_STEP)
		return tlat_fail(reterr, -EINVAL,
				 "interval step of %lld ns or offset of %lld ns is above "
				 "%lld ns",
				 (long long)opts->interval_step_ns, (long long)opts->offset_ns,
				 MAX_STEP);
	if (opts->phase_ns && !opts->align_ns)
		return tlat_fail(reterr, -EINVAL,
				 "a phase of %lld ns needs something to be counted from; give "
				 "align_ns",
				 (long long)opts->phase_ns);
	return 0;
}

/* A report has it as a JSON integer, which is signed. */
static int check_seed(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	if (opts->seed > INT64_MAX)
		return tlat_fail(reterr, -EINVAL, "seed %llu is above %lld; give a smaller one",
				 (unsigned long long)opts->seed, (long long)INT64_MAX);
	return 0;
}

static int check_kept(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	uint64_t kept = opts->inject_ns ? opts->samples : opts->raw;

	if (kept > MAX_RAW)
		return tlat_fail(reterr, -EINVAL, "%llu raw values are too many; at most %llu",
				 (unsigned long long)kept, MAX_RAW);
	if (opts->stream > MAX_STREAM)
		return tlat_fail(reterr, -EINVAL,
				 "a stream of %llu values is too long; at most %llu",
				 (unsigned long long)opts->stream, MAX_STREAM);
	return 0;
}

int tlat_run_opts_check(const struct tlat_run_opts *opts, struct tlat_error *reterr)
{
	int error;

	if (!opts->probe)
		return tlat_fail(reterr, -EINVAL, "no probe named; see 'tlat list'");
	error = check_times(opts, reterr);
	if (!error)
		error = check_policy(opts, reterr);
	if (!error)
		error = check_numbers(opts, reterr);
	if (!error)
		error = check_threads(opts, reterr);
	if (!error)
		error = check_seed(opts, reterr);
	return error ? error : check_kept(opts, reterr);
}

void tlat_run_opts_init(struct tlat_run_opts *opts)
{
	memset(opts, 0, sizeof(*opts));
	opts->size = sizeof(*opts);
}
