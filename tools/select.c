// SPDX-License-Identifier: MIT
/* select.c - names and globs to probes. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "tool.h"

static int facts_at(size_t index, struct tlat_probe_facts *facts)
{
	*facts = (struct tlat_probe_facts){ .size = sizeof(*facts) };
	return tlat_probe_facts(index, facts);
}

int tlat_select_find(const char *name, struct tlat_probe_facts *facts)
{
	for (size_t i = 0; facts_at(i, facts) == 0; i++)
		if (!strcmp(facts->name, name))
			return 0;
	return -ENOENT;
}

static bool is_glob(const char *word)
{
	return strpbrk(word, "*?[");
}

static bool has(const struct tlat_selection *selection, const char *name)
{
	for (size_t i = 0; i < selection->n; i++)
		if (!strcmp(selection->probes[i].name, name))
			return true;
	return false;
}

static int add(struct tlat_selection *selection, const struct tlat_probe_facts *facts, bool runs,
	       struct tlat_error *reterr)
{
	size_t n = selection->n + 1;
	struct tlat_probe_facts *grown;
	bool *grown_runs;

	if (has(selection, facts->name))
		return 0;
	grown = realloc(selection->probes, n * sizeof(*grown));
	if (grown)
		selection->probes = grown;
	grown_runs = grown ? realloc(selection->runs, n * sizeof(*grown_runs)) : NULL;
	if (!grown_runs)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory for the probes");
	selection->runs = grown_runs;
	grown_runs[selection->n] = runs;
	grown[selection->n++] = *facts;
	return 0;
}

static int no_such(struct tlat_error *reterr, const char *word)
{
	return tlat_tool_fail(reterr, -ENOENT, "no probe %s '%.100s'; see tlat list",
			      is_glob(word) ? "matches" : "is named", word);
}

static int add_glob(struct tlat_selection *selection, const char *glob, struct tlat_error *reterr)
{
	struct tlat_probe_facts facts;
	size_t matches = 0;

	for (size_t i = 0; facts_at(i, &facts) == 0; i++) {
		if (fnmatch(glob, facts.name, 0))
			continue;
		matches++;
		if (add(selection, &facts, tlat_probe_check(facts.name, NULL) == 0, reterr) < 0)
			return -ENOMEM;
	}
	return matches ? 0 : no_such(reterr, glob);
}

static int add_name(struct tlat_selection *selection, const char *name, struct tlat_error *reterr)
{
	struct tlat_probe_facts facts;
	int r;

	if (tlat_select_find(name, &facts) < 0)
		return no_such(reterr, name);
	r = tlat_probe_check(name, reterr);
	return r < 0 ? r : add(selection, &facts, true, reterr);
}

/* The same word; that a pattern matches what is named as well is no mistake. */
static bool is_named_before(char *const words[], size_t i)
{
	for (size_t other = 0; other < i; other++)
		if (!strcmp(words[other], words[i]))
			return true;
	return false;
}

int tlat_select(struct tlat_selection *selection, char *const words[], size_t n,
		struct tlat_error *reterr)
{
	*selection = (struct tlat_selection){ 0 };
	for (size_t i = 0; i < n; i++) {
		int r;

		if (is_named_before(words, i))
			r = tlat_tool_fail(reterr, -EINVAL, "'%.100s' is named twice; once will do",
					   words[i]);
		else
			r = is_glob(words[i]) ? add_glob(selection, words[i], reterr)
					      : add_name(selection, words[i], reterr);
		if (r < 0) {
			tlat_select_free(selection);
			return r;
		}
	}
	return 0;
}

void tlat_select_free(struct tlat_selection *selection)
{
	free(selection->probes);
	free(selection->runs);
	*selection = (struct tlat_selection){ 0 };
}

bool tlat_select_repeats(const struct tlat_selection *selection, size_t i)
{
	bool any = false;

	for (size_t k = 0; k < selection->n; k++)
		any |= selection->runs[k];
	return selection->runs[i] || !any;
}

size_t tlat_select_count(const struct tlat_selection *selection)
{
	size_t count = 0;

	for (size_t i = 0; i < selection->n; i++)
		count += tlat_select_repeats(selection, i);
	return count;
}

size_t tlat_select_pairs(const struct tlat_selection *selection)
{
	size_t pairs = 0;

	for (size_t i = 0; i < selection->n; i++)
		pairs += selection->probes[i].pair == 1 && tlat_select_repeats(selection, i);
	return pairs;
}
