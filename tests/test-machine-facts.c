// SPDX-License-Identifier: MIT
/* test-machine-facts.c - facts and audit of composed machines, and what the real one tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "clock.h"
#include "replay-machine.h"
#include "rt_budget.h"
#include "slew.h"

/* The kernel's answer to sched_getaffinity(2), when a test wants another than the real one. */
static struct {
	bool active;
	size_t mask_bytes; /* shorter masks are refused */
	const char *cpus;
} fake;

/* Of timers, and of the coarse clock; 0: the real one. */
static long fake_resolution_ns, fake_tick_ns;

/* Takes libc's place in this program. */
int clock_getres(clockid_t id, struct timespec *resolution)
{
	long ns = id == CLOCK_MONOTONIC		 ? fake_resolution_ns
		  : id == CLOCK_MONOTONIC_COARSE ? fake_tick_ns
						 : 0;

	if (!ns)
		return (int)syscall(SYS_clock_getres, id, resolution);
	*resolution = (struct timespec){ .tv_nsec = ns };
	return 0;
}

static bool protect_clock;

/* Takes libc's place in this program. */
int adjtimex(struct timex *timex)
{
	if (protect_clock) {
		errno = EPERM;
		return -1;
	}
	timex->freq = timex->offset = 0;
	timex->tick = 10000;
	return 0;
}

/* Takes libc's place in this program. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	struct tlat_cpuset set;

	if (!fake.active)
		return syscall(SYS_sched_getaffinity, pid, size, mask) < 0 ? -1 : 0;
	if (size < fake.mask_bytes) {
		errno = EINVAL;
		return -1;
	}
	set = compose_set(fake.cpus);
	memset(mask, 0, size);
	for (int32_t i = tlat_cpuset_next(&set, -1); i >= 0; i = tlat_cpuset_next(&set, i))
		((unsigned char *)mask)[i / 8] |= (unsigned char)(1 << (i % 8));
	return 0;
}

static int clean_up_fake(void **state)
{
	fake.active = protect_clock = false;
	fake_resolution_ns = fake_tick_ns = 0;
	return clean_up(state);
}

static void open_real(void)
{
	struct tlat_error error;

	if (tlat_machine_open(&machine, NULL, &error) < 0)
		fail_msg("%s", error.text);
}

/* What is said to a run on the CPUs of a list, or (NULL) of the machine. */
static void audit(const char *list, struct tlat_findings *findings)
{
	struct tlat_findings ignored = { 0 };
	struct tlat_placement place;

	if (list)
		assert_int_equal(tlat_machine_place_solo(machine, list, &place, &ignored, NULL), 0);
	tlat_machine_audit(machine, list ? &place : NULL, findings);
	tlat_findings_free(&ignored);
}

static void assert_audit(const char *list, const char *expected)
{
	struct tlat_findings findings = { 0 };
	char names[512];

	audit(list, &findings);
	name_findings(&findings, names);
	tlat_findings_free(&findings);
	assert_string_equal(names, expected);
}

static void assert_audit_says(const char *list, const char *id, const char *text)
{
	struct tlat_findings findings = { 0 };

	audit(list, &findings);
	assert_finding(&findings, id, text);
	tlat_findings_free(&findings);
}

static void a_laptop_tells_its_facts(void **state)
{
	const struct tlat_machine_facts *facts;

	(void)state;
	replay("laptop");
	facts = tlat_machine_facts(machine);
	assert_string_equal(facts->kernel, "6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1");
	assert_string_equal(facts->cmdline, "BOOT_IMAGE=/vmlinuz root=/dev/sda1 quiet "
					    "mitigations=off");
	assert_string_equal(facts->preempt, "voluntary");
	assert_string_equal(facts->cpu_model, "Intel(R) Core(TM) i7-8550U");
	assert_string_equal(facts->governor, "powersave");
	assert_string_equal(facts->freq_driver, "intel_pstate");
	assert_string_equal(facts->idle_driver, "intel_idle");
	assert_string_equal(facts->idle_governor, "menu");
	assert_string_equal(facts->clocksource, "tsc");
	assert_string_equal(facts->hypervisor, "");
	assert_string_equal(facts->mitigations, "off");
	assert_string_equal(facts->boot_id, "11111111-2222-3333-4444-555555555555");
	assert_string_equal(facts->hostname, "laptop");
	assert_int_equal(facts->hz, -1);
	assert_int_equal(facts->timer_resolution_ns, -1);
	assert_int_equal(facts->timer_migration, 1);
	assert_int_equal(facts->smt, 1);
	assert_int_equal(facts->rt_group_sched, -1);
	assert_int_equal(facts->thp_always, 1);
	assert_int_equal(facts->numa_balancing, 0);
	assert_int_equal(facts->turbo, 1);
	assert_int_equal(facts->rt_runtime_us, 950000);
	assert_int_equal(facts->rt_period_us, 1000000);
}

static void other_machines_tell_theirs(void **state)
{
	(void)state;
	replay("isolated-boot");
	assert_string_equal(tlat_machine_facts(machine)->preempt, "rt");
	assert_string_equal(tlat_machine_facts(machine)->governor, "performance");
	end_replay();
	replay("board");
	assert_string_equal(tlat_machine_facts(machine)->preempt, "full");
	assert_string_equal(tlat_machine_facts(machine)->cpu_model, "Some Board rev 2");
	end_replay();
	replay("container");
	assert_string_equal(tlat_machine_facts(machine)->hypervisor, "kvm");
	assert_int_equal(tlat_machine_facts(machine)->smt, 1);
	end_replay();
	replay("server");
	assert_string_equal(tlat_machine_facts(machine)->hypervisor, "");
	assert_string_equal(tlat_machine_facts(machine)->governor,
			    "0-99,101-127: performance, 100: schedutil");
	end_replay();
	replay("cpuset-v1");
	assert_int_equal(tlat_machine_facts(machine)->rt_group_sched, 1);
}

static void reopen(void)
{
	struct tlat_error error;

	tlat_machine_close(machine);
	if (tlat_machine_open(&machine, root.root, &error) < 0)
		fail_msg("%s", error.text);
}

static void a_loaded_bpf_scheduler_is_named(void **state)
{
	(void)state;
	replay("server");
	assert_string_equal(tlat_machine_facts(machine)->sched_ext, "");
	compose_file(&root, "sys/kernel/sched_ext/root/ops", "lavd_1.0.9_g1a2b3c4\\n");
	reopen();
	assert_string_equal(tlat_machine_facts(machine)->sched_ext, "lavd_1.0.9_g1a2b3c4");
}

#define ARM_CPUINFO                                                                                \
	"processor\\t: 0\\nFeatures\\t: fp asimd\\nCPU implementer\\t: 0x41\\n"                    \
	"CPU architecture: 8\\nCPU variant\\t: 0x3\\nCPU part\\t: 0xd0c\\nCPU revision\\t: 1\\n"
#define ARM_MODEL     "implementer 0x41, variant 0x3, part 0xd0c, revision 1"
#define RISCV_CPUINFO "processor\\t: 0\\nhart\\t\\t: 0\\nisa\\t\\t: rv64imafdch\\n"
#define POWER_CPUINFO                                                                              \
	"processor\\t: 0\\ncpu\\t\\t: POWER9\\n\\nmodel\\t\\t: IBM pSeries (emulated by qemu)\\n"
#define S390_CPUINFO                                                                               \
	"vendor_id       : IBM/S390\\n# processors    : 2\\nfeatures\\t: esan3 zarch stfle\\n"     \
	"processor 0: version = FF,  identification = 0133E8,  machine = 2964\\n"

/* None of these has a flag of the CPU for it. */
static void virtual_machines_are_known_by_their_firmware(void **state)
{
	static const char product[] = "sys/class/dmi/id/product_name",
			  vendor[] = "sys/class/dmi/id/sys_vendor",
			  compatible[] = "proc/device-tree/compatible",
			  model[] = "proc/device-tree/model", sysinfo[] = "proc/sysinfo";
	static const struct {
		const char *cpuinfo, *file, *text, *hypervisor, *cpu_model;
	} expected[] = {
		{ ARM_CPUINFO, product, "OpenStack Nova\\n", "kvm", ARM_MODEL },
		{ ARM_CPUINFO, vendor, "KubeVirt\\n", "kvm", ARM_MODEL },
		{ ARM_CPUINFO, product, "Alibaba Cloud ECS\\n", "kvm", ARM_MODEL },
		{ ARM_CPUINFO, product, "Apple Virtualization Generic Platform\\n", "apple",
		  ARM_MODEL },
		{ ARM_CPUINFO, product, "Alibaba Cloud ECS metal\\n", "", ARM_MODEL },
		{ ARM_CPUINFO, product, "A server\\n", "", ARM_MODEL },
		{ ARM_CPUINFO, compatible, "linux,dummy-virt", "yes", ARM_MODEL },
		{ ARM_CPUINFO, model, "linux,dummy-virt", "yes", ARM_MODEL },
		{ ARM_CPUINFO, model, "Some Board", "", "Some Board" },
		{ RISCV_CPUINFO, model, "riscv-virtio,qemu", "qemu", "riscv-virtio,qemu" },
		{ POWER_CPUINFO, compatible, "qemu,pseries", "qemu", "" },
		{ S390_CPUINFO, sysinfo, "Type: 2964\\nVM00 Control Program: KVM/Linux\\n", "kvm",
		  "IBM/S390 machine 2964" },
		{ S390_CPUINFO, sysinfo, "VM00 Name: KVM\\nVM00 Control Program: z/VM    7.3.0\\n",
		  "zvm", "IBM/S390 machine 2964" },
		{ S390_CPUINFO, sysinfo, "Type: 2964\\nLPAR Number: 1\\n", "",
		  "IBM/S390 machine 2964" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(expected); i++) {
		const struct tlat_machine_facts *facts;

		replay("null-files");
		compose_file(&root, "proc/cpuinfo", expected[i].cpuinfo);
		compose_file(&root, expected[i].file, expected[i].text);
		reopen();
		facts = tlat_machine_facts(machine);
		assert_string_equal(facts->hypervisor, expected[i].hypervisor);
		assert_string_equal(facts->cpu_model, expected[i].cpu_model);
		end_replay();
	}
}

/* Of this machine, that is; of another one, whose files these are, it tells nothing. */
static void the_kernel_tells_its_name_where_proc_does_not(void **state)
{
	const struct tlat_machine_facts *facts;
	char expected[160];
	struct utsname name;

	(void)state;
	replay("two");
	facts = tlat_machine_facts(machine);
	assert_string_equal(facts->kernel, "");
	assert_string_equal(facts->hostname, "");
	assert_audit_says(NULL, "proc-restricted", "/proc shows processes only");
	machine->live = true;
	tlat_machine_read_facts(machine);
	assert_int_equal(uname(&name), 0);
	snprintf(expected, sizeof(expected), "%s %s", name.release, name.version);
	assert_string_equal(facts->kernel, expected);
	assert_string_equal(facts->hostname, name.nodename);
}

static void what_cannot_be_read_is_unknown(void **state)
{
	const struct tlat_machine_facts *facts;

	(void)state;
	replay("null-files");
	facts = tlat_machine_facts(machine);
	assert_string_equal(facts->kernel, "");
	assert_string_equal(facts->preempt, "");
	assert_string_equal(facts->cpu_model, "");
	assert_string_equal(facts->governor, "");
	assert_string_equal(facts->hypervisor, "");
	assert_int_equal(facts->rt_runtime_us, -1);
	assert_int_equal(facts->smt, -1);
	assert_int_equal(facts->turbo, -1);
	assert_set(&machine->allowed, "0-3");
}

static void the_audit_names_what_each_machine_suffers_from(void **state)
{
	static const struct {
		const char *machine, *findings;
	} expected[] = {
		{ "laptop", "not-isolated cpu-governor! rt-throttling smt-active "
			    "deep-idle-states transparent-hugepages" },
		/* From Linux 6.12 on only RT_GROUP_SCHED throttles. */
		{ "server", "not-isolated cpu-governor! smt-active numa-balancing" },
		{ "cpuset-v1", "rt-throttling" },
		{ "isolated-boot", "timer-migration" },
		{ "container", "hypervisor not-isolated clocksource-scaled smt-active" },
		{ "board", "not-isolated rt-throttling" },
		{ "null-files", "not-isolated isolation-unknown" },
		{ "not-effective", "not-isolated isolation-not-effective! "
				   "isolation-not-effective!" },
		{ "partition-inside", "" },
		{ "partition-own", "" },
		{ "partition-remote", "" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(expected); i++) {
		replay(expected[i].machine);
		assert_audit(NULL, expected[i].findings);
		end_replay();
	}
}

static void findings_say_the_value_and_the_cause(void **state)
{
	(void)state;
	replay("laptop");
	assert_audit_says(NULL, "cpu-governor", "powersave");
	assert_audit_says(NULL, "deep-idle-states", "idle state C8 takes up to 200 us");
	end_replay();
	replay("not-effective");
	assert_audit_says(NULL, "isolation-not-effective",
			  "isolcpus: requested 2-3, effective none");
	assert_audit_says(NULL, "isolation-not-effective",
			  "nohz_full: requested 2-3, effective none");
	end_replay();
	replay("partition-invalid");
	assert_audit_says(NULL, "isolation-not-effective",
			  "/rt: isolated invalid (Cpu list in cpuset.cpus not exclusive)");
	end_replay();
	replay("server");
	compose_file(&root, "sys/devices/system/clocksource/clocksource0/current_clocksource",
		     "hpet\\n");
	tlat_machine_close(machine);
	assert_int_equal(tlat_machine_open(&machine, root.root, NULL), 0);
	assert_audit_says(NULL, "clocksource", "hpet");
}

/* One CPU of the laptop is made ready to be measured, the others are not. */
static void a_run_is_told_of_its_own_cpus(void **state)
{
	(void)state;
	replay("laptop");
	compose_cpu_file(&root, 3, "cpufreq/scaling_governor", "performance\\n");
	compose_cpu_file(&root, 3, "cpuidle/state2/disable", "1\\n");
	compose_cpu_file(&root, 4, "cpufreq/scaling_governor", "schedutil\\n");
	tlat_machine_close(machine);
	assert_int_equal(tlat_machine_open(&machine, root.root, NULL), 0);
	assert_string_equal(tlat_machine_facts(machine)->governor,
			    "0-2,5-7: powersave, 3: performance, 4: schedutil");
	assert_audit("3", "not-isolated rt-throttling smt-active transparent-hugepages");
	assert_audit("3-5", "not-isolated cpu-governor! cpu-governor! rt-throttling smt-active "
			    "deep-idle-states transparent-hugepages");
	assert_audit_says("3-5", "cpu-governor", "governor of CPUs 5 is powersave");
	assert_audit_says("3-5", "cpu-governor", "governor of CPUs 4 is schedutil");
	assert_audit_says("3-5", "deep-idle-states", "C8 takes up to 200 us");
	assert_audit_says("3-5", "deep-idle-states", "states above 10 us: 4-5");
	assert_audit_says(NULL, "cpu-governor", "governor of CPUs 0-2,5-7 is powersave");
	end_replay();
	replay("isolated-boot");
	assert_audit("1", "");
	assert_audit_says("1-2", "timer-migration", "nohz_full CPUs 2 are");
}

static void assert_pauses(const char *id, const char *text, const char *remedy)
{
	struct tlat_rt_budget budget = tlat_rt_budget_on(machine, 1);
	struct tlat_findings findings = { 0 };

	tlat_rt_budget_find(&budget, 1, "a pause of 50 ms is", &findings);
	assert_finding(&findings, id, text);
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].remedy, remedy));
	assert_int_equal(tlat_machine_throttles(tlat_machine_facts(machine)), !budget.fair_server);
	tlat_findings_free(&findings);
}

/* Another knob than that of throttling, and the same numbers by default. */
static void who_pauses_real_time_threads_is_named(void **state)
{
	static const char knob[] = "/sys/kernel/debug/sched/fair_server/cpu1/runtime";

	(void)state;
	replay("laptop");
	assert_pauses("rt-throttled", "950000 of every 1000000 us", "sched_rt_runtime_us=-1");
	end_replay();
	replay("server");
	assert_pauses("fair-server", "50000 of every 1000000 us", knob);
	compose_file(&root, "proc/sys/kernel/sched_rt_runtime_us", "-1\\n");
	reopen();
	assert_pauses("fair-server", "50000 of every 1000000 us", knob);
	compose_file(&root, "sys/kernel/debug/sched/fair_server/cpu1/runtime", "20000000\\n");
	assert_pauses("fair-server", "20000 of every 1000000 us", knob);
	compose_file(&root, "sys/kernel/debug/sched/fair_server/cpu1/runtime", "0\\n");
	assert_int_equal(tlat_rt_budget_on(machine, 1).runtime_ns,
			 tlat_rt_budget_on(machine, 1).period_ns);
	end_replay();
	replay("cpuset-v1");
	assert_true(tlat_machine_throttles(tlat_machine_facts(machine)));
}

static void a_quota_of_the_group_or_of_one_above_is_named(void **state)
{
	(void)state;
	replay("cpuset-v1");
	compose_file(&root, "proc/self/cgroup", "1:cpu:/t/inner\\n0::/\\n");
	compose_file(&root, "sys/fs/cgroup/cpu/t/inner/cpu.cfs_quota_us", "-1\\n");
	compose_file(&root, "sys/fs/cgroup/cpu/t/cpu.cfs_quota_us", "50000\\n");
	compose_file(&root, "sys/fs/cgroup/cpu/t/cpu.cfs_period_us", "100000\\n");
	assert_audit_says(NULL, "cpu-quota", "/t may use 50000 us of CPU time in every 100000 us");
	end_replay();
	replay("partition-inside");
	compose_file(&root, "proc/self/cgroup", "0::/t\\n");
	compose_file(&root, "sys/fs/cgroup/t/cpu.max", "max 100000\\n");
	assert_audit(NULL, "");
	compose_file(&root, "sys/fs/cgroup/t/cpu.max", "25000 100000\\n");
	assert_audit_says(NULL, "cpu-quota", "/t may use 25000 us of CPU time in every 100000 us");
}

static void a_root_without_cpus_is_refused_with_a_reason(void **state)
{
	struct tlat_error error;

	(void)state;
	replay("board");
	tlat_machine_close(machine);
	machine = NULL;
	compose_remove(&root);
	assert_int_equal(tlat_machine_open(&machine, root.root, &error), -ENOENT);
	assert_non_null(strstr(error.text, root.root));
	assert_int_equal(mkdir(root.root, 0755), 0);
	assert_int_equal(tlat_machine_open(&machine, root.root, &error), -ENOENT);
	assert_non_null(strstr(error.text, "no CPU is listed"));
	assert_null(machine);
	compose_remove(&root);
}

static void the_real_machine_is_read_and_a_pair_found(void **state)
{
	struct tlat_findings findings = { 0 };
	struct tlat_placement p;
	struct timespec tick;

	(void)state;
	open_real();
	assert_true(tlat_cpuset_count(tlat_machine_online(machine)) >= 1);
	assert_true(tlat_cpuset_count(&machine->allowed) >= 1);
	assert_int_equal(tlat_machine_place_pair(machine, NULL, &p, &findings, NULL), 0);
	assert_true(tlat_cpuset_has(tlat_machine_online(machine), p.kick));
	assert_true(tlat_cpuset_has(tlat_machine_online(machine), p.wait));
	tlat_machine_audit(machine, NULL, &findings);
	tlat_findings_free(&findings);
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	assert_in_range(tlat_machine_facts(machine)->hz * (tick.tv_nsec / 1000), 990000, 1010000);
}

static void timers_that_expire_at_the_tick_are_told(void **state)
{
	struct tlat_findings findings = { 0 };
	char names[512];

	(void)state;
	fake_resolution_ns = 1;
	open_real();
	audit(NULL, &findings);
	name_findings(&findings, names);
	tlat_findings_free(&findings);
	assert_null(strstr(names, "low-resolution"));
	tlat_machine_close(machine);
	fake_resolution_ns = 3333333;
	open_real();
	assert_int_equal(tlat_machine_facts(machine)->timer_resolution_ns, 3333333);
	assert_audit_says(NULL, "low-resolution", "in steps of 3.33 ms");
}

/* Sandboxes know one resolution for all clocks. */
static void a_coarse_clock_without_a_tick_tells_no_hz(void **state)
{
	static const struct {
		long tick_ns;
		int32_t hz;
	} expected[] = {
		{ 1, -1 },	  { 1000, -1 },	    { 90000, -1 },    { 100000, 10000 },
		{ 3333333, 300 }, { 4000000, 250 }, { 41666666, 24 }, { 50000000, -1 },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(expected); i++) {
		fake_tick_ns = expected[i].tick_ns;
		open_real();
		assert_int_equal(tlat_machine_facts(machine)->hz, expected[i].hz);
		assert_int_equal(tlat_tick_ns(), expected[i].hz < 0 ? 0 : expected[i].tick_ns);
		tlat_machine_close(machine);
		machine = NULL;
	}
}

static void a_slew_that_is_assumed_is_told(void **state)
{
	(void)state;
	open_real();
	for (int refused = 0; refused <= 1; refused++) {
		struct tlat_findings findings = { 0 };
		const struct tlat_finding *finding;

		protect_clock = refused;
		assert_true(refused ? tlat_slew_ppb() > 100000000 : tlat_slew_ppb() == 0);
		audit(NULL, &findings);
		finding = tlat_findings_get(&findings, "slew-unknown");
		assert_int_equal(finding != NULL, refused);
		if (refused)
			assert_non_null(strstr(finding->remedy, "ProtectClock=no"));
		tlat_findings_free(&findings);
	}
}

static void an_affinity_mask_longer_than_expected_is_read_whole(void **state)
{
	(void)state;
	fake.active = true;
	fake.mask_bytes = 256;
	fake.cpus = "0,1500";
	open_real();
	assert_set(&machine->allowed, "0,1500");
	assert_true(tlat_cpuset_has(tlat_machine_online(machine), 1500));
}

static void masks_of_any_width_up_to_the_largest_are_read(void **state)
{
	static const char *const masks[] = { "0-64", "0-95", "0-127", "0,8191" };

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(masks); i++) {
		fake.active = true;
		fake.mask_bytes = i == 3 ? TLAT_CPUS_MAX / 8 : 16;
		fake.cpus = masks[i];
		open_real();
		assert_set(&machine->allowed, masks[i]);
		tlat_machine_close(machine);
		machine = NULL;
	}
}

static void a_refused_affinity_call_leaves_the_online_cpus(void **state)
{
	(void)state;
	fake.active = true;
	fake.mask_bytes = TLAT_CPUS_MAX;
	fake.cpus = "0";
	open_real();
	assert_true(tlat_cpuset_equal(&machine->allowed, tlat_machine_online(machine)));
	assert_false(tlat_machine_restricted(machine));
}

#define TEST(name) cmocka_unit_test_teardown(name, clean_up_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_laptop_tells_its_facts),
		TEST(other_machines_tell_theirs),
		TEST(a_loaded_bpf_scheduler_is_named),
		TEST(virtual_machines_are_known_by_their_firmware),
		TEST(the_kernel_tells_its_name_where_proc_does_not),
		TEST(what_cannot_be_read_is_unknown),
		TEST(the_audit_names_what_each_machine_suffers_from),
		TEST(findings_say_the_value_and_the_cause),
		TEST(a_run_is_told_of_its_own_cpus),
		TEST(who_pauses_real_time_threads_is_named),
		TEST(a_quota_of_the_group_or_of_one_above_is_named),
		TEST(a_root_without_cpus_is_refused_with_a_reason),
		TEST(the_real_machine_is_read_and_a_pair_found),
		TEST(timers_that_expire_at_the_tick_are_told),
		TEST(a_slew_that_is_assumed_is_told),
		TEST(a_coarse_clock_without_a_tick_tells_no_hz),
		TEST(an_affinity_mask_longer_than_expected_is_read_whole),
		TEST(masks_of_any_width_up_to_the_largest_are_read),
		TEST(a_refused_affinity_call_leaves_the_online_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
