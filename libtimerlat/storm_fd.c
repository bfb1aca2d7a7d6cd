// SPDX-License-Identifier: MIT
/* storm_fd.c - the timers of a storm that are read: timerfd, and io_uring timeouts. */
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "storm.h"

#define LEAD_NS 1000000 /* from arming to the first expiry */

static enum tlat_storm_kind kind_of(const struct tlat_storm_timer *t)
{
	return tlat_storm_clocks[t->clock].kind;
}

/* == io_uring == */

#ifdef TLAT_WITH_URING
#include <liburing.h>

#include "uring.h"

#define RING_ENTRIES 64

static struct io_uring ring; /* this worker's */
static bool has_ring;
static struct __kernel_timespec due[TLAT_STORM_TIMERS_MAX]; /* read by the kernel at submission */

int tlat_storm_uring_supported(struct tlat_error *reterr)
{
	return tlat_uring_check_absolute(reterr);
}

static int ring_open(void)
{
	int error;

	if (has_ring)
		return 0;
	error = io_uring_queue_init(RING_ENTRIES, &ring, 0);
	has_ring = !error;
	return error;
}

static int ring_fd(void)
{
	return has_ring ? ring.ring_fd : -1;
}

static void ring_failed(struct tlat_storm_worker *w, int error)
{
	for (int32_t i = 0; i < w->n_timers; i++)
		if (kind_of(&w->timers[i]) == TLAT_STORM_URING && !w->timers[i].error)
			w->timers[i].error = error;
}

/* What the kernel cannot take now stays in the ring, for the next turn. */
static void ring_submit(struct tlat_storm_worker *w)
{
	int got = io_uring_submit(&ring);

	if (got < 0 && got != -EAGAIN && got != -EBUSY && got != -EINTR)
		ring_failed(w, got);
}

static void ring_arm(struct tlat_storm_worker *w, struct tlat_storm_timer *t)
{
	uint64_t at = t->grid.e0 + t->told * t->grid.t;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	struct __kernel_timespec *ts = &due[t - w->timers];

	if (!sqe) {
		ring_submit(w);
		sqe = io_uring_get_sqe(&ring);
	}
	if (!sqe) {
		t->error = t->error ? t->error : -EBUSY;
		return;
	}
	ts->tv_sec = (int64_t)(at / TLAT_NSEC_PER_SEC);
	ts->tv_nsec = (long long)(at % TLAT_NSEC_PER_SEC);
	io_uring_prep_timeout(sqe, ts, 0, IORING_TIMEOUT_ABS);
	io_uring_sqe_set_data64(sqe, (uint64_t)(t - w->timers));
}

/*
 * One timeout stands for all points of its grid that have passed. It ends with -ETIME when it has
 * expired: with anything else it has not, and were it armed again it would likely fail as fast.
 */
static void ring_event(struct tlat_storm_worker *w, struct tlat_storm_timer *t, int result)
{
	uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC);
	uint64_t at = t->grid.e0 + t->told * t->grid.t;
	uint64_t points = tlat_storm_points(&t->grid, now);

	if (result != -ETIME) {
		t->error = result < 0 ? result : -EPROTO;
		return;
	}
	tlat_hist_record(t->lateness, (int64_t)(now - at));
	tlat_storm_count(t, points > t->told ? points - t->told : 1);
	if (!t->error)
		ring_arm(w, t);
}

static void ring_read(struct tlat_storm_worker *w)
{
	struct io_uring_cqe *cqe;

	while (has_ring && io_uring_peek_cqe(&ring, &cqe) == 0) {
		struct tlat_storm_timer *t = &w->timers[io_uring_cqe_get_data64(cqe)];
		int result = cqe->res;

		io_uring_cqe_seen(&ring, cqe);
		ring_event(w, t, result);
	}
	if (has_ring)
		ring_submit(w);
}

static void ring_close(struct tlat_storm_worker *w)
{
	if (has_ring && io_uring_sq_ready(&ring)) /* the kernel never took them */
		ring_failed(w, -EBUSY);
	if (has_ring)
		io_uring_queue_exit(&ring);
	has_ring = false;
}
#else
int tlat_storm_uring_supported(struct tlat_error *reterr)
{
	return tlat_fail(reterr, -EOPNOTSUPP,
			 "io_uring is not in this build; build with liburing (TLAT_WITH_URING)");
}

static int ring_open(void)
{
	return -EOPNOTSUPP;
}

static int ring_fd(void)
{
	return -1;
}

static void ring_arm(struct tlat_storm_worker *w, struct tlat_storm_timer *t)
{
	(void)w;
	(void)t;
}

static void ring_read(struct tlat_storm_worker *w)
{
	(void)w;
}

static void ring_close(struct tlat_storm_worker *w)
{
	(void)w;
}
#endif

/* == Both == */

static int open_one(struct tlat_storm_timer *t)
{
	if (kind_of(t) == TLAT_STORM_TIMERFD) {
		t->id = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		return t->id < 0 ? -errno : 0;
	}
	return 0;
}

/* A ring is refused by sandboxes more often than not: then that clock is left out. */
int tlat_storm_fds_open(struct tlat_storm_worker *w)
{
	int error = 0;

	for (int32_t i = 0; i < w->n_timers && !error; i++) {
		error = open_one(&w->timers[i]);
		if (kind_of(&w->timers[i]) == TLAT_STORM_URING && ring_open() < 0)
			w->missing |= 1u << w->timers[i].clock;
	}
	return error;
}

static void arm_timerfd(struct tlat_storm_timer *t)
{
	const struct itimerspec spec = {
		.it_value = tlat_timespec_of_ns((int64_t)t->grid.e0),
		.it_interval = tlat_timespec_of_ns((int64_t)t->grid.t),
	};

	timerfd_settime(t->id, TFD_TIMER_ABSTIME, &spec, NULL);
}

void tlat_storm_fds_arm(struct tlat_storm_worker *w)
{
	const struct tlat_storm_plan *plan = &w->storm->plan;
	uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC), t_ns = (uint64_t)plan->interval_ns;

	for (int32_t i = 0; i < w->n_timers; i++) {
		struct tlat_storm_timer *t = &w->timers[i];

		if (kind_of(t) < TLAT_STORM_TIMERFD)
			continue;
		t->told = 0;
		t->grid.t = t_ns;
		t->grid.e0 = now + LEAD_NS +
			     t_ns * (uint64_t)(i % plan->timers) / (uint64_t)plan->timers;
		if (kind_of(t) == TLAT_STORM_TIMERFD)
			arm_timerfd(t);
		else if (ring_fd() >= 0)
			ring_arm(w, t);
	}
	ring_read(w); /* submits */
}

/* The count of a read is the number of expiries since the one before. */
static void read_timerfd(struct tlat_storm_timer *t)
{
	uint64_t a = tlat_gettime_ns(CLOCK_MONOTONIC), n, b;

	if (read(t->id, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return;
	b = tlat_gettime_ns(CLOCK_MONOTONIC);
	tlat_hist_record(t->lateness, (int64_t)(b - (t->grid.e0 + t->told * t->grid.t)));
	tlat_storm_count(t, n);
	tlat_storm_check(t, t->told, tlat_storm_law_holds(&t->grid, t->told, a, b, 0),
			 tlat_storm_points(&t->grid, a), tlat_storm_points(&t->grid, b));
}

/* Every timerfd is tried: at storm rates that costs less than asking which are ready. */
bool tlat_storm_fds_turn(struct tlat_storm_worker *w, int64_t nap_ns)
{
	const struct timespec nap = tlat_timespec_of_ns(nap_ns);
	static struct pollfd fds[TLAT_STORM_TIMERS_MAX + 1];
	nfds_t n = 0;

	if (ring_fd() >= 0)
		fds[n++] = (struct pollfd){ .fd = ring_fd(), .events = POLLIN };
	for (int32_t i = 0; i < w->n_timers; i++)
		if (kind_of(&w->timers[i]) == TLAT_STORM_TIMERFD)
			fds[n++] = (struct pollfd){ .fd = w->timers[i].id, .events = POLLIN };
	if (!n)
		return false;
	if (ppoll(fds, n, &nap, NULL) > 0)
		for (int32_t i = 0; i < w->n_timers; i++)
			if (kind_of(&w->timers[i]) == TLAT_STORM_TIMERFD)
				read_timerfd(&w->timers[i]);
	ring_read(w); /* also submits again what the kernel did not take */
	return true;
}

void tlat_storm_fds_close(struct tlat_storm_worker *w)
{
	for (int32_t i = 0; i < w->n_timers; i++)
		if (kind_of(&w->timers[i]) == TLAT_STORM_TIMERFD && w->timers[i].id >= 0)
			close(w->timers[i].id);
	ring_close(w);
}
