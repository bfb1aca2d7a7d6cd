// SPDX-License-Identifier: MIT
/* watch_find.c - which of the kernel's counts are worth a finding. */
#include "watch.h"

void tlat_watch_find(const struct tlat_watch_delta *watch, struct tlat_findings *findings)
{
	if (!watch)
		return;
	if (watch->minor_faults + watch->major_faults)
		tlat_findings_add(findings, TLAT_INFO, "page-faults", NULL,
				  "measuring threads took %llu page faults in their loops",
				  (unsigned long long)(watch->minor_faults + watch->major_faults));
	if (watch->steal_ns > 0)
		tlat_findings_add(findings, TLAT_INFO, "stolen-time", NULL,
				  "the hypervisor took %lld ms from the CPUs used",
				  (long long)(watch->steal_ns / 1000000));
	if (watch->throttled > 0)
		tlat_findings_add(findings, TLAT_WARN, "throttled", "raise the cgroup's cpu quota",
				  "the cgroup was throttled %lld times meanwhile",
				  (long long)watch->throttled);
	if (watch->hrtimer_hangs > 0)
		tlat_findings_add(findings, TLAT_WARN, "hrtimer-hang", NULL,
				  "the kernel's timer interrupt backed off %lld times meanwhile",
				  (long long)watch->hrtimer_hangs);
}
