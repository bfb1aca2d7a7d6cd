/* SPDX-License-Identifier: MIT */
/* span.h - what probes share whose timeout counts from the call, in the unit of the call. */
#ifndef TLAT_SPAN_H
#define TLAT_SPAN_H

#include "probe.h"

/* First in the shared memory of such a probe. */
struct tlat_span {
	int64_t timeout_ns; /* rounded up to the unit */
};

static inline struct tlat_span *tlat_span_of(const struct tlat_probe_ctx *ctx)
{
	return ctx->shared;
}

/* -EINVAL when the call cannot take that many units. */
static inline int tlat_span_init(struct tlat_probe_ctx *ctx, int64_t timeout_ns, int64_t unit_ns,
				 int64_t max_units, struct tlat_error *reterr)
{
	int64_t rounded_ns = tlat_round_up(timeout_ns, unit_ns);

	if (rounded_ns / unit_ns > max_units)
		return tlat_fail(reterr, -EINVAL,
				 "%s cannot wait for %lld ns at a time; use a shorter interval",
				 ctx->ops->name, (long long)timeout_ns);
	tlat_span_of(ctx)->timeout_ns = rounded_ns;
	return 0;
}

static inline uint64_t tlat_span_due(const struct tlat_probe_ctx *ctx, uint64_t armed,
				     uint64_t asked)
{
	(void)asked;
	return armed + (uint64_t)tlat_span_of(ctx)->timeout_ns;
}

/* Whether an interrupted call has to be made again: once more in full, unless time is up. */
static inline bool tlat_span_again(const struct tlat_probe_ctx *ctx,
				   const struct tlat_probe_event *event)
{
	return event->at < event->due && !tlat_probe_stopping(ctx);
}

/* What wait() returns, given what the call did: 0, or a negative errno. */
static inline int tlat_span_end(const struct tlat_probe_event *event, int error)
{
	return error == -EINTR && event->at >= event->due ? 0 : error;
}

#endif /* TLAT_SPAN_H */
