// SPDX-License-Identifier: MIT
/* test-scale.c - scale measurements: every N has its figures, and nothing is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "newer.h"
#include "scale.h"
#include "storming.h"

static struct tlat_report *scale(const struct tlat_scale_opts *opts)
{
	struct tlat_report *report;
	struct tlat_error error = { 0 };

	if (tlat_scale(&report, opts, &error) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(tlat_result_kind(tlat_report_result(report, 0)), "scale");
	return report;
}

/* Timers of this process, as the kernel lists them; -1: it does not. */
static int own_timers(void)
{
	FILE *file = fopen("/proc/self/timers", "re");
	char line[256];
	int n = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		n += !strncmp(line, "ID:", 3);
	fclose(file);
	return n;
}

static void expect_phases(const struct tlat_report *report, const int64_t *sizes, size_t n)
{
	static const char *const phases[] = { "create", "getoverrun", "delete" };
	char name[64];

	for (size_t p = 0; p < TLAT_ARRAY_SIZE(phases); p++) {
		for (size_t i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "%s.N%lld.wall_ns", phases[p],
				 (long long)sizes[i]);
			assert_true(metric(report, name) > 0);
		}
		snprintf(name, sizeof(name), "%s.exponent", phases[p]);
		assert_true(isfinite(metric(report, name)));
		snprintf(name, sizeof(name), "%s.exponent_lo", phases[p]);
		assert_true(isfinite(metric(report, name)));
	}
	assert_true(has_finding(report, "scaling"));
}

static void every_phase_of_every_size_has_its_figures(void **state)
{
	const int64_t sizes[] = { 10, 50, 200 };
	struct tlat_report *report =
		scale(&TLAT_SCALE_OPTS(.sizes = sizes, .n_sizes = 3, .rounds = 3));

	(void)state;
	expect_phases(report, sizes, 3);
	assert_near(metric(report, "workers"), 1);
	assert_true(isnan(metric(report, "create.contention")));
	assert_false(has_finding(report, "timers-refused"));
	tlat_report_free(report);
}

static void workers_are_processes_or_threads_and_leave_no_timer(void **state)
{
	const int64_t sizes[] = { 20, 100 };
	int before = own_timers();

	(void)state;
	for (int32_t threads = 0; threads <= 1; threads++) {
		struct tlat_report *report =
			scale(&TLAT_SCALE_OPTS(.sizes = sizes, .n_sizes = 2, .rounds = 3,
					       .cpus = "all", .threads = threads));
		double cpus = all_cpus();

		expect_phases(report, sizes, 2);
		assert_near(metric(report, "workers"), cpus);
		assert_int_equal(isfinite(metric(report, "create.contention")), cpus > 1);
		assert_int_equal(own_timers(), before);
		tlat_report_free(report);
	}
}

static void a_lower_signal_limit_is_a_finding_and_no_failure(void **state)
{
	struct rlimit before, low;
	struct tlat_report *report;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
	low = before;
	low.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &low), 0);
	report = scale(&TLAT_SCALE_OPTS(.rounds = 2));
	setrlimit(RLIMIT_SIGPENDING, &before);
	assert_true(has_finding(report, "signal-limit"));
	assert_true(isnan(metric(report, "create.N20000.wall_ns")));
	assert_true(isfinite(metric(report, "create.exponent")));
	assert_int_equal(own_timers() > 0, 0);
	tlat_report_free(report);
}

/* The ids are asked for: a timer of the host's own must not be in the way, nor be deleted. */
static void timers_of_the_host_survive(void **state)
{
	const int64_t sizes[] = { 50 };
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	struct itimerspec spec = { .it_value.tv_sec = 1000 };
	timer_t timer;

	(void)state;
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &spec, NULL), 0);
	for (int32_t threads = 0; threads <= 1; threads++)
		tlat_report_free(scale(&TLAT_SCALE_OPTS(.sizes = sizes, .n_sizes = 1, .rounds = 1,
							.threads = threads)));
	assert_int_equal(timer_gettime(timer, &spec), 0);
	assert_true(spec.it_value.tv_sec > 900);
	assert_int_equal(timer_delete(timer), 0);
}

static void one_wake_wakes_all_of_them(void **state)
{
	const int64_t sizes[] = { 1, 4, 16 };
	struct tlat_report *report =
		scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_WAKEUPS, .sizes = sizes, .n_sizes = 3,
				       .rounds = 10));

	(void)state;
	assert_true(metric(report, "wake.N1.call_ns") > 0);
	assert_true(metric(report, "wake.N16.call_ns") > 0);
	assert_near(metric(report, "wake.N16.per_waiter_ns") * 16,
		    metric(report, "wake.N16.call_ns"));
	assert_true(metric(report, "wake.N16.first_ns") <= metric(report, "wake.N16.last_ns"));
	assert_true(metric(report, "not_asleep") <= 30);
	assert_true(isfinite(metric(report, "call.exponent")));
	tlat_report_free(report);
}

static void pairs_wake_each_other_however_many(void **state)
{
	const int64_t sizes[] = { 1, 2, 5 };
	struct tlat_report *report =
		scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_PAIRS, .sizes = sizes, .n_sizes = 3,
				       .duration_ns = 100000000));

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "pairs.N%lld.p50_ns", (long long)sizes[i]);
		assert_true(metric(report, name) > 0);
		snprintf(name, sizeof(name), "pairs.N%lld.wakes_hz", (long long)sizes[i]);
		assert_true(metric(report, name) > 0);
	}
	assert_true(isfinite(metric(report, "p50.exponent")));
	tlat_report_free(report);
}

/* What is read back, not what was asked for. */
static void how_pairs_are_scheduled_is_told(void **state)
{
	const int64_t sizes[] = { 1 };
	struct tlat_report *report =
		scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_PAIRS, .sizes = sizes, .n_sizes = 1,
				       .policy = TLAT_SCHED_BATCH, .duration_ns = 20000000));
	const struct tlat_result *result = tlat_report_result(report, 0);

	(void)state;
	assert_int_equal(result->wait.policy, TLAT_SCHED_BATCH);
	assert_true(result->wait.slack_ns > 0);
	assert_int_equal(result->wait.cpu, -1);
	tlat_report_free(report);
}

static void a_stop_ends_each_of_them(void **state)
{
	const volatile int32_t stop = 1;

	(void)state;
	for (int32_t what = TLAT_SCALE_TIMERS; what <= TLAT_SCALE_PAIRS; what++) {
		struct tlat_report *report = scale(
			&TLAT_SCALE_OPTS(.what = what, .stop = &stop,
					 .rounds = what == TLAT_SCALE_PAIRS ? 0 : 10000,
					 .duration_ns =
						 what == TLAT_SCALE_PAIRS ? 100000000000 : 0));

		assert_string_equal(tlat_report_end(report), "signal");
		tlat_report_free(report);
	}
}

static volatile int32_t stop_word;

static void *stop_soon(void *arg)
{
	(void)arg;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = 30000000 }, NULL);
	__atomic_store_n(&stop_word, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Without a data race, as ThreadSanitizer sees. */
static void another_thread_may_stop_it(void **state)
{
	(void)state;
	for (int32_t what = TLAT_SCALE_TIMERS; what <= TLAT_SCALE_PAIRS; what++) {
		struct tlat_report *report;
		pthread_t thread;

		stop_word = 0;
		assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
		report = scale(&TLAT_SCALE_OPTS(.what = what, .stop = &stop_word,
						.rounds = what == TLAT_SCALE_PAIRS ? 0 : 10000,
						.duration_ns = what == TLAT_SCALE_PAIRS
								       ? 100000000000
								       : 0));
		pthread_join(thread, NULL);
		assert_string_equal(tlat_report_end(report), "signal");
		tlat_report_free(report);
	}
}

/* == What goes wrong == */

static long (*real_syscall)(long number, ...);
static int (*real_nanosleep)(const struct timespec *ts, struct timespec *rem);
static atomic_int refuse_pin;	   /* which sched_setaffinity() from now on fails; 0: none */
static atomic_uint hold, held_of;  /* waiters of that round are kept, and how many there are */
static atomic_uint waiting, wakes; /* that began to wait for the first wakes, and the wakes */
static atomic_long oversleep_ns;   /* added to naps of a millisecond and more */
static atomic_long slow_kick_ns;   /* added to shorter ones, as pairs take before each wake */
static atomic_uint stop_at;	   /* so many wakes stop it; 0: none do */

/* Of helper processes, which have what their parent had when they began. */
static int clone3_error, pidfd_error; /* what those calls fail with; 0: they do not */
static bool no_pidfds;		      /* as before Linux 5.2 */
static int helpers, doomed;	      /* how many there were, and which of them dies */
static int doomed_call;		      /* of timers, at which it does */

static bool is_of_timers(long number)
{
	return number == SYS_timer_create || number == SYS_timer_getoverrun ||
	       number == SYS_timer_delete;
}

/* What it fails with; 0: it does not. */
static int error_of(long number, long *a)
{
	if (number == SYS_clone && no_pidfds)
		for (size_t i = 0; i < 2; i++)
			a[i] &= ~(long)CLONE_PIDFD;
	if (number == SYS_clone3 && clone3_error)
		return clone3_error;
	if (number == SYS_clone3 || number == SYS_clone)
		helpers++;
	if (doomed && is_of_timers(number) && helpers == doomed && --doomed_call == 0)
		kill(getpid(), SIGKILL);
	return number == SYS_pidfd_send_signal ? pidfd_error : 0;
}

/* Take the place of the C library's for all of this program. Six are taken, however many came. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	va_list args;
	long a[6], got;
	int error;

	va_start(args, number);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(a); i++)
		a[i] = va_arg(args, long);
	va_end(args);
	error = error_of(number, a);
	if (error) {
		errno = error;
		return -1;
	}
	if (number == SYS_futex && a[1] == FUTEX_WAIT_PRIVATE)
		atomic_fetch_add(&waiting, 1);
	if (number == SYS_futex && a[1] == FUTEX_WAKE_PRIVATE &&
	    atomic_fetch_add(&wakes, 1) + 1 == atomic_load(&stop_at))
		__atomic_store_n(&stop_word, 1, __ATOMIC_RELAXED);
	got = real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	/* the wake of that round, and the one that ends them */
	if (number == SYS_futex && a[1] == FUTEX_WAIT_PRIVATE && atomic_load(&hold) &&
	    (unsigned int)a[2] == atomic_load(&hold))
		while (atomic_load(&wakes) < atomic_load(&hold) + 2)
			sched_yield();
	return got;
}

/* Before each wake all of them wait; patience with those that are held takes no time. */
int nanosleep(const struct timespec *ts, struct timespec *rem)
{
	const struct timespec more = { .tv_nsec = atomic_load(&oversleep_ns) };
	const struct timespec kick = { .tv_nsec = atomic_load(&slow_kick_ns) };
	unsigned int woken = atomic_load(&wakes);

	if (ts->tv_nsec >= 1000000 && more.tv_nsec)
		real_nanosleep(&more, NULL);
	if (ts->tv_nsec < 1000000 && kick.tv_nsec)
		real_nanosleep(&kick, NULL);
	while (atomic_load(&hold) && ts->tv_nsec == 1000000 &&
	       atomic_load(&waiting) < atomic_load(&held_of) * (woken + 1))
		sched_yield();
	return atomic_load(&hold) && woken > atomic_load(&hold) ? 0 : real_nanosleep(ts, rem);
}

int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *set)
{
	if (atomic_load(&refuse_pin) && atomic_fetch_sub(&refuse_pin, 1) == 1) {
		errno = EINVAL;
		return -1;
	}
	return (int)real_syscall(SYS_sched_setaffinity, tid, size, set);
}

static int find_real(void **state)
{
	(void)state;
	*(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
	*(void **)&real_nanosleep = dlsym(RTLD_NEXT, "nanosleep");
	return real_syscall && real_nanosleep ? 0 : -1;
}

static void expect_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void expect_death(int which, int call, bool by_pidfd)
{
	const int64_t sizes[] = { 5 };
	struct tlat_report *report = NULL;
	struct tlat_error error = { 0 };
	int r;

	helpers = 0;
	doomed = which;
	doomed_call = call;
	pidfd_error = by_pidfd ? 0 : EPERM;
	r = tlat_scale(&report,
		       &TLAT_SCALE_OPTS(.sizes = sizes, .n_sizes = 1, .rounds = 3, .cpus = "all"),
		       &error);
	doomed = pidfd_error = 0;
	print_message("%d: %s\n", which, error.text);
	assert_int_equal(r, -EIO);
	assert_null(report);
	assert_non_null(strstr(error.text, "worker on CPU "));
	assert_non_null(strstr(error.text, "died (signal 9)"));
	expect_no_child();
}

/* The one that is alone, the first and the second of all; in each phase, and in the last one. */
static void a_worker_that_dies_ends_the_others(void **state)
{
	static const int calls[] = { 1, 8, 15, 45 };
	int most = all_cpus() > 1 ? 3 : 1;

	(void)state;
	for (int which = 1; which <= most; which++)
		for (size_t i = 0; i < TLAT_ARRAY_SIZE(calls); i++)
			expect_death(which, calls[i], i % 2);
}

/* As in containers, whose filters see no flags of clone3. */
static void helpers_need_no_clone3(void **state)
{
	static const int errors[] = { ENOSYS, EPERM };
	const int64_t sizes[] = { 20, 100 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(errors); i++) {
		struct tlat_report *report;

		helpers = 0;
		clone3_error = errors[i];
		report = scale(
			&TLAT_SCALE_OPTS(.sizes = sizes, .n_sizes = 2, .rounds = 3, .cpus = "all"));
		expect_phases(report, sizes, 2);
		tlat_report_free(report);
		assert_true(helpers >= 1);
		expect_no_child();
		report = storm(&TLAT_STORM_OPTS(.duration_ns = 50000000));
		assert_true(metric(report, "monotonic.delivered_hz") > 0);
		tlat_report_free(report);
		expect_no_child();
		clone3_error = 0;
	}
}

static void without_a_pidfd_there_is_no_helper(void **state)
{
	struct tlat_report *report = NULL;
	struct tlat_error error = { 0 };
	int r;

	(void)state;
	clone3_error = ENOSYS;
	no_pidfds = true;
	r = tlat_scale(&report, &TLAT_SCALE_OPTS(.rounds = 1), &error);
	no_pidfds = false;
	clone3_error = 0;
	assert_int_equal(r, -ENOSYS);
	assert_null(report);
	assert_non_null(strstr(error.text, "pidfd"));
	expect_no_child();
}

static void waiters_that_do_not_come_are_a_finding(void **state)
{
	const int64_t sizes[] = { 3 };
	struct tlat_report *report;
	struct tlat_finding finding;

	(void)state;
	atomic_store(&waiting, 0);
	atomic_store(&wakes, 0);
	atomic_store(&held_of, 3);
	atomic_store(&hold, 2);
	report = scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_WAKEUPS, .sizes = sizes, .n_sizes = 1,
					.rounds = 10));
	atomic_store(&hold, 0);
	assert_true(has_finding(report, "rounds-missing"));
	for (size_t i = 0; tlat_result_finding(tlat_report_result(report, 0), i, &finding) == 0;
	     i++)
		if (!strcmp(finding.id, "rounds-missing"))
			assert_non_null(strstr(finding.text, "N = 3: 2 of 10 rounds"));
	tlat_report_free(report);
}

/* The waker is pinned first. */
static void a_thread_that_cannot_be_set_up_says_why(void **state)
{
	const int64_t sizes[] = { 3 };

	(void)state;
	for (int32_t what = TLAT_SCALE_WAKEUPS; what <= TLAT_SCALE_PAIRS; what++) {
		struct tlat_report *report = NULL;
		struct tlat_error error = { 0 };

		atomic_store(&refuse_pin, what == TLAT_SCALE_WAKEUPS ? 2 : 1);
		assert_int_equal(
			tlat_scale(&report,
				   &TLAT_SCALE_OPTS(.what = what, .sizes = sizes, .n_sizes = 1),
				   &error),
			-EINVAL);
		print_message("%s\n", error.text);
		assert_non_null(strstr(error.text, "thread on CPU "));
		assert_non_null(strstr(error.text, "sched_setaffinity"));
		assert_null(report);
	}
}

/* The caller sleeps for at least as long as it was made to, whatever was asked. */
static void the_rate_of_pairs_is_that_of_the_time_that_passed(void **state)
{
	const int64_t sizes[] = { 1 };
	struct tlat_report *report;

	(void)state;
	atomic_store(&wakes, 0);
	atomic_store(&oversleep_ns, 200000000);
	report = scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_PAIRS, .sizes = sizes, .n_sizes = 1,
					.duration_ns = 10000000));
	atomic_store(&oversleep_ns, 0);
	assert_true(metric(report, "pairs.N1.wakes_hz") > 0);
	assert_true(metric(report, "pairs.N1.wakes_hz") <= atomic_load(&wakes) / 0.2);
	tlat_report_free(report);
}

/* A stop at once leaves a part without figures; one after many wakes has the rate until then. */
static void pairs_that_are_stopped_have_no_rate_or_the_right_one(void **state)
{
	static const unsigned int stops[] = { 10, 4000 };
	const int64_t sizes[] = { 1 };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(stops); i++) {
		uint64_t before = tlat_gettime_ns(CLOCK_MONOTONIC);
		struct tlat_report *report;
		double rate, s;

		stop_word = 0;
		atomic_store(&wakes, 0);
		atomic_store(&stop_at, stops[i]);
		report = scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_PAIRS, .sizes = sizes,
						.n_sizes = 1, .stop = &stop_word,
						.duration_ns = 100000000000));
		atomic_store(&stop_at, 0);
		s = (double)(tlat_gettime_ns(CLOCK_MONOTONIC) - before) * 1e-9;
		rate = metric(report, "pairs.N1.wakes_hz");
		assert_string_equal(tlat_report_end(report), "signal");
		/* at least 1000 were measured if any are told, and not in more time than it took */
		assert_int_equal(isnan(metric(report, "pairs.N1.p99_ns")), isnan(rate));
		if (isnan(rate))
			assert_true(isnan(metric(report, "pairs.N1.p50_ns")));
		else
			assert_true(rate * s >= 1000);
		assert_true(isnan(rate) || atomic_load(&wakes) >= 1000);
		tlat_report_free(report);
	}
}

/* Slow ones: 1000 of them take a pair two seconds. */
static void few_wakes_have_no_p99(void **state)
{
	const int64_t sizes[] = { 1, 2, 3 };
	struct tlat_report *report;

	(void)state;
	atomic_store(&wakes, 0);
	atomic_store(&slow_kick_ns, 2000000);
	report = scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_PAIRS, .sizes = sizes, .n_sizes = 3,
					.duration_ns = 150000000));
	atomic_store(&slow_kick_ns, 0);
	for (size_t i = 0; i < 3 && atomic_load(&wakes) < 1000; i++) {
		char p50[32], p99[32];

		snprintf(p50, sizeof(p50), "pairs.N%lld.p50_ns", (long long)sizes[i]);
		snprintf(p99, sizeof(p99), "pairs.N%lld.p99_ns", (long long)sizes[i]);
		assert_true(isfinite(metric(report, p50)) || has_finding(report, "no-sample"));
		assert_true(isnan(metric(report, p99)));
		assert_true(isnan(metric(report, "p99.exponent")));
	}
	tlat_report_free(report);
}

/* Whether enough wakes come in so short a time is not known; that it is told is. */
static void pairs_without_a_wake_are_a_finding(void **state)
{
	const int64_t sizes[] = { 1 };
	struct tlat_report *report =
		scale(&TLAT_SCALE_OPTS(.what = TLAT_SCALE_PAIRS, .sizes = sizes, .n_sizes = 1,
				       .duration_ns = 1));

	(void)state;
	assert_int_equal(has_finding(report, "no-sample"),
			 isnan(metric(report, "pairs.N1.p50_ns")));
	tlat_report_free(report);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	const int64_t down[] = { 5, 3 }, none[] = { 0 };
	const struct tlat_scale_opts bad[] = {
		TLAT_SCALE_OPTS(.what = 3),
		TLAT_SCALE_OPTS(.what = TLAT_SCALE_PAIRS, .threads = 1),
		TLAT_SCALE_OPTS(.sizes = down, .n_sizes = 2),
		TLAT_SCALE_OPTS(.sizes = none, .n_sizes = 1),
		TLAT_SCALE_OPTS(.n_sizes = 1),
		TLAT_SCALE_OPTS(.n_sizes = 33, .sizes = down),
		TLAT_SCALE_OPTS(.rounds = -1),
		TLAT_SCALE_OPTS(.cpus = "none-such"),
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(bad); i++) {
		struct tlat_report *report = NULL;
		struct tlat_error error = { 0 };

		assert_int_equal(tlat_scale(&report, &bad[i], &error), -EINVAL);
		assert_null(report);
		assert_true(*error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_phase_of_every_size_has_its_figures),
		cmocka_unit_test(workers_are_processes_or_threads_and_leave_no_timer),
		cmocka_unit_test(a_lower_signal_limit_is_a_finding_and_no_failure),
		cmocka_unit_test(timers_of_the_host_survive),
		cmocka_unit_test(one_wake_wakes_all_of_them),
		cmocka_unit_test(pairs_wake_each_other_however_many),
		cmocka_unit_test(how_pairs_are_scheduled_is_told),
		cmocka_unit_test(a_stop_ends_each_of_them),
		cmocka_unit_test(another_thread_may_stop_it),
		cmocka_unit_test(a_worker_that_dies_ends_the_others),
		cmocka_unit_test(helpers_need_no_clone3),
		cmocka_unit_test(without_a_pidfd_there_is_no_helper),
		cmocka_unit_test(waiters_that_do_not_come_are_a_finding),
		cmocka_unit_test(a_thread_that_cannot_be_set_up_says_why),
		cmocka_unit_test(the_rate_of_pairs_is_that_of_the_time_that_passed),
		cmocka_unit_test(pairs_that_are_stopped_have_no_rate_or_the_right_one),
		cmocka_unit_test(few_wakes_have_no_p99),
		cmocka_unit_test(pairs_without_a_wake_are_a_finding),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, find_real, NULL);
}
