// SPDX-License-Identifier: MIT
/* compare_reason.c - why this verdict, in a sentence, and what would bring one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

/* So many have all flips drawn, whose p-values get no smaller with more. */
#define UNITS_TRIED 64

#define REASON(item, ...) tlat_format((item)->reason, sizeof((item)->reason), __VA_ARGS__)

static double percent(double ln)
{
	return 100 * expm1(ln);
}

static const char *unit_word(const struct tlat_members *m)
{
	return m->by_boot ? "boots" : m->paired ? "pairs" : "runs";
}

static void needed_text(const struct tlat_item *item, const struct tlat_members *m, char *text,
			size_t size)
{
	double target = percent(2 * item->rules.threshold);

	if (item->outcome.needed)
		tlat_format(text, size, "%zu %s%s would find a shift of %.2g %%",
			    item->outcome.needed, unit_word(m),
			    m->paired && !m->by_boot ? "" : " a side", target);
	else
		tlat_format(text, size,
			    "no number of %s up to a million would find a shift of %.2g %%",
			    unit_word(m), target);
}

static void found_text(const struct tlat_item *item, const struct tlat_members *m, char *text,
		       size_t size)
{
	if (isfinite(item->outcome.mde))
		tlat_format(text, size, "a shift of %.2g %% would have been found",
			    percent(item->outcome.mde));
	else
		tlat_format(text, size,
			    "among %zu items so few %s would find no shift, however large",
			    item->among, unit_word(m));
}

static void undecided(struct tlat_item *item, const struct tlat_members *m)
{
	const struct tlat_location *l = &item->outcome.location;
	char found[120], needed[120];

	found_text(item, m, found, sizeof(found));
	needed_text(item, m, needed, sizeof(needed));
	if (!isfinite(l->lo))
		REASON(item, "too few %s for any bound at %.4g %%: %s", unit_word(m),
		       100 * (1 - item->rules.alpha), needed);
	else if (item->outcome.p <= item->rules.alpha)
		REASON(item, "changed by %+.2f %%, and neither direction is known to be better",
		       percent(l->estimate));
	else if (l->p <= item->rules.alpha)
		REASON(item,
		       "%+.2f %%, p = %.2g: significant alone, and not among %zu items, of which "
		       "one may be so by chance (Holm: p = %.2g); %s; %s",
		       percent(l->estimate), l->p, item->among, item->outcome.p, found, needed);
	else
		REASON(item, "%s; %s", found, needed);
}

static void indicative(struct tlat_item *item, const struct tlat_members *m)
{
	const char *unit = m->by_boot ? "boot" : "run";

	if (isfinite(item->within))
		REASON(item,
		       "one %s on a side: nothing tells it from what differs between any two "
		       "%ss; within these %+.2f %% [%+.2f, %+.2f] of the median",
		       unit, unit, percent(item->outcome.location.estimate),
		       percent(item->outcome.location.estimate - item->within),
		       percent(item->outcome.location.estimate + item->within));
	else
		REASON(item,
		       "one %s on a side: nothing tells %+.2f %% from what differs between any "
		       "two %ss",
		       unit, percent(item->outcome.location.estimate), unit);
}

/* The worse figure of the tail that is least probable. */
static void tail(struct tlat_item *item)
{
	size_t least = 0;
	bool any = false;

	for (size_t j = 0; j < item->units.k; j++)
		if (item->found[j].worse > 0 && (!any || item->found[j].p < item->found[least].p)) {
			least = j;
			any = true;
		}
	REASON(item, "%s is x%.4g [%.4g, %.4g], p = %.2g in its family",
	       item->quantities[least].name, exp(item->found[least].mean),
	       exp(item->found[least].mean - item->found[least].half),
	       exp(item->found[least].mean + item->found[least].half), item->found[least].p);
}

static void shifted(struct tlat_item *item, const char *than)
{
	const struct tlat_location *l = &item->outcome.location;

	REASON(item, "%+.2f %% [%+.2f, %+.2f], p = %.2g, %s the threshold of %.2g %%",
	       percent(l->estimate), percent(l->lo), percent(l->hi), item->outcome.p, than,
	       percent(item->rules.threshold));
}

static bool shows_tail(const struct tlat_item *item, size_t n, size_t m)
{
	return tlat_family_least_p(n, m, item->units.paired) * (double)item->tails <=
	       item->rules.alpha;
}

/* So few units have no p-value small enough, and what cannot be found is not fine. */
static void tell_unseen_tail(struct tlat_item *item, const struct tlat_members *m)
{
	size_t at = strlen(item->reason), n = item->units.n[TLAT_BASE];
	const char *a_side = item->units.paired ? "" : " a side";

	if (!item->tails || shows_tail(item, n, item->units.n[TLAT_NEXT]))
		return;
	for (n = 2; n < UNITS_TRIED && !shows_tail(item, n, n);)
		n++;
	if (n < UNITS_TRIED)
		tlat_format(item->reason + at, sizeof(item->reason) - at,
			    "; so few %s show no change of the tail, however large: it takes %zu%s",
			    unit_word(m), n, a_side);
	else
		tlat_format(item->reason + at, sizeof(item->reason) - at,
			    "; no number of %s shows a change of the tail at %.2g %% of %zu tails",
			    unit_word(m), 100 * item->rules.alpha, item->tails);
}

void tlat_compare_reason(struct tlat_item *item, const struct tlat_members *m)
{
	const struct tlat_location *l = &item->outcome.location;

	switch (item->outcome.verdict) {
	case TLAT_COMPARE_REGRESSION:
	case TLAT_COMPARE_IMPROVEMENT:
		shifted(item, "beyond");
		break;
	case TLAT_COMPARE_TRIVIAL:
		shifted(item, "within");
		break;
	case TLAT_COMPARE_TAIL_REGRESSION:
		tail(item);
		break;
	case TLAT_COMPARE_EQUIVALENT:
		REASON(item,
		       "the 90 %% interval [%+.2f, %+.2f] %% is within the threshold of "
		       "%.2g %%",
		       percent(l->equal_lo), percent(l->equal_hi), percent(item->rules.threshold));
		break;
	case TLAT_COMPARE_INDICATIVE:
		indicative(item, m);
		break;
	default:
		undecided(item, m);
	}
	if (item->outcome.verdict <= TLAT_COMPARE_TRIVIAL)
		tell_unseen_tail(item, m);
}
