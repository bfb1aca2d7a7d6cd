// SPDX-License-Identifier: MIT
/*
 * clock_measure.c - takes the readings that calibration is computed from: two
 * anchors against CLOCK_MONOTONIC_RAW, stamps for the quantum, costs of a read.
 * All on one CPU, so that an offset between counters does not look like a rate.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock_crew.h"
#include "clock_state.h"

#define BRACKETS	 50
#define ANCHOR_APART_NS	 100000000 /* two brackets of 40 ns, 10 ns of quantum: 0.5 ppm */
#define PAIRS		 5000
#define QUANTUM_STAMPS	 20000
#define BATCHES		 33
#define BATCH_CALLS	 64
#define MEASURE_LIMIT_NS 1000000000
#define STEP_MAX_NS	 20000000 /* more than any tick */
#define TICK_HZ_MIN	 24	  /* of all architectures */
#define TICK_HZ_MAX	 10000

static struct tlat_bracket take_anchor(const struct tlat_stamper *stamper)
{
	struct tlat_bracket b[BRACKETS];

	for (size_t i = 0; i < BRACKETS; i++) {
		b[i].before_ticks = tlat_stamp_begin(stamper);
		b[i].ref_ns = tlat_gettime_ns(CLOCK_MONOTONIC_RAW);
		b[i].after_ticks = tlat_stamp_end(stamper);
	}
	return *tlat_calib_tightest(b, BRACKETS);
}

/* Work that takes 0 to 255 turns: reads at a constant distance would fake a quantum of it. */
static void work_randomly(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	for (uint32_t turns = *seed >> 24; turns; turns--)
		__asm__ volatile("" : "+r"(turns));
}

/* Not until a time: the clock that tells it may stand still, and far ahead of the kernel's. */
static void sleep_for(int64_t ns)
{
	struct timespec ts = tlat_timespec_of_ns(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

/* All stamps were equal: a clock of very large steps, or one that stands still. */
static int outwait_step(const struct tlat_stamper *stamper, struct tlat_calibration *cal)
{
	uint64_t before_ticks = tlat_stamp_begin(stamper);

	sleep_for(STEP_MAX_NS);
	cal->quantum_ticks = (double)(tlat_stamp_end(stamper) - before_ticks);
	return cal->quantum_ticks > 0 ? 0 : -ENODATA;
}

static int measure_quantum(const struct tlat_stamper *stamper, struct tlat_calibration *cal)
{
	uint64_t *v = calloc(QUANTUM_STAMPS, sizeof(*v));
	struct tlat_calib_quantum quantum;
	uint32_t seed = 1;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < QUANTUM_STAMPS; i++) {
		work_randomly(&seed);
		v[i] = tlat_stamp_begin(stamper);
	}
	tlat_calib_quantum(v, QUANTUM_STAMPS, &quantum);
	free(v);
	cal->quantum_ticks = quantum.ticks;
	cal->quantum_share = quantum.share;
	return quantum.ticks > 0 ? 0 : outwait_step(stamper, cal);
}

/* In ticks for now; a median below the quantum is only the counter's own step, or none. */
static int measure_read_cost(const struct tlat_stamper *stamper, struct tlat_calibration *cal)
{
	uint64_t *cost_ticks = calloc(PAIRS, sizeof(*cost_ticks));
	struct tlat_calib_cost cost;

	if (!cost_ticks)
		return -ENOMEM;
	for (size_t i = 0; i < PAIRS; i++) {
		uint64_t begin_ticks = tlat_stamp_begin(stamper);

		cost_ticks[i] = tlat_stamp_end(stamper) - begin_ticks;
	}
	tlat_calib_cost(cost_ticks, PAIRS, &cost);
	free(cost_ticks);
	cal->read_min_ns = cost.min_ticks;
	cal->read_p99_ns = cost.p99_ticks;
	cal->read_cost_ns =
		cost.median_ticks < cal->quantum_ticks ? cost.mean_ticks : cost.median_ticks;
	return 0;
}

static void gettime_by_vdso(void)
{
	tlat_gettime_ns(CLOCK_MONOTONIC);
}

static void gettime_by_syscall(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
}

/* Median over batches of a call's cost in ticks. */
static double measure_call(const struct tlat_stamper *stamper, void (*call)(void))
{
	uint64_t cost_ticks[BATCHES];
	struct tlat_calib_cost cost;

	for (size_t i = 0; i < BATCHES; i++) {
		uint64_t begin_ticks = tlat_stamp_begin(stamper);

		for (size_t k = 0; k < BATCH_CALLS; k++)
			call();
		cost_ticks[i] = tlat_stamp_end(stamper) - begin_ticks;
	}
	tlat_calib_cost(cost_ticks, BATCHES, &cost);
	return cost.median_ticks / BATCH_CALLS;
}

static void measure_gettime(const struct tlat_stamper *stamper, struct tlat_calibration *cal)
{
	double entered_ticks = measure_call(stamper, gettime_by_syscall);

	cal->gettime_cost_ns = measure_call(stamper, gettime_by_vdso);
	/* Without a vDSO both are the same call; entering the kernel costs more than a read. */
	cal->vdso = cal->gettime_cost_ns < 0.8 * entered_ticks;
}

static int measure_costs(struct tlat_clock *clock)
{
	int rc = measure_quantum(&clock->stamper, &clock->calibration);

	if (!rc)
		rc = measure_read_cost(&clock->stamper, &clock->calibration);
	measure_gettime(&clock->stamper, &clock->calibration);
	return rc;
}

static int set_rate(struct tlat_calibration *cal, const struct tlat_bracket *first,
		    const struct tlat_bracket *last)
{
	struct tlat_calib_rate rate;
	int rc = tlat_calib_rate(first, last, cal->quantum_ticks, &rate);

	if (rc < 0)
		return rc;
	cal->hz = rate.hz;
	cal->hz_error_ppb = rate.error_ppb;
	cal->anchor_bracket_ns[0] = rate.width_ns[0];
	cal->anchor_bracket_ns[1] = rate.width_ns[1];
	cal->span_ms = rate.span_ns / 1e6;
	return 0;
}

/* The costs are measured while the anchors come apart. */
static int measure_counter(struct tlat_clock *clock)
{
	struct tlat_bracket first = take_anchor(&clock->stamper);
	uint64_t begin_ns = tlat_gettime_ns(CLOCK_MONOTONIC), passed_ns;
	int rc = measure_costs(clock);

	if (rc < 0)
		return rc;
	passed_ns = tlat_gettime_ns(CLOCK_MONOTONIC) - begin_ns;
	if (passed_ns < ANCHOR_APART_NS)
		sleep_for((int64_t)(ANCHOR_APART_NS - passed_ns));
	clock->anchor = take_anchor(&clock->stamper);
	snprintf(clock->calibration.method, sizeof(clock->calibration.method), "measured");
	return set_rate(&clock->calibration, &first, &clock->anchor);
}

static int measure_all(struct tlat_clock *clock)
{
	if (clock->stamper.kind == TLAT_STAMP_COUNTER)
		return measure_counter(clock);
	clock->calibration.hz = TLAT_NSEC_PER_SEC;
	clock->calibration.hz_error_ppb = 0;
	snprintf(clock->calibration.method, sizeof(clock->calibration.method), "nominal");
	return measure_costs(clock);
}

/* Costs were measured before the rate was known. */
static void costs_to_ns(struct tlat_calibration *cal)
{
	double tick_ns = 1e9 / (double)cal->hz;

	cal->quantum_ns = cal->quantum_ticks * tick_ns;
	cal->read_cost_ns *= tick_ns;
	cal->read_min_ns *= tick_ns;
	cal->read_p99_ns *= tick_ns;
	cal->gettime_cost_ns *= tick_ns;
}

struct measurement {
	struct tlat_clock *clock;
	int rc;
};

static void measure_pinned(struct tlat_crew *crew, size_t member, void *data)
{
	struct measurement *m = data;

	(void)crew;
	(void)member;
	m->rc = measure_all(m->clock);
}

/*
 * Where no thread can be pinned the calling one must do: what it measures is
 * the same unless it is moved between two counters that differ.
 */
int tlat_clock_measure(struct tlat_clock *clock)
{
	struct measurement m = { clock, -ECANCELED };

	clock->anchor_cpu = sched_getcpu();
	tlat_crew_run(&clock->anchor_cpu, 1, MEASURE_LIMIT_NS, measure_pinned, &m, NULL);
	if (m.rc == -ECANCELED)
		m.rc = measure_all(clock);
	if (!m.rc)
		costs_to_ns(&clock->calibration);
	return m.rc;
}

struct anchoring {
	const struct tlat_stamper *stamper;
	struct tlat_bracket anchor;
	bool done;
};

static void anchor_pinned(struct tlat_crew *crew, size_t member, void *data)
{
	struct anchoring *a = data;

	(void)crew;
	(void)member;
	a->anchor = take_anchor(a->stamper);
	a->done = true;
}

static struct tlat_bracket anchor_now(const struct tlat_clock *clock)
{
	struct anchoring a = { .stamper = &clock->stamper };

	tlat_crew_run(&clock->anchor_cpu, 1, MEASURE_LIMIT_NS, anchor_pinned, &a, NULL);
	return a.done ? a.anchor : take_anchor(&clock->stamper);
}

int tlat_clock_measure_since_anchor(const struct tlat_clock *clock,
				    struct tlat_calib_rate *ret_rate)
{
	struct tlat_bracket now = anchor_now(clock);

	return tlat_calib_rate(&clock->anchor, &now, clock->calibration.quantum_ticks, ret_rate);
}

void tlat_clock_anchor(struct tlat_clock *clock)
{
	clock->anchor = anchor_now(clock);
}

/* The reading of id that was disturbed least, against the base around it. */
static struct tlat_clock_lead ahead_of(clockid_t base, clockid_t id)
{
	struct tlat_bracket b[BRACKETS];
	const struct tlat_bracket *best;

	for (size_t i = 0; i < BRACKETS; i++) {
		b[i].before_ticks = tlat_gettime_ns(base);
		b[i].ref_ns = tlat_gettime_ns(id);
		b[i].after_ticks = tlat_gettime_ns(base);
	}
	best = tlat_calib_tightest(b, BRACKETS);
	return (struct tlat_clock_lead){
		.ns = (int64_t)(best->ref_ns - best->before_ticks),
		.bracket_ns = (int64_t)(best->after_ticks - best->before_ticks),
	};
}

struct tlat_clock_relation tlat_clock_measure_relation(void)
{
	return (struct tlat_clock_relation){
		.suspended_ns = ahead_of(CLOCK_MONOTONIC, CLOCK_BOOTTIME).ns,
		.wall_ns = ahead_of(CLOCK_MONOTONIC, CLOCK_REALTIME).ns,
	};
}

int64_t tlat_tick_ns(void)
{
	struct timespec step;
	int64_t ns, hz;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &step) < 0)
		return 0;
	ns = tlat_ns_of_timespec(&step);
	hz = ns > 0 ? (TLAT_NSEC_PER_SEC + ns / 2) / ns : 0;
	return hz >= TICK_HZ_MIN && hz <= TICK_HZ_MAX ? ns : 0;
}

static bool can_be_set(const struct tlat_stamper *stamper)
{
	return stamper->kind == TLAT_STAMP_GETTIME &&
	       (stamper->id == CLOCK_REALTIME || stamper->id == CLOCK_TAI);
}

/* Not against CLOCK_MONOTONIC, which stands still in a suspend: that is a finding of its own. */
struct tlat_clock_lead tlat_clock_measure_lead(const struct tlat_stamper *stamper)
{
	return can_be_set(stamper) ? ahead_of(CLOCK_BOOTTIME, stamper->id)
				   : (struct tlat_clock_lead){ 0 };
}
