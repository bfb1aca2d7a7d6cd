// SPDX-License-Identifier: MIT
/*
 * machine_words.c - a user's CPU list resolved on a machine: numbers, words and removals, and the
 * one line that says what is wrong with it. A removal counts wherever it stands in the list.
 */
#include <stdio.h>
#include <string.h>

#include "machine_state.h"

/* One term of the list, and what is needed to complain about it. */
struct term {
	const struct tlat_machine *machine;
	struct tlat_error *reterr;
	const char *text;
	size_t length;
	bool removes;
};

/* The term as an error quotes it: short, and on one line whatever it holds. */
static const char *quote(const struct term *term, char *buf, size_t size)
{
	size_t n = term->length < size - 1 ? term->length : size - 1;

	for (size_t i = 0; i < n; i++)
		buf[i] = term->text[i] >= ' ' && term->text[i] <= '~' ? term->text[i] : '?';
	buf[n] = '\0';
	return buf;
}

static int fail_word(const struct term *term, const char *why)
{
	char word[48];

	return tlat_fail(term->reterr, -EINVAL, "CPU list: \"%s\" %s",
			 quote(term, word, sizeof(word)), why);
}

static int fail_absent(const struct term *term, const char *cpu)
{
	char online[TLAT_SAY_BYTES];

	return tlat_fail(term->reterr, -EINVAL,
			 "CPU list: CPU %s is not on this machine (online: %s)", cpu,
			 tlat_cpuset_say(&term->machine->online, online, sizeof(online)));
}

static int fail_offline(const struct term *term, int32_t cpu)
{
	char online[TLAT_SAY_BYTES];

	return tlat_fail(term->reterr, -EINVAL,
			 "CPU list: CPU %d is offline (online: %s); name another, or: "
			 "echo 1 > /sys/devices/system/cpu/cpu%d/online",
			 cpu, tlat_cpuset_say(&term->machine->online, online, sizeof(online)), cpu);
}

/* Every CPU named by number must be one that can be had; to remove one it need only exist. */
static int check_numbers(const struct term *term, const struct tlat_cpuset *set)
{
	const struct tlat_machine *machine = term->machine;

	for (int32_t cpu = tlat_cpuset_next(set, -1); cpu >= 0; cpu = tlat_cpuset_next(set, cpu)) {
		char number[16];

		if (tlat_cpuset_has(&machine->online, cpu))
			continue;
		if (!tlat_cpuset_has(&machine->present, cpu)) {
			snprintf(number, sizeof(number), "%d", cpu);
			return fail_absent(term, number);
		}
		if (!term->removes)
			return fail_offline(term, cpu);
	}
	return 0;
}

static int fail_unreadable(const struct term *term)
{
	if (term->length && term->text[term->length - 1] == '-')
		return fail_word(term, "has no last CPU; write FIRST-LAST, such as 0-1");
	return fail_word(term, "is no CPU, range or word; write for example 0-3,8 or one of "
			       "all isolated nohz-full housekeeping node:N core:N (!TERM removes)");
}

/* The last digits of the term: a number too large to be kept as one. */
static const char *last_number(const struct term *term, char *buf, size_t size)
{
	size_t n = 0;

	while (n < term->length && n < size - 1 && term->text[term->length - 1 - n] >= '0' &&
	       term->text[term->length - 1 - n] <= '9')
		n++;
	snprintf(buf, size, "%.*s", (int)n, term->text + term->length - n);
	return buf;
}

static int resolve_range(const struct term *term, struct tlat_cpuset *set)
{
	struct tlat_cpu_range range;
	char number[32];
	int r = tlat_cpu_range_parse(&range, term->text, term->length,
				     tlat_cpuset_last(&term->machine->present));

	if (r == -EDOM)
		return fail_word(term, "is reversed; write the lower CPU first");
	if (r == -ERANGE)
		return fail_absent(term, last_number(term, number, sizeof(number)));
	if (r < 0)
		return fail_unreadable(term);
	tlat_cpuset_add_range(set, &range);
	return check_numbers(term, set);
}

/* "node:3" or "core:3": the number after the colon. */
static int parse_index(const struct term *term, size_t prefix, int32_t *ret_index)
{
	struct tlat_cpu_range range;
	int r = tlat_cpu_range_parse(&range, term->text + prefix, term->length - prefix, -1);

	if (r == -EINVAL || r == -EDOM || range.first != range.last)
		return fail_word(term, "needs one number after the colon");
	*ret_index = range.first;
	return 0;
}

static int resolve_node(const struct term *term, struct tlat_cpuset *set)
{
	const struct tlat_machine *machine = term->machine;
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);
	char nodes[TLAT_SAY_BYTES];
	int32_t node = 0;
	int r = parse_index(term, strlen("node:"), &node);

	if (r < 0)
		return r;
	for (int32_t i = tlat_cpuset_next(&reachable, -1); i >= 0;
	     i = tlat_cpuset_next(&reachable, i))
		if (machine->cpu[i].node == node)
			tlat_cpuset_add(set, i);
	if (!tlat_cpuset_empty(set))
		return 0;
	if (tlat_cpuset_has(&machine->nodes, node))
		return fail_word(term, "has no CPU that this process can use; name another node");
	return tlat_fail(term->reterr, -EINVAL,
			 "CPU list: node %d is not on this machine (nodes: %s)", node,
			 tlat_cpuset_say(&machine->nodes, nodes, sizeof(nodes)));
}

static int resolve_core(const struct term *term, struct tlat_cpuset *set)
{
	const struct tlat_machine *machine = term->machine;
	struct tlat_cpuset one = { { 0 } };
	int32_t cpu = 0;
	int r = parse_index(term, strlen("core:"), &cpu);
	char number[32];

	if (r < 0)
		return r;
	if (cpu >= TLAT_CPUS_MAX)
		return fail_absent(term, last_number(term, number, sizeof(number)));
	tlat_cpuset_add(&one, cpu);
	r = check_numbers(term, &one);
	if (r < 0)
		return r;
	for (int32_t i = tlat_cpuset_next(&machine->online, -1); i >= 0;
	     i = tlat_cpuset_next(&machine->online, i))
		if (machine->cpu[i].core == machine->cpu[cpu].core)
			tlat_cpuset_add(set, i);
	return 0;
}

/* A word for CPUs that the kernel treats apart. */
struct kind {
	const char *word, *are, *parameter;
	const struct tlat_cpuset *requested;
	const struct tlat_known_cpus *effective;
};

/* What a word that comes to nothing needs: it was asked for at boot, or it was not. */
static int fail_none(const struct term *term, const struct kind *kind)
{
	char asked[TLAT_SAY_BYTES];

	if (!tlat_cpuset_empty(kind->requested))
		return tlat_fail(term->reterr, -EINVAL,
				 "CPU list: \"%s\": the command line requested %s=%s, but %s is in "
				 "effect; see dmesg | grep -i %s, or name CPUs by number",
				 kind->word, kind->parameter,
				 tlat_cpuset_say(kind->requested, asked, sizeof(asked)),
				 kind->effective->known ? "none" : "it is not known what",
				 kind->parameter);
	if (!kind->effective->known)
		return tlat_fail(term->reterr, -EINVAL,
				 "CPU list: \"%s\": which CPUs those are is not known here; "
				 "name CPUs by number",
				 kind->word);
	return tlat_fail(term->reterr, -EINVAL,
			 "CPU list: \"%s\": no CPU %s; boot with %s=%d for example, or name CPUs "
			 "by number",
			 kind->word, kind->are, kind->parameter,
			 tlat_cpuset_last(&term->machine->present));
}

static int resolve_kind(const struct term *term, const struct kind *kind, struct tlat_cpuset *set)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(term->machine);
	char all[TLAT_SAY_BYTES], mine[TLAT_SAY_BYTES];

	*set = tlat_cpuset_and(&kind->effective->set, &reachable);
	if (term->removes || !tlat_cpuset_empty(set))
		return 0;
	if (tlat_cpuset_empty(&kind->effective->set))
		return fail_none(term, kind);
	return tlat_fail(term->reterr, -EINVAL,
			 "CPU list: \"%s\" is %s, outside this process's cpuset (%s: %s); start it "
			 "in the cgroup that has them",
			 kind->word, tlat_cpuset_say(&kind->effective->set, all, sizeof(all)),
			 term->machine->cpuset_path,
			 tlat_cpuset_say(&reachable, mine, sizeof(mine)));
}

static int resolve_isolated(const struct term *term, struct tlat_cpuset *set)
{
	const struct tlat_machine *machine = term->machine;

	return resolve_kind(term,
			    &(struct kind){ "isolated", "is isolated", "isolcpus",
					    &machine->isolated_requested, &machine->isolated },
			    set);
}

static int resolve_nohz_full(const struct term *term, struct tlat_cpuset *set)
{
	const struct tlat_machine *machine = term->machine;

	return resolve_kind(term,
			    &(struct kind){ "nohz-full", "runs nohz_full", "nohz_full",
					    &machine->nohz_full_requested, &machine->nohz_full },
			    set);
}

static struct tlat_cpuset housekeeping(const struct tlat_machine *machine)
{
	struct tlat_cpuset reachable = tlat_machine_reachable(machine);
	struct tlat_cpuset set = tlat_cpuset_minus(&reachable, &machine->isolated.set);

	return tlat_cpuset_minus(&set, &machine->nohz_full.set);
}

static bool is_term(const struct term *term, const char *word)
{
	return term->length == strlen(word) && !memcmp(term->text, word, term->length);
}

static bool has_prefix(const struct term *term, const char *prefix)
{
	return term->length >= strlen(prefix) && !memcmp(term->text, prefix, strlen(prefix));
}

/* Words mean CPUs that this process can be moved to; a number is taken as it stands. */
static int resolve_term(const struct term *term, struct tlat_cpuset *set)
{
	const struct tlat_machine *machine = term->machine;

	if (is_term(term, "all"))
		*set = tlat_machine_reachable(machine);
	else if (is_term(term, "housekeeping"))
		*set = housekeeping(machine);
	else if (is_term(term, "isolated"))
		return resolve_isolated(term, set);
	else if (is_term(term, "nohz-full"))
		return resolve_nohz_full(term, set);
	else if (has_prefix(term, "node:"))
		return resolve_node(term, set);
	else if (has_prefix(term, "core:"))
		return resolve_core(term, set);
	else
		return resolve_range(term, set);
	return 0;
}

/* The list in the making: CPUs in order of mention, each once. */
struct list {
	struct tlat_cpuset seen, removed;
	int32_t *cpus;
	size_t n, max;
	bool adds;
};

static void take(struct list *list, const struct tlat_cpuset *set)
{
	struct tlat_cpuset new = tlat_cpuset_minus(set, &list->removed);

	new = tlat_cpuset_minus(&new, &list->seen);
	for (int32_t cpu = tlat_cpuset_next(&new, -1); cpu >= 0;
	     cpu = tlat_cpuset_next(&new, cpu)) {
		if (list->n < list->max)
			list->cpus[list->n] = cpu;
		list->n++;
	}
	list->seen = tlat_cpuset_or(&list->seen, &new);
}

/* One pass over the terms: the first for what is removed, the second for what is named. */
static int pass(struct term *term, const char *text, size_t length, struct list *list,
		bool removing)
{
	const char *end = text + length;

	for (const char *p = text; p <= end; p = term->text + term->length + 1) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		struct tlat_cpuset set = { { 0 } };
		int r;

		term->removes = p < end && *p == '!';
		term->text = p + term->removes;
		term->length = (size_t)((comma ? comma : end) - term->text);
		list->adds |= !term->removes;
		if (term->removes != removing)
			continue;
		if (!term->length)
			return tlat_fail(term->reterr, -EINVAL,
					 "CPU list: nothing stands %s; name CPUs, such as 0-1",
					 removing ? "after a \"!\"" : "beside a comma");
		r = resolve_term(term, &set);
		if (r < 0)
			return r;
		if (removing)
			list->removed = tlat_cpuset_or(&list->removed, &set);
		else
			take(list, &set);
	}
	return 0;
}

int tlat_machine_cpus(const struct tlat_machine *machine, const char *list, int32_t *cpus,
		      size_t max, struct tlat_error *reterr)
{
	struct list out = { .cpus = cpus, .max = max };
	struct term term = { .machine = machine, .reterr = reterr };
	struct tlat_cpuset all = tlat_machine_reachable(machine);
	size_t length = list ? tlat_cpulist_trim(&list, strlen(list)) : 0;
	int r;

	if (!list)
		return tlat_fail(reterr, -EINVAL,
				 "CPU list: none was given (NULL); name CPUs such as 0-1");
	if (!length)
		return tlat_fail(reterr, -EINVAL,
				 "CPU list: \"\" is empty; name CPUs such as 0-1, "
				 "or leave it out for the default choice");
	r = pass(&term, list, length, &out, true);
	if (r >= 0)
		r = pass(&term, list, length, &out, false);
	if (r < 0)
		return r;
	if (!out.adds)
		take(&out, &all);
	if (out.n)
		return (int)out.n;
	term = (struct term){ .text = list, .length = length, .reterr = reterr };
	return fail_word(&term, "leaves no CPU; remove fewer");
}
