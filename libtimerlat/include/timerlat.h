/* SPDX-License-Identifier: MIT */
/*
 * timerlat.h - calibrated measurement of real-time latency on Linux
 *
 * How late is this machine, and how sure are we? A probe is one way of being
 * woken, expired or signalled ("wake-futex", "timer-nanosleep"). A run measures
 * one probe and yields a report: a distribution with a stated beginning and
 * end, its uncertainty, the conditions it was taken under, and the command
 * that repeats it.
 *
 *	struct tlat_report *report;
 *	struct tlat_error error;
 *
 *	if (tlat_run(&report, &TLAT_RUN_OPTS(.probe = "wake-futex"), &error) < 0)
 *		errx(2, "%s", error.text);
 *
 * The header is in the order in which a user meets things: versions, errors,
 * findings, options, machine, clock, real-time attributes, histogram, probes,
 * run, report, storm, scale, budget, noise, comparison.
 *
 * Conventions. A function that returns int gives a value >= 0 or a negative
 * errno; errno itself is not part of the contract. -ENOSYS: this kernel lacks
 * it; -EOPNOTSUPP: not in this build; -EPERM: a privilege is missing; -E2BIG:
 * the caller is newer than the library; -ECANCELED: a stop was requested;
 * -ENODATA: the samples cannot carry the answer. ret_x arguments are written on
 * success only, reterr on failure only and may be NULL. A struct that begins
 * with its size is no ret_x: the caller sets the size, and on success the rest
 * is filled up to it, with zero where the library knows less; a size of 0 is
 * -EINVAL. Destructors accept NULL. Durations are signed 64-bit nanoseconds and
 * end in _ns; counter values end in _ticks. One object has one owner at a time;
 * different objects can be used at the same time from different threads.
 *
 * [setup] marks a call that may allocate, block or enter the kernel; [hot] one
 * that does none of these.
 *
 * The library never prints, never exits, leaves no signal handler behind,
 * changes no limit and writes no system-wide setting. The numbers in its texts
 * have a decimal point whichever locale the program is in.
 */
#ifndef TIMERLAT_H
#define TIMERLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TLAT_API
#define TLAT_API __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------------
 * Versions
 */

#define TLAT_VERSION_MAJOR 0
#define TLAT_VERSION_MINOR 1
#define TLAT_VERSION_PATCH 0
#define TLAT_VERSION	   "0.1.0"

/* The version of the library in use, "MAJOR.MINOR.PATCH"; static. [hot] */
TLAT_API const char *tlat_version(void);

/* ------------------------------------------------------------------------
 * Errors
 */

/*
 * Why a call failed: one line that names the thing, the value, the cause and
 * the remedy. Owned by the caller; code is the negative errno that the call
 * returned. Having no size, the struct never grows.
 */
struct tlat_error {
	int32_t code;
	char text[508];
};

/* ------------------------------------------------------------------------
 * Findings: a degraded measurement is not an error
 */

enum tlat_severity {
	TLAT_INFO = 1,	/* worth knowing: not isolated, hypervisor */
	TLAT_WARN = 2,	/* the figures are degraded */
	TLAT_ERROR = 3, /* the figures are not what was asked for */
};

/*
 * Strings live as long as the object that the finding was asked of. Having no
 * size, the struct never grows.
 */
struct tlat_finding {
	const char *id;	    /* stable, lower case: "policy-refused" */
	const char *text;   /* one sentence: what, the value, the cause */
	const char *remedy; /* what to type, or NULL */
	int32_t severity;   /* enum tlat_severity */
	int32_t reserved;
};

/* "info", "warn", "error"; NULL for any other value. Static. [hot] */
TLAT_API const char *tlat_severity_name(int severity);

/* ------------------------------------------------------------------------
 * Options: plain structs, size first, zero means default
 *
 * A caller built against an older header passes a shorter struct, the rest is
 * then zero; one built against a newer header passes a longer one, which is
 * accepted if the part this library does not know is zero (-E2BIG otherwise).
 * A size of 0 is -EINVAL; a NULL pointer is all defaults. Where zero is a real
 * request the field says so, and TLAT_ZERO asks for it.
 */

#define TLAT_ZERO (-1)

/* ------------------------------------------------------------------------
 * Machine: CPUs, isolation, what can be chosen
 *
 * CPUs are known by number, never by count; numbers may have holes and pass
 * 1024. Everything is read below one root directory, so that a recorded
 * machine can be replayed.
 */

#define TLAT_CPUS_MAX 8192 /* the largest NR_CPUS that Linux can be built with */

struct tlat_machine;

/*
 * Read the machine below root (NULL: "/"): online, isolated and nohz_full CPUs,
 * topology, cpusets, kernel facts. A fact that cannot be read is unknown, not
 * an error. Returns 0; -ENOENT when root holds no CPU at all; why root itself
 * cannot be opened: -ENOENT, -ENOTDIR, -EACCES, -EMFILE; -ENOMEM. The machine
 * is a snapshot: later hotplug does not change it. [setup]
 */
TLAT_API int tlat_machine_open(struct tlat_machine **ret_machine, const char *root,
			       struct tlat_error *reterr);
/* Free the machine; clocks and reports made with it need it no more. [setup] */
TLAT_API void tlat_machine_close(struct tlat_machine *machine);

/*
 * Resolve a CPU list: the kernel's syntax ("0-3,8", "0-15:2/4", "1-N" up to the
 * last CPU, leading zeros allowed), the words "all", "isolated", "nohz-full",
 * "housekeeping", "node:N", "core:N" (the CPUs that share CPU N's core), and "!"
 * before a term, which removes it wherever it stands ("!0" alone: all but 0).
 * Words mean online CPUs that this process's cpuset does not withhold. The CPUs
 * go to cpus[] in the order in which they are named, each once; at most max of
 * them. Returns how many there are (which may exceed max), -EINVAL with the bad
 * part and the remedy: NULL, unreadable, not a CPU of this machine, offline, or
 * nothing left. Nothing unreadable ever means "all". [setup]
 */
TLAT_API int tlat_machine_cpus(const struct tlat_machine *machine, const char *list, int32_t *cpus,
			       size_t max, struct tlat_error *reterr);

/*
 * How two CPUs are related: "same-cpu", "smt" (one core), "llc" (one last-level
 * cache), "node" (one NUMA node) or "remote". What the machine does not tell
 * counts as apart (cores, caches), or as one node. Static. [hot]
 */
TLAT_API const char *tlat_machine_relation(const struct tlat_machine *machine, int32_t a,
					   int32_t b);

/*
 * The CPUs that a run takes when it is given none: for a pair {kick, wait},
 * equal where only one CPU can be used; else one. Returns how many were written
 * (2 or 1), or -EINVAL when there is none. [setup]
 */
TLAT_API int tlat_machine_choose(const struct tlat_machine *machine, bool pair, int32_t ret_cpus[2],
				 struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Clock: where stamps come from, and how good they are
 */

struct tlat_clock;

enum tlat_clock_source {
	TLAT_CLOCK_AUTO = 0, /* the counter if it can be trusted */
	TLAT_CLOCK_TSC,	     /* x86: invariant time stamp counter */
	TLAT_CLOCK_CNTVCT,   /* aarch64: virtual counter */
	TLAT_CLOCK_RDTIME,   /* riscv: time CSR */
	TLAT_CLOCK_GETTIME,  /* clock_gettime(CLOCK_MONOTONIC_RAW) */
};

/* "auto", "tsc", "cntvct", "rdtime", "clock_gettime"; NULL otherwise. [hot] */
TLAT_API const char *tlat_clock_source_name(int source);
/* The source of that name, or -EINVAL. [hot] */
TLAT_API int tlat_clock_source_from_name(const char *name);

/*
 * Choose a source and calibrate it: frequency (two anchors 100 ms apart, the
 * tightest of 50 brackets each), quantum, cost of a read. machine (NULL: the
 * one this runs on) is not kept. Returns 0; -EINVAL when source is not one that
 * this machine has, or does not advance like a clock, with the reason; why the
 * kernel's clocks cannot be read: -EPERM; why the root cannot be opened:
 * -EMFILE, -EACCES; -ENOMEM. The calling thread is left on the CPUs it had.
 * [setup]
 */
TLAT_API int tlat_clock_open(struct tlat_clock **ret_clock, const struct tlat_machine *machine,
			     int source, struct tlat_error *reterr);
/* Free the clock. [setup] */
TLAT_API void tlat_clock_close(struct tlat_clock *clock);

/* A flat view of what calibration found. */
struct tlat_clock_facts {
	size_t size;	      /* set by the caller: sizeof(struct tlat_clock_facts) */
	const char *reason;   /* why this source; lives as long as the clock */
	uint64_t hz;	      /* ticks per second; 1000000000 for clock_gettime */
	int64_t hz_error_ppb; /* bound of the relative error of hz */
	double quantum_ns;    /* step in which stamps advance; not 1/hz */
	double read_cost_ns;  /* median cost of one stamp */
	int32_t source;	      /* enum tlat_clock_source, never AUTO */
	int32_t reserved;
};

/*
 * Fill *facts up to the caller's facts->size; what this library does not know
 * becomes zero. Returns 0, or -EINVAL for a size of 0. [hot]
 */
TLAT_API int tlat_clock_facts(const struct tlat_clock *clock, struct tlat_clock_facts *facts);

/*
 * Bounds of (counter of CPU b) - (counter of CPU a), from exchanges in both
 * roles; the true offset lies inside. rtt_min_ns is the shortest exchange seen.
 * Having no size, the struct never grows.
 */
struct tlat_clock_offset {
	int32_t a, b;
	double lo_ns, hi_ns;
	double rtt_min_ns;
};

/*
 * Measure the offset interval of two CPUs, about 4 ms, and intersect it with
 * what earlier calls found. Returns 0, -EINVAL when a CPU cannot be used,
 * -ETIMEDOUT when a real-time thread occupies one for 1 s, -ERANGE when the
 * exchanges contradict each other (the counters drift or warp: one-way figures
 * cannot be trusted), -EAGAIN when no thread can be started, -ENOMEM. [setup]
 */
TLAT_API int tlat_clock_pair(struct tlat_clock *clock, int32_t a, int32_t b,
			     struct tlat_clock_offset *ret_offset, struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Real-time attributes: applied to the calling thread, read back, undone
 */

enum tlat_policy {
	TLAT_SCHED_INHERIT = 0, /* leave as it is */
	TLAT_SCHED_OTHER,
	TLAT_SCHED_FIFO,
	TLAT_SCHED_RR,
	TLAT_SCHED_BATCH,
	TLAT_SCHED_DEADLINE,
	TLAT_SCHED_IDLE, /* to leave it again takes CAP_SYS_NICE or RLIMIT_NICE */
	TLAT_SCHED_EXT,	 /* read back only */
};

/*
 * "inherit", "other", "fifo", "rr", "batch", "deadline", "idle", "ext"; NULL
 * otherwise. [hot]
 */
TLAT_API const char *tlat_policy_name(int policy);
/* The policy of that name, or -EINVAL. [hot] */
TLAT_API int tlat_policy_from_name(const char *name);

struct tlat_rt_opts {
	size_t size;
	const char *cpus;	/* CPU numbers in kernel syntax (NULL: inherit) */
	int64_t slack_ns;	/* timer slack (0: inherit) */
	int64_t cpu_latency_ns; /* hold /dev/cpu_dma_latency at this, rounded down
				 * to us (0: do not touch; TLAT_ZERO: hold at 0) */
	int64_t runtime_ns;	/* DEADLINE only, needed there */
	int64_t deadline_ns;	/* DEADLINE only (0: the period) */
	int64_t period_ns;	/* DEADLINE only, needed there */
	int32_t policy;		/* enum tlat_policy (0: inherit) */
	int32_t priority;	/* 1..99 for FIFO and RR, else 0 */
	int32_t lock_all;	/* 1: mlockall(CURRENT|FUTURE) for the process */
	int32_t reserved;	/* 0 */
};

#define TLAT_RT_OPTS(...)                                                                          \
	((struct tlat_rt_opts){ .size = sizeof(struct tlat_rt_opts), __VA_ARGS__ })

/* What is in force on the calling thread, as the kernel says it. */
struct tlat_rt_state {
	size_t size; /* set by the caller */
	int64_t slack_ns;
	int32_t policy; /* enum tlat_policy */
	int32_t priority;
	int32_t cpu; /* where the thread ran when it was read */
	int32_t reserved;
	int64_t runtime_ns, deadline_ns, period_ns; /* under DEADLINE, else 0 */
};

struct tlat_rt;

/*
 * Apply opts to the calling thread and read everything back. The result can be
 * undone with tlat_rt_undo() on the same thread. Returns 0; -EINVAL for options
 * that make no sense, with the bad value, and for CPUs that cannot be had;
 * -E2BIG; -EPERM (or what the kernel gave) for a refusal: reterr names the cause
 * (capability, RLIMIT_RTPRIO, the cgroup's real-time budget, seccomp, cpuset)
 * and what to type; -EBUSY when no deadline can be guaranteed; -EACCES or
 * -ENOENT for /dev/cpu_dma_latency; -EPROTO for a call that claimed success and
 * did nothing; -ENOMEM. On failure nothing has changed. [setup]
 */
TLAT_API int tlat_rt_apply(struct tlat_rt **ret_rt, const struct tlat_rt_opts *opts,
			   struct tlat_error *reterr);

/*
 * Restore what tlat_rt_apply() changed, in reverse order, and free rt; needs
 * no privilege where the thread was not real-time before. Locked memory is
 * unlocked by the last that holds it, and not at all if the program had locked
 * some itself. [setup]
 */
TLAT_API void tlat_rt_undo(struct tlat_rt *rt);

/*
 * Read the calling thread's attributes, up to the caller's state->size. Returns
 * 0, -EINVAL for a size of 0, or why the kernel does not tell. [setup]
 */
TLAT_API int tlat_rt_state(struct tlat_rt_state *state);

/*
 * Drop all capabilities of the calling thread but those in keep, a list such as
 * "cap_sys_nice,cap_ipc_lock" (NULL or "": none). Not undone. What the thread
 * lacks already is not added. Threads started later inherit what is left.
 * Returns 0, -EINVAL for an unknown name, -EOPNOTSUPP for a name that only a
 * build with libcap knows, -EPERM when a sandbox refuses, -EPROTO when a call
 * claimed success and did nothing. [setup]
 */
TLAT_API int tlat_rt_drop_caps(const char *keep, struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Histogram: HdrHistogram's bucket layout, 3 digits, fixed memory
 *
 * Values are signed integers in the histogram's own unit (hz per second;
 * 1000000000: nanoseconds). Relative width of a bin: at most 2^-10, exact below
 * 2048 units; values from 2^37 units on are counted as overflow, negative ones
 * as early (mirrored, same layout). One writer; readers may look at any time
 * and see each bin whole.
 */

struct tlat_hist;

/* Memory one histogram needs, aligned to 64 bytes; constant. [hot] */
TLAT_API size_t tlat_hist_bytes(void);

/*
 * Make a histogram in mem (tlat_hist_bytes() long, 64-byte aligned, for
 * instance shared memory); every page is touched. Nothing to free. [setup]
 */
TLAT_API struct tlat_hist *tlat_hist_init(void *mem, uint64_t hz);

/* The same in memory of its own. Returns 0 or -ENOMEM. [setup] */
TLAT_API int tlat_hist_new(struct tlat_hist **ret_hist, uint64_t hz);
/* Free what tlat_hist_new() made, and nothing else. [setup] */
TLAT_API void tlat_hist_free(struct tlat_hist *hist);

/* Count one value: a few instructions, no lock, no system call, no fault. [hot] */
TLAT_API void tlat_hist_record(struct tlat_hist *hist, int64_t value);

/* Forget all values. [hot] */
TLAT_API void tlat_hist_reset(struct tlat_hist *hist);

/*
 * Add the values of from to into. Exact: the result is as if all values had
 * been recorded in one. Returns 0, or -EINVAL when the units differ by more
 * than 100 ppm: into is then as it was. [hot]
 */
TLAT_API int tlat_hist_merge(struct tlat_hist *into, const struct tlat_hist *from);

/* Units per second. [hot] */
TLAT_API uint64_t tlat_hist_hz(const struct tlat_hist *hist);
/* early + recorded + overflow. [hot] */
TLAT_API uint64_t tlat_hist_count(const struct tlat_hist *hist);
/* Values below 0. [hot] */
TLAT_API uint64_t tlat_hist_early(const struct tlat_hist *hist);
/* Values of 2^37 units and more. [hot] */
TLAT_API uint64_t tlat_hist_overflow(const struct tlat_hist *hist);
/* Exact extremes in units; 0 when empty. [hot] */
TLAT_API int64_t tlat_hist_min(const struct tlat_hist *hist);
TLAT_API int64_t tlat_hist_max(const struct tlat_hist *hist);

/*
 * The value below which a share p (0..1) of all values lies, in units, as the
 * mid-distribution estimate (Ma, Genton & Parzen 2011): the mass of values one
 * clock step apart is spread between them, so that a shift below the clock's
 * quantum still shows. Across a wider gap the result passes within one rank, as
 * between two sorted values. Within half a bin and one step of the sorted
 * values, within min..max, monotone in p. 0 when empty. [hot]
 */
TLAT_API double tlat_hist_quantile(const struct tlat_hist *hist, double p);

/*
 * The upper edge, in units, of the bin that holds rank ceil(p N): the figure
 * to use in an assertion. Never above max. [hot]
 */
TLAT_API int64_t tlat_hist_quantile_bound(const struct tlat_hist *hist, double p);

/* One bin: the integers low..high of the histogram's unit, and how many values lie there. */
struct tlat_bin {
	int64_t low, high;
	uint64_t count;
};

/*
 * Walk the bins that hold something, in ascending order, early ones first;
 * what overflowed has no bin. *cursor is 0 at the start and belongs to the
 * walk. Returns 1 with *ret_bin filled, 0 after the last. [hot]
 */
TLAT_API int tlat_hist_next(const struct tlat_hist *hist, size_t *cursor, struct tlat_bin *ret_bin);

/* ------------------------------------------------------------------------
 * Probes
 */

struct tlat_probe_facts {
	size_t size;	  /* set by the caller */
	const char *name; /* "wake-futex" */
	const char *from; /* where the interval begins, in words */
	const char *to;	  /* where it ends */
	int32_t pair;	  /* 1: a waker and a waiter; 0: one thread */
	int32_t spins;	  /* 1: its wait takes CPU time, all of the interval; 0: it sleeps */
};

/*
 * Facts about the probe of that index, 0 and up, in the order in which they
 * are listed. Returns 0, -ENOENT past the last, or -EINVAL for a size of 0.
 * Strings are static. [hot]
 */
TLAT_API int tlat_probe_facts(size_t index, struct tlat_probe_facts *facts);

/*
 * Whether this kernel and build have what the probe needs: 0; -ENOENT: no such
 * probe; else why not, with the remedy in reterr. What depends on CPUs is found
 * out by a run: wake-spin needs two. Leaves nothing behind. [setup]
 */
TLAT_API int tlat_probe_check(const char *name, struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Run: measure one probe
 */

enum tlat_run_flags {
	TLAT_RUN_ROUND_TRIP = 1 << 0, /* pairs: A wakes B wakes A, one clock */
	TLAT_RUN_VERIFY = 1 << 1,     /* check every cycle that the waiter slept */
	TLAT_RUN_STRICT = 1 << 2,     /* a refused policy is an error, not a finding */
	TLAT_RUN_LOCK_ALL = 1 << 3,   /* mlockall for the whole process */
	TLAT_RUN_NO_FLOOR = 1 << 4,   /* leave out floor and floor_pair */
	TLAT_RUN_TRACE_MARK = 1 << 5, /* at a break, mark the kernel's trace and stop it */
	TLAT_RUN_FLOAT = 1 << 6,      /* solo: each thread may run on all of cpus, not on one */
	TLAT_RUN_COMPLETE = 1 << 7,   /* solo: samples counts those recorded; for each expiry that
				       * is missed the thread goes on for one more */
};

/* One measurement, as it was made. Having no size, the struct never grows. */
struct tlat_sample {
	int64_t at_ns;	  /* its beginning; solo: the expiry on the probe's clock; pair: the kick
			   * in the time of the clock's counter */
	int64_t value_ns; /* how long after that; below 0: early */
};

enum tlat_target {
	TLAT_TARGET_SLEEPING = 0,
	TLAT_TARGET_BUSY, /* the waiter spins until its handler has run; signal-*-handler */
};

/* "sleeping", "busy"; NULL otherwise. Static. [hot] */
TLAT_API const char *tlat_target_name(int target);
/* The target of that name, or -EINVAL. [hot] */
TLAT_API int tlat_target_from_name(const char *name);

#define TLAT_THREADS_MAX 8192 /* measuring threads of one run: one on every CPU there can be */

/* Times are at most 10^18 ns; what is outside its range is refused, never cut down to it. */
struct tlat_run_opts {
	size_t size;
	const char *probe;		    /* required */
	const char *cpus;		    /* solo: one thread per CPU; pair: "KICK,WAIT" or one
					     * CPU for both (NULL: the best available) */
	const struct tlat_machine *machine; /* borrowed (NULL: read for this run) */
	struct tlat_clock *clock;	    /* borrowed (NULL: calibrated for this run) */
	uint64_t samples;		    /* cycles asked per thread (0: by duration) */
	int64_t duration_ns;	/* length of measurement (0: 2 s, or unlimited if samples);
				 * solo: as many slots as it spans, and a thread that spins under
				 * a real-time policy rests between them, which is not in it */
	int64_t interval_ns;	/* pair: slot, TLAT_ZERO or 0: closed loop;
				 * solo: period, 10 us or more (0: 1 ms) */
	int64_t settle_ns;	/* pair: from announcement to kick (0: 50 us; TLAT_ZERO: 0) */
	int64_t dither_ns;	/* pair: settle is longer by 0..this at random
				 * (0: one clock quantum; TLAT_ZERO: none) */
	int64_t slack_ns;	/* timer slack of measuring threads (0: inherit) */
	int64_t cpu_latency_ns; /* as in tlat_rt_opts (0: do not touch; TLAT_ZERO: 0) */
	int64_t warmup;		/* cycles (0: 1000 or 0.2 s, the shorter; TLAT_ZERO: none) */
	uint64_t seed;		/* of phase and dither, below 2^63 (0: chosen, and reported) */
	uint64_t raw;		/* keep the first values, so many, at most 10^8 (0: none) */
	int32_t policy;		/* enum tlat_policy of the measuring threads (0: inherit) */
	int32_t priority;	/* of the waiter, 1..99 for FIFO and RR, else 0; a waker on the
				 * same CPU gets one less, so that 2 is the least there */
	uint32_t flags;		/* enum tlat_run_flags */
	int32_t threads;	/* solo: on each CPU (0: 1; at most TLAT_THREADS_MAX in all) */
	int32_t target;		/* enum tlat_target: what a wake finds the waiter doing */
	int32_t reserved;
	int64_t inject_ns; /* self-test, pairs with samples: every second kick is held back so
			    * long (on MONOTONIC_RAW) after the first stamp, and called that
			    * much earlier (0: none; at most settle_ns); keeps all of the
			    * samples, at most 10^8 */
	/* Policy DEADLINE, for timers that sleep; others are refused. A thread under it has to be
	 * allowed on all CPUs of its root domain: where that is more than the CPU asked for it is
	 * not pinned, and the finding "deadline-not-pinned" says so. */
	int64_t runtime_ns;  /* needed */
	int64_t deadline_ns; /* (0: period_ns) */
	int64_t period_ns;   /* (0: interval_ns) */
	int64_t break_ns;    /* end the run on the first value above it (0: none) */
	int64_t offset_ns;   /* solo: from the grid of one thread to that of the next, at most
			      * 10^14 (0: each thread's phase is drawn from the seed; TLAT_ZERO:
			      * all at once) */
	uint64_t chain_adds; /* test, pairs: so many additions, one after the other, are made
			      * between the first stamp and each kick (0: none; at most 10^6) */
	/* Solo: more of several threads. */
	int64_t interval_step_ns; /* every further thread's interval is longer by this, at most
				   * 10^14 (0: none) */
	int64_t align_ns;	  /* expiries are multiples of this on the probe's clock, plus
				   * phase_ns, all at once but for offset_ns (0: a
				   * phase drawn from the seed) */
	int64_t phase_ns;	  /* needs align_ns (0: none) */
	uint64_t stream;       /* keep so many values for tlat_run_read(), per thread, at most 2^24
				* (0: none) */
	int32_t total_threads; /* solo: so many, at most TLAT_THREADS_MAX, on the CPUs of the list
				* in turn (0: as threads says) */
	int32_t priority_step; /* every further thread's priority is lower by this, 0..99, but at
				* least 1 (0: none) */
};

#define TLAT_RUN_OPTS(...)                                                                         \
	((struct tlat_run_opts){ .size = sizeof(struct tlat_run_opts), __VA_ARGS__ })

/* All defaults; for C++, where the macro is not available. [hot] */
TLAT_API void tlat_run_opts_init(struct tlat_run_opts *opts);

struct tlat_run;
struct tlat_report;

/*
 * Start a run and return while it goes on. opts is copied; machine and clock
 * must outlive the run. Returns 0; -EINVAL and the like for options that make
 * no sense; with TLAT_RUN_STRICT also -EPERM for what was refused. A probe that
 * cannot run here still gives a run, whose report says why. A signal that is
 * sent to the process may go to any thread: the calling one blocks it (and must
 * leave it so) until tlat_run_wait(), called on the same thread, returns. [setup]
 */
TLAT_API int tlat_run_start(struct tlat_run **ret_run, const struct tlat_run_opts *opts,
			    struct tlat_error *reterr);

/* A descriptor that polls readable when the run is over; the run's own. [hot] */
TLAT_API int tlat_run_fd(const struct tlat_run *run);

/*
 * End the run early, from any thread; async-signal-safe, one write(2) that never blocks. A pair
 * ends after the cycle under way, unless that takes more than 0.3 s. The wait for a timer, which
 * may last an hour, and a round trip are interrupted at once: such a cycle counts as unfinished. A
 * value above break_ns ends the other threads in the same way. Until tlat_run_wait() returns, not
 * later. [setup]
 */
TLAT_API void tlat_run_stop(struct tlat_run *run);

/* What a run looks like from outside while it goes on; values in ns. */
struct tlat_progress {
	size_t size;			       /* set by the caller */
	uint64_t count;			       /* samples so far */
	double min_ns, p50_ns, p99_ns, max_ns; /* 0 when count is 0 */
	double done;			       /* 0..1, of the limit that is nearest; a timer's time
						* is counted in slots */
	int32_t threads;		       /* measuring threads of the run that record */
	int32_t cpu;			       /* the waiter's; -1: floating */
	int32_t tid;			       /* the waiter's, as the kernel numbers it */
	int32_t reserved;
};

/*
 * How far recording thread number thread (0 and up) is. Returns 0, -ENOENT when
 * there is no such thread (yet), or -EINVAL for a size of 0. [setup]
 */
TLAT_API int tlat_run_progress(struct tlat_run *run, int thread, struct tlat_progress *progress);

/*
 * What has been measured so far, as a report that outlives the run; the loops go on undisturbed.
 * Its end is "running"; outliers, raw values, kernel counters and the clock's last check are left
 * out, and a cycle under way is not counted. Returns 0; -EALREADY when the run is over: its report
 * is to be waited for; -ENOMEM. From one thread at a time. [setup]
 */
TLAT_API int tlat_run_snapshot(struct tlat_run *run, struct tlat_report **ret_report,
			       struct tlat_error *reterr);

/*
 * Take the oldest values of recording thread number thread that were not taken yet, at most max;
 * one reader for each thread at a time, until tlat_run_wait(). While tlat_run_opts.stream values
 * wait to be taken further ones are left out: *ret_lost (may be NULL) is how many since the start;
 * the report has them all the same. Returns how many were taken; -ENOENT when there is no such
 * thread (yet), -ENODATA when no stream was asked for. [hot]
 */
TLAT_API int tlat_run_read(struct tlat_run *run, int thread, struct tlat_sample *samples,
			   size_t max, uint64_t *ret_lost);

/*
 * Wait for the end, free the run and hand over its report. Returns 0, or a
 * negative errno when there is nothing to report; either way the run is gone.
 * [setup]
 */
TLAT_API int tlat_run_wait(struct tlat_run *run, struct tlat_report **ret_report,
			   struct tlat_error *reterr);

/* tlat_run_start() and tlat_run_wait() in one; returns as they do. [setup] */
TLAT_API int tlat_run(struct tlat_report **ret_report, const struct tlat_run_opts *opts,
		      struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Report: results, conditions, findings
 */

struct tlat_result;

/*
 * Audit the machine without measuring a probe: findings, no results. Machine and clock are both
 * required and not kept. What is amiss is a finding. Returns 0 or -ENOMEM. [setup]
 */
TLAT_API int tlat_check(struct tlat_report **ret_report, const struct tlat_machine *machine,
			struct tlat_clock *clock, struct tlat_error *reterr);

/* Free the report, its results, and all strings and histograms asked of them. [setup] */
TLAT_API void tlat_report_free(struct tlat_report *report);

/*
 * Move the results and findings of from to the end of into. from is another report and gone
 * afterwards, also on failure. Returns 0, or -ENOMEM: into is then as it was. [setup]
 */
TLAT_API int tlat_report_append(struct tlat_report *into, struct tlat_report *from);

/*
 * A copy that lives on its own, such as to write what is there with a snapshot added. Returns 0,
 * -EOPNOTSUPP in a build without JSON, -ENOMEM. [setup]
 */
TLAT_API int tlat_report_copy(struct tlat_report **ret_copy, const struct tlat_report *report);

/*
 * Name the program, its arguments and the one command that repeats it (NULL: none); all are copied.
 * Returns 0, -EINVAL for a negative argc, -ENOMEM. [setup]
 */
TLAT_API int tlat_report_set_origin(struct tlat_report *report, int argc, char *const argv[],
				    const char *repeat);

/*
 * Read the first document of a file ("-": standard input). Returns 0; -EINVAL
 * with line and column, or the place in the document, when it is no report of a
 * schema this library knows, has a probe or metric whose name is of more than 47
 * bytes, a unit of more than 15, or two metrics of one name in a result; -EFBIG
 * when no document ends within 64 MiB; -EOPNOTSUPP in a build without JSON;
 * -ENOMEM; or what open(2) or read(2) said (-ENOENT, -EACCES, -EISDIR). [setup]
 */
TLAT_API int tlat_report_read(struct tlat_report **ret_report, const char *path,
			      struct tlat_error *reterr);

/*
 * The same from memory: the first document in size bytes of text, which need not end in NUL; name
 * stands for it in errors. Errors as above, but those of files. [setup]
 */
TLAT_API int tlat_report_parse(struct tlat_report **ret_report, const char *text, size_t size,
			       const char *name, struct tlat_error *reterr);

enum tlat_write_flags {
	TLAT_WRITE_APPEND = 1 << 0, /* add a line to a JSON Lines file */
};

/*
 * Write the report as one compact line of JSON to a file, replaced by rename
 * so that no reader ever sees half of it, or to "-": standard output. Whatever
 * fails, what was in the file stays. A link stays a link, and a file keeps its
 * mode and, for root, its owner. A file that cannot be replaced, because it is
 * a mount of its own, as in a container, or its directory cannot be written,
 * is written where it is: then a reader can see half of it, and a failure can
 * cost what was in it. A path that is another name of an open descriptor, such
 * as /dev/stdout, or of the file of standard output or standard error, means
 * that descriptor, after what stdout's buffer holds. Returns 0; -EINVAL for
 * unknown flags; -EOPNOTSUPP in a build without JSON; -ENOMEM; or what the
 * file system said (-EACCES, -ENOSPC, -EPIPE). [setup]
 */
TLAT_API int tlat_report_write(const struct tlat_report *report, const char *path,
			       unsigned int flags, struct tlat_error *reterr);

/*
 * The same line in memory, without the newline; *ret_text is to be given to free(3). Returns 0,
 * -EOPNOTSUPP in a build without JSON, -ENOMEM. [setup]
 */
TLAT_API int tlat_report_format(char **ret_text, const struct tlat_report *report);

/* Result number index, 0 and up; NULL past the last. Lives as long as the report. [hot] */
TLAT_API const struct tlat_result *tlat_report_result(const struct tlat_report *report,
						      size_t index);

/* Run-wide finding number index. Returns 0 or -ENOENT. [hot] */
TLAT_API int tlat_report_finding(const struct tlat_report *report, size_t index,
				 struct tlat_finding *ret_finding);

/* Finding number index of one result. Returns 0 or -ENOENT. [hot] */
TLAT_API int tlat_result_finding(const struct tlat_result *result, size_t index,
				 struct tlat_finding *ret_finding);

/* How the run ended: "count", "time", "signal", "break", "error"; "running": it had not. Static.
 * [hot] */
TLAT_API const char *tlat_report_end(const struct tlat_report *report);

/*
 * What kind of result it is: "latency" (a distribution), else one that consists of metrics:
 * "storm", "scale", "noise", "metric". Lives as long as the report. [hot]
 */
TLAT_API const char *tlat_result_kind(const struct tlat_result *result);

/* Name of the probe; lives as long as the report. [hot] */
TLAT_API const char *tlat_result_probe(const struct tlat_result *result);

/*
 * The command that repeats this result alone, every option resolved; NULL: not known. Lives as long
 * as the report. [hot]
 */
TLAT_API const char *tlat_result_repeat(const struct tlat_result *result);

/*
 * The quantile p (0 < p < 1) of all values, with its 95 % interval, in ns.
 * Returns 0; -EINVAL for another p; -ENODATA when the samples cannot carry it
 * (fewer than ten beyond it, or fewer than three independent ones),
 * *ret_hi_ns then being the largest value seen, a bound on nothing ("max so
 * far"; NAN: no value). Each pointer may be NULL. [hot]
 */
TLAT_API int tlat_result_quantile_ns(const struct tlat_result *result, double p,
				     double *ret_value_ns, double *ret_lo_ns, double *ret_hi_ns);

/* What the samples say of events beyond the largest value, at 95 % confidence. */
struct tlat_rare {
	size_t size; /* set by the caller */
	double largest_ns;
	double independent;  /* samples, as far as they do not resemble each other */
	double share_bound;  /* a larger value has at most this probability, 0..1 */
	double hourly_bound; /* and comes at most this often in an hour */
	double needed;	     /* samples without a larger one that would show the share asked for */
	double needed_ns;    /* how long those take at the pace of this result */
};

/*
 * What may be said of values that were not seen, and what it would take to say that their
 * probability is below share (0 < share < 1). Returns 0; -EINVAL for another share or a size of 0;
 * -ENODATA when nothing was measured. Nothing is extrapolated. [setup]
 */
TLAT_API int tlat_result_rare(const struct tlat_result *result, double share,
			      struct tlat_rare *rare);

/* Flat numbers of a result; a figure the data cannot carry is NAN. */
struct tlat_summary {
	size_t size; /* set by the caller */
	uint64_t asked, recorded, early, overflow, missed, rejected, unfinished;
	uint64_t disturbed;
	double min_ns, p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns;
	double mean_ns, sd_ns;
	double call_p50_ns;	    /* cost of the waking call; NAN: not known */
	double floor_p50_ns;	    /* null probe on this clock */
	double floor_pair_p50_ns;   /* shared-memory flag on these CPUs; NAN: none */
	double u_ns;		    /* expanded uncertainty (k = 2) of p50; NAN: not known */
	double worst_ns;	    /* linear sum of its bounds, >= u_ns; NAN as u_ns */
	double dwell_p50_ns;	    /* pairs: announcement to kick; NAN: none */
	double injected_ns;	    /* self-test: delay really spun, median; NAN: none */
	double recovered_ns;	    /* the same as the probe saw it */
	double recovered_u_ns;	    /* expanded uncertainty (k = 2) of their difference */
	int32_t wait_cpu, kick_cpu; /* kick_cpu -1: no waker */
	int32_t policy, priority;   /* of the waiter, as read back */
	int64_t settle_ns;	    /* as run; pairs, else 0 */
	int64_t interval_ns;	    /* as run; 0: closed loop */
	int64_t cpu_latency_ns;	    /* held during the run; -1: not touched */
	int32_t thread;		    /* which measuring thread of its run, 0 and up */
	int32_t reserved;
	/* With every expiry put back that hid behind a late one; NAN: nothing to correct. */
	double corrected_p50_ns, corrected_p99_ns, corrected_p999_ns, corrected_max_ns;
	int32_t policy_asked, priority_asked;	    /* of the waiter, granted or not */
	int64_t slack_ns;			    /* of the waiter, as read back */
	int32_t round_trip;			    /* 1: there and back, stamped on the waker */
	int32_t target;				    /* pairs: enum tlat_target */
	int64_t runtime_ns, deadline_ns, period_ns; /* of the waiter under DEADLINE, else 0 */
	int64_t break_ns;			    /* the run was to end above this; 0: no */
	double back_p50_ns; /* from a handler's first act to the interrupted code; NAN: none */
	/* How many expiries the corrected figures have that the others have not: fewer than missed
	 * where values that overflowed are known only as a sum. */
	uint64_t corrected_added;
};

/*
 * Fill *summary up to the caller's summary->size. Returns 0, -EINVAL for a size of 0, or -ENOMEM.
 * [setup]
 */
TLAT_API int tlat_result_summary(const struct tlat_result *result, struct tlat_summary *summary);

/* The distribution itself, as long as the report lives; NULL when nothing was measured. [hot] */
TLAT_API const struct tlat_hist *tlat_result_hist(const struct tlat_result *result);

/*
 * The first values as they came, in the unit of tlat_result_hist(), negative ones early: those that
 * tlat_run_opts.raw kept. Returns how many; *ret_values lives as long as the report, and is NULL
 * for none. [hot]
 */
TLAT_API size_t tlat_result_values(const struct tlat_result *result, const int64_t **ret_values);

/*
 * Counter number index of a result, named as in the report: "asked",
 * "recorded", "rejected.timeout", "disturbed.preempted", "warmup" and so on;
 * those that are 0 too. Names are static. Returns 0 or -ENOENT. [hot]
 */
TLAT_API int tlat_result_count(const struct tlat_result *result, size_t index,
			       const char **ret_name, uint64_t *ret_count);

/* How one CPU spent its idle time during the run, by the kernel's own counters. */
struct tlat_idle_share {
	size_t size;	   /* set by the caller */
	const char *state; /* "POLL", "C1"; lives as long as the report */
	uint64_t usage;	   /* entries into this state */
	int64_t time_ns;   /* time spent in it */
	double share;	   /* of entries: usage over all idle entries of that CPU, 0..1 */
	int32_t cpu;
	int32_t reserved;
	double time_share; /* of time: time_ns over the time watched, 0..1 ("share" in a report);
			    * NAN: not known */
};

/*
 * Idle state number index, the waiter's CPU first, then the waker's; states
 * that were entered only. Returns 0, or -ENOENT past the last or where the
 * kernel does not tell, -EINVAL for a size of 0. [hot]
 */
TLAT_API int tlat_result_idle(const struct tlat_result *result, size_t index,
			      struct tlat_idle_share *share);

/* A condition of the report as text: "machine.kernel", "clock.source". */
struct tlat_fact {
	const char *name;  /* the keys of the report, joined by dots */
	const char *value; /* "" when not known */
};

/*
 * Fact number index about machine and clock, in the order of the report; none
 * in a build without JSON. The strings live until the report is freed or
 * appended to. Returns 0, -ENOENT past the last, -ENOMEM. [setup]
 */
TLAT_API int tlat_report_fact(const struct tlat_report *report, size_t index,
			      struct tlat_fact *ret_fact);

/*
 * The command that repeats the whole, as tlat_report_set_origin() or the file said; NULL: none.
 * Lives until the report is freed or given another origin. [hot]
 */
TLAT_API const char *tlat_report_repeat(const struct tlat_report *report);

/*
 * Add a run-wide finding of the program's own; it is copied, and kept once if there is one of the
 * same id and text. Returns 0, -EINVAL when id or text is NULL or severity none of
 * enum tlat_severity, -ENOMEM. [setup]
 */
TLAT_API int tlat_report_add_finding(struct tlat_report *report,
				     const struct tlat_finding *finding);

#define TLAT_REPORT_WHOLE SIZE_MAX /* instead of the index of a result */

/*
 * Record the verdict (enum tlat_verdict) on result number index, or on the
 * whole report, so that it is written as "verdict". Returns 0, -ENOENT when
 * there is no such result, -EINVAL when verdict is none. [setup]
 */
TLAT_API int tlat_report_set_verdict(struct tlat_report *report, size_t index, int verdict);

/*
 * Hold result number index, or every result (TLAT_REPORT_WHOLE), against a budget as
 * tlat_budget_check() does, and record it: the result is written with its "verdict" and with
 * "budget": the expression and the reason and verdict of each term. TLAT_REPORT_WHOLE records the
 * worst as the verdict of the whole. A later budget replaces the one before. Returns enum
 * tlat_verdict; -EINVAL with the bad term, or -ENOENT when there is no such result (or none at
 * all): nothing is recorded then; -ENOMEM. [setup]
 */
TLAT_API int tlat_report_judge(struct tlat_report *report, size_t index, const char *budget,
			       struct tlat_error *reterr);

/*
 * The boot that the report was made in, as /proc/sys/kernel/random/boot_id has it; "": not known.
 * Lives as long as the report. [hot]
 */
TLAT_API const char *tlat_report_boot(const struct tlat_report *report);

/*
 * Where a run stands in a comparison of A and B: written as "design". order is that of the block
 * of runs ("ABBA"), pair counts from 0.
 */
struct tlat_design {
	size_t size;	     /* set by the caller */
	const char *order;   /* NULL: not known */
	const char *command; /* what this side ran; NULL: not known */
	const char *setup;   /* what was run before it; NULL: nothing */
	uint64_t seed;	     /* of the orders; 0: none */
	int32_t side;	     /* 'A' or 'B' */
	int32_t pair;
	int32_t planned;    /* pairs that were planned; 0: not known */
	int32_t looks;	    /* 1: with planned looks at half, three quarters and all of them */
	const char *metric; /* regular expression that found the figure; NULL: not known, or none */
};

#define TLAT_DESIGN(...) ((struct tlat_design){ .size = sizeof(struct tlat_design), __VA_ARGS__ })

/*
 * Record it, all copied. Returns 0; -EINVAL for a size of 0, another side, a pair or planned below
 * 0 or a seed of 2^63 and more; -E2BIG; -ENOMEM: what was recorded before then stays. [setup]
 */
TLAT_API int tlat_report_set_design(struct tlat_report *report, const struct tlat_design *design);
/*
 * Fill *design up to the caller's design->size; strings live as long as the report, or until
 * another design is recorded. Returns 0, -ENOENT when there is none, -EINVAL for a size of 0. [hot]
 */
TLAT_API int tlat_report_design(const struct tlat_report *report, struct tlat_design *design);

/* A single figure that is no latency distribution: "metrics" of a result. */
struct tlat_metric {
	size_t size;	  /* set by the caller */
	const char *name; /* "throughput" */
	const char *unit; /* "ns", "" */
	double value;
	double sd;	/* NAN: not known */
	uint64_t n;	/* how many values it was made of (0: 1) */
	int32_t better; /* -1: lower, 1: higher, 0: neither */
	int32_t reserved;
};

#define TLAT_METRIC(...) ((struct tlat_metric){ .size = sizeof(struct tlat_metric), __VA_ARGS__ })

/*
 * Add a result that is one figure, of what source names (such as a command); copied. Returns 0;
 * -EINVAL for a value that is no number, a source or name of 0 or more than 47 characters, a unit
 * of more than 15, one of them NULL, an sd below 0, an n of 2^63 and more, another better or a size
 * of 0; -E2BIG; -ENOMEM. [setup]
 */
TLAT_API int tlat_report_add_metric(struct tlat_report *report, const char *source,
				    const struct tlat_metric *metric);
/* Metric number index of a result. Returns 0, -ENOENT, -EINVAL for a size of 0. [hot] */
TLAT_API int tlat_result_metric(const struct tlat_result *result, size_t index,
				struct tlat_metric *metric);

/*
 * A copy that lives on its own, in which the threads of each run are one result: latencies of one
 * probe that follow each other with rising thread numbers. Histograms, counts, call costs, returns
 * and dwells are added up exactly; what was measured at the same time shares a time block; findings
 * are kept once; figures, intervals and uncertainty are those of the sum. A result's end is the
 * worst of its ends, its clock that of a merge, its offset spans theirs, raw values stand thread
 * after thread. Other conditions are the first thread's, but a CPU, thread id, relation or interval
 * that the threads do not share, the command that repeats one of them, verdicts and kernel counters
 * are dropped. Other results are copied as they are. Returns 0; -EINVAL when the rates of threads'
 * counters differ by more than 100 ppm; -EOPNOTSUPP in a build without JSON; -ENOMEM. [setup]
 */
TLAT_API int tlat_report_join(struct tlat_report **ret_report, const struct tlat_report *report,
			      struct tlat_error *reterr);

/*
 * One report of the same results made of several: histograms, call costs, returns, dwells and
 * floors are added up exactly, as if all samples had been taken in one run, counts too. The time
 * blocks of all runs are kept, one run behind the other, 64 at most: neighbours of one run become
 * one, and runs themselves where there are more than 64. Intervals and bounds contain what differed
 * between blocks, or between runs where that is more; those of one report stay what they are.
 * Outliers are at the time at which their run lies. Findings are kept once; a result's end is the
 * worst of its ends; verdicts are dropped. The clock of the sum is the worst in each respect
 * (quantum, cost and range of a stamp, error of its rate, to which what the rates differ by adds);
 * a CPU or a command that not all have is dropped. Where it came from is in "merged", which names
 * what sums among the reports were made of. Returns 0; -EINVAL, with the first difference, when the
 * results are not alike: another probe, another placement (but for the CPUs of solo probes),
 * policy, target, settle, interval, timer slack, held CPU latency, self-test, unit, clock source
 * (solo probes: or clocksource of the kernel), or rates of the counter that differ by more than 100
 * ppm, and when a run (by its id) is in more than one of the reports, which would count twice;
 * -EOPNOTSUPP in a build without JSON; -ENOMEM. [setup]
 */
TLAT_API int tlat_report_merge(struct tlat_report **ret_report, struct tlat_report *const *reports,
			       size_t n, struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Storm: many timers that deliver signals at a high rate
 */

enum tlat_storm_preset {
	TLAT_STORM_CUSTOM = 0,
	TLAT_STORM_TIMER = 1,	 /* what stress-ng --timer arms: one REALTIME timer at 1 MHz */
	TLAT_STORM_TIMERMIX = 2, /* --timermix: six POSIX clocks at 100 ns, three interval timers
				  * at 10 us; the period follows the main loop's progress */
};

/* "custom", "timer", "timermix"; NULL otherwise. Static. [hot] */
TLAT_API const char *tlat_storm_preset_name(int preset);
/* The preset of that name, or -EINVAL. [hot] */
TLAT_API int tlat_storm_preset_from_name(const char *name);

enum tlat_storm_handler {
	TLAT_STORM_PLAIN = 0,	 /* count */
	TLAT_STORM_REARMING = 1, /* arm the timer again, as benchmarks did that measured stale
				  * signals; periods of 10 us and more are sat out first, so
				  * that there is one */
};

/* "plain", "rearm"; NULL otherwise. Static. [hot] */
TLAT_API const char *tlat_storm_handler_name(int handler);
/* The handler of that name, or -EINVAL. [hot] */
TLAT_API int tlat_storm_handler_from_name(const char *name);

struct tlat_storm_opts {
	size_t size;
	const char *clocks; /* names and groups, joined by commas: "realtime", "monotonic",
			     * "boottime", "tai", "process-cputime", "thread-cputime",
			     * "itimer-real", "itimer-virtual", "itimer-prof", "timerfd",
			     * "uring", "posix", "itimers", "all" (NULL: "monotonic", or the
			     * preset's) */
	const char *cpus;   /* one worker on each (NULL: the best one) */
	const struct tlat_machine *machine; /* borrowed (NULL: read for this storm) */
	const struct tlat_clock *clock;	    /* borrowed, for the report (NULL: none) */
	const volatile int32_t *stop;	    /* the storm ends early when this is not 0 (NULL:
					     * never); see tlat_storm() */
	int64_t duration_ns;		    /* (0: 2 s) */
	int64_t interval_ns;		    /* period of each timer, 100 ns or more (0: 100 us, or
					     * the preset's) */
	int64_t itimer_interval_ns;	    /* of interval timers, in steps of 1 us (0: interval_ns,
					     * or the preset's) */
	int64_t timers;			    /* of each clock and worker (0: 1) */
	int32_t preset;			    /* enum tlat_storm_preset */
	int32_t handler;		    /* enum tlat_storm_handler */
	int32_t policy;			    /* enum tlat_policy of the workers (0: inherit) */
	int32_t priority;
};

#define TLAT_STORM_OPTS(...)                                                                       \
	((struct tlat_storm_opts){ .size = sizeof(struct tlat_storm_opts), __VA_ARGS__ })

/*
 * Let timers loose on worker processes, each pinned and with one thread, and report one result of
 * kind "storm" for each: per clock requested, expired, delivered and overrun rates, the delivered
 * fraction and the lateness; turns of the main loop, CPU time and switches per delivery, what the
 * kernel's timer interrupt counted. That no expiration was lost or made up is checked; the finding
 * "conservation" says where it was, and "clock-failed" which timers could not go on to the end. If
 * timers leave the main loop no time, the finding "no-progress" is reported. A watchdog process
 * ends workers that do not end themselves (the finding "watchdog"); one that dies is "worker-lost",
 * and its rates are over the time it lived. Either way the end is "error". Signal handlers and
 * timers of the caller are not touched.
 *
 * *stop, here and in tlat_scale() and tlat_noise(), may be set by a signal handler or by another
 * thread while the call lasts; it is seen within a fraction of a second. It is read as
 * __atomic_load_n(stop, __ATOMIC_RELAXED), by the calling thread or by one of the library's own, so
 * set it with __atomic_store_n(stop, 1, __ATOMIC_RELAXED), which is safe in a handler too. A plain
 * store of an aligned int32_t gets there too, but is a data race to C11 and ThreadSanitizer.
 *
 * Returns 0; -EINVAL for options that make no sense; -ENOSYS where neither clone3(2) nor clone(2)
 * gives a pidfd, as before Linux 5.2; what reading the kernel's clocks, and creating processes and
 * timers, said (-EPERM, -EAGAIN, -ENOMEM). [setup]
 */
TLAT_API int tlat_storm(struct tlat_report **ret_report, const struct tlat_storm_opts *opts,
			struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Scale: what many of a kind cost
 */

enum tlat_scale_what {
	TLAT_SCALE_TIMERS = 0,	/* creating, asking and deleting N POSIX timers */
	TLAT_SCALE_WAKEUPS = 1, /* one futex wake of N waiters */
	TLAT_SCALE_PAIRS = 2,	/* wakes in N pairs at a time */
};

/* "timers", "wakeups", "pairs"; NULL otherwise. Static. [hot] */
TLAT_API const char *tlat_scale_what_name(int what);
/* What has that name, or -EINVAL. [hot] */
TLAT_API int tlat_scale_what_from_name(const char *name);

struct tlat_scale_opts {
	size_t size;
	const char *cpus;		    /* timers: one worker on each (NULL: one, the best);
					     * wakeups: the waker's, then the waiters'; pairs: all
					     * that are used (NULL: the pair that a run takes; all
					     * that can be used) */
	const struct tlat_machine *machine; /* borrowed (NULL: read for this) */
	const struct tlat_clock *clock;	    /* borrowed, for the report (NULL: none) */
	const volatile int32_t *stop;	    /* it ends early when this is not 0 (NULL: never);
					     * see tlat_storm() */
	const int64_t *sizes;		    /* N, ascending (NULL: timers 1000, 5000, 20000; wakeups
					     * 1 to 256 and pairs 1 to CPUs x 8 in powers of 2) */
	size_t n_sizes;			    /* (0: sizes is not looked at; at most 32) */
	int64_t rounds;			    /* timers, wakeups: repetitions of each (0: 5; 50) */
	int64_t duration_ns;		    /* pairs: of each (0: 500 ms) */
	int32_t what;			    /* enum tlat_scale_what */
	int32_t threads;		    /* timers: 1: workers are threads of this process, not
					     * processes of their own */
	int32_t policy;			    /* enum tlat_policy (0: inherit) */
	int32_t priority;
};

#define TLAT_SCALE_OPTS(...)                                                                       \
	((struct tlat_scale_opts){ .size = sizeof(struct tlat_scale_opts), __VA_ARGS__ })

/*
 * Measure a cost at several N and report one result of kind "scale": the figures at each N, and for
 * each phase the exponent with which it grows, the slope between logarithms, with its 95 %
 * interval. The finding "scaling" puts it in words. What the limit on queued signals or memory does
 * not allow is scaled down beforehand, with a finding. No timer is left behind. Returns as
 * tlat_storm() does; -EIO when a worker process died, on which the others are ended. [setup]
 */
TLAT_API int tlat_scale(struct tlat_report **ret_report, const struct tlat_scale_opts *opts,
			struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Budget: does the machine meet it?
 */

/* The worse, the larger: the verdict on several is the largest. */
enum tlat_verdict {
	TLAT_PASS = 0,
	TLAT_INCONCLUSIVE = 1,
	TLAT_FAIL = 2,
};

/* "PASS", "INCONCLUSIVE", "FAIL"; NULL otherwise. Static. [hot] */
TLAT_API const char *tlat_verdict_name(int verdict);

/*
 * Check a budget against a result: terms "figure op value" joined by commas,
 * such as "p99<50us, max<=200us, missed=0, n>=1e6, P(>50us)<1e-5". Figures:
 * min p50 p90 p95 p99 p99.9 p99.99 p99.999 max mean missed early overflow
 * rejected disturbed n and P(>TIME); ops < <= = >= >. Quantiles and P pass if
 * the upper 95 % bound meets the limit, fail if the lower one breaks it; the
 * bounds count independent samples only, as tlat_result_rare() does. A
 * degraded measurement turns PASS into INCONCLUSIVE, never FAIL: a finding of
 * the result from TLAT_WARN up, or one of its report that the clock or the load
 * failed (timerlat(7) names them). So does a figure that breaks its limit once
 * expiries that were missed are put back (the corrected view): a quantile, P or
 * the mean; and any of these where they cannot be put back, as joined threads
 * have no one interval. Fewer samples than n demands are INCONCLUSIVE.
 * Returns enum tlat_verdict (the worst of the terms) and the reason, one line
 * per term, in text (may be NULL); -EINVAL with the bad term in reterr, -ENOMEM. result
 * NULL: only the grammar is checked, and TLAT_INCONCLUSIVE returned without
 * text. [setup]
 */
TLAT_API int tlat_budget_check(const char *budget, const struct tlat_result *result, char *text,
			       size_t text_size, struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Noise: what keeps a spinning thread from its CPU
 */

struct tlat_noise_opts {
	size_t size;
	const char *cpus;		    /* one thread on each (NULL: the best one) */
	const struct tlat_machine *machine; /* borrowed (NULL: read for this call) */
	struct tlat_clock *clock;	    /* borrowed (NULL: calibrated for this call) */
	const volatile int32_t *stop;	    /* it ends early when this is not 0 (NULL: never);
					     * see tlat_storm() */
	int64_t duration_ns;		    /* (0: 2 s; at most a day) */
	int64_t threshold_ns;		    /* shorter gaps are none, 100 ns to 1 s (0: 1 us) */
	int32_t policy;			    /* enum tlat_policy of the threads (0: inherit) */
	int32_t priority;
};

#define TLAT_NOISE_OPTS(...)                                                                       \
	((struct tlat_noise_opts){ .size = sizeof(struct tlat_noise_opts), __VA_ARGS__ })

/*
 * Spin on each CPU, see when stamps come late, and report one result of kind "noise" for each CPU:
 * metrics "gap.count", "gap.rate_hz", "gap.share" (of the time) and "gap.max_ns", the same by cause
 * ("gap.switches.count"), and the histogram of lengths, with "gap.p50_ns" from 20 gaps on and
 * "gap.p99_ns" from 1000 on. With no gaps, no maximum is reported. Causes are "interrupts",
 * "switches" (another thread ran), "throttling" (of real-time threads, by the kernel), "steal",
 * "unknown" and "unjudged" (there were too many between two readings of the kernel's counts):
 * switches are known for each gap, the others by what the kernel counted within 20 ms of it, or
 * over all the time when every CPU of the machine spins. A threshold below twice what a stamp
 * takes, or what it advances by, is raised to that: the finding "clock-slow" and metric
 * "threshold_ns" say so. A real-time policy that is refused, or whose threads RLIMIT_RTTIME would
 * end before the duration is over, is the finding "policy-refused", and all spin under SCHED_OTHER.
 * A CPU that is taken away meanwhile ends it, with the finding "cpu-lost" and the end "error".
 * Returns 0; -EINVAL for options that make no sense, and when real-time threads would take every
 * CPU for good; -EAGAIN, -ENOMEM. [setup]
 */
TLAT_API int tlat_noise(struct tlat_report **ret_report, const struct tlat_noise_opts *opts,
			struct tlat_error *reterr);

/* ------------------------------------------------------------------------
 * Comparison: is B slower than A?
 *
 * The unit that is counted is the run, or the boot where no boot had both sides. Figures of units
 * are compared as ratios: the median by the Wilcoxon test, the tail figures together, by one
 * permutation test that allows for testing several. The method is in timerlat(7).
 */

struct tlat_comparison;

/* The worse, the larger: the verdict on several results is the largest. */
enum tlat_compare_verdict {
	TLAT_COMPARE_NONE = 0, /* forced: not comparable; of a tail: nothing was found worse */
	TLAT_COMPARE_IMPROVEMENT = 1,
	TLAT_COMPARE_EQUIVALENT = 2,	  /* less than the threshold, shown */
	TLAT_COMPARE_TRIVIAL = 3,	  /* there is a difference, of less than the threshold */
	TLAT_COMPARE_INDICATIVE = 4,	  /* one unit on a side: no test is possible */
	TLAT_COMPARE_INCONCLUSIVE = 5,	  /* neither, and how many runs would tell */
	TLAT_COMPARE_TAIL_REGRESSION = 6, /* the median aside, the tail is worse */
	TLAT_COMPARE_REGRESSION = 7,
};

/* "REGRESSION", "TAIL-REGRESSION", ...; "NONE"; NULL for any other value. Static. [hot] */
TLAT_API const char *tlat_compare_verdict_name(int verdict);

enum tlat_compare_flags {
	TLAT_COMPARE_FORCE = 1 << 0, /* compare what is not comparable, without a verdict */
};

struct tlat_compare_opts {
	size_t size;
	const char *metric; /* this one of "metrics" only (NULL: latencies and all metrics) */
	double alpha;	    /* false alarms allowed, primary and tail each (0: 0.01) */
	double threshold;   /* smallest shift of the median that matters (0: 0.005) */
	double tail_ratio;  /* smallest ratio of tail rates that matters (0: 1.25) */
	double power;	    /* of the detectable effect that is stated (0: 0.9) */
	uint32_t flags;	    /* enum tlat_compare_flags */
	int32_t reserved;   /* 0 */
};

#define TLAT_COMPARE_OPTS(...)                                                                     \
	((struct tlat_compare_opts){ .size = sizeof(struct tlat_compare_opts), __VA_ARGS__ })

/*
 * Compare the reports of two sides, one report a run. Runs are paired when every report has a
 * design of one session, else their order is that of their beginnings. Returns 0; -EINVAL with the
 * reason when there is nothing to compare, when a run is there twice, also as part of a sum, or
 * both sides of a session are in one, or, unless forced, when probe, placement, policy, target,
 * settle, interval, dwell or clock are not the same, or for metrics their unit, what is better of
 * them, or an option of the command that repeats the result, or a run cannot be relied on: its
 * clock or its load failed, it has a finding of TLAT_ERROR, an error ended it or it was still
 * running. Timer slack, CPU latency, the policy asked for, an injected delay and a chain of
 * additions may differ between the sides, but not within one. -E2BIG; -ENOMEM. Metrics that not
 * every run has, that are not above 0 in all of them, or that grow with time where the runs are not
 * of one length, are left out with a finding; the one that opts name is refused. Nothing of the
 * reports is kept. Neither reads a clock nor any file: the same reports give the same answer.
 * [setup]
 */
TLAT_API int tlat_compare(struct tlat_comparison **ret_comparison, struct tlat_report *const *base,
			  size_t n_base, struct tlat_report *const *next, size_t n_next,
			  const struct tlat_compare_opts *opts, struct tlat_error *reterr);
/* Free it and all strings asked of it. [setup] */
TLAT_API void tlat_comparison_free(struct tlat_comparison *comparison);

/* The verdict on the whole: the worst of the items. [hot] */
TLAT_API int tlat_comparison_verdict(const struct tlat_comparison *comparison);

/* One result that both sides have, or one metric of it; ratios are new over base. */
struct tlat_compare_item {
	size_t size;	    /* set by the caller */
	const char *name;   /* "wake-futex 0->1" */
	const char *metric; /* "p50" or the metric's name */
	const char *unit;
	const char *reason;	 /* why this verdict, in a sentence */
	double base, next;	 /* medians over the units, in that unit */
	double ratio, lo, hi;	 /* at 1 - alpha; infinite, or 0: too few units for a bound */
	double sign_lo, sign_hi; /* the same without any assumption; NAN without pairs */
	double p;		 /* of the rank test, after Holm when there are several items */
	double alpha;		 /* of this item: at a planned look, its part of what was asked */
	double base_sd, next_sd; /* of the logarithms of one side's units; NAN: one unit */
	double sd;    /* of the logarithm of a pair's ratio, or of a unit; NAN: one unit */
	double mde;   /* smallest shift that would have been found, by Holm; infinite: none */
	double drift; /* over the session, both sides; NAN: not known */
	double noise_boot, noise_run, noise_block; /* NAN: not known */
	uint64_t n_base, n_next;		   /* units */
	uint64_t needed; /* units a side that find twice the threshold, by Holm; 0: above a million
			  */
	/* enum tlat_compare_verdict. primary: without the tail. tail: TLAT_COMPARE_TAIL_REGRESSION,
	 * TLAT_COMPARE_NONE: nothing was found to be worse, which reason tells from what so few
	 * units could not show, or TLAT_COMPARE_INCONCLUSIVE: it allows no verdict */
	int32_t verdict, primary, tail;
	int32_t paired;
	int32_t better;	  /* -1: lower, 1: higher, 0: neither */
	int32_t withheld; /* 1: the way it was measured allows no verdict on this metric */
};

/* Returns 0, -ENOENT past the last, -EINVAL for a size of 0. [hot] */
TLAT_API int tlat_comparison_item(const struct tlat_comparison *comparison, size_t index,
				  struct tlat_compare_item *item);

enum tlat_compare_role {
	TLAT_COMPARE_TAIL = 1,	/* of the family that the verdict on the tail is of */
	TLAT_COMPARE_SHIFT = 2, /* one of the ratios along the distribution */
};

/* Another figure of an item. The band holds for all figures of that role together. */
struct tlat_compare_figure {
	size_t size;	   /* set by the caller */
	const char *name;  /* "p99.9", "rate>1.602us", "max", "spread" */
	double quantile;   /* 0..1; NAN: none */
	double base, next; /* geometric means over the units, in unit */
	double ratio, lo, hi;
	double p;	  /* tail: adjusted for the family (and for several items); NAN: shift */
	int32_t role;	  /* enum tlat_compare_role */
	int32_t worse;	  /* 1: significantly worse, -1: better, 0: neither, or no verdict */
	const char *unit; /* "ns", or "1": a share of samples */
};

/* Returns 0, -ENOENT past the last, -EINVAL for a size of 0. [hot] */
TLAT_API int tlat_comparison_figure(const struct tlat_comparison *comparison, size_t item,
				    size_t index, struct tlat_compare_figure *figure);

/*
 * A condition that is not the same on both sides; several values are joined by " | ". Kernel and
 * CPU model are also here, as "(not known)" twice, where reports of neither side know them.
 */
struct tlat_difference {
	const char *name; /* "machine.kernel" */
	const char *base, *next;
};

/* Returns 0 or -ENOENT past the last. [hot] */
TLAT_API int tlat_comparison_difference(const struct tlat_comparison *comparison, size_t index,
					struct tlat_difference *ret_difference);
/* What is to be known of the comparison: order, drift, boots. Returns 0 or -ENOENT. [hot] */
TLAT_API int tlat_comparison_finding(const struct tlat_comparison *comparison, size_t index,
				     struct tlat_finding *ret_finding);

/*
 * All of it as one line of JSON without newline, schema "timerlat-comparison/1"; *ret_text is to be
 * given to free(3). Returns 0, -EOPNOTSUPP in a build without JSON, -ENOMEM. [setup]
 */
TLAT_API int tlat_comparison_format(char **ret_text, const struct tlat_comparison *comparison);

/*
 * The smallest relative shift that n pairs find at alpha with that power when the logarithms of
 * their ratios have standard deviation sd; infinite where so few cannot reject at alpha at all.
 * With several items, each is sure of alpha over their number only (Holm). [hot]
 */
TLAT_API double tlat_compare_mde(double sd, uint64_t n, double alpha, double power);
/* How many pairs find a relative shift of mde; 0: more than a million. [hot] */
TLAT_API uint64_t tlat_compare_pairs(double sd, double mde, double alpha, double power);
/*
 * Whether a planned look is due after n of planned pairs: the part of alpha that may be spent on
 * it, 0 when none is. *ret_next (may be NULL): pairs at the next one. [hot]
 */
TLAT_API double tlat_compare_look(uint64_t n, uint64_t planned, double alpha, uint64_t *ret_next);

#ifdef __cplusplus
}
#endif

#endif /* TIMERLAT_H */
