// SPDX-License-Identifier: MIT
/*
 * compare_family.c - several figures of the same runs, tested together.
 *
 * When nothing differs, which run of a pair was A is a coin toss: every flip of the signs was as
 * probable as the one seen. A figure is significant when its mean is further out than the furthest
 * of all figures is in all but a share alpha of the flips; how the figures hang together is in the
 * flips themselves. Scaled by the root of its sum of squares, which no flip changes, the sum of a
 * figure's signed values orders flips as its t-statistic does, so that a flip costs one addition
 * for each figure. Without pairs the labels of the runs are changed instead, and the same holds
 * for values around their common mean.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_stats.h"

#define NARROW		 8 /* figures of a family that all flips are made for */
#define SEED		 UINT64_C(0x9e3779b97f4a7c15)
/* The statistic seen must count as reached by its own flip, whose sum was added differently. */
#define SLACK		 1e-9
/* Bands need no more: they are printed, not decided by. */
#define BAND_EXACT_PAIRS 12
#define BAND_FLIPS	 5000

/* What becomes of each flip: who is reached by the furthest, or the furthest itself. */
struct sink {
	double seen[TLAT_FAMILY_MAX];
	uint64_t reached[TLAT_FAMILY_MAX], flips;
	double *furthest;
};

/* width is a constant of the caller: the loops unroll. */
static inline __attribute__((always_inline)) void note(struct sink *sink, const double *sum,
						       size_t width)
{
	double most = 0;

	for (size_t j = 0; j < width; j++)
		most = fabs(sum[j]) > most ? fabs(sum[j]) : most;
	if (sink->furthest)
		sink->furthest[sink->flips] = most;
	for (size_t j = 0; j < width; j++)
		sink->reached[j] += most >= sink->seen[j];
	sink->flips++;
}

/* Gray code: each flip turns one sign. The first unit keeps its own, by symmetry. */
static inline __attribute__((always_inline)) void flip_all(const double *u, size_t n, size_t width,
							   struct sink *sink)
{
	double sum[TLAT_FAMILY_MAX] = { 0 }, twice[TLAT_FLIPS_EXACT_PAIRS][TLAT_FAMILY_MAX];

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < width; j++) {
			sum[j] += u[i * width + j];
			twice[i][j] = -2 * u[i * width + j];
		}
	note(sink, sum, width);
	for (uint32_t flip = 1; flip < UINT32_C(1) << (n - 1); flip++) {
		double *turned = twice[__builtin_ctz(flip) + 1];

		for (size_t j = 0; j < width; j++) {
			sum[j] += turned[j];
			turned[j] = -turned[j];
		}
		note(sink, sum, width);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void flip_some(const double *u, size_t n, size_t flips, struct sink *sink)
{
	uint64_t state = SEED, bits = 0;

	for (size_t flip = 0; flip < flips; flip++) {
		double sum[TLAT_FAMILY_MAX] = { 0 };

		for (size_t i = 0; i < n; i++) {
			double sign;

			bits = i % 32 ? bits >> 1 : next_random(&state) >> 17;
			sign = bits & 1 ? 1 : -1;
			for (size_t j = 0; j < TLAT_FAMILY_MAX; j++)
				sum[j] += sign * u[i * TLAT_FAMILY_MAX + j];
		}
		note(sink, sum, TLAT_FAMILY_MAX);
	}
}

static void note_labels(const double *u, const size_t *chosen, size_t n_a, struct sink *sink)
{
	double sum[TLAT_FAMILY_MAX] = { 0 };

	for (size_t i = 0; i < n_a; i++)
		for (size_t j = 0; j < TLAT_FAMILY_MAX; j++)
			sum[j] += u[chosen[i] * TLAT_FAMILY_MAX + j];
	note(sink, sum, TLAT_FAMILY_MAX);
}

/* The next combination of n_a out of n in lexical order; false after the last. */
static bool advance(size_t *chosen, size_t n_a, size_t n)
{
	size_t i = n_a;

	while (i > 0 && chosen[i - 1] == n - n_a + i - 1)
		i--;
	if (!i)
		return false;
	chosen[i - 1]++;
	for (size_t k = i; k < n_a; k++)
		chosen[k] = chosen[k - 1] + 1;
	return true;
}

/* Draw n_a of the n in chosen to its front. */
static void draw(size_t *chosen, size_t n_a, size_t n, uint64_t *state)
{
	for (size_t i = 0; i < n_a; i++) {
		size_t k = i + (size_t)(next_random(state) % (n - i)), other = chosen[k];

		chosen[k] = chosen[i];
		chosen[i] = other;
	}
}

/* How many labelings there are, or one more than are all made. */
static size_t labelings(size_t n_a, size_t n)
{
	double ways = 1;

	for (size_t i = 1; i <= n_a; i++)
		ways = ways * (double)(n - n_a + i) / (double)i;
	return ways > TLAT_LABELINGS_EXACT ? TLAT_LABELINGS_EXACT + 1 : (size_t)(ways + 0.5);
}

static int relabel(const double *u, size_t n_a, size_t n, size_t flips, struct sink *sink)
{
	size_t *chosen = calloc(n + 1, sizeof(*chosen));
	uint64_t state = SEED;

	if (!chosen)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		chosen[i] = i;
	if (labelings(n_a, n) <= TLAT_LABELINGS_EXACT) {
		do
			note_labels(u, chosen, n_a, sink);
		while (advance(chosen, n_a, n));
	} else {
		for (size_t i = 0; i < flips; i++) {
			draw(chosen, n_a, n, &state);
			note_labels(u, chosen, n_a, sink);
		}
	}
	free(chosen);
	return 0;
}

static bool makes_all(const struct tlat_family *f, size_t pairs_max)
{
	return f->paired ? f->n <= pairs_max : labelings(f->n_a, f->n) <= TLAT_LABELINGS_EXACT;
}

/* Which figures are narrow enough for the fast form: u then has rows of NARROW. */
static size_t width_of(const struct tlat_family *f, size_t pairs_max)
{
	return f->paired && f->k <= NARROW && makes_all(f, pairs_max) ? NARROW : TLAT_FAMILY_MAX;
}

/* Mean of figure j over units first..end. */
static double mean_of(const struct tlat_family *f, size_t j, size_t first, size_t end)
{
	double sum = 0;

	for (size_t i = first; i < end; i++)
		sum += f->v[i * f->k + j];
	return end > first ? sum / (double)(end - first) : 0;
}

/*
 * Values around what they are flipped about, over the root of their sum of squares, which is
 * returned in squares. centred: around the mean of each side.
 */
static double *scaled(const struct tlat_family *f, bool centred, size_t width, double *squares)
{
	double *u = calloc(f->n * width + 1, sizeof(*u));

	for (size_t j = 0; u && j < f->k; j++) {
		double all = f->paired ? 0 : mean_of(f, j, 0, f->n), sum = 0;
		double a = f->paired ? mean_of(f, j, 0, f->n) : mean_of(f, j, 0, f->n_a);
		double b = f->paired ? a : mean_of(f, j, f->n_a, f->n);

		for (size_t i = 0; i < f->n; i++) {
			double around = !centred ? all : f->paired || i < f->n_a ? a : b;

			u[i * width + j] = f->v[i * f->k + j] - around;
			sum += u[i * width + j] * u[i * width + j];
		}
		for (size_t i = 0; i < f->n; i++)
			u[i * width + j] *= sum > 0 ? 1 / sqrt(sum) : 0;
		squares[j] = sum;
	}
	return u;
}

/* All flips where pairs_max allows, else so many. */
static int make_flips(const struct tlat_family *f, const double *u, size_t width, size_t pairs_max,
		      size_t flips, struct sink *sink)
{
	if (!f->paired)
		return relabel(u, f->n_a, f->n, flips, sink);
	if (!makes_all(f, pairs_max))
		flip_some(u, f->n, flips, sink);
	else if (width == NARROW)
		flip_all(u, f->n, NARROW, sink);
	else
		flip_all(u, f->n, TLAT_FAMILY_MAX, sink);
	return 0;
}

/* Where each figure really is, a little less. */
static void see(const struct tlat_family *f, const double *u, size_t width, struct sink *sink)
{
	size_t end = f->paired ? f->n : f->n_a;

	for (size_t j = 0; j < f->k; j++) {
		double sum = 0;

		for (size_t i = 0; i < end; i++)
			sum += u[i * width + j];
		sink->seen[j] = fabs(sum) * (1 - SLACK) - SLACK;
	}
}

void tlat_family_p(const struct tlat_family *family, double *ret_p)
{
	size_t width = width_of(family, TLAT_FLIPS_EXACT_PAIRS);
	bool all = makes_all(family, TLAT_FLIPS_EXACT_PAIRS);
	double squares[TLAT_FAMILY_MAX], *u;
	struct sink sink = { .furthest = NULL };

	for (size_t j = 0; j < family->k; j++)
		ret_p[j] = 1;
	if (!family->n || (!family->paired && (!family->n_a || family->n_a == family->n)))
		return;
	u = scaled(family, false, width, squares);
	if (!u)
		return;
	see(family, u, width, &sink);
	if (make_flips(family, u, width, TLAT_FLIPS_EXACT_PAIRS, TLAT_RANDOM_FLIPS, &sink) == 0)
		for (size_t j = 0; j < family->k; j++)
			ret_p[j] = (double)(sink.reached[j] + !all) / (double)(sink.flips + !all);
	free(u);
}

/* Some flips are as far out as what was seen whatever it is: itself, and what mirrors it. */
double tlat_family_least_p(size_t n, size_t m, bool paired)
{
	const struct tlat_family f = { .n = paired ? n : n + m, .n_a = n, .paired = paired };

	if (!n || !m)
		return 1;
	if (!makes_all(&f, TLAT_FLIPS_EXACT_PAIRS))
		return 1.0 / (TLAT_RANDOM_FLIPS + 1);
	return paired ? ldexp(1, 1 - (int)n) : (n == m ? 2.0 : 1.0) / (double)labelings(n, n + m);
}

/* c: the furthest that residuals get in all but alpha of the flips; weight: n, or n m / (n + m). */
static double half_width(double c, double squares, double weight)
{
	double room = weight * (weight - c * c);

	if (!(squares > 0))
		return 0;
	return room > 1e-9 ? c * sqrt(squares / room) : (double)INFINITY;
}

static size_t flips_made(const struct tlat_family *f)
{
	if (!f->paired)
		return makes_all(f, 0) ? labelings(f->n_a, f->n) : BAND_FLIPS;
	return makes_all(f, BAND_EXACT_PAIRS) ? (size_t)1 << (f->n - 1) : BAND_FLIPS;
}

static int band(const struct tlat_family *f, double alpha, double *ret_half)
{
	size_t width = width_of(f, BAND_EXACT_PAIRS), made = flips_made(f), at;
	double squares[TLAT_FAMILY_MAX], *u = scaled(f, true, width, squares);
	double weight = (double)f->n;
	struct sink sink = { .furthest = malloc((made + 1) * sizeof(double)) };
	int ret = u && sink.furthest ? 0 : -ENOMEM;

	if (!f->paired)
		weight = (double)f->n_a * (double)(f->n - f->n_a) / (double)f->n;
	if (!ret)
		ret = make_flips(f, u, width, BAND_EXACT_PAIRS, BAND_FLIPS, &sink);
	if (!ret) {
		tlat_sort_doubles(sink.furthest, sink.flips);
		at = (size_t)ceil((1 - alpha) * (double)(sink.flips + 1)) - 1;
		for (size_t j = 0; j < f->k; j++)
			ret_half[j] = at < sink.flips
					      ? half_width(sink.furthest[at], squares[j], weight)
					      : (double)INFINITY;
	}
	free(u);
	free(sink.furthest);
	return ret;
}

int tlat_family_band(const struct tlat_family *family, double alpha, double *ret_mean,
		     double *ret_half)
{
	bool two_sides = !family->paired;
	size_t n_a = family->n_a, n = family->n;

	for (size_t j = 0; j < family->k; j++) {
		ret_mean[j] = two_sides ? mean_of(family, j, n_a, n) - mean_of(family, j, 0, n_a)
					: mean_of(family, j, 0, n);
		ret_half[j] = (double)INFINITY;
	}
	if (n < 2 || (two_sides && (!n_a || n_a == n)))
		return 0;
	return band(family, alpha, ret_half);
}

/* One p-value and whose it is. */
struct ranked {
	double p;
	size_t of;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

void tlat_holm(double *p, size_t n)
{
	struct ranked *order = calloc(n + 1, sizeof(*order));
	double least = 0;

	/* Without memory to rank them, Bonferroni's factor serves: it is never smaller. */
	for (size_t i = 0; !order && i < n; i++)
		p[i] = fmin(1, p[i] * (double)n);
	if (!order)
		return;
	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){ p[i], i };
	qsort(order, n, sizeof(*order), by_p);
	for (size_t i = 0; i < n; i++) {
		least = fmax(least, fmin(1, order[i].p * (double)(n - i)));
		p[order[i].of] = least;
	}
	free(order);
}
