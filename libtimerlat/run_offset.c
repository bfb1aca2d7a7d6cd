// SPDX-License-Identifier: MIT
/*
 * run_offset.c - how the clock differs from the waker's CPU to the waiter's: measured before the
 * loops and again after them, for counters that drift apart or were stepped meanwhile make every
 * one-way figure wrong by an unknown amount.
 */
#include <math.h>
#include <string.h>

#include "run_control.h"

/* Whether figures are differences of stamps of two CPUs. A round trip has both on one. */
static bool is_across(const struct tlat_run *run)
{
	return run->place.kick >= 0 && run->place.kick != run->place.wait &&
	       !(run->opts.flags & TLAT_RUN_ROUND_TRIP);
}

/* Whether it was found out. Not to know is no reason to distrust what was measured. */
static bool check_order(struct tlat_run *run)
{
	int disorder = tlat_clock_check_order(run->clock, run->place.cpus, (size_t)run->place.n);

	if (disorder > 0)
		tlat_findings_add(&run->findings, TLAT_ERROR, "clock-order",
				  "use --clock clock_gettime or --round-trip",
				  "the clock ran backwards between CPUs %d time%s", disorder,
				  disorder == 1 ? "" : "s");
	if (disorder < 0)
		tlat_findings_add(&run->of_result, TLAT_INFO, "clock-unchecked", NULL,
				  "whether stamps of CPUs %d and %d are in order could not be "
				  "checked: %s",
				  run->place.kick, run->place.wait, strerror(-disorder));
	return disorder >= 0;
}

void tlat_run_offset_begin(struct tlat_run *run)
{
	struct tlat_error why;

	if (!is_across(run))
		return;
	run->has_offset =
		tlat_clock_pair_known(run->clock, run->place.kick, run->place.wait, &run->offset) ||
		tlat_clock_pair(run->clock, run->place.kick, run->place.wait, &run->offset, &why) ==
			0;
	if (!run->has_offset)
		tlat_findings_add(&run->of_result, TLAT_WARN, "clock-offset", "use --round-trip",
				  "%s", why.text);
	run->ordered = check_order(run);
}

/* What both intervals allow; false: nothing, and known is as before. */
static bool narrow(struct tlat_clock_offset *known, const struct tlat_clock_offset *later)
{
	double lo_ns = fmax(known->lo_ns, later->lo_ns), hi_ns = fmin(known->hi_ns, later->hi_ns);

	if (lo_ns > hi_ns)
		return false;
	known->lo_ns = lo_ns;
	known->hi_ns = hi_ns;
	known->rtt_min_ns = fmin(known->rtt_min_ns, later->rtt_min_ns);
	return true;
}

static void note_change(struct tlat_run *run, const char *text)
{
	tlat_findings_add(&run->of_result, TLAT_ERROR, "clock-offset-changed",
			  "use --clock clock_gettime or --round-trip", "%s", text);
}

static void measure_again(struct tlat_run *run)
{
	struct tlat_clock_offset before = run->offset, now;
	struct tlat_error why;
	int error = tlat_clock_pair(run->clock, run->place.kick, run->place.wait, &now, &why);

	if (!error && !narrow(&run->offset, &now))
		error = tlat_fail(
			&why, -ERANGE,
			"CPUs %d and %d: their counters were %.0f to %.0f ns apart before "
			"the loops and %.0f to %.0f ns after them",
			before.a, before.b, before.lo_ns, before.hi_ns, now.lo_ns, now.hi_ns);
	if (error == -ERANGE)
		note_change(run, why.text);
	else if (error)
		tlat_findings_add(
			&run->of_result, TLAT_INFO, "clock-unchecked", NULL,
			"the offset of the counters could not be measured again after the "
			"loops: %s",
			why.text);
}

/* A run that was broken off may have lost one of its CPUs. */
void tlat_run_offset_end(struct tlat_run *run)
{
	if (!is_across(run) || run->broken)
		return;
	if (run->has_offset)
		measure_again(run);
	if (run->ordered)
		check_order(run);
}
