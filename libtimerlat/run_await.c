// SPDX-License-Identifier: MIT
/* run_await.c - a pair's waker waits for its waiter, and what it does when nobody comes. */
#include <sched.h>

#include "run_pace.h"

/* 1: the waiter has announced this cycle; 0: it has not by the deadline or the run is to end;
 * negative errno: it has left. */
TLAT_HOT static int await(const struct tlat_pair *pair, struct tlat_cycle *cycle, uint64_t since)
{
	const struct tlat_waiter_line *waiter = &pair->waiter;

	for (;;) {
		uint64_t waited;

		if (atomic_load_explicit(&waiter->announced_seq, memory_order_acquire) > cycle->seq)
			return 1;
		if (atomic_load_explicit(&waiter->gone, memory_order_acquire))
			return waiter->error ? waiter->error : -EINTR;
		waited = tlat_stamp_begin(&pair->ctx->stamper) - since;
		if (waited > pair->wait_bound)
			return 0;
		if (waited > pair->grace && tlat_run_requested(&pair->limits))
			return 0;
		/* the wake may need what a spinning real-time thread keeps off this CPU */
		if (waited > pair->limits.away ||
		    atomic_load_explicit(&waiter->resting, memory_order_acquire)) {
			tlat_run_rest(&pair->limits);
			cycle->waker_rested = true;
		} else if (pair->yields)
			sched_yield();
		else
			tlat_arch_relax();
	}
}

static int await_from_now(const struct tlat_pair *pair, struct tlat_cycle *cycle)
{
	return await(pair, cycle, tlat_stamp_begin(&pair->ctx->stamper));
}

/* Whether the wake came within its bound, however late the waiter got round to say so. */
static bool woke_in_time(const struct tlat_pair *pair, const struct tlat_cycle *cycle)
{
	int64_t latency = (int64_t)(tlat_get(pair->waiter.woken_at) - cycle->t0);

	return latency <= 0 || (uint64_t)latency <= pair->wait_bound;
}

/*
 * A wake that is not there within its bound: the cycle is lost, the run need not be. If the wake is
 * only late it is waited for; a second kick could wake twice.
 */
static int recover(const struct tlat_pair *pair, struct tlat_cycle *cycle, struct tlat_book *book)
{
	int answer = await_from_now(pair, cycle);

	if (answer > 0 && woke_in_time(pair, cycle))
		return answer;
	if (cycle->measured)
		tlat_count(&book->counts.rejected[TLAT_REJECTED_TIMEOUT], 1);
	cycle->measured = false;
	book->lost_wake = true;
	if (answer)
		return answer;
	pair->ctx->ops->kick(pair->ctx);
	return await_from_now(pair, cycle);
}

/* The wake has come, for its reply has: whatever keeps the waiter now, a second kick would bring a
 * second reply, and every later cycle the one before its own. */
static int await_after_reply(const struct tlat_pair *pair, struct tlat_cycle *cycle)
{
	int answer;

	do
		answer = await_from_now(pair, cycle);
	while (answer == 0 && !tlat_run_requested(&pair->limits));
	return answer;
}

/*
 * Where the waiter is: after a second kick it may have woken more often than it was kicked, and
 * then its last stamp is not of this cycle. Replies out of step would not show: -EPROTO.
 */
static int catch_up(const struct tlat_pair *pair, struct tlat_cycle *cycle)
{
	uint64_t seq = atomic_load_explicit(&pair->waiter.announced_seq, memory_order_relaxed) - 1;

	if (pair->reply && seq != cycle->seq)
		return -EPROTO;
	cycle->awake = tlat_get(pair->waiter.awake) || cycle->awake || seq != cycle->seq;
	cycle->merged = tlat_get(pair->waiter.merged) || cycle->merged;
	cycle->seq = seq;
	return 1;
}

int tlat_await_waiter(const struct tlat_pair *pair, struct tlat_cycle *cycle,
		      struct tlat_book *book)
{
	int answer;

	cycle->waker_rested = false;
	if (!cycle->kicked)
		answer = await_from_now(pair, cycle);
	else if (pair->reply)
		answer = await_after_reply(pair, cycle);
	else
		answer = await(pair, cycle, cycle->t1);
	cycle->told = answer == 0 || cycle->measured;
	if (answer == 0 && cycle->kicked && !tlat_run_requested(&pair->limits))
		answer = recover(pair, cycle, book);
	return answer > 0 ? catch_up(pair, cycle) : answer;
}
