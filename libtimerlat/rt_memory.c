// SPDX-License-Identifier: MIT
/*
 * rt_memory.c - locking the memory of the process. Knows that the lock belongs to the process and
 * not to a thread: the last of several holders unlocks, and not at all if the program had locked
 * memory of its own before. A forked child begins without locks, and without the holders.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "rt_parts.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned int holders;
static bool foreign;

static void forget(void)
{
	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* another thread may have had it */
	holders = 0;
}

static void look_out_for_forks(void)
{
	pthread_atfork(NULL, NULL, forget);
}

/* A line of /proc/self/status in kB, or -1. */
static int64_t status_kb(const char *key)
{
	const char *value;
	char *text;
	int64_t kb = -1;

	if (tlat_root_read_all(AT_FDCWD, "/proc/self/status", &text) < 0)
		return -1;
	value = tlat_text_value(text, key);
	if (value)
		kb = strtoll(value, NULL, 10);
	free(text);
	return kb;
}

static void limit_text(rlim_t limit, char *text, size_t size)
{
	if (limit == RLIM_INFINITY)
		snprintf(text, size, "unlimited");
	else
		snprintf(text, size, "%llu bytes", (unsigned long long)limit);
}

static int fail_lock(int code, struct tlat_error *reterr)
{
	struct rlimit limit = { 0, 0 };
	char soft[32], hard[32];

	getrlimit(RLIMIT_MEMLOCK, &limit);
	limit_text(limit.rlim_cur, soft, sizeof(soft));
	limit_text(limit.rlim_max, hard, sizeof(hard));
	return tlat_fail(reterr, code,
			 "mlockall refused with %s: RLIMIT_MEMLOCK is %s (hard limit %s), "
			 "the process maps %lld bytes, CAP_IPC_LOCK is %s; run with sudo, setcap "
			 "cap_ipc_lock+ep, or raise memlock in /etc/security/limits.conf",
			 tlat_errno_name(-code), soft, hard, (long long)status_kb("VmSize") * 1024,
			 tlat_rt_capable("cap_ipc_lock") ? "in effect" : "missing");
}

static int lock(struct tlat_error *reterr)
{
	if (holders == 0)
		foreign = status_kb("VmLck") > 0;
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		return fail_lock(-errno, reterr);
	if (status_kb("VmLck") == 0)
		return tlat_fail(reterr, -EPROTO,
				 "mlockall reported success but no memory is locked " TLAT_RT_LIAR);
	holders++;
	return 0;
}

int tlat_rt_lock_memory(struct tlat_error *reterr)
{
	int r;

	pthread_once(&once, look_out_for_forks);
	pthread_mutex_lock(&mutex);
	r = lock(reterr);
	pthread_mutex_unlock(&mutex);
	return r;
}

void tlat_rt_unlock_memory(void)
{
	pthread_mutex_lock(&mutex);
	if (holders && --holders == 0 && !foreign)
		munlockall();
	pthread_mutex_unlock(&mutex);
}
