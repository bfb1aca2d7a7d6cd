// SPDX-License-Identifier: MIT
/*
 * helper.c - helper processes by clone3(2) or clone(2) with exit signal 0 and a pidfd: a host
 * program's SIGCHLD handler and its waits never learn of them.
 */
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "affinity.h"
#include "helper.h"
#include "newer.h"
#include "result.h"
#include "rt_parts.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

_Noreturn static void live(pid_t parent, tlat_helper_fn *fn, void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent) /* else it died before we asked */
		fn(arg);
	_exit(0);
}

/* What filters of system calls say to one that they do not know, or do not want to know. */
static bool filtered(int error)
{
	return error == ENOSYS || error == EPERM;
}

/*
 * Containers' filters refuse clone3, whose flags they cannot see, and look at those of clone, whose
 * lowest byte is the exit signal. What comes behind the pidfd is in another order on some
 * architectures, and 0.
 */
static long clone_old(int *pidfd)
{
	const unsigned long flags = CLONE_PIDFD, none = 0;

#ifdef __s390__
	return syscall(SYS_clone, none, flags, pidfd, none, none);
#else
	return syscall(SYS_clone, flags, none, pidfd, none, none);
#endif
}

/* As fork(2), with exit signal 0; *ret_call is what was called last. */
static long clone_self(int *pidfd, const char **ret_call)
{
	struct tlat_clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	*ret_call = "clone3";
	if (pid >= 0 || !filtered(errno))
		return pid;
	*ret_call = "clone";
	return clone_old(pidfd);
}

/* Before Linux 5.2 clone() does not know the flag, and does all the rest. */
static int refuse_without_pidfd(pid_t pid, struct tlat_error *reterr)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return tlat_fail(reterr, -ENOSYS,
			 "helper process not created: clone gives no pidfd; Linux 5.2 is needed");
}

int tlat_helper_start(struct tlat_helper *helper, tlat_helper_fn *fn, void *arg,
		      struct tlat_error *reterr)
{
	pid_t parent = getpid();
	int pidfd = -1, error;
	sigset_t all, before;
	const char *call;
	long pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone_self(&pidfd, &call);
	error = errno;
	if (pid == 0)
		live(parent, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return tlat_fail(reterr, -error,
				 "helper process not created: %s: %s; check RLIMIT_NPROC, the "
				 "cgroup's pids.max and seccomp",
				 call, strerror(error));
	if (pidfd < 0)
		return refuse_without_pidfd((pid_t)pid, reterr);
	*helper = (struct tlat_helper){ .pid = (pid_t)pid, .pidfd = pidfd };
	return 0;
}

bool tlat_helper_ended(const struct tlat_helper *helper, int timeout_ms)
{
	struct pollfd fd = { .fd = helper->pidfd, .events = POLLIN };

	return poll(&fd, 1, timeout_ms) > 0;
}

int32_t tlat_helper_first_ended(const struct tlat_helper *helpers, int32_t n, int timeout_ms)
{
	for (int32_t i = 0; i < n; i++) {
		if (helpers[i].pidfd < 0)
			continue;
		if (tlat_helper_ended(&helpers[i], timeout_ms))
			return i;
		timeout_ms = 0;
	}
	return -1;
}

/* Where a filter does not let the pidfd be used: the id is the helper's until it is reaped. */
void tlat_helper_kill(const struct tlat_helper *helper)
{
	if (helper->pidfd >= 0 && syscall(SYS_pidfd_send_signal, helper->pidfd, SIGKILL, NULL, 0) &&
	    filtered(errno))
		kill(helper->pid, SIGKILL);
}

static int await_end(idtype_t type, id_t id, siginfo_t *info)
{
	int got;

	do
		got = waitid(type, id, info, WEXITED | __WALL);
	while (got < 0 && errno == EINTR);
	return got;
}

int tlat_helper_reap(struct tlat_helper *helper)
{
	siginfo_t info = { 0 };
	int got;

	if (helper->pidfd < 0)
		return 0;
	got = await_end(P_PIDFD, (id_t)helper->pidfd, &info);
	if (got < 0) /* Linux 5.2 and 5.3 have pidfds, and no wait for them */
		got = await_end(P_PID, (id_t)helper->pid, &info);
	close(helper->pidfd);
	*helper = TLAT_HELPER_NONE;
	if (got < 0)
		return -SIGKILL;
	return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
}

int tlat_become(int32_t cpu, int32_t policy, int32_t priority, struct tlat_side_facts *ret_facts,
		const char **ret_what)
{
	struct tlat_rt_opts opts = TLAT_RT_OPTS(.policy = policy, .priority = priority);
	struct tlat_sched now, want;
	int error;

	*ret_what = "sched_setaffinity";
	error = tlat_affinity_pin(0, cpu);
	if (error)
		return error;
	*ret_what = "sched_setattr";
	error = tlat_sched_get(&now);
	if (!error && policy != TLAT_SCHED_INHERIT) {
		want = tlat_sched_wanted(&opts, &now);
		error = tlat_sched_set(&want);
	}
	if (!error)
		error = tlat_sched_get(&now);
	if (error)
		return error;
	*ret_facts = (struct tlat_side_facts){
		.cpu = cpu,
		.policy = tlat_sched_policy(&now),
		.priority = (int32_t)now.priority,
		.tid = (int32_t)syscall(SYS_gettid),
		.slack_ns = prctl(PR_GET_TIMERSLACK),
	};
	return 0;
}

void *tlat_shared_new(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

void tlat_shared_free(void *mem, size_t bytes)
{
	if (mem)
		munmap(mem, bytes);
}

void *tlat_shared_carve(char **at, size_t bytes)
{
	void *here = *at;

	*at += (bytes + TLAT_CACHE_LINE - 1) / TLAT_CACHE_LINE * TLAT_CACHE_LINE;
	return here;
}

void tlat_shared_touch(void *mem, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	madvise(mem, bytes, MADV_POPULATE_WRITE);
#else
	(void)mem;
	(void)bytes;
#endif
}
