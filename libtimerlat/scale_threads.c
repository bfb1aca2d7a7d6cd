// SPDX-License-Identifier: MIT
/* scale_threads.c - threads that begin together, and why one of them could not. */
#include <string.h>
#include <unistd.h>

#include "scale.h"
#include "thread.h"

#define STACK_BYTES 49152 /* beyond the least that the C library takes */

void tlat_scale_threads_init(struct tlat_scale_threads *t, const struct tlat_scale *s)
{
	*t = (struct tlat_scale_threads){
		.policy = s->policy,
		.priority = s->priority,
		.stack_bytes = STACK_BYTES + (size_t)sysconf(_SC_THREAD_STACK_MIN),
	};
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

	if (!error && !atomic_exchange(&t->arrived, true))
		t->facts = facts;
	if (error && atomic_compare_exchange_strong(&t->error, &none, error)) {
		t->failed_cpu = cpu;
		t->failed_what = what;
	}
	return tlat_gate_arrive(&t->gate, error);
}

bool tlat_scale_threads_start(struct tlat_scale_threads *t, pthread_t *ret_thread,
			      void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, t->stack_bytes);
	t->refused = tlat_thread_start(ret_thread, &attr, fn, arg);
	t->started += !t->refused;
	pthread_attr_destroy(&attr);
	return !t->refused;
}

int tlat_scale_threads_release(struct tlat_scale_threads *t, struct tlat_error *reterr)
{
	char why[TLAT_REFUSAL_TEXT];
	int error = t->refused;

	if (error)
		tlat_fail(reterr, error, "thread %d of this size not created: %s", t->started + 1,
			  tlat_thread_refusal(error, t->stack_bytes, why, sizeof(why)));
	if (tlat_gate_gather(&t->gate, t->started) && !error) {
		error = atomic_load(&t->error);
		tlat_fail(reterr, error, "thread on CPU %d: %s: %s", t->failed_cpu, t->failed_what,
			  strerror(-error));
	}
	t->opened_ns = tlat_gettime_ns(CLOCK_MONOTONIC); /* before: they may take this CPU */
	tlat_gate_set(&t->gate, error ? TLAT_GATE_ABORTED : TLAT_GATE_OPEN);
	return error;
}
