// SPDX-License-Identifier: MIT
/*
 * check.c - an audit without a measurement: what the machine is like, what this
 * process may do, and what to type where something is missing.
 */
#include <string.h>
#include <sys/resource.h>

#include "rt.h"
#include "run_control.h"

#define ASKED_PRIORITY 40
#define LOCKED_BYTES   (1024 * 1024)

static void check_policy(struct tlat_findings *findings)
{
	struct tlat_rt_opts opts =
		TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = ASKED_PRIORITY);
	struct tlat_error why = { 0 };

	if (tlat_rt_try(&opts, &why) < 0)
		tlat_findings_add(findings, TLAT_WARN, "policy-refused", NULL, "%s", why.text);
}

static void check_idle_latency(const struct tlat_machine *machine, struct tlat_findings *findings)
{
	struct tlat_error why;
	int fd = tlat_rt_hold_idle(tlat_machine_root_fd(machine), 0, &why);

	tlat_rt_release_idle(fd);
	if (fd < 0)
		tlat_findings_add(findings, TLAT_WARN, "cpu-latency-refused", NULL, "%s", why.text);
}

static void check_memory_lock(struct tlat_findings *findings)
{
	struct rlimit limit;

	if (tlat_rt_capable("cap_ipc_lock") || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur >= LOCKED_BYTES)
		return;
	tlat_findings_add(findings, TLAT_INFO, "memory-not-locked",
			  "ulimit -l unlimited, or grant CAP_IPC_LOCK",
			  "RLIMIT_MEMLOCK is %llu bytes and CAP_IPC_LOCK is missing: measuring "
			  "buffers of about 1 MiB per thread cannot be locked",
			  (unsigned long long)limit.rlim_cur);
}

int tlat_check(struct tlat_report **ret_report, const struct tlat_machine *machine,
	       struct tlat_clock *clock, struct tlat_error *reterr)
{
	struct tlat_findings *findings;
	int error = tlat_report_new(ret_report, machine, clock, 0);

	if (error)
		return tlat_fail(reterr, error, "no report: %s", strerror(-error));
	findings = tlat_report_findings(*ret_report);
	check_policy(findings);
	check_idle_latency(machine, findings);
	check_memory_lock(findings);
	tlat_machine_audit(machine, NULL, findings);
	return 0;
}
