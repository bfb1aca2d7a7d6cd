// SPDX-License-Identifier: MIT
/* run_session.c - a run as its caller sees it: start, look, stop, wait. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rt.h"
#include "run_control.h"
#include "thread.h"

static int start_controller(struct tlat_run *run, struct tlat_error *reterr)
{
	int error = tlat_thread_start(&run->controller, NULL, tlat_run_control, run);
	char why[TLAT_REFUSAL_TEXT];

	if (error)
		return tlat_fail(reterr, error, "controller thread not created: %s",
				 tlat_thread_refusal(error, 0, why, sizeof(why)));
	return 0;
}

static int prepare(struct tlat_run *run, const struct tlat_run_opts *opts,
		   struct tlat_error *reterr)
{
	tlat_gate_init(&run->policies);
	tlat_gate_init(&run->gate);
	tlat_gate_init(&run->begun);
	tlat_gate_set(&run->begun, TLAT_GATE_OPEN);
	tlat_snapshot_init(&run->snapshot);
	run->fd = run->wake_fd = run->idle_fd = -1;
	run->trace = TLAT_TRACE_STOP_NONE;
	tlat_rt_inherit(&run->caller);
	tlat_affinity_get(0, &run->allowed);
	run->fd = eventfd(0, EFD_CLOEXEC);
	run->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (run->fd < 0 || run->wake_fd < 0)
		return tlat_fail(reterr, -errno, "eventfd() failed: %s; raise RLIMIT_NOFILE",
				 strerror(errno));
	run->end_signal = tlat_end_signal_choose();
	if (!run->end_signal)
		return tlat_fail(reterr, -EBUSY,
				 "every real-time signal has a handler; one must be "
				 "free to end a blocked wait");
	return tlat_run_plan(run, opts, reterr);
}

int tlat_run_start(struct tlat_run **ret_run, const struct tlat_run_opts *opts,
		   struct tlat_error *reterr)
{
	struct tlat_run *run = aligned_alloc(alignof(struct tlat_run), sizeof(*run));
	int error;

	tlat_error_begin(reterr);
	if (!run)
		return tlat_fail(reterr, -ENOMEM, "no memory for a run");
	memset(run, 0, sizeof(*run));
	error = prepare(run, opts, reterr);
	if (!error)
		error = start_controller(run, reterr);
	if (error) {
		tlat_run_free(run);
		return tlat_error_end(reterr, error);
	}
	tlat_gate_gather(&run->begun, 1);
	if (!run->failed) {
		*ret_run = run;
		return 0;
	}
	tlat_run_join(run);
	error = tlat_fail(reterr, run->failed, "%s", run->error.text);
	tlat_run_free(run);
	return tlat_error_end(reterr, error);
}

int tlat_run_fd(const struct tlat_run *run)
{
	return run->fd;
}

void tlat_run_stop(struct tlat_run *run)
{
	int saved = errno;
	uint64_t one = 1;

	atomic_store(run->request, 1);
	if (write(run->wake_fd, &one, sizeof(one)) < 0)
		errno = saved; /* full: the controller is being woken already */
	errno = saved;
}

int tlat_run_read(struct tlat_run *run, int thread, struct tlat_sample *samples, size_t max,
		  uint64_t *ret_lost)
{
	struct tlat_tap *tap;

	if (!run->opts.stream)
		return -ENODATA;
	if (thread < 0 || thread >= run->n_instances || !run->instances[thread].book->latency)
		return -ENOENT;
	tap = &run->instances[thread].tap;
	if (ret_lost)
		*ret_lost = atomic_load_explicit(&tap->lost, memory_order_relaxed);
	return (int)tlat_tap_take(tap, samples, max < INT32_MAX ? max : INT32_MAX);
}

/* Of its time. On a grid that is a number of slots; a thread that rests has none meanwhile. */
static double time_done(const struct tlat_run *run, int thread, uint64_t served)
{
	const uint32_t no_grid = TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK | TLAT_PROBE_CLOSED;
	int64_t limit = run->opts.duration_ns, slots;

	if (run->ops->flags & no_grid)
		return (double)tlat_run_measured_ns(run, thread) / (double)limit;
	slots = limit / tlat_run_interval_ns(run, thread);
	return (double)served / (double)(slots ? slots : 1);
}

/* What part of the nearest of its limits a loop has used up. */
static double done_of(const struct tlat_run *run, int thread)
{
	const struct tlat_book *book = run->instances[thread].book;
	uint64_t served = run->opts.flags & TLAT_RUN_COMPLETE ? tlat_hist_count(book->latency)
							      : tlat_noted(&book->counts.asked);
	double done = run->opts.duration_ns ? time_done(run, thread, served) : 0;

	if (run->opts.samples && (double)served / (double)run->opts.samples > done)
		done = (double)served / (double)run->opts.samples;
	return done > 1 ? 1 : done;
}

int tlat_run_progress(struct tlat_run *run, int thread, struct tlat_progress *progress)
{
	struct tlat_progress now = { 0 };
	const struct tlat_hist *hist;
	double ns;

	if (thread < 0 || thread >= run->n_instances)
		return -ENOENT;
	hist = run->instances[thread].book->latency;
	if (!hist)
		return -ENOENT;
	ns = 1e9 / (double)tlat_hist_hz(hist);
	now.count = tlat_hist_count(hist);
	now.min_ns = (double)tlat_hist_min(hist) * ns;
	now.p50_ns = tlat_hist_quantile(hist, 0.5) * ns;
	now.p99_ns = tlat_hist_quantile(hist, 0.99) * ns;
	now.max_ns = (double)tlat_hist_max(hist) * ns;
	now.done = done_of(run, thread);
	now.threads = run->n_instances;
	now.cpu = run->instances[thread].measurers[0].roams
			  ? -1
			  : run->instances[thread].measurers[0].cpu;
	now.tid = run->instances[thread].measurers[0].facts.tid;
	return tlat_facts_copy(progress, &now, sizeof(now));
}

void tlat_run_join(struct tlat_run *run)
{
	pthread_join(run->controller, NULL);
}

static void free_instances(struct tlat_run *run)
{
	for (int i = 0; run->instances && i < run->n_instances; i++) {
		struct tlat_instance *in = &run->instances[i];

		for (int k = 0; k < in->n_measurers; k++)
			tlat_measurer_free(&in->measurers[k]);
		if (in->n_measurers)
			pthread_barrier_destroy(&in->done);
		tlat_hist_free(in->floor);
		tlat_instance_close(in);
		tlat_result_free(in->result);
	}
	free(run->instances);
}

void tlat_run_free(struct tlat_run *run)
{
	free_instances(run);
	tlat_injection_destroy(&run->injection);
	tlat_watch_free(run->watch);
	tlat_watch_delta_free(run->seen);
	tlat_hist_free(run->floor_pair);
	tlat_findings_free(&run->findings);
	tlat_findings_free(&run->of_result);
	if (run->owns_clock)
		tlat_clock_close(run->clock);
	tlat_machine_close(run->own_machine);
	if (run->fd >= 0)
		close(run->fd);
	if (run->wake_fd >= 0)
		close(run->wake_fd);
	tlat_snapshot_destroy(&run->snapshot);
	tlat_trace_stop_close(&run->trace);
	tlat_gate_destroy(&run->policies);
	tlat_gate_destroy(&run->gate);
	tlat_gate_destroy(&run->begun);
	free(run->probe);
	free(run->cpus);
	free(run);
}

/* Hand the results to a report; *ret_report is set on success only. */
static int make_report(struct tlat_run *run, struct tlat_report **ret_report)
{
	struct tlat_report *report;
	int error = tlat_report_new(&report, run->machine, run->clock, run->opts.seed);

	if (error)
		return error;
	tlat_report_slewed(report, run->slew_ppb);
	for (int i = 0; !error && i < run->n_instances; i++) {
		error = tlat_report_add(report, run->instances[i].result);
		run->instances[i].result = NULL;
	}
	tlat_report_started(report, run->realtime_ns);
	return tlat_report_hand_over(report, error, &run->findings, ret_report);
}

int tlat_run_wait(struct tlat_run *run, struct tlat_report **ret_report, struct tlat_error *reterr)
{
	int error;

	tlat_run_join(run);
	error = tlat_run_collect(run);
	if (!error)
		error = make_report(run, ret_report);
	if (error)
		tlat_fail(reterr, error, "no report: %s", strerror(-error));
	tlat_run_free(run);
	return error;
}

int tlat_run(struct tlat_report **ret_report, const struct tlat_run_opts *opts,
	     struct tlat_error *reterr)
{
	struct tlat_run *run;
	int error = tlat_run_start(&run, opts, reterr);

	return error ? error : tlat_run_wait(run, ret_report, reterr);
}
