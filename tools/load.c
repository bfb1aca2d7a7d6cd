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
 * Whether this process's affinity mask has a CPU outside of avoid[]; with apply the process moves
 * to those CPUs.
 */
static bool leave_cpus(const int32_t *avoid, size_t n, bool apply)
{
	size_t size = CPU_ALLOC_SIZE(TLAT_CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(TLAT_CPUS_MAX);
	bool left = false;

	if (!set)
		return false;
	CPU_ZERO_S(size, set);
	if (sched_getaffinity(0, size, set) == 0) {
		for (size_t i = 0; i < n; i++)
			CPU_CLR_S((size_t)avoid[i], size, set);
		left = CPU_COUNT_S(size, set) > 0;
	}
	if (left && apply)
		left = sched_setaffinity(0, size, set) == 0;
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

static _Noreturn void be_shell(const char *command, const int32_t *avoid, size_t n)
{
	setpgid(0, 0);
	leave_cpus(avoid, n, true);
	redirect();
	tlat_stop_forget();
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static _Noreturn void be_keeper(pid_t group, int tlat_fd)
{
	char byte;

	setpgid(0, group);
	signal(SIGTERM, SIG_IGN);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (read(tlat_fd, &byte, 1) < 0 && errno == EINTR)
		;
	kill(0, SIGKILL);
	_exit(0);
}

/* Both sides call setpgid(), so that the group exists whoever is first. */
static int start_processes(struct tlat_load *load, const int32_t *avoid, size_t n)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	load->alive_fd = fds[1];
	load->shell = fork();
	if (load->shell == 0)
		be_shell(load->command, avoid, n);
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

int tlat_load_start(struct tlat_load **ret_load, const char *command, const int32_t *avoid,
		    size_t n, struct tlat_error *reterr)
{
	struct tlat_load *load = calloc(1, sizeof(*load));
	int r = load ? 0 : -ENOMEM;

	if (load) {
		load->command = command;
		load->apart = leave_cpus(avoid, n, false);
		r = start_processes(load, avoid, n);
	}
	if (r < 0) {
		free(load);
		return tlat_tool_fail(reterr, r, "--load '%.200s': no process (%s); see ulimit -u",
				      command, strerror(-r));
	}
	tlat_stop_take_along(load->shell);
	*ret_load = load;
	return 0;
}

static bool has_ended(struct tlat_load *load)
{
	if (!load->ended && waitpid(load->shell, &load->status, WNOHANG) == load->shell)
		load->ended = true;
	return load->ended;
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
		snprintf(text, sizeof(text), "load '%.200s' ran throughout, %s", load->command,
			 load->apart ? "off the measuring CPUs" : "on the measuring CPUs too");
	}
	tlat_report_note(report, &finding);
}

static void grant_grace(struct tlat_load *load)
{
	static const struct timespec step = { .tv_nsec = 10000000 };

	for (int i = 0; i < GRACE_STEPS && !has_ended(load); i++)
		nanosleep(&step, NULL);
}

void tlat_load_stop(struct tlat_load *load)
{
	if (!load)
		return;
	tlat_stop_take_along(0);
	kill(-load->shell, SIGTERM);
	grant_grace(load);
	kill(-load->shell, SIGKILL);
	if (!load->ended)
		waitpid(load->shell, NULL, 0);
	waitpid(load->keeper, NULL, 0);
	close(load->alive_fd);
	free(load);
}
