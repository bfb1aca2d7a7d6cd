/* SPDX-License-Identifier: MIT */
/* run_book.h - what a recording loop keeps of its cycles. */
#ifndef TLAT_RUN_BOOK_H
#define TLAT_RUN_BOOK_H

#include <sched.h>
#include <stdalign.h>

#include "hist.h"
#include "run_break.h"

/* Expirations of a periodic timer, as said by its events and by the timer itself. */
struct tlat_tally {
	uint64_t miscounts; /* events at which the count cannot be right */
	uint64_t counted, expired;
	bool closed; /* both are known */
};

/*
 * One per recording thread; everything it points to is prefaulted. What every cycle needs comes
 * first: each cache line more that a loop touches takes one from the kernel's path, and a wake on
 * the same CPU gets slower by it. A timer's cycle needs the first line, a pair's that of dwell
 * as well.
 */
struct tlat_book {
	alignas(TLAT_CACHE_LINE) struct tlat_hist *latency;
	int64_t least_kept;	      /* of the outliers when full: what is not above it is none */
	uint64_t started;	      /* stamp of the first measured cycle, 0: none yet */
	uint64_t ended;		      /* stamp at the end; solo: of the last event */
	const volatile uint32_t *cpu; /* tlat_cpu_word() of the thread */
	int32_t planned_cpu;	      /* -1: any */
	bool lost_wake;
	bool roams; /* not pinned: planned_cpu is where it was last */
	bool plain; /* a value not above least_kept, on planned_cpu, is only counted */
	struct tlat_counts counts;
	/* NULL where they say nothing */
	alignas(TLAT_CACHE_LINE) struct tlat_hist *dwell;
	struct tlat_hist *call;
	struct tlat_hist *back; /* the probe's second stamp */
	size_t n_raw, max_raw;
	struct tlat_tap *tap;		/* NULL: nobody looks at single values */
	struct tlat_outliers *outliers; /* NULL: do not keep them */
	struct tlat_break *brk;		/* NULL: no value ends the run */
	uint64_t warmup;		/* unmeasured cycles so far */
	uint64_t rests;
	uint64_t stops;	  /* times a side was kept from its CPU, and no sample shows it */
	uint64_t stopped; /* the longest of them, in stamps */
	int64_t *raw;
	double ns_per_unit;
	struct tlat_tally tally;
	int32_t end;   /* enum tlat_end */
	int32_t error; /* negative errno of the call that failed */
};

static_assert(offsetof(struct tlat_book, counts.asked) < TLAT_CACHE_LINE, "a timer needs one line");

/*
 * Where the kernel writes the number of the CPU that the calling thread is on, for rseq(2), which
 * the C library has registered; NULL: nowhere.
 */
const volatile uint32_t *tlat_cpu_word(void);

/* The same number without a call where that is possible. [hot] */
static inline int32_t tlat_book_cpu(const struct tlat_book *book)
{
	return book->cpu ? (int32_t)*book->cpu : sched_getcpu();
}

/* What else there is to a value than its count: it may be kept, be looked at, be an outlier, or be
 * of another CPU. [hot] */
TLAT_HOT void tlat_book_look(struct tlat_book *book, int64_t value, uint64_t at, uint64_t seq,
			     int32_t cpu);

/* Enter one value of cycle or slot seq, begun at a stamp, ended on cpu (-1: not known). [hot] */
static inline void tlat_book_record(struct tlat_book *book, int64_t value, uint64_t at,
				    uint64_t seq, int32_t cpu)
{
	if (!tlat_hist_record_usual(book->latency, value))
		tlat_hist_record(book->latency, value);
	if (TLAT_RARELY(value > book->least_kept || cpu != book->planned_cpu || !book->plain))
		tlat_book_look(book, value, at, seq, cpu);
}

/* Enter a time in which something kept a side from its CPU, beside the samples. [hot] */
void tlat_book_note_stop(struct tlat_book *book, uint64_t length);

/* Offer a value to the largest so far. [hot] */
void tlat_outliers_offer(struct tlat_outliers *outliers, const struct tlat_outlier *candidate);

/* Switches of the calling thread, looked at between cycles. */
struct tlat_census {
	uint64_t voluntary, involuntary; /* at the last look */
	uint64_t waits;			 /* since then */
};

void tlat_census_look(struct tlat_census *census);
/* Add what happened since the last look: waits that never slept, and preemptions. */
void tlat_census_take(struct tlat_census *census, uint64_t *not_asleep, uint64_t *preempted);

#endif /* TLAT_RUN_BOOK_H */
