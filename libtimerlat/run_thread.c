// SPDX-License-Identifier: MIT
/*
 * run_thread.c - the life of a measuring thread: attributes, memory, read-back,
 * capabilities away, the probe's own set-up, the gate, the loop.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt.h"
#include "run_thread.h"

#define STACK_BYTES	(128 * 1024)
#define STACK_BYTES_MAX (16 * 1024 * 1024)
#define FLOOR_SAMPLES	2000

/* == Gate == */

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

/* == Set-up of the calling thread == */

/* Policy, CPU and slack; without the policy when it is refused and nobody insists. */
static int apply_attributes(struct tlat_measurer *m)
{
	char cpus[16];
	struct tlat_rt_opts opts = TLAT_RT_OPTS(.cpus = cpus, .policy = m->policy,
						.priority = m->priority, .slack_ns = m->slack_ns);
	int error;

	snprintf(cpus, sizeof(cpus), "%d", m->cpu);
	error = tlat_rt_apply(&m->rt, &opts, &m->why);
	if (!error || m->strict || m->policy == TLAT_SCHED_INHERIT)
		return error;
	opts.policy = TLAT_SCHED_INHERIT;
	opts.priority = 0;
	if (tlat_rt_apply(&m->rt, &opts, NULL))
		return error;
	tlat_findings_add(&m->findings, TLAT_WARN, "policy-refused", NULL, "%s", m->why.text);
	return 0;
}

static int read_back(struct tlat_measurer *m)
{
	struct tlat_rt_state state = { .size = sizeof(state) };
	int error = tlat_rt_state(&state);

	if (error)
		return tlat_fail(&m->why, error, "CPU %d: scheduling attributes cannot be read: %s",
				 m->cpu, strerror(-error));
	m->facts.cpu = state.cpu;
	m->facts.policy = state.policy;
	m->facts.priority = state.priority;
	m->facts.slack_ns = state.slack_ns;
	m->facts.tid = (int32_t)syscall(SYS_gettid);
	return 0;
}

/* Keep a page fault out of the measurement. */
static void lock_memory(struct tlat_measurer *m, const void *mem, size_t bytes)
{
	if (!mem || !mlock(mem, bytes))
		return;
	tlat_findings_add(&m->findings, TLAT_INFO, "memory-not-locked",
			  "raise the limit: ulimit -l unlimited, or grant CAP_IPC_LOCK",
			  "mlock of the measuring buffers failed: %s; they are touched, but may be "
			  "paged out",
			  strerror(errno));
}

static int new_hist(struct tlat_measurer *m, struct tlat_hist **ret_hist, uint64_t hz)
{
	int error = tlat_hist_new(ret_hist, hz);

	if (error)
		return tlat_fail(&m->why, error, "no memory for a histogram of %zu bytes",
				 tlat_hist_bytes());
	lock_memory(m, *ret_hist, tlat_hist_bytes());
	return 0;
}

/* The recording thread makes its own buffers, so that they are on its node. */
static int make_book(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;
	struct tlat_result *result = in->result;
	struct tlat_book *book = &in->book;
	bool ticks = in->ctx->stamper.kind != TLAT_STAMP_GETTIME;
	uint64_t hz = ticks ? tlat_clock_hz(in->clock) : TLAT_NSEC_PER_SEC;
	int error = new_hist(m, &result->latency, hz);

	if (!error && in->pair)
		error = new_hist(m, &result->dwell, hz);
	if (!error && in->pair && !in->ctx->same_cpu)
		error = new_hist(m, &result->call, hz);
	if (!error && !(in->opts->flags & TLAT_RUN_NO_FLOOR))
		error = new_hist(m, &result->floor, hz);
	result->outliers = calloc(1, sizeof(*result->outliers));
	if (in->opts->raw)
		result->raw = calloc(in->opts->raw, sizeof(*result->raw));
	if (!error && (!result->outliers || (in->opts->raw && !result->raw)))
		error = tlat_fail(&m->why, -ENOMEM, "no memory for %llu raw values; ask for fewer",
				  (unsigned long long)in->opts->raw);
	if (error)
		return error;
	memset(result->outliers, 0, sizeof(*result->outliers));
	if (result->raw)
		memset(result->raw, 0, in->opts->raw * sizeof(*result->raw));
	lock_memory(m, result->outliers, sizeof(*result->outliers));
	lock_memory(m, result->raw, in->opts->raw * sizeof(*result->raw));
	book->latency = result->latency;
	book->call = result->call;
	book->dwell = result->dwell;
	book->outliers = result->outliers;
	book->raw = result->raw;
	book->max_raw = in->opts->raw;
	book->ns_per_unit = 1e9 / (double)hz;
	book->planned_cpu = in->measurers[0].cpu;
	return 0;
}

extern const struct tlat_probe_ops tlat_probe_null;

/* What two stamps and two calls through the table cost on this thread. */
static void measure_floor(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;
	struct tlat_probe_ctx ctx = *in->ctx;
	struct tlat_limits limits = in->limits;
	struct tlat_book book = { .latency = in->result->floor, .ns_per_unit = 1.0 };

	if (!in->result->floor)
		return;
	ctx.ops = &tlat_probe_null;
	limits.samples = FLOOR_SAMPLES;
	limits.warmup = FLOOR_SAMPLES / 10;
	limits.duration = UINT64_MAX;
	tlat_run_loopback(&ctx, &limits, &m->side, &book);
}

static int enter_probe(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;
	const struct tlat_probe_ops *ops = in->ctx->ops;
	int error;

	if (!ops->enter)
		return 0;
	error = ops->enter(in->ctx, &m->side, &m->why);
	if (!error && in->reply_open)
		error = ops->enter(in->reply, &m->side, &m->why);
	return error;
}

static int set_up(struct tlat_measurer *m)
{
	sigset_t end;
	int error = apply_attributes(m);

	if (!error)
		error = read_back(m);
	if (!error && m->records)
		error = make_book(m);
	lock_memory(m, m->stack, m->stack_bytes);
	lock_memory(m, m->instance->map, m->instance->map_size);
	if (!error)
		error = enter_probe(m);
	tlat_rt_drop_caps(NULL, NULL);
	if (!error && m->records)
		measure_floor(m);
	sigemptyset(&end);
	sigaddset(&end, m->end_signal);
	pthread_sigmask(SIG_UNBLOCK, &end, NULL);
	return error;
}

static void loop(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;

	getrusage(RUSAGE_THREAD, &m->before);
	if (in->ctx->ops->flags & TLAT_PROBE_LOOPBACK)
		tlat_run_loopback(in->ctx, &in->limits, &m->side, &in->book);
	else if (!in->pair)
		tlat_run_solo(&in->solo, &m->side, &in->book);
	else if (m->side.role == TLAT_ROLE_WAIT)
		tlat_run_waiter(in->pair, &m->side);
	else
		tlat_run_waker(in->pair, &m->side, &in->book);
	getrusage(RUSAGE_THREAD, &m->after);
}

static void *measure(void *arg)
{
	struct tlat_measurer *m = arg;
	const struct tlat_probe_ops *ops = m->instance->ctx->ops;
	uint64_t one = 1;
	int error = set_up(m);

	if (tlat_gate_arrive(m->gate, error))
		loop(m);
	if (!error && ops->leave)
		ops->leave(m->instance->ctx, &m->side);
	munlock(m->stack, m->stack_bytes);
	tlat_rt_undo(m->rt);
	atomic_store(&m->finished, true);
	return write(m->done_fd, &one, sizeof(one)) < 0 ? arg : NULL;
}

/* == Creation == */

/* The thread on a stack of our own, positive errno as pthread_create() gives it. */
static int create(struct tlat_measurer *m, size_t bytes)
{
	pthread_attr_t attr;
	int error;

	m->stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_POPULATE, -1, 0);
	if (m->stack == MAP_FAILED) {
		m->stack = NULL;
		return ENOMEM;
	}
	m->stack_bytes = bytes;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, m->stack, bytes);
	error = pthread_create(&m->thread, &attr, measure, m);
	pthread_attr_destroy(&attr);
	return error;
}

static void drop_stack(struct tlat_measurer *m)
{
	if (m->stack)
		munmap(m->stack, m->stack_bytes);
	m->stack = NULL;
}

int tlat_measurer_start(struct tlat_measurer *m, struct tlat_error *reterr)
{
	size_t bytes = STACK_BYTES;
	int error = create(m, bytes);

	/* EINVAL: the program's thread-local variables alone do not fit. */
	while (error == EINVAL && bytes < STACK_BYTES_MAX) {
		drop_stack(m);
		bytes *= 2;
		error = create(m, bytes);
	}
	if (error)
		return tlat_fail(reterr, -error,
				 "thread for CPU %d not created: %s; check RLIMIT_NPROC, "
				 "RLIMIT_MEMLOCK and the cgroup's pids.max",
				 m->cpu, strerror(error));
	m->running = true;
	return 0;
}

void tlat_measurer_join(struct tlat_measurer *m)
{
	if (m->running)
		pthread_join(m->thread, NULL);
	m->running = false;
	drop_stack(m);
}
