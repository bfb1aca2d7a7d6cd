// SPDX-License-Identifier: MIT
/*
 * run_snapshot.c - what a run has measured so far, as a report. The caller asks, the controller
 * answers between two time blocks; the loops know nothing of it.
 */
#include <string.h>
#include <unistd.h>

#include "run_control.h"

void tlat_snapshot_init(struct tlat_snapshot *snapshot)
{
	*snapshot = (struct tlat_snapshot){ 0 };
	pthread_mutex_init(&snapshot->lock, NULL);
	pthread_cond_init(&snapshot->answered, NULL);
}

void tlat_snapshot_destroy(struct tlat_snapshot *snapshot)
{
	tlat_report_free(snapshot->report);
	pthread_cond_destroy(&snapshot->answered);
	pthread_mutex_destroy(&snapshot->lock);
}

static int add_results(const struct tlat_run *run, struct tlat_report *report)
{
	int error = 0;

	for (int i = 0; !error && i < run->n_instances; i++) {
		struct tlat_result *result;

		error = tlat_run_collect_running(run, i, &result);
		if (!error)
			error = tlat_report_add(report, result);
	}
	return error;
}

static int make_report(const struct tlat_run *run, struct tlat_report **ret_report)
{
	struct tlat_findings so_far = { 0 };
	struct tlat_report *report;
	int error = tlat_report_new(&report, run->machine, run->clock, run->opts.seed);

	if (error)
		return error;
	tlat_report_started(report, run->realtime_ns);
	tlat_report_slewed(report, run->slew_ppb);
	error = add_results(run, report);
	tlat_findings_copy(&so_far, &run->findings);
	tlat_machine_audit(run->machine, &run->place, &so_far);
	error = tlat_report_hand_over(report, error, &so_far, ret_report);
	tlat_findings_free(&so_far);
	return error;
}

void tlat_snapshot_answer(struct tlat_run *run)
{
	struct tlat_snapshot *s = &run->snapshot;

	pthread_mutex_lock(&s->lock);
	if (s->wanted) {
		s->error = make_report(run, &s->report);
		s->wanted = false;
		pthread_cond_broadcast(&s->answered);
	}
	pthread_mutex_unlock(&s->lock);
}

void tlat_snapshot_end(struct tlat_run *run)
{
	struct tlat_snapshot *s = &run->snapshot;

	pthread_mutex_lock(&s->lock);
	s->over = true;
	pthread_cond_broadcast(&s->answered);
	pthread_mutex_unlock(&s->lock);
}

/* The lock is held. */
static int ask(struct tlat_run *run)
{
	struct tlat_snapshot *s = &run->snapshot;
	uint64_t one = 1;

	if (s->over)
		return -EALREADY;
	s->wanted = true;
	if (write(run->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		return -errno;
	while (s->wanted && !s->over)
		pthread_cond_wait(&s->answered, &s->lock);
	return s->wanted ? -EALREADY : s->error;
}

int tlat_run_snapshot(struct tlat_run *run, struct tlat_report **ret_report,
		      struct tlat_error *reterr)
{
	struct tlat_snapshot *s = &run->snapshot;
	int error;

	pthread_mutex_lock(&s->lock);
	error = ask(run);
	if (!error) {
		*ret_report = s->report;
		s->report = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	return error ? tlat_fail(reterr, error, "no snapshot: %s",
				 error == -EALREADY ? "the run is over; wait for its report"
						    : strerror(-error))
		     : 0;
}
