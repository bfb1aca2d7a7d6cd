// SPDX-License-Identifier: MIT
/* watch_delta.c - what happened between two snapshots, as an object: copied, asked, freed. */
#include <stdlib.h>
#include <string.h>

#include "watch.h"

void tlat_watch_delta_free(struct tlat_watch_delta *delta)
{
	if (!delta)
		return;
	free(delta->idle);
	free(delta->stolen);
	free(delta->interrupts);
	free(delta->softirqs);
	free(delta);
}

/* n items in memory of their own; false: out of memory. */
static bool copy_array(void *ret_copy, const void *from, size_t n, size_t size)
{
	void *copy = calloc(n + 1, size);

	if (copy && n)
		memcpy(copy, from, n * size);
	memcpy(ret_copy, &copy, sizeof(copy));
	return copy;
}

struct tlat_watch_delta *tlat_watch_delta_copy(const struct tlat_watch_delta *delta)
{
	struct tlat_watch_delta *copy = delta ? malloc(sizeof(*copy)) : NULL;

	if (!copy)
		return NULL;
	*copy = *delta;
	copy->stolen = NULL;
	copy->interrupts = copy->softirqs = NULL;
	if (copy_array(&copy->idle, delta->idle, delta->n_idle, sizeof(*delta->idle)) &&
	    copy_array(&copy->stolen, delta->stolen, delta->n_stolen, sizeof(*delta->stolen)) &&
	    copy_array(&copy->interrupts, delta->interrupts, delta->n_interrupts,
		       sizeof(*delta->interrupts)) &&
	    copy_array(&copy->softirqs, delta->softirqs, delta->n_softirqs,
		       sizeof(*delta->softirqs)))
		return copy;
	tlat_watch_delta_free(copy);
	return NULL;
}

int64_t tlat_watch_stolen_ns(const struct tlat_watch_delta *delta, int32_t cpu)
{
	for (size_t i = 0; i < delta->n_stolen; i++)
		if (delta->stolen[i].cpu == cpu)
			return delta->stolen[i].ns;
	return 0;
}
