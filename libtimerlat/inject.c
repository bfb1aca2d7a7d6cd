// SPDX-License-Identifier: MIT
/*
 * inject.c - a known delay between the first stamp and the kick, so that a
 * self-test can see it come back. The delay is spun on CLOCK_MONOTONIC_RAW,
 * which is not the counter under test, and what was really spun is kept. A
 * delay of 0 still takes the two reads, so that a baseline has them as well.
 */
#include "thread.h"

static int inject_kick(struct tlat_probe_ctx *ctx)
{
	struct tlat_injection *injection = (struct tlat_injection *)(uintptr_t)ctx->ops;
	uint64_t start = tlat_gettime_ns(CLOCK_MONOTONIC_RAW), now;

	do
		now = tlat_gettime_ns(CLOCK_MONOTONIC_RAW);
	while (now - start < injection->delay_ns);
	tlat_hist_record(injection->spun, (int64_t)(now - start));
	return injection->real->kick(ctx);
}

int tlat_injection_init(struct tlat_injection *injection, const struct tlat_probe_ops *real,
			int64_t delay_ns)
{
	injection->ops = *real;
	injection->ops.kick = inject_kick;
	injection->real = real;
	injection->delay_ns = delay_ns > 0 ? (uint64_t)delay_ns : 0;
	return tlat_hist_new(&injection->spun, TLAT_NSEC_PER_SEC);
}

void tlat_injection_destroy(struct tlat_injection *injection)
{
	tlat_hist_free(injection->spun);
	injection->spun = NULL;
}
