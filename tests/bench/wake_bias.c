// SPDX-License-Identifier: MIT
/*
 * wake_bias.c - what libtimerlat adds to a wake: its p50 against a bare
 * hand-written loop with the same CPUs, policy, settle time, pace and rests,
 * taken alternately. Prints ratios; judges nothing.
 *
 *	wake_bias [ROUNDS]		(default 15)
 */
#include <linux/futex.h>
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
#include "timerlat.h"

#define SAMPLES	      4000
#define WARMUP	      1000
#define SETTLE_NS     50000
#define REST_AFTER_NS 8000000
#define REST_CYCLES   3
#define PRIORITY      40
#define ROUNDS_MAX    99

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
	sched_setaffinity(0, sizeof(set), &set);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		perror("SCHED_FIFO");
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

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? 1 : x < y ? -1 : 0;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), ascending);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void compare(const char *probe, bool use_fd, int kick_cpu, int wait_cpu, int rounds,
		    struct tlat_machine *machine, struct tlat_clock *clock)
{
	struct tlat_clock_facts facts = { .size = sizeof(facts) };
	double bare[ROUNDS_MAX + 1], ours[ROUNDS_MAX], ratio[ROUNDS_MAX], same[ROUNDS_MAX];
	char cpus[32];

	tlat_clock_facts(clock, &facts);
	if (kick_cpu == wait_cpu)
		snprintf(cpus, sizeof(cpus), "%d", wait_cpu);
	else
		snprintf(cpus, sizeof(cpus), "%d,%d", kick_cpu, wait_cpu);
	bare[0] = bare_p50_ns(use_fd, kick_cpu, wait_cpu, (double)facts.hz);
	for (int i = 0; i < rounds; i++) {
		ours[i] = ours_p50_ns(probe, cpus, machine, clock);
		bare[i + 1] = bare_p50_ns(use_fd, kick_cpu, wait_cpu, (double)facts.hz);
		ratio[i] = ours[i] * 2 / (bare[i] + bare[i + 1]);
		same[i] = bare[i + 1] / bare[i];
	}
	qsort(same, (size_t)rounds, sizeof(*same), ascending);
	printf("%-13s CPU %d->%d  bare p50 %7.1f ns  ours %7.1f ns  ratio %.4f"
	       "  (bare against itself %.4f..%.4f)\n",
	       probe, kick_cpu, wait_cpu, median(bare, rounds + 1), median(ours, rounds),
	       median(ratio, rounds), same[0], same[rounds - 1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 15;
	struct tlat_machine *machine;
	struct tlat_clock *clock;
	struct tlat_error error;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "wake_bias: ROUNDS is 1..%d\n", ROUNDS_MAX);
		return 2;
	}
	if (tlat_machine_open(&machine, NULL, &error) < 0 ||
	    tlat_clock_open(&clock, machine, TLAT_CLOCK_AUTO, &error) < 0) {
		fprintf(stderr, "wake_bias: %s\n", error.text);
		return 2;
	}
	printf("median of %d alternating rounds of %d samples, settle %d us, SCHED_FIFO %d\n",
	       rounds, SAMPLES, SETTLE_NS / 1000, PRIORITY);
	compare("wake-futex", false, 1, 1, rounds, machine, clock);
	compare("wake-eventfd", true, 1, 1, rounds, machine, clock);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		compare("wake-futex", false, 0, 1, rounds, machine, clock);
		compare("wake-eventfd", true, 0, 1, rounds, machine, clock);
	}
	tlat_clock_close(clock);
	tlat_machine_close(machine);
	return 0;
}
