// SPDX-License-Identifier: MIT
/*
 * run_instance.c - the memory of one instance of a probe: one shared mapping, so that a side may be
 * a process. What one side writes while the other works is on cache lines of its own.
 */
#include <string.h>
#include <sys/mman.h>

#include "helper.h"
#include "run_thread.h"

static size_t line_up(size_t bytes)
{
	return (bytes + TLAT_CACHE_LINE - 1) / TLAT_CACHE_LINE * TLAT_CACHE_LINE;
}

static size_t map_bytes(const struct tlat_probe_ops *ops)
{
	return TLAT_CACHE_LINE + 2 * sizeof(struct tlat_probe_ctx) +
	       line_up(sizeof(struct tlat_solo)) + line_up(sizeof(struct tlat_book)) +
	       line_up(sizeof(struct tlat_pair)) + 2 * line_up(ops->shared_size) +
	       4 * line_up(ops->side_size);
}

/* What a cycle of a timer needs comes first, so that it lies on one page. */
static void lay_out(struct tlat_instance *in, const struct tlat_probe_ops *ops)
{
	char *at = in->map;

	in->stop = tlat_shared_carve(&at, 2 * sizeof(*in->stop));
	in->request = in->stop + 1;
	in->ctx = tlat_shared_carve(&at, sizeof(*in->ctx));
	in->solo = tlat_shared_carve(&at, sizeof(*in->solo));
	in->book = tlat_shared_carve(&at, sizeof(*in->book));
	in->ctx->shared = tlat_shared_carve(&at, ops->shared_size);
	for (int i = 0; i < 2; i++)
		in->measurers[i].side.state = tlat_shared_carve(&at, ops->side_size);
	if (ops->flags & TLAT_PROBE_PAIR)
		in->pair = tlat_shared_carve(&at, sizeof(struct tlat_pair));
	in->reply = tlat_shared_carve(&at, sizeof(*in->reply));
	in->reply->shared = tlat_shared_carve(&at, ops->shared_size);
	for (int i = 0; i < 2; i++)
		in->measurers[i].reply.state = tlat_shared_carve(&at, ops->side_size);
}

static int open_way(struct tlat_instance *in, struct tlat_probe_ctx *ctx, bool *ret_open,
		    struct tlat_error *reterr)
{
	int error = 0;

	if (ctx->ops->open)
		error = ctx->ops->open(ctx, in->opts, reterr);
	*ret_open = !error;
	return error;
}

int tlat_instance_map(struct tlat_instance *in, const struct tlat_probe_ops *ops,
		      struct tlat_error *reterr)
{
	in->map_size = map_bytes(ops);
	in->map = mmap(NULL, in->map_size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (in->map == MAP_FAILED) {
		in->map = NULL;
		return tlat_fail(reterr, -ENOMEM, "no memory for %zu shared bytes", in->map_size);
	}
	lay_out(in, ops);
	return 0;
}

int tlat_instance_open(struct tlat_instance *in, const struct tlat_probe_ops *ops,
		       const struct tlat_run_opts *opts, const struct tlat_clock *clock,
		       struct tlat_error *reterr)
{
	bool ticks = ops->flags & (TLAT_PROBE_PAIR | TLAT_PROBE_LOOPBACK);
	int error;

	in->opts = opts;
	in->clock = clock;
	in->ctx->ops = ops;
	in->ctx->stop = in->stop;
	in->ctx->stamper =
		ticks ? tlat_clock_stamper(clock) : tlat_clock_stamper_for(clock, ops->clock);
	in->reply->ops = ops;
	in->reply->stop = in->stop;
	in->reply->stamper = in->ctx->stamper;
	error = open_way(in, in->ctx, &in->open, reterr);
	if (!error && (opts->flags & TLAT_RUN_ROUND_TRIP))
		error = open_way(in, in->reply, &in->reply_open, reterr);
	return error;
}

void tlat_instance_close(struct tlat_instance *in)
{
	if (in->open && in->ctx->ops->close)
		in->ctx->ops->close(in->ctx);
	if (in->reply_open && in->reply->ops->close)
		in->reply->ops->close(in->reply);
	if (in->map)
		munmap(in->map, in->map_size);
	in->map = NULL;
	in->open = in->reply_open = false;
}
