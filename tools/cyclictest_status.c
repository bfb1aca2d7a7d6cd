// SPDX-License-Identifier: MIT
/* cyclictest_status.c - handlers only note that they were called; the main loop does the rest. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cyclictest_status.h"
#include "cyclictest_text.h"

static volatile sig_atomic_t to_stderr, to_shared;

static void on_signal(int signal)
{
	if (signal == SIGUSR1)
		to_stderr = 1;
	else
		to_shared = 1;
}

/* Neither its number nor its lock is anybody's; one of another container may have a number of ours.
 */
static bool is_of_the_dead(int dir_fd, const char *name)
{
	int pid, end = 0, fd;
	bool dead;

	if (sscanf(name, "cyclictest%9d%n", &pid, &end) != 1 || name[end] || kill(pid, 0) == 0 ||
	    errno != ESRCH)
		return false;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	dead = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return dead;
}

/* What killed programs left: readers take the name for a process that they may signal. */
static void sweep_shared(void)
{
	DIR *dir = opendir("/dev/shm");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_of_the_dead(dirfd(dir), entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void make_shared(struct tlat_cyc_status *status)
{
	int fd;

	snprintf(status->shared, sizeof(status->shared), "/dev/shm/cyclictest%d", (int)getpid());
	sweep_shared();
	unlink(status->shared); /* of a killed program that had the same number */
	fd = open(status->shared, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		status->shared[0] = '\0';
	else
		flock(fd, LOCK_EX | LOCK_NB); /* says that its process lives, whatever its number */
	status->shared_fd = fd;
}

/* What a killed program left must not keep the next from running; nothing but a pipe is removed. */
static int make_fifo(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISFIFO(st.st_mode))
		unlink(path);
	return mkfifo(path, 0644);
}

int tlat_cyc_status_open(struct tlat_cyc_status *status, const char *fifo)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	*status = (struct tlat_cyc_status){ .fifo = fifo };
	if (fifo && make_fifo(fifo) < 0) {
		int error = errno;

		tlat_cyc_say("--fifo %s: cannot be made: %s; name a path that is free", fifo,
			     strerror(error));
		return -error;
	}
	status->made_fifo = fifo;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	make_shared(status);
	return 0;
}

void tlat_cyc_status_close(struct tlat_cyc_status *status)
{
	if (status->made_fifo)
		unlink(status->fifo);
	if (!status->shared[0])
		return;
	unlink(status->shared);
	close(status->shared_fd);
}

static void put_block(const struct tlat_cyc_stats *stats, const int64_t *smis, FILE *out)
{
	fputs("#---------------------------\n# cyclictest current status:\n", out);
	tlat_cyc_put_threads(stats, smis, out);
	fputs("#---------------------------\n", out);
}

/* One write for all of it, so that no reader sees half of a line. */
static void put_into(int fd, const struct tlat_cyc_stats *stats, const int64_t *smis,
		     void (*put)(const struct tlat_cyc_stats *stats, const int64_t *smis,
				 FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		put(stats, smis, out);
		fclose(out);
	}
	if (text && write(fd, text, size) < 0)
		errno = 0; /* the reader has gone: it was for nobody else */
	free(text);
}

static void write_shared(const struct tlat_cyc_status *status, const struct tlat_cyc_stats *stats,
			 const int64_t *smis)
{
	int fd = open(status->shared, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	put_into(fd, stats, smis, put_block);
	close(fd);
}

/* Without a reader there is nothing to open. */
static void serve_reader(const char *path, const struct tlat_cyc_stats *stats, const int64_t *smis)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	put_into(fd, stats, smis, tlat_cyc_put_threads);
	close(fd);
}

void tlat_cyc_status_serve(struct tlat_cyc_status *status, const struct tlat_cyc_stats *stats,
			   const int64_t *smis)
{
	if (to_stderr) {
		to_stderr = 0;
		put_into(STDERR_FILENO, stats, smis, put_block);
	}
	if (to_shared) {
		to_shared = 0;
		write_shared(status, stats, smis);
	}
	if (status->fifo)
		serve_reader(status->fifo, stats, smis);
}
