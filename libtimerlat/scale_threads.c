// SPDX-License-Identifier: MIT
/* scale_threads.c - threads that begin together, and why one of them could not. */
#include <string.h>

#include "scale.h"

void tlat_scale_threads_init(struct tlat_scale_threads *t, const struct tlat_scale *s)
{
	*t = (struct tlat_scale_threads){ .policy = s->policy, .priority = s->priority };
	tlat_gate_init(&t->gate);
}

void tlat_scale_threads_destroy(struct tlat_scale_threads *t)
{
	tlat_gate_destroy(&t->gate);
}

bool tlat_scale_threads_arrive(struct tlat_scale_threads *t, int32_t cpu)
{
	struct tlat_side_facts facts;
	const char *what;
	int error = tlat_become(cpu, t->policy, t->priority, &facts, &what), none = 0;

	if (error && atomic_compare_exchange_strong(&t->error, &none, error)) {
		t->failed_cpu = cpu;
		t->failed_what = what;
	}
	return tlat_gate_arrive(&t->gate, error);
}

int tlat_scale_threads_release(struct tlat_scale_threads *t, int started, int error,
			       struct tlat_error *reterr)
{
	if (error)
		tlat_fail(reterr, error,
			  "thread %d of this size not created: %s; check RLIMIT_NPROC and the "
			  "cgroup's pids.max",
			  started + 1, strerror(-error));
	if (tlat_gate_gather(&t->gate, started) && !error) {
		error = atomic_load(&t->error);
		tlat_fail(reterr, error, "thread on CPU %d: %s: %s", t->failed_cpu, t->failed_what,
			  strerror(-error));
	}
	t->opened_ns = tlat_gettime_ns(CLOCK_MONOTONIC); /* before: they may take this CPU */
	tlat_gate_set(&t->gate, error ? TLAT_GATE_ABORTED : TLAT_GATE_OPEN);
	return error;
}
