// SPDX-License-Identifier: MIT
/* test-watch.c - kernel counters, replayed: files are written, watched, rewritten, compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "machine_state.h"
#include "noise.h"
#include "storm.h"
#include "watching.h"

#define CPUIDLE "sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s"

/* What is said to lie on FUSE. */
static enum { NOTHING, FILES, EVERYTHING } fuse;

/* Takes libc's place in this program. */
int fstatfs(int fd, struct statfs *fs)
{
	struct stat st;
	bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	memset(fs, 0, sizeof(*fs));
	fs->f_type = fuse == EVERYTHING || (fuse == FILES && is_file) ? 0x65735546 : 0x9fa0;
	return 0;
}

static int fuse_teardown(void **state)
{
	fuse = NOTHING;
	return tree_teardown(state);
}

static void put_idle(const struct tree *tree, int cpu, int index, const char *name,
		     const char *usage, const char *time)
{
	const char *const file[] = { "name", "usage", "time" };
	const char *const text[] = { name, usage, time };

	for (int i = 0; i < 3; i++) {
		char path[128];

		snprintf(path, sizeof(path), CPUIDLE, cpu, index, file[i]);
		put(tree, path, text[i]);
	}
}

static uint64_t count_of(const struct tlat_watch_count *rows, size_t n, int32_t cpu,
			 const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].cpu == cpu && !strcmp(rows[i].name, name))
			return rows[i].count;
	return 0;
}

static void assert_count(const struct tlat_watch_count *row, int32_t cpu, const char *name,
			 uint64_t count)
{
	assert_string_equal(row->name, name);
	assert_int_equal(row->cpu, cpu);
	assert_int_equal(row->count, count);
}

static void interrupts_that_moved_on_the_cpus_used_are_kept(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 1 };

	put(tree, "proc/interrupts",
	    "           CPU0       CPU1       \n"
	    " 36:          7      42544 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
	    " 40:          3          0 PCI-MSIX-0000:00:04.0   0-edge      virtio3-config\n"
	    "LOC:      18776      14961   Local timer interrupts\n"
	    "RES:       4166       5172   Rescheduling interrupts\n"
	    "ERR:          0\n"
	    "MIS:          0\n");
	watch = begin(tree, cpus, 1);
	put(tree, "proc/interrupts",
	    "           CPU0       CPU1       \n"
	    " 36:          9      42547 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
	    " 40:          8          0 PCI-MSIX-0000:00:04.0   0-edge      virtio3-config\n"
	    "LOC:      18999      15061   Local timer interrupts\n"
	    "RES:       5166       5172   Rescheduling interrupts\n"
	    "ERR:          2\n"
	    "MIS:          0\n");
	delta = end(watch);
	assert_int_equal(delta->n_interrupts, 3);
	assert_count(&delta->interrupts[0], 1, "36:virtio1-req.0", 3);
	assert_count(&delta->interrupts[1], 1, "LOC", 100);
	assert_count(&delta->interrupts[2], -1, "ERR", 2);
	tlat_watch_delta_free(delta);
}

static void columns_are_cpus_by_their_header_and_not_by_position(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 9, 2048 };

	put(tree, "proc/interrupts",
	    "     CPU4  CPU9  CPU2048\n"
	    "LOC:   10    20       30   Local timer interrupts\n");
	put(tree, "proc/softirqs",
	    "     CPU4  CPU9  CPU2048\n"
	    " TIMER:   1    2       3\n"
	    "   RCU:   1    1       1\n");
	watch = begin(tree, cpus, 2);
	put(tree, "proc/interrupts",
	    "     CPU4  CPU9  CPU2048\n"
	    "LOC:  110    25       37   Local timer interrupts\n");
	put(tree, "proc/softirqs",
	    "     CPU4  CPU9  CPU2048\n"
	    " TIMER:   9    9       9\n"
	    "   RCU:   5    1       1\n");
	delta = end(watch);
	assert_int_equal(delta->n_interrupts, 2);
	assert_count(&delta->interrupts[0], 9, "LOC", 5);
	assert_count(&delta->interrupts[1], 2048, "LOC", 7);
	assert_int_equal(delta->n_softirqs, 2);
	assert_count(&delta->softirqs[0], 9, "TIMER", 7);
	assert_count(&delta->softirqs[1], 2048, "TIMER", 6);
	tlat_watch_delta_free(delta);
}

/* Row r of column c counts 1000 r + c at first, then r + c more. */
static void put_wide(const struct tree *tree, int columns, int rows, bool later)
{
	static char text[128 * 1024];
	size_t n = 0;

	for (int c = 0; c < columns; c++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %9s%d", "CPU", 2 * c);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
	for (int r = 0; r < rows; r++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%3d:", r);
		for (int c = 0; c < columns; c++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %10d",
					      1000 * r + c + (later ? r + c : 0));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "  IO-APIC  %d-edge  dev%d\n", r,
				      r);
	}
	assert_true(n < sizeof(text));
	put(tree, "proc/interrupts", text);
}

static void a_table_of_128_columns_is_read_exactly(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	int32_t cpus[128];

	for (int c = 0; c < 128; c++)
		cpus[c] = 2 * c;
	put_wide(tree, 128, 60, false);
	watch = begin(tree, cpus, 128);
	put_wide(tree, 128, 60, true);
	delta = end(watch);
	assert_int_equal(delta->n_interrupts, 128 * 60 - 1);
	for (size_t i = 0; i < delta->n_interrupts; i++) {
		const struct tlat_watch_count *row = &delta->interrupts[i];

		assert_int_equal(row->count, atoi(row->name) + row->cpu / 2);
	}
	tlat_watch_delta_free(delta);
}

static void counters_that_wrap_restart_or_appear_are_counted_on(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 0 };

	put(tree, "proc/interrupts",
	    "  CPU0\nLOC: 4294967290 Local\nCAL: 500 Calls\n 7: 5 edge old-name\n");
	watch = begin(tree, cpus, 1);
	put(tree, "proc/interrupts",
	    "  CPU0\n 5: 40 edge fresh\n 7: 6 edge new-name\nLOC: 4 Local\nCAL: 20 Calls\n");
	delta = end(watch);
	assert_int_equal(delta->n_interrupts, 4);
	assert_count(&delta->interrupts[0], 0, "5:fresh", 40);
	assert_count(&delta->interrupts[1], 0, "7:new-name", 1);
	assert_count(&delta->interrupts[2], 0, "LOC", 10);
	assert_count(&delta->interrupts[3], 0, "CAL", 20);
	tlat_watch_delta_free(delta);
}

static void cpus_that_come_or_go_meanwhile_are_not_counted(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 1, 2, 3 };

	put(tree, "proc/interrupts", "  CPU1 CPU2\nLOC: 10 20 Local\n");
	put(tree, "proc/stat", "cpu1 0 0 0 0 0 0 0 5 0 0\ncpu2 0 0 0 0 0 0 0 6 0 0\n");
	put_idle(tree, 2, 0, "C1\n", "5\n", "50\n");
	watch = begin(tree, cpus, 3);
	put(tree, "proc/interrupts", "  CPU1 CPU3\nLOC: 11 7000 Local\n");
	put(tree, "proc/stat", "cpu1 0 0 0 0 0 0 0 6 0 0\ncpu3 0 0 0 0 0 0 0 900 0 0\n");
	assert_int_equal(unlinkat(tree->fd, "sys/devices/system/cpu/cpu2/cpuidle/state0/usage", 0),
			 0);
	delta = end(watch);
	assert_int_equal(delta->n_interrupts, 1);
	assert_count(&delta->interrupts[0], 1, "LOC", 1);
	assert_int_equal(delta->steal_ns, TLAT_NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
	assert_int_equal(delta->n_idle, 0);
	tlat_watch_delta_free(delta);
}

static void idle_states_are_told_by_cpu_and_name(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 12, 3 };

	put_idle(tree, 12, 0, "POLL\n", "1\n", "10\n");
	put_idle(tree, 12, 1, "haltpoll idle\n", "100\n", "123456789012\n");
	put_idle(tree, 3, 0, "POLL\n", "4\n", "40\n");
	put_idle(tree, 3, 1, "C6\n", "7\n", "70\n");
	watch = begin(tree, cpus, 2);
	put_idle(tree, 12, 1, "haltpoll idle\n", "142\n", "123456790000\n");
	put_idle(tree, 3, 1, "C6\n", "2\n", "30\n");
	delta = end(watch);
	assert_int_equal(delta->n_idle, 2);
	assert_int_equal(delta->idle[0].cpu, 12);
	assert_string_equal(delta->idle[0].state, "haltpoll idle");
	assert_int_equal(delta->idle[0].usage, 42);
	assert_int_equal(delta->idle[0].time_ns, 988000);
	assert_int_equal(delta->idle[1].cpu, 3);
	assert_int_equal(delta->idle[1].usage, 2);
	assert_int_equal(delta->idle[1].time_ns, 30000);
	tlat_watch_delta_free(delta);
}

static void switches_and_steal_come_from_stat(void **state)
{
	const struct tree *tree = *state;
	int64_t tick_ns = TLAT_NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 1, 10 };

	put(tree, "proc/stat",
	    "cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 1 1 1 1 1 1 50 0 0\ncpu1 1 2 3 4 5 6 7 11 0 0\n"
	    "cpu10 1 2 3 4 5 6 7 8 0 0\nintr 5 0 0\nctxt 305576\nbtime 1\n");
	watch = begin(tree, cpus, 2);
	put(tree, "proc/stat",
	    "cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 1 1 1 1 1 1 70 0 0\ncpu1 9 9 9 9 9 9 9 14 0 0\n"
	    "cpu10 9 9 9 9 9 9 9 7 0 0\nintr 5 0 0\nctxt 305600\nbtime 1\n");
	delta = end(watch);
	assert_int_equal(delta->switches, 24);
	assert_int_equal(delta->steal_ns, 3 * tick_ns);
	tlat_watch_delta_free(delta);
}

static void each_cpu_has_its_own_steal(void **state)
{
	const struct tree *tree = *state;
	int64_t tick_ns = TLAT_NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	struct tlat_watch_delta *delta, *copy;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 1, 2, 3 };

	put(tree, "proc/stat", "cpu1 1 1 1 1 1 1 1 5 0 0\ncpu3 1 1 1 1 1 1 1 50 0 0\n");
	watch = begin(tree, cpus, 3);
	put(tree, "proc/stat", "cpu1 1 1 1 1 1 1 1 6 0 0\ncpu3 1 1 1 1 1 1 1 57 0 0\n");
	delta = end(watch);
	copy = tlat_watch_delta_copy(delta);
	tlat_watch_delta_free(delta);
	assert_int_equal(tlat_watch_stolen_ns(copy, 1), tick_ns);
	assert_int_equal(tlat_watch_stolen_ns(copy, 2), 0); /* not known */
	assert_int_equal(tlat_watch_stolen_ns(copy, 3), 7 * tick_ns);
	assert_int_equal(copy->steal_ns, 8 * tick_ns);
	tlat_watch_delta_free(copy);
}

static void assert_stolen(int64_t steal_ns, int64_t duration_ns, enum tlat_severity severity)
{
	struct tlat_watch_delta delta = { .steal_ns = steal_ns, .duration_ns = duration_ns };
	struct tlat_findings findings = { 0 };

	tlat_watch_find(&delta, &findings);
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].id, "stolen-time");
	assert_int_equal(findings.v[0].severity, severity);
	tlat_findings_free(&findings);
}

static void a_hundredth_stolen_is_a_warning(void **state)
{
	(void)state;
	assert_stolen(500000000, 2000000000, TLAT_WARN);
	assert_stolen(20000000, 2000000000, TLAT_INFO);
	assert_stolen(30000000, 2000000000, TLAT_WARN);
	assert_stolen(10000000, 60000000, TLAT_INFO); /* one step of the count */
}

static void throttling_is_summed_over_own_group_and_those_above(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 0 };

	put(tree, "proc/self/cgroup", "3:cpu,cpuacct:/a/b\n0::/x/y\n");
	put(tree, "sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
	put(tree, "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_periods 9\nnr_throttled 3\n");
	put(tree, "sys/fs/cgroup/cpu,cpuacct/a/b/cpu.stat", "nr_periods 9\nnr_throttled 10\n");
	put(tree, "sys/fs/cgroup/unified/cgroup.controllers", "\n");
	put(tree, "sys/fs/cgroup/unified/x/cpu.stat", "usage_usec 1\nnr_throttled 100\n");
	put(tree, "sys/fs/cgroup/unified/x/y/cpu.stat", "usage_usec 1\n");
	watch = begin(tree, cpus, 1);
	put(tree, "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_periods 9\nnr_throttled 5\n");
	put(tree, "sys/fs/cgroup/cpu,cpuacct/a/b/cpu.stat", "nr_periods 9\nnr_throttled 11\n");
	put(tree, "sys/fs/cgroup/unified/x/cpu.stat", "usage_usec 1\nnr_throttled 107\n");
	delta = end(watch);
	assert_int_equal(delta->throttled, 2 + 1 + 7);
	tlat_watch_delta_free(delta);
}

static void hrtimer_counts_are_those_of_the_cpus_used(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 1 };

	put(tree, "proc/timer_list",
	    "Timer List Version: v0.10\n\ncpu: 0\n clock 0:\n  .nr_events      : 1\n"
	    "  .nr_retries     : 1\n  .nr_hangs       : 1\n\ncpu: 1\n  .hres_active    : 1\n"
	    "  .nr_events      : 14943\n  .nr_retries     : 65535\n  .nr_hangs       : 3\n"
	    "  .max_hang_time  : 0\n\nTick Device: mode:     1\nPer CPU device: 0\n");
	watch = begin(tree, cpus, 1);
	put(tree, "proc/timer_list",
	    "Timer List Version: v0.10\n\ncpu: 0\n clock 0:\n  .nr_events      : 9\n"
	    "  .nr_retries     : 9\n  .nr_hangs       : 9\n\ncpu: 1\n  .hres_active    : 1\n"
	    "  .nr_events      : 15000\n  .nr_retries     : 1\n  .nr_hangs       : 4\n"
	    "  .max_hang_time  : 0\n\nTick Device: mode:     1\nPer CPU device: 0\n");
	delta = end(watch);
	assert_int_equal(delta->hrtimer_events, 57);
	assert_int_equal(delta->hrtimer_retries, 2);
	assert_int_equal(delta->hrtimer_hangs, 1);
	tlat_watch_delta_free(delta);
}

static void what_no_file_tells_is_not_known(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	const int32_t cpus[] = { 0, 8191 };

	delta = end(begin(tree, cpus, 2));
	assert_int_equal(delta->steal_ns, -1);
	assert_int_equal(delta->throttled, -1);
	assert_int_equal(delta->hrtimer_events, -1);
	assert_int_equal(delta->hrtimer_retries, -1);
	assert_int_equal(delta->hrtimer_hangs, -1);
	assert_int_equal(delta->n_idle + delta->n_interrupts + delta->n_softirqs, 0);
	assert_int_equal(delta->switches, 0);
	tlat_watch_delta_free(delta);
}

static void a_file_that_vanishes_meanwhile_is_not_known(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 0 };

	put(tree, "proc/interrupts", "  CPU0\nLOC: 10 Local\n");
	put(tree, "proc/stat", "cpu0 0 0 0 0 0 0 0 5 0 0\nctxt 7\n");
	watch = begin(tree, cpus, 1);
	unlinkat(tree->fd, "proc/interrupts", 0);
	unlinkat(tree->fd, "proc/stat", 0);
	delta = end(watch);
	assert_int_equal(delta->n_interrupts, 0);
	assert_int_equal(delta->steal_ns, -1);
	assert_int_equal(delta->switches, 0);
	tlat_watch_delta_free(delta);
}

static void a_watch_can_be_begun_again_and_needs_a_beginning(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch_delta *first, *second, *none = NULL;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 0, 0 };

	put(tree, "proc/softirqs", "  CPU0\nTIMER: 10\n");
	assert_int_equal(tlat_watch_new(&watch, tree->fd, cpus, 2), 0);
	assert_int_equal(tlat_watch_end(watch, &none), -EINVAL);
	assert_int_equal(tlat_watch_begin(watch), 0);
	put(tree, "proc/softirqs", "  CPU0\nTIMER: 15\n");
	assert_int_equal(tlat_watch_end(watch, &first), 0);
	assert_int_equal(tlat_watch_begin(watch), 0);
	assert_int_equal(tlat_watch_begin(watch), 0);
	put(tree, "proc/softirqs", "  CPU0\nTIMER: 17\n");
	assert_int_equal(tlat_watch_end(watch, &second), 0);
	tlat_watch_free(watch);
	assert_int_equal(count_of(first->softirqs, first->n_softirqs, 0, "TIMER"), 5);
	assert_int_equal(count_of(second->softirqs, second->n_softirqs, 0, "TIMER"), 2);
	tlat_watch_delta_free(first);
	tlat_watch_delta_free(second);
}

static void a_cpu_number_out_of_range_is_refused(void **state)
{
	const struct tree *tree = *state;
	struct tlat_watch *watch;
	const int32_t bad[][1] = { { -1 }, { TLAT_CPUS_MAX } };

	for (int i = 0; i < 2; i++)
		assert_int_equal(tlat_watch_new(&watch, tree->fd, bad[i], 1), -EINVAL);
}

static void the_running_kernel_can_be_watched(void **state)
{
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 0 };
	int fd = tlat_root_open(NULL);

	(void)state;
	assert_int_equal(tlat_watch_new(&watch, fd, cpus, 1), 0);
	assert_int_equal(tlat_watch_begin(watch), 0);
	for (int i = 0; i < 50; i++)
		usleep(1000);
	assert_int_equal(tlat_watch_end(watch, &delta), 0);
	assert_true(delta->duration_ns >= 50000000);
	assert_true(delta->switches >= 50);
	tlat_watch_delta_free(delta);
	tlat_watch_free(watch);
	close(fd);
}

static int64_t stolen_from_cpu0(const struct tree *tree)
{
	struct tlat_watch_delta *delta;
	struct tlat_watch *watch;
	const int32_t cpus[] = { 0 };
	int64_t ns;

	put(tree, "proc/stat", "cpu0 10 0 10 100 5 0 0 7 0 0\nctxt 100\n");
	watch = begin(tree, cpus, 1);
	put(tree, "proc/stat", "cpu0 10 0 10 100 5 0 0 70 0 0\nctxt 150\n");
	delta = end(watch);
	assert_int_equal(delta->switches, 50);
	assert_int_equal(delta->n_stolen, delta->steal_ns >= 0);
	ns = delta->steal_ns;
	tlat_watch_delta_free(delta);
	return ns;
}

/* Its CPU 0 is another one's number. */
static void a_faked_stat_tells_nothing_of_a_cpu(void **state)
{
	const struct tree *tree = *state;
	struct tlat_noise_thread t = { .cpu = 0 };
	struct tlat_machine machine = { .root_fd = tree->fd };
	struct tlat_findings findings = { 0 };
	uint64_t idle, all;

	fuse = FILES;
	assert_int_equal(stolen_from_cpu0(tree), -1);
	assert_false(tlat_storm_idle(tree->fd, 0, &idle, &all));
	tlat_noise_count(&t, 1, tree->fd);
	assert_false(t.counted.has_steal);
	tlat_machine_audit(&machine, NULL, &findings);
	assert_non_null(tlat_findings_get(&findings, "proc-stat-faked"));
	tlat_findings_free(&findings);
}

static void a_recorded_machine_is_read_from_any_file_system(void **state)
{
	const struct tree *tree = *state;
	struct tlat_noise_thread t = { .cpu = 0 };
	uint64_t idle, all;

	for (fuse = NOTHING; fuse <= EVERYTHING; fuse += EVERYTHING) {
		assert_true(stolen_from_cpu0(tree) > 0);
		assert_true(tlat_storm_idle(tree->fd, 0, &idle, &all));
		tlat_noise_count(&t, 1, tree->fd);
		assert_true(t.counted.has_steal);
	}
}

#define ON_FUSE(test)  cmocka_unit_test_setup_teardown(test, tree_setup, fuse_teardown)
#define REPLAYED(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		REPLAYED(interrupts_that_moved_on_the_cpus_used_are_kept),
		REPLAYED(columns_are_cpus_by_their_header_and_not_by_position),
		REPLAYED(a_table_of_128_columns_is_read_exactly),
		REPLAYED(counters_that_wrap_restart_or_appear_are_counted_on),
		REPLAYED(cpus_that_come_or_go_meanwhile_are_not_counted),
		REPLAYED(idle_states_are_told_by_cpu_and_name),
		REPLAYED(switches_and_steal_come_from_stat),
		REPLAYED(each_cpu_has_its_own_steal),
		ON_FUSE(a_faked_stat_tells_nothing_of_a_cpu),
		ON_FUSE(a_recorded_machine_is_read_from_any_file_system),
		cmocka_unit_test(a_hundredth_stolen_is_a_warning),
		REPLAYED(throttling_is_summed_over_own_group_and_those_above),
		REPLAYED(hrtimer_counts_are_those_of_the_cpus_used),
		REPLAYED(what_no_file_tells_is_not_known),
		REPLAYED(a_file_that_vanishes_meanwhile_is_not_known),
		REPLAYED(a_watch_can_be_begun_again_and_needs_a_beginning),
		REPLAYED(a_cpu_number_out_of_range_is_refused),
		cmocka_unit_test(the_running_kernel_can_be_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
