// SPDX-License-Identifier: MIT
/*
 * test-quiet.c - measuring threads do not allocate in their loops: the number
 * of allocations does not depend on the number of cycles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "result.h"
#include "timerlat.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* Allocations per thread, by thread number modulo the table. */
static atomic_ulong allocations[4096];

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *mem, size_t size);
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *mem, size_t size);

static void count(void)
{
	atomic_fetch_add(&allocations[syscall(SYS_gettid) % 4096], 1);
}

void *malloc(size_t size)
{
	count();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count();
	return __libc_calloc(n, size);
}

void *realloc(void *mem, size_t size)
{
	count();
	return __libc_realloc(mem, size);
}

/* Allocations of the measuring threads of one run of n cycles. */
static unsigned long measured(const char *probe, uint64_t n)
{
	struct tlat_run_opts opts = TLAT_RUN_OPTS(.probe = probe, .samples = n, .warmup = 10,
						  .settle_ns = 5000, .flags = TLAT_RUN_NO_FLOOR,
						  .interval_ns = probe[0] == 't' ? 100000 : 0);
	const struct tlat_result *result;
	struct tlat_report *report;
	struct tlat_error error;
	unsigned long total;

	if (tlat_run(&report, &opts, &error) < 0)
		fail_msg("%s", error.text);
	result = tlat_report_result(report, 0);
	assert_int_equal(result->counts.asked, n);
	assert_int_equal(result->watch->minor_faults + result->watch->major_faults, 0);
	total = atomic_exchange(&allocations[result->wait.tid % 4096], 0);
	if (result->has_kick)
		total += atomic_exchange(&allocations[result->kick.tid % 4096], 0);
	tlat_report_free(report);
	return total;
}

static void loops_do_not_allocate(void **state)
{
	const char *const probes[] = { "wake-futex", "wake-eventfd", "timer-nanosleep",
				       "timer-timerfd" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		unsigned long few = measured(probes[i], 100), many = measured(probes[i], 4000);

		assert_true(few > 0); /* the counter works: set-up allocates */
		assert_int_equal(few, many);
	}
}

#else

/* The sanitizers own malloc; the other builds run this test. */
static void loops_do_not_allocate(void **state)
{
	(void)state;
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_do_not_allocate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
