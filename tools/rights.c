// SPDX-License-Identifier: MIT
/* rights.c - capabilities and the real-time limit of the command. */
#include <signal.h>
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

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* there is nobody left to tell */
}

static void on_limit(int signal)
{
	(void)signal;
	say(name);
	say(": a real-time thread ran to RLIMIT_RTTIME without a rest: what it waits for is kept "
	    "from running; use a higher -p, or other CPUs\n");
	_exit(exit_code);
}

void tlat_rights_limit_rt(int64_t spin_ns, const char *program, int code)
{
	struct sigaction action = { .sa_handler = on_limit }, old;
	const rlim_t floor_us = 2000000;
	struct rlimit limit;
	rlim_t us = (rlim_t)(spin_ns / 100); /* ten times that */

	if (getrlimit(RLIMIT_RTTIME, &limit) < 0)
		return;
	us = us > floor_us ? us : floor_us;
	/* Stricter limits of the user's stay. */
	limit.rlim_cur = us < limit.rlim_cur ? us : limit.rlim_cur;
	setrlimit(RLIMIT_RTTIME, &limit);
	name = program;
	exit_code = code;
	if (sigaction(SIGXCPU, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGXCPU, &action, NULL);
}
