/* SPDX-License-Identifier: MIT */
/* ab_run.h - pairs of runs, in turn, until there are enough. */
#ifndef TLAT_AB_RUN_H
#define TLAT_AB_RUN_H

#include "ab_config.h"
#include "reports.h"

struct tlat_ab_session {
	const struct tlat_ab_config *config;
	struct tlat_reports sides[2];
	uint64_t seed;	  /* of the order; of the state, where there is one */
	double seconds;	  /* that the runs made here took */
	size_t made;	  /* runs made here */
	bool ended_early; /* on a planned look */
};

/* What --state has from earlier. */
int tlat_ab_resume(struct tlat_ab_session *session, struct tlat_error *reterr);
/* Make the runs that are missing; -ECANCELED when a signal ended it. */
int tlat_ab_measure(struct tlat_ab_session *session, struct tlat_error *reterr);
void tlat_ab_free(struct tlat_ab_session *session);

/* How many pairs have both of their runs. */
size_t tlat_ab_complete(const struct tlat_ab_session *session);

#endif /* TLAT_AB_RUN_H */
