/* SPDX-License-Identifier: MIT */
/* clock_crew.h - short-lived threads, one pinned on each of some CPUs */
#ifndef TLAT_CLOCK_CREW_H
#define TLAT_CLOCK_CREW_H

#include "internal.h"

struct tlat_crew;

typedef void tlat_crew_fn(struct tlat_crew *crew, size_t member, void *data);

/*
 * Run fn on n threads under SCHED_OTHER, member i on cpus[i], all signals blocked. None starts
 * before all are in place, parked until then. Nobody is waited for beyond limit_ns: fn looks at
 * tlat_crew_expired() while it spins, and a thread that gets no time on its CPU is called back
 * from there. Returns 0 when fn ended on all within the limit; -EINVAL naming the CPU that cannot
 * be used; -ETIMEDOUT, fn then having run on all or on none; or why no thread could be made. The
 * calling thread's CPUs, policy and signal mask are as before. [setup]
 */
int tlat_crew_run(const int32_t *cpus, size_t n, int64_t limit_ns, tlat_crew_fn *fn, void *data,
		  struct tlat_error *reterr);

/* Whether the crew's time is over. */
bool tlat_crew_expired(const struct tlat_crew *crew);

#endif /* TLAT_CLOCK_CREW_H */
