// SPDX-License-Identifier: MIT
/*
 * compare_match.c - which runs are a unit, and which units are a pair.
 *
 * A run is not a replicate of a kernel: whatever differs from boot to boot (where things are in
 * memory, the offset of the counters) is the same in all runs of one boot. So where no boot had
 * both sides, the boot is the unit, whatever changed between them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* Fewer changes of side than this probable are no mixed order. */
#define ORDER_P 0.01

static int by_start(const void *a, const void *b)
{
	const struct tlat_member *x = a, *y = b;

	return (x->report->start_ns > y->report->start_ns) -
	       (x->report->start_ns < y->report->start_ns);
}

static size_t group_of(const struct tlat_members *m, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(m->v[k].report->boot_id, m->v[i].report->boot_id))
			return m->v[k].group;
	return m->n_groups;
}

static void find_groups(struct tlat_members *m)
{
	for (size_t i = 0; i < m->n; i++) {
		m->v[i].group = group_of(m, i);
		m->n_groups += m->v[i].group == m->n_groups;
	}
}

static const char *const side_names[] = {
	[TLAT_BASE] = "the base side", [TLAT_NEXT] = "the new side"
};

static const char *kernel_of(const struct tlat_report *report)
{
	return tlat_fact_of(report, "machine.kernel");
}

size_t tlat_member_first(const struct tlat_members *m, int side)
{
	size_t i = 0;

	while (m->v[i].side != side)
		i++;
	return i;
}

/* Also within a side, whose boots are of several then. */
static bool kernels_differ(const struct tlat_members *m)
{
	for (size_t i = 1; i < m->n; i++)
		if (strcmp(kernel_of(m->v[0].report), kernel_of(m->v[i].report)))
			return true;
	return false;
}

static bool boots_are_apart(const struct tlat_members *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < i; k++)
			if (m->v[i].side != m->v[k].side && m->v[i].group == m->v[k].group)
				return false;
	return true;
}

/* Of one session, whose two sides are those that are compared. */
static bool have_designs(const struct tlat_members *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->v[i].report->position.known ||
		    m->v[i].report->position.seed != m->v[0].report->position.seed)
			return false;
	return m->v[tlat_member_first(m, TLAT_BASE)].report->position.side !=
	       m->v[tlat_member_first(m, TLAT_NEXT)].report->position.side;
}

static int32_t pair_of(const struct tlat_members *m, size_t i)
{
	return m->v[i].report->position.pair;
}

static bool in_pair(const struct tlat_members *m, int side, int32_t pair)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].side == side && pair_of(m, i) == pair)
			return true;
	return false;
}

/* Whether on each side one boot is one pair and one pair one boot. */
static bool pairs_are_boots(const struct tlat_members *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < i; k++) {
			bool same_pair = pair_of(m, i) == pair_of(m, k);

			if (m->v[i].side == m->v[k].side &&
			    same_pair != (m->v[i].group == m->v[k].group))
				return false;
		}
	return true;
}

static void drop(struct tlat_members *m, size_t i)
{
	m->n_runs[m->v[i].side]--;
	memmove(&m->v[i], &m->v[i + 1], (m->n - i - 1) * sizeof(*m->v));
	m->n--;
}

/* Runs without a partner tell nothing about the difference. */
static void drop_singles(struct tlat_members *m, struct tlat_findings *notes)
{
	size_t dropped = 0;

	for (size_t i = m->n; i-- > 0;)
		if (!in_pair(m, !m->v[i].side, pair_of(m, i))) {
			drop(m, i);
			dropped++;
		}
	if (dropped)
		tlat_findings_add(notes, TLAT_INFO, "half-pairs", NULL,
				  "%zu runs without a partner were left out", dropped);
}

static bool is_first_of_pair(const struct tlat_members *m, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (m->v[k].side == m->v[i].side && pair_of(m, k) == pair_of(m, i))
			return false;
	return true;
}

/* Pairs of the same side with a lower number: the numbers may be any, and have holes. */
static size_t pairs_below(const struct tlat_members *m, const bool *first, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; k < m->n; k++)
		n += first[k] && m->v[k].side == m->v[i].side && pair_of(m, k) < pair_of(m, i);
	return n;
}

/* Units are numbered in the order of the pairs, or in that in which they come. */
static int number_pairs(struct tlat_members *m)
{
	bool *first = calloc(m->n + 1, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++) {
		first[i] = is_first_of_pair(m, i);
		m->n_units[m->v[i].side] += first[i];
	}
	for (size_t i = 0; i < m->n; i++)
		m->v[i].unit = pairs_below(m, first, i);
	free(first);
	return 0;
}

static void number_units(struct tlat_members *m)
{
	for (size_t i = 0; i < m->n; i++) {
		size_t *n = &m->n_units[m->v[i].side], k = 0;

		while (k < i && (m->v[k].side != m->v[i].side || m->v[k].group != m->v[i].group))
			k++;
		m->v[i].unit = m->by_boot && k < i ? m->v[k].unit : (*n)++;
	}
}

static bool is_first_of_unit(const struct tlat_members *m, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (m->v[k].side == m->v[i].side && m->v[k].unit == m->v[i].unit)
			return false;
	return true;
}

/* Sides that were measured one after the other differ in whatever changed meanwhile. */
static int check_order(struct tlat_members *m, struct tlat_findings *notes)
{
	bool *side = calloc(m->n + 1, sizeof(*side));
	size_t n = 0, changes;
	double p;

	if (!side)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++)
		if (is_first_of_unit(m, i))
			side[n++] = m->v[i].side;
	p = tlat_order_p(side, n, &changes);
	free(side);
	if (!m->ordered) {
		tlat_findings_add(
			notes, TLAT_WARN, "order-unknown",
			"measure again, with tlat ab or with --json",
			"not every report says when its run began: a drift of the machine "
			"cannot be told from a difference between the sides");
	} else if (n > 2 && (changes < 2 || p < ORDER_P)) {
		m->ordered = false;
		tlat_findings_add(notes, TLAT_WARN, "order-blocked",
				  "let tlat ab take turns, or measure the sides in turn",
				  "%zu units changed side only %zu time%s: a drift of the machine "
				  "cannot be told from a difference between the sides",
				  n, changes, changes == 1 ? "" : "s");
	}
	return 0;
}

static void take(struct tlat_members *m, struct tlat_report *const *reports, size_t n, int side)
{
	for (size_t i = 0; i < n; i++) {
		m->v[m->n++] = (struct tlat_member){ .report = reports[i], .side = side };
		m->ordered &= reports[i]->start_ns > 0;
	}
	m->n_runs[side] = n;
}

static void note_confounded(const struct tlat_members *m, struct tlat_findings *notes)
{
	if (!m->by_boot || (m->n_units[TLAT_BASE] > 1 && m->n_units[TLAT_NEXT] > 1))
		return;
	tlat_findings_add(notes, TLAT_WARN, "one-boot",
			  "boot both sides at least twice: tlat ab --state FILE --side A",
			  "%zu boot%s against %zu: what differs between the sides cannot be told "
			  "from what differs between any two boots",
			  m->n_units[TLAT_BASE], m->n_units[TLAT_BASE] == 1 ? "" : "s",
			  m->n_units[TLAT_NEXT]);
}

static int choose_units(struct tlat_members *m, struct tlat_findings *notes)
{
	m->paired = have_designs(m);
	m->by_boot = kernels_differ(m) || boots_are_apart(m);
	if (m->by_boot && m->paired)
		m->paired = pairs_are_boots(m);
	if (m->paired)
		drop_singles(m, notes);
	if (m->paired && m->n && m->v[0].report->position.looks)
		m->planned = (size_t)m->v[0].report->position.planned;
	if (m->paired)
		return number_pairs(m);
	number_units(m);
	return 0;
}

static bool has_letter(const struct tlat_members *m, int side, int32_t letter)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].side == side && m->v[i].report->position.known &&
		    m->v[i].report->position.side == letter)
			return true;
	return false;
}

/* Both sides of a session as one side would be a mean of what was to be told apart. */
static int check_letters(const struct tlat_members *m, struct tlat_error *reterr)
{
	for (int side = 0; side < TLAT_SIDES; side++)
		if (has_letter(m, side, 'A') && has_letter(m, side, 'B'))
			return tlat_fail(reterr, -EINVAL,
					 "%s has runs of side A and of side B of tlat ab, which "
					 "are not one side; name that file alone, or take one "
					 "side out of it",
					 side_names[side]);
	return 0;
}

static void name_report(size_t i, size_t n_base, char *text, size_t size)
{
	int side = i < n_base ? TLAT_BASE : TLAT_NEXT;

	snprintf(text, size, "report %zu of %s", side == TLAT_BASE ? i + 1 : i + 1 - n_base,
		 side_names[side]);
}

/* Of the reports as they were given, those of the base side first. */
static int check_runs(struct tlat_report *const *reports, size_t n_base, size_t n,
		      struct tlat_error *reterr)
{
	struct tlat_run_twice twice;
	char first[60], other[60];
	int ret = tlat_report_twice(reports, n, &twice);

	if (ret <= 0)
		return ret < 0 ? tlat_fail(reterr, ret, "out of memory") : 0;
	name_report(twice.first, n_base, first, sizeof(first));
	name_report(twice.other, n_base, other, sizeof(other));
	return tlat_fail(reterr, -EINVAL,
			 "run %.40s is there twice, in %s and in %s, and would count as two; name "
			 "each run once, or give --force for figures without a verdict",
			 twice.id, first, other);
}

int tlat_members_check_once(struct tlat_report *const *base, size_t n_base,
			    struct tlat_report *const *next, size_t n_next,
			    struct tlat_error *reterr)
{
	struct tlat_report **all = calloc(n_base + n_next, sizeof(struct tlat_report *));
	int ret;

	if (!all)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	memcpy(all, base, n_base * sizeof(struct tlat_report *));
	memcpy(all + n_base, next, n_next * sizeof(struct tlat_report *));
	ret = check_runs(all, n_base, n_base + n_next, reterr);
	free(all);
	return ret;
}

int tlat_members_make(struct tlat_members *m, struct tlat_report *const *base, size_t n_base,
		      struct tlat_report *const *next, size_t n_next, struct tlat_findings *notes,
		      struct tlat_error *reterr)
{
	int ret;

	*m = (struct tlat_members){ .ordered = true };
	if (!n_base || !n_next)
		return tlat_fail(reterr, -EINVAL, "%s has no report; name a file that has one",
				 side_names[n_base ? TLAT_NEXT : TLAT_BASE]);
	m->v = calloc(n_base + n_next, sizeof(*m->v));
	if (!m->v)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	take(m, base, n_base, TLAT_BASE);
	take(m, next, n_next, TLAT_NEXT);
	ret = check_letters(m, reterr);
	if (ret < 0)
		return ret;
	if (m->ordered)
		qsort(m->v, m->n, sizeof(*m->v), by_start);
	find_groups(m);
	if (choose_units(m, notes) < 0)
		return tlat_fail(reterr, -ENOMEM, "out of memory");
	if (!m->n)
		return tlat_fail(reterr, -EINVAL,
				 "no pair is complete: the sides have no pair number in common");
	note_confounded(m, notes);
	return check_order(m, notes) < 0 ? tlat_fail(reterr, -ENOMEM, "out of memory") : 0;
}

void tlat_members_free(struct tlat_members *members)
{
	free(members->v);
	members->v = NULL;
}

size_t tlat_member_nth(const struct tlat_members *m, size_t k)
{
	return (tlat_member_first(m, TLAT_BASE) + k) % m->n;
}

size_t tlat_member_ordinal(const struct tlat_report *report, size_t index)
{
	size_t ordinal = 0;

	for (size_t i = 0; i < index; i++)
		ordinal += !strcmp(report->results[i]->probe, report->results[index]->probe);
	return ordinal;
}

const struct tlat_result *tlat_member_result(const struct tlat_report *report, const char *probe,
					     size_t ordinal)
{
	for (size_t i = 0; i < report->n_results; i++)
		if (!strcmp(report->results[i]->probe, probe) && !ordinal--)
			return report->results[i];
	return NULL;
}
