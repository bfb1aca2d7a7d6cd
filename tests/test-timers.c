// SPDX-License-Identifier: MIT
/*
 * test-timers.c - timer probes on this kernel, held to what is known of each mechanism: slack,
 * wheel, overruns, who is told; what stalls and stop signals do to the figures; that nothing of the
 * process is left changed. No upper bound of a latency is asserted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "denied.h"
#include "finding.h"
#include "machine_state.h"
#include "probes/signal_timer.h"
#include "probes/wheel.h"
#include "report.h"
#include "rtsignal.h"
#include "run_grid.h"

#define MS     1000000LL
#define REPEAT 5 /* what the load of others can spoil is tried so often */

static struct tlat_machine *machine;
static struct tlat_clock *the_clock;
static char last_cpu[16];
static bool real_time; /* is granted */

static struct tlat_run_opts base(const char *probe)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = probe, .cpus = last_cpu, .machine = machine,
			      .clock = the_clock, .samples = 30, .warmup = TLAT_ZERO,
			      .interval_ns = MS, .slack_ns = 1, .flags = TLAT_RUN_NO_FLOOR);

	if (real_time) {
		opts.policy = TLAT_SCHED_FIFO;
		opts.priority = 40;
	}
	return opts;
}

static struct tlat_report *measured(const struct tlat_run_opts *opts)
{
	struct tlat_report *report;
	struct tlat_error error;

	if (tlat_run(&report, opts, &error) < 0)
		fail_msg("%s: %s", opts->probe, error.text);
	return report;
}

static int64_t tick_ns(void)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return tlat_ns_of_timespec(&tick);
}

static void assert_adds_up(const struct tlat_result *result)
{
	assert_int_equal(tlat_counts_balance(&result->counts), 0);
	/* the wheel by a bucket, of those measured here, if a tick was late when it was armed */
	if (result->counts.early && (strcmp(result->probe, "timer-sockopt") ||
				     tlat_hist_min(result->latency) < -8 * tick_ns()))
		fail_msg("%s: %llu before it was due, the first by %lld ns", result->probe,
			 (unsigned long long)result->counts.early,
			 (long long)-tlat_hist_min(result->latency));
	assert_false(has_finding(result, "accounting"));
	assert_false(has_finding(result, "conservation"));
}

static bool is_timer(const char *name)
{
	return !strncmp(name, "timer-", 6);
}

/* == All of them == */

/* What may be explained instead of measured, because builds and kernels differ: without liburing or
 * with io_uring forbidden; before Linux 6.7; a thread that ThreadSanitizer does not know. */
static const char *const may_be_explained[] = {
	"timer-uring",
	"timer-uring-multishot",
	"timer-futex2",
#if defined(__SANITIZE_THREAD__)
	"timer-posix-thread",
#endif
};

static bool is_excused(const char *name)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(may_be_explained); i++)
		if (!strcmp(name, may_be_explained[i]))
			return true;
	return false;
}

static void every_timer_is_measured_or_on_the_list(void **state)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };
	int n = 0;

	(void)state;
	for (size_t i = 0; !tlat_probe_facts(i, &facts); i++) {
		struct tlat_run_opts opts = base(facts.name);
		struct tlat_report *report;
		const struct tlat_result *result;

		if (!is_timer(facts.name))
			continue;
		n++;
		report = measured(&opts);
		result = tlat_report_result(report, 0);
		if (has_finding(result, "unsupported") && !is_excused(facts.name))
			fail_msg("%s is neither measured nor on the list", facts.name);
		assert_adds_up(result);
		if (!has_finding(result, "unsupported"))
			assert_int_equal(result->counts.asked, 30);
		tlat_report_free(report);
	}
	assert_int_equal(n, 29);
}

/* A sandbox that lets one make a queue, but not wait for it. */
static void a_denied_call_is_explained(void **state)
{
	int error = check_denied("timer-mq", SYS_mq_timedreceive);

	(void)state;
	if (error == NO_FILTER || tlat_probe_check("timer-mq", NULL))
		skip();
	assert_int_equal(error, EPERM);
}

/* == Nothing is left behind == */

struct process {
	sigset_t mask;
	struct sigaction actions[_NSIG];
	struct itimerval alarm;
	int files;
};

static int count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void look(struct process *process)
{
	memset(process, 0, sizeof(*process));
	pthread_sigmask(SIG_BLOCK, NULL, &process->mask);
	for (int s = 1; s < _NSIG; s++)
		sigaction(s, NULL, &process->actions[s]);
	getitimer(ITIMER_REAL, &process->alarm);
	process->files = count_files();
}

static void assert_same(const struct process *before, const char *probe)
{
	struct process after;

	look(&after);
	for (int s = 1; s < _NSIG; s++) {
		if (sigismember(&before->mask, s) != sigismember(&after.mask, s))
			fail_msg("%s: signal %d is (un)blocked", probe, s);
		if (before->actions[s].sa_handler != after.actions[s].sa_handler)
			fail_msg("%s: signal %d has another handler", probe, s);
	}
	assert_int_equal(after.alarm.it_value.tv_sec + after.alarm.it_value.tv_usec, 0);
	assert_int_equal(before->files, after.files);
}

static void no_timer_leaves_anything_behind(void **state)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };
	struct process before;

	(void)state;
	for (size_t i = 0; !tlat_probe_facts(i, &facts); i++) {
		struct tlat_run_opts opts = base(facts.name);

		if (!is_timer(facts.name))
			continue;
		opts.samples = 3;
		look(&before);
		tlat_report_free(measured(&opts));
		assert_same(&before, facts.name);
	}
}

/* An expiry in an hour is not waited for, whatever waits. */
static void a_stop_ends_every_wait(void **state)
{
	struct tlat_probe_facts facts = { .size = sizeof(facts) };
	struct process before;

	(void)state;
	for (size_t i = 0; !tlat_probe_facts(i, &facts); i++) {
		struct tlat_run_opts opts = base(facts.name);
		struct tlat_report *report;
		struct tlat_run *run;

		if (!is_timer(facts.name))
			continue;
		opts.interval_ns = 3600 * TLAT_NSEC_PER_SEC;
		opts.policy = TLAT_SCHED_OTHER; /* two of them spin */
		opts.priority = 0;
		look(&before);
		assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
		usleep(20000);
		tlat_run_stop(run);
		assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
		assert_adds_up(tlat_report_result(report, 0));
		assert_true(tlat_report_result(report, 0)->counts.unfinished <= 1);
		tlat_report_free(report);
		assert_same(&before, facts.name);
	}
}

static void one_process_has_one_itimer(void **state)
{
	struct tlat_run_opts opts = base("timer-itimer");
	struct itimerval own = { .it_value.tv_sec = 1000 }, off = { 0 };
	struct tlat_report *report;

	(void)state;
	opts.threads = 2;
	report = measured(&opts);
	assert_true(has_finding(tlat_report_result(report, 0), "unsupported"));
	tlat_report_free(report);
	opts.threads = 0;
	setitimer(ITIMER_REAL, &own, NULL);
	assert_int_equal(tlat_probe_check("timer-itimer", NULL), -EBUSY);
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_IGN);
	assert_int_equal(tlat_probe_check("timer-itimer", NULL), -EBUSY);
	signal(SIGALRM, SIG_DFL);
	report = measured(&opts);
	assert_int_equal(tlat_report_result(report, 0)->counts.asked, 30);
	tlat_report_free(report);
}

/* Meanwhile ITIMER_REAL is waited for in this process, but not in a child that it forks. */
static void a_forked_child_has_the_interval_timer_for_itself(void **state)
{
	struct tlat_run_opts opts = base("timer-itimer"), brief = opts;
	struct tlat_report *report;
	struct tlat_run *run;
	int status;
	pid_t pid;

	(void)state;
#if defined(__SANITIZE_THREAD__)
	skip(); /* it has no threads after a fork */
#endif
	opts.samples = 0;
	opts.duration_ns = 20LL * TLAT_NSEC_PER_SEC;
	brief.samples = 5;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	pid = fork();
	if (pid == 0)
		_exit(tlat_run(&report, &brief, NULL) ||
		      has_finding(tlat_report_result(report, 0), "unsupported"));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	tlat_run_stop(run);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	assert_false(has_finding(tlat_report_result(report, 0), "unsupported"));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	tlat_report_free(report);
}

static atomic_bool sleeps; /* and has its own signal mask by now */

static void *sleep_long(void *arg)
{
	atomic_store(&sleeps, true);
	pause();
	return arg;
}

/* It would be told, and the program would end. */
static void a_thread_that_does_not_block_sigalrm_is_a_reason_not_to_run(void **state)
{
	struct tlat_run_opts opts = base("timer-itimer");
	struct tlat_report *report;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_long, NULL), 0);
	while (!atomic_load(&sleeps))
		usleep(1000);
	report = measured(&opts);
	assert_true(has_finding(tlat_report_result(report, 0), "unsupported"));
	tlat_report_free(report);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

extern const struct tlat_probe_ops tlat_probe_timer_itimer;

static int open_itimer(const char *probe)
{
	alignas(TLAT_CACHE_LINE) char shared[512] = { 0 };
	struct tlat_probe_ctx ctx = { .ops = &tlat_probe_timer_itimer, .shared = shared };
	struct tlat_run_opts opts = base(probe);
	struct tlat_error why;
	int error;

	assert_true(ctx.ops->shared_size <= sizeof(shared));
	error = ctx.ops->open(&ctx, &opts, &why);
	return !error || strstr(why.text, "cannot be read below /proc/self/task") ? error : -EPROTO;
}

/* A thread that cannot be seen is not one that blocks the signal. */
static void masks_that_cannot_be_read_are_a_reason_not_to_run(void **state)
{
	int error = under_denial(open_itimer, "timer-itimer", SYS_getdents64);

	(void)state;
	if (error == NO_FILTER)
		skip();
	assert_int_equal(error, EPERM);
}

/* == Slack == */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The lower quartile, which a busy machine moves least. */
static int64_t quartile_ns(const char *probe, int64_t slack_ns)
{
	struct tlat_run_opts opts = base(probe);
	struct tlat_report *report;
	const struct tlat_result *result;
	int64_t value;

	opts.policy = TLAT_SCHED_OTHER;
	opts.priority = 0;
	opts.slack_ns = slack_ns;
	opts.samples = opts.raw = 200;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	assert_int_equal(result->wait.slack_ns, slack_ns);
	assert_true(result->n_raw > 20);
	qsort(result->raw, result->n_raw, sizeof(*result->raw), by_value);
	value = result->raw[result->n_raw / 4];
	tlat_report_free(report);
	return value;
}

/* Another interrupt can end a sleep earlier within its slack, but nothing can make it longer. */
static void slack_delays_ordinary_sleeps_by_itself(void **state)
{
	int64_t difference = 0;

	(void)state;
	for (int i = 0; i < REPEAT && difference < 45000; i++)
		difference =
			quartile_ns("timer-nanosleep", 50000) - quartile_ns("timer-nanosleep", 1);
	assert_true(difference >= 45000);
}

static void *slack_as_other(void *ret_slack_ns)
{
	struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &none);
	*(int *)ret_slack_ns = prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
	return NULL;
}

/* What a thread of any program has that was started like this one, and what one of a run has. */
static void inherit_slack(struct words *words, const void *arg)
{
	struct sched_param param = { .sched_priority = 7 };
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_report *report;
	pthread_t thread;
	int slack_ns = -1;

	if (arg)
		sched_setscheduler(0, SCHED_FIFO, &param);
	else
		prctl(PR_SET_TIMERSLACK, 77000L, 0L, 0L, 0L);
	if (pthread_create(&thread, NULL, slack_as_other, &slack_ns) == 0)
		pthread_join(thread, NULL);
	opts.policy = TLAT_SCHED_OTHER;
	opts.priority = 0;
	opts.slack_ns = 0;
	if (tlat_run(&report, &opts, NULL) < 0)
		return;
	say(words, "more by %lld",
	    (long long)tlat_report_result(report, 0)->wait.slack_ns - slack_ns);
	tlat_report_free(report);
}

static void inherited_slack_is_that_of_any_new_thread(void **state)
{
	(void)state;
	assert_string_equal(in_child(inherit_slack, NULL), "more by 0");
	need_root();
	assert_string_equal(in_child(inherit_slack, "fifo"), "more by 0");
}

/* == The timer wheel == */

static void check_wheel(int64_t timeout_ns, uint64_t samples)
{
	struct tlat_run_opts opts = base("timer-sockopt");
	struct tlat_report *report;
	const struct tlat_result *result;

	opts.interval_ns = timeout_ns;
	opts.samples = samples;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	assert_adds_up(result);
	assert_int_equal(result->counts.recorded + result->counts.early, samples);
	/* Lateness counts from the end of the bucket, however wide: once at least it is no later
	 * than the tick after that, with a tick for the way back. */
	assert_true(tlat_hist_min(result->latency) <= 2 * tick_ns());
	tlat_report_free(report);
}

static void a_timeout_ends_with_its_bucket(void **state)
{
	const struct tlat_wheel wheel = { .origin = (uint64_t)-5000000, .tick = 4000000 };

	(void)state;
	assert_int_equal(tlat_wheel_width(1), 1);
	assert_int_equal(tlat_wheel_width(62), 1);
	assert_int_equal(tlat_wheel_width(63), 8);
	assert_int_equal(tlat_wheel_width(503), 8);
	assert_int_equal(tlat_wheel_width(504), 64);
	assert_int_equal(tlat_wheel_width(4032), 512);
	for (uint64_t ticks = 1; ticks < 5000; ticks += ticks < 600 ? 1 : 37)
		for (uint64_t jiffies = 1000; jiffies < 1600; jiffies++) {
			uint64_t end = tlat_wheel_end(jiffies, ticks);

			assert_true(end > jiffies + ticks &&
				    end % tlat_wheel_width(ticks - 1) == 0);
			assert_true(end - jiffies - ticks <= tlat_wheel_width(ticks - 1));
		}
	/* 300 ms at 250 Hz, as the kernel's trace has had it: 75 ticks, expired after 77 */
	assert_int_equal(tlat_wheel_end(1003, 75), 1080);
	/* jiffies are 1 from -1 ms on, 2 from 3 ms on; with 2 more a bucket ends at 5, at 15 ms */
	assert_int_equal(tlat_wheel_due(&wheel, 1, 2999999, 2), 11000000);
	assert_int_equal(tlat_wheel_due(&wheel, 1, 3000000, 2), 15000000);
	/* that tick has not moved the coarse clock: it is not counted */
	assert_int_equal(tlat_wheel_due(&wheel, (uint64_t)-2, 3000000, 2), 15000000);
	assert_int_equal(tlat_wheel_due(&wheel, (uint64_t)-1000001, 3000000, 2), 11000000);
}

static void the_wheel_keeps_to_its_buckets(void **state)
{
	(void)state;
	check_wheel(5 * MS, 50);
	check_wheel(300 * MS, 6);
}

/* == Overruns == */

static int cycles;

/* Not there for 10.5 ms in every 20th cycle, between two waits. */
static void be_away(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side)
{
	uint64_t until = tlat_gettime_ns(CLOCK_MONOTONIC) + 10500000;

	(void)ctx;
	(void)side;
	while (++cycles % 20 == 0 && tlat_gettime_ns(CLOCK_MONOTONIC) < until)
		cycles--;
}

/* The loop itself, on this thread, with a probe whose waits begin late now and then. */
static void check_overruns(const char *probe, int64_t interval_ns)
{
	struct tlat_probe_ops ops = *tlat_probe_find(probe);
	struct tlat_run_opts opts = TLAT_RUN_OPTS(.interval_ns = interval_ns);
	static const atomic_int stop;
	atomic_int request = 0;
	struct tlat_probe_ctx ctx = { .ops = &ops,
				      .stamper = { .kind = TLAT_STAMP_GETTIME, .id = ops.clock },
				      .stop = &stop,
				      .interval_ns = interval_ns };
	struct tlat_probe_side side = { .role = TLAT_ROLE_WAIT };
	struct tlat_solo solo = { .ctx = &ctx,
				  .interval = (uint64_t)interval_ns,
				  .tick = 4000000,
				  .phase = 1234567,
				  .limits = { .samples = (uint64_t)(300 * MS / interval_ns),
					      .duration = UINT64_MAX,
					      .request = &request } };
	struct tlat_book book = { .ns_per_unit = 1.0, .planned_cpu = -1 };
	struct tlat_error error;

	ops.ready = be_away;
	ctx.shared = calloc(1, ops.shared_size);
	side.state = calloc(1, ops.side_size + 1);
	assert_int_equal(tlat_hist_new(&book.latency, TLAT_NSEC_PER_SEC), 0);
	assert_int_equal(ops.open(&ctx, &opts, &error), 0);
	assert_int_equal(ops.enter ? ops.enter(&ctx, &side, &error) : 0, 0);
	tlat_run_solo(&solo, &side, &book);
	assert_int_equal(book.error, 0);
	assert_int_equal(book.tally.miscounts, 0);
	assert_true(book.tally.closed);
	assert_int_equal(book.tally.counted, book.tally.expired);
	assert_true(book.counts.missed > 20 * MS / (uint64_t)interval_ns);
	assert_int_equal(book.counts.asked, tlat_hist_count(book.latency) + book.counts.missed);
	assert_int_equal(tlat_hist_early(book.latency), 0);
	if (ops.leave)
		ops.leave(&ctx, &side);
	ops.close(&ctx);
	tlat_hist_free(book.latency);
	free(side.state);
	free(ctx.shared);
}

static void no_expiration_is_lost_or_invented(void **state)
{
	const char *const probes[] = { "timer-timerfd", "timer-timerfd-poll", "timer-timerfd-epoll",
				       "timer-posix-sigwait", "timer-posix-handler" };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		check_overruns(probes[i], MS);
		check_overruns(probes[i], MS / 10);
	}
}

/* == Who is told == */

static atomic_int told, told_others;
static atomic_bool delivered;
static pid_t target;

static void on_told(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	atomic_fetch_add((pid_t)syscall(SYS_gettid) == target ? &told : &told_others, 1);
}

static void *be_busy(void *arg)
{
	while (!atomic_load(&delivered))
		sched_yield();
	return arg;
}

/* Threads that would take the signal, busy on all CPUs, get none of it. */
static void a_timer_tells_its_thread_and_no_other(void **state)
{
	int signal = tlat_rtsignal_take(on_told, NULL);
	struct tlat_signal_timer timer;
	struct process before;
	pthread_t others[4];

	(void)state;
	assert_true(signal > 0);
	look(&before);
	target = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&others[i], NULL, be_busy, NULL), 0);
	assert_int_equal(tlat_signal_timer_make(&timer, CLOCK_MONOTONIC, signal, NULL, NULL), 0);
	pthread_sigmask(SIG_UNBLOCK, &timer.set, NULL);
	assert_int_equal(tlat_signal_timer_arm(&timer, 1, 200000), 0);
	while (atomic_load(&told) + atomic_load(&told_others) < 500)
		usleep(1000);
	tlat_signal_timer_free(&timer);
	assert_same(&before, "a signal timer");
	atomic_store(&delivered, true);
	for (int i = 0; i < 4; i++)
		pthread_join(others[i], NULL);
	tlat_rtsignal_release(signal);
	assert_int_equal(told_others, 0);
}

/* == Stalls, live == */

#define STALLS	 8
#define STALL_NS (30 * MS)

static struct {
	uint64_t begin[STALLS], end[STALLS];
} stamped;

/* Of the higher priority, on the same CPU; says exactly when it was there. */
static void *stall(void *arg)
{
	struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.cpus = last_cpu, .policy = TLAT_SCHED_FIFO, .priority = 50);
	struct tlat_rt *rt;

	assert_int_equal(tlat_rt_apply(&rt, &opts, NULL), 0);
	for (int i = 0; i < STALLS; i++) {
		uint64_t now;

		usleep(170000);
		stamped.begin[i] = now = tlat_gettime_ns(CLOCK_MONOTONIC);
		while (now < stamped.begin[i] + STALL_NS)
			now = tlat_gettime_ns(CLOCK_MONOTONIC);
		stamped.end[i] = now;
	}
	tlat_rt_undo(rt);
	return arg;
}

/* Whole periods within the stalls: what each hides, give or take one. */
static int64_t hidden_by_stalls(void)
{
	int64_t hidden = 0;

	for (int i = 0; i < STALLS; i++)
		hidden += (int64_t)(stamped.end[i] - stamped.begin[i]) / MS;
	return hidden;
}

/* As others do it: absolute deadlines, the next one after now, nothing counted. Its number. */
static int64_t skip_past_now(uint64_t slots)
{
	uint64_t due = tlat_gettime_ns(CLOCK_MONOTONIC) + MS, end = due + slots * MS;
	int64_t n = 0;

	for (; due < end; n++) {
		struct timespec ts = tlat_timespec_of_ns((int64_t)due);
		uint64_t now;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		now = tlat_gettime_ns(CLOCK_MONOTONIC);
		while (due <= now)
			due += MS;
	}
	return n;
}

#define SLOTS ((uint64_t)STALLS * 200 + 100)

/* What the hypervisor took meanwhile comes with it, as periods. */
static int64_t missed_in_stalls(int64_t *stolen)
{
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_report *report;
	const struct tlat_result *result;
	int64_t missed;
	pthread_t thread;

	opts.samples = SLOTS;
	assert_int_equal(pthread_create(&thread, NULL, stall, NULL), 0);
	report = measured(&opts);
	pthread_join(thread, NULL);
	result = tlat_report_result(report, 0);
	assert_adds_up(result);
	assert_true(tlat_hist_max(result->latency) >= STALL_NS - 2 * MS);
	missed = (int64_t)result->counts.missed;
	*stolen = result->watch->steal_ns > 0 ? result->watch->steal_ns / MS : 0;
	tlat_report_free(report);
	return missed;
}

static int64_t skipped_in_stalls(void)
{
	struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.cpus = last_cpu, .policy = TLAT_SCHED_FIFO, .priority = 40);
	struct tlat_rt *rt;
	pthread_t thread;
	int64_t n;

	assert_int_equal(tlat_rt_apply(&rt, &opts, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, stall, NULL), 0);
	n = skip_past_now(SLOTS);
	pthread_join(thread, NULL);
	tlat_rt_undo(rt);
	return (int64_t)SLOTS - n;
}

static void what_a_busy_thread_hides_is_counted(void **state)
{
	int64_t missed = 0, hidden = 0, stolen = 0, unseen;

	(void)state;
	if (!real_time)
		skip();
	/* Others on this machine may stall the thread, too: never less, and once no more. */
	for (int i = 0; i < REPEAT && (i == 0 || missed > hidden + STALLS + stolen); i++) {
		missed = missed_in_stalls(&stolen);
		hidden = hidden_by_stalls();
		assert_true(missed >= hidden - STALLS);
	}
	assert_true(missed <= hidden + STALLS + stolen);
	unseen = skipped_in_stalls();
	assert_true(unseen >= hidden_by_stalls() - STALLS); /* which it says nothing of */
}

/* == Stop signals and clock steps == */

/* In a child that is stopped for 2 s in the middle: what it says of its largest value. */
static void measure_stopped(const char *probe)
{
	struct tlat_run_opts opts = base(probe);
	struct tlat_report *report;
	const struct tlat_result *result;
	double max_ns;

	opts.samples = 0;
	opts.duration_ns = 3 * TLAT_NSEC_PER_SEC;
	opts.interval_ns = 10 * MS;
	if (tlat_run(&report, &opts, NULL) < 0)
		_exit(2);
	result = tlat_report_result(report, 0);
	max_ns = (double)tlat_hist_max(result->latency);
	if (tlat_counts_balance(&result->counts) || result->counts.early)
		_exit(3);
	if (max_ns < 1.9e9 || !has_finding(result, "stall"))
		_exit(4);
	if (has_finding(result, "conservation") || has_finding(result, "probe-failed"))
		_exit(5);
	_exit(0);
}

static void a_stopped_process_has_a_finding(void **state)
{
	const char *const probes[] = { "timer-nanosleep", "timer-timerfd", "timer-posix-sigwait",
				       "timer-epoll-wait", "timer-futex" };
	pid_t children[TLAT_ARRAY_SIZE(probes)];
	int status;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (!children[i])
			measure_stopped(probes[i]);
	}
	usleep(700000);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++)
		kill(children[i], SIGSTOP);
	usleep(2000000);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++)
		kill(children[i], SIGCONT);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		if (status)
			fail_msg("%s: status %#x", probes[i], (unsigned int)status);
	}
}

/* A clock that is set, once, some stamps after the run has begun. */
struct step {
	atomic_ullong stamps;
	uint64_t after;
	int64_t by_ns;
};

static uint64_t stepping(void *data, enum tlat_stamp_edge edge)
{
	struct step *step = data;
	uint64_t now = tlat_gettime_ns(CLOCK_MONOTONIC);

	(void)edge;
	return atomic_fetch_add(&step->stamps, 1) < step->after ? now : now + (uint64_t)step->by_ns;
}

static void check_step(int64_t by_ns, const char *finding)
{
	struct step step = { .after = 100, .by_ns = by_ns };
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_clock *scripted;
	struct tlat_report *report;
	const struct tlat_result *result;

	assert_int_equal(tlat_clock_open_script(&scripted, stepping, &step, TLAT_NSEC_PER_SEC), 0);
	opts.clock = scripted;
	opts.samples = 400;
	report = measured(&opts);
	result = tlat_report_result(report, 0);
	assert_int_equal(tlat_counts_balance(&result->counts), 0);
	assert_true(has_finding(result, finding));
	tlat_report_free(report);
	tlat_clock_close(scripted);
}

static void a_clock_that_is_set_has_a_finding(void **state)
{
	(void)state;
	check_step(200 * MS, "stall");
	check_step(-200 * MS, "early");
}

/* == Many threads == */

static int64_t resident_kib(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

/* On all CPUs there are, 64 threads in all or a few more. */
static void sixty_four_threads_count_alike(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");
	int32_t cpus[TLAT_CPUS_MAX];
	int n_cpus = tlat_machine_cpus(machine, "all", cpus, TLAT_CPUS_MAX, NULL), n;
	int64_t before_kib = resident_kib();
	struct tlat_report *report;
	const struct tlat_result *result;
	struct tlat_run *run;

	(void)state;
	opts.cpus = "all";
	opts.threads = (64 + n_cpus - 1) / n_cpus;
	opts.samples = 40;
	opts.warmup = 5;
	opts.interval_ns = 20 * MS;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	usleep(300000);
	n = opts.threads * n_cpus;
	printf("%d threads: %lld KiB each\n", n, (long long)(resident_kib() - before_kib) / n);
	if (!getenv("TLAT_SANITIZE") || !*getenv("TLAT_SANITIZE"))
		assert_true(resident_kib() - before_kib <= 600 * n);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	for (int i = 0; i < n; i++) {
		result = tlat_report_result(report, (size_t)i);
		assert_non_null(result);
		assert_adds_up(result);
		assert_int_equal(result->counts.asked, 40);
		assert_int_equal(result->counts.unfinished, 0);
		assert_int_equal(result->thread, i);
		assert_int_equal(result->wait.cpu, cpus[i % n_cpus]);
	}
	assert_null(tlat_report_result(report, (size_t)n));
	tlat_report_free(report);
}

static void phases_are_drawn_or_at_a_distance(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_report *report;
	int64_t phases[3];

	(void)state;
	opts.threads = 3;
	opts.samples = 3;
	for (int round = 0; round < 3; round++) {
		opts.offset_ns = round == 0 ? 0 : round == 1 ? 150000 : TLAT_ZERO;
		report = measured(&opts);
		for (size_t i = 0; i < 3; i++)
			phases[i] = tlat_report_result(report, i)->phase_ns;
		tlat_report_free(report);
		if (round == 0)
			assert_true(phases[0] != phases[1] && phases[1] != phases[2]);
		else
			assert_true(phases[1] - phases[0] == (round == 1 ? 150000 : 0) &&
				    phases[2] - phases[1] == (round == 1 ? 150000 : 0));
	}
}

static bool has_end(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

/* What follows the largest seed is one, too. */
static void a_result_of_several_has_a_seed_that_can_be_given(void **state)
{
	struct tlat_run_opts opts = base("timer-nanosleep");
	struct tlat_report *report;
	int64_t phase_ns;

	(void)state;
	opts.threads = 2;
	opts.seed = INT64_MAX;
	report = measured(&opts);
	phase_ns = tlat_report_result(report, 1)->phase_ns;
	assert_true(has_end(tlat_result_repeat(tlat_report_result(report, 0)),
			    " --seed 9223372036854775807"));
	assert_true(has_end(tlat_result_repeat(tlat_report_result(report, 1)), " --seed 1"));
	tlat_report_free(report);
	opts.threads = 1;
	opts.seed = 1;
	report = measured(&opts);
	assert_int_equal(tlat_report_result(report, 0)->phase_ns, phase_ns);
	tlat_report_free(report);
}

/* == What the kernel tells == */

/* Whether a run says that its expiry is soft, on a kernel that is said to preempt so. */
static bool says_soft(struct tlat_run_opts opts, const char *preempt, int32_t *ret_policy)
{
	struct tlat_report *report;
	bool said;

	strcpy(machine->facts.preempt, preempt);
	opts.samples = 3;
	report = measured(&opts);
	said = has_finding(tlat_report_result(report, 0), "softirq-expiry");
	*ret_policy = tlat_report_result(report, 0)->wait.policy;
	tlat_report_free(report);
	return said;
}

/* Of sleeps only those of real-time threads are not. */
static void a_preempt_rt_kernel_is_told_where_timers_are_soft(void **state)
{
	const struct {
		const char *probe;
		bool timer, sleep;
	} probes[] = { { "timer-timerfd", true, false },   { "timer-posix-sigwait", true, false },
		       { "timer-itimer", true, false },	   { "timer-sockopt", true, false },
		       { "timer-nanosleep", false, true }, { "timer-futex", false, true },
		       { "timer-poll", false, true },	   { "timer-mq", false, true },
		       { "timer-spin", false, false },	   { "null", false, false } };
	char preempt[sizeof(machine->facts.preempt)];
	int32_t policy;

	(void)state;
	memcpy(preempt, machine->facts.preempt, sizeof(preempt));
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		struct tlat_run_opts opts = base(probes[i].probe);
		bool said = says_soft(opts, "rt", &policy);

		/* the real-time policy may have been refused */
		assert_int_equal(said, probes[i].timer ||
					       (probes[i].sleep && policy == TLAT_SCHED_OTHER));
		assert_false(says_soft(opts, "full", &policy));
		opts.policy = TLAT_SCHED_OTHER;
		opts.priority = 0;
		assert_int_equal(says_soft(opts, "rt", &policy),
				 probes[i].timer || probes[i].sleep);
		assert_false(says_soft(opts, "full", &policy));
	}
	memcpy(machine->facts.preempt, preempt, sizeof(preempt));
}

static void put_timer_list(int root, int retries, int hangs)
{
	char text[128];
	int n, fd;

	mkdirat(root, "proc", 0755);
	fd = openat(root, "proc/timer_list", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	n = snprintf(text, sizeof(text),
		     "cpu: %s\n  .nr_events : %d\n  .nr_retries : %d\n  .nr_hangs : %d\n", last_cpu,
		     1000, retries, hangs);
	assert_int_equal(write(fd, text, (size_t)n), n);
	close(fd);
}

/* Only the counters are read below another root: the machine is this one. */
static void check_hangs(int root, int hangs)
{
	struct tlat_run_opts opts = base("timer-nanosleep");
	int real_root = machine->root_fd;
	struct tlat_report *report;
	const struct tlat_result *result;
	struct tlat_run *run;

	put_timer_list(root, 5, 7);
	machine->root_fd = root;
	opts.samples = 200;
	assert_int_equal(tlat_run_start(&run, &opts, NULL), 0);
	put_timer_list(root, 9, 7 + hangs);
	assert_int_equal(tlat_run_wait(run, &report, NULL), 0);
	machine->root_fd = real_root;
	result = tlat_report_result(report, 0);
	assert_int_equal(result->watch->hrtimer_retries, 4);
	assert_int_equal(result->watch->hrtimer_hangs, hangs);
	assert_int_equal(has_finding(result, "hrtimer-hang"), hangs > 0);
	tlat_report_free(report);
}

static void a_timer_interrupt_that_backed_off_is_a_finding(void **state)
{
	char path[] = "/tmp/tlat-timers-XXXXXX";
	int root;

	(void)state;
	assert_non_null(mkdtemp(path));
	root = open(path, O_RDONLY | O_DIRECTORY);
	check_hangs(root, 0);
	check_hangs(root, 3);
	unlinkat(root, "proc/timer_list", 0);
	unlinkat(root, "proc", AT_REMOVEDIR);
	close(root);
	rmdir(path);
}

static int set_up(void **state)
{
	struct tlat_rt_opts fifo = TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 50);
	int32_t cpus[TLAT_CPUS_MAX];
	struct tlat_rt *rt;
	int n;

	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) < 0)
		return -1;
	n = tlat_machine_cpus(machine, "all", cpus, TLAT_CPUS_MAX, NULL);
	if (n < 1 || tlat_clock_open(&the_clock, machine, TLAT_CLOCK_AUTO, NULL) < 0)
		return -1;
	snprintf(last_cpu, sizeof(last_cpu), "%d", cpus[n - 1]);
	real_time = !tlat_rt_apply(&rt, &fifo, NULL);
	if (real_time)
		tlat_rt_undo(rt);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tlat_clock_close(the_clock);
	tlat_machine_close(machine);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_timer_is_measured_or_on_the_list),
		cmocka_unit_test(a_denied_call_is_explained),
		cmocka_unit_test(no_timer_leaves_anything_behind),
		cmocka_unit_test(a_stop_ends_every_wait),
		cmocka_unit_test(one_process_has_one_itimer),
		cmocka_unit_test(a_forked_child_has_the_interval_timer_for_itself),
		cmocka_unit_test(a_thread_that_does_not_block_sigalrm_is_a_reason_not_to_run),
		cmocka_unit_test(masks_that_cannot_be_read_are_a_reason_not_to_run),
		cmocka_unit_test(slack_delays_ordinary_sleeps_by_itself),
		cmocka_unit_test(inherited_slack_is_that_of_any_new_thread),
		cmocka_unit_test(a_timeout_ends_with_its_bucket),
		cmocka_unit_test(the_wheel_keeps_to_its_buckets),
		cmocka_unit_test(no_expiration_is_lost_or_invented),
		cmocka_unit_test(a_timer_tells_its_thread_and_no_other),
		cmocka_unit_test(what_a_busy_thread_hides_is_counted),
		cmocka_unit_test(a_stopped_process_has_a_finding),
		cmocka_unit_test(a_clock_that_is_set_has_a_finding),
		cmocka_unit_test(sixty_four_threads_count_alike),
		cmocka_unit_test(phases_are_drawn_or_at_a_distance),
		cmocka_unit_test(a_result_of_several_has_a_seed_that_can_be_given),
		cmocka_unit_test(a_preempt_rt_kernel_is_told_where_timers_are_soft),
		cmocka_unit_test(a_timer_interrupt_that_backed_off_is_a_finding),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
