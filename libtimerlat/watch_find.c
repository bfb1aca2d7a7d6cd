// SPDX-License-Identifier: MIT
/* watch_find.c - which of the kernel's counts are worth a finding. */
#include "watch.h"

#define STOLEN_NS 20000000 /* two steps, as the kernel counts it */

/* Of a run in which more than a hundredth was stolen, the host measures a good part. */
static void find_stolen(const struct tlat_watch_delta *watch, struct tlat_findings *findings)
{
	bool much = watch->steal_ns >= STOLEN_NS && watch->steal_ns > watch->duration_ns / 100;

	tlat_findings_add(findings, much ? TLAT_WARN : TLAT_INFO, "stolen-time",
			  much ? "give the virtual machine CPUs of its own" : NULL,
			  "the hypervisor took %lld ms from the CPUs used, in %lld ms",
			  (long long)(watch->steal_ns / 1000000),
			  (long long)(watch->duration_ns / 1000000));
}

void tlat_watch_find(const struct tlat_watch_delta *watch, struct tlat_findings *findings)
{
	if (!watch)
		return;
	if (watch->minor_faults + watch->major_faults)
		tlat_findings_add(findings, TLAT_INFO, "page-faults", NULL,
				  "measuring threads took %llu page faults in their loops",
				  (unsigned long long)(watch->minor_faults + watch->major_faults));
	if (watch->steal_ns > 0)
		find_stolen(watch, findings);
	if (watch->throttled > 0)
		tlat_findings_add(findings, TLAT_WARN, "throttled", "raise the cgroup's cpu quota",
				  "the cgroup was throttled %lld times meanwhile",
				  (long long)watch->throttled);
	if (watch->hrtimer_hangs > 0)
		tlat_findings_add(findings, TLAT_WARN, "hrtimer-hang", NULL,
				  "the kernel's timer interrupt backed off %lld times meanwhile",
				  (long long)watch->hrtimer_hangs);
}
