// SPDX-License-Identifier: MIT
/*
 * noise_spin.c - the thread that spins and sees when it did not. After each gap, and only then, it
 * asks the kernel how often it was switched; what that costs is no gap of the machine's.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "noise.h"
#include "rt.h"

static uint64_t switches_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Where the controller is too slow, or cannot run, the first gaps are those that are kept. */
static void log_gap(struct tlat_noise_thread *t, uint64_t at, uint64_t length, uint64_t switches)
{
	uint64_t written = atomic_load_explicit(&t->written, memory_order_relaxed);

	if (written - atomic_load_explicit(&t->taken, memory_order_acquire) == TLAT_NOISE_LOG) {
		t->dropped++;
		t->dropped_ticks += length;
		t->dropped_max = length > t->dropped_max ? length : t->dropped_max;
		return;
	}
	t->log[written % TLAT_NOISE_LOG] =
		(struct tlat_noise_entry){ at, length, (uint32_t)switches };
	atomic_store_explicit(&t->written, written + 1, memory_order_release);
}

/* Until the duration is over or the end is asked for. */
static void spin(struct tlat_noise_thread *t)
{
	uint64_t switches = switches_so_far();
	uint64_t last = tlat_stamp_begin(&t->stamper);

	t->began = last;
	while (last - t->began < t->duration && !tlat_noise_stopping(t->noise)) {
		uint64_t now = tlat_stamp_begin(&t->stamper), before;

		if (now - last > t->threshold) {
			tlat_hist_record(t->hist, (int64_t)(now - last));
			before = switches;
			switches = switches_so_far();
			log_gap(t, last, now - last, switches - before);
			now = tlat_stamp_begin(&t->stamper);
		}
		last = now;
	}
	t->ended = last;
}

static int set_up(struct tlat_noise_thread *t, struct tlat_rt **ret_rt)
{
	char cpus[16];
	struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.cpus = cpus, .policy = t->policy, .priority = t->priority);
	struct tlat_rt_state state = { .size = sizeof(state) };
	int error;

	snprintf(cpus, sizeof(cpus), "%d", t->cpu);
	error = tlat_rt_apply(ret_rt, &opts, &t->why);
	if (error)
		return error;
	error = tlat_rt_state(&state);
	if (error)
		return tlat_fail(&t->why, error, "CPU %d: scheduling attributes cannot be read: %s",
				 t->cpu, strerror(-error));
	t->facts = (struct tlat_side_facts){ .cpu = state.cpu,
					     .policy = state.policy,
					     .priority = state.priority,
					     .tid = (int32_t)syscall(SYS_gettid),
					     .slack_ns = state.slack_ns };
	tlat_rt_drop_caps(NULL, NULL);
	return 0;
}

void *tlat_noise_measure(void *arg)
{
	struct tlat_noise_thread *t = arg;
	struct tlat_rt *rt = NULL;
	int error = set_up(t, &rt);

	if (tlat_gate_arrive(&t->noise->gate, error)) {
		getrusage(RUSAGE_THREAD, &t->before);
		spin(t);
		getrusage(RUSAGE_THREAD, &t->after);
	}
	atomic_store(&t->done, true);
	tlat_rt_undo(rt);
	return NULL;
}
