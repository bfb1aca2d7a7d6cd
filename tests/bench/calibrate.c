// SPDX-License-Identifier: MIT
/*
 * calibrate.c - how long calibration takes: opening the clock, and the offset of one pair of CPUs
 * where there are two. Wall time, as that is what a user waits for. A bench prints, it does not
 * judge.
 *
 *	calibrate [ROUNDS]		(default 9)
 */
#include <time.h>

#include "compare_stats.h"
#include "figure.h"
#include "timerlat.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fail(const struct tlat_error *error)
{
	fprintf(stderr, "calibrate: %s\n", error->text);
	exit(2);
}

static double once_ms(struct tlat_machine *machine, const int32_t cpus[2])
{
	struct tlat_clock_offset offset;
	double begin_ms = now_ms(), end_ms;
	struct tlat_clock *clock;
	struct tlat_error error;

	if (tlat_clock_open(&clock, machine, TLAT_CLOCK_AUTO, &error) < 0)
		fail(&error);
	if (cpus[0] != cpus[1] && tlat_clock_pair(clock, cpus[0], cpus[1], &offset, &error) < 0)
		fail(&error);
	end_ms = now_ms();
	tlat_clock_close(clock);
	return end_ms - begin_ms;
}

int main(int argc, char **argv)
{
	size_t rounds = figure_rounds(argc, argv, 9);
	struct tlat_machine *machine;
	struct tlat_error error;
	double ms[FIGURE_ROUNDS_MAX];
	const char *name;
	int32_t cpus[2];

	if (tlat_machine_open(&machine, NULL, &error) < 0 ||
	    tlat_machine_choose(machine, true, cpus, &error) < 0)
		fail(&error);
	for (size_t i = 0; i < rounds; i++)
		ms[i] = once_ms(machine, cpus);
	name = cpus[0] == cpus[1] ? "calibration, one CPU" : "calibration of a pair of CPUs";
	figure_write(&(struct figure){
		.bench = "calibrate", .name = name, .unit = "ms", .ours = ms, .n = rounds });
	printf("%s: %.0f ms\n", name, tlat_median(ms, rounds));
	tlat_machine_close(machine);
	return 0;
}
