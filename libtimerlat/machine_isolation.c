// SPDX-License-Identifier: MIT
/*
 * machine_isolation.c - which CPUs the scheduler leaves alone: what the command line asked for, and
 * what is in force. The two differ more often than one would think, so neither stands for the
 * other.
 */
#include <stdio.h>
#include <string.h>

#include "machine_state.h"

/*
 * Find the next parameter "key=value" from *at on. Parameters end at a bare "--": what follows is
 * init's. Quotes are not undone; no list needs them.
 */
static const char *next_parameter(const char **at, const char *key, size_t *ret_length)
{
	size_t n = strlen(key);

	for (const char *p = *at; *p;) {
		size_t length = strcspn(p, " \n");

		*at = p + length + (p[length] != '\0');
		if (length == 2 && !memcmp(p, "--", 2))
			break;
		if (length > n && !memcmp(p, key, n) && p[n] == '=') {
			*ret_length = length - n - 1;
			return p + n + 1;
		}
		p = *at;
	}
	return NULL;
}

bool tlat_machine_parameter(const struct tlat_machine *machine, const char *key, char *value,
			    size_t size)
{
	const char *at = machine->facts.cmdline, *found, *last = NULL;
	size_t length = 0, n;

	value[0] = '\0';
	while ((found = next_parameter(&at, key, &n))) {
		last = found;
		length = n;
	}
	if (last)
		snprintf(value, size, "%.*s", (int)length, last);
	return last != NULL;
}

static bool is_word(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!((text[i] >= 'a' && text[i] <= 'z') || text[i] == '_'))
			return false;
	return length > 0;
}

/* "isolcpus=nohz,domain,managed_irq,LIST": flags first; without any it means domain. */
struct isolcpus {
	bool domain, nohz;
	const char *list;
	size_t length;
};

static struct isolcpus split_isolcpus(const char *value, size_t length)
{
	struct isolcpus is = { .list = value, .length = length };
	bool any = false;

	for (;;) {
		const char *comma = memchr(is.list, ',', is.length);
		size_t n = comma ? (size_t)(comma - is.list) : 0;

		if (!is_word(is.list, n))
			break;
		is.domain |= n == 6 && !memcmp(is.list, "domain", n);
		is.nohz |= n == 4 && !memcmp(is.list, "nohz", n);
		any |= (n == 11 && !memcmp(is.list, "managed_irq", n)) || is.domain || is.nohz;
		is.list += n + 1;
		is.length -= n + 1;
	}
	is.domain |= !any;
	return is;
}

/* A list that the kernel cannot parse isolates nothing, so it is ignored here too. */
static void add_list(struct tlat_machine *machine, struct tlat_cpuset *set, const char *list,
		     size_t length)
{
	struct tlat_cpuset more;

	if (tlat_cpulist_parse(&more, list, length, tlat_cpuset_last(&machine->present)) == 0)
		*set = tlat_cpuset_or(set, &more);
}

static void read_requested(struct tlat_machine *machine)
{
	const char *at = machine->facts.cmdline, *value;
	size_t length;

	while ((value = next_parameter(&at, "isolcpus", &length))) {
		struct isolcpus is = split_isolcpus(value, length);

		if (is.domain)
			add_list(machine, &machine->isolated_requested, is.list, is.length);
		if (is.nohz)
			add_list(machine, &machine->nohz_full_requested, is.list, is.length);
	}
	at = machine->facts.cmdline;
	while ((value = next_parameter(&at, "nohz_full", &length)))
		add_list(machine, &machine->nohz_full_requested, value, length);
}

/* Up to Linux 6.12 a kernel that could do without ticks, and was not told to, says "(null)". */
static bool says_null(const struct tlat_machine *machine, const char *path)
{
	char text[16];

	tlat_machine_text(machine, path, text, sizeof(text));
	return !strcmp(text, "(null)");
}

/*
 * sys/devices/system/cpu/nohz_full is missing where the kernel was built without it, which is
 * an answer if the directory is there at all.
 */
static void read_nohz_full(struct tlat_machine *machine)
{
	const char *path = "sys/devices/system/cpu/nohz_full";
	int r = tlat_machine_read_cpus(machine, path, &machine->nohz_full.set);

	if (r == -EINVAL && says_null(machine, path))
		r = 0;

	machine->note_nohz_full = r == -EINVAL;
	machine->nohz_full.known = r == 0 || (r == -ENOENT && machine->isolated.known);
	machine->nohz_full.set = tlat_cpuset_and(&machine->nohz_full.set, &machine->online);
}

void tlat_machine_read_isolation(struct tlat_machine *machine)
{
	struct tlat_known_cpus *isolated = &machine->isolated;
	int r = tlat_machine_read_cpus(machine, "sys/devices/system/cpu/isolated", &isolated->set);

	machine->note_isolated = r == -EINVAL;
	isolated->known = r == 0;
	isolated->known |= tlat_machine_read_partitions(machine, &isolated->set);
	isolated->set = tlat_cpuset_and(&isolated->set, &machine->online);
	read_requested(machine);
	read_nohz_full(machine);
}

/* Requested CPUs that are online and not in force. */
static bool is_missing(const struct tlat_machine *machine, const struct tlat_cpuset *requested,
		       const struct tlat_known_cpus *effective)
{
	struct tlat_cpuset set = tlat_cpuset_minus(requested, &effective->set);

	set = tlat_cpuset_and(&set, &machine->online);
	return effective->known && !tlat_cpuset_empty(&set);
}

static void find_missing(const struct tlat_machine *machine, const char *parameter,
			 const struct tlat_cpuset *requested,
			 const struct tlat_known_cpus *effective, struct tlat_findings *findings)
{
	char asked[TLAT_SAY_BYTES], got[TLAT_SAY_BYTES];

	if (!is_missing(machine, requested, effective))
		return;
	tlat_findings_add(findings, TLAT_WARN, "isolation-not-effective",
			  "dmesg | grep -i -e isolcpus -e nohz -e housekeeping",
			  "%s: requested %s, effective %s: the kernel did not take what its "
			  "command line says",
			  parameter, tlat_cpuset_say(requested, asked, sizeof(asked)),
			  tlat_cpuset_say(&effective->set, got, sizeof(got)));
}

static void find_unknown(const char *path, struct tlat_findings *findings)
{
	tlat_findings_add(findings, TLAT_INFO, "isolation-unknown", NULL,
			  "%s holds no CPU list, so which CPUs it means is not known", path);
}

static void find_none(const struct tlat_machine *machine, struct tlat_findings *findings)
{
	char remedy[128];

	if (!tlat_cpuset_empty(&machine->isolated.set))
		return;
	snprintf(remedy, sizeof(remedy),
		 "boot with isolcpus=domain,managed_irq,%d, or make a cgroup v2 partition: "
		 "cpuset.cpus.partition = isolated",
		 tlat_cpuset_last(&machine->online));
	tlat_findings_add(findings, TLAT_INFO, "not-isolated",
			  tlat_cpuset_count(&machine->online) > 1 ? remedy : NULL,
			  "no CPU of this machine is %sisolated: other tasks and kernel work can "
			  "run where latency is measured",
			  machine->isolated.known ? "" : "known to be ");
}

void tlat_machine_find_isolation(const struct tlat_machine *machine, struct tlat_findings *findings)
{
	find_none(machine, findings);
	find_missing(machine, "isolcpus", &machine->isolated_requested, &machine->isolated,
		     findings);
	find_missing(machine, "nohz_full", &machine->nohz_full_requested, &machine->nohz_full,
		     findings);
	if (machine->partition_invalid[0])
		tlat_findings_add(findings, TLAT_WARN, "isolation-not-effective",
				  "echo isolated > cpuset.cpus.partition, once the reason is gone",
				  "requested a cgroup partition, effective none: %s",
				  machine->partition_invalid);
	if (machine->note_isolated)
		find_unknown("sys/devices/system/cpu/isolated", findings);
	if (machine->note_nohz_full)
		find_unknown("sys/devices/system/cpu/nohz_full", findings);
}
