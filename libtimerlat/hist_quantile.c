// SPDX-License-Identifier: MIT
/* hist_quantile.c - what the counts of a histogram say of its values: mean, spread, quantiles. */
#include <math.h>

#include "hist.h"

/* One slot that holds something, as a mass at a value. */
struct atom {
	double n, value;
	double width; /* infinite: the value is a stand-in, its neighbours tell nothing */
};

/*
 * The first atom from *slot on, which moves past it; false after the last. Values past either end
 * are only known by their extreme.
 */
static bool next_atom(const struct tlat_hist *hist, const struct tlat_hist_span *span,
		      int32_t *slot, struct atom *ret)
{
	uint64_t n = 0;
	int32_t at = *slot;

	while (at <= span->last && !(n = tlat_hist_slot_count(hist, at)))
		at++;
	*slot = at + 1;
	ret->n = (double)n;
	ret->width = INFINITY;
	ret->value = (double)(at < 0 ? span->min : span->max);
	if (!n || at == TLAT_HIST_SLOT_OVERFLOW ||
	    (at == TLAT_HIST_SLOT_FIRST && span->min < -TLAT_HIST_EARLY_MAX))
		return n;
	ret->width = tlat_hist_slot_width(at);
	ret->value = (double)tlat_hist_slot_last(at) - (ret->width - 1) / 2;
	return true;
}

static double clamp(double value, const struct tlat_hist_span *span)
{
	if (value < (double)span->min)
		return (double)span->min;
	return value > (double)span->max ? (double)span->max : value;
}

/* Mean of the squared distances from a value, or (power 1) of the distances. */
static double moment(const struct tlat_hist *hist, const struct tlat_hist_span *span, double from,
		     int power)
{
	struct atom atom;
	double n = 0, sum = 0;
	int32_t slot = span->first;

	while (next_atom(hist, span, &slot, &atom)) {
		n += atom.n;
		sum += atom.n * (atom.value - from) * (power == 2 ? atom.value - from : 1);
	}
	return n > 0 ? sum / n : 0;
}

double tlat_hist_mean(const struct tlat_hist *hist)
{
	struct tlat_hist_span span = tlat_hist_span(hist);

	return clamp(moment(hist, &span, 0, 1), &span);
}

double tlat_hist_sd(const struct tlat_hist *hist)
{
	struct tlat_hist_span span = tlat_hist_span(hist);

	return sqrt(moment(hist, &span, moment(hist, &span, 0, 1), 2));
}

/*
 * The step of the clock, if three neighbours in a row show one: equally spaced with holes between
 * them (or bins of width 1 without), and not a lone peak between specks. 0 if they do not. Wide
 * bins round the spacing, by at most one bin. Holes between few values are chance: with 16 on both
 * sides, one in e^16.
 */
static double step_of(const struct atom a[3])
{
	double left = a[1].value - a[0].value, right = a[2].value - a[1].value;
	double narrow = fmin(left, right), width = fmax(a[0].width, fmax(a[1].width, a[2].width));
	double neighbour = fmax(a[0].n, a[2].n);

	if (fabs(left - right) > fmin(width, narrow / 6) || neighbour * 64 < a[1].n)
		return 0;
	if (narrow <= width ? width > 1 : fmin(neighbour, a[1].n) < 16)
		return 0;
	return fmax(left, right);
}

/* How many values there are, and the step that the heaviest part of them shows. */
static double survey(const struct tlat_hist *hist, const struct tlat_hist_span *span,
		     double *ret_step)
{
	struct atom a[3] = { { 0 } };
	double n = 0, heaviest = 0;
	int32_t slot = span->first;
	int seen = 0;

	*ret_step = 0;
	while (next_atom(hist, span, &slot, &a[2])) {
		n += a[2].n;
		if (++seen >= 3 && a[1].n > heaviest && step_of(a) > 0) {
			heaviest = a[1].n;
			*ret_step = step_of(a);
		}
		a[0] = a[1];
		a[1] = a[2];
	}
	return n;
}

/*
 * The value at rank (0 .. N, a real number) between the middles of two neighbouring atoms; ended
 * is the rank at which a ends. One clock step apart, the mass of both lies anywhere between them:
 * mid-distribution, so that a shift of less than a step moves the result. Across any other gap
 * there is nothing, and the result crosses it within one rank, as between two sorted values.
 */
static double between(const struct atom *a, const struct atom *b, double ended, double rank,
		      double step)
{
	double gap = b->value - a->value, share;

	if (gap <= 1.5 * step)
		share = (rank - (ended - a->n / 2)) / ((a->n + b->n) / 2);
	else
		share = rank - (ended - 0.5);
	return share <= 0   ? a->value
	       : share >= 1 ? b->value
			    : fmin(a->value + gap * share, b->value);
}

static double value_at_rank(const struct tlat_hist *hist, const struct tlat_hist_span *span,
			    double rank, double step)
{
	struct atom a = { 0 }, b;
	double ended = 0;
	int32_t slot = span->first;

	while (next_atom(hist, span, &slot, &b)) {
		if (ended + b.n / 2 >= rank)
			return ended > 0 ? between(&a, &b, ended, rank, step) : b.value;
		ended += b.n;
		a = b;
	}
	return a.value;
}

double tlat_hist_quantile(const struct tlat_hist *hist, double p)
{
	struct tlat_hist_span span = tlat_hist_span(hist);
	double step, n = survey(hist, &span, &step);

	if (!(n > 0) || !(p > 0))
		return (double)span.min;
	if (p >= 1)
		return (double)span.max;
	return clamp(value_at_rank(hist, &span, p * n, step), &span);
}

int64_t tlat_hist_quantile_bound(const struct tlat_hist *hist, double p)
{
	struct tlat_hist_span span = tlat_hist_span(hist);
	double n = (double)tlat_hist_count_slots(hist, span.first, span.last);
	/* 0.07 * 100 is a little over 7, but means rank 7 */
	double rank = ceil(p * n * (1 - 4e-16)), below = 0;

	if (!(rank >= 1))
		rank = 1;
	for (int32_t slot = span.first; slot < span.last; slot++) {
		below += (double)tlat_hist_slot_count(hist, slot);
		if (below >= rank)
			return tlat_hist_slot_last(slot);
	}
	return span.max;
}
