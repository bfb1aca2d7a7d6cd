// SPDX-License-Identifier: MIT
/*
 * machine_trial.c - which CPUs a thread of this process can have, found out by giving them to one.
 * It waits meanwhile, and does no work on any of them.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "gate.h"
#include "machine_state.h"
#include "thread.h"

struct sleeper {
	struct tlat_gate gate;
	pid_t tid;
};

static void *sleep_through(void *arg)
{
	struct sleeper *sleeper = arg;

	sleeper->tid = (pid_t)syscall(SYS_gettid);
	tlat_gate_arrive(&sleeper->gate, 0);
	return NULL;
}

/* Other errors than EINVAL are those of the call, which a sandbox denies, and not of the CPU. */
static void try_cpu(pid_t tid, int32_t cpu, struct tlat_trial *trial)
{
	int r = tlat_affinity_pin(tid, cpu);

	if (r == 0)
		tlat_cpuset_add(&trial->taken, cpu);
	else if (r == -EINVAL)
		tlat_cpuset_add(&trial->refused, cpu);
}

struct tlat_trial tlat_machine_try(const struct tlat_cpuset *cpus, const struct tlat_cpuset *home)
{
	struct tlat_trial trial = { .taken = { { 0 } } };
	struct sleeper sleeper = { .tid = 0 };
	pthread_t thread;

	tlat_gate_init(&sleeper.gate);
	if (tlat_thread_start(&thread, NULL, sleep_through, &sleeper) == 0) {
		tlat_gate_gather(&sleeper.gate, 1);
		for (int32_t cpu = tlat_cpuset_next(cpus, -1); cpu >= 0;
		     cpu = tlat_cpuset_next(cpus, cpu))
			try_cpu(sleeper.tid, cpu, &trial);
		tlat_affinity_set(sleeper.tid, home);
		tlat_gate_set(&sleeper.gate, TLAT_GATE_OPEN);
		pthread_join(thread, NULL);
	}
	tlat_gate_destroy(&sleeper.gate);
	return trial;
}
