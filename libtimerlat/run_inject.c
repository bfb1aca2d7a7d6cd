// SPDX-License-Identifier: MIT
/*
 * run_inject.c - a known delay between the first stamp and the kick, so that a self-test can see it
 * come back. The delay is spun on CLOCK_MONOTONIC_RAW, which is not the counter under test, and
 * what was really spun is kept. Every second cycle is delayed, the others take the same two reads:
 * what drifts slower than two cycles is in both and cancels.
 */
#include <math.h>
#include <stdlib.h>

#include "run_thread.h"

static int inject_kick(struct tlat_probe_ctx *ctx)
{
	struct tlat_injection *injection = (struct tlat_injection *)(uintptr_t)ctx->ops;
	bool delayed = injection->book->n_raw % 2;
	uint64_t delay_ns = delayed ? injection->delay_ns : 0;
	uint64_t start = tlat_gettime_ns(CLOCK_MONOTONIC_RAW), now;

	do
		now = tlat_gettime_ns(CLOCK_MONOTONIC_RAW);
	while (now - start < delay_ns);
	tlat_hist_record(injection->spun[delayed], (int64_t)(now - start));
	return injection->real->kick(ctx);
}

int tlat_injection_init(struct tlat_injection *injection, const struct tlat_probe_ops *real,
			int64_t delay_ns)
{
	int error = tlat_hist_new(&injection->spun[0], TLAT_NSEC_PER_SEC);

	injection->ops = *real;
	injection->ops.kick = inject_kick;
	injection->real = real;
	injection->delay_ns = (uint64_t)delay_ns;
	return error ? error : tlat_hist_new(&injection->spun[1], TLAT_NSEC_PER_SEC);
}

void tlat_injection_destroy(struct tlat_injection *injection)
{
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(injection->spun); i++) {
		tlat_hist_free(injection->spun[i]);
		injection->spun[i] = NULL;
	}
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Delayed minus not delayed, neighbour by neighbour, sorted; n of them. */
static int64_t *differences(const struct tlat_result *result, size_t n)
{
	int64_t *all = calloc(n + 1, sizeof(*all));

	if (!all)
		return NULL;
	for (size_t i = 0; i < n; i++)
		all[i] = result->raw[2 * i + 1] - result->raw[2 * i];
	qsort(all, n, sizeof(*all), ascending);
	return all;
}

/*
 * Uncertainty of the recovered against the spun delay, k = 2 (statistics E5): the sampling of the
 * median by its order-statistic interval; of either clock the quantum and the order of a read.
 */
static double uncertainty_ns(double interval_ns, const struct tlat_calibration *clock)
{
	double sampling = interval_ns / 2 / 1.96, quantum = clock->quantum_ns / sqrt(6);
	double order = clock->read_cost_ns / sqrt(3), other = clock->gettime_cost_ns / sqrt(3);

	return 2 *
	       sqrt(sampling * sampling + 2 * quantum * quantum + order * order + other * other);
}

void tlat_injection_judge(const struct tlat_injection *injection,
			  const struct tlat_calibration *clock, struct tlat_result *result)
{
	size_t n = result->n_raw / 2, spread = (size_t)(0.98 * sqrt((double)n)) + 1;
	double ns = 1e9 / (double)tlat_hist_hz(result->latency);
	int64_t *all = differences(result, n);

	result->injected = true;
	result->inject_ns = (int64_t)injection->delay_ns;
	result->injected_ns = tlat_hist_quantile(injection->spun[1], 0.5) -
			      tlat_hist_quantile(injection->spun[0], 0.5);
	result->recovered_ns = result->recovered_u_ns = NAN;
	if (all && n / 2 > spread) {
		double lo = (double)all[n / 2 - spread] * ns, hi = (double)all[n / 2 + spread] * ns;

		result->recovered_ns = (double)(all[(n - 1) / 2] + all[n / 2]) / 2 * ns;
		result->recovered_u_ns = uncertainty_ns(hi - lo, clock);
	}
	free(all);
}
