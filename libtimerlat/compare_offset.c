// SPDX-License-Identifier: MIT
/*
 * compare_offset.c - what of a one-way result the counters' offset alone may be.
 *
 * From boot to boot the counters of two CPUs start anew, and what is said of one way contains
 * their offset: no test on boots sees through that. All samples of a run are moved by it alike, but
 * what differs between the sides need not move all of them, so that each figure is held against it
 * by itself; in ns, as logarithms of what is added and of what is taken away have not the same
 * size.
 */
#include <math.h>
#include <string.h>

#include "compare.h"

static bool is_within(const struct tlat_item *item, const struct tlat_found *f)
{
	return fabs(exp(f->next) - exp(f->base)) < item->offset_ns;
}

/* Also where there is no such figure: nothing shows that it is further. */
static bool quantile_is_within(const struct tlat_item *item, double p)
{
	for (size_t j = 0; j < item->units.k; j++)
		if (fabs(item->quantities[j].quantile - p) < 1e-9)
			return is_within(item, &item->found[j]);
	return true;
}

/*
 * The offset cancels in the spread, a difference of two values of one run. A rate has no ns of its
 * own. Its threshold lies between the quantiles of the sides that it was pooled from: where these
 * are further apart than the offset, the side whose quantile is higher has the higher rate whatever
 * the offset is, else the rates may change places with it.
 */
static bool may_be_offset(const struct tlat_item *item, size_t index)
{
	const struct tlat_quantity *q = &item->quantities[index];

	if (!isnan(q->pooled))
		return quantile_is_within(item, q->pooled);
	return strcmp(q->name, "spread") != 0 && is_within(item, &item->found[index]);
}

/* What is left of the verdict on the tail. Returns a figure that may be worse by the offset. */
static const char *hold_tail(struct tlat_item *item)
{
	const char *unsure = NULL;
	bool worse = false;

	for (size_t j = 0; j < item->units.k; j++) {
		if (item->found[j].worse && may_be_offset(item, j)) {
			if (item->found[j].worse > 0 && !unsure)
				unsure = item->quantities[j].name;
			item->found[j].worse = 0;
		}
		worse |= item->found[j].worse > 0;
	}
	if (unsure && !worse)
		item->outcome.tail = TLAT_COMPARE_INCONCLUSIVE;
	return unsure;
}

static void tell(struct tlat_item *item, const char *what)
{
	tlat_format(item->reason, sizeof(item->reason),
		    "offset: one way the counters' offset is known to %.0f ns over both boots, %s; "
		    "measure with --round-trip, or on one CPU",
		    item->offset_ns, what);
}

void tlat_compare_hold_offset(struct tlat_item *item, const struct tlat_members *m)
{
	double shift_ns = fabs(expm1(item->outcome.location.estimate)) * item->base;
	struct tlat_outcome *outcome = &item->outcome;
	const char *unsure = hold_tail(item);
	char text[80];

	item->withheld = shift_ns < item->offset_ns;
	if (item->withheld) {
		outcome->primary = TLAT_COMPARE_INCONCLUSIVE;
		tlat_format(text, sizeof(text), "the shift is %.0f ns", shift_ns);
	} else if (unsure) {
		tlat_format(text, sizeof(text), "and %s may be worse by that alone", unsure);
	}
	outcome->verdict = outcome->tail > outcome->primary ? outcome->tail : outcome->primary;
	if (outcome->verdict != TLAT_COMPARE_INCONCLUSIVE)
		tlat_compare_reason(item, m);
	else if (item->withheld || outcome->primary != TLAT_COMPARE_INCONCLUSIVE)
		tell(item, text);
}
