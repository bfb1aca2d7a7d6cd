/* SPDX-License-Identifier: MIT */
/*
 * uncertainty.h - how far a figure may be from the truth: one component per
 * cause, each as a standard uncertainty (k = 1) in ns. Pure arithmetic.
 */
#ifndef TLAT_UNCERTAINTY_H
#define TLAT_UNCERTAINTY_H

#include "clock.h"

enum tlat_component {
	TLAT_U_QUANTUM,	  /* stamps advance in steps */
	TLAT_U_READ,	  /* the cost of a stamp varies */
	TLAT_U_ORDERING,  /* where inside its cost a stamp is taken */
	TLAT_U_OFFSET,	  /* the two CPUs' counters may differ */
	TLAT_U_FREQUENCY, /* ticks per second are known to so many ppb */
	TLAT_U_BIN,	  /* a bin of the histogram has a width */
	TLAT_U_SAMPLING,  /* other samples would have given another figure */
	TLAT_U_COUNT,
};

/* Names as in the report, indexed by the enum: "quantum_ns". */
extern const char *const tlat_component_names[TLAT_U_COUNT];

struct tlat_uncertainty_input {
	const struct tlat_calibration *clock;
	const struct tlat_clock_offset *offset; /* NULL: both stamps from one CPU */
	uint64_t hz;				/* unit of the histogram */
	int64_t slew_ppb;			/* solo: bound of CLOCK_MONOTONIC's rate error */
	bool solo;   /* one clock_gettime stamp against a programmed time */
	bool exact;  /* the value was kept itself (min, max), not its bin */
	bool locked; /* stamps may keep one phase to the clock's steps */
	double value_ns;
	double lo_ns, hi_ns; /* 95 % interval from sampling; NAN: none */
	double n;	     /* independent samples behind an estimate; 1: a single value */
};

struct tlat_uncertainty {
	double component_ns[TLAT_U_COUNT];
	double u_ns;	 /* expanded, k = 2 */
	double worst_ns; /* linear sum of the bounds, and of k times what has none; >= u_ns */
};

void tlat_uncertainty(const struct tlat_uncertainty_input *in, struct tlat_uncertainty *ret);

/*
 * Make into bound what stamps of from are worth too; both are of one source. rates_apart: relative,
 * the rate that their ticks are counted by against that of from.
 */
void tlat_calibration_widen(struct tlat_calibration *into, const struct tlat_calibration *from,
			    double rates_apart);

#endif /* TLAT_UNCERTAINTY_H */
