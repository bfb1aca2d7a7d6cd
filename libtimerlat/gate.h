/* SPDX-License-Identifier: MIT */
/* gate.h - where threads park, blocked, until all of them are ready. */
#ifndef TLAT_GATE_H
#define TLAT_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct tlat_gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int arrived, failed;
	enum { TLAT_GATE_SHUT, TLAT_GATE_OPEN, TLAT_GATE_ABORTED } state;
};

void tlat_gate_init(struct tlat_gate *gate);
void tlat_gate_destroy(struct tlat_gate *gate);
/* From a measuring thread: ready (error 0) or not; whether the gate opened for it. */
bool tlat_gate_arrive(struct tlat_gate *gate, int error);
/* From the controller: wait for n threads; 0, or how many of them failed. */
int tlat_gate_gather(struct tlat_gate *gate, int n);
void tlat_gate_set(struct tlat_gate *gate, int state);

#endif /* TLAT_GATE_H */
