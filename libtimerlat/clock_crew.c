// SPDX-License-Identifier: MIT
/*
 * clock_crew.c - how to let threads spin on given CPUs without ever hanging: a
 * CPU may belong to a SCHED_FIFO thread that never lets go, and then a thread
 * pinned there cannot even be told to stop. It is called back by moving it from
 * outside to the CPUs it came from.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "clock.h"
#include "clock_crew.h"
#include "thread.h"

#define RECALL_NS 10000000 /* a member may have pinned itself just after it was called back */

struct member {
	struct tlat_crew *crew;
	size_t index;
	int32_t cpu;
	_Atomic pid_t tid;
	pthread_t thread;
};

struct tlat_crew {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t n, arrived, done;
	bool go;  /* decided once, by the last to arrive */
	int code; /* the first failure */
	int pin_errno;
	int32_t bad_cpu;
	atomic_bool abandoned;
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	tlat_crew_fn *fn;
	void *data;
	struct tlat_cpuset home; /* the caller's CPUs */
	struct member *members;
};

bool tlat_crew_expired(const struct tlat_crew *crew)
{
	return atomic_load_explicit(&crew->abandoned, memory_order_relaxed) ||
	       (int64_t)tlat_gettime_ns(CLOCK_MONOTONIC) > crew->deadline_ns;
}

static int wait_until(struct tlat_crew *crew, int64_t at_ns)
{
	struct timespec ts = tlat_timespec_of_ns(at_ns);

	return pthread_cond_timedwait(&crew->changed, &crew->lock, &ts);
}

static void fail(struct tlat_crew *crew, int code, int32_t cpu, int pin_errno)
{
	pthread_mutex_lock(&crew->lock);
	if (!crew->code) {
		crew->code = code;
		crew->bad_cpu = cpu;
		crew->pin_errno = pin_errno;
	}
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
}

/* Pin the calling thread; 0 or a positive errno. */
static int pin(int32_t cpu)
{
	int r = tlat_affinity_pin(0, cpu);

	/* A filter may let the call succeed without any effect. */
	if (r == 0 && sched_getcpu() != cpu)
		r = -EPROTO;
	return -r;
}

/* Park until all have arrived; false when that is not going to happen. */
static bool arrive(struct tlat_crew *crew)
{
	bool go;

	pthread_mutex_lock(&crew->lock);
	if (++crew->arrived == crew->n && !crew->code)
		crew->go = true;
	pthread_cond_broadcast(&crew->changed);
	while (!crew->go && !crew->code) {
		if (wait_until(crew, crew->deadline_ns) == ETIMEDOUT && !crew->go && !crew->code)
			crew->code = -ETIMEDOUT;
	}
	go = crew->go;
	pthread_mutex_unlock(&crew->lock);
	return go;
}

static void serve(struct tlat_crew *crew, size_t index)
{
	crew->fn(crew, index, crew->data);
	if (tlat_crew_expired(crew))
		fail(crew, -ETIMEDOUT, -1, 0);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct tlat_crew *crew = m->crew;
	int error;

	m->tid = (pid_t)syscall(SYS_gettid);
	tlat_thread_be_ordinary();
	error = pin(m->cpu);
	if (error)
		fail(crew, -EINVAL, m->cpu, error);
	else if (arrive(crew))
		serve(crew, m->index);
	tlat_affinity_set(0, &crew->home);
	pthread_mutex_lock(&crew->lock);
	crew->done++;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static int start(struct tlat_crew *crew, size_t i, int32_t cpu)
{
	struct member *m = &crew->members[i];

	m->crew = crew;
	m->index = i;
	m->cpu = cpu;
	return tlat_thread_start(&m->thread, NULL, member_main, m);
}

/* Returns how many were started; fewer than all is a failure of the crew. */
static size_t start_all(struct tlat_crew *crew, const int32_t *cpus)
{
	size_t i;
	int error = 0;

	for (i = 0; i < crew->n; i++) {
		error = start(crew, i, cpus[i]);
		if (error)
			break;
	}
	if (error)
		fail(crew, error, -1, 0);
	return i;
}

static void call_back(struct tlat_crew *crew, size_t started)
{
	crew->abandoned = true;
	if (!crew->code)
		crew->code = -ETIMEDOUT;
	for (size_t i = 0; i < started; i++) {
		pid_t tid = crew->members[i].tid;

		if (tid)
			tlat_affinity_set(tid, &crew->home);
	}
}

static void finish(struct tlat_crew *crew, size_t started)
{
	int64_t at_ns = crew->deadline_ns;

	pthread_mutex_lock(&crew->lock);
	while (crew->done < started) {
		if (wait_until(crew, at_ns) != ETIMEDOUT || crew->done == started)
			continue;
		call_back(crew, started);
		at_ns = (int64_t)tlat_gettime_ns(CLOCK_MONOTONIC) + RECALL_NS;
	}
	pthread_mutex_unlock(&crew->lock);
	for (size_t i = 0; i < started; i++)
		pthread_join(crew->members[i].thread, NULL);
}

static int explain(const struct tlat_crew *crew, int64_t limit_ns, struct tlat_error *reterr)
{
	char why[TLAT_REFUSAL_TEXT];

	if (!crew->code)
		return 0;
	if (crew->bad_cpu >= 0)
		return tlat_fail(
			reterr, crew->code,
			"CPU %d: a thread cannot be pinned there: %s; choose a CPU that is "
			"online and in this process's cpuset",
			crew->bad_cpu, strerror(crew->pin_errno));
	if (crew->code == -ETIMEDOUT)
		return tlat_fail(
			reterr, crew->code,
			"clock: threads pinned for calibration got no time within %lld ms; "
			"stop the real-time thread that occupies their CPU",
			(long long)(limit_ns / 1000000));
	return tlat_fail(reterr, crew->code, "clock: no thread could be started: %s",
			 tlat_thread_refusal(crew->code, 0, why, sizeof(why)));
}

static int check_cpus(const int32_t *cpus, size_t n, struct tlat_error *reterr)
{
	for (size_t i = 0; i < n; i++)
		if (cpus[i] < 0 || cpus[i] >= TLAT_CPUS_MAX)
			return tlat_fail(reterr, -EINVAL,
					 "CPU %d: no such number; CPUs are "
					 "0 to %d",
					 cpus[i], TLAT_CPUS_MAX - 1);
	return 0;
}

static void init_sync(struct tlat_crew *crew)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&crew->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&crew->lock, NULL);
}

int tlat_crew_run(const int32_t *cpus, size_t n, int64_t limit_ns, tlat_crew_fn *fn, void *data,
		  struct tlat_error *reterr)
{
	struct tlat_crew crew = { .n = n, .bad_cpu = -1, .fn = fn, .data = data };
	int rc = check_cpus(cpus, n, reterr);

	if (rc < 0)
		return rc;
	crew.members = calloc(n, sizeof(*crew.members));
	rc = tlat_affinity_get(0, &crew.home);
	if (!crew.members) {
		rc = tlat_fail(reterr, -ENOMEM, "clock: no memory for %zu threads", n);
	} else if (rc < 0) {
		tlat_fail(reterr, rc, "clock: sched_getaffinity: %s; a seccomp filter?",
			  strerror(-rc));
	} else {
		init_sync(&crew);
		crew.deadline_ns = (int64_t)tlat_gettime_ns(CLOCK_MONOTONIC) + limit_ns;
		finish(&crew, start_all(&crew, cpus));
		rc = explain(&crew, limit_ns, reterr);
		pthread_cond_destroy(&crew.changed);
		pthread_mutex_destroy(&crew.lock);
	}
	free(crew.members);
	return rc;
}
