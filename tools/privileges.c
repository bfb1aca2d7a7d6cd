// SPDX-License-Identifier: MIT
/* privileges.c - real-time policy, locked memory, idle states, capabilities: what is granted. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <timerlat.h>

#include "privileges.h"
#include "tool.h"

#define CPU_LATENCY_PATH "/dev/cpu_dma_latency"

static void try_apply(const struct tlat_rt_opts *opts, char *text)
{
	struct tlat_error error;
	struct tlat_rt *rt;

	if (tlat_rt_apply(&rt, opts, &error) < 0) {
		snprintf(text, TLAT_PRIVILEGE_TEXT, "refused: %s", error.text);
		return;
	}
	tlat_rt_undo(rt);
	snprintf(text, TLAT_PRIVILEGE_TEXT, "granted");
}

static void try_policy(char *text)
{
	try_apply(&TLAT_RT_OPTS(.policy = TLAT_SCHED_FIFO, .priority = 40), text);
}

static void try_lock(char *text)
{
	try_apply(&TLAT_RT_OPTS(.lock_all = 1), text);
}

static void try_cpu_latency(char *text)
{
	if (faccessat(AT_FDCWD, CPU_LATENCY_PATH, W_OK, AT_EACCESS) == 0)
		snprintf(text, TLAT_PRIVILEGE_TEXT, "can be held with --cpu-latency");
	else
		snprintf(text, TLAT_PRIVILEGE_TEXT, "cannot be held: %s", strerror(errno));
}

/* The effective set of this process, as /proc tells it. */
static bool read_capabilities(uint64_t *ret_set)
{
	FILE *in = fopen("/proc/self/status", "re");
	char line[256];
	bool found = false;

	if (!in)
		return false;
	while (!found && fgets(line, sizeof(line), in))
		found = sscanf(line, "CapEff: %" SCNx64, ret_set) == 1;
	fclose(in);
	return found;
}

/* Those that tlat makes use of. */
static void name_capabilities(char *text)
{
	static const struct {
		const char *name;
		int bit; /* as in linux/capability.h */
	} used[] = {
		{ "cap_sys_nice", 23 },
		{ "cap_ipc_lock", 14 },
		{ "cap_dac_override", 1 },
	};
	uint64_t set;
	size_t length = 0;

	*text = '\0';
	if (!read_capabilities(&set)) {
		snprintf(text, TLAT_PRIVILEGE_TEXT, "not known: no /proc/self/status");
		return;
	}
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(used); i++)
		if (set >> used[i].bit & 1)
			length += (size_t)snprintf(text + length, TLAT_PRIVILEGE_TEXT - length,
						   "%s%s", length ? ", " : "", used[i].name);
	if (!length)
		snprintf(text, TLAT_PRIVILEGE_TEXT, "none that tlat has a use for");
}

const char *tlat_privilege(size_t index, char *text)
{
	static const struct {
		const char *name;
		void (*tell)(char *text);
	} privileges[] = {
		{ "policy fifo:40", try_policy },
		{ "all memory locked", try_lock },
		{ CPU_LATENCY_PATH, try_cpu_latency },
		{ "capabilities", name_capabilities },
	};

	if (index >= TLAT_ARRAY_SIZE(privileges))
		return NULL;
	privileges[index].tell(text);
	return privileges[index].name;
}
