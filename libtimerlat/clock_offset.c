// SPDX-License-Identifier: MIT
/*
 * clock_offset.c - what only several CPUs, or one left alone, can tell of a
 * clock: the offset between two CPUs' counters, whether stamps ever run
 * backwards from one CPU to the next, and how long a spinning thread is kept
 * from its stamps.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clock_crew.h"
#include "clock_state.h"

#define ROUNDS		  4000 /* both roles; the shortest path shows up within a few hundred */
#define POLLS_PER_LOOK	  1024 /* reading the time at every poll would lengthen the path */
#define EXCHANGE_LIMIT_NS 1000000000
#define ORDER_ENTRIES	  1000 /* per CPU */
#define ORDER_LIMIT_NS	  2000000000
#define GAP_GRACE_NS	  1000000000

static double to_ns(const struct tlat_clock *clock, double ticks)
{
	return ticks * 1e9 / (double)clock->calibration.hz;
}

/* The asker's and the answerer's words lie on a cache line each: one transfer per way. */
struct exchanging {
	struct tlat_stamper stamper;
	struct tlat_exchange *rounds; /* of both roles, in turn */
	size_t done[2];		      /* asked by a, by b */
	_Alignas(TLAT_CACHE_LINE) _Atomic uint32_t asked;
	_Alignas(TLAT_CACHE_LINE) _Atomic uint32_t answered;
	uint64_t answered_ticks;
};

/*
 * Whether a pause between polls shortens the path depends on the CPU: it takes
 * up to 140 cycles, or spares a wrong guess and the neighbour's cache line. So
 * every second round does without, and the best of both counts.
 */
static bool spin_until(struct tlat_crew *crew, _Atomic uint32_t *word, uint32_t number)
{
	uint32_t polls = 0;

	while (atomic_load_explicit(word, memory_order_acquire) != number) {
		if (number % 2)
			tlat_arch_relax();
		if (++polls % POLLS_PER_LOOK == 0 && tlat_crew_expired(crew))
			return false;
	}
	return true;
}

static bool ask(struct tlat_crew *crew, struct exchanging *x, uint32_t number)
{
	struct tlat_exchange *round = &x->rounds[number - 1];

	round->asked_ticks = tlat_stamp_begin(&x->stamper);
	atomic_store_explicit(&x->asked, number, memory_order_release);
	if (!spin_until(crew, &x->answered, number))
		return false;
	round->heard_ticks = tlat_stamp_begin(&x->stamper);
	round->answered_ticks = x->answered_ticks;
	return true;
}

static bool answer(struct tlat_crew *crew, struct exchanging *x, uint32_t number)
{
	if (!spin_until(crew, &x->asked, number))
		return false;
	x->answered_ticks = tlat_stamp_begin(&x->stamper);
	atomic_store_explicit(&x->answered, number, memory_order_release);
	return true;
}

/* Two rounds each, one with pauses and one without: when time runs out both roles had theirs. */
static size_t asker_of(uint32_t round)
{
	return round / 2 % 2;
}

static void exchange_pinned(struct tlat_crew *crew, size_t member, void *data)
{
	struct exchanging *x = data;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (member != asker_of(i)) {
			if (!answer(crew, x, i + 1))
				return;
			continue;
		}
		if (!ask(crew, x, i + 1))
			return;
		x->done[member]++;
	}
}

static struct tlat_calib_offset evaluate(const struct exchanging *x)
{
	struct tlat_calib_offset offset = TLAT_CALIB_OFFSET_ANY;
	size_t left[2] = { x->done[0], x->done[1] };

	for (uint32_t i = 0; i < ROUNDS && left[asker_of(i)]; i++) {
		left[asker_of(i)]--;
		tlat_calib_offset_add(&offset, &x->rounds[i], asker_of(i) == 1);
	}
	return offset;
}

/* Fewer rounds than planned, on busy CPUs, still give a true interval, if a wider one. */
static int measure_pair(const struct tlat_clock *clock, int32_t a, int32_t b,
			struct tlat_calib_offset *ret_offset, struct tlat_error *reterr)
{
	struct exchanging x = { .stamper = clock->stamper };
	int rc;

	x.rounds = calloc(ROUNDS, sizeof(*x.rounds));
	if (!x.rounds)
		return tlat_fail(reterr, -ENOMEM, "clock: no memory for %d exchanges", ROUNDS);
	rc = tlat_crew_run((const int32_t[]){ a, b }, 2, EXCHANGE_LIMIT_NS, exchange_pinned, &x,
			   reterr);
	if (rc == -ETIMEDOUT && x.done[0] && x.done[1])
		rc = 0;
	if (!rc)
		*ret_offset = evaluate(&x);
	free(x.rounds);
	return rc;
}

static struct tlat_clock_known_pair *find_pair(const struct tlat_clock *clock, int32_t a, int32_t b)
{
	for (size_t i = 0; i < clock->pair_count; i++) {
		struct tlat_clock_known_pair *p = &clock->pairs[i];

		if ((p->a == a && p->b == b) || (p->a == b && p->b == a))
			return p;
	}
	return NULL;
}

/* The entry of a pair, made if need be; NULL when there is no memory. */
static struct tlat_clock_known_pair *know_pair(struct tlat_clock *clock, int32_t a, int32_t b)
{
	struct tlat_clock_known_pair *p = find_pair(clock, a, b);

	if (p)
		return p;
	p = realloc(clock->pairs, (clock->pair_count + 1) * sizeof(*p));
	if (!p)
		return NULL;
	clock->pairs = p;
	p += clock->pair_count++;
	*p = (struct tlat_clock_known_pair){ a, b, TLAT_CALIB_OFFSET_ANY };
	return p;
}

/* lo - hi of the interval with the quantum allowed for; positive is a contradiction. */
static int64_t contradiction_ticks(const struct tlat_clock *clock,
				   const struct tlat_calib_offset *offset)
{
	struct tlat_calib_offset wide;

	wide = tlat_calib_offset_widen(offset, clock->calibration.quantum_ticks);
	return wide.lo_ticks - wide.hi_ticks;
}

static int refuse(const struct tlat_clock *clock, const struct tlat_clock_known_pair *p,
		  int64_t ticks, const char *when, struct tlat_error *reterr)
{
	return tlat_fail(
		reterr, -ERANGE,
		"CPUs %d and %d: %s contradict each other by %.0f ns: their counters drift "
		"apart or were stepped; use clock source clock_gettime, or round trips",
		p->a, p->b, when, to_ns(clock, (double)ticks));
}

/* Take a fresh interval in; after a contradiction the next measurement starts anew. */
static int learn(struct tlat_clock *clock, struct tlat_clock_known_pair *p,
		 const struct tlat_calib_offset *fresh, struct tlat_error *reterr)
{
	struct tlat_calib_offset joint = *fresh;
	int64_t ticks = contradiction_ticks(clock, fresh);

	if (ticks > 0) {
		p->offset = TLAT_CALIB_OFFSET_ANY;
		return refuse(clock, p, ticks, "exchanges", reterr);
	}
	tlat_calib_offset_intersect(&joint, &p->offset);
	ticks = contradiction_ticks(clock, &joint);
	if (ticks > 0) {
		p->offset = *fresh;
		return refuse(clock, p, ticks, "exchanges earlier and now", reterr);
	}
	p->offset = joint;
	return 0;
}

TLAT_ASSERT_LAYOUT(struct tlat_clock_offset, 2 * 4 + 3 * 8);

static bool needs_no_exchange(const struct tlat_clock *clock, int32_t a, int32_t b)
{
	return a == b || tlat_clock_is_scripted(clock);
}

bool tlat_clock_pair_known(const struct tlat_clock *clock, int32_t a, int32_t b,
			   struct tlat_clock_offset *ret_offset)
{
	const struct tlat_clock_known_pair *p;
	struct tlat_calib_offset offset;

	*ret_offset = (struct tlat_clock_offset){ .a = a, .b = b };
	if (needs_no_exchange(clock, a, b))
		return true;
	p = find_pair(clock, a, b);
	if (!p || p->offset.rtt_min_ticks == INT64_MAX)
		return false;
	offset = tlat_calib_offset_widen(&p->offset, clock->calibration.quantum_ticks);
	if (p->a != a)
		offset = tlat_calib_offset_mirror(&offset);
	ret_offset->lo_ns = to_ns(clock, (double)offset.lo_ticks);
	ret_offset->hi_ns = to_ns(clock, (double)offset.hi_ticks);
	ret_offset->rtt_min_ns = to_ns(clock, (double)offset.rtt_min_ticks);
	return true;
}

int tlat_clock_pair(struct tlat_clock *clock, int32_t a, int32_t b,
		    struct tlat_clock_offset *ret_offset, struct tlat_error *reterr)
{
	struct tlat_clock_known_pair *p;
	struct tlat_clock_offset offset;
	struct tlat_calib_offset fresh;
	int rc;

	if (!needs_no_exchange(clock, a, b)) {
		p = know_pair(clock, a, b);
		if (!p)
			return tlat_fail(reterr, -ENOMEM, "clock: no memory for a CPU pair");
		rc = measure_pair(clock, p->a, p->b, &fresh, reterr);
		if (!rc)
			rc = learn(clock, p, &fresh, reterr);
		if (rc < 0)
			return rc;
	}
	tlat_clock_pair_known(clock, a, b, &offset);
	*ret_offset = offset;
	return 0;
}

struct ordering {
	struct tlat_stamper stamper;
	struct tlat_order_entry *entries; /* ORDER_ENTRIES per member */
	size_t n;			  /* members */
	_Atomic size_t present;
	_Alignas(TLAT_CACHE_LINE) _Atomic uint64_t seq;
};

/*
 * A stamp that was taken after seq was seen and before it was counted up can
 * only be later than the stamps of all smaller numbers.
 */
static bool take_turn(struct ordering *o, struct tlat_order_entry *entry)
{
	entry->seq = atomic_load(&o->seq);
	entry->ticks = tlat_stamp_begin(&o->stamper);
	return atomic_compare_exchange_strong(&o->seq, &entry->seq, entry->seq + 1);
}

/* Leaving the barrier takes longer than all turns: without this, one would be done too soon. */
static bool start_together(struct tlat_crew *crew, struct ordering *o)
{
	uint32_t polls = 0;

	atomic_fetch_add(&o->present, 1);
	while (atomic_load(&o->present) < o->n)
		if (++polls % POLLS_PER_LOOK == 0 && tlat_crew_expired(crew))
			return false;
	return true;
}

static void order_pinned(struct tlat_crew *crew, size_t member, void *data)
{
	struct ordering *o = data;
	struct tlat_order_entry *entry = &o->entries[member * ORDER_ENTRIES];
	struct tlat_order_entry *end = entry + ORDER_ENTRIES;
	uint32_t tries = 0;

	if (!start_together(crew, o))
		return;
	while (entry < end) {
		if (take_turn(o, entry))
			entry++;
		else if (++tries % POLLS_PER_LOOK == 0 && tlat_crew_expired(crew))
			return;
	}
}

int tlat_clock_check_order(struct tlat_clock *clock, const int32_t *cpus, size_t n)
{
	struct ordering o = { .stamper = clock->stamper, .n = n };
	size_t violations = 0;
	int rc;

	if (n < 2 || tlat_clock_is_scripted(clock))
		return 0;
	o.entries = calloc(n * ORDER_ENTRIES, sizeof(*o.entries));
	if (!o.entries)
		return -ENOMEM;
	rc = tlat_crew_run(cpus, n, ORDER_LIMIT_NS, order_pinned, &o, NULL);
	if (!rc)
		violations = tlat_calib_order(o.entries, n * ORDER_ENTRIES);
	free(o.entries);
	return rc < 0 ? rc : (int)violations;
}

struct gaps {
	struct tlat_stamper stamper;
	uint64_t duration_ticks, threshold_ticks;
	uint64_t spun_ticks, count, max_ticks;
};

static void gap_pinned(struct tlat_crew *crew, size_t member, void *data)
{
	struct gaps *g = data;
	uint64_t start_ticks = tlat_stamp_begin(&g->stamper), last_ticks = start_ticks;
	uint32_t polls = 0;

	(void)member;
	while (last_ticks - start_ticks < g->duration_ticks) {
		uint64_t now_ticks = tlat_stamp_begin(&g->stamper);
		uint64_t gap_ticks = now_ticks - last_ticks;

		if (gap_ticks > g->max_ticks)
			g->max_ticks = gap_ticks;
		g->count += gap_ticks > g->threshold_ticks;
		last_ticks = now_ticks;
		if (++polls % POLLS_PER_LOOK == 0) {
			if (tlat_crew_expired(crew))
				break;
			/* What that look cost is no gap of the machine's. */
			last_ticks = tlat_stamp_begin(&g->stamper);
		}
	}
	g->spun_ticks = last_ticks - start_ticks;
}

static void keep_gaps(struct tlat_clock *clock, int32_t cpu, int64_t threshold_ns,
		      const struct gaps *g)
{
	struct tlat_calibration *cal = &clock->calibration;
	double spun_ns = to_ns(clock, (double)g->spun_ticks);

	cal->gap_known = true;
	cal->gap_cpu = cpu;
	cal->gap_duration_ms = spun_ns / 1e6;
	cal->gap_threshold_ns = (double)threshold_ns;
	cal->gap_count = g->count;
	cal->gap_rate_hz = (double)g->count / (spun_ns / 1e9);
	cal->gap_max_ns = to_ns(clock, (double)g->max_ticks);
}

int64_t tlat_clock_gap_least_ns(const struct tlat_clock *clock)
{
	const struct tlat_calibration *cal = &clock->calibration;

	return (int64_t)ceil(2 * fmax(cal->read_p99_ns, cal->quantum_ns));
}

int tlat_clock_gap(struct tlat_clock *clock, int32_t cpu, int64_t duration_ns, int64_t threshold_ns)
{
	struct gaps g = { .stamper = clock->stamper };
	int64_t least_ns = tlat_clock_gap_least_ns(clock);
	int rc;

	if (duration_ns <= 0 || threshold_ns < 0)
		return -EINVAL;
	if (tlat_clock_is_scripted(clock))
		return 0;
	if (threshold_ns < least_ns)
		threshold_ns = least_ns;
	g.duration_ticks = tlat_clock_ticks(clock, duration_ns);
	g.threshold_ticks = tlat_clock_ticks(clock, threshold_ns);
	rc = tlat_crew_run(&cpu, 1, duration_ns + GAP_GRACE_NS, gap_pinned, &g, NULL);
	if (rc < 0)
		return rc;
	keep_gaps(clock, cpu, threshold_ns, &g);
	return 0;
}
