// SPDX-License-Identifier: MIT
/*
 * witness.c - preloaded into a program: what its process still has when it ends, beyond what it had
 * when it began, is a line in the file WITNESS_LOG: threads, descriptors, another affinity, another
 * policy. It allocates nothing, and a call of its own that is made to fail is made once more.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES	3
#define FDS_MAX 1024

struct entry {
	unsigned long long inode, offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

struct state {
	cpu_set_t cpus;
	int policy, priority, threads;
	bool fds[FDS_MAX];
};

static struct state before;

static int open_directory(const char *path)
{
	int fd = -1;

	for (int i = 0; fd < 0 && i < TRIES; i++)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

/* Calls see() for each entry that is a number. */
static void each_number(const char *path, void (*see)(struct state *s, int number), struct state *s)
{
	int fd = open_directory(path), failed = 0;
	char text[4096];
	long n;

	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, text, sizeof(text))) != 0) {
		if (n < 0 && failed++ < TRIES)
			continue;
		for (long at = 0; at < n; at += ((struct entry *)(text + at))->length) {
			const char *name = ((struct entry *)(text + at))->name;

			if (*name != '.' && atoi(name) != fd)
				see(s, atoi(name));
		}
		if (n < 0)
			break;
	}
	if (fd >= 0 && close(fd) < 0)
		close(fd);
}

static void see_fd(struct state *s, int fd)
{
	if (fd < FDS_MAX)
		s->fds[fd] = true;
}

static void see_thread(struct state *s, int tid)
{
	(void)tid;
	s->threads++;
}

static void look(struct state *s)
{
	struct sched_param param = { 0 };

	memset(s, 0, sizeof(*s));
	each_number("/proc/self/fd", see_fd, s);
	each_number("/proc/self/task", see_thread, s);
	for (int i = 0; i < TRIES; i++)
		if (!sched_getaffinity(0, sizeof(s->cpus), &s->cpus))
			break;
	s->policy = -1;
	for (int i = 0; i < TRIES && s->policy < 0; i++)
		s->policy = sched_getscheduler(0);
	for (int i = 0; i < TRIES; i++)
		if (!sched_getparam(0, &param))
			break;
	s->priority = param.sched_priority;
}

static void say(const char *text, int number)
{
	const char *path = getenv("WITNESS_LOG");
	char line[128];
	int fd = -1, n = snprintf(line, sizeof(line), "%s %d\n", text, number);

	for (int i = 0; path && fd < 0 && i < TRIES; i++)
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; fd >= 0 && i < TRIES; i++)
		if (write(fd, line, (size_t)n) == n)
			break;
	if (fd >= 0)
		close(fd);
}

/* One that was joined can still be listed for a moment. */
static void wait_for_threads(struct state *s)
{
	for (int i = 0; i < 200 && s->threads > before.threads; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
		look(s);
	}
}

static void testify(void)
{
	struct state now;

	look(&now);
	wait_for_threads(&now);
	if (now.threads > before.threads)
		say("further threads:", now.threads - before.threads);
	for (int fd = STDERR_FILENO + 1; fd < FDS_MAX; fd++)
		if (now.fds[fd] && !before.fds[fd])
			say("an open descriptor:", fd);
	if (!CPU_EQUAL(&now.cpus, &before.cpus))
		say("another affinity, CPUs:", CPU_COUNT(&now.cpus));
	if (now.policy != before.policy || now.priority != before.priority)
		say("another policy:", now.policy);
}

__attribute__((constructor)) static void begin(void)
{
	look(&before);
	atexit(testify);
}
