/* SPDX-License-Identifier: MIT */
/* run_pace.h - one cycle of a pair as the waker sees it: what paces it, and the wait for its end.
 */
#ifndef TLAT_RUN_PACE_H
#define TLAT_RUN_PACE_H

#include "run.h"

struct tlat_cycle {
	uint64_t seq; /* announcement that the waker is after */
	uint64_t t0, t1;
	uint64_t announced;
	uint64_t late;	     /* the slot had passed */
	uint64_t slot;	     /* next kick when there is an interval */
	uint64_t rests;	     /* of the waiter, when last looked */
	uint64_t unmeasured; /* cycles left that are not measured after a rest */
	uint64_t asked;	     /* cycles measured before it */
	uint64_t first;	     /* the first announcement */
	uint64_t reply_at;   /* round trip: stamp of the reply */
	struct tlat_census census;
	int woken;
	bool kicked, measured; /* the cycle under way */
	bool told;	       /* the last kick has a sample, or a count that says why not */
	bool waiter_rested, waker_rested; /* since the last kick */
	bool awake;			  /* one side had nothing to sleep for */
	bool merged;			  /* a wake stands for more than one kick */
};

/* Whether another cycle may begin; if not, book->end says why. */
TLAT_HOT bool tlat_pace_within_limits(const struct tlat_pair *pair, const struct tlat_cycle *cycle,
				      struct tlat_book *book);
/* Whether the cycle that begins counts: warm-up over, no rest just before. */
TLAT_HOT bool tlat_pace_is_measured(struct tlat_pair *pair, struct tlat_cycle *cycle,
				    struct tlat_book *book);
/* Note what kept a side from its CPU between the last kick and now, unless a sample shows it. */
TLAT_HOT void tlat_pace_look_back(const struct tlat_pair *pair, const struct tlat_cycle *cycle,
				  uint64_t now, struct tlat_book *book);
/* When to kick: after the settle time, at the slot if there is an interval. */
TLAT_HOT uint64_t tlat_pace_kick_time(struct tlat_pair *pair, struct tlat_cycle *cycle,
				      const struct tlat_book *book);
/* Whether the wait for the kick is over because the run is; book->end then says why. */
TLAT_HOT bool tlat_pace_has_ended(const struct tlat_pair *pair, const struct tlat_cycle *cycle,
				  uint64_t now, struct tlat_book *book);

/* == run_await.c == */

/*
 * Wait for the announcement that ends the cycle under way; a wake that does not come within its
 * bound is kicked once more. 1: the cycle has its end, *cycle says where the waiter is; 0: nobody
 * announced, or the run is to end; negative errno: the waiter has left or is out of step.
 */
TLAT_HOT int tlat_await_waiter(const struct tlat_pair *pair, struct tlat_cycle *cycle,
			       struct tlat_book *book);

#endif /* TLAT_RUN_PACE_H */
