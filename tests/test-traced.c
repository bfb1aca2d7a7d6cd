// SPDX-License-Identifier: MIT
/*
 * test-traced.c - the same wakes as the kernel's tracer saw them. By definition each measured
 * interval holds the kernel's own: it begins before sched_waking of the waiter, the way into the
 * kernel earlier, and ends after the sched_switch to it, the way out of the kernel later. A wake
 * that does not is one that the stamps and the tracer disagree on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "open-clock.h"
#include "result.h"

#define TRACING	 "/sys/kernel/tracing"
#define INSTANCE TRACING "/instances/test-traced"
#define SAMPLES	 1000

/* == The tracer == */

static bool put(const char *file, const char *text)
{
	char path[128];
	int fd;
	bool done;

	snprintf(path, sizeof(path), INSTANCE "/%s", file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

/* In a mount namespace of its own, where tracefs may be mounted and is gone with the test. */
static bool has_tracing(void)
{
	if (access(TRACING "/instances", F_OK) == 0)
		return true;
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tracefs", TRACING, "tracefs", 0, NULL) == 0;
}

static int open_tracing(void **state)
{
	(void)state;
	if (!has_tracing() || (mkdir(INSTANCE, 0700) < 0 && errno != EEXIST))
		return 0;
	assert_true(put("tracing_on", "0"));
	assert_true(put("buffer_size_kb", "4096"));
	assert_true(put("events/sched/sched_waking/enable", "1"));
	assert_true(put("events/sched/sched_switch/enable", "1"));
	return 0;
}

static void needs_tracing(void **state)
{
	(void)state;
	if (access(INSTANCE "/trace_clock", W_OK) < 0)
		skip();
}

static int close_tracing(void **state)
{
	(void)state;
	rmdir(INSTANCE);
	return 0;
}

/*
 * One thread's wakes in the order they came: when it was made ready, when it was put on its CPU,
 * and whether it had left the CPU before. A tracer may lose the switch from the idle task, as those
 * of guests that poll before they halt do (Linux 6.18).
 */
struct wakes {
	size_t n;
	bool gone;
	struct {
		int64_t waking_ns, switched_ns; /* switched_ns 0: not seen */
		bool was_gone, is_over;		/* it has left the CPU again */
	} v[4 * SAMPLES];
};

/* How the fields of one thread begin, in its events. */
struct fields {
	char woken[32], next[32], prev[32];
	double ns_per_tick;
};

/* Stamps of the counter are whole numbers, all others are seconds to six places. */
static int64_t stamp_ns(const char *text, double ns_per_tick)
{
	char *rest;
	unsigned long long whole = strtoull(text, &rest, 10);

	if (*rest != '.')
		return (int64_t)((double)whole * ns_per_tick);
	return (int64_t)whole * 1000000000 + strtoll(rest + 1, NULL, 10) * 1000;
}

static void take_switch(struct wakes *wakes, const char *event, const struct fields *fields,
			int64_t at)
{
	size_t last = wakes->n - 1;

	if (strstr(event, fields->prev)) {
		wakes->gone = true;
		if (wakes->n)
			wakes->v[last].is_over = true;
	} else if (strstr(event, fields->next)) {
		wakes->gone = false;
		if (wakes->n && wakes->v[last].was_gone && !wakes->v[last].is_over)
			wakes->v[last].switched_ns = at;
	}
}

static void take_waking(struct wakes *wakes, int64_t at)
{
	assert_true(wakes->n < 4 * (size_t)SAMPLES);
	wakes->v[wakes->n].waking_ns = at;
	wakes->v[wakes->n++].was_gone = wakes->gone;
	wakes->gone = false;
}

/* "comm-tid [cpu] flags stamp: event: fields" */
static void take_line(struct wakes *wakes, const char *line, const struct fields *fields)
{
	const char *event = strstr(line, ": sched_");
	const char *stamp = event;
	int64_t at;

	if (!event)
		return;
	while (stamp > line && stamp[-1] != ' ')
		stamp--;
	at = stamp_ns(stamp, fields->ns_per_tick);
	if (!strncmp(event, ": sched_switch:", 15))
		take_switch(wakes, event, fields, at);
	else if (!strncmp(event, ": sched_waking:", 15) && strstr(event, fields->woken))
		take_waking(wakes, at);
}

static struct wakes *wakes_of(int32_t tid, double ns_per_tick)
{
	struct wakes *wakes = calloc(1, sizeof(*wakes));
	FILE *trace = fopen(INSTANCE "/trace", "re");
	struct fields fields = { .ns_per_tick = ns_per_tick };
	char line[512];

	assert_non_null(wakes);
	assert_non_null(trace);
	snprintf(fields.woken, sizeof(fields.woken), " pid=%" PRId32 " ", tid);
	snprintf(fields.next, sizeof(fields.next), " next_pid=%" PRId32 " ", tid);
	snprintf(fields.prev, sizeof(fields.prev), " prev_pid=%" PRId32 " ", tid);
	while (fgets(line, sizeof(line), trace))
		take_line(wakes, line, &fields);
	fclose(trace);
	return wakes;
}

/* == The measurement == */

struct traced {
	struct tlat_report *report;
	struct tlat_sample samples[SAMPLES];
	size_t n;
};

/* Measure while the tracer runs on the same clock. */
static void measure(struct traced *t, const struct tlat_run_opts *opts, const char *trace_clock)
{
	struct tlat_error error;
	struct tlat_run *run;

	assert_true(put("trace_clock", trace_clock));
	assert_true(put("trace", "\n"));
	assert_true(put("tracing_on", "1"));
	if (tlat_run_start(&run, opts, &error) < 0)
		fail_msg("%s", error.text);
	poll(&(struct pollfd){ .fd = tlat_run_fd(run), .events = POLLIN }, 1, -1);
	t->n = (size_t)tlat_run_read(run, 0, t->samples, SAMPLES, NULL);
	assert_int_equal(tlat_run_wait(run, &t->report, &error), 0);
	assert_true(put("tracing_on", "0"));
	assert_int_equal(t->n, tlat_report_result(t->report, 0)->counts.recorded);
	assert_true(t->n > 0);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* The wake that a sample is of: the first that was not made ready before the interval began. */
static size_t wake_of(const struct wakes *wakes, size_t from, int64_t begin_ns, int64_t grain_ns)
{
	while (from < wakes->n && wakes->v[from].waking_ns < begin_ns - grain_ns)
		from++;
	return from;
}

/* Where the time of samples went: into the kernel, in its hands, out of it. */
struct shares {
	size_t n;
	int64_t in[SAMPLES], kernel[SAMPLES], out[SAMPLES];
	uint64_t untold; /* the tracer has not seen the waiter come back */
	uint64_t
		awake; /* made ready before it was off its CPU, or it did not even begin to sleep */
};

static void split(struct shares *shares, const struct tlat_sample *sample, int64_t waking_ns,
		  int64_t switched_ns, int64_t grain_ns)
{
	int64_t out = sample->at_ns + sample->value_ns - switched_ns;

	if (out < -grain_ns)
		fail_msg("a sample of %" PRId64 " ns ended %" PRId64
			 " ns before the tracer saw the switch",
			 sample->value_ns, -out);
	shares->in[shares->n] = waking_ns - sample->at_ns;
	shares->kernel[shares->n] = switched_ns - waking_ns;
	shares->out[shares->n++] = out;
}

/*
 * No sample holds two wakes of the tracer, but on PREEMPT_RT, where the waiter may sleep once more
 * on its way out, for a lock that the waker still holds. One without any found its waiter awake.
 */
static void split_all(struct shares *shares, const struct traced *t, const struct wakes *wakes,
		      int64_t grain_ns)
{
	bool is_rt = access("/sys/kernel/realtime", F_OK) == 0;
	size_t k = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct tlat_sample *sample = &t->samples[i];
		int64_t end = sample->at_ns + sample->value_ns;

		k = wake_of(wakes, k, sample->at_ns, grain_ns);
		if (k == wakes->n || wakes->v[k].waking_ns > end + grain_ns) {
			shares->awake++;
			continue;
		}
		if (!is_rt && k + 1 < wakes->n && wakes->v[k + 1].waking_ns < end - grain_ns)
			fail_msg("sample %zu holds two wakes", i);
		if (wakes->v[k].switched_ns)
			split(shares, sample, wakes->v[k].waking_ns, wakes->v[k].switched_ns,
			      grain_ns);
		else if (wakes->v[k].was_gone)
			shares->untold++;
		else
			shares->awake++;
		k++;
	}
}

static void print(const struct tlat_result *result, struct shares *shares)
{
	printf("%s %d->%d: %zu wakes with a switch, %" PRIu64
	       " whose switch the tracer lost, %" PRIu64 " found the waiter awake (%" PRIu64
	       " by its own switches)\n",
	       result->probe, result->kick.cpu, result->wait.cpu, shares->n, shares->untold,
	       shares->awake, result->counts.disturbed[TLAT_DISTURBED_NOT_ASLEEP]);
	if (shares->n)
		printf("	medians, ns: %" PRId64 " to sched_waking, %" PRId64
		       " to sched_switch, %" PRId64 " to the stamp\n",
		       median(shares->in, shares->n), median(shares->kernel, shares->n),
		       median(shares->out, shares->n));
}

static void agree(const struct traced *t, double ns_per_tick, int64_t grain_ns)
{
	const struct tlat_result *result = tlat_report_result(t->report, 0);
	struct wakes *wakes = wakes_of(result->wait.tid, ns_per_tick);
	struct shares *shares = calloc(1, sizeof(*shares));

	assert_non_null(shares);
	split_all(shares, t, wakes, grain_ns);
	print(result, shares);
	assert_int_equal(shares->n + shares->untold + shares->awake, t->n);
	assert_true(shares->awake * 2 < t->n);
	/* on one CPU it is the waker that the waiter takes over from, not the idle task */
	assert_true(shares->n * 2 > t->n || result->kick.cpu != result->wait.cpu);
	free(wakes);
	free(shares);
}

/* == Pairs: on the clock that they are stamped with == */

static void pair_agrees(const char *probe, const char *cpus)
{
	struct tlat_clock *clock = open_clock(TLAT_CLOCK_AUTO);
	struct tlat_clock_facts facts = { .size = sizeof(facts) };
	struct traced *t = calloc(1, sizeof(*t));
	bool counter;

	assert_non_null(t);
	assert_int_equal(tlat_clock_facts(clock, &facts), 0);
	counter = facts.source == TLAT_CLOCK_TSC;
	measure(t,
		&TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .clock = clock, .samples = SAMPLES,
			       .stream = SAMPLES, .flags = TLAT_RUN_NO_FLOOR),
		counter ? "x86-tsc" : "mono_raw");
	/* rounding of the samples; places of the trace */
	agree(t, 1e9 / (double)facts.hz, counter ? 2 : 1000);
	tlat_report_free(t->report);
	free(t);
	tlat_clock_close(clock);
}

/* A CPU that this thread may use, for both sides. */
static const char *one_cpu(void)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", sched_getcpu());
	return text;
}

static void a_futex_wake_holds_the_kernel_s(void **state)
{
	needs_tracing(state);
	pair_agrees("wake-futex", NULL);
	pair_agrees("wake-futex", one_cpu());
}

static void an_eventfd_wake_holds_the_kernel_s(void **state)
{
	needs_tracing(state);
	pair_agrees("wake-eventfd", NULL);
	pair_agrees("wake-eventfd", one_cpu());
}

/* == Timers: on CLOCK_MONOTONIC, whose stamps in a trace have six places == */

static void an_expiry_comes_before_its_wake(void **state)
{
	struct traced *t = calloc(1, sizeof(*t));

	needs_tracing(state);
	assert_non_null(t);
	measure(t,
		&TLAT_RUN_OPTS(.probe = "timer-nanosleep", .cpus = one_cpu(), .samples = SAMPLES,
			       .stream = SAMPLES, .interval_ns = 1000000, .slack_ns = 1,
			       .flags = TLAT_RUN_NO_FLOOR),
		"mono");
	agree(t, 1, 1000);
	tlat_report_free(t->report);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_futex_wake_holds_the_kernel_s),
		cmocka_unit_test(an_eventfd_wake_holds_the_kernel_s),
		cmocka_unit_test(an_expiry_comes_before_its_wake),
	};

	return cmocka_run_group_tests_name("traced", tests, open_tracing, close_tracing);
}
