// SPDX-License-Identifier: MIT
/*
 * load.c - a background load that cannot outlive its measurement: its parent is a keeper process,
 * which adopts what the load leaves to itself, in whatever process group or session that is, and
 * ends it all when tlat asks for that, or is no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "orphans.h"
#include "stop.h"
#include "tool.h"

/* What a load gets to clean up after itself. */
#define GRACE_MS 300

/* By when a shell has found out that it cannot run the command. */
#define START_MS 100

struct tlat_load {
	const char *command;
	pid_t keeper;
	int keeper_fd; /* says errno of the start, then the shell's status; its end ends the load */
	const struct tlat_machine *machine;
	const char *affinity; /* what was done about it */
	bool apart;	      /* it was set */
	bool ended;
	int status; /* of the shell, when ended */
};

static void leave_out(cpu_set_t *set, size_t size, const int32_t *cpus, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CPU_CLR_S((size_t)cpus[i], size, set);
}

/* The isolated ones of a set are left out, unless all are; says which CPUs remain. */
static const char *prefer_balanced(cpu_set_t *set, size_t size, const struct tlat_machine *machine)
{
	int32_t *isolated = calloc(TLAT_CPUS_MAX, sizeof(*isolated));
	cpu_set_t *balanced = CPU_ALLOC(TLAT_CPUS_MAX);
	int n = isolated ? tlat_machine_cpus(machine, "isolated", isolated, TLAT_CPUS_MAX, NULL)
			 : 0;
	int before = CPU_COUNT_S(size, set), after = before;

	if (balanced && n > 0) {
		memcpy(balanced, set, size);
		leave_out(balanced, size, isolated, (size_t)n);
		after = CPU_COUNT_S(size, balanced);
		if (after)
			memcpy(set, balanced, size);
	}
	CPU_FREE(balanced);
	free(isolated);
	if (!after && before > 1)
		return "set to the CPUs that do not measure; these are isolated, so that nothing "
		       "spreads it over them: it may have kept to one";
	return after && after < before ? "set to the CPUs that neither measure nor are isolated"
				       : "set to the CPUs that do not measure";
}

/*
 * Leave the CPUs of avoid[] if that leaves one. The mask is this process's, for a child to inherit:
 * what is told of it then holds. Fills old for come_back().
 */
static void leave_cpus(struct tlat_load *load, cpu_set_t *old, size_t size, const int32_t *avoid,
		       size_t n)
{
	cpu_set_t *set = CPU_ALLOC(TLAT_CPUS_MAX);
	const char *affinity;

	load->affinity = "left as it was, with the measuring CPUs in it";
	if (!set)
		return;
	CPU_ZERO_S(size, old);
	if (n && sched_getaffinity(0, size, old) == 0) {
		memcpy(set, old, size);
		leave_out(set, size, avoid, n);
		affinity = prefer_balanced(set, size, load->machine);
		load->apart = CPU_COUNT_S(size, set) > 0 && sched_setaffinity(0, size, set) == 0;
		if (load->apart)
			load->affinity = affinity;
	}
	CPU_FREE(set);
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

static void on_child(int sig)
{
	(void)sig; /* ends ppoll() */
}

/* True as long as the shell lives; its end is told. */
static bool reap(pid_t shell, int tlat_fd)
{
	bool alive = true;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == shell) {
			send(tlat_fd, &status, sizeof(status), MSG_NOSIGNAL);
			alive = false;
		}
	return alive;
}

/* Until tlat says something, or ends. Returns the shell, 0 when it has ended. */
static pid_t watch(pid_t shell, int tlat_fd)
{
	struct sigaction action = { .sa_handler = on_child };
	struct pollfd fd = { .fd = tlat_fd, .events = POLLIN };
	sigset_t mask;

	sigaction(SIGCHLD, &action, NULL);
	sigfillset(&mask);
	sigdelset(&mask, SIGCHLD);
	do
		if (!reap(shell, tlat_fd))
			shell = 0;
	while (ppoll(&fd, 1, NULL, &mask) < 0 && errno == EINTR);
	return shell;
}

/* In a group of its own, and deaf, so that what ends tlat and the load does not end it, too. */
static _Noreturn void be_keeper(const char *command, int tlat_fd)
{
	int error, grace_ms;
	sigset_t all;
	pid_t shell;
	bool told;
	char byte;

	setpgid(0, 0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	tlat_orphans_adopt();
	shell = fork();
	if (shell == 0)
		be_shell(command);
	error = shell < 0 ? errno : 0;
	if (shell > 0)
		setpgid(shell, shell); /* as the shell does: the group exists whoever is first */
	told = send(tlat_fd, &error, sizeof(error), MSG_NOSIGNAL) > 0;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	if (told && shell > 0)
		shell = watch(shell, tlat_fd);
	grace_ms = recv(tlat_fd, &byte, 1, MSG_DONTWAIT) == 1 ? GRACE_MS : 0;
	if (shell > 0)
		kill(-shell, grace_ms ? SIGTERM : SIGKILL);
	tlat_orphans_end(grace_ms);
	_exit(0);
}

static pid_t fork_keeper(struct tlat_load *load, const int fds[2], const int32_t *avoid, size_t n)
{
	size_t size = CPU_ALLOC_SIZE(TLAT_CPUS_MAX);
	cpu_set_t *old = CPU_ALLOC(TLAT_CPUS_MAX);
	int error;
	pid_t pid;

	if (!old)
		return -1;
	leave_cpus(load, old, size, avoid, n);
	pid = fork();
	error = errno;
	if (pid == 0) {
		close(fds[0]);
		be_keeper(load->command, fds[1]);
	}
	if (load->apart)
		sched_setaffinity(0, size, old);
	CPU_FREE(old);
	errno = error;
	return pid;
}

static int start_processes(struct tlat_load *load, const int32_t *avoid, size_t n)
{
	int fds[2], error = ECHILD;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	load->keeper_fd = fds[0];
	load->keeper = fork_keeper(load, fds, avoid, n);
	if (load->keeper < 0)
		error = errno;
	close(fds[1]);
	if (load->keeper > 0 && recv(fds[0], &error, sizeof(error), 0) == sizeof(error) && !error)
		return 0;
	close(fds[0]);
	if (load->keeper > 0)
		waitpid(load->keeper, NULL, 0);
	return -error;
}

static bool has_ended(struct tlat_load *load)
{
	if (!load->ended && recv(load->keeper_fd, &load->status, sizeof(load->status),
				 MSG_DONTWAIT) == sizeof(load->status))
		load->ended = true;
	return load->ended;
}

static bool ends_within(struct tlat_load *load, int ms)
{
	poll(&(struct pollfd){ .fd = load->keeper_fd, .events = POLLIN }, 1, ms);
	return has_ended(load);
}

/* 126 and 127 are the shell's own: it could not run the command, or not find it. */
static bool cannot_start(struct tlat_load *load)
{
	return ends_within(load, START_MS) && WIFEXITED(load->status) &&
	       WEXITSTATUS(load->status) >= 126 && WEXITSTATUS(load->status) <= 127;
}

int tlat_load_start(struct tlat_load **ret_load, const char *command,
		    const struct tlat_machine *machine, const int32_t *avoid, size_t n,
		    struct tlat_error *reterr)
{
	struct tlat_load *load = calloc(1, sizeof(*load));
	int r = load ? 0 : -ENOMEM;

	if (load) {
		load->command = command;
		load->machine = machine;
		r = start_processes(load, avoid, n);
	}
	if (r < 0) {
		free(load);
		return tlat_tool_fail(reterr, r, "--load '%.200s': no process (%s); see ulimit -u",
				      command, strerror(-r));
	}
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
			 load->command, load->affinity);
	}
	tlat_report_add_finding(report, &finding);
}

void tlat_load_stop(struct tlat_load *load)
{
	if (!load)
		return;
	send(load->keeper_fd, "", 1, MSG_NOSIGNAL);
	shutdown(load->keeper_fd, SHUT_WR); /* reaches one that could not be told as well */
	waitpid(load->keeper, NULL, 0);
	close(load->keeper_fd);
	free(load);
}
