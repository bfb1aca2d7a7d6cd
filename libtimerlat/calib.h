/* SPDX-License-Identifier: MIT */
/*
 * calib.h - the arithmetic of calibration: what stamps say about the clock that
 * made them. Pure: no clock is read and nothing is allocated here, so that all
 * of it is tested against synthetic clocks.
 */
#ifndef TLAT_CALIB_H
#define TLAT_CALIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reading of the reference clock between two readings of the counter. */
struct tlat_bracket {
	uint64_t before_ticks;
	uint64_t ref_ns;
	uint64_t after_ticks;
};

/* The tightest of n brackets, the first among equals; n is at least 1. */
const struct tlat_bracket *tlat_calib_tightest(const struct tlat_bracket *brackets, size_t n);

struct tlat_calib_rate {
	uint64_t hz;
	int64_t error_ppb;  /* the true rate is within this of hz, guaranteed */
	double width_ns[2]; /* of the anchors */
	double span_ns;	    /* between them */
};

/*
 * The counter's rate from two anchors of a counter that advances in steps of
 * quantum_ticks. Returns 0, or -ENODATA when they do not
 * carry one: a counter that stands still or runs backwards, anchors in the
 * wrong order.
 */
int tlat_calib_rate(const struct tlat_bracket *first, const struct tlat_bracket *last,
		    double quantum_ticks, struct tlat_calib_rate *ret_rate);

struct tlat_calib_quantum {
	double ticks;	      /* step in which stamps advance */
	double concentration; /* Rayleigh's R at that step, 0..1 */
	double share;	      /* of the stamps, on the grid of that step */
};

/*
 * The step in which the counter advances, from n >= 2 stamps in the order in
 * which one thread took them, separated by work of random length. A clock that
 * moved fewer than 16 times is given its largest step, concentration 0.
 */
void tlat_calib_quantum(const uint64_t *stamps_ticks, size_t n,
			struct tlat_calib_quantum *ret_quantum);

struct tlat_calib_cost {
	double min_ticks, median_ticks, p99_ticks, mean_ticks;
};

/* Order statistics (rank ceil(p n)) of n >= 1 costs, which are sorted in place. */
void tlat_calib_cost(uint64_t *costs_ticks, size_t n, struct tlat_calib_cost *ret_cost);

/* One exchange: stamped by the asker, the answerer, the asker again. */
struct tlat_exchange {
	uint64_t asked_ticks;
	uint64_t answered_ticks;
	uint64_t heard_ticks;
};

/* What exchanges say about (counter of b) - (counter of a); starts as TLAT_CALIB_OFFSET_ANY. */
struct tlat_calib_offset {
	int64_t lo_ticks, hi_ticks;
	int64_t rtt_min_ticks;
};

#define TLAT_CALIB_OFFSET_ANY ((struct tlat_calib_offset){ -INT64_MAX, INT64_MAX, INT64_MAX })

/* Narrow offset by one exchange that a asked, or that b asked. */
void tlat_calib_offset_add(struct tlat_calib_offset *offset, const struct tlat_exchange *exchange,
			   bool b_asked);

/* Narrow offset by another interval of the same pair. */
void tlat_calib_offset_intersect(struct tlat_calib_offset *offset,
				 const struct tlat_calib_offset *other);

/* The interval seen from b: of (counter of a) - (counter of b). */
struct tlat_calib_offset tlat_calib_offset_mirror(const struct tlat_calib_offset *offset);

/*
 * Stamps are cut down to a multiple of the quantum, so each difference may be
 * one quantum off: widen the interval by that. lo > hi afterwards is a
 * contradiction that the quantum does not explain.
 */
struct tlat_calib_offset tlat_calib_offset_widen(const struct tlat_calib_offset *offset,
						 double quantum_ticks);

/* One entry of the ordering check: seq says in which order the stamps were taken. */
struct tlat_order_entry {
	uint64_t seq;
	uint64_t ticks;
};

/* How many stamps are earlier than the one taken before; entries are sorted in place. */
size_t tlat_calib_order(struct tlat_order_entry *entries, size_t n);

#endif /* TLAT_CALIB_H */
