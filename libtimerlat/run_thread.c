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
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "rt.h"
#include "run_thread.h"
#include "thread.h"

#define STACK_BYTES	(64 * 1024)
#define STACK_BYTES_MAX (16 * 1024 * 1024)
#define FLOOR_SAMPLES	2000
#define VERIFY_LOOKS	100

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* == Set-up of the calling thread == */

static int apply_attributes(struct tlat_measurer *m)
{
	char cpus[16];
	struct tlat_rt_opts opts = TLAT_RT_OPTS(.policy = m->policy, .priority = m->priority);

	if (m->policy == TLAT_SCHED_DEADLINE)
		opts = tlat_deadline_attributes(m->instance->opts);
	opts.slack_ns = m->slack_ns;
	snprintf(cpus, sizeof(cpus), "%d", m->cpu);
	if (m->roams)
		tlat_affinity_set(0, m->roams);
	else
		opts.cpus = cpus;
	return tlat_rt_apply(&m->rt, &opts, &m->why);
}

/* The controller has tried the policy, on one thread. Where another is refused it all the same, and
 * all are to go without, those that have it give it back. */
static int take_policy(struct tlat_measurer *m)
{
	int32_t asked = m->policy;
	int error = apply_attributes(m);

	tlat_gate_arrive(m->policies, error);
	if (m->policy == asked)
		return error;
	tlat_rt_undo(m->rt);
	m->rt = NULL;
	m->why = (struct tlat_error){ 0 };
	return apply_attributes(m);
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
	m->facts.runtime_ns = state.runtime_ns;
	m->facts.deadline_ns = state.deadline_ns;
	m->facts.period_ns = state.period_ns;
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

/* locked: all of the process is, so that the kernel said EAGAIN, as it does for nothing else. */
static int fail_buffer(struct tlat_measurer *m, size_t bytes, bool locked)
{
	struct rlimit limit = { 0, 0 };

	if (!locked)
		return tlat_fail(
			&m->why, -ENOMEM,
			"no memory for %zu bytes of measuring buffers; keep fewer raw values",
			bytes);
	getrlimit(RLIMIT_MEMLOCK, &limit);
	return tlat_fail(&m->why, -ENOMEM,
			 "no memory for %zu bytes of measuring buffers: all memory is locked, and "
			 "RLIMIT_MEMLOCK is %llu bytes; raise it: ulimit -l, or grant CAP_IPC_LOCK",
			 bytes, (unsigned long long)limit.rlim_cur);
}

/* One mapping of our own for all that is written in the loop: made here, it is on this thread's
 * node, and giving it back undoes its lock and nobody else's. */
static int map_buffer(struct tlat_measurer *m, size_t bytes)
{
	m->buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (m->buffer == MAP_FAILED) {
		m->buffer = NULL;
		return fail_buffer(m, bytes, errno == EAGAIN);
	}
	m->buffer_bytes = bytes;
	lock_memory(m, m->buffer, bytes);
	return 0;
}

static struct tlat_hist *carve_hist(char **at, uint64_t hz)
{
	struct tlat_hist *hist = tlat_hist_init(*at, hz);

	*at += tlat_hist_bytes();
	return hist;
}

static void make_tap(struct tlat_instance *in, void *ring)
{
	in->tap.ring = in->tap.size ? ring : NULL;
	in->tap.ns_per_unit = in->book->ns_per_unit;
}

static int make_book(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;
	struct tlat_book *book = in->book;
	bool ticks = in->ctx->stamper.kind != TLAT_STAMP_GETTIME;
	bool call = in->pair && !in->ctx->same_cpu; /* on one CPU it contains the waiter's run */
	uint64_t hz = ticks ? tlat_clock_hz(in->clock) : TLAT_NSEC_PER_SEC;
	bool back = in->ctx->ops->flags & TLAT_PROBE_RETURNS;
	size_t hists = 1 + (in->pair ? 1 : 0) + call + back;
	size_t raw_bytes = in->opts->raw * sizeof(*book->raw);
	size_t ring_bytes = in->tap.size * sizeof(*in->tap.ring);
	int error = map_buffer(m, hists * tlat_hist_bytes() + sizeof(*book->outliers) + raw_bytes +
					  ring_bytes);
	char *at = m->buffer;

	if (error)
		return error;
	book->latency = carve_hist(&at, hz);
	book->dwell = in->pair ? carve_hist(&at, hz) : NULL;
	book->call = call ? carve_hist(&at, hz) : NULL;
	book->back = back ? carve_hist(&at, hz) : NULL;
	book->raw = raw_bytes ? (int64_t *)at : NULL;
	book->max_raw = in->opts->raw;
	book->outliers = (struct tlat_outliers *)(at + raw_bytes);
	book->ns_per_unit = 1e9 / (double)hz;
	make_tap(in, at + raw_bytes + sizeof(*book->outliers));
	book->planned_cpu = in->measurers[0].cpu;
	book->roams = m->roams;
	book->cpu = tlat_cpu_word();
	if (m->roams)
		book->planned_cpu = m->facts.cpu;
	in->brk.ns_per_unit = book->ns_per_unit;
	in->brk.above = (int64_t)((double)in->brk.above_ns / book->ns_per_unit);
	return 0;
}

extern const struct tlat_probe_ops tlat_probe_null;

/* What two stamps and two calls through the table cost on this thread; recorded where the latencies
 * will be, and put aside. */
static int measure_floor(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;
	struct tlat_probe_ctx ctx = *in->ctx;
	struct tlat_limits limits = in->limits;
	struct tlat_book book = { .latency = in->book->latency, .ns_per_unit = 1.0 };
	int error;

	if (!in->wants_floor)
		return 0;
	ctx.ops = &tlat_probe_null;
	limits.samples = FLOOR_SAMPLES;
	limits.warmup = FLOOR_SAMPLES / 10;
	limits.duration = UINT64_MAX;
	tlat_run_loopback(&ctx, &limits, &m->side, &book);
	error = tlat_hist_new(&in->floor, tlat_hist_hz(book.latency));
	if (error)
		return tlat_fail(&m->why, error, "no memory for the histogram of the floor");
	tlat_hist_merge(in->floor, book.latency);
	tlat_hist_reset(book.latency);
	return 0;
}

static int enter_probe(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;
	const struct tlat_probe_ops *ops = in->ctx->ops;
	int error = ops->enter ? ops->enter(in->ctx, &m->side, &m->why) : 0;

	m->entered = !error;
	if (!error && in->reply_open) {
		error = ops->enter ? ops->enter(in->reply, &m->reply, &m->why) : 0;
		m->reply_entered = !error;
	}
	m->barred = error;
	return error;
}

static void leave_probe(struct tlat_measurer *m)
{
	struct tlat_instance *in = m->instance;
	const struct tlat_probe_ops *ops = in->ctx->ops;

	if (m->reply_entered && ops->leave)
		ops->leave(in->reply, &m->reply);
	if (m->entered && ops->leave)
		ops->leave(in->ctx, &m->side);
}

/* What a look at the switch counters before every announcement costs, for --verify. */
static void note_verify(struct tlat_measurer *m)
{
	const struct tlat_stamper *stamper = &m->instance->ctx->stamper;
	struct tlat_census census;
	uint64_t begin = tlat_stamp_begin(stamper);

	for (int i = 0; i < VERIFY_LOOKS; i++)
		tlat_census_look(&census);
	tlat_findings_add(
		&m->findings, TLAT_INFO, "verify", "leave --verify out for figures to compare",
		"--verify reads the waiter's switch counters before every announcement: "
		"%.0f ns a read here, outside the interval, but it wakes on warmer caches",
		(double)(tlat_stamp_end(stamper) - begin) * m->instance->book->ns_per_unit /
			VERIFY_LOOKS);
}

static int set_up(struct tlat_measurer *m)
{
	sigset_t end;
	int error = take_policy(m);

	if (!error)
		error = read_back(m);
	if (!error && m->records)
		error = make_book(m);
	lock_memory(m, (char *)m->stack + page_bytes(), m->stack_bytes - page_bytes());
	lock_memory(m, m->instance->map, m->instance->map_size);
	if (!error)
		error = enter_probe(m);
	tlat_rt_drop_caps(NULL, NULL);
	if (!error && m->records)
		error = measure_floor(m);
	if (!error && m->records && m->instance->opts->flags & TLAT_RUN_VERIFY)
		note_verify(m);
	sigemptyset(&end);
	sigaddset(&end, m->end_signal);
	pthread_sigmask(SIG_UNBLOCK, &end, NULL);
	return error;
}

static void loop(struct tlat_measurer *m)
{
	const struct tlat_probe_side side = m->side; /* on the stack, which is at hand */
	struct tlat_instance *in = m->instance;

	tlat_arch_free_vectors();
	getrusage(RUSAGE_THREAD, &m->before);
	if (in->ctx->ops->flags & TLAT_PROBE_LOOPBACK)
		tlat_run_loopback(in->ctx, &in->limits, &side, in->book);
	else if (!in->pair)
		tlat_run_solo(in->solo, &side, in->book);
	else if (side.role == TLAT_ROLE_WAIT)
		tlat_run_waiter(in->pair, &side);
	else
		tlat_run_waker(in->pair, &side, &m->reply, in->book);
	getrusage(RUSAGE_THREAD, &m->after);
}

static void tell(const struct tlat_measurer *m)
{
	uint64_t one = 1;
	ssize_t told = write(m->done_fd, &one, sizeof(one));

	(void)told; /* full: the controller has not looked yet, and will */
}

static void *measure(void *arg)
{
	struct tlat_measurer *m = arg;
	int error = set_up(m);

	if (tlat_gate_arrive(m->gate, error)) {
		loop(m);
		atomic_store(&m->left, true);
		tell(m);
		pthread_barrier_wait(&m->instance->done);
	}
	leave_probe(m);
	tlat_rt_undo(m->rt);
	atomic_store(&m->finished, true);
	tell(m);
	return NULL;
}

/* == Creation == */

/* The thread on a stack of our own, the lowest page of which no access passes. */
static int create(struct tlat_measurer *m, size_t bytes)
{
	size_t guard = page_bytes();
	pthread_attr_t attr;
	int error;

	m->stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_POPULATE, -1, 0);
	if (m->stack == MAP_FAILED) {
		m->stack = NULL;
		return -ENOMEM;
	}
	m->stack_bytes = bytes;
	mprotect(m->stack, guard, PROT_NONE);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, (char *)m->stack + guard, bytes - guard);
	error = tlat_thread_start(&m->thread, &attr, measure, m);
	pthread_attr_destroy(&attr);
	return error;
}

static void unmap(void **map, size_t bytes)
{
	if (*map)
		munmap(*map, bytes);
	*map = NULL;
}

int tlat_measurer_start(struct tlat_measurer *m, struct tlat_error *reterr)
{
	size_t bytes = STACK_BYTES;
	int error = create(m, bytes);
	char why[TLAT_REFUSAL_TEXT];

	/* EINVAL: the program's thread-local variables alone do not fit. */
	while (error == -EINVAL && bytes < STACK_BYTES_MAX) {
		unmap(&m->stack, m->stack_bytes);
		bytes *= 2;
		error = create(m, bytes);
	}
	if (error)
		return tlat_fail(reterr, error, "thread for CPU %d not created: %s", m->cpu,
				 tlat_thread_refusal(error, bytes, why, sizeof(why)));
	m->running = true;
	return 0;
}

void tlat_measurer_join(struct tlat_measurer *m)
{
	if (m->running)
		pthread_join(m->thread, NULL);
	m->running = false;
	unmap(&m->stack, m->stack_bytes);
}

void tlat_measurer_free(struct tlat_measurer *m)
{
	tlat_findings_free(&m->findings);
	unmap(&m->buffer, m->buffer_bytes);
}
