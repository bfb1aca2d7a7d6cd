// SPDX-License-Identifier: MIT
/*
 * compare_cost.c - what a verdict costs: all flips of 20 pairs for a family of 8 figures (bar: 20
 * ms), and a comparison of 2 x 20 reports once they are in memory. The medians of the rounds are
 * printed; "tlat compare" on files adds reading them. A bench prints, it does not judge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

#include "../report_sample.h"
#include "../simulate.h"

#define ROUNDS 21
#define RUNS   20

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void flips(double *ret_ms)
{
	double v[20 * 8], p[8];
	uint64_t seed = 1;

	for (size_t i = 0; i < 20 * 8; i++)
		v[i] = sim_normal(&seed);
	for (int round = 0; round < ROUNDS; round++) {
		double begin_ms = cpu_ms();

		tlat_family_p(&(struct tlat_family){ v, 20, 8, 0, true }, p);
		ret_ms[round] = cpu_ms() - begin_ms;
	}
}

static void reports(double *ret_ms)
{
	struct tlat_report *base[RUNS], *next[RUNS];

	for (size_t i = 0; i < 2 * RUNS; i++) {
		struct tlat_report *report = sample_report();

		tlat_report_add(report, sample_pair(20000, i));
		tlat_report_design(report,
				   &TLAT_DESIGN(.side = i % 2 ? 'B' : 'A', .pair = (int32_t)i / 2));
		tlat_report_started(report, INT64_C(1767225600000000000) + (int64_t)(i ^ (i / 2)));
		*(i % 2 ? &next[i / 2] : &base[i / 2]) = report;
	}
	for (int round = 0; round < ROUNDS; round++) {
		double begin_ms = cpu_ms();
		struct tlat_comparison *c;
		struct tlat_error error;

		if (tlat_compare(&c, base, RUNS, next, RUNS, NULL, &error) < 0)
			printf("refused: %s\n", error.text);
		else
			tlat_comparison_free(c);
		ret_ms[round] = cpu_ms() - begin_ms;
	}
	for (size_t i = 0; i < RUNS; i++) {
		tlat_report_free(base[i]);
		tlat_report_free(next[i]);
	}
}

int main(void)
{
	double ms[ROUNDS];

	flips(ms);
	printf("2^20 flips x 8 figures: %.2f ms\n", tlat_median(ms, ROUNDS));
	reports(ms);
	printf("comparison of 2 x %d reports in memory: %.1f ms\n", RUNS, tlat_median(ms, ROUNDS));
	return 0;
}
