/* SPDX-License-Identifier: MIT */
/*
 * select.h - which probes a command line means.
 */
#ifndef TLAT_SELECT_H
#define TLAT_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include <timerlat.h>

struct tlat_selection {
	struct tlat_probe_facts *probes; /* each once, in the order named */
	bool *runs;			 /* here, each of them */
	size_t n;
};

/* Facts of the probe of that name. Returns 0 or -ENOENT. */
int tlat_select_find(const char *name, struct tlat_probe_facts *facts);

/*
 * Resolve names and globs. A name that is no probe, a glob that matches none, and a probe named
 * without a glob that cannot run here fail with the reason; what a glob matches need not run.
 */
int tlat_select(struct tlat_selection *selection, char *const words[], size_t n,
		struct tlat_error *reterr);
void tlat_select_free(struct tlat_selection *selection);

/* Whether a command that repeats this one names probe i: not what it would be refused for. */
bool tlat_select_repeats(const struct tlat_selection *selection, size_t i);

/* How many it names, and how many of those have a waker and a waiter. */
size_t tlat_select_count(const struct tlat_selection *selection);
size_t tlat_select_pairs(const struct tlat_selection *selection);

#endif /* TLAT_SELECT_H */
