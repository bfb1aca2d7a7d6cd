// SPDX-License-Identifier: MIT
/*
 * cyclictest_session.c - what there must be before threads are: the machine, CPUs, the main
 * thread's place and memory, the file that holds idle states off, signals.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cyclictest_run.h"
#include "cyclictest_text.h"
#include "rights.h"
#include "stop.h"
#include "tool.h"
#include "writable.h"

/* Files are looked at before an hour is measured for them. */
static int check_files(const struct tlat_cyc_config *config)
{
	const struct {
		const char *option, *path;
		bool replaced;
	} files[] = {
		{ "--json", config->json, false },
		{ "--histfile", config->histfile, false },
		{ "--tlat-json", config->tlat_json, true },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int error;

		if (!files[i].path || (i != 1 && !strcmp(files[i].path, "-")))
			continue;
		error = tlat_writable(files[i].path, files[i].replaced);
		if (error) {
			tlat_cyc_say("%s %s: cannot be written: %s; name another file",
				     files[i].option, files[i].path, strerror(-error));
			return error;
		}
	}
	return 0;
}

/* Before anything else is there. What is mapped later counts in full, used or not, and users may
 * lock little: threads without an arena of their own, which reserves 64 MiB, need less. */
static int lock_memory(struct tlat_cyc_session *s)
{
	struct tlat_error error;
	int r;

	if (!s->config->mlockall)
		return 0;
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
	r = tlat_rt_apply(&s->locked, &TLAT_RT_OPTS(.lock_all = 1), &error);
	if (r < 0)
		tlat_cyc_say("--mlockall: %s", error.text);
	return r;
}

void tlat_cyc_say_error(const struct tlat_cyc_session *s, const struct tlat_error *error)
{
	struct rlimit limit;
	bool locked = s->locked && error->code == -ENOMEM && !strstr(error->text, "MEMLOCK") &&
		      getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;

	if (locked)
		tlat_cyc_say("%s; -m locks all memory, and RLIMIT_MEMLOCK is %llu bytes; raise it: "
			     "ulimit -l, or grant CAP_IPC_LOCK",
			     error->text, (unsigned long long)limit.rlim_cur);
	else
		tlat_cyc_say("%s", error->text);
}

static int open_machine(struct tlat_cyc_session *s)
{
	struct tlat_error error;
	int r = tlat_machine_open(&s->machine, NULL, &error);

	if (r < 0)
		tlat_cyc_say_error(s, &error);
	return r;
}

/* Timers are stamped on the kernel's own clock: a counter need not be calibrated, which takes
 * longer than all the rest. */
static int open_clock(struct tlat_cyc_session *s)
{
	struct tlat_error error;
	int r = tlat_clock_open(&s->clock, s->machine, TLAT_CLOCK_GETTIME, &error);

	if (r < 0)
		tlat_cyc_say_error(s, &error);
	return r;
}

static int put_main_on(struct tlat_cyc_session *s, const char *list)
{
	struct tlat_error error;
	int r = tlat_rt_apply(&s->placed, &TLAT_RT_OPTS(.cpus = list), &error);

	if (r < 0)
		tlat_cyc_say("the main thread's CPUs: %s", error.text);
	return r;
}

/* Where the user says; the machine is read again, so that the library's own thread obeys too. */
static int place_main_as_told(struct tlat_cyc_session *s)
{
	struct tlat_cyc_cpus cpus;
	int r = tlat_cyc_cpus_find_main(&cpus, s->config, s->machine);

	if (r == 0)
		r = put_main_on(s, cpus.list);
	tlat_cyc_cpus_free(&cpus);
	if (r < 0)
		return r;
	tlat_machine_close(s->machine);
	s->machine = NULL;
	return open_machine(s);
}

/* Off the measured CPUs where there are others: the library's thread looks for such a place by
 * itself. */
static int place_main(struct tlat_cyc_session *s)
{
	if (s->config->mainaffinity)
		return place_main_as_told(s);
	if (s->cpus.rest && !s->cpus.floats)
		put_main_on(s, s->cpus.rest);
	return 0;
}

static void hold_idle_states_off(struct tlat_cyc_session *s)
{
	int64_t us = s->config->latency_us;
	struct tlat_error error;

	if (s->config->default_system || s->config->laptop) {
		tlat_cyc_say("/dev/cpu_dma_latency is left alone: idle states count");
		return;
	}
	if (tlat_rt_apply(&s->awake, &TLAT_RT_OPTS(.cpu_latency_ns = us ? us * 1000 : TLAT_ZERO),
			  &error) < 0)
		tlat_cyc_say("%s", error.text);
	else
		printf("# /dev/cpu_dma_latency set to %" PRId64 "us\n", us);
}

/* Of several threads one would soon have an interval of 0, and spin. */
static int check_distance(const struct tlat_cyc_session *s)
{
	int64_t us = s->config->distance_us;

	if (us >= 0)
		return 0;
	if (s->cpus.threads == 1) {
		tlat_cyc_say("--distance '%" PRId64 "': left out of account: there is one thread",
			     us);
		return 0;
	}
	tlat_cyc_say("--distance '%" PRId64
		     "': below 0, which only one thread can have, not %" PRId32 "; give 0 or more",
		     us, s->cpus.threads);
	return -EINVAL;
}

static void name_threads(struct tlat_cyc_session *s)
{
	const struct tlat_cyc_config *config = s->config;

	for (int32_t i = 0; i < s->stats.n; i++) {
		struct tlat_cyc_thread *t = &s->stats.threads[i];
		int64_t priority = config->priority - (config->priospread ? i : 0);

		t->interval_us = config->interval_us + i * config->distance_us;
		t->priority = config->priority && priority < 1 ? 1 : priority;
		if (!config->priority)
			t->priority = 0;
	}
}

static int open_rest(struct tlat_cyc_session *s)
{
	const struct tlat_cyc_config *config = s->config;
	int r = tlat_cyc_stats_init(&s->stats, config, s->cpus.threads);
	struct tlat_error error;

	if (r < 0) {
		tlat_tool_fail(&error, r,
			       "out of memory for %" PRId32 " threads with %" PRId64
			       " histogram rows",
			       s->cpus.threads, config->rows);
		tlat_cyc_say_error(s, &error);
		return r;
	}
	name_threads(s);
	r = tlat_cyc_smi_open(&s->smi, config->smi, &s->cpus);
	return r < 0 ? r : tlat_cyc_status_open(&s->status, config->fifo);
}

int tlat_cyc_session_open(struct tlat_cyc_session *s, struct tlat_cyc_config *config)
{
	int r;

	*s = (struct tlat_cyc_session){ .config = config, .broke = -1 };
	tlat_stop_install();
	tlat_rights_raise_priority();
	tlat_rights_limit_rt(0, TLAT_CYC_NAME, TLAT_CYC_BAD);
	r = check_files(config);
	if (r == 0)
		r = tlat_cyc_probe_find(config, &s->probe);
	if (r == 0)
		r = lock_memory(s);
	if (r == 0)
		r = open_machine(s);
	if (r == 0)
		r = tlat_cyc_cpus_find(&s->cpus, config, s->machine);
	if (r == 0)
		r = check_distance(s);
	if (r == 0)
		tlat_cyc_choose_priority(config, s->cpus.threads);
	if (r == 0)
		r = place_main(s);
	if (r == 0)
		r = open_clock(s);
	if (r == 0)
		r = open_rest(s);
	if (r < 0)
		return r;
	if (config->verbose)
		tlat_cyc_put_cpus(config, &s->cpus);
	hold_idle_states_off(s);
	if (!config->strict) /* which ends with the finding that says so */
		tlat_cyc_check_timers();
	if (config->resolution)
		tlat_cyc_check_resolution(config->clock);
	return 0;
}

void tlat_cyc_session_close(struct tlat_cyc_session *s)
{
	tlat_report_free(s->report);
	tlat_cyc_status_close(&s->status);
	tlat_cyc_smi_close(&s->smi);
	tlat_cyc_stats_free(&s->stats);
	tlat_cyc_cpus_free(&s->cpus);
	tlat_rt_undo(s->awake);
	tlat_rt_undo(s->locked);
	tlat_rt_undo(s->placed);
	tlat_clock_close(s->clock);
	tlat_machine_close(s->machine);
}
