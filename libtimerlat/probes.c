// SPDX-License-Identifier: MIT
/* probes.c - the table of probes, made from probes.def. */
#include <string.h>

#include "probe.h"

#define PROBE(id) extern const struct tlat_probe_ops tlat_probe_##id;
#include "probes.def"
#undef PROBE

const struct tlat_probe_ops *const tlat_probes[] = {
#define PROBE(id) &tlat_probe_##id,
#include "probes.def"
#undef PROBE
};

const size_t tlat_probe_count = TLAT_ARRAY_SIZE(tlat_probes);

const struct tlat_probe_ops *tlat_probe_find(const char *name)
{
	for (size_t i = 0; i < tlat_probe_count; i++)
		if (!strcmp(tlat_probes[i]->name, name))
			return tlat_probes[i];
	return NULL;
}

int tlat_probe_facts(size_t index, struct tlat_probe_facts *facts)
{
	struct tlat_probe_facts found = { 0 };
	const struct tlat_probe_ops *ops;

	if (index >= tlat_probe_count)
		return -ENOENT;
	ops = tlat_probes[index];
	found.name = ops->name;
	found.from = ops->from;
	found.to = ops->to;
	found.pair = !!(ops->flags & TLAT_PROBE_PAIR);
	found.spins = !!(ops->flags & TLAT_PROBE_NOSLEEP);
	return tlat_facts_copy(facts, &found, sizeof(found));
}

int tlat_probe_check(const char *name, struct tlat_error *reterr)
{
	const struct tlat_probe_ops *ops = tlat_probe_find(name);

	if (!ops)
		return tlat_fail(reterr, -ENOENT, "no probe is called '%s'; see 'tlat list'", name);
	return ops->supported ? ops->supported(reterr) : 0;
}
