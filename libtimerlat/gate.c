// SPDX-License-Identifier: MIT
/* gate.c - a gate that opens once: nobody spins on it, whatever the priorities. */
#include "gate.h"

void tlat_gate_init(struct tlat_gate *gate)
{
	*gate = (struct tlat_gate){ .state = TLAT_GATE_SHUT };
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->changed, NULL);
}

void tlat_gate_destroy(struct tlat_gate *gate)
{
	pthread_cond_destroy(&gate->changed);
	pthread_mutex_destroy(&gate->lock);
}

bool tlat_gate_arrive(struct tlat_gate *gate, int error)
{
	bool open;

	pthread_mutex_lock(&gate->lock);
	gate->arrived++;
	gate->failed += error != 0;
	pthread_cond_broadcast(&gate->changed);
	while (gate->state == TLAT_GATE_SHUT)
		pthread_cond_wait(&gate->changed, &gate->lock);
	open = gate->state == TLAT_GATE_OPEN;
	pthread_mutex_unlock(&gate->lock);
	return open && !error;
}

int tlat_gate_gather(struct tlat_gate *gate, int n)
{
	int failed;

	pthread_mutex_lock(&gate->lock);
	while (gate->arrived < n)
		pthread_cond_wait(&gate->changed, &gate->lock);
	failed = gate->failed;
	pthread_mutex_unlock(&gate->lock);
	return failed;
}

void tlat_gate_set(struct tlat_gate *gate, int state)
{
	pthread_mutex_lock(&gate->lock);
	gate->state = state;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}
