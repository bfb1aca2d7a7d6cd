// SPDX-License-Identifier: MIT
/*
 * fuzz-machine.c - a machine whose /sys and /proc lie. The input is a list of files, each a byte
 * that chooses the path, and its text up to the next NUL; after the last one comes a CPU list.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "machine.h"

static const char *const paths[] = {
	"sys/devices/system/cpu/online",
	"sys/devices/system/cpu/present",
	"sys/devices/system/cpu/isolated",
	"sys/devices/system/cpu/nohz_full",
	"sys/devices/system/cpu/cpu0/topology/core_cpus_list",
	"sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
	"sys/devices/system/cpu/cpu0/topology/physical_package_id",
	"sys/devices/system/cpu/cpu0/cache/index0/level",
	"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	"sys/devices/system/cpu/cpu0/cpu_capacity",
	"sys/devices/system/node/node0/cpulist",
	"sys/devices/system/clocksource/clocksource0/current_clocksource",
	"sys/devices/system/cpu/possible",
	"sys/devices/cpu_core/cpus",
	"sys/fs/cgroup/cpuset.cpus.effective",
	"sys/fs/cgroup/a/cpuset.cpus.effective",
	"sys/kernel/realtime",
	"proc/cmdline",
	"proc/cpuinfo",
	"proc/stat",
	"proc/self/status",
	"proc/self/cgroup",
	"proc/sys/kernel/version",
	"proc/sys/kernel/osrelease",
	"proc/sys/kernel/sched_rt_runtime_us",
	"proc/sys/kernel/random/boot_id",
};

static char root[] = "/tmp/fuzz-machine.XXXXXX";

static void remove_root(void)
{
	char command[sizeof(root) + 16];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	must(system(command) == 0, "the tree can be removed");
}

/* All folders of all paths. */
static void make_root(void)
{
	static bool made;
	char path[200];

	if (made)
		return;
	made = true;
	must(mkdtemp(root), "a folder for the tree");
	atexit(remove_root);
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(paths); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, paths[i]);
		for (char *p = path + sizeof(root); (p = strchr(p, '/')); p++) {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
	}
}

static void clear(void)
{
	char path[200];

	for (size_t i = 0; i < TLAT_ARRAY_SIZE(paths); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, paths[i]);
		unlink(path);
	}
}

static void put(size_t which, const char *text, size_t n)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, paths[which % TLAT_ARRAY_SIZE(paths)]);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	must(fd >= 0 && write(fd, text, n) == (ssize_t)n, "a file can be written");
	close(fd);
}

/* Where the last file ends and the list begins. */
static const char *put_all(const char *text, size_t n)
{
	const char *end = text + n, *nul;

	while (text < end && (nul = memchr(text, '\0', (size_t)(end - text)))) {
		put((uint8_t)*text, text + 1, nul > text ? (size_t)(nul - text - 1) : 0);
		text = nul + 1;
	}
	return text;
}

static void use(const struct tlat_machine *machine, const char *list)
{
	struct tlat_error error = { 0 };
	struct tlat_findings findings = { 0 };
	struct tlat_placement place;
	int32_t cpus[64];
	int n = tlat_machine_cpus(machine, list, cpus, 64, &error);

	must(n > 0 || *error.text, "a list is some CPUs, or there is a reason");
	for (int i = 0; i < n && i < 64; i++)
		must(cpus[i] >= 0 && cpus[i] < TLAT_CPUS_MAX, "a CPU is a possible one");
	if (tlat_machine_place_pair(machine, NULL, &place, &findings, &error) == 0)
		tlat_machine_relation(machine, place.kick, place.wait);
	tlat_machine_place_solo(machine, list, &place, &findings, &error);
	tlat_machine_audit(machine, NULL, &findings);
	tlat_findings_free(&findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct tlat_machine *machine;
	struct tlat_error error = { 0 };
	const char *list;

	make_root();
	clear();
	list = put_all(text, n);
	if (tlat_machine_open(&machine, root, &error) == 0) {
		use(machine, list);
		tlat_machine_close(machine);
	} else {
		must(*error.text, "a refusal has a reason");
	}
	free(text);
	return 0;
}
