// SPDX-License-Identifier: MIT
/*
 * noise_spin.c - the thread that spins and sees when it did not. After each gap, and no more than
 * that needs, it asks the kernel how often it was switched: a gap with a switch needs nobody else
 * to tell what it was. After each gap and every now and then it looks whether it still is on its
 * CPU. What that costs is no gap of the machine's.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "noise.h"
#include "rt.h"

static uint64_t switches_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Where the controller is too slow, or cannot run, the first gaps are those that are kept. */
static void log_gap(struct tlat_noise_thread *t, uint64_t length)
{
	uint64_t written = atomic_load_explicit(&t->written, memory_order_relaxed);

	if (written - atomic_load_explicit(&t->taken, memory_order_acquire) == TLAT_NOISE_LOG) {
		tlat_noise_total_add(&t->seen[TLAT_NOISE_UNJUDGED], tlat_noise_ns(t, length));
		return;
	}
	t->log[written % TLAT_NOISE_LOG] = length;
	atomic_store_explicit(&t->written, written + 1, memory_order_release);
}

static void note_gap(struct tlat_noise_thread *t, uint64_t at, uint64_t length)
{
	int64_t at_ns = tlat_noise_ns(t, at - t->began), length_ns = tlat_noise_ns(t, length);
	uint64_t before = t->switches;

	tlat_hist_record(t->hist, (int64_t)length);
	t->switches = switches_so_far();
	if (t->switches == before)
		log_gap(t, length);
	else
		tlat_noise_total_add(
			&t->seen[tlat_noise_judge_switched(&t->throttle, at_ns, length_ns)],
			length_ns);
}

/*
 * The kernel moves a pinned thread elsewhere when its CPU goes offline or its cpuset loses it;
 * before Linux 6.2 a change of the cpuset widens its mask at least, and others have taskset. It
 * goes back where it can, else what it would see is another CPU's.
 */
static void go_back(struct tlat_noise_thread *t)
{
	struct tlat_cpuset own = { 0 }, mask;

	tlat_cpuset_add(&own, t->cpu);
	if (!tlat_affinity_get(0, &mask) && tlat_cpuset_equal(&mask, &own))
		return; /* it is where it may be, and a sandbox counts its CPUs otherwise */
	t->lost = tlat_affinity_pin(0, t->cpu);
	if (t->lost) {
		atomic_store(&t->noise->broken, true);
		return;
	}
	t->displaced++;
	t->switches = switches_so_far();
}

static void keep_place(struct tlat_noise_thread *t)
{
	int cpu = sched_getcpu();

	if (cpu >= 0 && cpu != t->cpu)
		go_back(t);
}

/* Signed: a counter that a suspend has reset is before, not an age later. */
static bool is_gap(const struct tlat_noise_thread *t, uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > (int64_t)t->threshold;
}

/* The next stamp after last, with what has passed so far kept where the counter began anew. */
static uint64_t go_on(struct tlat_noise_thread *t, uint64_t last, uint64_t now)
{
	if ((int64_t)(now - last) < 0)
		t->began -= last - now;
	return now;
}

/* Until the duration is over, the end is asked for, or a CPU is lost. */
static void spin(struct tlat_noise_thread *t)
{
	uint64_t last, looked;

	t->switches = switches_so_far();
	t->began = last = looked = tlat_stamp_begin(&t->stamper);
	while (last - t->began < t->duration && !tlat_noise_stopping(t->noise)) {
		uint64_t now = tlat_stamp_begin(&t->stamper);
		bool gap = is_gap(t, last, now);

		if (gap)
			note_gap(t, last, now - last);
		last = go_on(t, last, now);
		if (gap || now - looked >= t->look_every) {
			keep_place(t);
			/* who came in between is not the next gap's doing */
			if (!gap && is_gap(t, now, tlat_stamp_begin(&t->stamper)))
				t->switches = switches_so_far();
			last = looked = go_on(t, last, tlat_stamp_begin(&t->stamper));
		}
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
	t->throttle.real_time = tlat_policy_is_ranked(state.policy);
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
