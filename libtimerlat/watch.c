// SPDX-License-Identifier: MIT
/*
 * watch.c - two snapshots of the kernel's counters and their difference. Knows in which order to
 * take them (idle states last and first, next to the clock, so that the snapshots' own work stays
 * outside) and how wide each counter is before it wraps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "clock.h"
#include "proc_stat.h"
#include "watch.h"

enum {
	STATES_MAX = 16, /* CPUIDLE_STATE_MAX is 10 */
	GROUPS_MAX = 32, /* cgroups from ours to the root, both hierarchies */
	SPARE_ROWS = 64, /* interrupts that may be requested during a run */
};

struct table {
	const char *path;
	struct tlat_watch_count *before, *after;
	size_t n_before, max;
};

struct idle_state {
	int32_t cpu, index;
	char name[28];
	uint64_t usage, time_us; /* at the beginning */
	bool known;
};

struct group {
	char path[TLAT_CGROUP_FILE_BYTES]; /* of its cpu.stat */
	uint64_t before;
	bool known;
};

struct tlat_watch {
	int root_fd;
	struct tlat_cpuset set;
	size_t n_cpus, n_idle, n_groups;
	struct tlat_watch_cpu *before, *after;
	struct idle_state *idle;
	struct group groups[GROUPS_MAX];
	struct table interrupts, softirqs;
	uint64_t switches;
	bool has_switches;
	bool tells_steal;
	int64_t start_ns;
	char *text; /* any file at the end, without allocation */
	size_t text_size;
	struct tlat_watch_delta *delta;
};

static void find_idle_states(struct tlat_watch *w, int32_t cpu)
{
	for (int32_t i = 0; i < STATES_MAX; i++) {
		struct idle_state *state = &w->idle[w->n_idle];
		char path[80], name[64];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpuidle/state%d/name",
			 cpu, i);
		if (tlat_root_read(w->root_fd, path, name, sizeof(name)) < 0)
			return;
		state->index = i;
		state->cpu = cpu;
		snprintf(state->name, sizeof(state->name), "%.27s", name);
		w->n_idle++;
	}
}

static bool read_throttled(struct tlat_watch *w, const char *path, uint64_t *ret_count)
{
	char text[1024];

	return tlat_root_read(w->root_fd, path, text, sizeof(text)) > 0 &&
	       tlat_watch_read_value(text, "nr_throttled", ret_count);
}

/* From our group up to the mount; a limit on any of them stops us. */
static void find_groups(struct tlat_watch *w, const char *controller)
{
	struct tlat_cgroup at;
	bool more = tlat_cgroup_own(&at, w->root_fd, controller) == 0;

	for (; more && w->n_groups < GROUPS_MAX; more = tlat_cgroup_up(&at)) {
		struct group *group = &w->groups[w->n_groups];

		tlat_cgroup_file(&at, "cpu.stat", group->path);
		w->n_groups += read_throttled(w, group->path, &group->before);
	}
}

static int find_all(struct tlat_watch *w, const int32_t *cpus, size_t n)
{
	w->before = calloc(n + 1, sizeof(*w->before));
	w->after = calloc(n + 1, sizeof(*w->after));
	w->idle = calloc(n * STATES_MAX + 1, sizeof(*w->idle));
	if (!w->before || !w->after || !w->idle)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (cpus[i] < 0 || cpus[i] >= TLAT_CPUS_MAX)
			return -EINVAL;
		if (tlat_cpuset_has(&w->set, cpus[i]))
			continue;
		tlat_cpuset_add(&w->set, cpus[i]);
		w->before[w->n_cpus++].cpu = cpus[i];
		find_idle_states(w, cpus[i]);
	}
	find_groups(w, "cpu");
	find_groups(w, NULL);
	return 0;
}

int tlat_watch_new(struct tlat_watch **ret_watch, int root_fd, const int32_t *cpus, size_t n)
{
	struct tlat_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->root_fd = root_fd;
	w->tells_steal = !tlat_proc_stat_is_faked(root_fd);
	w->interrupts.path = "proc/interrupts";
	w->softirqs.path = "proc/softirqs";
	r = find_all(w, cpus, n);
	if (r < 0)
		tlat_watch_free(w);
	else
		*ret_watch = w;
	return r;
}

static void table_free(struct table *table)
{
	free(table->before);
	free(table->after);
	table->before = table->after = NULL;
	table->n_before = table->max = 0;
}

void tlat_watch_free(struct tlat_watch *w)
{
	if (!w)
		return;
	table_free(&w->interrupts);
	table_free(&w->softirqs);
	tlat_watch_delta_free(w->delta);
	free(w->before);
	free(w->after);
	free(w->idle);
	free(w->text);
	free(w);
}

/*
 * The whole file at the beginning, to be freed; a file that cannot be read is empty. The buffer of
 * the end must hold what it may have grown to.
 */
static char *first_text(struct tlat_watch *w, const char *path)
{
	char *text = NULL;
	ssize_t n = tlat_root_read_all(w->root_fd, path, &text);

	if (n < 0)
		return strdup("");
	if ((size_t)n * 2 + 8192 > w->text_size)
		w->text_size = (size_t)n * 2 + 8192;
	return text;
}

/* The same at the end, in the buffer made before. */
static const char *last_text(struct tlat_watch *w, const char *path)
{
	return tlat_root_read(w->root_fd, path, w->text, w->text_size) < 0 ? "" : w->text;
}

static int begin_cpus(struct tlat_watch *w)
{
	char *stat = first_text(w, "proc/stat"), *timers = first_text(w, "proc/timer_list");
	int r = stat && timers ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->n_cpus; i++)
		w->before[i].has_steal = w->before[i].has_timers = false;
	if (r == 0) {
		w->has_switches = tlat_watch_read_value(stat, "ctxt", &w->switches);
		if (w->tells_steal)
			tlat_watch_read_steal(stat, w->before, w->n_cpus);
		tlat_watch_read_timers(timers, w->before, w->n_cpus);
	}
	free(stat);
	free(timers);
	return r;
}

static int begin_table(struct tlat_watch *w, struct table *table,
		       struct tlat_watch_count **ret_moved)
{
	char *text = first_text(w, table->path);
	size_t n;

	table_free(table);
	if (!text)
		return -ENOMEM;
	n = tlat_watch_read_table(text, &w->set, NULL, 0);
	table->max = n + SPARE_ROWS;
	table->before = calloc(table->max, sizeof(*table->before));
	table->after = calloc(table->max, sizeof(*table->after));
	*ret_moved = calloc(table->max, sizeof(**ret_moved));
	if (table->before)
		table->n_before = tlat_watch_read_table(text, &w->set, table->before, n);
	free(text);
	return table->before && table->after && *ret_moved ? 0 : -ENOMEM;
}

static bool read_idle(struct tlat_watch *w, const struct idle_state *state, uint64_t *ret_usage,
		      uint64_t *ret_time_us)
{
	static const char *const names[] = { "usage", "time" };
	uint64_t values[2];

	for (int i = 0; i < 2; i++) {
		char path[80];
		int64_t value;

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s",
			 state->cpu, state->index, names[i]);
		if (tlat_root_read_int(w->root_fd, path, &value) < 0 || value < 0)
			return false;
		values[i] = (uint64_t)value;
	}
	*ret_usage = values[0];
	*ret_time_us = values[1];
	return true;
}

static void begin_idle(struct tlat_watch *w)
{
	for (size_t i = 0; i < w->n_idle; i++) {
		struct idle_state *state = &w->idle[i];

		state->known = read_idle(w, state, &state->usage, &state->time_us);
	}
}

static void begin_groups(struct tlat_watch *w)
{
	for (size_t i = 0; i < w->n_groups; i++)
		w->groups[i].known = read_throttled(w, w->groups[i].path, &w->groups[i].before);
}

static int make_delta(struct tlat_watch *w)
{
	tlat_watch_delta_free(w->delta);
	w->delta = calloc(1, sizeof(*w->delta));
	if (!w->delta)
		return -ENOMEM;
	w->delta->idle = calloc(w->n_idle + 1, sizeof(*w->delta->idle));
	w->delta->stolen = calloc(w->n_cpus + 1, sizeof(*w->delta->stolen));
	return w->delta->idle && w->delta->stolen ? 0 : -ENOMEM;
}

static int make_text(struct tlat_watch *w)
{
	free(w->text);
	w->text = malloc(w->text_size + 1);
	return w->text ? 0 : -ENOMEM;
}

int tlat_watch_begin(struct tlat_watch *w)
{
	int r = make_delta(w);

	if (r == 0)
		r = begin_cpus(w);
	if (r == 0)
		r = begin_table(w, &w->softirqs, &w->delta->softirqs);
	if (r == 0)
		r = begin_table(w, &w->interrupts, &w->delta->interrupts);
	if (r == 0)
		r = make_text(w);
	if (r < 0)
		return r;
	begin_groups(w);
	begin_idle(w);
	w->start_ns = (int64_t)tlat_gettime_ns(CLOCK_MONOTONIC);
	return 0;
}

static void end_idle(struct tlat_watch *w)
{
	struct tlat_watch_delta *delta = w->delta;

	for (size_t i = 0; i < w->n_idle; i++) {
		const struct idle_state *state = &w->idle[i];
		struct tlat_watch_idle *moved = &delta->idle[delta->n_idle];
		uint64_t usage, time_us;

		if (!state->known || !read_idle(w, state, &usage, &time_us))
			continue;
		moved->cpu = state->cpu;
		memcpy(moved->state, state->name, sizeof(moved->state));
		moved->usage = tlat_watch_moved(state->usage, usage, 64);
		moved->time_ns = tlat_watch_moved(state->time_us, time_us, 64) * 1000;
		delta->n_idle += moved->usage || moved->time_ns;
	}
}

/* A numbered row is known by its number: its device may change its name. */
static bool same_row(const struct tlat_watch_count *a, const struct tlat_watch_count *b)
{
	size_t len = strcspn(a->name, ":");

	return a->cpu == b->cpu && len == strcspn(b->name, ":") && !memcmp(a->name, b->name, len);
}

/* The row of before that is row; hint is where it is while nothing has been added or removed. */
static const struct tlat_watch_count *find_row(const struct table *table, size_t hint,
					       const struct tlat_watch_count *row)
{
	for (size_t i = 0; i < table->n_before; i++) {
		const struct tlat_watch_count *old = &table->before[(hint + i) % table->n_before];

		if (same_row(old, row))
			return old;
	}
	return NULL;
}

static bool had_cpu(const struct table *table, int32_t cpu)
{
	for (size_t i = 0; i < table->n_before; i++)
		if (table->before[i].cpu == cpu)
			return true;
	return false;
}

/* A row that is new has counted from zero; one of a CPU that came online meanwhile has not. */
static size_t end_table(struct tlat_watch *w, struct table *table, struct tlat_watch_count *moved)
{
	size_t n =
		tlat_watch_read_table(last_text(w, table->path), &w->set, table->after, table->max);
	size_t hint = 0, n_moved = 0;

	for (size_t i = 0; i < n && i < table->max; i++) {
		const struct tlat_watch_count *row = &table->after[i];
		const struct tlat_watch_count *old = find_row(table, hint, row);

		if (old)
			hint = (size_t)(old - table->before) + 1;
		else if (!had_cpu(table, row->cpu))
			continue;
		moved[n_moved] = *row;
		moved[n_moved].count = tlat_watch_moved(old ? old->count : 0, row->count, 32);
		n_moved += moved[n_moved].count != 0;
	}
	return n_moved;
}

/* To a sum that is -1 while not known. */
static void add(int64_t *sum, uint64_t more)
{
	uint64_t room;

	if (*sum < 0)
		*sum = 0;
	room = (uint64_t)(INT64_MAX - *sum);
	*sum += (int64_t)(more < room ? more : room);
}

/* A hypervisor may correct steal downwards, which is not a new beginning. */
static uint64_t steal_ns(const struct tlat_watch_cpu *before, const struct tlat_watch_cpu *after)
{
	if (after->steal_ticks < before->steal_ticks)
		return 0;
	return (after->steal_ticks - before->steal_ticks) *
	       ((uint64_t)TLAT_NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void add_stolen(struct tlat_watch_delta *delta, const struct tlat_watch_cpu *before,
		       const struct tlat_watch_cpu *after)
{
	struct tlat_watch_stolen *stolen = &delta->stolen[delta->n_stolen++];
	int64_t ns = 0;

	add(&ns, steal_ns(before, after));
	*stolen = (struct tlat_watch_stolen){ .cpu = before->cpu, .ns = ns };
	add(&delta->steal_ns, (uint64_t)ns);
}

/* Widths as in struct hrtimer_cpu_base. */
static void add_timers(struct tlat_watch_delta *delta, const struct tlat_watch_cpu *before,
		       const struct tlat_watch_cpu *after)
{
	add(&delta->hrtimer_events,
	    tlat_watch_moved(before->hrtimer_events, after->hrtimer_events, 32));
	add(&delta->hrtimer_retries,
	    tlat_watch_moved(before->hrtimer_retries, after->hrtimer_retries, 16));
	add(&delta->hrtimer_hangs,
	    tlat_watch_moved(before->hrtimer_hangs, after->hrtimer_hangs, 16));
}

static void end_cpus(struct tlat_watch *w)
{
	struct tlat_watch_delta *delta = w->delta;
	const char *stat;
	uint64_t switches;

	for (size_t i = 0; i < w->n_cpus; i++)
		w->after[i] = (struct tlat_watch_cpu){ .cpu = w->before[i].cpu };
	stat = last_text(w, "proc/stat");
	if (w->has_switches && tlat_watch_read_value(stat, "ctxt", &switches))
		delta->switches = tlat_watch_moved(w->switches, switches, 64);
	if (w->tells_steal)
		tlat_watch_read_steal(stat, w->after, w->n_cpus);
	tlat_watch_read_timers(last_text(w, "proc/timer_list"), w->after, w->n_cpus);
	delta->steal_ns = -1;
	delta->hrtimer_events = delta->hrtimer_retries = delta->hrtimer_hangs = -1;
	for (size_t i = 0; i < w->n_cpus; i++) {
		if (w->before[i].has_steal && w->after[i].has_steal)
			add_stolen(delta, &w->before[i], &w->after[i]);
		if (w->before[i].has_timers && w->after[i].has_timers)
			add_timers(delta, &w->before[i], &w->after[i]);
	}
}

static void end_groups(struct tlat_watch *w)
{
	uint64_t count;

	w->delta->throttled = -1;
	for (size_t i = 0; i < w->n_groups; i++)
		if (w->groups[i].known && read_throttled(w, w->groups[i].path, &count))
			add(&w->delta->throttled, tlat_watch_moved(w->groups[i].before, count, 32));
}

int tlat_watch_end(struct tlat_watch *w, struct tlat_watch_delta **ret_delta)
{
	struct tlat_watch_delta *delta = w->delta;

	if (!delta)
		return -EINVAL;
	delta->duration_ns = (int64_t)tlat_gettime_ns(CLOCK_MONOTONIC) - w->start_ns;
	end_idle(w);
	delta->n_interrupts = end_table(w, &w->interrupts, delta->interrupts);
	delta->n_softirqs = end_table(w, &w->softirqs, delta->softirqs);
	end_groups(w);
	end_cpus(w);
	w->delta = NULL;
	*ret_delta = delta;
	return 0;
}
