// SPDX-License-Identifier: MIT
/*
 * machine_facts.c - the conditions that every report quotes: kernel, preemption, clocksource,
 * governors, hypervisor, knobs. What cannot be read stays "" or -1.
 */
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <time.h>

#include "cgroup.h"
#include "clock.h"
#include "machine_state.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

#define CPU_DIR		"sys/devices/system/cpu/"
#define CLOCKSOURCE_DIR "sys/devices/system/clocksource/clocksource0/"

/* A number from a file that may be missing. */
static int64_t number(const struct tlat_machine *machine, const char *path)
{
	int64_t value;

	return tlat_root_read_int(machine->root_fd, path, &value) < 0 ? -1 : value;
}

/* The first of several files that says anything. */
static void first_text(const struct tlat_machine *machine, const char *const *paths, size_t n,
		       char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < n && !text[0]; i++)
		tlat_machine_text(machine, paths[i], text, size);
}

static void read_kernel(struct tlat_machine *machine)
{
	struct tlat_machine_facts *facts = &machine->facts;
	char release[80], version[80];

	tlat_machine_text(machine, "proc/sys/kernel/osrelease", release, sizeof(release));
	tlat_machine_text(machine, "proc/sys/kernel/version", version, sizeof(version));
	if (release[0])
		snprintf(facts->kernel, sizeof(facts->kernel), "%s%s%s", release,
			 version[0] ? " " : "", version);
	else
		tlat_machine_text(machine, "proc/version", facts->kernel, sizeof(facts->kernel));
}

/* Where /proc shows processes only, the kernel itself still tells its name. */
static void ask_kernel(struct tlat_machine *machine)
{
	struct tlat_machine_facts *facts = &machine->facts;
	struct utsname name;

	if (!machine->live || uname(&name) < 0)
		return;
	if (!facts->kernel[0])
		snprintf(facts->kernel, sizeof(facts->kernel), "%s %s", name.release, name.version);
	if (!facts->hostname[0])
		snprintf(facts->hostname, sizeof(facts->hostname), "%.63s", name.nodename);
}

/* "none (voluntary) full": the one in force stands in parentheses. */
static bool preempt_from_debugfs(const struct tlat_machine *machine, char *preempt, size_t size)
{
	char text[96], *open, *close;

	tlat_machine_text(machine, "sys/kernel/debug/sched/preempt", text, sizeof(text));
	open = strchr(text, '(');
	close = open ? strchr(open, ')') : NULL;
	if (!close)
		return false;
	snprintf(preempt, size, "%.*s", (int)(close - open - 1), open + 1);
	return true;
}

/*
 * The version text tells how the kernel was built. PREEMPT_DYNAMIC leaves the choice to boot;
 * without PREEMPT it is none or voluntary, which the text does not tell apart.
 */
static void preempt_from_version(const struct tlat_machine *machine, char *preempt, size_t size)
{
	const char *kernel = machine->facts.kernel;

	if (strstr(kernel, "PREEMPT_DYNAMIC"))
		tlat_machine_parameter(machine, "preempt", preempt, size);
	else if (strstr(kernel, "PREEMPT_LAZY"))
		snprintf(preempt, size, "lazy");
	else if (strstr(kernel, "PREEMPT"))
		snprintf(preempt, size, "full");
}

static void read_preempt(struct tlat_machine *machine)
{
	struct tlat_machine_facts *facts = &machine->facts;

	if (number(machine, "sys/kernel/realtime") == 1 || strstr(facts->kernel, "PREEMPT_RT"))
		snprintf(facts->preempt, sizeof(facts->preempt), "rt");
	else if (!preempt_from_debugfs(machine, facts->preempt, sizeof(facts->preempt)))
		preempt_from_version(machine, facts->preempt, sizeof(facts->preempt));
}

/* A line of /proc/cpuinfo; false when there is none. */
static bool cpuinfo_value(const char *cpuinfo, const char *key, char *value, size_t size)
{
	const char *found = tlat_text_value(cpuinfo, key);

	if (found)
		snprintf(value, size, "%.*s", (int)strcspn(found, "\n"), found);
	return found;
}

/* What firmware, device tree or clocksource call the usual hypervisors. */
static const char *hypervisor_name(const char *text)
{
	static const struct {
		const char *part, *name;
	} known[] = {
		{ "KVM", "kvm" },
		{ "kvm", "kvm" },
		{ "QEMU", "kvm" },
		{ "Amazon EC2", "kvm" },
		{ "Google", "kvm" },
		{ "VMware", "vmware" },
		{ "VirtualBox", "oracle" },
		{ "innotek", "oracle" },
		{ "Microsoft", "hyperv" },
		{ "hyperv", "hyperv" },
		{ "Xen", "xen" },
		{ "xen", "xen" },
		{ "Parallels", "parallels" },
		{ "Bochs", "bochs" },
		{ "BHYVE", "bhyve" },
		{ "OpenStack", "kvm" },
		{ "KubeVirt", "kvm" },
		{ "Alibaba Cloud ECS", "kvm" },
		{ "Apple Virtualization", "apple" },
		{ "VirtualMac", "apple" },
		{ "qemu", "qemu" },
		{ "linux,dummy-virt", "yes" },
		{ "z/VM", "zvm" },
	};

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(known); i++)
		if (strstr(text, known[i].part))
			return known[i].name;
	return NULL;
}

/* The numbers by which ARM and s390x tell a model; text stays where there are none. */
static void model_numbers(const char *cpuinfo, char *text, size_t size)
{
	char implementer[12], variant[12] = "?", part[12], revision[12] = "?";
	const char *machine = strstr(cpuinfo, "machine = ");

	if (cpuinfo_value(cpuinfo, "CPU implementer", implementer, sizeof(implementer)) &&
	    cpuinfo_value(cpuinfo, "CPU part", part, sizeof(part))) {
		cpuinfo_value(cpuinfo, "CPU variant", variant, sizeof(variant));
		cpuinfo_value(cpuinfo, "CPU revision", revision, sizeof(revision));
		snprintf(text, size, "implementer %s, variant %s, part %s, revision %s",
			 implementer, variant, part, revision);
	} else if (machine) {
		machine += strlen("machine = ");
		snprintf(text, size, "IBM/S390 machine %.*s", (int)strcspn(machine, " ,\n"),
			 machine);
	}
}

static void read_model(struct tlat_machine *machine, const char *cpuinfo)
{
	static const char *const keys[] = {
		"model name", "Model Name", "cpu model", "uarch", "Model", "Hardware",
	};
	struct tlat_machine_facts *facts = &machine->facts;

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(keys); i++)
		if (cpuinfo_value(cpuinfo, keys[i], facts->cpu_model, sizeof(facts->cpu_model)))
			return;
	tlat_machine_text(machine, "proc/device-tree/model", facts->cpu_model,
			  sizeof(facts->cpu_model));
	/* All guests of a kind are one board. */
	if (!facts->cpu_model[0] || hypervisor_name(facts->cpu_model))
		model_numbers(cpuinfo, facts->cpu_model, sizeof(facts->cpu_model));
}

/* s390x: what runs this guest; a partition of the machine has no such line. */
static const char *hypervisor_from_sysinfo(const struct tlat_machine *machine)
{
	char sysinfo[8192], program[64];

	if (tlat_root_read_head(machine->root_fd, "proc/sysinfo", sysinfo, sizeof(sysinfo)) < 0 ||
	    !cpuinfo_value(sysinfo, "VM00 Control Program", program, sizeof(program)))
		return NULL;
	return hypervisor_name(program) ? hypervisor_name(program) : "yes";
}

static const char *hypervisor_from_files(const struct tlat_machine *machine)
{
	static const char *const paths[] = {
		CLOCKSOURCE_DIR "available_clocksource", "sys/devices/virtual/dmi/id/product_name",
		"sys/devices/virtual/dmi/id/sys_vendor", "sys/class/dmi/id/product_name",
		"sys/class/dmi/id/sys_vendor",		 "proc/device-tree/hypervisor/compatible",
		"proc/device-tree/compatible",		 "proc/device-tree/model",
	};

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(paths); i++) {
		char text[128];
		const char *name;

		tlat_machine_text(machine, paths[i], text, sizeof(text));
		name = hypervisor_name(text);
		if (name)
			return name;
	}
	return hypervisor_from_sysinfo(machine);
}

/*
 * Firmware alone proves nothing (a cloud's bare metal carries its vendor too) where the CPU has a
 * flag for it, which is x86.
 */
static void read_hypervisor(struct tlat_machine *machine, const char *cpuinfo)
{
	struct tlat_machine_facts *facts = &machine->facts;
	char flags[4096], product[64];
	const char *name;
	bool is_x86, flag;

	tlat_machine_text(machine, "sys/hypervisor/type", facts->hypervisor,
			  sizeof(facts->hypervisor));
	if (facts->hypervisor[0])
		return;
	is_x86 = cpuinfo_value(cpuinfo, "flags", flags, sizeof(flags));
	flag = is_x86 && strstr(flags, " hypervisor");
	tlat_machine_text(machine, "sys/class/dmi/id/product_name", product, sizeof(product));
	if (is_x86 ? !flag : strstr(product, "metal") != NULL)
		return;
	name = hypervisor_from_files(machine);
	if (name || flag)
		snprintf(facts->hypervisor, sizeof(facts->hypervisor), "%s", name ? name : "yes");
}

/* The first CPU stands for all; the file of a large machine takes tens of ms to read. */
static void read_cpuinfo(struct tlat_machine *machine)
{
	char cpuinfo[8192];

	if (tlat_root_read_head(machine->root_fd, "proc/cpuinfo", cpuinfo, sizeof(cpuinfo)) < 0)
		cpuinfo[0] = '\0';
	read_model(machine, cpuinfo);
	read_hypervisor(machine, cpuinfo);
}

static void add_governor(struct tlat_machine *machine, int32_t cpu, const char *name)
{
	for (size_t i = 0; i < TLAT_GOVERNORS_MAX; i++) {
		struct tlat_governor *governor = &machine->governors[i];

		if (!governor->name[0])
			snprintf(governor->name, sizeof(governor->name), "%s", name);
		if (strcmp(governor->name, name))
			continue;
		tlat_cpuset_add(&governor->cpus, cpu);
		return;
	}
}

/* One name that holds for all, else each behind its CPUs. */
static void name_governors(struct tlat_machine *machine)
{
	char *text = machine->facts.governor;
	size_t size = sizeof(machine->facts.governor), n = 0;
	bool mixed = machine->governors[1].name[0];

	for (size_t i = 0; i < TLAT_GOVERNORS_MAX && n < size; i++) {
		const struct tlat_governor *governor = &machine->governors[i];
		char cpus[TLAT_SAY_BYTES];

		if (!governor->name[0])
			break;
		if (mixed)
			n += (size_t)snprintf(text + n, size - n, "%s%s: ", i ? ", " : "",
					      tlat_cpuset_say(&governor->cpus, cpus, sizeof(cpus)));
		if (n < size)
			n += (size_t)snprintf(text + n, size - n, "%s", governor->name);
	}
}

static void read_governors(struct tlat_machine *machine)
{
	const struct tlat_cpuset *online = &machine->online;

	for (int32_t cpu = tlat_cpuset_next(online, -1); cpu >= 0;
	     cpu = tlat_cpuset_next(online, cpu)) {
		char path[96], name[sizeof(machine->governors->name)];

		snprintf(path, sizeof(path), CPU_DIR "cpu%d/cpufreq/scaling_governor", cpu);
		tlat_machine_text(machine, path, name, sizeof(name));
		if (name[0])
			add_governor(machine, cpu, name);
	}
	name_governors(machine);
}

static void read_frequency(struct tlat_machine *machine)
{
	struct tlat_machine_facts *facts = &machine->facts;
	int64_t no_turbo = number(machine, CPU_DIR "intel_pstate/no_turbo");
	char path[96];

	read_governors(machine);
	snprintf(path, sizeof(path), CPU_DIR "cpu%d/cpufreq/scaling_driver",
		 tlat_cpuset_next(&machine->online, -1));
	tlat_machine_text(machine, path, facts->freq_driver, sizeof(facts->freq_driver));
	facts->turbo = (int32_t)number(machine, CPU_DIR "cpufreq/boost");
	if (no_turbo >= 0)
		facts->turbo = no_turbo == 0;
}

static void read_idle(struct tlat_machine *machine)
{
	static const char *const governors[] = {
		CPU_DIR "cpuidle/current_governor",
		CPU_DIR "cpuidle/current_governor_ro",
	};
	struct tlat_machine_facts *facts = &machine->facts;

	tlat_machine_text(machine, CPU_DIR "cpuidle/current_driver", facts->idle_driver,
			  sizeof(facts->idle_driver));
	first_text(machine, governors, TLAT_ARRAY_SIZE(governors), facts->idle_governor,
		   sizeof(facts->idle_governor));
}

/* The kernel's word, else whether any core has two CPUs, if cores are known at all. */
static int32_t read_smt(const struct tlat_machine *machine)
{
	int64_t active = number(machine, CPU_DIR "smt/active");

	for (int32_t cpu = tlat_cpuset_next(&machine->online, -1); cpu >= 0 && active < 0;
	     cpu = tlat_cpuset_next(&machine->online, cpu))
		if (machine->cpu[cpu].core != cpu)
			active = 1;
	return (int32_t)active;
}

/* Only version 1 of cgroups has the budget; its file shows that the kernel has it too. */
static int32_t read_rt_group_sched(const struct tlat_machine *machine)
{
	static const char *const names[] = { "cpu.shares", "cpu.rt_runtime_us" };
	struct tlat_cgroup group;

	if (tlat_cgroup_own(&group, machine->root_fd, "cpu") < 0)
		return -1;
	for (int32_t has = 1; has >= 0; has--) {
		char path[TLAT_CGROUP_FILE_BYTES], text[32];

		tlat_cgroup_file(&group, names[has], path);
		tlat_machine_text(machine, path, text, sizeof(text));
		if (text[0])
			return has;
	}
	return -1;
}

static int32_t read_thp_always(const struct tlat_machine *machine)
{
	char text[64];

	tlat_machine_text(machine, "sys/kernel/mm/transparent_hugepage/enabled", text,
			  sizeof(text));
	return text[0] ? strstr(text, "[always]") != NULL : -1;
}

/* What the kernel calls a clock's resolution; -1: not known. */
static int64_t resolution_ns(const struct tlat_machine *machine, clockid_t clock)
{
	struct timespec resolution;

	if (!machine->live || clock_getres(clock, &resolution) < 0)
		return -1;
	return resolution.tv_sec * TLAT_NSEC_PER_SEC + resolution.tv_nsec;
}

static int32_t read_hz(const struct tlat_machine *machine)
{
	int64_t tick_ns = machine->live ? tlat_tick_ns() : 0;

	return tick_ns > 0 ? (int32_t)((TLAT_NSEC_PER_SEC + tick_ns / 2) / tick_ns) : -1;
}

/* What a signal saves on the stack; older kernels do not say. */
static int64_t read_signal_frame(const struct tlat_machine *machine)
{
	unsigned long bytes = machine->live ? getauxval(AT_MINSIGSTKSZ) : 0;

	return bytes ? (int64_t)bytes : -1;
}

static void read_knobs(struct tlat_machine *machine)
{
	struct tlat_machine_facts *facts = &machine->facts;

	facts->hz = read_hz(machine);
	/* That of its timers, not of what it reads. */
	facts->timer_resolution_ns = resolution_ns(machine, CLOCK_MONOTONIC);
	facts->signal_frame_bytes = read_signal_frame(machine);
	facts->timer_migration = (int32_t)number(machine, "proc/sys/kernel/timer_migration");
	facts->numa_balancing = (int32_t)number(machine, "proc/sys/kernel/numa_balancing");
	facts->rt_runtime_us = number(machine, "proc/sys/kernel/sched_rt_runtime_us");
	facts->rt_period_us = number(machine, "proc/sys/kernel/sched_rt_period_us");
	facts->smt = read_smt(machine);
	facts->rt_group_sched = read_rt_group_sched(machine);
	facts->thp_always = read_thp_always(machine);
}

void tlat_machine_read_facts(struct tlat_machine *machine)
{
	struct tlat_machine_facts *facts = &machine->facts;

	tlat_machine_text(machine, "proc/cmdline", facts->cmdline, sizeof(facts->cmdline));
	tlat_machine_text(machine, "proc/sys/kernel/random/boot_id", facts->boot_id,
			  sizeof(facts->boot_id));
	tlat_machine_text(machine, "proc/sys/kernel/hostname", facts->hostname,
			  sizeof(facts->hostname));
	tlat_machine_text(machine, CLOCKSOURCE_DIR "current_clocksource", facts->clocksource,
			  sizeof(facts->clocksource));
	tlat_machine_parameter(machine, "mitigations", facts->mitigations,
			       sizeof(facts->mitigations));
	tlat_machine_text(machine, "sys/kernel/sched_ext/root/ops", facts->sched_ext,
			  sizeof(facts->sched_ext));
	read_kernel(machine);
	ask_kernel(machine);
	read_preempt(machine);
	read_cpuinfo(machine);
	read_frequency(machine);
	read_idle(machine);
	read_knobs(machine);
}
