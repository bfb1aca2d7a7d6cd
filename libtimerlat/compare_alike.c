// SPDX-License-Identifier: MIT
/*
 * compare_alike.c - whether results are of one kind: measured in the same way, of runs that are
 * what they say they are. What differs otherwise is not what was to be compared.
 */
#include <stdio.h>
#include <string.h>

#include "compare.h"

static int differ(const char *name, const char *what, const char *a, const char *b,
		  struct tlat_error *reterr)
{
	return tlat_fail(reterr, -EINVAL, "%s: %s %s in one report, %s in another", name, what, a,
			 b);
}

static int differ_number(const char *name, const char *what, int64_t a, int64_t b, const char *unit,
			 struct tlat_error *reterr)
{
	char from[40], to[40];

	snprintf(from, sizeof(from), "%lld%s", (long long)a, unit);
	snprintf(to, sizeof(to), "%lld%s", (long long)b, unit);
	return differ(name, what, from, to, reterr);
}

/* A sum has none where its runs were on several. */
static int differ_cpu(const char *name, const char *what, int32_t a, int32_t b,
		      struct tlat_error *reterr)
{
	char from[16], to[16];

	snprintf(from, sizeof(from), "%d", (int)a);
	snprintf(to, sizeof(to), "%d", (int)b);
	return differ(name, what, a < 0 ? "several" : from, b < 0 ? "several" : to, reterr);
}

static const char *or_unknown(const char *name)
{
	return name ? name : "unknown";
}

/* How a thread is scheduled. whose: "" for the waiter, "waker's " for the waker. */
static int alike_side(const struct tlat_side_facts *a, const struct tlat_side_facts *b,
		      const char *name, const char *whose, struct tlat_error *reterr)
{
	const struct {
		const char *what, *unit;
		int64_t a, b;
	} numbers[] = {
		{ "priority", "", a->priority, b->priority },
		{ "runtime", "ns", a->runtime_ns, b->runtime_ns },
		{ "deadline", "ns", a->deadline_ns, b->deadline_ns },
		{ "period", "ns", a->period_ns, b->period_ns },
	};
	char what[32];

	if (a->policy != b->policy) {
		snprintf(what, sizeof(what), "%spolicy", whose);
		return differ(name, what, or_unknown(tlat_policy_name(a->policy)),
			      or_unknown(tlat_policy_name(b->policy)), reterr);
	}
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(numbers); i++) {
		if (numbers[i].a == numbers[i].b)
			continue;
		snprintf(what, sizeof(what), "%s%s", whose, numbers[i].what);
		return differ_number(name, what, numbers[i].a, numbers[i].b, numbers[i].unit,
				     reterr);
	}
	return 0;
}

/* == Commands == */

struct word {
	const char *at;
	int n;
};

static bool next_word(const char **rest, struct word *word)
{
	*rest += strspn(*rest, " ");
	word->at = *rest;
	word->n = (int)strcspn(*rest, " ");
	*rest += word->n;
	return word->n > 0;
}

static bool same_word(const struct word *a, const struct word *b)
{
	return a->n == b->n && !memcmp(a->at, b->at, (size_t)a->n);
}

/* What follows an option up to the next one, "" of a flag; whether the command has it. */
static bool find_option(const char *command, const struct word *option, struct word *value)
{
	struct word word;

	while (next_word(&command, &word)) {
		if (!same_word(&word, option))
			continue;
		*value = (struct word){ "", 0 };
		if (next_word(&command, &word) && *word.at != '-')
			*value = word;
		return true;
	}
	*value = (struct word){ "none", 4 };
	return false;
}

/* How long it was is no setting: what grows with it is held against the time that passed. */
static bool is_setting(const struct word *word)
{
	static const struct word duration = { "-d", 2 };

	return *word->at == '-' && !same_word(word, &duration);
}

/* The options of one command, as the other has them. */
static int alike_options(const char *a, const char *b, const char *name, struct tlat_error *reterr)
{
	const char *rest = a;
	struct word option, from, to;

	while (next_word(&rest, &option)) {
		if (!is_setting(&option) || !find_option(a, &option, &from))
			continue;
		if (!find_option(b, &option, &to) || !same_word(&from, &to))
			return tlat_fail(reterr, -EINVAL,
					 "%s: %.*s %.*s in one report, %.*s in another", name,
					 option.n, option.at, from.n ? from.n : 5,
					 from.n ? from.at : "given", to.n, to.at);
	}
	return 0;
}

/*
 * What a storm, a scale or noise was told has no members in a report, but for a few of them: all of
 * it is in the command that repeats the result.
 */
static int alike_commands(const char *a, const char *b, const char *name, struct tlat_error *reterr)
{
	int ret;

	if (!a || !b)
		return 0;
	ret = alike_options(a, b, name, reterr);
	return ret < 0 ? ret : alike_options(b, a, name, reterr);
}

/* == Results == */

int tlat_compare_alike(const struct tlat_result *a, const struct tlat_result *b, const char *name,
		       bool same_cpus, struct tlat_error *reterr)
{
	if (strcmp(tlat_result_kind(a), tlat_result_kind(b)))
		return differ(name, "kind of result", tlat_result_kind(a), tlat_result_kind(b),
			      reterr);
	if (a->has_kick != b->has_kick)
		return differ_number(name, "wakers", a->has_kick, b->has_kick, "", reterr);
	if (a->relation && b->relation && strcmp(a->relation, b->relation))
		return differ(name, "placement", a->relation, b->relation, reterr);
	if (same_cpus && a->wait.cpu != b->wait.cpu)
		return differ_cpu(name, "CPU", a->wait.cpu, b->wait.cpu, reterr);
	if (same_cpus && a->has_kick && a->kick.cpu != b->kick.cpu)
		return differ_cpu(name, "waker's CPU", a->kick.cpu, b->kick.cpu, reterr);
	if (a->target != b->target)
		return differ(name, "target", or_unknown(tlat_target_name(a->target)),
			      or_unknown(tlat_target_name(b->target)), reterr);
	if (alike_side(&a->wait, &b->wait, name, "", reterr) < 0 ||
	    (a->has_kick && alike_side(&a->kick, &b->kick, name, "waker's ", reterr) < 0))
		return -EINVAL;
	if (a->settle_ns != b->settle_ns)
		return differ_number(name, "settle", a->settle_ns, b->settle_ns, "ns", reterr);
	if (a->interval_ns != b->interval_ns)
		return differ_number(name, "interval", a->interval_ns, b->interval_ns, "ns",
				     reterr);
	if (a->round_trip != b->round_trip)
		return differ_number(name, "round trip", a->round_trip, b->round_trip, "", reterr);
	if (a->verify != b->verify)
		return differ_number(name, "verify", a->verify, b->verify, "", reterr);
	return a->kind ? alike_commands(a->repeat, b->repeat, name, reterr) : 0;
}

int tlat_compare_settings(const struct tlat_result *a, const struct tlat_result *b,
			  const char *name, const char *where, struct tlat_error *reterr)
{
	char first[TLAT_SETTING_BYTES], other[TLAT_SETTING_BYTES];

	for (size_t i = 0; i < TLAT_SETTINGS; i++) {
		tlat_settings[i].text_of(a, first, sizeof(first));
		tlat_settings[i].text_of(b, other, sizeof(other));
		if (strcmp(first, other))
			return tlat_fail(reterr, -EINVAL,
					 "%s: %s %s in one report%s, %s in another", name,
					 tlat_settings[i].name, first, where, other);
	}
	return 0;
}

int tlat_compare_fits(const struct tlat_members *m, size_t i, const struct tlat_result *first,
		      const struct tlat_result *first_of_side, const struct tlat_result *result,
		      const char *name, struct tlat_error *reterr)
{
	static const char *const of_side[] = {
		[TLAT_BASE] = " of the base side", [TLAT_NEXT] = " of the new side"
	};
	struct tlat_error why;

	if (tlat_compare_alike(first, result, name, true, &why) < 0)
		return tlat_fail(reterr, -EINVAL,
				 "%.380s; measure both sides alike, or give --force for "
				 "figures without a verdict",
				 why.text);
	if (tlat_compare_reliable(m->v[i].report, result, name, reterr) < 0)
		return -EINVAL;
	if (tlat_compare_settings(first_of_side, result, name, of_side[m->v[i].side], &why) < 0)
		return tlat_fail(reterr, -EINVAL,
				 "%.380s; measure a side in one way, or give --force for figures "
				 "without a verdict",
				 why.text);
	return 0;
}
