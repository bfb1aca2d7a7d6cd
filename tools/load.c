// SPDX-License-Identifier: MIT
/*
 * load.c - a background load that cannot outlive its measurement: a keeper process in the load's
 * group waits for the end of tlat on a pipe and then kills the group it is in.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "stop.h"
#include "tool.h"

/* What a load gets to clean up after itself, in steps of 10 ms. */
#define GRACE_STEPS 30

/* By when a shell has found out that it cannot run the command; such steps too. */
#define START_STEPS 10

struct tlat_load {
	const char *command;
	pid_t shell; /* leads the group */
	pid_t keeper;
	int alive_fd; /* its end tells the keeper */
	bool apart;   /* off the measuring CPUs */
	bool ended;
	int status; /* of the shell, when ended */
};

/*
 * Leave the CPUs of avoid[] if that leaves one. The mask is this process's, for a child to inherit:
 * what is told of it then holds. Fills old for come_back().
 */
static bool leave_cpus(cpu_set_t *old, size_t size, const int32_t *avoid, size_t n)
{
	cpu_set_t *set = CPU_ALLOC(TLAT_CPUS_MAX);
	bool left = false;

	if (!set)
		return false;
	CPU_ZERO_S(size, old);
	if (n && sched_getaffinity(0, size, old) == 0) {
		memcpy(set, old, size);
		for (size_t i = 0; i < n; i++)
			CPU_CLR_S((size_t)avoid[i], size, set);
		left = CPU_COUNT_S(size, set) > 0 && sched_setaffinity(0, size, set) == 0;
	}
	CPU_FREE(set);
	return left;
}

/* Standard output may be the JSON's; the terminal's input is not the load's. */
static void redirect(void)
{
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
}

static _Noreturn void be_shell(const char *command)
{
	if (setpgid(0, 0) < 0)
		_exit(126);
	redirect();
	tlat_stop_forget();
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static _Noreturn void be_keeper(pid_t group, int tlat_fd)
{
	char byte;

	if (setpgid(0, group) < 0) /* it would kill another group than the load's */
		_exit(1);
	signal(SIGTERM, SIG_IGN);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (read(tlat_fd, &byte, 1) < 0 && errno == EINTR)
		;
	kill(0, SIGKILL);
	_exit(0);
}

static pid_t fork_shell(struct tlat_load *load, const int32_t *avoid, size_t n)
{
	size_t size = CPU_ALLOC_SIZE(TLAT_CPUS_MAX);
	cpu_set_t *old = CPU_ALLOC(TLAT_CPUS_MAX);
	pid_t pid;

	if (!old)
		return -1;
	load->apart = leave_cpus(old, size, avoid, n);
	pid = fork();
	if (pid == 0)
		be_shell(load->command);
	if (load->apart)
		sched_setaffinity(0, size, old);
	CPU_FREE(old);
	return pid;
}

/* Both sides call setpgid(), so that the group exists whoever is first. */
static int start_processes(struct tlat_load *load, const int32_t *avoid, size_t n)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	load->alive_fd = fds[1];
	load->shell = fork_shell(load, avoid, n);
	if (load->shell < 0)
		goto fail;
	setpgid(load->shell, load->shell);
	load->keeper = fork();
	if (load->keeper == 0) {
		close(fds[1]);
		be_keeper(load->shell, fds[0]);
	}
	if (load->keeper < 0) {
		kill(-load->shell, SIGKILL);
		waitpid(load->shell, NULL, 0);
		goto fail;
	}
	setpgid(load->keeper, load->shell);
	close(fds[0]);
	return 0;
fail:
	close(fds[0]);
	close(fds[1]);
	return -EAGAIN;
}

static bool has_ended(struct tlat_load *load)
{
	if (!load->ended && waitpid(load->shell, &load->status, WNOHANG) == load->shell)
		load->ended = true;
	return load->ended;
}

/* Wait for the load's end, for so many steps of 10 ms at most. */
static bool ends_within(struct tlat_load *load, int steps)
{
	static const struct timespec step = { .tv_nsec = 10000000 };

	for (int i = 0; i < steps && !has_ended(load); i++)
		nanosleep(&step, NULL);
	return load->ended;
}

/* 126 and 127 are the shell's own: it could not run the command, or not find it. */
static bool cannot_start(struct tlat_load *load)
{
	return ends_within(load, START_STEPS) && WIFEXITED(load->status) &&
	       WEXITSTATUS(load->status) >= 126 && WEXITSTATUS(load->status) <= 127;
}

int tlat_load_start(struct tlat_load **ret_load, const char *command, const int32_t *avoid,
		    size_t n, struct tlat_error *reterr)
{
	struct tlat_load *load = calloc(1, sizeof(*load));
	int r = load ? 0 : -ENOMEM;

	if (load) {
		load->command = command;
		r = start_processes(load, avoid, n);
	}
	if (r < 0) {
		free(load);
		return tlat_tool_fail(reterr, r, "--load '%.200s': no process (%s); see ulimit -u",
				      command, strerror(-r));
	}
	tlat_stop_take_along(load->shell);
	if (cannot_start(load)) {
		r = tlat_tool_fail(reterr, -ENOEXEC,
				   "--load '%.200s': the shell cannot %s it (status %d); give a "
				   "command that sh runs",
				   command, WEXITSTATUS(load->status) == 127 ? "find" : "execute",
				   WEXITSTATUS(load->status));
		tlat_load_stop(load);
		return r;
	}
	*ret_load = load;
	return 0;
}

void tlat_load_note(struct tlat_load *load, struct tlat_report *report)
{
	char text[400];
	struct tlat_finding finding = { .id = "load", .text = text, .severity = TLAT_INFO };

	if (has_ended(load)) {
		finding.severity = TLAT_WARN;
		finding.id = "load-ended";
		finding.remedy = "give --load a command that goes on, for instance in a loop";
		snprintf(text, sizeof(text), "load '%.200s' ended before the measurement, %s %d",
			 load->command, WIFSIGNALED(load->status) ? "signal" : "status",
			 WIFSIGNALED(load->status) ? WTERMSIG(load->status)
						   : WEXITSTATUS(load->status));
	} else {
		snprintf(text, sizeof(text), "load '%.200s' ran throughout; its affinity was %s",
			 load->command,
			 load->apart ? "set to the CPUs that do not measure"
				     : "left as it was, with the measuring CPUs in it");
	}
	tlat_report_note(report, &finding);
}

void tlat_load_stop(struct tlat_load *load)
{
	if (!load)
		return;
	tlat_stop_take_along(0);
	kill(-load->shell, SIGTERM);
	ends_within(load, GRACE_STEPS);
	kill(-load->shell, SIGKILL);
	if (!load->ended)
		waitpid(load->shell, NULL, 0);
	close(load->alive_fd); /* before: a keeper that no group's end reached waits for it */
	waitpid(load->keeper, NULL, 0);
	free(load);
}
