// SPDX-License-Identifier: MIT
/*
 * run_loopback.c - stamp, kick, wait, stamp on one thread: the null probe, whose distribution is
 * the floor of every other one.
 */
#include "run.h"

struct pace {
	const struct tlat_limits *limits;
	uint64_t first, rested;
	uint64_t unmeasured; /* cycles left that are not measured after a rest */
	uint64_t asked;	     /* cycles measured before it */
};

/* The time since the event before that no sample shows: short, but for a rest in it. */
static void look_back(const struct pace *pace, uint64_t length, struct tlat_book *book)
{
	bool rested = pace->rested > book->ended;
	uint64_t usual = pace->limits->away + (rested ? pace->limits->rest : 0);

	if (TLAT_RARELY((int64_t)length > (int64_t)usual))
		tlat_book_note_stop(book, length);
}

/* One cycle; 0 or what the probe failed with. */
static int loopback_cycle(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			  const struct pace *pace, struct tlat_book *book, bool measured)
{
	struct tlat_probe_event event = { .n = 1 };
	uint64_t t0 = tlat_stamp_begin(&ctx->stamper);
	int error = ctx->ops->kick(ctx);

	if (error >= 0)
		error = ctx->ops->wait(ctx, side, &event);
	if (error < 0)
		return error;
	look_back(pace, (measured ? t0 : event.at) - book->ended, book);
	book->ended = event.at;
	if (!measured) {
		tlat_count(&book->warmup, 1);
		return 0;
	}
	tlat_count(&book->counts.asked, 1);
	tlat_book_record(book, (int64_t)(event.at - t0), t0, book->counts.asked - 1, -1);
	return 0;
}

/* Whether the next cycle counts: warm-up over, no rest just before. */
static bool is_measured(struct pace *pace, struct tlat_book *book,
			const struct tlat_stamper *stamper)
{
	const struct tlat_limits *limits = pace->limits;

	if (limits->rest_after && book->ended - pace->rested >= limits->rest_after) {
		tlat_run_rest(limits);
		pace->rested = tlat_stamp_begin(stamper);
		pace->unmeasured =
			tlat_rest_cycles(!book->started || book->counts.asked > pace->asked);
		pace->asked = book->counts.asked;
		tlat_count(&book->rests, 1);
	}
	if (!book->started &&
	    (book->warmup >= limits->warmup || book->ended - pace->first >= limits->warmup_span))
		tlat_note(&book->started, book->ended);
	if (!pace->unmeasured)
		return book->started;
	pace->unmeasured--;
	return false;
}

void tlat_run_loopback(struct tlat_probe_ctx *ctx, const struct tlat_limits *limits,
		       const struct tlat_probe_side *side, struct tlat_book *book)
{
	struct pace pace = { .limits = limits, .first = tlat_stamp_begin(&ctx->stamper) };

	pace.rested = book->ended = pace.first;
	book->end = TLAT_END_COUNT;
	while (book->counts.asked < limits->samples) {
		bool measured = is_measured(&pace, book, &ctx->stamper);

		if (tlat_run_requested(limits)) {
			book->end = TLAT_END_SIGNAL;
			return;
		}
		if (book->started && book->ended - book->started >= limits->duration) {
			book->end = TLAT_END_TIME;
			return;
		}
		book->error = loopback_cycle(ctx, side, &pace, book, measured);
		if (book->error) {
			book->end = TLAT_END_ERROR;
			return;
		}
	}
}
