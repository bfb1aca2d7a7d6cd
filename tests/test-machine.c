// SPDX-License-Identifier: MIT
/* test-machine.c - composed machines replayed: CPU lists and words, relations, isolation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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
	assert_refused(NULL, "none was given");
	assert_refused("foo", "\"foo\" is no CPU, range or word");
	assert_refused("-1", "\"-1\" is no CPU, range or word");
	assert_refused("0 1", "\"0 1\" is no CPU, range or word");
	assert_refused("0 ,1", "\"0 \" is no CPU");
	assert_refused("1;reboot\n\x1b", "\"1;reboot??\" is no CPU");
	assert_refused("", "is empty");
	assert_refused(" \t", "is empty");
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

/* A random list of CPU numbers and ranges, some removed, and what it must come to. */
static size_t random_list(char *list, int32_t *cpus)
{
	bool removed[8] = { false }, named[8] = { false }, adds = false;
	int32_t order[64];
	size_t n = 0, kept = 0;

	list[0] = '\0';
	for (int i = 1 + rand() % 5; i > 0; i--) {
		bool removes = rand() % 3 == 0;
		int32_t first = rand() % 8, last = first + rand() % (8 - first);

		sprintf(list + strlen(list), "%s%s0%d-%d", list[0] ? "," : "", removes ? "!" : "",
			first, last);
		adds |= !removes;
		for (int32_t cpu = first; cpu <= last; cpu++) {
			removed[cpu] |= removes;
			if (!removes)
				order[n++] = cpu;
		}
	}
	for (int32_t cpu = 0; cpu < 8 && !adds; cpu++)
		order[n++] = cpu;
	for (size_t i = 0; i < n; i++)
		if (!removed[order[i]] && !named[order[i]]) {
			named[order[i]] = true;
			cpus[kept++] = order[i];
		}
	return kept;
}

static void any_list_resolves_as_its_terms_say(void **state)
{
	(void)state;
	srand(31);
	replay("laptop");
	for (int i = 0; i < 5000; i++) {
		int32_t expected[8], cpus[8];
		char list[128];
		size_t n = random_list(list, expected);
		int got = tlat_machine_cpus(machine, list, cpus, TLAT_ARRAY_SIZE(cpus), NULL);

		assert_int_equal(got, n ? (int)n : -EINVAL);
		assert_memory_equal(cpus, expected, n * sizeof(*cpus));
	}
}

static void random_text_resolves_or_is_refused_in_one_line(void **state)
{
	static const char alphabet[] = "0123456789,,--:/ !!Nalcoredns\n\t\xff";

	(void)state;
	srand(37);
	replay("smt-off");
	for (int i = 0; i < 20000; i++) {
		struct tlat_error error = { 0 };
		int32_t cpus[8];
		char text[24] = "";
		int n;

		for (int k = rand() % 12; k > 0; k--)
			text[k - 1] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		n = tlat_machine_cpus(machine, text, cpus, TLAT_ARRAY_SIZE(cpus), &error);
		if (n < 0) {
			assert_int_equal(error.code, -EINVAL);
			assert_true(error.text[0] && !strpbrk(error.text, "\n\t\xff"));
		}
		for (int k = 0; k < n; k++)
			assert_true(tlat_cpuset_has(tlat_machine_online(machine), cpus[k]));
	}
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
		{ "null-files", "none", "unknown", "none" },
		{ "no-sys", "2", "unknown", "unknown" },
		{ "partition-inside", "none", "4-7", "none" },
		{ "partition-outside", "none", "4-7", "none" },
		{ "partition-old", "none", "4-7", "none" },
		{ "partition-own", "none", "4-7", "none" },
		{ "partition-remote", "none", "4-7", "none" },
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
	assert_set(&machine->allowed, "0-1");
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

#define TEST(name) cmocka_unit_test_teardown(name, clean_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_cpus_accept_every_spelling_and_refuse_every_slip),
		TEST(words_and_removals_resolve_in_order_of_mention),
		TEST(any_list_resolves_as_its_terms_say),
		TEST(random_text_resolves_or_is_refused_in_one_line),
		TEST(a_list_longer_than_the_array_is_counted_whole),
		TEST(words_that_mean_nothing_here_say_why),
		TEST(relations_follow_cores_caches_and_nodes),
		TEST(isolation_requested_and_effective_are_kept_apart),
		TEST(a_mask_without_the_isolated_cpus_restricts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
