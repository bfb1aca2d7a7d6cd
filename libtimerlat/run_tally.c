// SPDX-License-Identifier: MIT
/*
 * run_tally.c - conservation: a periodic timer that says how many expirations an event stands for
 * must in sum say how often it expired. With S expirations said so far, a and b stamps before and
 * after the kernel was asked: floor((a - E0) / T) + 1 <= S <= floor((b - E0) / T) + 1; and when the
 * timer is read at the end, E0 + (S + pending) T is its next expiry.
 */
#include "run_tally.h"

#define EXACT_FROM_NS 100000 /* below that, reading the timer moves what is to be read */
#define ATTEMPTS      100

void tlat_tally_check(const struct tlat_solo *solo, struct tlat_grid *grid, struct tlat_book *book,
		      uint64_t next, uint64_t at)
{
	uint64_t last = tlat_grid_point(grid, next - 1);
	/* The kernel may have counted after the stamp: later is looked at on suspicion only. */
	bool too_many = last > at && last > tlat_stamp_end(&solo->ctx->stamper);
	bool too_few = last + grid->interval <= grid->before;

	book->tally.miscounts += too_many || too_few;
	grid->before = at;
}

/* How many expirations lie before the next one; 0: it is not on the grid between these stamps. */
static uint64_t expired_by(const struct tlat_grid *grid, uint64_t from, uint64_t until)
{
	uint64_t k = (until - grid->origin) / grid->interval;

	return tlat_grid_point(grid, k) >= from ? k : 0;
}

void tlat_tally_close(const struct tlat_solo *solo, const struct tlat_grid *grid,
		      const struct tlat_probe_side *side, struct tlat_book *book)
{
	struct tlat_probe_ctx *ctx = solo->ctx;
	struct tlat_tally *sum = &book->tally;
	struct tlat_probe_tally look;

	sum->counted = grid->slot;
	for (int i = 0; i < ATTEMPTS && grid->interval >= EXACT_FROM_NS; i++) {
		uint64_t a = tlat_stamp_begin(&ctx->stamper), b;

		if (ctx->ops->tally(ctx, side, &look))
			return;
		b = tlat_stamp_end(&ctx->stamper);
		sum->counted += look.pending;
		if (b >= a + look.left_ns || b - a >= grid->interval / 2)
			continue;
		sum->expired = expired_by(grid, a + look.left_ns, b + look.left_ns);
		sum->closed = true;
		return;
	}
}
