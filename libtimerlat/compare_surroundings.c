// SPDX-License-Identifier: MIT
/*
 * compare_surroundings.c - conditions that are not the same on both sides. A difference here often
 * explains the result, so it is printed first.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

#define SHARE_POINTS 0.05 /* idle states: less is the ordinary variation between runs */
#define NOT_KNOWN    "(not known)"
#define VALUES_MAX   3 /* of one side, before "..." */

static int add(struct tlat_differences *d, const char *name, const char *base, const char *next)
{
	struct tlat_difference *grown = realloc(d->v, (d->n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	d->v = grown;
	grown[d->n] = (struct tlat_difference){ strdup(name), strdup(base), strdup(next) };
	d->n++;
	return grown[d->n - 1].name && grown[d->n - 1].base && grown[d->n - 1].next ? 0 : -ENOMEM;
}

void tlat_differences_free(struct tlat_differences *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free((char *)d->v[i].name);
		free((char *)d->v[i].base);
		free((char *)d->v[i].next);
	}
	free(d->v);
	*d = (struct tlat_differences){ 0 };
}

/* What one side has of a condition: its values, each once, in the order in which they came. */
struct side_values {
	const char *v[VALUES_MAX];
	size_t n;
	bool more;
};

static void add_value(struct side_values *s, const char *value)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->v[i], value))
			return;
	if (s->n < VALUES_MAX)
		s->v[s->n++] = value;
	else
		s->more = true;
}

static bool has_value(const struct side_values *s, const char *value)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->v[i], value))
			return true;
	return false;
}

static bool same_values(const struct side_values *a, const struct side_values *b)
{
	if (a->n != b->n || a->more != b->more)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!has_value(b, a->v[i]))
			return false;
	return true;
}

static char *join(const struct side_values *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < s->n; i++)
		fprintf(out, "%s%s", i ? " | " : "", *s->v[i] ? s->v[i] : NOT_KNOWN);
	fputs(s->more ? " | ..." : "", out);
	fclose(out);
	return text;
}

static int add_values(struct tlat_differences *d, const char *name, const struct side_values *a,
		      const struct side_values *b)
{
	char *base, *next;
	int ret;

	if (same_values(a, b))
		return 0;
	base = join(a);
	next = join(b);
	ret = base && next ? add(d, name, base, next) : -ENOMEM;
	free(base);
	free(next);
	return ret;
}

static bool find_fact(const struct tlat_report *report, const char *name,
		      struct tlat_fact *ret_fact)
{
	for (size_t i = 0; tlat_report_fact(report, i, ret_fact) == 0; i++)
		if (!strcmp(ret_fact->name, name))
			return true;
	return false;
}

const char *tlat_fact_of(const struct tlat_report *report, const char *name)
{
	struct tlat_fact fact;

	return find_fact(report, name, &fact) ? fact.value : "";
}

/* Measured anew by each run, so that it is never twice the same. */
static bool is_condition(const char *name)
{
	return !strncmp(name, "machine.", 8) || !strcmp(name, "clock.source") ||
	       !strcmp(name, "clock.kernel_clocksource") || !strcmp(name, "clock.method");
}

static bool is_unknown(const struct side_values *s)
{
	return s->n == 1 && !s->more && !*s->v[0];
}

/* What every machine has, so that where no report tells nobody knows whether it is the same; most
 * others are unknown because there is no such thing. */
static bool is_always_there(const char *name)
{
	static const char *const names[] = { "machine.kernel", "machine.cpu_model" };

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int compare_fact(struct tlat_differences *d, const struct tlat_members *m, const char *name)
{
	struct side_values values[TLAT_SIDES] = { 0 };

	for (size_t i = 0; i < m->n; i++)
		add_value(&values[m->v[i].side], tlat_fact_of(m->v[i].report, name));
	if (is_always_there(name) && is_unknown(&values[TLAT_BASE]) &&
	    is_unknown(&values[TLAT_NEXT]))
		return add(d, name, NOT_KNOWN, NOT_KNOWN);
	return add_values(d, name, &values[TLAT_BASE], &values[TLAT_NEXT]);
}

/* Facts of a report that none before it had. */
static int compare_facts(struct tlat_differences *d, const struct tlat_members *m)
{
	const struct tlat_report *last = NULL;
	struct tlat_fact fact, ignored;
	int ret = 0;

	for (size_t i = 0; i < m->n; i++)
		if (!last || m->v[i].side != m->v[0].side)
			last = m->v[i].report;
	for (size_t i = 0; !ret && tlat_report_fact(m->v[0].report, i, &fact) == 0; i++)
		if (is_condition(fact.name))
			ret = compare_fact(d, m, fact.name);
	for (size_t i = 0; !ret && tlat_report_fact(last, i, &fact) == 0; i++)
		if (is_condition(fact.name) && !find_fact(m->v[0].report, fact.name, &ignored))
			ret = compare_fact(d, m, fact.name);
	return ret;
}

static const struct tlat_result *first_result(const struct tlat_report *report)
{
	for (size_t i = 0; i < report->n_results; i++)
		if (!report->results[i]->kind && report->results[i]->latency)
			return report->results[i];
	return NULL;
}

static void slack_text(const struct tlat_result *r, char *text, size_t size)
{
	snprintf(text, size, "%lldns", (long long)r->wait.slack_ns);
}

static void cpu_latency_text(const struct tlat_result *r, char *text, size_t size)
{
	if (r->cpu_latency_ns < 0)
		snprintf(text, size, "default");
	else
		snprintf(text, size, "%lldns", (long long)r->cpu_latency_ns);
}

static void inject_text(const struct tlat_result *r, char *text, size_t size)
{
	if (r->injected)
		snprintf(text, size, "%lldns", (long long)r->inject_ns);
	else
		snprintf(text, size, "none");
}

static void chain_text(const struct tlat_result *r, char *text, size_t size)
{
	if (r->chain_adds)
		snprintf(text, size, "%llu additions", (unsigned long long)r->chain_adds);
	else
		snprintf(text, size, "none");
}

static void asked_text(const struct tlat_result *r, char *text, size_t size)
{
	const char *policy = tlat_policy_name(r->policy_asked);

	snprintf(text, size, "%s:%d", policy ? policy : "unknown", (int)r->priority_asked);
}

const struct tlat_setting tlat_settings[TLAT_SETTINGS] = {
	{ "run.slack", slack_text },	    { "run.cpu_latency", cpu_latency_text },
	{ "run.policy_asked", asked_text }, { "run.inject", inject_text },
	{ "run.chain", chain_text },
};

/* Of the first measurement of each report. */
static int compare_setting(struct tlat_differences *d, const struct tlat_members *m,
			   const struct tlat_setting *setting)
{
	char(*texts)[TLAT_SETTING_BYTES] = calloc(m->n + 1, sizeof(*texts));
	struct side_values values[TLAT_SIDES] = { 0 };
	int ret;

	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++) {
		const struct tlat_result *result = first_result(m->v[i].report);

		if (!result)
			continue;
		setting->text_of(result, texts[i], sizeof(texts[i]));
		add_value(&values[m->v[i].side], texts[i]);
	}
	ret = add_values(d, setting->name, &values[TLAT_BASE], &values[TLAT_NEXT]);
	free(texts);
	return ret;
}

static const char *load_of(const struct tlat_report *report)
{
	for (size_t i = 0; i < report->findings.n; i++)
		if (!strncmp(report->findings.v[i].id, "load", 4))
			return report->findings.v[i].text;
	return "none";
}

static const char *setup_of(const struct tlat_report *report)
{
	return report->position.setup ? report->position.setup : "none";
}

static const char *command_of(const struct tlat_report *report)
{
	return report->position.command ? report->position.command : "";
}

static int compare_text(struct tlat_differences *d, const struct tlat_members *m, const char *name,
			const char *(*text_of)(const struct tlat_report *))
{
	struct side_values values[TLAT_SIDES] = { 0 };

	for (size_t i = 0; i < m->n; i++)
		add_value(&values[m->v[i].side], text_of(m->v[i].report));
	return add_values(d, name, &values[TLAT_BASE], &values[TLAT_NEXT]);
}

/* Mean share of the time that the waiter's CPU spent in a state, over one side's runs. */
static double idle_share(const struct tlat_members *m, int side, const char *state)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct tlat_result *r = first_result(m->v[i].report);
		struct tlat_idle_share idle = { .size = sizeof(idle) };

		if (m->v[i].side != side || !r)
			continue;
		n++;
		for (size_t k = 0; tlat_result_idle(r, k, &idle) == 0; k++)
			if (idle.cpu == r->wait.cpu && !strcmp(idle.state, state) &&
			    isfinite(idle.time_share))
				sum += idle.time_share;
	}
	return n > 0 ? sum / n : 0;
}

static bool is_listed(const struct tlat_differences *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->v[i].name, name))
			return true;
	return false;
}

static int compare_idle(struct tlat_differences *d, const struct tlat_members *m, const char *state)
{
	double a = idle_share(m, TLAT_BASE, state), b = idle_share(m, TLAT_NEXT, state);
	char name[96], base[32], next[32];

	snprintf(name, sizeof(name), "idle.%.60s", state);
	if (fabs(a - b) < SHARE_POINTS || is_listed(d, name))
		return 0;
	tlat_format(base, sizeof(base), "%.1f%% of time", 100 * a);
	tlat_format(next, sizeof(next), "%.1f%% of time", 100 * b);
	return add(d, name, base, next);
}

static int compare_idles(struct tlat_differences *d, const struct tlat_members *m)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < m->n; i++) {
		const struct tlat_result *r = first_result(m->v[i].report);
		struct tlat_idle_share idle = { .size = sizeof(idle) };

		for (size_t k = 0; !ret && r && tlat_result_idle(r, k, &idle) == 0; k++)
			if (idle.cpu == r->wait.cpu)
				ret = compare_idle(d, m, idle.state);
	}
	return ret;
}

int tlat_differences_make(struct tlat_differences *d, const struct tlat_members *m)
{
	int ret = compare_facts(d, m);

	for (size_t i = 0; !ret && i < TLAT_SETTINGS; i++)
		ret = compare_setting(d, m, &tlat_settings[i]);
	if (ret < 0 || (ret = compare_text(d, m, "run.load", load_of)) < 0 ||
	    (ret = compare_text(d, m, "design.setup", setup_of)) < 0 ||
	    (ret = compare_text(d, m, "design.command", command_of)) < 0)
		return ret;
	return compare_idles(d, m);
}
