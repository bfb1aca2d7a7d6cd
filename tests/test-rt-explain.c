// SPDX-License-Identifier: MIT
/* test-rt-explain.c - each cause of a refusal, replayed from files, is told from the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "child.h"
#include "tree.h"

#define CAPS_NONE    "Name:\tx\nCapEff:\t0000000000000000\n"
#define CAPS_ALL     "Name:\tx\nCapEff:\t000001ffffffffff\n"
#define NO_FILTER    "Seccomp:\t0\nCpus_allowed_list:\t0-3\n"
#define FILTER	     "Seccomp:\t2\nCpus_allowed_list:\t0-3\n"
#define FIRST_USERNS "         0          0 4294967295\n"
#define ROOTLESS     "         0       1000          1\n"
#define LIMITS(soft, hard)                                                                         \
	"Limit                     Soft Limit           Hard Limit           Units     \n"         \
	"Max realtime priority     " soft "                    " hard "                    \n"

struct diagnosis {
	const char *status, *uid_map, *limits, *cgroup;
	const char *knob, *knob_text;
	int policy, error;
	const char *cause, *says;
	bool intercepted;
};

static const struct diagnosis diagnoses[] = {
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  EPERM, "capability", "RLIMIT_RTPRIO is 0 and CAP_SYS_NICE is missing; run with sudo",
	  false },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("5", "90"), NULL, NULL, NULL, TLAT_SCHED_RR,
	  EPERM, "rlimit", "SCHED_RR 80 refused: RLIMIT_RTPRIO is 5 (hard limit 90)", false },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("0", "unlimited"), NULL, NULL, NULL,
	  TLAT_SCHED_FIFO, EPERM, "rlimit", "prlimit --rtprio=80:99", false },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("10", "10"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  EPERM, "rlimit", "at most 10", false },
	{ CAPS_ALL NO_FILTER, ROOTLESS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO, EPERM,
	  "capability", "in this user namespace only", false },
	{ CAPS_ALL FILTER, FIRST_USERNS, LIMITS("0", "0"), "1:cpu:/rt/a\n",
	  "sys/fs/cgroup/cpu/rt/a/cpu.rt_runtime_us", "0\n", TLAT_SCHED_FIFO, EPERM,
	  "cgroup-budget",
	  "cgroup /rt/a has no real-time budget (cpu.rt_runtime_us is 0), which "
	  "binds root too; echo 500000 > /sys/fs/cgroup/cpu/rt/a/cpu.rt_runtime_us",
	  false },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("99", "99"), "4:cpu,cpuacct:/s\n",
	  "sys/fs/cgroup/cpu,cpuacct/s/cpu.rt_runtime_us", "0\n", TLAT_SCHED_FIFO, EPERM,
	  "cgroup-budget", "/sys/fs/cgroup/cpu,cpuacct/s/cpu.rt_runtime_us", false },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), "2:cpuset:/\n1:cpu:/docker/f00\n",
	  "sys/fs/cgroup/cpu/cpu.rt_runtime_us", "0\n", TLAT_SCHED_FIFO, EPERM, "cgroup-budget",
	  "cgroup /docker/f00", false },
	{ CAPS_ALL FILTER, FIRST_USERNS, LIMITS("0", "0"), "1:cpu:/\n",
	  "sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n", TLAT_SCHED_FIFO, EPERM, "seccomp",
	  "the call gave EPERM and a system call filter", true },
	{ CAPS_NONE FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  ENOSYS, "seccomp", "ENOSYS", true },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  ENOSYS, "seccomp", "ENOSYS", false },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), "1:cpu:/\n",
	  "sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n", TLAT_SCHED_FIFO, EPERM, "unknown",
	  "security module", false },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  ESRCH, "unknown", "gave ESRCH", false },
	{ CAPS_NONE NO_FILTER, FIRST_USERNS, LIMITS("99", "99"), NULL, NULL, NULL,
	  TLAT_SCHED_DEADLINE, EPERM, "capability", "SCHED_DEADLINE refused: CAP_SYS_NICE", false },
	{ CAPS_ALL "Seccomp:\t0\nCpus_allowed_list:\t1,3\n", FIRST_USERNS, LIMITS("0", "0"), NULL,
	  "sys/devices/system/cpu/online", "0-3\n", TLAT_SCHED_DEADLINE, EPERM, "admission",
	  "on CPUs 1,3 only", false },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, "sys/devices/system/cpu/online",
	  "0-3\n", TLAT_SCHED_DEADLINE, EPERM, "unknown", "security module", false },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_DEADLINE,
	  EBUSY, "admission", "ask for less", false },
	{ "", "", "", "garbage\n::\n1:cpu\n", NULL, NULL, TLAT_SCHED_FIFO, EINVAL, "unknown",
	  "gave EINVAL", false },
	{ CAPS_ALL FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO, EPERM,
	  "unknown", "security module", false },
	{ CAPS_ALL NO_FILTER, FIRST_USERNS, LIMITS("0", "0"), NULL, NULL, NULL, TLAT_SCHED_FIFO,
	  EPERM, "seccomp", "the call gave EPERM, and not from the kernel", true },
};

static void put_diagnosis(const struct tree *tree, const struct diagnosis *d)
{
	put(tree, "proc/self/status", d->status);
	put(tree, "proc/self/uid_map", d->uid_map);
	put(tree, "proc/self/limits", d->limits);
	put(tree, "proc/self/cgroup", d->cgroup ? d->cgroup : "0::/\n");
	if (d->knob)
		put(tree, d->knob, d->knob_text);
}

static const char *explain(const struct tree *tree, int policy, int priority, int error,
			   bool intercepted, char *text, size_t size)
{
	const struct tlat_refusal refusal = { policy, priority, error, intercepted };

	return tlat_rt_explain(tree->fd, &refusal, text, size);
}

static void each_cause_of_a_refusal_is_told_from_the_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(diagnoses); i++) {
		const struct diagnosis *d = &diagnoses[i];
		int priority = d->policy == TLAT_SCHED_DEADLINE ? 0 : 80;
		char text[508];
		const char *cause;
		void *fresh;

		assert_int_equal(tree_setup(&fresh), 0);
		put_diagnosis(fresh, d);
		cause = explain(fresh, d->policy, priority, d->error, d->intercepted, text,
				sizeof(text));
		tree_teardown(&fresh);
		assert_string_equal(cause, d->cause);
		assert_says(text, d->says);
		assert_true(strlen(text) < sizeof(text) - 1);
		assert_null(strchr(text, '\n'));
	}
}

static void put_unified_group(const struct tree *tree, const char *status)
{
	put_diagnosis(tree, &(struct diagnosis){ .status = status,
						 .uid_map = FIRST_USERNS,
						 .limits = LIMITS("0", "0"),
						 .cgroup = "0::/a.slice\n" });
	put(tree, "sys/fs/cgroup/cgroup.controllers", "cpu cpuset\n");
	put(tree, "sys/fs/cgroup/a.slice/cgroup.type", "domain\n");
}

static void a_unified_group_is_suspected_last(void **state)
{
	const struct tree *tree = *state;
	char text[508];

	put_unified_group(tree, CAPS_ALL NO_FILTER);
	assert_string_equal(explain(tree, TLAT_SCHED_FIFO, 80, EPERM, false, text, sizeof(text)),
			    "unknown");
	put(tree, "sys/fs/cgroup/a.slice/cpu.max", "max 100000\n");
	assert_string_equal(explain(tree, TLAT_SCHED_FIFO, 80, EPERM, false, text, sizeof(text)),
			    "cgroup-budget");
	assert_says(text, "cgroup /a.slice has the v2 cpu controller");
}

/* As in every container of Docker. */
static void a_filter_is_blamed_for_what_it_answers_itself(void **state)
{
	const struct tree *tree = *state;
	char text[508];

	put_unified_group(tree, CAPS_ALL FILTER);
	put(tree, "sys/fs/cgroup/a.slice/cpu.max", "max 100000\n");
	assert_string_equal(explain(tree, TLAT_SCHED_FIFO, 80, EPERM, false, text, sizeof(text)),
			    "cgroup-budget");
	assert_says(text, "cgroup /a.slice has the v2 cpu controller");
	assert_string_equal(explain(tree, TLAT_SCHED_FIFO, 80, EPERM, true, text, sizeof(text)),
			    "seccomp");
	assert_says(text, "Seccomp: 2");
}

static void a_short_buffer_is_never_overrun(void **state)
{
	const struct tree *tree = *state;
	char text[64];

	for (size_t size = 1; size <= sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		explain(tree, TLAT_SCHED_FIFO, 80, EPERM, false, text, size);
		assert_true(strlen(text) < size);
		for (size_t i = size; i < sizeof(text); i++)
			assert_int_equal(text[i], 'x');
	}
}

#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cause_of_a_refusal_is_told_from_the_others),
		REPLAYED(a_unified_group_is_suspected_last),
		REPLAYED(a_filter_is_blamed_for_what_it_answers_itself),
		REPLAYED(a_short_buffer_is_never_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
