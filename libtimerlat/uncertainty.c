// SPDX-License-Identifier: MIT
/*
 * uncertainty.c - the budget of uncertainty of one figure, after the GUM: bounds become standard
 * uncertainties (a / sqrt 3 where nothing more is known than the bound a), those add in
 * quadrature, and the sum is expanded by K. Nothing is subtracted from any figure: the cost of
 * the stamps stays in it, and the ordering component says how much that can be.
 */
#include <math.h>
#include <stddef.h>

#include "hist.h"
#include "uncertainty.h"

#define PPB 1e-9
#define K   2	     /* expansion of the sum */
#define Z95 1.959964 /* a 95 % interval is this many standard deviations either side */

const char *const tlat_component_names[TLAT_U_COUNT] = {
	[TLAT_U_QUANTUM] = "quantum_ns",     [TLAT_U_READ] = "read_ns",
	[TLAT_U_ORDERING] = "ordering_ns",   [TLAT_U_OFFSET] = "offset_ns",
	[TLAT_U_FREQUENCY] = "frequency_ns", [TLAT_U_BIN] = "bin_ns",
	[TLAT_U_SAMPLING] = "sampling_ns",
};

/* One component: its standard uncertainty, and the bound that goes into the linear sum. */
struct part {
	double u_ns, bound_ns;
};

static struct part rectangular(double bound_ns)
{
	return (struct part){ bound_ns / sqrt(3), bound_ns };
}

/*
 * A stamp is off by up to one step, evenly: q / sqrt 12; two stamps: q / sqrt 6. An estimate over n
 * samples with independent phases averages it out; a locked phase shifts all samples alike.
 */
static struct part quantum(const struct tlat_uncertainty_input *in)
{
	double q = in->clock->quantum_ns, square;

	if (in->solo) {
		q = fmax(q, 1); /* clock_gettime counts whole nanoseconds */
		return (struct part){ q / sqrt(12), q };
	}
	square = q * q / (6 * fmax(in->n, 1));
	if (in->locked && in->n > 1)
		square += q * q / 12;
	return (struct part){ sqrt(square), q };
}

/* Half the range of a pair of stamps back to back; a lone stamp has half of that. */
static struct part read_cost(const struct tlat_uncertainty_input *in)
{
	double half_ns = fmax(in->clock->read_p99_ns - in->clock->read_min_ns, 0) / 2;

	return rectangular(in->solo ? half_ns / 2 : half_ns);
}

static double lone_cost_ns(const struct tlat_calibration *clock)
{
	return clock->gettime_cost_ns > 0 ? clock->gettime_cost_ns : clock->read_cost_ns;
}

static struct part ordering(const struct tlat_uncertainty_input *in)
{
	return rectangular(in->solo ? lone_cost_ns(in->clock) : in->clock->read_cost_ns);
}

static struct part offset(const struct tlat_uncertainty_input *in)
{
	if (in->solo || !in->offset)
		return (struct part){ 0 };
	return rectangular(fmax(fabs(in->offset->lo_ns), fabs(in->offset->hi_ns)));
}

/* Taken as it is, not over sqrt 3: one calibration serves the whole run. */
static struct part frequency(const struct tlat_uncertainty_input *in)
{
	double ppb = (double)in->clock->hz_error_ppb + (in->solo ? (double)in->slew_ppb : 0);
	double error_ns = ppb * PPB * fabs(in->value_ns);

	return (struct part){ error_ns, error_ns };
}

static struct part bin(const struct tlat_uncertainty_input *in)
{
	double unit_ns = (double)TLAT_NSEC_PER_SEC / (double)in->hz;
	double width_ns;

	if (in->exact)
		return (struct part){ 0 };
	width_ns = fmax(unit_ns, fabs(in->value_ns) / 1024);
	return (struct part){ width_ns / sqrt(12), width_ns };
}

static struct part sampling(const struct tlat_uncertainty_input *in)
{
	double half_ns = (in->hi_ns - in->lo_ns) / 2;

	if (!isfinite(half_ns))
		return (struct part){ 0 };
	/* There is no bound: the linear sum takes the expanded term. */
	return (struct part){ half_ns / Z95, K * half_ns / Z95 };
}

static void widen_stamps(struct tlat_calibration *into, const struct tlat_calibration *from)
{
	if (from->quantum_ns > into->quantum_ns) {
		into->quantum_ticks = from->quantum_ticks;
		into->quantum_ns = from->quantum_ns;
		into->quantum_share = from->quantum_share;
	}
	into->gettime_cost_ns = fmax(lone_cost_ns(into), lone_cost_ns(from));
	into->read_cost_ns = fmax(into->read_cost_ns, from->read_cost_ns);
	into->read_min_ns = fmin(into->read_min_ns, from->read_min_ns);
	into->read_p99_ns = fmax(into->read_p99_ns, from->read_p99_ns);
	into->vdso &= from->vdso;
	into->invariant &= from->invariant;
	into->hypervisor |= from->hypervisor;
}

/* The gap floor is of one CPU: the worse one, whole. */
static void widen_gap(struct tlat_calibration *into, const struct tlat_calibration *from)
{
	if (!from->gap_known || (into->gap_known && into->gap_max_ns >= from->gap_max_ns))
		return;
	into->gap_known = true;
	into->gap_cpu = from->gap_cpu;
	into->gap_duration_ms = from->gap_duration_ms;
	into->gap_threshold_ns = from->gap_threshold_ns;
	into->gap_rate_hz = from->gap_rate_hz;
	into->gap_max_ns = from->gap_max_ns;
	into->gap_count = from->gap_count;
}

void tlat_calibration_widen(struct tlat_calibration *into, const struct tlat_calibration *from,
			    double rates_apart)
{
	int64_t error_ppb = from->hz_error_ppb + (int64_t)ceil(rates_apart / PPB);

	if (error_ppb > into->hz_error_ppb)
		into->hz_error_ppb = error_ppb;
	widen_stamps(into, from);
	widen_gap(into, from);
	into->end_checked &= from->end_checked;
	if (fabs(from->end_drift_ppm) > fabs(into->end_drift_ppm))
		into->end_drift_ppm = from->end_drift_ppm;
}

void tlat_uncertainty(const struct tlat_uncertainty_input *in, struct tlat_uncertainty *ret)
{
	const struct part parts[TLAT_U_COUNT] = {
		[TLAT_U_QUANTUM] = quantum(in),	    [TLAT_U_READ] = read_cost(in),
		[TLAT_U_ORDERING] = ordering(in),   [TLAT_U_OFFSET] = offset(in),
		[TLAT_U_FREQUENCY] = frequency(in), [TLAT_U_BIN] = bin(in),
		[TLAT_U_SAMPLING] = sampling(in),
	};
	double square = 0;

	ret->worst_ns = 0;
	for (size_t i = 0; i < TLAT_U_COUNT; i++) {
		ret->component_ns[i] = parts[i].u_ns;
		ret->worst_ns += parts[i].bound_ns;
		square += parts[i].u_ns * parts[i].u_ns;
	}
	ret->u_ns = K * sqrt(square);
	/* Where one bound outweighs all others, expansion leads beyond it: K / sqrt 3 > 1. */
	ret->worst_ns = fmax(ret->worst_ns, ret->u_ns);
}
