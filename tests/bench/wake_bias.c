// SPDX-License-Identifier: MIT
/*
 * wake_bias.c - what libtimerlat adds to a wake: its p50 against a bare
 * hand-written loop with the same CPUs, policy, settle time, pace and rests,
 * taken alternately. Prints ratios; judges nothing.
 *
 *	wake_bias [ROUNDS]		(default 15)
 */
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "compare_stats.h"
#include "figure.h"
#include "timerlat.h"

#define SAMPLES	      4000
#define WARMUP	      1000
#define SETTLE_NS     50000
#define REST_AFTER_NS 8000000
#define REST_CYCLES   3
#define PRIORITY      40

/* == The bare loop == */

struct bare {
	alignas(64) atomic_ullong announced; /* 0: not */
	alignas(64) uint64_t woken_at;
	alignas(64) atomic_uint word;
	int fd;
	bool use_fd;
	int cycles;
	int wait_cpu, kick_cpu;
	pthread_barrier_t start;
};

static void become(int cpu, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set) && !sched_setscheduler(0, SCHED_FIFO, &param))
		return;
	fprintf(stderr, "wake_bias: SCHED_FIFO %d on CPU %d refused: %s; run as root\n", priority,
		cpu, strerror(errno));
	exit(2);
}

static void bare_sleep(struct bare *b, unsigned int seen)
{
	uint64_t count;

	if (b->use_fd) {
		if (read(b->fd, &count, sizeof(count)) < 0)
			perror("read");
		return;
	}
	while (atomic_load_explicit(&b->word, memory_order_acquire) == seen)
		syscall(SYS_futex, &b->word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void bare_wake(struct bare *b)
{
	uint64_t one = 1;

	if (b->use_fd) {
		if (write(b->fd, &one, sizeof(one)) < 0)
			perror("write");
		return;
	}
	atomic_fetch_add_explicit(&b->word, 1, memory_order_release);
	syscall(SYS_futex, &b->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *bare_waiter(void *arg)
{
	struct bare *b = arg;

	become(b->wait_cpu, PRIORITY);
	pthread_barrier_wait(&b->start);
	for (int i = 0; i < b->cycles; i++) {
		atomic_store_explicit(&b->announced, tlat_arch_ticks_end(), memory_order_release);
		bare_sleep(b, (unsigned int)i);
		b->woken_at = tlat_arch_ticks_end();
	}
	atomic_store_explicit(&b->announced, 1, memory_order_release);
	return NULL;
}

static uint64_t await(struct bare *b)
{
	uint64_t announced;

	while (!(announced = atomic_load_explicit(&b->announced, memory_order_acquire)))
		tlat_arch_relax();
	return announced;
}

static void bare_waker(struct bare *b, double hz, struct tlat_hist *hist)
{
	uint64_t settle = (uint64_t)(SETTLE_NS * hz / 1e9);
	uint64_t rest_after = (uint64_t)(REST_AFTER_NS * hz / 1e9);
	struct timespec rest = { .tv_nsec = 2000000 };
	uint64_t rested = 0, t0;
	int skip = WARMUP;

	for (int i = 0; i < b->cycles; i++) {
		uint64_t announced = await(b);

		if (rested && announced - rested > rest_after) {
			nanosleep(&rest, NULL);
			skip = skip > REST_CYCLES ? skip : REST_CYCLES;
			rested = announced = tlat_arch_ticks_end();
		} else if (!rested) {
			rested = announced;
		}
		while (tlat_arch_ticks_begin() < announced + settle)
			tlat_arch_relax();
		atomic_store_explicit(&b->announced, 0, memory_order_relaxed);
		t0 = tlat_arch_ticks_begin();
		bare_wake(b);
		await(b);
		if (skip)
			skip--;
		else
			tlat_hist_record(hist, (int64_t)(b->woken_at - t0));
	}
}

struct waker_call {
	struct bare *bare;
	double hz;
	struct tlat_hist *hist;
};

static void *bare_waker_thread(void *arg)
{
	struct waker_call *call = arg;
	struct bare *b = call->bare;

	become(b->kick_cpu, b->kick_cpu == b->wait_cpu ? PRIORITY - 1 : PRIORITY);
	pthread_barrier_wait(&b->start);
	bare_waker(b, call->hz, call->hist);
	return NULL;
}

static double bare_p50_ns(bool use_fd, int kick_cpu, int wait_cpu, double hz)
{
	static struct bare bare;
	struct waker_call call = { .bare = &bare, .hz = hz };
	pthread_t waiter, waker;
	double p50;

	memset(&bare, 0, sizeof(bare));
	bare.use_fd = use_fd;
	bare.fd = eventfd(0, EFD_CLOEXEC);
	bare.cycles = SAMPLES + WARMUP;
	bare.kick_cpu = kick_cpu;
	bare.wait_cpu = wait_cpu;
	pthread_barrier_init(&bare.start, NULL, 2);
	tlat_hist_new(&call.hist, (uint64_t)hz);
	pthread_create(&waiter, NULL, bare_waiter, &bare);
	pthread_create(&waker, NULL, bare_waker_thread, &call);
	pthread_join(waiter, NULL);
	pthread_join(waker, NULL);
	p50 = tlat_hist_quantile(call.hist, 0.5) * 1e9 / hz;
	tlat_hist_free(call.hist);
	pthread_barrier_destroy(&bare.start);
	close(bare.fd);
	return p50;
}

/* == The library, and the comparison == */

static double ours_p50_ns(const char *probe, const char *cpus, struct tlat_machine *machine,
			  struct tlat_clock *clock)
{
	struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = probe, .cpus = cpus, .machine = machine, .clock = clock,
			      .samples = SAMPLES, .settle_ns = SETTLE_NS, .policy = TLAT_SCHED_FIFO,
			      .priority = PRIORITY, .flags = TLAT_RUN_NO_FLOOR);
	const struct tlat_hist *hist;
	struct tlat_report *report;
	struct tlat_error error;
	double p50;

	if (tlat_run(&report, &opts, &error) < 0) {
		fprintf(stderr, "wake_bias: %s\n", error.text);
		exit(2);
	}
	/* as for the bare loop, whatever the blocks say of how much the median is worth */
	hist = tlat_result_hist(tlat_report_result(report, 0));
	p50 = tlat_hist_quantile(hist, 0.5) * 1e9 / (double)tlat_hist_hz(hist);
	tlat_report_free(report);
	return p50;
}

static void compare(const char *probe, bool use_fd, int kick_cpu, int wait_cpu, size_t rounds,
		    struct tlat_machine *machine, struct tlat_clock *clock)
{
	double bare[FIGURE_ROUNDS_MAX + 1], ours[FIGURE_ROUNDS_MAX], ratio[FIGURE_ROUNDS_MAX];
	struct tlat_clock_facts facts = { .size = sizeof(facts) };
	double least = INFINITY, most = 0;
	char cpus[32], name[64];
	bool one = kick_cpu == wait_cpu;

	tlat_clock_facts(clock, &facts);
	if (one)
		snprintf(cpus, sizeof(cpus), "%d", wait_cpu);
	else
		snprintf(cpus, sizeof(cpus), "%d,%d", kick_cpu, wait_cpu);
	snprintf(name, sizeof(name), "p50 of %s, %s", probe, one ? "one CPU" : "two CPUs");
	bare[0] = bare_p50_ns(use_fd, kick_cpu, wait_cpu, (double)facts.hz);
	for (size_t i = 0; i < rounds; i++) {
		ours[i] = ours_p50_ns(probe, cpus, machine, clock);
		bare[i + 1] = bare_p50_ns(use_fd, kick_cpu, wait_cpu, (double)facts.hz);
		ratio[i] = ours[i] * 2 / (bare[i] + bare[i + 1]);
		least = fmin(least, bare[i + 1] / bare[i]);
		most = fmax(most, bare[i + 1] / bare[i]);
	}
	figure_write(&(struct figure){ "wake_bias", name, "ns", ours, rounds, "bare loop", bare,
				       rounds + 1, NULL });
	printf("%-13s CPU %d->%d  bare p50 %7.1f ns  ours %7.1f ns  ratio %.4f"
	       "  (bare against itself %.4f..%.4f)\n",
	       probe, kick_cpu, wait_cpu, tlat_median(bare, rounds + 1), tlat_median(ours, rounds),
	       tlat_median(ratio, rounds), least, most);
	fflush(stdout);
}

/* The last CPU that may be used, and the one before it; -1: there is none. */
static void last_cpus(int *last, int *other)
{
	cpu_set_t set;

	*last = *other = -1;
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set)) {
			*other = *last;
			*last = cpu;
		}
}

/* The bare loop reads the counter: at the library's rate, if that is of the same counter. */
static void need_counter(const struct tlat_clock *clock)
{
	struct tlat_clock_facts facts = { .size = sizeof(facts) };

	tlat_clock_facts(clock, &facts);
	if (facts.source == TLAT_ARCH_SOURCE)
		return;
	fprintf(stderr, "wake_bias: the counter of this machine cannot be relied upon\n");
	exit(77);
}

int main(int argc, char **argv)
{
	size_t rounds = figure_rounds(argc, argv, 15);
	struct tlat_machine *machine;
	struct tlat_clock *clock;
	struct tlat_error error;
	int last, other;

	last_cpus(&last, &other);
	if (tlat_machine_open(&machine, NULL, &error) < 0 ||
	    tlat_clock_open(&clock, machine, TLAT_CLOCK_AUTO, &error) < 0) {
		fprintf(stderr, "wake_bias: %s\n", error.text);
		return 2;
	}
	need_counter(clock);
	printf("median of %zu alternating rounds of %d samples, settle %d us, SCHED_FIFO %d\n",
	       rounds, SAMPLES, SETTLE_NS / 1000, PRIORITY);
	compare("wake-futex", false, last, last, rounds, machine, clock);
	compare("wake-eventfd", true, last, last, rounds, machine, clock);
	if (other >= 0) {
		compare("wake-futex", false, other, last, rounds, machine, clock);
		compare("wake-eventfd", true, other, last, rounds, machine, clock);
	}
	tlat_clock_close(clock);
	tlat_machine_close(machine);
	return 0;
}
