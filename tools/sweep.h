/* SPDX-License-Identifier: MIT */
/*
 * sweep.h - one option that takes several values, one run each.
 */
#ifndef TLAT_SWEEP_H
#define TLAT_SWEEP_H

#include <timerlat.h>

#define TLAT_SWEEP_MAX 256

enum tlat_sweep_kind { TLAT_SWEEP_NONE, TLAT_SWEEP_SETTLE, TLAT_SWEEP_CPU_LATENCY };

struct tlat_sweep {
	enum tlat_sweep_kind kind;
	size_t n; /* at least 1; without a sweep one point that changes nothing */
	int64_t points_ns[TLAT_SWEEP_MAX]; /* TLAT_DEFAULT: as without the option */
};

/* text is "settle=0,100ns,1us" or "cpu-latency=default,0"; NULL: no sweep. 0 or -EINVAL with the
 * bad part and the remedy. */
int tlat_sweep_parse(struct tlat_sweep *sweep, const char *text, struct tlat_error *reterr);

/* Put point number i into the options of a run. */
void tlat_sweep_apply(const struct tlat_sweep *sweep, size_t i, struct tlat_run_opts *opts);

/* The largest settle time of all points, or fallback_ns when settle is not swept. */
int64_t tlat_sweep_max_settle_ns(const struct tlat_sweep *sweep, int64_t fallback_ns);

#endif /* TLAT_SWEEP_H */
