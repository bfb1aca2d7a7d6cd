// SPDX-License-Identifier: MIT
/*
 * noise_count.c - what the kernel has counted on the CPUs that are spun on: interrupts and stolen
 * time. Knows that a CPU which is offline has no column and no line, and that its counts go on
 * from where they were when it comes back.
 */
#include <stdlib.h>
#include <unistd.h>

#include "noise.h"
#include "proc_stat.h"

static struct tlat_cpuset cpus_of(const struct tlat_noise_thread *threads, int32_t n)
{
	struct tlat_cpuset set = { 0 };

	for (int32_t i = 0; i < n; i++)
		tlat_cpuset_add(&set, threads[i].cpu);
	return set;
}

/* What is counted for the machine as a whole interrupts nobody. */
static void take_interrupts(struct tlat_noise_thread *t, const struct tlat_watch_count *rows,
			    size_t n)
{
	uint64_t sum = 0;
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].cpu != t->cpu)
			continue;
		sum += rows[i].count;
		found = true;
	}
	t->counted.missed = !found;
	if (!found)
		return;
	t->counted.interrupts = sum;
	t->counted.has_interrupts = true;
}

static void count_interrupts(struct tlat_noise_thread *threads, int32_t n_threads, int root_fd)
{
	struct tlat_cpuset set = cpus_of(threads, n_threads);
	struct tlat_watch_count *rows = NULL;
	char *text = NULL;
	size_t n = 0;

	if (tlat_root_read_all(root_fd, "proc/interrupts", &text) >= 0) {
		n = tlat_watch_read_table(text, &set, NULL, 0);
		rows = calloc(n + 1, sizeof(*rows));
	}
	n = rows ? tlat_watch_read_table(text, &set, rows, n) : 0;
	for (int32_t i = 0; i < n_threads; i++)
		take_interrupts(&threads[i], rows, n);
	free(rows);
	free(text);
}

static void count_steal(struct tlat_noise_thread *threads, int32_t n_threads, int root_fd)
{
	int64_t tick_ns = TLAT_NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	char *text;

	if (tlat_proc_stat_is_faked(root_fd) || tlat_root_read_all(root_fd, "proc/stat", &text) < 0)
		return;
	for (int32_t i = 0; i < n_threads; i++) {
		struct tlat_watch_cpu cpu = { .cpu = threads[i].cpu };

		tlat_watch_read_steal(text, &cpu, 1);
		if (!cpu.has_steal)
			continue;
		threads[i].counted.steal_ns = (int64_t)cpu.steal_ticks * tick_ns;
		threads[i].counted.has_steal = true;
	}
	free(text);
}

void tlat_noise_count(struct tlat_noise_thread *threads, int32_t n, int root_fd)
{
	count_interrupts(threads, n, root_fd);
	count_steal(threads, n, root_fd);
}

struct tlat_noise_counted tlat_noise_between(const struct tlat_noise_reading *before,
					     const struct tlat_noise_reading *after)
{
	bool wrapped = after->interrupts < before->interrupts;
	struct tlat_noise_counted counted = {
		.partial = !before->has_interrupts || after->missed || wrapped,
	};

	if (before->has_interrupts && !wrapped)
		counted.interrupts = after->interrupts - before->interrupts;
	if (before->has_steal)
		counted.steal_ns = after->steal_ns - before->steal_ns;
	return counted;
}
