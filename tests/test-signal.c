// SPDX-License-Identifier: MIT
/*
 * test-signal.c - the signal probes: every sender with every receiver, what becomes of signals that
 * nobody takes, and whom a signal to the process may reach.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "denied.h"
#include "newer.h"
#include "probes/signal.h"
#include "result.h"
#include "rtsignal.h"

static const char *const senders[] = { "tgkill", "kill", "sigqueue", "pthread-sigqueue", "pidfd" };
static const char *const receivers[] = { "handler", "sigwait", "signalfd", "sigsuspend",
					 "epoll-pwait" };

/* The only pairs that may say why they cannot run: the call is Linux 5.3's, and sandboxes deny it.
 */
static const char *const may_be_explained[] = {
	"signal-pidfd-handler",	   "signal-pidfd-sigwait",     "signal-pidfd-signalfd",
	"signal-pidfd-sigsuspend", "signal-pidfd-epoll-pwait",
};

static struct tlat_machine *machine;
static struct tlat_clock *clock_used;
static char cpus[32];
static bool has_two;

static int open_all(void **state)
{
	int32_t list[2];

	(void)state;
	if (tlat_machine_open(&machine, NULL, NULL) < 0 ||
	    tlat_clock_open(&clock_used, machine, TLAT_CLOCK_AUTO, NULL) < 0)
		return -1;
	has_two = tlat_machine_cpus(machine, "all", list, 2, NULL) >= 2;
	snprintf(cpus, sizeof(cpus), "%d,%d", list[0], list[has_two]);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	tlat_clock_close(clock_used);
	tlat_machine_close(machine);
	return 0;
}

static bool has_finding(const struct tlat_result *result, const char *id, const char **ret_text)
{
	struct tlat_finding finding;

	for (size_t i = 0; !tlat_result_finding(result, i, &finding); i++) {
		if (strcmp(finding.id, id))
			continue;
		*ret_text = finding.text;
		return true;
	}
	return false;
}

/* == Every pair == */

static bool is_excused(const char *probe)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(may_be_explained); i++)
		if (!strcmp(probe, may_be_explained[i]))
			return true;
	return false;
}

static void assert_table_row(const char *probe, const struct tlat_result *result)
{
	struct tlat_summary s = { .size = sizeof(s) };

	assert_int_equal(tlat_result_summary(result, &s), 0);
	printf("%-36s %-8s n %llu p50 %.0f p99 %.0f call %.0f back %.0f ns\n", probe,
	       tlat_target_name(s.target), (unsigned long long)s.recorded, s.p50_ns, s.p99_ns,
	       s.call_p50_ns, s.back_p50_ns);
	assert_int_equal(tlat_counts_balance(&result->counts), 0);
	assert_int_equal(result->counts.asked, 300);
	assert_int_equal(result->counts.rejected[TLAT_REJECTED_TIMEOUT], 0);
	assert_int_equal(result->counts.rejected[TLAT_REJECTED_COALESCED], 0);
	assert_int_equal(tlat_counts_rejected(&result->counts) + tlat_hist_count(result->latency),
			 300);
}

/* The way back is known where a handler ran, for each sample, and takes time. */
static void assert_way_back(const char *receiver, const struct tlat_result *result)
{
	bool handler = strcmp(receiver, "sigwait") && strcmp(receiver, "signalfd");

	assert_int_equal(result->back != NULL, handler);
	if (!handler)
		return;
	assert_int_equal(tlat_hist_count(result->back), tlat_hist_count(result->latency));
#ifndef __SANITIZE_THREAD__ /* which puts handlers off until the interrupted call is over */
	assert_int_equal(tlat_hist_early(result->back), 0);
#endif
	assert_int_equal(tlat_hist_overflow(result->back), 0);
}

static struct tlat_report *measured(const struct tlat_run_opts *opts)
{
	struct tlat_report *report;
	struct tlat_error error;

	if (tlat_run(&report, opts, &error) < 0)
		fail_msg("%s: %s", opts->probe, error.text);
	return report;
}

/* Again where the machine kept a thread from its CPU for a second, which says nothing of signals;
 * a wake that is never there is not there the next time either. */
static struct tlat_report *measured_in_peace(const struct tlat_run_opts *opts)
{
	static const char *const starved[] = { "lost-wake", "waiter-missing", "stalled" };
	const char *why;

	for (int attempt = 0;; attempt++) {
		struct tlat_report *report = measured(opts);
		bool again = false;

		for (size_t i = 0; i < TLAT_ARRAY_SIZE(starved); i++)
			again |= has_finding(tlat_report_result(report, 0), starved[i], &why);
		if (!again || attempt == 5)
			return report;
		tlat_report_free(report);
	}
}

static void run_pair(const char *sender, const char *receiver, int target)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.cpus = cpus, .machine = machine, .clock = clock_used, .samples = 300,
			      .warmup = 20, .settle_ns = 20000, .policy = TLAT_SCHED_FIFO,
			      .priority = 40, .target = target);
	const struct tlat_result *result;
	struct tlat_report *report;
	const char *why;
	char probe[64];

	snprintf(probe, sizeof(probe), "signal-%s-%s", sender, receiver);
	opts.probe = probe;
	report = measured_in_peace(&opts);
	result = tlat_report_result(report, 0);
	if (!has_finding(result, "unsupported", &why)) {
		assert_table_row(probe, result);
		assert_way_back(receiver, result);
		assert_int_equal(result->target, target);
	} else if (!is_excused(probe)) {
		fail_msg("%s: %s", probe, why);
	}
	tlat_report_free(report);
}

static void every_sender_reaches_every_receiver(void **state)
{
	(void)state;
	for (size_t s = 0; s < TLAT_ARRAY_SIZE(senders); s++)
		for (size_t r = 0; r < TLAT_ARRAY_SIZE(receivers); r++)
			run_pair(senders[s], receivers[r], TLAT_TARGET_SLEEPING);
}

static void a_handler_interrupts_a_busy_waiter(void **state)
{
	(void)state;
	if (!has_two)
		skip();
	for (size_t s = 0; s < TLAT_ARRAY_SIZE(senders); s++)
		run_pair(senders[s], "handler", TLAT_TARGET_BUSY);
}

static void only_a_handler_has_a_busy_target(void **state)
{
	const char *const probes[] = { "signal-kill-sigwait", "wake-futex", "timer-timerfd" };
	struct tlat_report *report;
	struct tlat_error error;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		assert_int_equal(
			tlat_run(&report,
				 &TLAT_RUN_OPTS(.probe = probes[i], .target = TLAT_TARGET_BUSY),
				 &error),
			-EINVAL);
		assert_non_null(strstr(error.text, probes[i]));
		assert_non_null(strstr(error.text, "signal-*-handler"));
	}
	assert_int_equal(tlat_run(&report, &TLAT_RUN_OPTS(.probe = "null", .target = 2), &error),
			 -EINVAL);
}

static void round_trip(const char *sender, const char *receiver)
{
	char probe[64];
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .machine = machine, .clock = clock_used,
			      .samples = 200, .flags = TLAT_RUN_ROUND_TRIP);
	struct tlat_report *report;
	const char *why;

	snprintf(probe, sizeof(probe), "signal-%s-%s", sender, receiver);
	report = measured_in_peace(&opts);
	if (!has_finding(tlat_report_result(report, 0), "unsupported", &why)) {
		assert_int_equal(tlat_report_result(report, 0)->counts.asked, 200);
		assert_string_equal(tlat_report_end(report), "count");
	} else if (!is_excused(probe)) {
		fail_msg("%s: %s", probe, why);
	}
	tlat_report_free(report);
}

static void a_round_trip_has_a_signal_for_each_way(void **state)
{
	(void)state;
	if (!has_two)
		skip();
	for (size_t s = 0; s < TLAT_ARRAY_SIZE(senders); s++)
		for (size_t r = 0; r < TLAT_ARRAY_SIZE(receivers); r++)
			round_trip(senders[s], receivers[r]);
}

/* == Signals that nobody takes: one thread sends, then receives == */

struct fixture {
	struct tlat_probe_ctx ctx;
	struct tlat_probe_side side;
	struct tlat_signal_shared *shared;
	struct tlat_signal_side *my;
	atomic_int stop;
	int borrowed; /* the signal that the probe chose */
};

static uint64_t no_time(void *data, enum tlat_stamp_edge edge)
{
	(void)data;
	(void)edge;
	return 1;
}

static void set_up(struct fixture *f, const char *probe, int signal)
{
	const struct tlat_run_opts opts = TLAT_RUN_OPTS();
	struct tlat_error error;

	memset(f, 0, sizeof(*f));
	f->ctx.ops = tlat_probe_find(probe);
	f->ctx.stop = &f->stop;
	f->ctx.stamper = (struct tlat_stamper){ .kind = TLAT_STAMP_SCRIPT, .script = no_time };
	f->shared = aligned_alloc(TLAT_CACHE_LINE, sizeof(*f->shared));
	f->my = aligned_alloc(TLAT_CACHE_LINE, sizeof(*f->my));
	memset(f->shared, 0, sizeof(*f->shared));
	memset(f->my, 0, sizeof(*f->my));
	f->ctx.shared = f->shared;
	f->side = (struct tlat_probe_side){ .role = TLAT_ROLE_WAIT, .state = f->my };
	if (f->ctx.ops->open(&f->ctx, &opts, &error) < 0)
		fail_msg("%s", error.text);
	f->borrowed = f->shared->signal;
	if (signal)
		f->shared->signal = signal;
	assert_int_equal(f->ctx.ops->enter(&f->ctx, &f->side, &error), 0);
}

static void tear_down(struct fixture *f)
{
	f->ctx.ops->leave(&f->ctx, &f->side);
	f->shared->signal = f->borrowed;
	f->ctx.ops->close(&f->ctx);
	free(f->shared);
	free(f->my);
}

/* Send n; returns how many the kernel refused. */
static unsigned int send_all(struct fixture *f, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		int ret = f->ctx.ops->kick(&f->ctx);

		assert_true(ret == TLAT_KICK_UNTOLD || ret == -EAGAIN);
	}
	return f->shared->refused;
}

/* One event for all that was sent; then nothing is left. */
static void take_all(struct fixture *f, unsigned int sent)
{
	struct tlat_probe_event event = { .n = 1 };

	assert_int_equal(f->ctx.ops->wait(&f->ctx, &f->side, &event), 0);
	assert_int_equal(event.n, sent);
	f->ctx.ops->ready(&f->ctx, &f->side);
}

/* Room for so many more in the queue of this user. */
static rlim_t limit_queue(rlim_t more)
{
	struct rlimit limit;
	unsigned long used = 0;
	char line[128];
	FILE *status = fopen("/proc/self/status", "r");
	rlim_t before;

	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "SigQ: %lu", &used) == 1)
			break;
	fclose(status);
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	before = limit.rlim_cur;
	if (used + more < limit.rlim_max)
		limit.rlim_cur = used + more;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
	return before;
}

static void restore_queue(rlim_t before)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	limit.rlim_cur = before;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
}

static void standard_signals_become_one(void **state)
{
	const char *const probes[] = { "signal-tgkill-sigwait", "signal-kill-signalfd",
				       "signal-sigqueue-sigwait" };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		if (strstr(probes[i], "kill-signalfd"))
			signal(SIGUSR2,
			       tlat_signal_handler); /* were it not blocked, it would kill */
		set_up(&f, probes[i], SIGUSR2);
		assert_int_equal(send_all(&f, 10000), 0);
		take_all(&f, 10000);
		assert_int_equal(f.my->delivered, 1);
		assert_int_equal(f.my->merged, 9999);
		tear_down(&f);
	}
	signal(SIGUSR2, SIG_DFL);
}

static void real_time_signals_queue_up_to_the_limit(void **state)
{
	const char *const probes[] = { "signal-tgkill-sigwait", "signal-sigqueue-signalfd",
				       "signal-pthread-sigqueue-sigwait" };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(probes); i++) {
		rlim_t before;
		unsigned int refused;

		set_up(&f, probes[i], 0);
		before = limit_queue(1000);
		refused = send_all(&f, 10000);
		restore_queue(before);
		printf("%s: %u refused\n", probes[i], refused);
		assert_true(refused > 0 && refused < 10000);
		take_all(&f, 10000 - refused);
		assert_int_equal(f.my->delivered, 10000 - refused);
		assert_int_equal(f.my->merged, 0);
		tear_down(&f);
	}
}

/* kill(2) is never refused: beyond the limit its signals become one. */
static void kill_merges_what_the_queue_does_not_hold(void **state)
{
	struct fixture f;
	rlim_t before;

	(void)state;
	set_up(&f, "signal-kill-sigwait", 0);
	before = limit_queue(1000);
	assert_int_equal(send_all(&f, 10000), 0);
	restore_queue(before);
	take_all(&f, 10000);
	assert_true(f.my->delivered > 1 && f.my->merged > 0);
	assert_int_equal(f.my->delivered + f.my->merged, 10000);
	tear_down(&f);
}

/* A handler runs once for each of those that queue, and none is taken for a kick to come. */
static void a_handler_takes_the_queue_at_once(void **state)
{
	struct tlat_probe_event event = { .n = 1 };
	struct fixture f;

	(void)state;
	set_up(&f, "signal-tgkill-sigsuspend", 0);
	f.ctx.ops->ready(&f.ctx, &f.side);
	assert_int_equal(send_all(&f, 5), 0);
	take_all(&f, 5);
	assert_int_equal(f.my->delivered, 5);
	assert_int_equal(send_all(&f, 1), 0);
	assert_int_equal(f.ctx.ops->wait(&f.ctx, &f.side, &event), 0);
	assert_int_equal(event.n, 1);
	assert_int_equal(event.at, 1);
	assert_int_equal(event.back, 1);
	tear_down(&f);
}

/* == Which signal, and who else could get it == */

static void signals_in_use_are_left_alone(void **state)
{
	struct sigaction mine = { .sa_handler = tlat_signal_handler }, none = { 0 };
	int first, other;

	(void)state;
	first = tlat_rtsignal_take_alone(tlat_signal_handler, NULL);
	other = tlat_rtsignal_take_alone(tlat_signal_handler, NULL);
	assert_true(first > SIGRTMIN && other > SIGRTMIN && first != other);
	tlat_rtsignal_release(first);
	tlat_rtsignal_release(other);
	for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
		sigaction(s, &mine, NULL);
	assert_int_equal(tlat_rtsignal_take_alone(tlat_signal_handler, NULL), -EBUSY);
	for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
		sigaction(s, &none, NULL);
}

/* What the program put there meanwhile stays. */
static void a_handler_of_the_program_is_not_undone(void **state)
{
	struct sigaction theirs = { .sa_handler = SIG_IGN }, none = { 0 }, found;
	int signal = tlat_rtsignal_take_alone(tlat_signal_handler, NULL);

	(void)state;
	sigaction(signal, &theirs, NULL);
	tlat_rtsignal_release(signal);
	sigaction(signal, NULL, &found);
	assert_ptr_equal(found.sa_handler, SIG_IGN);
	sigaction(signal, &none, NULL);
}

/* Of a signal that the program holds when it forks; 0: as it was before, and to be had. */
static int held_in_child(int signal)
{
	struct sigaction found;

	sigaction(signal, NULL, &found);
	if (found.sa_handler != SIG_DFL)
		return 1;
	return tlat_rtsignal_take_alone(tlat_signal_handler, NULL) == signal ? 0 : 2;
}

static void a_forked_child_uses_no_signals(void **state)
{
	int signal = tlat_rtsignal_take_alone(tlat_signal_handler, NULL), status;
	struct sigaction found;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(held_in_child(signal));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	sigaction(signal, NULL, &found);
	assert_ptr_equal(found.sa_handler, tlat_signal_handler);
	tlat_rtsignal_release(signal);
}

static pthread_barrier_t both;

static void *stand_by(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	return NULL;
}

static void assert_unsupported(const char *probe, const char *part)
{
	struct tlat_run_opts opts = TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .machine = machine,
						  .clock = clock_used, .samples = 100);
	struct tlat_report *report;
	const char *why = "";

	assert_int_equal(tlat_run(&report, &opts, NULL), 0);
	if (!part) {
		assert_false(has_finding(tlat_report_result(report, 0), "unsupported", &why));
	} else {
		assert_true(has_finding(tlat_report_result(report, 0), "unsupported", &why));
		assert_non_null(strstr(why, part));
	}
	tlat_report_free(report);
}

static void a_thread_that_could_get_it_is_a_reason_not_to_send(void **state)
{
	sigset_t all, before;
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&both, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, stand_by, NULL), 0);
	pthread_barrier_wait(&both);
	assert_unsupported("signal-kill-handler", "blocked by every other thread");
	assert_unsupported("signal-tgkill-handler", NULL);
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	assert_int_equal(pthread_create(&thread, NULL, stand_by, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_barrier_wait(&both);
	assert_unsupported("signal-kill-handler", NULL);
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&both);
}

/* A sandbox that lets one open a descriptor of a process, but not send with it. */
static void a_denied_call_is_explained(void **state)
{
	int error = check_denied("signal-pidfd-handler", SYS_pidfd_send_signal);

	(void)state;
	if (error == NO_FILTER || tlat_probe_check("signal-pidfd-handler", NULL))
		skip();
	assert_int_equal(error, EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sender_reaches_every_receiver),
		cmocka_unit_test(a_handler_interrupts_a_busy_waiter),
		cmocka_unit_test(only_a_handler_has_a_busy_target),
		cmocka_unit_test(a_round_trip_has_a_signal_for_each_way),
		cmocka_unit_test(standard_signals_become_one),
		cmocka_unit_test(real_time_signals_queue_up_to_the_limit),
		cmocka_unit_test(kill_merges_what_the_queue_does_not_hold),
		cmocka_unit_test(a_handler_takes_the_queue_at_once),
		cmocka_unit_test(signals_in_use_are_left_alone),
		cmocka_unit_test(a_handler_of_the_program_is_not_undone),
		cmocka_unit_test(a_forked_child_uses_no_signals),
		cmocka_unit_test(a_thread_that_could_get_it_is_a_reason_not_to_send),
		cmocka_unit_test(a_denied_call_is_explained),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
