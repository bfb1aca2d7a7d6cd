// SPDX-License-Identifier: MIT
/*
 * storm_signal.c - the timers that send signals, and their handlers. A handler may be all that ever
 * runs: it counts, tests for the end, and then blocks the storm's signals in the context that it
 * returns to, so that the main loop gets its thread back.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "storm.h"

/* Where long has 32 bits the calls of the old names take times of 32 bits; else there are no
 * others. */
#ifdef SYS_timer_settime64
#define TIMER_SETTIME (sizeof(time_t) > sizeof(long) ? SYS_timer_settime64 : SYS_timer_settime)
#define TIMER_GETTIME (sizeof(time_t) > sizeof(long) ? SYS_timer_gettime64 : SYS_timer_gettime)
#else
#define TIMER_SETTIME SYS_timer_settime
#define TIMER_GETTIME SYS_timer_gettime
#endif

#define LEAD_NS	       1000000	     /* from arming to the first expiry */
#define SHORT_NS       100000	     /* below it the closing equation cannot be read exactly */
#define EVERY_STAMP_NS 10000	     /* below it only one delivery in 16 is stamped */
#define BACK_OFF_EVERY 8192	     /* signals */
#define STUCK_NS       1000000000ULL /* without progress */
#define LINGER_NS      5000
#define EXACT_TRIES    16

static struct tlat_storm_worker *self; /* this process's own */
static sigset_t storm_set;
static int posix_signal;
static uint64_t tick_ns;

static const struct tlat_storm_clock *clock_of(const struct tlat_storm_timer *t)
{
	return &tlat_storm_clocks[t->clock];
}

static bool is_posix(const struct tlat_storm_timer *t)
{
	return t->id >= 0 && clock_of(t)->kind <= TLAT_STORM_CPU;
}

/* How far the kernel's view of the timer's clock may lag: CPU time is added up by the tick. */
static uint64_t slack_of(const struct tlat_storm_timer *t)
{
	return clock_of(t)->kind == TLAT_STORM_CPU ? 2 * tick_ns : 0;
}

static bool re_arms(const struct tlat_storm_worker *w)
{
	return w->storm->plan.body & TLAT_STORM_REARM;
}

void tlat_storm_check(struct tlat_storm_timer *t, uint64_t s, bool holds, uint64_t lo, uint64_t hi)
{
	tlat_storm_add(t->checks, 1);
	if (holds)
		return;
	if (!tlat_storm_get(t->breaches)) {
		t->breach_s = s;
		t->breach_lo = lo;
		t->breach_hi = hi;
	}
	tlat_storm_add(t->breaches, 1);
}

/* The sum of all that was told, after a dequeue between a and b. */
static void check_dequeue(struct tlat_storm_timer *t, uint64_t a, uint64_t b)
{
	uint64_t slack = slack_of(t);

	tlat_storm_check(t, t->told, tlat_storm_law_holds(&t->grid, t->told, a, b, slack),
			 tlat_storm_points(&t->grid, a > slack ? a - slack : 0),
			 tlat_storm_points(&t->grid, b + slack));
}

/* == Handlers == */

void tlat_storm_count(struct tlat_storm_timer *t, uint64_t n)
{
	tlat_storm_add(t->delivered, 1);
	tlat_storm_add(t->expired, n);
	t->told += n;
}

/* Lateness against the first of the expiries that this delivery stands for. */
static void stamp(struct tlat_storm_timer *t, uint64_t n)
{
	uint64_t now = tlat_gettime_ns(clock_of(t)->id);

	if (re_arms(self)) {
		if (now < t->earliest)
			tlat_storm_add(t->stale, 1);
		return;
	}
	if (t->lateness)
		tlat_hist_record(t->lateness, (int64_t)(now - (t->grid.e0 + t->told * t->grid.t)));
	tlat_storm_check(t, t->told + n,
			 t->told + n <= tlat_storm_points(&t->grid, now + slack_of(t)), 0,
			 tlat_storm_points(&t->grid, now));
}

static void settime(const struct tlat_storm_timer *t, int flags, uint64_t value_ns,
		    uint64_t interval_ns)
{
	const struct itimerspec spec = {
		.it_value = tlat_timespec_of_ns((int64_t)value_ns),
		.it_interval = tlat_timespec_of_ns((int64_t)interval_ns),
	};

	syscall(TIMER_SETTIME, t->id, flags, &spec, NULL);
}

/* So that a signal of the arming that is replaced is pending when it is replaced. */
static void linger(const struct tlat_storm_timer *t)
{
	uint64_t until = t->grid.e0 + t->told * t->grid.t + LINGER_NS;

	while (clock_of(t)->kind == TLAT_STORM_POSIX && tlat_gettime_ns(clock_of(t)->id) < until &&
	       !tlat_storm_stopping(self->storm, 0))
		tlat_arch_relax();
}

/* Whether its next delivery is stamped. */
static bool is_stamped(const struct tlat_storm_timer *t)
{
	return !(tlat_storm_get(t->delivered) & t->stamp_mask);
}

static void re_arm(struct tlat_storm_timer *t)
{
	if (self->storm->plan.body & TLAT_STORM_LINGER)
		linger(t);
	t->earliest = tlat_gettime_ns(clock_of(t)->id) + t->grid.t;
	t->grid.e0 = t->earliest;
	t->told = 0;
	settime(t, 0, t->grid.t, t->grid.t);
}

/* What the load that is repeated does in its handler. */
static void do_body(struct tlat_storm_timer *t)
{
	uint32_t body = self->storm->plan.body;
	sigset_t pending;

	if (body & TLAT_STORM_SIGPENDING)
		sigpending(&pending);
	if (t && body & TLAT_STORM_GETOVERRUN)
		syscall(SYS_timer_getoverrun, t->id);
	if (t && body & TLAT_STORM_REARM)
		re_arm(t);
}

static void block_in(void *context)
{
	sigset_t *mask = &((ucontext_t *)context)->uc_sigmask;

	sigaddset(mask, posix_signal);
	for (size_t i = 0; i < TLAT_STORM_CLOCKS; i++)
		if (tlat_storm_clocks[i].signal)
			sigaddset(mask, tlat_storm_clocks[i].signal);
}

static void back_off(void);

static void conclude(void *context)
{
	uint64_t seen = tlat_storm_get(self->signals) + 1;

	tlat_storm_set(self->signals, seen);
	if (seen % BACK_OFF_EVERY == 0 && self->storm->plan.body & TLAT_STORM_BACK_OFF)
		back_off();
	if (tlat_storm_stopping(self->storm, seen))
		block_in(context);
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
	struct tlat_storm_timer *t = &self->timers[info->si_value.sival_int];
	uint64_t n = 1 + (uint64_t)info->si_overrun;

	(void)signal;
	if (is_stamped(t))
		stamp(t, n);
	tlat_storm_count(t, n);
	do_body(t);
	conclude(context);
}

static void on_itimer(int signal, siginfo_t *info, void *context)
{
	(void)info;
	for (int32_t i = 0; i < self->n_timers; i++)
		if (clock_of(&self->timers[i])->signal == signal)
			tlat_storm_add(self->timers[i].delivered, 1);
	do_body(NULL);
	conclude(context);
}

void tlat_storm_block(bool block)
{
	sigprocmask(block ? SIG_BLOCK : SIG_UNBLOCK, &storm_set, NULL);
}

void tlat_storm_signals(struct tlat_storm_worker *w)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	struct timespec tick;

	self = w;
	posix_signal = SIGRTMIN;
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	tick_ns = (uint64_t)tick.tv_nsec;
	sigemptyset(&storm_set);
	sigaddset(&storm_set, posix_signal);
	for (size_t i = 0; i < TLAT_STORM_CLOCKS; i++)
		if (tlat_storm_clocks[i].signal)
			sigaddset(&storm_set, tlat_storm_clocks[i].signal);
	/* one at a time: a dequeue never comes before the handler of the one before has begun */
	action.sa_mask = storm_set;
	action.sa_sigaction = on_timer;
	sigaction(posix_signal, &action, NULL);
	action.sa_sigaction = on_itimer;
	for (size_t i = 0; i < TLAT_STORM_CLOCKS; i++)
		if (tlat_storm_clocks[i].signal)
			sigaction(tlat_storm_clocks[i].signal, &action, NULL);
}

/* == Arming == */

static void arm_posix(struct tlat_storm_timer *t, uint64_t period_ns, int32_t place, int32_t of)
{
	uint64_t now = tlat_gettime_ns(clock_of(t)->id);
	bool cpu = clock_of(t)->kind == TLAT_STORM_CPU;

	/* several timers of one clock do not expire together */
	t->grid.t = period_ns;
	t->grid.e0 = now + (cpu ? period_ns : LEAD_NS) + period_ns * (uint64_t)place / (uint64_t)of;
	t->told = 0;
	t->earliest = 0;
	/* a stale signal and a good one may come in turn: a sample would have one kind of them */
	t->stamp_mask = period_ns < EVERY_STAMP_NS && !cpu && !re_arms(self) ? 15 : 0;
	settime(t, TIMER_ABSTIME, t->grid.e0, t->grid.t);
}

static void arm_itimer(struct tlat_storm_timer *t, int64_t period_ns)
{
	int64_t us = period_ns < 1000 ? 1 : (period_ns + 999) / 1000;
	struct itimerval value = { .it_value = { us / 1000000, us % 1000000 } };

	value.it_interval = value.it_value;
	t->grid.t = (uint64_t)us * 1000;
	t->grid.e0 = tlat_gettime_ns(clock_of(t)->id) + t->grid.t; /* at the earliest */
	setitimer(clock_of(t)->which, &value, NULL);
}

static void arm_posix_timers(struct tlat_storm_worker *w)
{
	int32_t of = w->storm->plan.timers;

	for (int32_t i = 0; i < w->n_timers; i++)
		if (is_posix(&w->timers[i]))
			arm_posix(&w->timers[i], tlat_storm_get(w->period_ns), i % of, of);
}

void tlat_storm_arm(struct tlat_storm_worker *w)
{
	arm_posix_timers(w);
	for (int32_t i = 0; i < w->n_timers; i++)
		if (clock_of(&w->timers[i])->kind == TLAT_STORM_ITIMER)
			arm_itimer(&w->timers[i], w->storm->plan.itimer_interval_ns);
}

/* Dequeue one signal of a POSIX timer, if there is one. NULL: none. */
static struct tlat_storm_timer *dequeue(uint64_t *ret_n)
{
	const struct timespec now = { 0 };
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, posix_signal);
	if (sigtimedwait(&set, &info, &now) != posix_signal)
		return NULL;
	*ret_n = 1 + (uint64_t)info.si_overrun;
	return &self->timers[info.si_value.sival_int];
}

/* Signals of an arming that is over; old kernels deliver them all the same. */
static void drain(void)
{
	uint64_t n;

	for (int32_t i = 0; i < self->n_timers && dequeue(&n); i++)
		;
}

static void disarm_posix(struct tlat_storm_worker *w)
{
	for (int32_t i = 0; i < w->n_timers; i++)
		if (is_posix(&w->timers[i]))
			settime(&w->timers[i], 0, 0, 0);
	drain();
}

void tlat_storm_disarm(struct tlat_storm_worker *w)
{
	const struct itimerval off = { 0 };

	disarm_posix(w);
	for (int32_t i = 0; i < w->n_timers; i++)
		if (clock_of(&w->timers[i])->kind == TLAT_STORM_ITIMER)
			setitimer(clock_of(&w->timers[i])->which, &off, NULL);
}

/* == Closing == */

/* Timers whose last dequeue is to be made here, between two stamps; long ones have the closing
 * equation, and only the final pass has the time that CPU clocks need. */
static bool wants_dequeue(const struct tlat_storm_timer *t, bool final)
{
	if (!is_posix(t))
		return false;
	if (clock_of(t)->kind == TLAT_STORM_CPU)
		return final && t->grid.t <= tick_ns;
	return t->grid.t < SHORT_NS;
}

static void read_clocks(uint64_t at[TLAT_STORM_CLOCKS])
{
	for (size_t i = 0; i < TLAT_STORM_CLOCKS; i++)
		if (tlat_storm_clocks[i].kind <= TLAT_STORM_CPU &&
		    self->storm->plan.clocks & (1u << i))
			at[i] = tlat_gettime_ns(tlat_storm_clocks[i].id);
}

/* Until every timer that wants it has had a dequeue of known time, or for as long as that may take:
 * what is pending comes in turn. Reading the clocks uses up the CPU time that CPU clocks need. */
static void last_dequeues(struct tlat_storm_worker *w, bool final)
{
	uint64_t until = tlat_gettime_ns(CLOCK_MONOTONIC) + (final ? 5 * tick_ns : tick_ns / 4);
	uint64_t a[TLAT_STORM_CLOCKS] = { 0 }, n;
	int32_t left = 0;

	for (int32_t i = 0; i < w->n_timers; i++) {
		w->timers[i].wanted = wants_dequeue(&w->timers[i], final);
		left += w->timers[i].wanted;
	}
	while (left > 0 && tlat_gettime_ns(CLOCK_MONOTONIC) < until) {
		struct tlat_storm_timer *t;

		read_clocks(a);
		t = dequeue(&n);
		if (!t)
			continue;
		t->told += n;
		check_dequeue(t, a[t->clock], tlat_gettime_ns(clock_of(t)->id));
		left -= t->wanted;
		t->wanted = false;
	}
}

/* What is pending of any timer, in full: between expiries of SHORT_NS and more there is an end. */
static void take_pending(void)
{
	struct tlat_storm_timer *t;
	uint64_t n;

	while ((t = dequeue(&n)))
		t->told += n;
}

static uint64_t remaining_ns(const struct tlat_storm_timer *t)
{
	struct itimerspec spec = { 0 };

	syscall(TIMER_GETTIME, t->id, &spec);
	return (uint64_t)spec.it_value.tv_sec * TLAT_NSEC_PER_SEC + (uint64_t)spec.it_value.tv_nsec;
}

/* S = (next expiry - E0) / T, with nothing pending before or after the timer is read. */
static void close_exactly(struct tlat_storm_timer *t)
{
	for (int i = 0; i < EXACT_TRIES; i++) {
		uint64_t told, a, b, remaining;

		take_pending();
		told = t->told;
		a = tlat_gettime_ns(clock_of(t)->id);
		remaining = remaining_ns(t);
		b = tlat_gettime_ns(clock_of(t)->id);
		take_pending();
		if (t->told != told || remaining <= 1) /* it expired meanwhile, or is about to */
			continue;
		tlat_storm_check(t, t->told, tlat_storm_law_exact(&t->grid, told, a, b, remaining),
				 tlat_storm_points(&t->grid, a), tlat_storm_points(&t->grid, b));
		return;
	}
}

/* Interval timers tell no overruns: what they could have told is what their clock says. */
static void close_itimer(struct tlat_storm_timer *t)
{
	uint64_t delivered = tlat_storm_get(t->delivered);
	uint64_t points = tlat_storm_points(&t->grid, tlat_gettime_ns(clock_of(t)->id));

	tlat_storm_set(t->expired, points);
	tlat_storm_check(t, delivered, delivered <= points, 0, points);
}

void tlat_storm_close_books(struct tlat_storm_worker *w)
{
	for (int32_t i = 0; i < w->n_timers; i++)
		if (clock_of(&w->timers[i])->kind == TLAT_STORM_ITIMER)
			close_itimer(&w->timers[i]);
	if (re_arms(w))
		return;
	last_dequeues(w, true);
	for (int32_t i = 0; i < w->n_timers; i++)
		if (is_posix(&w->timers[i]) && wants_dequeue(&w->timers[i], true))
			settime(&w->timers[i], 0, 0, 0);
	for (int32_t i = 0; i < w->n_timers; i++)
		if (is_posix(&w->timers[i]) && clock_of(&w->timers[i])->kind == TLAT_STORM_POSIX &&
		    w->timers[i].grid.t >= SHORT_NS)
			close_exactly(&w->timers[i]);
}

/* == Back-off == */

/* Shorter while the main loop gets on; else what worked before, or twice as long. */
static uint64_t next_period(uint64_t now)
{
	uint64_t period = tlat_storm_get(self->period_ns), next;

	if (now - self->progress_at_ns <= STUCK_NS) {
		self->last_good_ns = period;
		next = period * 95 / 100;
		return next ? next : 1;
	}
	next = self->last_good_ns > period ? self->last_good_ns : period * 2;
	self->last_good_ns = 0;
	self->back_offs++;
	return next;
}

/* In whole periods; what is left of one is the next one's. */
static void note_asked(uint64_t now)
{
	uint64_t period = tlat_storm_get(self->period_ns);
	uint64_t n = (now - self->asked_until_ns) / period;

	self->asked += n;
	self->asked_until_ns += n * period;
}

/* In a handler, so that all of the storm's signals are blocked. The old grids are closed first. */
static void back_off(void)
{
	uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC);

	note_asked(now);
	last_dequeues(self, false);
	disarm_posix(self);
	tlat_storm_set(self->period_ns, next_period(now));
	arm_posix_timers(self);
}
