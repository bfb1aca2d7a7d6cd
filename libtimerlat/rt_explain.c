// SPDX-License-Identifier: MIT
/*
 * rt_explain.c - why a scheduling policy was refused. Knows that the kernel answers EPERM for a
 * missing capability, a low limit, a cgroup without real-time budget and an affinity too small for
 * a deadline alike, and in which files each of these can be told from the others.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "affinity.h"
#include "cgroup.h"
#include "rt_parts.h"

#define PRIORITY_MAX 99

struct question {
	int root_fd;
	int policy, priority, error;
	bool intercepted;
	const char *asked; /* "SCHED_FIFO 80" */
	char *text;
	size_t size;
};

/* What the process is allowed; -1 where it cannot be told. */
struct rights {
	int capable;	    /* CAP_SYS_NICE in effect */
	int first_userns;   /* where the kernel looks for it */
	int seccomp;	    /* 0 none, 1 strict, 2 filter */
	int64_t soft, hard; /* RLIMIT_RTPRIO */
};

const char *tlat_errno_name(int error)
{
	const char *name = NULL;

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 32)
	name = strerrorname_np(error);
#endif
#endif
	return name ? name : strerror(error);
}

static const char *answer(const struct question *q, const char *cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static const char *answer(const struct question *q, const char *cause, const char *format, ...)
{
	int n = snprintf(q->text, q->size, "%s refused: ", q->asked);
	va_list args;

	if (n < 0 || (size_t)n >= q->size)
		return cause;
	va_start(args, format);
	tlat_vformat(q->text + n, q->size - (size_t)n, format, args);
	va_end(args);
	return cause;
}

/* Of the calling thread where /proc tells (3.17), else of the process. */
static ssize_t read_status_text(int root_fd, char **ret_text)
{
	ssize_t n = tlat_root_read_all(root_fd, "proc/thread-self/status", ret_text);

	return n < 0 ? tlat_root_read_all(root_fd, "proc/self/status", ret_text) : n;
}

static void read_status(int root_fd, struct rights *rights)
{
	const char *value;
	char *text;

	if (read_status_text(root_fd, &text) < 0)
		return;
	value = tlat_text_value(text, "CapEff");
	if (value)
		rights->capable = strtoull(value, NULL, 16) >> CAP_SYS_NICE & 1;
	value = tlat_text_value(text, "Seccomp");
	if (value)
		rights->seccomp = atoi(value);
	free(text);
}

/* The first namespace maps all ids onto themselves. */
static void read_userns(int root_fd, struct rights *rights)
{
	unsigned long inside, outside, count;
	char text[128];

	if (tlat_root_read(root_fd, "proc/self/uid_map", text, sizeof(text)) < 0)
		return;
	rights->first_userns = sscanf(text, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
			       inside == 0 && outside == 0 && count >= UINT32_MAX;
}

/* No priority is above 99, so that no limit is not either. */
static int64_t limit_value(const char **text)
{
	char *end;
	int64_t value;

	*text += strspn(*text, " ");
	if (!strncmp(*text, "unlimited", 9)) {
		*text += 9;
		return PRIORITY_MAX;
	}
	value = strtoll(*text, &end, 10);
	if (end == *text)
		return -1;
	*text = end;
	return value;
}

static void read_limit(int root_fd, struct rights *rights)
{
	struct rlimit limit;
	const char *value;
	char *text;

	if (tlat_root_read_all(root_fd, "proc/self/limits", &text) >= 0) {
		value = tlat_text_value(text, "Max realtime priority");
		if (value) {
			rights->soft = limit_value(&value);
			rights->hard = limit_value(&value);
		}
		free(text);
	} else if (getrlimit(RLIMIT_RTPRIO, &limit) == 0) {
		rights->soft =
			limit.rlim_cur > PRIORITY_MAX ? PRIORITY_MAX : (int64_t)limit.rlim_cur;
		rights->hard =
			limit.rlim_max > PRIORITY_MAX ? PRIORITY_MAX : (int64_t)limit.rlim_max;
	}
}

static struct rights read_rights(int root_fd)
{
	struct rights rights = { -1, -1, -1, -1, -1 };

	read_status(root_fd, &rights);
	if (rights.capable < 0)
		rights.capable = tlat_rt_capable("cap_sys_nice");
	read_userns(root_fd, &rights);
	read_limit(root_fd, &rights);
	return rights;
}

static bool has_capability(const struct rights *rights)
{
	return rights->capable == 1 && rights->first_userns != 0;
}

/* How the capability is missing, for the middle of a sentence. */
static const char *lack_text(const struct rights *rights)
{
	return rights->capable == 1 ? "CAP_SYS_NICE counts in this user namespace only"
				    : "CAP_SYS_NICE is missing";
}

/* Neither capability nor limit allow the priority. */
static const char *explain_limit(const struct question *q, const struct rights *rights)
{
	long long soft = rights->soft, hard = rights->hard;
	const char *lack = lack_text(rights);

	if (soft < 0)
		return answer(
			q, "capability",
			"%s and RLIMIT_RTPRIO is not known; run with sudo, "
			"setcap cap_sys_nice+ep, or raise rtprio in /etc/security/limits.conf",
			lack);
	if (hard >= q->priority)
		return answer(
			q, "rlimit",
			"RLIMIT_RTPRIO is %lld (hard limit %lld) and %s; raise the "
			"soft limit before starting: ulimit -r %d, or prlimit --rtprio=%d:%lld",
			soft, hard, lack, q->priority, q->priority, hard);
	if (soft > 0)
		return answer(q, "rlimit",
			      "RLIMIT_RTPRIO is %lld and %s; ask for a priority of at most "
			      "%lld, run with sudo, setcap cap_sys_nice+ep, or raise rtprio in "
			      "/etc/security/limits.conf",
			      soft, lack, soft);
	if (rights->capable == 1)
		return answer(
			q, "capability",
			"RLIMIT_RTPRIO is 0 and %s (a rootless container?); run "
			"it as root of the host, or start the container with --ulimit rtprio=%d",
			lack, q->priority);
	return answer(q, "capability",
		      "RLIMIT_RTPRIO is 0 and %s; run with sudo, setcap "
		      "cap_sys_nice+ep, or raise rtprio in /etc/security/limits.conf",
		      lack);
}

/* NULL when the group has a budget, or the kernel none to give (no RT_GROUP_SCHED). */
static const char *explain_budget(const struct question *q)
{
	char knob[TLAT_CGROUP_FILE_BYTES];
	struct tlat_cgroup group;
	int64_t budget_us;

	if (tlat_cgroup_own(&group, q->root_fd, "cpu") < 0)
		return NULL;
	tlat_cgroup_file(&group, "cpu.rt_runtime_us", knob);
	if (tlat_root_read_int(q->root_fd, knob, &budget_us) < 0 || budget_us != 0)
		return NULL;
	return answer(q, "cgroup-budget",
		      "cgroup %.200s has no real-time budget (cpu.rt_runtime_us is 0), "
		      "which binds root too; echo 500000 > /%.220s, or leave the group: echo $$ > "
		      "/sys/fs/cgroup/cpu/cgroup.procs",
		      group.shown, knob);
}

static bool has_file(const struct tlat_cgroup *group, const char *name)
{
	char path[TLAT_CGROUP_FILE_BYTES], text[256];

	return tlat_root_read(group->root_fd, tlat_cgroup_file(group, name, path), text,
			      sizeof(text)) >= 0;
}

/*
 * A v2 group under RT_GROUP_SCHED has no budget and no knob either; nothing shows it but EPERM.
 * Only the root group has no cgroup.type, whatever path a container is shown.
 */
static const char *explain_unified(const struct question *q)
{
	struct tlat_cgroup group;

	if (tlat_cgroup_own(&group, q->root_fd, NULL) < 0 || !has_file(&group, "cgroup.type") ||
	    !has_file(&group, "cpu.max"))
		return NULL;
	return answer(
		q, "cgroup-budget",
		"cgroup %.200s has the v2 cpu controller, which on a kernel with "
		"RT_GROUP_SCHED leaves no real-time budget; boot with rt_group_sched=0, or leave "
		"the group: echo $$ > /sys/fs/cgroup/cgroup.procs",
		group.shown);
}

static const char *explain_seccomp(const struct question *q)
{
	return answer(q, "seccomp",
		      "the call gave %s and a system call filter is in force (Seccomp: 2 "
		      "in /proc/self/status); allow sched_setattr in the sandbox's profile, or run "
		      "with --security-opt seccomp=unconfined",
		      tlat_errno_name(q->error));
}

static const char *explain_unknown(const struct question *q, const struct rights *rights)
{
	if (q->error == EPERM && has_capability(rights))
		return answer(
			q, "unknown",
			"sched_setattr gave EPERM, although CAP_SYS_NICE is in "
			"effect and no cgroup or filter forbids it; a security module may, see "
			"dmesg");
	return answer(q, "unknown", "sched_setattr gave %s; see sched_setattr(2)",
		      tlat_errno_name(q->error));
}

static bool allowed_cpus(int root_fd, struct tlat_cpuset *set)
{
	bool known;
	char *text;

	if (read_status_text(root_fd, &text) < 0)
		return false;
	known = tlat_affinity_of_status(text, set) == 0;
	free(text);
	return known;
}

/* Whether the thread may use fewer CPUs than are online: no deadline can be guaranteed there. */
static bool is_pinned(int root_fd, struct tlat_cpuset *allowed)
{
	struct tlat_cpuset online, withheld;
	char list[1024];

	if (!allowed_cpus(root_fd, allowed) ||
	    tlat_root_read(root_fd, "sys/devices/system/cpu/online", list, sizeof(list)) < 0 ||
	    tlat_cpuset_parse(&online, list) < 0)
		return false;
	withheld = tlat_cpuset_minus(&online, allowed);
	return !tlat_cpuset_empty(&withheld);
}

static const char *explain_deadline(const struct question *q, const struct rights *rights)
{
	struct tlat_cpuset allowed;
	char list[128];

	if (q->error == EBUSY)
		return answer(q, "admission",
			      "runtime / period is more than the CPUs have left for "
			      "deadlines (see /proc/sys/kernel/sched_rt_runtime_us); ask for less");
	if (q->error == EINVAL)
		return answer(
			q, "admission",
			"the kernel takes 1024 ns <= runtime <= deadline <= "
			"period, and a period within /proc/sys/kernel/sched_deadline_period_*; "
			"change the three");
	if (q->error != EPERM)
		return NULL;
	if (!has_capability(rights))
		return answer(q, "capability",
			      "%s, and no limit replaces it for deadlines; run with "
			      "sudo, or setcap cap_sys_nice+ep",
			      lack_text(rights));
	if (!is_pinned(q->root_fd, &allowed))
		return NULL;
	tlat_cpuset_format(&allowed, list, sizeof(list));
	return answer(q, "admission",
		      "the thread may run on CPUs %s only, a deadline needs all of its "
		      "root domain; leave cpus unset, start without taskset, or make a cpuset "
		      "partition",
		      list);
}

static const char *explain_ranked(const struct question *q, const struct rights *rights)
{
	if (q->error != EPERM)
		return NULL;
	if (!has_capability(rights) && rights->soft < q->priority)
		return explain_limit(q, rights);
	return explain_budget(q);
}

/* OTHER and BATCH ask for no privilege, but leaving SCHED_IDLE does. */
static const char *explain_fair(const struct question *q, const struct rights *rights)
{
	struct tlat_sched now;

	if (q->error != EPERM || has_capability(rights) || tlat_sched_get(&now) < 0 ||
	    tlat_sched_policy(&now) != TLAT_SCHED_IDLE)
		return NULL;
	return answer(q, "rlimit",
		      "the thread is under SCHED_IDLE and %s; leaving it takes "
		      "RLIMIT_NICE of at least %d: start without chrt -i, or raise nice in "
		      "/etc/security/limits.conf",
		      lack_text(rights), 20 - now.nice);
}

/* ENOSYS for a call that every kernel has is none of the kernel's answers either. */
static const char *explain_sandbox(const struct question *q, const struct rights *rights)
{
	if (q->intercepted && rights->seccomp == 2)
		return explain_seccomp(q);
	if (q->intercepted || q->error == ENOSYS)
		return answer(
			q, "seccomp",
			"the call gave %s, and not from the kernel: a sandbox or tracer "
			"stands before it; run outside, or allow sched_setattr in its profile",
			tlat_errno_name(q->error));
	return q->error == EPERM && q->policy != TLAT_SCHED_DEADLINE ? explain_unified(q) : NULL;
}

const char *tlat_rt_explain(int root_fd, const struct tlat_refusal *refusal, char *text,
			    size_t size)
{
	struct rights rights = read_rights(root_fd);
	const char *cause;
	char asked[40];
	struct question q = { root_fd,
			      refusal->policy,
			      refusal->priority,
			      refusal->error,
			      refusal->intercepted,
			      tlat_sched_text(asked, sizeof(asked), refusal->policy,
					      refusal->priority),
			      text,
			      size };

	if (q.policy == TLAT_SCHED_DEADLINE)
		cause = explain_deadline(&q, &rights);
	else if (tlat_policy_is_ranked(q.policy))
		cause = explain_ranked(&q, &rights);
	else
		cause = explain_fair(&q, &rights);
	if (!cause)
		cause = explain_sandbox(&q, &rights);
	return cause ? cause : explain_unknown(&q, &rights);
}
