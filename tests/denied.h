/* SPDX-License-Identifier: MIT */
/* denied.h - what a probe says of itself where a sandbox denies it one call. */
#ifndef TLAT_TESTS_DENIED_H
#define TLAT_TESTS_DENIED_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timerlat.h"

#define NO_FILTER 255 /* here */

static inline void deny_call(uint32_t call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(*code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) ||
	    prctl(PR_SET_SECCOMP, (long)SECCOMP_MODE_FILTER, &program, 0L, 0L))
		_exit(NO_FILTER);
}

/* What fn() gives in a child whose call gives EPERM, as 0 or the errno; or NO_FILTER. */
static inline int under_denial(int (*fn)(const char *probe), const char *probe, uint32_t call)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		deny_call(call);
		_exit(-fn(probe));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static inline int check(const char *probe)
{
	return tlat_probe_check(probe, NULL);
}

static inline int check_denied(const char *probe, uint32_t call)
{
	return under_denial(check, probe, call);
}

#endif /* TLAT_TESTS_DENIED_H */
