/* SPDX-License-Identifier: MIT */
/*
 * figure.h - for benches: what was measured in each round, as a line of JSON for tests/bench/run,
 * in the file that TLAT_BENCH_JSON names. Medians, spreads and verdicts are made there; figures.py
 * is the same for benches in Python.
 */
#ifndef TLAT_TESTS_BENCH_FIGURE_H
#define TLAT_TESTS_BENCH_FIGURE_H

#include <stdio.h>
#include <stdlib.h>

#define FIGURE_ROUNDS_MAX 99

/*
 * A peer has a value for each of ours, taken next to it, or one more: before the first and after
 * each of ours. Without a peer there is only the bar to hold ours against.
 */
struct figure {
	const char *bench, *name, *unit;
	const double *ours;
	size_t n;
	const char *peer_name; /* NULL: no peer */
	const double *peer;
	size_t n_peer;
	const char *note; /* what one has to know about it; NULL: nothing */
};

static inline void figure_values(FILE *file, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%s%.9g", i ? "," : "[", values[i]);
	fputs("]", file);
}

static inline void figure_write(const struct figure *figure)
{
	const char *path = getenv("TLAT_BENCH_JSON");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!path)
		return;
	if (!file) {
		perror(path);
		exit(2);
	}
	fprintf(file,
		"{\"bench\":\"%s\",\"figure\":\"%s\",\"unit\":\"%s\",\"ours\":", figure->bench,
		figure->name, figure->unit);
	figure_values(file, figure->ours, figure->n);
	if (figure->peer_name) {
		fprintf(file, ",\"peer_name\":\"%s\",\"peer\":", figure->peer_name);
		figure_values(file, figure->peer, figure->n_peer);
	}
	if (figure->note)
		fprintf(file, ",\"note\":\"%s\"", figure->note);
	fputs("}\n", file);
	fclose(file);
}

/* Of the command line: a bench [ROUNDS]. */
static inline size_t figure_rounds(int argc, char **argv, int normal)
{
	int rounds = argc > 1 ? atoi(argv[1]) : normal;

	if (rounds < 1 || rounds > FIGURE_ROUNDS_MAX) {
		fprintf(stderr, "usage: %s [ROUNDS], 1 to %d\n", argv[0], FIGURE_ROUNDS_MAX);
		exit(2);
	}
	return (size_t)rounds;
}

#endif /* TLAT_TESTS_BENCH_FIGURE_H */
