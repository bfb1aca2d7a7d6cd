/* SPDX-License-Identifier: MIT */
/*
 * clock.h - stamps. A stamper is how one thread reads time; it is copied into
 * the thread's own context, so that a stamp follows no pointer.
 */
#ifndef TLAT_CLOCK_H
#define TLAT_CLOCK_H

#include <time.h>

#include "internal.h"

#if defined(TLAT_ARCH_GENERIC)
#include "arch/generic.h"
#elif defined(__x86_64__) || (defined(__i386__) && defined(__SSE2__))
#include "arch/x86.h"
#elif defined(__aarch64__)
#include "arch/aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "arch/riscv.h"
#else
#include "arch/generic.h"
#endif

enum tlat_stamp_kind {
	TLAT_STAMP_COUNTER, /* the CPU's counter: ticks */
	TLAT_STAMP_GETTIME, /* clock_gettime(id): ns */
	TLAT_STAMP_SCRIPT,  /* tests: the script's virtual time */
};

/* A stamp that takes longer than this enters the kernel or the hypervisor; in user space it takes
 * 10 to 50 ns. */
#define TLAT_TRAPPED_READ_NS 500
#define TLAT_SLOW_CLOCK_REMEDY                                                                     \
	"cat /sys/devices/system/clocksource/clocksource0/{current,available}_clocksource; tsc "   \
	"is read without a trap"

enum tlat_stamp_edge { TLAT_EDGE_BEGIN, TLAT_EDGE_END };

/* Plays time in tests; called for every stamp of every thread. */
typedef uint64_t tlat_script_fn(void *data, enum tlat_stamp_edge edge);

struct tlat_stamper {
	enum tlat_stamp_kind kind;
	clockid_t id;
	tlat_script_fn *script;
	void *data;
};

static inline uint64_t tlat_gettime_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * TLAT_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* A tick of the kernel, by which CLOCK_MONOTONIC_COARSE advances; 0: not known, as where a sandbox
 * says 1 ns. */
int64_t tlat_tick_ns(void);

static inline struct timespec tlat_timespec_of_ns(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / TLAT_NSEC_PER_SEC),
				  .tv_nsec = (long)(ns % TLAT_NSEC_PER_SEC) };
}

static inline int64_t tlat_ns_of_timespec(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * TLAT_NSEC_PER_SEC + ts->tv_nsec;
}

/* A stamp before which everything earlier has finished: opens an interval. [hot] */
static inline uint64_t tlat_stamp_begin(const struct tlat_stamper *s)
{
	if (s->kind == TLAT_STAMP_COUNTER)
		return tlat_arch_ticks_begin();
	if (s->kind == TLAT_STAMP_GETTIME)
		return tlat_gettime_ns(s->id);
	return s->script(s->data, TLAT_EDGE_BEGIN);
}

/* A stamp that nothing later can overtake: closes an interval. [hot] */
static inline uint64_t tlat_stamp_end(const struct tlat_stamper *s)
{
	if (s->kind == TLAT_STAMP_COUNTER)
		return tlat_arch_ticks_end();
	if (s->kind == TLAT_STAMP_GETTIME)
		return tlat_gettime_ns(s->id);
	return s->script(s->data, TLAT_EDGE_END);
}

/* The stamper for pairs and for intervals on one thread: the clock's chosen source. */
struct tlat_stamper tlat_clock_stamper(const struct tlat_clock *clock);
/* The stamper for a solo probe: its own kernel clock, or the script when the clock is scripted. */
struct tlat_stamper tlat_clock_stamper_for(const struct tlat_clock *clock, clockid_t id);

/* Ticks per second of tlat_clock_stamper(). */
uint64_t tlat_clock_hz(const struct tlat_clock *clock);
/* ns -> ticks, rounded up; for pacing. */
uint64_t tlat_clock_ticks(const struct tlat_clock *clock, int64_t ns);

/*
 * A clock whose stamps all come from a test's script; hz is its unit. Facts are invented
 * accordingly (quantum 1 tick, no error), offsets are [0, 0].
 */
int tlat_clock_open_script(struct tlat_clock **ret_clock, tlat_script_fn *script, void *data,
			   uint64_t hz);

/*
 * Everything the report says of the clock. Filled at open; the end check adds to it.
 */
struct tlat_calibration {
	int32_t source;
	char reason[160]; /* why this source */
	char kernel_clocksource[32];
	char method[16]; /* of hz: "measured", "perf-mmap", "nominal" */
	uint64_t hz;
	int64_t hz_error_ppb;
	double anchor_bracket_ns[2];
	double span_ms; /* between the anchors */
	double quantum_ticks, quantum_ns, quantum_share;
	double read_cost_ns, read_min_ns, read_p99_ns; /* begin+end pair, back to back */
	double gettime_cost_ns;			       /* clock_gettime(CLOCK_MONOTONIC), median */
	bool vdso, invariant, hypervisor;
	/* gap floor of one CPU (tlat_clock_gap) */
	bool gap_known;
	int32_t gap_cpu;
	double gap_duration_ms, gap_threshold_ns, gap_rate_hz, gap_max_ns;
	uint64_t gap_count;
	/* end check */
	bool end_checked;     /* false after a suspend: the counter's drift is not known */
	double end_drift_ppm; /* hz measured over the run against hz at open */
};

const struct tlat_calibration *tlat_clock_calibration(const struct tlat_clock *clock);

/*
 * What tlat_clock_pair() knows of a pair (in either order) so far; false: nothing. A call of
 * tlat_clock_pair() always measures, and intersects with what it knew: an interval that turns
 * empty is -ERANGE, and the next call starts anew.
 */
bool tlat_clock_pair_known(const struct tlat_clock *clock, int32_t a, int32_t b,
			   struct tlat_clock_offset *ret_offset);

/*
 * Ordering check over CPUs: all of them stamp and count up one shared number, then a stamp must
 * not be earlier than that of a smaller number. Number of violations; -EINVAL when a CPU cannot
 * be used, -ETIMEDOUT when a thread got no time on its CPU.
 */
int tlat_clock_check_order(struct tlat_clock *clock, const int32_t *cpus, size_t n);

/*
 * The shortest time between two stamps that is a gap, and not the clock's own doing: a stamp may
 * take half as long (the last of a hundred counts), or the clock advance in steps of that.
 */
int64_t tlat_clock_gap_least_ns(const struct tlat_clock *clock);

/*
 * Gap floor: spin on cpu for duration_ns, note gaps over threshold_ns, or over the least this clock
 * can tell; kept in the calibration, with the threshold. Nothing is spun, and the floor stays
 * unknown, on a scripted clock. Errors as above.
 */
int tlat_clock_gap(struct tlat_clock *clock, int32_t cpu, int64_t duration_ns,
		   int64_t threshold_ns);

/*
 * The check at the end of a run: drift of hz since open or the last suspend, a changed
 * clocksource, a suspend (BOOTTIME against MONOTONIC) and a REALTIME step are findings. The drift
 * of a counter over a suspend is not checked. [setup]
 */
void tlat_clock_check_end(struct tlat_clock *clock, struct tlat_findings *findings);

/* The clock that stamps are taken from, if it can be set: how far it is ahead of CLOCK_BOOTTIME,
 * which cannot and is slewed alike; more by bracket_ns at most. All 0 for one that cannot be set.
 */
struct tlat_clock_lead {
	int64_t ns, bracket_ns;
};

struct tlat_clock_lead tlat_clock_measure_lead(const struct tlat_stamper *stamper);

/* Whether it was set since before was measured, by more than 10 us: a finding that spoils the
 * result.
 */
bool tlat_clock_check_set(const struct tlat_stamper *stamper, const struct tlat_clock_lead *before,
			  struct tlat_findings *findings);

#endif /* TLAT_CLOCK_H */
