// SPDX-License-Identifier: MIT
/*
 * caps.c - capabilities of the calling thread. Knows why sets are written by the raw call:
 * cap_set_proc() reaches every thread of a program that is linked with libpsx, and what a
 * measuring thread gives up must not be taken from the program around it. libcap is asked for
 * names only.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef TLAT_WITH_CAP
#include <sys/capability.h>
#endif

#include "rt.h"

/* Permitted, effective and inheritable, 64 bits each as version 3 has them in two halves. */
struct sets {
	struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3];
};

static int sets_get(struct sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	memset(sets, 0, sizeof(*sets));
	return syscall(SYS_capget, &header, sets->half) < 0 ? -errno : 0;
}

static int sets_put(const struct sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, sets->half) < 0 ? -errno : 0;
}

#ifdef TLAT_WITH_CAP
static int number_of(const char *name)
{
	cap_value_t number;

	return cap_from_name(name, &number) < 0 || number > 63 ? -EINVAL : number;
}
#else
/* Those that this library's own steps need; any other name takes libcap. */
static int number_of(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
		{ "cap_ipc_lock", CAP_IPC_LOCK },     { "cap_kill", CAP_KILL },
		{ "cap_sys_nice", CAP_SYS_NICE },     { "cap_sys_resource", CAP_SYS_RESOURCE },
		{ "cap_wake_alarm", CAP_WAKE_ALARM },
	};

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].number;
	return -EOPNOTSUPP;
}
#endif

static int mask_add(uint64_t *mask, const char *name)
{
	int number = number_of(name);

	if (number < 0)
		return number;
	*mask |= UINT64_C(1) << number;
	return 0;
}

static int keep_only(uint64_t mask)
{
	struct sets sets, now;
	int r = sets_get(&sets);

	if (r < 0)
		return r;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t half = (uint32_t)(mask >> (32 * i));

		sets.half[i].permitted &= half;
		sets.half[i].effective &= half;
		sets.half[i].inheritable &= half;
	}
	r = sets_put(&sets);
	if (r == 0)
		r = sets_get(&now);
	if (r < 0)
		return r;
	return memcmp(&now, &sets, sizeof(now)) ? -EPROTO : 0;
}

static int fail_name(const char *name, int code, struct tlat_error *reterr)
{
	if (code == -EOPNOTSUPP)
		return tlat_fail(reterr, code,
				 "capability \"%s\" is not known to this build; "
				 "build with libcap (TLAT_WITH_CAP)",
				 name);
	return tlat_fail(reterr, code,
			 "\"%s\" is not a capability; names are like cap_sys_nice, "
			 "see capabilities(7)",
			 name);
}

/* The names of a list parted by commas, into a mask. */
static int mask_of_list(const char *list, uint64_t *mask, struct tlat_error *reterr)
{
	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");
		char name[64];
		int r;

		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name)),
			 p);
		r = mask_add(mask, name);
		if (r < 0)
			return fail_name(name, r, reterr);
		p += len;
		if (*p == ',' && !*++p)
			return fail_name("", -EINVAL, reterr);
	}
	return 0;
}

int tlat_rt_drop_caps(const char *keep, struct tlat_error *reterr)
{
	uint64_t mask = 0;
	int r = mask_of_list(keep ? keep : "", &mask, reterr);

	if (r < 0)
		return r;
	r = keep_only(mask);
	if (r == -EPROTO)
		return tlat_fail(reterr, r,
				 "capset reported success but other capabilities are in "
				 "force (a seccomp filter or a preloaded library answers for the "
				 "kernel); run without it");
	if (r < 0)
		return tlat_fail(reterr, r,
				 "capabilities could not be reduced to \"%s\": capset gave %s",
				 keep ? keep : "", tlat_errno_name(-r));
	return 0;
}

bool tlat_rt_capable(const char *capability)
{
	int number = number_of(capability);
	struct sets sets;

	if (number < 0 || sets_get(&sets) < 0)
		return false;
	return sets.half[number / 32].effective >> (number % 32) & 1;
}
