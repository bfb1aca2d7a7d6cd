// SPDX-License-Identifier: MIT
/*
 * affinity.c - preloaded: the affinity mask of a large machine. FAKE_MASK is "BYTES:FIRST-LAST" or
 * "BYTES:FIRST,LAST"; shorter masks than BYTES are refused, as that kernel would. A thread that has
 * set its own mask has that one. FAKE_OFFLINE, such as "1,3,5", are CPUs that no thread is let on.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local bool has_own;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	const char *fake = getenv("FAKE_MASK");
	unsigned char *bytes = (unsigned char *)mask;
	unsigned int least, first, last;
	char between;

	if (!fake || sscanf(fake, "%u:%u%c%u", &least, &first, &between, &last) != 4)
		abort();
	if (size < least) {
		errno = EINVAL;
		return -1;
	}
	memset(bytes, 0, size);
	if (has_own && pid == 0)
		return syscall(SYS_sched_getaffinity, pid, size, mask) < 0 ? -1 : 0;
	for (unsigned int cpu = first; cpu <= last; cpu += between == '-' ? 1 : last - first)
		bytes[cpu / 8] |= (unsigned char)(1 << cpu % 8);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
	const char *offline = getenv("FAKE_OFFLINE");
	unsigned char left[1024] = { 0 };

	if (size > sizeof(left))
		abort();
	memcpy(left, mask, size);
	while (offline && *offline) {
		char *end;
		unsigned long cpu = strtoul(offline, &end, 10);

		left[cpu / 8 % sizeof(left)] &= (unsigned char)~(1 << cpu % 8);
		offline = end + (*end == ',');
	}
	if (syscall(SYS_sched_setaffinity, pid, size, left) < 0)
		return -1;
	has_own |= pid == 0;
	return 0;
}
