// SPDX-License-Identifier: MIT
/*
 * compare_oracle.c - the statistics of a comparison, from a pipe to a pipe, so that
 * compare_scipy.py can hold them against another implementation. A line in: a word, alpha, n and m,
 * then n + m values. A line out: figures to the last bit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_stats.h"

#define VALUES_MAX 4096

static double values[VALUES_MAX];

static void print(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%.17g%c", v[i], i + 1 < n ? ' ' : '\n');
}

static void location(const struct tlat_location *l)
{
	const double v[] = { l->p,	  l->estimate, l->lo,	   l->hi, l->equal_lo,
			     l->equal_hi, l->sign_lo,  l->sign_hi, l->sd };

	print(v, sizeof(v) / sizeof(*v));
}

static void answer(const char *word, double alpha, size_t n, size_t m)
{
	double out[TLAT_FAMILY_MAX];
	struct tlat_location l;
	struct tlat_trend t;

	if (!strcmp(word, "paired") && tlat_location_paired(values, n, alpha, &l) == 0) {
		location(&l);
	} else if (!strcmp(word, "unpaired") &&
		   tlat_location_unpaired(values, n, values + n, m, alpha, &l) == 0) {
		location(&l);
	} else if (!strcmp(word, "sign")) {
		out[0] = tlat_sign_p(values, n);
		print(out, 1);
	} else if (!strcmp(word, "family")) { /* n units of m figures, paired */
		tlat_family_p(&(struct tlat_family){ values, n, m, 0, true }, out);
		print(out, m);
	} else if (!strcmp(word, "labels")) { /* the first half of n units is one side's */
		tlat_family_p(&(struct tlat_family){ values, n, m, n / 2, false }, out);
		print(out, m);
	} else if (!strcmp(word, "holm")) {
		tlat_holm(values, n);
		print(values, n);
	} else if (!strcmp(word, "student")) { /* tail, freedom */
		out[0] = tlat_student_quantile(values[0], values[1]);
		print(out, 1);
	} else if (!strcmp(word, "trend") && tlat_trend(values, n, &t) == 0) {
		const double v[] = { t.p, t.total, t.lag1 };

		print(v, 3);
	} else {
		exit(1);
	}
}

int main(void)
{
	char word[16];
	double alpha;
	size_t n, m;

	while (scanf("%15s %lf %zu %zu", word, &alpha, &n, &m) == 4) {
		size_t count = strcmp(word, "family") && strcmp(word, "labels") ? n + m : n * m;

		if (count > VALUES_MAX || m > VALUES_MAX)
			return 1;
		for (size_t i = 0; i < count; i++)
			if (scanf("%lf", &values[i]) != 1)
				return 1;
		answer(word, alpha, n, m);
	}
	return 0;
}
