// SPDX-License-Identifier: MIT
/* cyclictest_smi.c - MSR_SMI_COUNT of Intel processors, by the kernel's msr device. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cyclictest_smi.h"

#define MSR_SMI_COUNT 0x34

static bool is_intel(void)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char line[256];
	bool intel = false;

	while (in && !intel && fgets(line, sizeof(line), in))
		intel = !strncmp(line, "vendor_id", 9) && strstr(line, "GenuineIntel");
	if (in)
		fclose(in);
	return intel;
}

/* The counter has 32 bits. Returns 0 or a negative errno. */
static int read_count(int fd, uint32_t *ret_count)
{
	uint64_t value;
	ssize_t n = pread(fd, &value, sizeof(value), MSR_SMI_COUNT);

	if (n != (ssize_t)sizeof(value))
		return n < 0 ? -errno : -EIO;
	*ret_count = (uint32_t)value;
	return 0;
}

static int open_cpu(struct tlat_cyc_smi *smi, int32_t thread, int32_t cpu)
{
	char path[48];
	int r;

	snprintf(path, sizeof(path), "/dev/cpu/%" PRId32 "/msr", cpu);
	smi->fds[thread] = open(path, O_RDONLY | O_CLOEXEC);
	if (smi->fds[thread] < 0) {
		int error = errno;

		tlat_cyc_say("--smi: %s: %s; modprobe msr, and run as root", path, strerror(error));
		return -error;
	}
	smi->n = thread + 1;
	r = read_count(smi->fds[thread], &smi->start[thread]);
	if (r < 0)
		tlat_cyc_say("--smi: %s: its SMI count cannot be read: %s; leave it out", path,
			     strerror(-r));
	return r;
}

int tlat_cyc_smi_open(struct tlat_cyc_smi *smi, bool wanted, const struct tlat_cyc_cpus *cpus)
{
	int error = 0;

	*smi = (struct tlat_cyc_smi){ 0 };
	if (!wanted)
		return 0;
	if (cpus->floats) {
		tlat_cyc_say("--smi counts by CPU, and from --shape 2.5 on only -a or -S pin "
			     "threads: give one");
		return -EINVAL;
	}
	if (!is_intel()) {
		tlat_cyc_say("--smi: this processor does not count its SMIs; leave it out");
		return -ENODEV;
	}
	smi->fds = calloc((size_t)cpus->threads, sizeof(*smi->fds));
	smi->start = calloc((size_t)cpus->threads, sizeof(*smi->start));
	smi->since = calloc((size_t)cpus->threads, sizeof(*smi->since));
	if (!smi->fds || !smi->start || !smi->since) {
		tlat_cyc_say("out of memory for SMI counts");
		return -ENOMEM;
	}
	for (int32_t i = 0; i < cpus->threads && !error; i++)
		error = open_cpu(smi, i, cpus->cpus[i % cpus->n]);
	return error;
}

void tlat_cyc_smi_close(struct tlat_cyc_smi *smi)
{
	for (int32_t i = 0; i < smi->n; i++)
		close(smi->fds[i]);
	free(smi->fds);
	free(smi->start);
	free(smi->since);
}

const int64_t *tlat_cyc_smi_look(struct tlat_cyc_smi *smi)
{
	for (int32_t i = 0; i < smi->n; i++) {
		uint32_t count = 0;
		int r = read_count(smi->fds[i], &count);

		if (r == 0)
			smi->since[i] = count - smi->start[i];
		else if (!smi->stale)
			tlat_cyc_say("--smi: the count of thread %" PRId32
				     " can no longer be read: %s; it stays what it was",
				     i, strerror(-r));
		smi->stale |= r < 0;
	}
	return smi->n ? smi->since : NULL;
}
