// SPDX-License-Identifier: MIT
/*
 * storm_worker.c - the life of a worker: attributes, timers made with their signals blocked, the
 * gate, the main loop whose turns are the progress, and the books.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "futex.h"
#include "storm.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid /* glibc before 2.41 */
#endif

static int fail(struct tlat_storm_worker *w, const char *what, int error)
{
	snprintf(w->what, sizeof(w->what), "%s", what);
	w->error = error;
	return error;
}

/* Aimed at this thread. A clock that the kernel does not have is left out, as is a timer that the
 * limit on queued signals refuses. */
static int create_posix(struct tlat_storm_worker *w, int32_t i)
{
	struct tlat_storm_timer *t = &w->timers[i];
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGRTMIN,
		.sigev_value.sival_int = i,
	};
	int id = 0;

	event.sigev_notify_thread_id = w->got.tid;
	if (!syscall(SYS_timer_create, tlat_storm_clocks[t->clock].id, &event, &id)) {
		t->id = id;
		return 0;
	}
	if (errno == EAGAIN) {
		w->refused++;
		return 0;
	}
	if (errno != EINVAL && errno != EOPNOTSUPP)
		return fail(w, "timer_create", -errno);
	w->missing |= 1u << t->clock;
	return 0;
}

static int create_timers(struct tlat_storm_worker *w)
{
	int error = 0;

	for (int32_t i = 0; i < w->n_timers && !error; i++)
		if (tlat_storm_clocks[w->timers[i].clock].kind <= TLAT_STORM_CPU)
			error = create_posix(w, i);
	if (error)
		return error;
	error = tlat_storm_fds_open(w);
	return error ? fail(w, "timerfd_create or io_uring_setup", error) : 0;
}

static int set_up(struct tlat_storm_worker *w)
{
	const char *what;
	int error = tlat_become(w->cpu, w->policy, w->storm->plan.priority, &w->got, &what);

	if (error)
		return fail(w, what, error);
	tlat_storm_signals(w);
	return create_timers(w);
}

static void await_go(struct tlat_storm_worker *w)
{
	while (!tlat_storm_get(w->storm->go))
		tlat_futex(&w->storm->go, FUTEX_WAIT, 0);
}

static void take_usage(struct tlat_storm_worker *w, int64_t sign)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	w->cpu_ns += sign * (int64_t)tlat_gettime_ns(CLOCK_PROCESS_CPUTIME_ID);
	w->voluntary += (uint64_t)(sign * usage.ru_nvcsw);
	w->involuntary += (uint64_t)(sign * usage.ru_nivcsw);
	w->minor_faults += (uint64_t)(sign * usage.ru_minflt);
	w->major_faults += (uint64_t)(sign * usage.ru_majflt);
}

/* What shows that the thread gets more done than its handlers. */
static void note_progress(struct tlat_storm_worker *w)
{
	uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC);

	if (now - w->progress_at_ns > w->longest_pause_ns)
		w->longest_pause_ns = now - w->progress_at_ns;
	w->progress_at_ns = now;
	tlat_storm_add(w->progress, 1);
}

static void turn(struct tlat_storm_worker *w)
{
	const struct tlat_storm_plan *plan = &w->storm->plan;
	const struct timespec nap = tlat_timespec_of_ns(plan->nap_ns);

	if (!tlat_storm_fds_turn(w, plan->nap_ns))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	if (plan->yields)
		sched_yield();
}

static void storm(struct tlat_storm_worker *w)
{
	tlat_arch_free_vectors();
	take_usage(w, -1);
	w->began_ns = w->progress_at_ns = w->asked_until_ns = tlat_gettime_ns(CLOCK_MONOTONIC);
	tlat_storm_arm(w);
	tlat_storm_fds_arm(w);
	tlat_storm_block(false);
	while (!tlat_storm_stopping(w->storm, 0)) {
		turn(w);
		note_progress(w);
	}
	tlat_storm_block(true);
	w->ended_ns = tlat_gettime_ns(CLOCK_MONOTONIC);
	take_usage(w, 1);
}

void tlat_storm_work(void *arg)
{
	struct tlat_storm_worker *w = arg;

	tlat_shared_touch(w->storm, w->storm->bytes);
	if (set_up(w)) {
		atomic_store(&w->stage, TLAT_STORM_FAILED);
		return;
	}
	atomic_store(&w->stage, TLAT_STORM_READY);
	await_go(w);
	storm(w);
	tlat_storm_close_books(w);
	tlat_storm_disarm(w);
	tlat_storm_fds_close(w);
	atomic_store(&w->stage, TLAT_STORM_ENDED);
}
