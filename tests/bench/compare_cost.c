// SPDX-License-Identifier: MIT
/*
 * compare_cost.c - what a verdict costs in CPU time: all flips of 20 pairs for a family of 8
 * figures, a comparison of 2 x 20 reports that are in memory, and "tlat compare" of the same in two
 * files. A bench prints, it does not judge.
 *
 *	TLAT=build/tlat compare_cost [ROUNDS]		(default 21)
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "../report_sample.h"
#include "../simulate.h"
#include "figure.h"

#define RUNS 20

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void flips(double *ret_ms, size_t rounds)
{
	double v[20 * 8], p[8];
	uint64_t seed = 1;

	for (size_t i = 0; i < 20 * 8; i++)
		v[i] = sim_normal(&seed);
	for (size_t round = 0; round < rounds; round++) {
		double begin_ms = cpu_ms();

		tlat_family_p(&(struct tlat_family){ v, 20, 8, 0, true }, p);
		ret_ms[round] = cpu_ms() - begin_ms;
	}
}

static void make_reports(struct tlat_report **base, struct tlat_report **next)
{
	for (size_t i = 0; i < 2 * RUNS; i++) {
		struct tlat_report *report = sample_report();

		tlat_report_add(report, sample_pair(20000, i));
		tlat_report_set_design(
			report, &TLAT_DESIGN(.side = i % 2 ? 'B' : 'A', .pair = (int32_t)i / 2));
		tlat_report_started(report, INT64_C(1767225600000000000) + (int64_t)(i ^ (i / 2)));
		*(i % 2 ? &next[i / 2] : &base[i / 2]) = report;
	}
}

static void in_memory(struct tlat_report **base, struct tlat_report **next, double *ret_ms,
		      size_t rounds)
{
	for (size_t round = 0; round < rounds; round++) {
		double begin_ms = cpu_ms();
		struct tlat_comparison *c;
		struct tlat_error error;

		if (tlat_compare(&c, base, RUNS, next, RUNS, NULL, &error) < 0)
			printf("refused: %s\n", error.text);
		else
			tlat_comparison_free(c);
		ret_ms[round] = cpu_ms() - begin_ms;
	}
}

/* CPU time of a whole "tlat compare", from exec to exit. */
static double tool_ms(const char *tlat, const char *base, const char *next)
{
	struct rusage usage;
	pid_t child = fork();
	int status;

	if (child == 0) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execl(tlat, tlat, "compare", base, next, NULL);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 2 || WEXITSTATUS(status) == 127) {
		fprintf(stderr, "compare_cost: %s compare gave no verdict\n", tlat);
		exit(2);
	}
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void write_reports(const char *path, struct tlat_report **reports)
{
	struct tlat_error error;

	for (size_t i = 0; i < RUNS; i++)
		if (tlat_report_write(reports[i], path, TLAT_WRITE_APPEND, &error) < 0) {
			fprintf(stderr, "compare_cost: %s\n", error.text);
			exit(2);
		}
}

static void in_files(struct tlat_report **base, struct tlat_report **next, double *ret_ms,
		     size_t rounds)
{
	char folder[] = "/tmp/compare_cost-XXXXXX", base_path[64], next_path[64];
	const char *tlat = getenv("TLAT");

	if (!tlat || !mkdtemp(folder)) {
		fprintf(stderr, "compare_cost: TLAT is to be the path of tlat, /tmp writable\n");
		exit(2);
	}
	snprintf(base_path, sizeof(base_path), "%s/base.jsonl", folder);
	snprintf(next_path, sizeof(next_path), "%s/next.jsonl", folder);
	write_reports(base_path, base);
	write_reports(next_path, next);
	for (size_t round = 0; round < rounds; round++)
		ret_ms[round] = tool_ms(tlat, base_path, next_path);
	unlink(base_path);
	unlink(next_path);
	rmdir(folder);
}

static void show(const char *name, const double *ms, size_t rounds)
{
	figure_write(&(struct figure){
		.bench = "compare_cost", .name = name, .unit = "ms", .ours = ms, .n = rounds });
	printf("%s: %.2f ms of CPU\n", name, tlat_median(ms, rounds));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	size_t rounds = figure_rounds(argc, argv, 21);
	struct tlat_report *base[RUNS], *next[RUNS];
	double ms[FIGURE_ROUNDS_MAX];

	flips(ms, rounds);
	show("2^20 flips of 8 figures", ms, rounds);
	make_reports(base, next);
	in_memory(base, next, ms, rounds);
	show("compare 2 x 20 reports in memory", ms, rounds);
	in_files(base, next, ms, rounds);
	show("compare 2 x 20 report files", ms, rounds);
	for (size_t i = 0; i < RUNS; i++) {
		tlat_report_free(base[i]);
		tlat_report_free(next[i]);
	}
	return 0;
}
