// SPDX-License-Identifier: MIT
/* ab_side.c - commands as children, their reports by TLAT_JSON, a number out of their output. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ab_directory.h"
#include "ab_side.h"
#include "orphans.h"
#include "reports.h"
#include "tool.h"

#define OUTPUT_MAX (16u << 20) /* of a command, as far as a number is looked for */
#define GRACE_MS   3000	       /* of a command that is to end */

struct tlat_ab_bench {
	const struct tlat_ab_config *config;
	struct tlat_ab_directory directory;
	char *json, *output; /* their paths */
	struct tlat_machine *machine;
	struct tlat_clock *clock;
};

static volatile sig_atomic_t stopped;
static volatile sig_atomic_t child;

/* What the terminal sends reaches the child too; what is sent to this process alone does not. */
static void on_signal(int sig)
{
	stopped = 1;
	if (child > 0)
		kill((pid_t)child, sig == SIGINT ? SIGINT : SIGTERM);
}

bool tlat_ab_stopped(void)
{
	return stopped;
}

static void take_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal }, old;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, NULL, &old);
	if (old.sa_handler != SIG_IGN) /* nohup */
		sigaction(SIGHUP, &action, NULL);
}

int tlat_ab_open(struct tlat_ab_bench **ret_bench, const struct tlat_ab_config *config,
		 struct tlat_error *reterr)
{
	struct tlat_ab_bench *bench = calloc(1, sizeof(*bench));
	int r;

	if (!bench)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory");
	bench->config = config;
	r = tlat_ab_directory_make(&bench->directory, reterr);
	if (!r) {
		bench->json = tlat_ab_directory_file(&bench->directory, TLAT_AB_JSON);
		bench->output = tlat_ab_directory_file(&bench->directory, TLAT_AB_OUTPUT);
		if (!bench->json || !bench->output)
			r = tlat_tool_fail(reterr, -ENOMEM, "out of memory");
	}
	if (!r && config->metric)
		r = tlat_machine_open(&bench->machine, NULL, reterr);
	if (!r && config->metric)
		r = tlat_clock_open(&bench->clock, bench->machine, TLAT_CLOCK_AUTO, reterr);
	if (r < 0) {
		tlat_ab_close(bench);
		return r;
	}
	take_signals();
	tlat_orphans_adopt();
	*ret_bench = bench;
	return 0;
}

void tlat_ab_close(struct tlat_ab_bench *bench)
{
	tlat_ab_directory_remove(&bench->directory);
	tlat_clock_close(bench->clock);
	tlat_machine_close(bench->machine);
	free(bench->json);
	free(bench->output);
	free(bench);
}

static _Noreturn void be_command(const struct tlat_ab_bench *bench, const char *command,
				 pid_t parent)
{
	int null_fd = open("/dev/null", O_RDONLY);
	int out_fd = open(bench->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* tlat run sees to it that the chain goes on */
	if (getppid() != parent)
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	if (out_fd >= 0)
		dup2(out_fd, STDOUT_FILENO);
	setenv("TLAT_JSON", bench->json, 1);
	setenv(TLAT_AB_ENV, bench->json, 1);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Returns the wait status, or a negative errno. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

static int run_command(const struct tlat_ab_bench *bench, const char *command,
		       struct tlat_error *reterr)
{
	pid_t pid, parent = getpid();
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_command(bench, command, parent);
	if (pid < 0)
		return tlat_tool_fail(reterr, -errno, "no process for '%.200s': %s", command,
				      strerror(errno));
	child = pid;
	status = wait_for(pid);
	child = 0;
	if (stopped) {
		tlat_orphans_end(GRACE_MS);
		return tlat_tool_fail(reterr, -ECANCELED, "ended by a signal");
	}
	if (status < 0)
		return tlat_tool_fail(reterr, status, "'%.200s' cannot be waited for: %s", command,
				      strerror(-status));
	return status;
}

/* 127 and 126 are the shell's own. */
static int fail_status(const char *what, const char *command, int status, struct tlat_error *reterr)
{
	if (WIFSIGNALED(status))
		return tlat_tool_fail(reterr, -EIO, "%s '%.250s' was killed by signal %d", what,
				      command, WTERMSIG(status));
	return tlat_tool_fail(reterr, -EIO, "%s '%.250s' ended with status %d%s", what, command,
			      WEXITSTATUS(status), WEXITSTATUS(status) == 127 ? ": not found" : "");
}

static int run_setup(const struct tlat_ab_bench *bench, int side, struct tlat_error *reterr)
{
	const char *setup = bench->config->setup[side];
	int status;

	if (!setup)
		return 0;
	status = run_command(bench, setup, reterr);
	if (status < 0)
		return status;
	return status ? fail_status("setup", setup, status, reterr) : 0;
}

/* Whether the command has an answer: fine, bad or inconclusive, as tlat run has them. */
static bool has_answered(int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : TLAT_EXIT_NO_ANSWER;

	return code == TLAT_EXIT_FINE || code == TLAT_EXIT_BAD || code == TLAT_EXIT_INCONCLUSIVE;
}

/* What the command makes of it does not count: nobody could compare it with others. */
static int check_end(const struct tlat_report *report, const char *command,
		     struct tlat_error *reterr)
{
	const char *end = tlat_report_end(report);

	if (strcmp(end, "error") && strcmp(end, "running"))
		return 0;
	return tlat_tool_fail(
		reterr, -EIO,
		"command '%.150s': a run in it broke off (end: %s); see why with tlat "
		"run alone",
		command, end);
}

/* Several reports of one command are one run of it. */
static int read_reports(const struct tlat_ab_bench *bench, const char *command, int status,
			struct tlat_report **ret_report, struct tlat_error *reterr)
{
	struct tlat_reports all = { 0 };
	bool written = access(bench->json, F_OK) == 0;
	int r;

	if (!has_answered(status) || (status && !written))
		return fail_status("command", command, status, reterr);
	if (!written)
		return tlat_tool_fail(reterr, -ENODATA,
				      "command '%.200s' wrote no report to $TLAT_JSON; let it call "
				      "tlat run, or give --metric REGEX",
				      command);
	r = tlat_reports_read(&all, bench->json, reterr);
	for (size_t i = 0; !r && i < all.n; i++)
		r = check_end(all.v[i], command, reterr);
	for (size_t i = 1; i < all.n; i++) {
		if (!r && tlat_report_append(all.v[0], all.v[i]) < 0)
			r = tlat_tool_fail(reterr, -ENOMEM, "out of memory for reports");
		else if (r)
			tlat_report_free(all.v[i]);
	}
	if (!r)
		*ret_report = all.v[0];
	else if (all.n)
		tlat_report_free(all.v[0]);
	free(all.v);
	return r;
}

/* To be freed; NULL: no memory, or no file. */
static char *read_output(const struct tlat_ab_bench *bench)
{
	FILE *in = fopen(bench->output, "re");
	char *text = in ? malloc(OUTPUT_MAX + 1) : NULL;
	size_t n = text ? fread(text, 1, OUTPUT_MAX, in) : 0;

	if (in)
		fclose(in);
	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i++)
		text[i] = text[i] ? text[i] : ' ';
	text[n] = '\0';
	return text;
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\r\n")];
}

/* The first match, or its first group where there is one; as a whole, lest 1.20ms be 1.20. */
static int find_number(const struct tlat_ab_config *config, const char *command, char *text,
		       double *ret_value, struct tlat_error *reterr)
{
	regmatch_t match[2];
	char *end;
	int at = config->regex.re_nsub ? 1 : 0;

	if (regexec(&config->regex, text, 2, match, 0) || match[at].rm_so < 0)
		return tlat_tool_fail(reterr, -ENODATA,
				      "--metric '%.80s' is not in what '%.160s' printed; try it "
				      "with grep -E",
				      config->metric, command);
	text[match[at].rm_eo] = '\0';
	*ret_value = strtod(text + match[at].rm_so, &end);
	if (end == text + match[at].rm_so || !is_blank(end))
		return tlat_tool_fail(
			reterr, -ENODATA,
			"--metric '%.80s' found '%.40s', which is no number; put the "
			"number alone in parentheses, and see that its unit is always "
			"the same",
			config->metric, text + match[at].rm_so);
	return 0;
}

static int measure_metric(const struct tlat_ab_bench *bench, const char *command,
			  struct tlat_report **ret_report, struct tlat_error *reterr)
{
	const struct tlat_ab_config *config = bench->config;
	struct tlat_report *report;
	char *text = read_output(bench);
	double value = 0;
	int r = text ? find_number(config, command, text, &value, reterr)
		     : tlat_tool_fail(reterr, -ENOMEM, "'%.200s': its output is gone", command);

	free(text);
	if (!r)
		r = tlat_check(&report, bench->machine, bench->clock, reterr);
	if (r < 0)
		return r;
	r = tlat_report_add_metric(
		report, TLAT_AB_SOURCE,
		&TLAT_METRIC(.name = TLAT_AB_METRIC, .unit = config->unit ? config->unit : "",
			     .value = value, .sd = 0, .n = 1, .better = config->higher));
	if (r < 0) {
		tlat_report_free(report);
		return tlat_tool_fail(reterr, r, "the number of '%.200s' cannot be kept: %s",
				      command, strerror(-r));
	}
	*ret_report = report;
	return 0;
}

int tlat_ab_run(struct tlat_ab_bench *bench, int side, struct tlat_report **ret_report,
		struct tlat_error *reterr)
{
	const char *command = bench->config->command[side];
	int r = run_setup(bench, side, reterr), status;

	if (r < 0)
		return r;
	unlink(bench->json);
	status = run_command(bench, command, reterr);
	if (status < 0)
		return status;
	if (!bench->config->metric)
		return read_reports(bench, command, status, ret_report, reterr);
	if (status)
		return fail_status("command", command, status, reterr);
	return measure_metric(bench, command, ret_report, reterr);
}
