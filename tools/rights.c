// SPDX-License-Identifier: MIT
/* rights.c - capabilities and the real-time limit of the command. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <timerlat.h>

#include "rights.h"

/* To write to a file of the user's, which stays that user's when it is replaced. */
#define FOR_FILES "cap_dac_override,cap_chown,cap_fowner"

/*
 * A capability that cannot be dropped is not a reason to refuse a measurement: the process then
 * keeps what the user gave it.
 */
void tlat_rights_for_probes(bool writes)
{
	struct tlat_error error;

	tlat_rights_raise_priority();
	tlat_rt_drop_caps(writes ? "cap_sys_nice,cap_ipc_lock," FOR_FILES
				 : "cap_sys_nice,cap_ipc_lock",
			  &error);
}

void tlat_rights_for_writing(bool writes_file)
{
	struct tlat_error error;

	tlat_rt_drop_caps(writes_file ? FOR_FILES : "", &error);
}

void tlat_rights_raise_priority(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTPRIO, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_RTPRIO, &limit);
}

static const char *name;
static int exit_code;
static pid_t owner; /* of the run: helper processes have the handler too */
static rlim_t rt_us, cpu_s;
static volatile sig_atomic_t cpu_used_up;

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* there is nobody left to tell */
}

/* One signal stands for both limits, and the kernel raises the one that was reached by a second. */
static bool is_rt_limit(void)
{
	struct rlimit now;

	return cpu_s == RLIM_INFINITY ||
	       (getrlimit(RLIMIT_RTTIME, &now) == 0 && now.rlim_cur != rt_us);
}

static void on_limit(int signal)
{
	int error = errno;

	(void)signal;
	if (is_rt_limit()) {
		say(name);
		say(": a real-time thread ran to RLIMIT_RTTIME without a rest: what it waits for "
		    "is kept from running; use a higher -p, or other CPUs\n");
		_exit(exit_code);
	}
	/* A thread that measures may be the one that is held up here: what is to be said can wait.
	 * The signal comes every second, and a second request would end the program at once. */
	if (!cpu_used_up)
		kill(owner, SIGTERM);
	cpu_used_up = 1;
	errno = error;
}

/* Where both are the same, as after ulimit -t, the kernel kills without a word. */
static void part_cpu_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CPU, &limit) < 0)
		return;
	cpu_s = limit.rlim_cur;
	if (limit.rlim_cur != limit.rlim_max || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur < 2)
		return;
	limit.rlim_cur--;
	setrlimit(RLIMIT_CPU, &limit);
}

void tlat_rights_heed_limits(const char *program, int code)
{
	struct sigaction action = { .sa_handler = on_limit, .sa_flags = SA_RESTART }, old;
	struct rlimit limit;

	if (sigaction(SIGXCPU, NULL, &old) < 0 || old.sa_handler != SIG_DFL)
		return;
	name = program;
	exit_code = code;
	owner = getpid();
	rt_us = getrlimit(RLIMIT_RTTIME, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
	part_cpu_limits();
	sigaction(SIGXCPU, &action, NULL);
}

void tlat_rights_limit_rt(int64_t spin_ns, const char *program, int code)
{
	const rlim_t floor_us = 2000000;
	struct rlimit limit;
	rlim_t us = (rlim_t)(spin_ns / 100); /* ten times that */

	if (getrlimit(RLIMIT_RTTIME, &limit) < 0)
		return;
	us = us > floor_us ? us : floor_us;
	/* Stricter limits of the user's stay. */
	limit.rlim_cur = us < limit.rlim_cur ? us : limit.rlim_cur;
	setrlimit(RLIMIT_RTTIME, &limit);
	tlat_rights_heed_limits(program, code);
}

void tlat_rights_tell_limit(void)
{
	if (cpu_used_up)
		fprintf(stderr,
			"%s: ended early: RLIMIT_CPU is %llu s of CPU time, which are used up; "
			"raise it: ulimit -t unlimited, or LimitCPU=infinity of the service\n",
			name, (unsigned long long)cpu_s);
}
