// SPDX-License-Identifier: MIT
/* test-machine.c - composed machines replayed: CPU words, relations, isolation, choice, findings. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay-machine.h"

static void assert_known(const struct tlat_known_cpus *cpus, const char *expected)
{
	assert_int_equal(cpus->known, strcmp(expected, "unknown") != 0);
	if (cpus->known)
		assert_set(&cpus->set, expected);
}

/* The list's CPUs in their order, or the whole error. */
static void assert_list(const char *list, const char *expected)
{
	struct tlat_error error = { 0 };
	int32_t cpus[16];
	char text[600] = "";
	int n = tlat_machine_cpus(machine, list, cpus, TLAT_ARRAY_SIZE(cpus), &error);

	for (int i = 0; i < n && i < (int)TLAT_ARRAY_SIZE(cpus); i++)
		sprintf(text + strlen(text), "%s%d", i ? " " : "", cpus[i]);
	if (n < 0)
		snprintf(text, sizeof(text), "%s", error.text);
	assert_string_equal(text, expected);
	if (n >= 0)
		return;
	assert_int_equal(n, -EINVAL);
	assert_int_equal(error.code, -EINVAL);
	assert_null(strchr(text, '\n'));
}

/* The error holds these words; for texts whose rest is about remedies. */
static void assert_refused(const char *list, const char *part)
{
	struct tlat_error error = { 0 };
	int32_t cpu;

	assert_int_equal(tlat_machine_cpus(machine, list, &cpu, 1, &error), -EINVAL);
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

/* "KICK,WAIT house HOUSE[ shared]: RELATION; findings", or the error. */
static void describe_pair(const char *list, char *text, size_t size)
{
	struct tlat_findings findings = { 0 };
	struct tlat_placement p;
	struct tlat_error error;
	char names[256];

	if (tlat_machine_place_pair(machine, list, &p, &findings, &error) < 0) {
		snprintf(text, size, "%s", error.text);
		return;
	}
	name_findings(&findings, names);
	tlat_findings_free(&findings);
	snprintf(text, size, "%d,%d house %d%s: %s; %s", p.kick, p.wait, p.house,
		 p.house_shared ? " shared" : "", tlat_machine_relation(machine, p.kick, p.wait),
		 names);
}

static void assert_pair(const char *list, const char *expected)
{
	char text[600];

	describe_pair(list, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* "CPU CPU ... house HOUSE[ shared]; findings", or the error. */
static void assert_solo(const char *list, const char *expected)
{
	struct tlat_findings findings = { 0 };
	struct tlat_error error;
	int32_t cpus[4], house;
	bool shared;
	char text[600] = "", names[256];
	int n = tlat_machine_place_solo(machine, list, cpus, TLAT_ARRAY_SIZE(cpus), &house, &shared,
					&findings, &error);

	for (int i = 0; i < n; i++)
		sprintf(text + strlen(text), "%d ", cpus[i]);
	name_findings(&findings, names);
	tlat_findings_free(&findings);
	if (n < 0)
		snprintf(text, sizeof(text), "%s", error.text);
	else
		sprintf(text + strlen(text), "house %d%s; %s", house, shared ? " shared" : "", names);
	assert_string_equal(text, expected);
}

static void every_machine_gets_its_exact_default_choice(void **state)
{
	static const struct {
		const char *machine, *pair;
	} expected[] = {
		{ "laptop", "1,2 house 0: llc; not-isolated" },
		{ "server", "1,2 house 0: llc; not-isolated" },
		{ "smt-off", "2,4 house 0: llc; not-isolated" },
		{ "isolated-boot", "2,3 house 0: llc; " },
		{ "partition-inside", "4,5 house 6: llc; affinity-obeyed" },
		{ "partition-outside", "1,2 house 0: llc; not-isolated" },
		{ "partition-old", "4,5 house 6: llc; affinity-obeyed" },
		{ "partition-invalid",
		  "1,2 house 0: node; not-isolated isolation-not-effective!" },
		{ "cpuset-v1", "2,3 house 0: llc; " },
		{ "container", "9,10 house 11: llc; not-isolated affinity-obeyed" },
		{ "board", "0,0 house 0 shared: same-cpu; not-isolated same-cpu" },
		{ "null-files",
		  "1,2 house 0: node; not-isolated isolation-unknown isolation-unknown" },
		{ "not-effective", "1,2 house 0: llc; not-isolated isolation-not-effective! "
		  "isolation-not-effective!" },
		{ "managed-irq", "1,2 house 0: node; not-isolated" },
		{ "huge", "1500,1501 house 0: node; " },
		{ "hybrid", "2,4 house 0: llc; not-isolated" },
		{ "big-little", "4,5 house 0: llc; not-isolated" },
		{ "no-sys", "1,2 house 0: node; not-isolated" },
		{ "taskset",
		  "1,1 house 1 shared: same-cpu; not-isolated affinity-obeyed same-cpu" },
		{ "two", "0,1 house 0 shared: llc; not-isolated" },
		{ "shared-core", "0,1 house 0 shared: smt; not-isolated smt-sibling!" },
		{ "half-isolated-core", "2,3 house 0: llc; smt-sibling!" },
		{ "isolated-core", "1,3 house 0: llc; not-isolated" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(expected); i++) {
		char text[600];

		replay(expected[i].machine);
		describe_pair(NULL, text, sizeof(text));
		if (strcmp(text, expected[i].pair))
			fail_msg("%s: \"%s\" instead of \"%s\"", expected[i].machine, text,
				 expected[i].pair);
		end_replay();
	}
}

static void solo_probes_get_one_cpu_of_the_same_kind(void **state)
{
	static const struct {
		const char *machine, *solo;
	} expected[] = {
		{ "laptop", "1 house 0; not-isolated" },
		{ "isolated-boot", "2 house 0; " },
		{ "container", "9 house 10; not-isolated affinity-obeyed" },
		{ "board", "0 house 0 shared; not-isolated" },
		{ "huge", "1500 house 0; " },
		{ "big-little", "4 house 0; not-isolated" },
		{ "two", "1 house 0; not-isolated" },
		{ "shared-core", "1 house 0; not-isolated smt-sibling!" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(expected); i++) {
		replay(expected[i].machine);
		assert_solo(NULL, expected[i].solo);
		end_replay();
	}
}

static void two_cpus_accept_every_spelling_and_refuse_every_slip(void **state)
{
	(void)state;
	replay("two");
	assert_list("0-1", "0 1");
	assert_list("00-01", "0 1");
	assert_list("0,1", "0 1");
	assert_list("1,0", "1 0");
	assert_list("1,0,1,0-1", "1 0");
	assert_list("!0", "1");
	assert_list(" 0-1 \n", "0 1");
	assert_list("0-N", "0 1");
	assert_list("2", "CPU list: CPU 2 is not on this machine (online: 0-1)");
	assert_list("0,2", "CPU list: CPU 2 is not on this machine (online: 0-1)");
	assert_list("0-2", "CPU list: CPU 2 is not on this machine (online: 0-1)");
	assert_list("!2", "CPU list: CPU 2 is not on this machine (online: 0-1)");
	assert_list("99999999999999999999",
		    "CPU list: CPU 99999999999999999999 is not on this machine (online: 0-1)");
	assert_list("core:99999", "CPU list: CPU 99999 is not on this machine (online: 0-1)");
	assert_list("1-0", "CPU list: \"1-0\" is reversed; write the lower CPU first");
	assert_list("0-", "CPU list: \"0-\" has no last CPU; write FIRST-LAST, such as 0-1");
	assert_refused("foo", "\"foo\" is no CPU, range or word");
	assert_refused("-1", "\"-1\" is no CPU, range or word");
	assert_refused("0 1", "\"0 1\" is no CPU, range or word");
	assert_refused("0 ,1", "\"0 \" is no CPU");
	assert_refused("1;reboot\n\x1b", "\"1;reboot??\" is no CPU");
	assert_refused("", "it is empty");
	assert_refused(" \t", "it is empty");
	assert_refused("0,", "nothing stands beside a comma");
	assert_refused(",0", "nothing stands beside a comma");
	assert_refused("!", "nothing stands after a \"!\"");
	assert_refused("!!0", "\"!0\" is no CPU");
	assert_refused("All", "\"All\" is no CPU");
	assert_refused("0,!0", "leaves no CPU");
	assert_refused("!all", "leaves no CPU");
	assert_refused("node:", "needs one number");
	assert_refused("node:0-1", "needs one number");
	assert_list("node:3", "CPU list: node 3 is not on this machine (nodes: 0)");
	assert_refused("isolated", "no CPU is isolated; boot with isolcpus=1");
	assert_refused("nohz-full", "boot with nohz_full=1");
}

static void words_and_removals_resolve_in_order_of_mention(void **state)
{
	(void)state;
	replay("laptop");
	assert_list("core:5,0", "1 5 0");
	assert_list("0-3,!2", "0 1 3");
	assert_list("!2,0-3", "0 1 3");
	assert_list("all,!core:0", "1 2 3 5 6 7");
	assert_list("!isolated", "0 1 2 3 4 5 6 7");
	assert_list("7,housekeeping,!0-5", "7 6");
	assert_list("0-7:1/4", "0 4");
	end_replay();
	replay("isolated-boot");
	assert_list("isolated", "2 3");
	assert_list("nohz-full", "2 3");
	assert_list("housekeeping", "0 1");
	assert_list("!isolated", "0 1");
	assert_list("3,isolated", "3 2");
	end_replay();
	replay("smt-off");
	assert_list("all", "0 2 4 6");
	assert_list("!0-1", "2 4 6");
	assert_list("6", "6");
	assert_refused("1", "CPU 1 is offline (online: 0,2,4,6)");
	assert_refused("0-3", "CPU 1 is offline");
	assert_refused("8", "CPU 8 is not on this machine");
	end_replay();
	replay("container");
	assert_list("all", "9 10 11");
	assert_list("!9", "10 11");
	end_replay();
	replay("huge");
	assert_list("2047,1500", "2047 1500");
	assert_list("isolated", "1500 1501");
}

static void a_list_longer_than_the_array_is_counted_whole(void **state)
{
	int32_t cpus[3] = { -7, -7, -7 };

	(void)state;
	replay("server");
	assert_int_equal(tlat_machine_cpus(machine, "node:3,0", cpus, 2, NULL), 33);
	assert_int_equal(cpus[0], 48);
	assert_int_equal(cpus[1], 49);
	assert_int_equal(cpus[2], -7);
	assert_int_equal(tlat_machine_cpus(machine, "all", NULL, 0, NULL), 128);
}

static void words_that_mean_nothing_here_say_why(void **state)
{
	(void)state;
	replay("not-effective");
	assert_refused("isolated", "requested isolcpus=2-3, but none is in effect");
	assert_refused("nohz-full", "requested nohz_full=2-3, but none is in effect");
	end_replay();
	replay("null-files");
	assert_refused("isolated", "which CPUs those are is not known here");
	end_replay();
	replay("no-sys");
	assert_refused("isolated", "requested isolcpus=2, but it is not known what is in effect");
	assert_refused("node:0", "node 0 is not on this machine (nodes: none)");
	end_replay();
	replay("partition-outside");
	assert_refused("isolated", "\"isolated\" is 4-7, outside this process's cpuset "
		       "(/user.slice: 0-3)");
}

static void relations_follow_cores_caches_and_nodes(void **state)
{
	(void)state;
	replay("server");
	assert_string_equal(tlat_machine_relation(machine, 5, 5), "same-cpu");
	assert_string_equal(tlat_machine_relation(machine, 5, 69), "smt");
	assert_string_equal(tlat_machine_relation(machine, 0, 7), "llc");
	assert_string_equal(tlat_machine_relation(machine, 0, 71), "llc");
	assert_string_equal(tlat_machine_relation(machine, 7, 8), "node");
	assert_string_equal(tlat_machine_relation(machine, 15, 16), "remote");
	assert_string_equal(tlat_machine_relation(machine, 127, 0), "remote");
	assert_string_equal(tlat_machine_relation(machine, 0, -1), "remote");
	assert_string_equal(tlat_machine_relation(machine, TLAT_CPUS_MAX, 0), "remote");
	end_replay();
	replay("huge");
	assert_string_equal(tlat_machine_relation(machine, 1023, 0), "node");
	assert_string_equal(tlat_machine_relation(machine, 1023, 1024), "remote");
	end_replay();
	replay("no-sys");
	assert_string_equal(tlat_machine_relation(machine, 0, 1), "node");
}

static void isolation_requested_and_effective_are_kept_apart(void **state)
{
	static const struct {
		const char *machine, *requested, *isolated, *nohz_full;
	} expected[] = {
		{ "isolated-boot", "2-3", "2-3", "2-3" },
		{ "not-effective", "2-3", "none", "none" },
		{ "managed-irq", "none", "none", "none" },
		{ "null-files", "none", "unknown", "unknown" },
		{ "no-sys", "2", "unknown", "unknown" },
		{ "partition-inside", "none", "4-7", "none" },
		{ "partition-outside", "none", "4-7", "none" },
		{ "partition-old", "none", "4-7", "none" },
		{ "partition-invalid", "none", "none", "none" },
		{ "cpuset-v1", "none", "2-3", "none" },
		{ "huge", "1500-1501", "1500-1501", "1500-1501" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(expected); i++) {
		replay(expected[i].machine);
		assert_set(tlat_machine_isolated_requested(machine), expected[i].requested);
		assert_known(tlat_machine_isolated(machine), expected[i].isolated);
		assert_known(tlat_machine_nohz_full(machine), expected[i].nohz_full);
		end_replay();
	}
}

static void a_mask_without_the_isolated_cpus_restricts_nothing(void **state)
{
	(void)state;
	replay("isolated-boot");
	assert_set(tlat_machine_allowed(machine), "0-1");
	assert_false(tlat_machine_restricted(machine));
	end_replay();
	replay("taskset");
	assert_true(tlat_machine_restricted(machine));
	end_replay();
	replay("container");
	assert_true(tlat_machine_restricted(machine));
	end_replay();
	replay("board");
	assert_false(tlat_machine_restricted(machine));
}

static void a_list_overrides_the_mask_but_not_the_cpuset(void **state)
{
	(void)state;
	replay("taskset");
	assert_pair("0,1", "0,1 house 1 shared: llc; not-isolated affinity-overridden");
	assert_pair("0", "0,0 house 1: same-cpu; not-isolated affinity-overridden");
	assert_pair("1", "1,1 house 1 shared: same-cpu; not-isolated");
	assert_solo("1,0", "1 0 house 1 shared; not-isolated affinity-overridden");
	end_replay();
	replay("container");
	assert_pair("11,9", "11,9 house 10: llc; not-isolated");
	assert_pair("0", "CPU list: CPU 0 is outside this process's cpuset (cgroup /: 9-11); choose "
		    "from these, or start it in a cgroup that has CPU 0");
	end_replay();
	replay("isolated-boot");
	assert_pair("isolated", "2,3 house 0: llc; ");
	assert_pair("0,3", "0,3 house 1: llc; not-isolated");
}

static void pairs_take_one_or_two_cpus_and_solo_runs_a_limit(void **state)
{
	(void)state;
	replay("laptop");
	assert_pair("3,1", "3,1 house 0: llc; not-isolated");
	assert_pair("2", "2,2 house 0: same-cpu; not-isolated");
	assert_pair("3,1,2", "CPU list: \"3,1,2\" names 3 CPUs, but a pair takes two (KICK,WAIT) or "
		    "one for both; write for example 3,1");
	assert_pair("", "CPU list: it is empty; name CPUs such as 0-1, or leave it out for the "
		    "default choice");
	assert_solo("0-3", "0 1 2 3 house 4; not-isolated smt-sibling!");
	assert_solo("0-4", "CPU list: \"0-4\" names 5 CPUs, but a run takes at most 4; name fewer");
}

static void siblings_are_reported_with_a_way_out(void **state)
{
	struct tlat_findings findings = { 0 };
	struct tlat_placement p;

	(void)state;
	replay("laptop");
	assert_int_equal(tlat_machine_place_pair(machine, "1,5", &p, &findings, NULL), 0);
	assert_finding(&findings, "smt-sibling", "CPU 1 and CPU 5 are SMT siblings");
	assert_string_equal(findings.v[findings.n - 1].remedy,
			    "name CPUs of different cores: -c 1,2");
	tlat_findings_free(&findings);
	end_replay();
	replay("half-isolated-core");
	assert_int_equal(tlat_machine_place_pair(machine, NULL, &p, &findings, NULL), 0);
	assert_finding(&findings, "smt-sibling", "2-3 beside 6-7");
	tlat_findings_free(&findings);
	end_replay();
	replay("shared-core");
	assert_int_equal(tlat_machine_place_pair(machine, "1", &p, &findings, NULL), 0);
	assert_int_equal(p.house, 0);
	assert_finding(&findings, "smt-sibling", "apart 2 cores are needed");
	tlat_findings_free(&findings);
}

static void automatic_placement_never_leaves_the_online_cpus(void **state)
{
	(void)state;
	replay("smt-off");
	for (int i = 0; i < 50; i++)
		assert_pair(NULL, "2,4 house 0: llc; not-isolated");
	assert_solo("all", "0 2 4 6 house 0 shared; not-isolated");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(every_machine_gets_its_exact_default_choice, clean_up),
		cmocka_unit_test_teardown(solo_probes_get_one_cpu_of_the_same_kind, clean_up),
		cmocka_unit_test_teardown(two_cpus_accept_every_spelling_and_refuse_every_slip, clean_up),
		cmocka_unit_test_teardown(words_and_removals_resolve_in_order_of_mention, clean_up),
		cmocka_unit_test_teardown(a_list_longer_than_the_array_is_counted_whole, clean_up),
		cmocka_unit_test_teardown(words_that_mean_nothing_here_say_why, clean_up),
		cmocka_unit_test_teardown(relations_follow_cores_caches_and_nodes, clean_up),
		cmocka_unit_test_teardown(isolation_requested_and_effective_are_kept_apart, clean_up),
		cmocka_unit_test_teardown(a_mask_without_the_isolated_cpus_restricts_nothing, clean_up),
		cmocka_unit_test_teardown(a_list_overrides_the_mask_but_not_the_cpuset, clean_up),
		cmocka_unit_test_teardown(pairs_take_one_or_two_cpus_and_solo_runs_a_limit, clean_up),
		cmocka_unit_test_teardown(siblings_are_reported_with_a_way_out, clean_up),
		cmocka_unit_test_teardown(automatic_placement_never_leaves_the_online_cpus, clean_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
