// SPDX-License-Identifier: MIT
/*
 * run_control.c - the controller of a run: a thread under SCHED_OTHER, off the
 * measuring CPUs where there is another one. It has the measuring threads set up
 * (run_setup.c), cuts time blocks while they loop, and ends waits that nothing else
 * ends. Where it must share a CPU it runs in the loops' own rests.
 */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "affinity.h"
#include "rt.h"
#include "run_control.h"
#include "slew.h"

#define BLOCK_MIN_NS	20000000LL
#define BLOCK_SHARED_NS 200000000LL /* at most 5 wakes a second on a measuring CPU */
#define FORCE_AFTER_NS	300000000LL /* from a stop request to the directed signal */
#define FORCE_EVERY_MS	2
#define STALL_NS	5000000000LL
#define LOOK_EVERY_NS	500000000LL /* a look takes a lock that the thread's wake needs too */

/* == The measuring threads == */

void tlat_run_join_measurers(struct tlat_run *run)
{
	for_each_measurer (run, in, m)
		tlat_measurer_join(m);
}

static bool all_finished(struct tlat_run *run)
{
	for_each_measurer (run, in, m)
		if (!atomic_load(&m->finished))
			return false;
	return true;
}

/* == While they loop == */

/* How long the run will take, at the least where a number of samples limits it. */
static double expected_ns(const struct tlat_run *run)
{
	const struct tlat_run_opts *opts = &run->opts;
	bool paced = !(run->ops->flags & TLAT_PROBE_LOOPBACK);
	double interval_ns = paced ? (double)opts->interval_ns : 0;
	double by_count = (double)opts->samples * fmax(interval_ns, (double)opts->settle_ns);

	if (!opts->samples)
		return (double)opts->duration_ns;
	return opts->duration_ns ? fmin(by_count, (double)opts->duration_ns) : by_count;
}

/* Blocks that are too short merge; those that are too long cannot be told apart any more. */
static int64_t block_ns(const struct tlat_run *run)
{
	double least = (double)(run->place.house_shared ? BLOCK_SHARED_NS : BLOCK_MIN_NS);

	return (int64_t)fmin(fmax(expected_ns(run) / TLAT_BLOCKS_MAX, least),
			     (double)BLOCK_SHARED_NS);
}

/* Where there is no memory for them the result says so. */
static void make_blocks(struct tlat_run *run)
{
	for (int i = 0; i < run->n_instances; i++)
		tlat_blocks_new(&run->instances[i].result->blocks, block_ns(run));
}

/* Something that grows with every cycle, measured or not. */
static uint64_t progress_of(const struct tlat_instance *in)
{
	return in->pair ? atomic_load(&in->pair->waiter.announced_seq)
			: tlat_hist_count(in->book->latency) + tlat_noted(&in->book->warmup);
}

/* Blocks begin with the measurement, as the times of outliers do, not with its warm-up. */
static bool has_blocks(const struct tlat_instance *in)
{
	const struct tlat_blocks *blocks = in->result->blocks;

	return blocks && (tlat_blocks_count(blocks) || tlat_hist_count(in->book->latency));
}

/* A length has passed for the blocks of every result; how far the loops are. */
static uint64_t pass_blocks(struct tlat_run *run)
{
	uint64_t count = 0;

	for (int i = 0; i < run->n_instances; i++) {
		struct tlat_instance *in = &run->instances[i];

		if (has_blocks(in))
			tlat_blocks_pass(in->result->blocks, in->book->latency);
		count += progress_of(in);
	}
	return count;
}

/* With all that was recorded since the last cut; blocks that end before the run are none. */
static void close_blocks(struct tlat_run *run)
{
	for (int i = 0; i < run->n_instances; i++) {
		struct tlat_instance *in = &run->instances[i];

		if (has_blocks(in) && tlat_blocks_cut(in->result->blocks, in->book->latency) < 0) {
			tlat_blocks_free(in->result->blocks);
			in->result->blocks = NULL;
		}
	}
}

/* Wait for the wake descriptor, at most so long; forget what it said. */
static void doze(struct tlat_run *run, int64_t ns)
{
	struct pollfd fd = { .fd = run->wake_fd, .events = POLLIN };
	struct timespec ts = tlat_timespec_of_ns(ns);
	uint64_t count;

	if (ppoll(&fd, 1, &ts, NULL) > 0 && read(run->wake_fd, &count, sizeof(count)) < 0)
		return;
}

/* Whether every loop that keeps a book is over; a waiter may still be in its last wait. */
static bool books_closed(struct tlat_run *run)
{
	for_each_measurer (run, in, m)
		if (m->records && !atomic_load(&m->left))
			return false;
	return true;
}

/*
 * The kernel widens the mask of a pinned thread when its CPU goes offline or its cpuset loses it;
 * before Linux 6.2 also when its cpuset is changed at all, as kubelet does. Others have taskset.
 */
static bool is_displaced(const struct tlat_measurer *m)
{
	struct tlat_cpuset set;

	return !m->roams && !tlat_affinity_get(m->facts.tid, &set) &&
	       (tlat_cpuset_count(&set) != 1 || !tlat_cpuset_has(&set, m->cpu)) &&
	       !atomic_load(&m->left);
}

/* Back to its CPU. 0, also for one that has left its loop meanwhile, or the refusal. */
static int put_back(struct tlat_measurer *m)
{
	int error = tlat_affinity_pin(m->facts.tid, m->cpu);

	if (!error)
		m->displaced++;
	return atomic_load(&m->left) ? 0 : error;
}

/* End a run that cannot go on; what has been measured stands. */
static void break_off(struct tlat_run *run)
{
	run->broken = true;
	atomic_store(run->request, 1);
}

/* What widened the masks of the measuring threads widened the controller's, too. */
static void look_for_displaced(struct tlat_run *run)
{
	bool any = false;

	for_each_measurer (run, in, m) {
		int error;

		if (!is_displaced(m))
			continue;
		any = true;
		error = put_back(m);
		if (error) {
			tlat_find_cpu_lost(&run->of_result, m->cpu, error);
			break_off(run);
			return;
		}
	}
	if (any)
		tlat_run_pin_controller(run);
}

/* A clock may be set while it is measured on, and set back before the end. */
static void look_for_set_clock(struct tlat_run *run)
{
	if (!run->was_set)
		run->was_set = tlat_clock_check_set(&run->instances[0].ctx->stamper, &run->lead,
						    &run->of_result);
}

/* A daemon may slew the clock for some seconds only. */
static void look_at_slew(struct tlat_run *run)
{
	int64_t ppb = tlat_slew_ppb();

	if (ppb > run->slew_ppb)
		run->slew_ppb = ppb;
}

static void note_stalled(struct tlat_run *run, int64_t still_ns)
{
	tlat_findings_add(&run->of_result, TLAT_ERROR, "stalled", NULL,
			  "no cycle for %lld s: a measuring thread is blocked or starved",
			  (long long)(still_ns / TLAT_NSEC_PER_SEC));
	break_off(run);
}

/* Whether a round trip's waiter has failed: its reply never comes. */
static bool reply_failed(const struct tlat_run *run)
{
	for (int i = 0; i < run->n_instances; i++) {
		const struct tlat_pair *pair = run->instances[i].pair;

		if (pair && pair->reply && atomic_load(&pair->waiter.gone) && pair->waiter.error)
			return true;
	}
	return false;
}

static bool goes_on(struct tlat_run *run)
{
	return !books_closed(run) && !atomic_load(run->request) && !reply_failed(run);
}

/*
 * Until the block that began at *since has its length, whatever wakes the controller before: it
 * answers who asks, and sleeps on. *since is then where the next one begins. Whether the run goes
 * on.
 */
static bool await_block(struct tlat_run *run, uint64_t length, uint64_t *since)
{
	uint64_t now;

	while ((now = tlat_gettime_ns(CLOCK_MONOTONIC)) - *since < length) {
		if (!goes_on(run))
			return false;
		doze(run, (int64_t)(*since + length - now));
		tlat_snapshot_answer(run);
	}
	*since = now - (now - *since) % length;
	return goes_on(run);
}

/* How long nothing may move: until the last thread's first slot, and for some of its longest
 * cycles. */
static int64_t patience_ns(const struct tlat_run *run)
{
	const struct tlat_run_opts *opts = &run->opts;
	int32_t last = run->n_instances - 1;
	const struct tlat_solo *solo = run->instances[last].solo;
	double cycle_ns = (double)tlat_run_interval_ns(run, last) + (double)opts->settle_ns;
	double start_ns = (double)opts->align_ns + (solo ? (double)solo->phase : 0);
	double ns = (double)STALL_NS + start_ns + 20 * cycle_ns;

	return ns < (double)INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/*
 * Cut blocks until somebody asks for the end, all books are closed, or nothing moves any more. That
 * is counted in blocks: while the controller itself stands still nobody can say what the loops do.
 */
static void attend(struct tlat_run *run)
{
	int64_t length = block_ns(run), still = 0, unseen = 0;
	int64_t patience = patience_ns(run);
	uint64_t before = 0, since = tlat_gettime_ns(CLOCK_MONOTONIC);

	while (await_block(run, (uint64_t)length, &since)) {
		uint64_t count = pass_blocks(run);

		unseen += length;
		if (unseen >= LOOK_EVERY_NS) {
			look_for_displaced(run);
			look_for_set_clock(run);
			look_at_slew(run);
			unseen = 0;
		}
		still = count == before ? still + length : 0;
		before = count;
		if (still >= patience && !books_closed(run))
			note_stalled(run, still);
	}
}

static void interrupt_waits(struct tlat_run *run)
{
	for_each_measurer (run, in, m) {
		if (atomic_load(&m->finished))
			continue;
		atomic_store(in->stop, 1);
		if (!in->pair && run->ops->kick)
			run->ops->kick(in->ctx);
		pthread_kill(m->thread, run->end_signal);
	}
}

/* Whether a loop would end by itself: a waker sees the request between any two cycles. */
static bool ends_itself(const struct tlat_run *run)
{
	return run->ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK) &&
	       !(run->opts.flags & TLAT_RUN_ROUND_TRIP);
}

/* End the waits that are left: by the loops' own last kick, then by a directed signal. */
static void end_waits(struct tlat_run *run)
{
	uint64_t asked = tlat_gettime_ns(CLOCK_MONOTONIC);

	while (ends_itself(run) && !all_finished(run) &&
	       tlat_gettime_ns(CLOCK_MONOTONIC) - asked < FORCE_AFTER_NS)
		doze(run, BLOCK_MIN_NS);
	if (all_finished(run))
		return;
	tlat_end_signal_hold(run->end_signal);
	while (!all_finished(run)) {
		interrupt_waits(run);
		doze(run, FORCE_EVERY_MS * 1000000LL);
	}
	tlat_run_join_measurers(run);
	tlat_end_signal_release(run->end_signal);
}

/* == The controller == */

/* One point of time from which the grids of all threads count; the CPU time of a thread is its own.
 */
static void align(struct tlat_run *run)
{
	uint64_t now = tlat_stamp_begin(&run->instances[0].ctx->stamper);

	for (int i = 0; i < run->n_instances && run->ops->clock != CLOCK_THREAD_CPUTIME_ID; i++)
		run->instances[i].solo->start = now;
}

static void measure(struct tlat_run *run)
{
	make_blocks(run);
	align(run);
	run->lead = tlat_clock_measure_lead(&run->instances[0].ctx->stamper);
	look_at_slew(run);
	tlat_gate_set(&run->gate, TLAT_GATE_OPEN);
	attend(run);
	end_waits(run);
	tlat_run_join_measurers(run);
	close_blocks(run);
	tlat_watch_end(run->watch, &run->seen);
	look_for_set_clock(run);
	look_at_slew(run);
	tlat_run_offset_end(run);
	tlat_clock_check_end(run->clock, &run->findings);
}

void *tlat_run_control(void *arg)
{
	struct tlat_run *run = arg;
	uint64_t one = 1;

	if (run->supported)
		run->failed = tlat_run_set_up(run);
	run->realtime_ns = (int64_t)tlat_gettime_ns(CLOCK_REALTIME);
	tlat_gate_arrive(&run->begun, run->failed);
	if (run->supported && !run->failed)
		measure(run);
	tlat_snapshot_end(run);
	tlat_rt_release_idle(run->idle_fd);
	tlat_rt_undo(run->locked);
	return write(run->fd, &one, sizeof(one)) < 0 ? arg : NULL;
}
