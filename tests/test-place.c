// SPDX-License-Identifier: MIT
/* test-place.c - which CPUs a run gets on composed machines, and what it is told about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay-machine.h"

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
	struct tlat_placement p;
	struct tlat_error error;
	char text[600] = "", names[256];

	if (tlat_machine_place_solo(machine, list, &p, &findings, &error) < 0) {
		assert_string_equal(error.text, expected);
		return;
	}
	assert_int_equal(p.kick, -1);
	assert_int_equal(p.wait, p.cpus[0]);
	for (int i = 0; i < p.n; i++)
		sprintf(text + strlen(text), "%d ", p.cpus[i]);
	name_findings(&findings, names);
	tlat_findings_free(&findings);
	sprintf(text + strlen(text), "house %d%s; %s", p.house, p.house_shared ? " shared" : "",
		names);
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
		{ "partition-invalid", "1,2 house 0: node; not-isolated isolation-not-effective!" },
		{ "cpuset-v1", "2,3 house 0: llc; " },
		{ "container", "9,10 house 11: llc; not-isolated affinity-obeyed" },
		{ "board", "0,0 house 0 shared: same-cpu; not-isolated same-cpu" },
		{ "null-files", "1,2 house 0: node; not-isolated isolation-unknown" },
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
		{ "core-pairs", "2,3 house 0: llc; not-isolated" },
		{ "one-fast", "2,3 house 0: llc; not-isolated" },
		{ "one-isolated", "2,1 house 0: llc; not-isolated" },
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
	assert_pair("0", "CPU list: CPU 0 is outside this process's cpuset (cgroup /: 9-11); "
			 "choose from these, or start it in a cgroup that has CPU 0");
	end_replay();
	/* The group itself has no cpuset; the one above it has. */
	replay("partition-inside");
	assert_pair("0", "CPU list: CPU 0 is outside this process's cpuset (cgroup /rt: 4-7); "
			 "choose from these, or start it in a cgroup that has CPU 0");
	end_replay();
	replay("isolated-boot");
	assert_pair("isolated", "2,3 house 0: llc; ");
	assert_pair("0,3", "0,3 house 1: llc; not-isolated");
}

static void pairs_take_one_or_two_cpus_and_solo_runs_all_of_the_list(void **state)
{
	(void)state;
	replay("laptop");
	assert_pair("3,1", "3,1 house 0: llc; not-isolated");
	assert_pair("2", "2,2 house 0: same-cpu; not-isolated");
	/* CPU 0 shares a core with CPU 4, so the controller goes elsewhere. */
	assert_pair("4,1", "4,1 house 2: llc; not-isolated");
	assert_pair("3,1,2", "CPU list: \"3,1,2\" names 3 CPUs, but a pair takes two (KICK,WAIT) "
			     "or one for both; write for example 3,1");
	assert_pair("", "CPU list: \"\" is empty; name CPUs such as 0-1, or leave it out for the "
			"default choice");
	assert_solo("0-3", "0 1 2 3 house 4; not-isolated smt-sibling!");
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

#define TEST(name) cmocka_unit_test_teardown(name, clean_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_machine_gets_its_exact_default_choice),
		TEST(solo_probes_get_one_cpu_of_the_same_kind),
		TEST(a_list_overrides_the_mask_but_not_the_cpuset),
		TEST(pairs_take_one_or_two_cpus_and_solo_runs_all_of_the_list),
		TEST(siblings_are_reported_with_a_way_out),
		TEST(automatic_placement_never_leaves_the_online_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
