// SPDX-License-Identifier: MIT
/*
 * compare_decide.c - from the figures of units to a verdict. Pure: tests feed it with simulated
 * units by the thousand.
 */
#include <math.h>
#include <stdlib.h>

#include "compare.h"

static int locate(const struct tlat_units *u, double alpha, struct tlat_location *ret)
{
	double *d;
	int code;

	if (!u->paired)
		return tlat_location_unpaired(u->first[TLAT_BASE], u->n[TLAT_BASE],
					      u->first[TLAT_NEXT], u->n[TLAT_NEXT], alpha, ret);
	d = malloc((u->n[TLAT_BASE] + 1) * sizeof(*d));
	if (!d)
		return -ENOMEM;
	for (size_t i = 0; i < u->n[TLAT_BASE]; i++)
		d[i] = u->first[TLAT_NEXT][i] - u->first[TLAT_BASE][i];
	code = tlat_location_paired(d, u->n[TLAT_BASE], alpha, ret);
	free(d);
	return code;
}

/* The quantities of one role as a family; *ret_v is to be freed. Returns how many there are. */
static size_t family_of(const struct tlat_units *u, enum tlat_compare_role role,
			struct tlat_family *family, size_t *index, double **ret_v)
{
	size_t n_a = u->n[TLAT_BASE], n = u->paired ? n_a : n_a + u->n[TLAT_NEXT], k = 0;
	double *v;

	for (size_t j = 0; j < u->k && k < TLAT_FAMILY_MAX; j++)
		if (u->quantities[j].role == role)
			index[k++] = j;
	*ret_v = v = calloc(n * k + 1, sizeof(*v));
	for (size_t i = 0; v && i < n; i++)
		for (size_t j = 0; j < k; j++) {
			const double *a = u->value[TLAT_BASE], *b = u->value[TLAT_NEXT];
			size_t at = index[j];

			if (u->paired)
				v[i * k + j] = b[i * u->k + at] - a[i * u->k + at];
			else if (i < n_a)
				v[i * k + j] = a[i * u->k + at];
			else
				v[i * k + j] = b[(i - n_a) * u->k + at];
		}
	*family = (struct tlat_family){ v, n, k, n_a, u->paired };
	return k;
}

static int measure_role(const struct tlat_units *u, enum tlat_compare_role role, double alpha,
			struct tlat_found *found)
{
	double p[TLAT_FAMILY_MAX], mean[TLAT_FAMILY_MAX], half[TLAT_FAMILY_MAX], *v;
	size_t index[TLAT_FAMILY_MAX];
	struct tlat_family family;
	size_t k = family_of(u, role, &family, index, &v);
	int ret = v ? 0 : -ENOMEM;

	if (!ret && k)
		ret = tlat_family_band(&family, alpha, mean, half);
	if (!ret && k && role == TLAT_COMPARE_TAIL)
		tlat_family_p(&family, p);
	for (size_t j = 0; !ret && j < k; j++) {
		found[index[j]].mean = mean[j];
		found[index[j]].half = half[j];
		found[index[j]].p = role == TLAT_COMPARE_TAIL ? p[j] : (double)NAN;
	}
	free(v);
	return ret;
}

static double mean_of(const struct tlat_units *u, int side, size_t quantity)
{
	double sum = 0;

	for (size_t i = 0; i < u->n[side]; i++)
		sum += u->value[side][i * u->k + quantity];
	return sum / (double)u->n[side];
}

int tlat_compare_measure(const struct tlat_units *u, const struct tlat_rules *rules,
			 struct tlat_outcome *outcome, struct tlat_found *found)
{
	int ret = locate(u, rules->alpha, &outcome->location);

	if (ret < 0)
		return ret;
	outcome->p = outcome->location.p;
	for (size_t j = 0; j < u->k; j++) {
		found[j] = (struct tlat_found){ .base = mean_of(u, TLAT_BASE, j),
						.next = mean_of(u, TLAT_NEXT, j) };
	}
	ret = measure_role(u, TLAT_COMPARE_TAIL, rules->alpha, found);
	return ret < 0 ? ret : measure_role(u, TLAT_COMPARE_SHIFT, rules->alpha, found);
}

void tlat_compare_foresee(const struct tlat_units *u, const struct tlat_rules *rules, size_t items,
			  struct tlat_outcome *outcome)
{
	double sd = outcome->location.sd, alpha = rules->alpha / (double)items;
	size_t n = u->n[TLAT_BASE], m = u->n[TLAT_NEXT];

	outcome->mde = u->paired ? tlat_mde_paired(sd, n, alpha, rules->power)
				 : tlat_mde_unpaired(sd, n, m, alpha, rules->power);
	outcome->needed =
		tlat_pairs_needed(sd, 2 * rules->threshold, alpha, rules->power, u->paired);
}

/* Upward is worse, unless higher is better. */
static double worse_by(const struct tlat_units *u, double ln_ratio)
{
	return u->better > 0 ? -ln_ratio : ln_ratio;
}

static int32_t judge_primary(const struct tlat_units *u, const struct tlat_rules *rules,
			     const struct tlat_outcome *outcome)
{
	const struct tlat_location *l = &outcome->location;
	double worse = worse_by(u, l->estimate);

	if (u->n[TLAT_BASE] < 2 || u->n[TLAT_NEXT] < 2)
		return TLAT_COMPARE_INDICATIVE;
	if (outcome->p <= rules->alpha && fabs(worse) <= rules->threshold)
		return TLAT_COMPARE_TRIVIAL;
	if (outcome->p <= rules->alpha && u->better)
		return worse > 0 ? TLAT_COMPARE_REGRESSION : TLAT_COMPARE_IMPROVEMENT;
	if (l->equal_lo > -rules->threshold && l->equal_hi < rules->threshold)
		return TLAT_COMPARE_EQUIVALENT;
	return TLAT_COMPARE_INCONCLUSIVE;
}

/* Of the family: TAIL_REGRESSION, or NONE: nothing was found to be worse. */
static int32_t judge_tail(const struct tlat_units *u, const struct tlat_rules *rules,
			  struct tlat_found *found)
{
	int32_t verdict = TLAT_COMPARE_NONE;

	for (size_t j = 0; j < u->k; j++) {
		double mean = worse_by(u, found[j].mean);

		if (u->quantities[j].role != TLAT_COMPARE_TAIL || !(found[j].p <= rules->alpha) ||
		    fabs(mean) <= u->quantities[j].threshold)
			continue;
		found[j].worse = mean > 0 ? 1 : -1;
		if (mean > 0)
			verdict = TLAT_COMPARE_TAIL_REGRESSION;
	}
	return verdict;
}

void tlat_compare_judge(const struct tlat_units *u, const struct tlat_rules *rules,
			struct tlat_outcome *outcome, struct tlat_found *found)
{
	outcome->primary = judge_primary(u, rules, outcome);
	outcome->tail = TLAT_COMPARE_NONE;
	if (outcome->primary != TLAT_COMPARE_INDICATIVE)
		outcome->tail = judge_tail(u, rules, found);
	outcome->verdict = outcome->tail > outcome->primary ? outcome->tail : outcome->primary;
}
