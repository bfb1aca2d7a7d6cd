// SPDX-License-Identifier: MIT
/* privileges.c - real-time policy, locked memory, idle states, capabilities: what is granted. */
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "privileges.h"
#include "tool.h"

/* tlat_check() has tried it, and leaves a finding where it was refused. */
static void tell_finding(const struct tlat_report *report, const char *id, const char *granted,
			 char *text)
{
	struct tlat_finding finding;

	snprintf(text, TLAT_PRIVILEGE_TEXT, "%s", granted);
	for (size_t i = 0; tlat_report_finding(report, i, &finding) == 0; i++)
		if (!strcmp(finding.id, id))
			snprintf(text, TLAT_PRIVILEGE_TEXT, "refused: %s", finding.text);
}

/* Of the whole process, which has no thread but this one. */
static void try_lock(char *text)
{
	struct tlat_error error;
	struct tlat_rt *rt;

	if (tlat_rt_apply(&rt, &TLAT_RT_OPTS(.lock_all = 1), &error) < 0) {
		snprintf(text, TLAT_PRIVILEGE_TEXT, "refused: %s", error.text);
		return;
	}
	tlat_rt_undo(rt);
	snprintf(text, TLAT_PRIVILEGE_TEXT, "granted");
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
		int bit;
	} used[] = {
		{ "cap_sys_nice", CAP_SYS_NICE },
		{ "cap_ipc_lock", CAP_IPC_LOCK },
		{ "cap_dac_override", CAP_DAC_OVERRIDE },
		{ "cap_chown", CAP_CHOWN },
		{ "cap_fowner", CAP_FOWNER },
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

const char *tlat_privilege(const struct tlat_report *report, size_t index, char *text)
{
	static const struct {
		const char *name, *finding, *granted;
		void (*tell)(char *text); /* of what has no finding */
	} privileges[] = {
		{ "policy fifo:40", "policy-refused", "granted", NULL },
		{ "all memory locked", NULL, NULL, try_lock },
		{ "/dev/cpu_dma_latency", "cpu-latency-refused", "can be held with --cpu-latency",
		  NULL },
		{ "capabilities", NULL, NULL, name_capabilities },
	};

	if (index >= TLAT_ARRAY_SIZE(privileges))
		return NULL;
	if (privileges[index].tell)
		privileges[index].tell(text);
	else
		tell_finding(report, privileges[index].finding, privileges[index].granted, text);
	return privileges[index].name;
}
