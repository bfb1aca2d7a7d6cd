// SPDX-License-Identifier: MIT
/*
 * rt.c - real-time attributes of the calling thread: applied in an order in which no step spoils
 * an earlier one, read back, undone in reverse. Knows that since Linux 6.12 a real-time policy
 * zeroes the timer slack and that leaving it brings the default back, not the earlier value.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "rt_parts.h"

TLAT_ASSERT_LAYOUT(struct tlat_rt_opts, 7 * 8 + 4 * 4);
TLAT_ASSERT_LAYOUT(struct tlat_rt_state, 5 * 8 + 4 * 4);

enum { DID_AFFINITY = 1, DID_SLACK = 2, DID_LOCK = 4, DID_POLICY = 8 };

struct tlat_rt {
	struct tlat_cpuset cpus;
	struct tlat_sched sched;
	int64_t slack_ns;
	unsigned int did;
	int idle_fd;
	pid_t tid;
};

static int check_deadline(const struct tlat_rt_opts *o, struct tlat_error *reterr)
{
	int64_t deadline_ns = o->deadline_ns ? o->deadline_ns : o->period_ns;

	if (o->policy != TLAT_SCHED_DEADLINE) {
		if (!o->runtime_ns && !o->deadline_ns && !o->period_ns)
			return 0;
		return tlat_fail(reterr, -EINVAL,
				 "runtime_ns, deadline_ns and period_ns are for "
				 "SCHED_DEADLINE, the policy asked for is %s; leave them 0",
				 tlat_policy_kernel_name(o->policy));
	}
	if (o->runtime_ns > 0 && o->runtime_ns <= deadline_ns && deadline_ns <= o->period_ns)
		return 0;
	return tlat_fail(reterr, -EINVAL,
			 "SCHED_DEADLINE with runtime %lld ns, deadline %lld ns, "
			 "period %lld ns: it takes 0 < runtime <= deadline <= period",
			 (long long)o->runtime_ns, (long long)deadline_ns, (long long)o->period_ns);
}

static int check_policy(const struct tlat_rt_opts *o, struct tlat_error *reterr)
{
	bool ranked = tlat_policy_is_ranked(o->policy);

	if (o->policy < 0 || o->policy > TLAT_SCHED_IDLE)
		return tlat_fail(reterr, -EINVAL,
				 "policy %d (%s) cannot be asked for; use other, "
				 "fifo, rr, batch, idle or deadline",
				 o->policy, tlat_policy_kernel_name(o->policy));
	if (ranked && (o->priority < 1 || o->priority > 99))
		return tlat_fail(reterr, -EINVAL, "priority is %d; %s takes 1 to 99", o->priority,
				 tlat_policy_kernel_name(o->policy));
	if (!ranked && o->priority)
		return tlat_fail(reterr, -EINVAL,
				 "priority is %d, but %s has none; ask for fifo or "
				 "rr, or leave it 0",
				 o->priority, tlat_policy_kernel_name(o->policy));
	return check_deadline(o, reterr);
}

int tlat_rt_opts_check(const struct tlat_rt_opts *opts, struct tlat_error *reterr)
{
	if (opts->slack_ns < 0)
		return tlat_fail(reterr, -EINVAL, "slack_ns is %lld; the least timer slack is 1 ns",
				 (long long)opts->slack_ns);
	if (opts->cpu_latency_ns < TLAT_ZERO)
		return tlat_fail(reterr, -EINVAL,
				 "cpu_latency_ns is %lld; use TLAT_ZERO to hold "
				 "/dev/cpu_dma_latency at 0",
				 (long long)opts->cpu_latency_ns);
	if (opts->reserved)
		return tlat_fail(reterr, -EINVAL,
				 "the reserved field of the real-time options is %d; set it to 0",
				 opts->reserved);
	return check_policy(opts, reterr);
}

static int status_cpus(struct tlat_cpuset *set)
{
	char *text;
	int r;

	if (tlat_root_read_all(AT_FDCWD, "/proc/thread-self/status", &text) < 0)
		return -ENOENT;
	r = tlat_affinity_of_status(text, set);
	free(text);
	return r;
}

/*
 * The mask to restore. The kernel's call hides CPUs that are offline; a thread would come back
 * without them once they are online again, so /proc's unfiltered mask is preferred.
 */
static int affinity_save(struct tlat_cpuset *set)
{
	struct tlat_cpuset shown, hidden;
	int r = tlat_affinity_get(0, set);

	if (r < 0 || status_cpus(&shown) < 0)
		return r;
	hidden = tlat_cpuset_minus(set, &shown);
	if (tlat_cpuset_empty(&hidden))
		*set = shown;
	return 0;
}

static int fail_affinity(const char *cpus, int code, struct tlat_error *reterr)
{
	if (code == -EINVAL)
		return tlat_fail(reterr, code,
				 "affinity \"%s\" refused: none of these CPUs is both "
				 "online and in the cpuset of this process; see "
				 "/sys/devices/system/cpu/online and /proc/self/cpuset",
				 cpus);
	if (code == -EBUSY)
		return tlat_fail(reterr, code,
				 "affinity \"%s\" refused: a SCHED_DEADLINE thread must "
				 "keep all CPUs of its root domain; leave cpus unset",
				 cpus);
	return tlat_fail(reterr, code, "affinity \"%s\" refused: sched_setaffinity gave %s", cpus,
			 tlat_errno_name(-code));
}

static int check_affinity(const char *cpus, const struct tlat_cpuset *want,
			  struct tlat_error *reterr)
{
	struct tlat_cpuset now, lost, extra;
	char list[96];
	int r = tlat_affinity_get(0, &now);

	if (r < 0)
		return tlat_fail(reterr, r,
				 "affinity cannot be read back: sched_getaffinity gave %s",
				 tlat_errno_name(-r));
	lost = tlat_cpuset_minus(want, &now);
	extra = tlat_cpuset_minus(&now, want);
	if (!tlat_cpuset_empty(&extra)) {
		tlat_cpuset_format(&now, list, sizeof(list));
		return tlat_fail(reterr, -EPROTO,
				 "sched_setaffinity reported success for \"%s\" but "
				 "CPUs %s are in force " TLAT_RT_LIAR,
				 cpus, list);
	}
	if (tlat_cpuset_empty(&lost))
		return 0;
	tlat_cpuset_format(&lost, list, sizeof(list));
	return tlat_fail(reterr, -EINVAL,
			 "affinity \"%s\": CPU %s is offline or outside the cpuset of "
			 "this process; leave it out",
			 cpus, list);
}

static int apply_affinity(struct tlat_rt *rt, const char *cpus, struct tlat_error *reterr)
{
	struct tlat_cpuset want;
	int r;

	if (!cpus)
		return 0;
	if (tlat_cpuset_parse(&want, cpus) < 0 || tlat_cpuset_empty(&want))
		return tlat_fail(reterr, -EINVAL,
				 "\"%s\" is no list of CPU numbers; write it like 0-3,8", cpus);
	r = tlat_affinity_set(0, &want);
	if (r < 0)
		return fail_affinity(cpus, r, reterr);
	rt->did |= DID_AFFINITY;
	return check_affinity(cpus, &want, reterr);
}

/* By the raw call, because prctl(3) cuts the value to an int. */
static int64_t slack_get(void)
{
	return syscall(SYS_prctl, PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
}

static int slack_set(int64_t slack_ns)
{
	return syscall(SYS_prctl, PR_SET_TIMERSLACK, (long)slack_ns, 0L, 0L, 0L) < 0 ? -errno : 0;
}

static int apply_slack(struct tlat_rt *rt, int64_t slack_ns, struct tlat_error *reterr)
{
	int r;

	if (!slack_ns)
		return 0;
	rt->did |= DID_SLACK;
	r = slack_set(slack_ns);
	if (r < 0)
		return tlat_fail(reterr, r,
				 "timer slack %lld ns refused: PR_SET_TIMERSLACK gave %s; "
				 "leave the slack as it is",
				 (long long)slack_ns, tlat_errno_name(-r));
	return 0;
}

/* After the policy: a thread that just left a real-time one has the default slack again. */
static int settle_slack(const struct tlat_rt *rt, int64_t slack_ns, struct tlat_error *reterr)
{
	struct tlat_sched now;
	int64_t got = slack_get();
	bool fair = tlat_sched_get(&now) < 0 || tlat_sched_is_fair(&now);

	if (!(rt->did & DID_SLACK) || got == slack_ns || (!fair && got == 0))
		return 0;
	if (fair && slack_set(slack_ns) == 0)
		got = slack_get();
	if (got == slack_ns)
		return 0;
	return tlat_fail(reterr, -EPROTO,
			 "PR_SET_TIMERSLACK reported success for %lld ns but %lld ns "
			 "are in force " TLAT_RT_LIAR,
			 (long long)slack_ns, (long long)got);
}

static int apply_idle(struct tlat_rt *rt, int root_fd, int64_t latency_ns,
		      struct tlat_error *reterr)
{
	int fd;

	if (!latency_ns)
		return 0;
	fd = tlat_rt_hold_idle(root_fd, latency_ns, reterr);
	if (fd < 0)
		return fd;
	rt->idle_fd = fd;
	return 0;
}

static int apply_lock(struct tlat_rt *rt, bool lock_all, struct tlat_error *reterr)
{
	int r = lock_all ? tlat_rt_lock_memory(reterr) : 0;

	if (lock_all && r == 0)
		rt->did |= DID_LOCK;
	return r;
}

static int fail_policy(int root_fd, const struct tlat_rt_opts *o, const struct tlat_sched *want,
		       int code, struct tlat_error *reterr)
{
	struct tlat_refusal refusal = { o->policy, o->priority, -code,
					tlat_sched_intercepted(want) };
	char text[sizeof(reterr->text)];

	tlat_rt_explain(root_fd, &refusal, text, sizeof(text));
	return tlat_fail(reterr, code, "%s", text);
}

static int check_policy_in_force(const struct tlat_sched *want, struct tlat_error *reterr)
{
	char asked[40], got[40];
	struct tlat_sched now;
	int r = tlat_sched_get(&now);

	if (r < 0)
		return tlat_fail(reterr, r, "the policy cannot be read back: sched_getattr gave %s",
				 tlat_errno_name(-r));
	if (tlat_sched_in_force(want, &now))
		return 0;
	tlat_sched_text(asked, sizeof(asked), tlat_sched_policy(want), (int)want->priority);
	tlat_sched_text(got, sizeof(got), tlat_sched_policy(&now), (int)now.priority);
	return tlat_fail(reterr, -EPROTO,
			 "sched_setattr reported success but %s is in force instead "
			 "of %s " TLAT_RT_LIAR,
			 got, asked);
}

static int apply_policy(struct tlat_rt *rt, int root_fd, const struct tlat_rt_opts *o,
			struct tlat_error *reterr)
{
	struct tlat_sched want;
	int r;

	if (o->policy == TLAT_SCHED_INHERIT)
		return 0;
	want = tlat_sched_wanted(o, &rt->sched);
	if (tlat_sched_in_force(&want, &rt->sched))
		return 0;
	r = tlat_sched_set(&want);
	if (r < 0)
		return fail_policy(root_fd, o, &want, r, reterr);
	rt->did |= DID_POLICY;
	return check_policy_in_force(&want, reterr);
}

/* The policy comes last, so that nothing but the caller's own work runs under it. */
static int apply(struct tlat_rt *rt, int root_fd, const struct tlat_rt_opts *o,
		 struct tlat_error *reterr)
{
	int r = apply_affinity(rt, o->cpus, reterr);

	if (r == 0)
		r = apply_slack(rt, o->slack_ns, reterr);
	if (r == 0)
		r = apply_idle(rt, root_fd, o->cpu_latency_ns, reterr);
	if (r == 0)
		r = apply_lock(rt, o->lock_all, reterr);
	if (r == 0)
		r = apply_policy(rt, root_fd, o, reterr);
	return r < 0 ? r : settle_slack(rt, o->slack_ns, reterr);
}

static int save(struct tlat_rt *rt, struct tlat_error *reterr)
{
	int r = tlat_sched_get(&rt->sched);

	if (r == 0)
		r = affinity_save(&rt->cpus);
	if (r < 0)
		return tlat_fail(reterr, r, "the thread's policy and affinity cannot be read: %s",
				 tlat_errno_name(-r));
	rt->slack_ns = slack_get();
	rt->idle_fd = -1;
	rt->tid = (pid_t)syscall(SYS_gettid);
	return 0;
}

int tlat_rt_apply_at(struct tlat_rt **ret_rt, int root_fd, const struct tlat_rt_opts *opts,
		     struct tlat_error *reterr)
{
	struct tlat_rt_opts o;
	struct tlat_rt *rt;
	int r = tlat_opts_copy(&o, sizeof(o), opts, reterr);

	if (r == 0)
		r = tlat_rt_opts_check(&o, reterr);
	if (r < 0)
		return r;
	rt = calloc(1, sizeof(*rt));
	if (!rt)
		return tlat_fail(reterr, -ENOMEM, "real-time attributes: out of memory");
	r = save(rt, reterr);
	if (r < 0) {
		free(rt);
		return r;
	}
	r = apply(rt, root_fd, &o, reterr);
	if (r < 0)
		tlat_rt_undo(rt);
	else
		*ret_rt = rt;
	return r;
}

int tlat_rt_apply(struct tlat_rt **ret_rt, const struct tlat_rt_opts *opts,
		  struct tlat_error *reterr)
{
	int root_fd = tlat_root_open(NULL), r;

	if (root_fd < 0)
		return tlat_fail(reterr, root_fd, "/ cannot be opened: %s",
				 tlat_errno_name(-root_fd));
	r = tlat_rt_apply_at(ret_rt, root_fd, opts, reterr);
	close(root_fd);
	return r;
}

void tlat_rt_undo(struct tlat_rt *rt)
{
	if (!rt)
		return;
	assert(rt->tid == (pid_t)syscall(SYS_gettid));
	if (rt->did & DID_POLICY)
		tlat_sched_restore(&rt->sched);
	if (rt->did & DID_LOCK)
		tlat_rt_unlock_memory();
	tlat_rt_release_idle(rt->idle_fd);
	/* 0 is what a real-time thread has, by its policy alone, and what the threads that it
	 * creates begin with: to them it is the default, which this brings back. */
	if (rt->did & (DID_SLACK | DID_POLICY) && rt->slack_ns >= 0)
		slack_set(rt->slack_ns);
	if (rt->did & DID_AFFINITY)
		tlat_affinity_set(0, &rt->cpus);
	free(rt);
}

int tlat_rt_state(struct tlat_rt_state *state)
{
	struct tlat_rt_state now = { .slack_ns = slack_get(), .cpu = sched_getcpu() };
	struct tlat_sched sched;
	int r = tlat_sched_get(&sched);

	if (r < 0)
		return r;
	now.policy = tlat_sched_policy(&sched);
	now.priority = (int32_t)sched.priority;
	if (now.policy == TLAT_SCHED_DEADLINE) {
		now.runtime_ns = (int64_t)sched.runtime_ns;
		now.deadline_ns = (int64_t)sched.deadline_ns;
		now.period_ns = (int64_t)sched.period_ns;
	}
	return tlat_facts_copy(state, &now, sizeof(now));
}

int tlat_rt_inherit(struct tlat_rt_opts *opts)
{
	struct tlat_sched now;
	int64_t slack_ns = slack_get();
	int r = tlat_sched_get(&now);

	if (r < 0)
		return r;
	opts->slack_ns = slack_ns > 0 ? slack_ns : 0;
	opts->policy = tlat_sched_policy(&now);
	opts->priority = (int32_t)now.priority;
	if (opts->policy == TLAT_SCHED_DEADLINE) {
		opts->runtime_ns = (int64_t)now.runtime_ns;
		opts->deadline_ns = (int64_t)now.deadline_ns;
		opts->period_ns = (int64_t)now.period_ns;
	} else if (opts->policy > TLAT_SCHED_DEADLINE) {
		opts->policy = TLAT_SCHED_INHERIT;
	}
	return 0;
}

void tlat_find_cpu_lost(struct tlat_findings *findings, int32_t cpu, int error)
{
	tlat_findings_add(findings, TLAT_ERROR, "cpu-lost",
			  "bring the CPU back, or measure on another",
			  "CPU %d was taken from its measuring thread in mid-run%s; "
			  "sched_setaffinity gave %s",
			  cpu, error == -EINVAL ? ": it went offline, or left the cpuset" : "",
			  tlat_errno_name(-error));
}
