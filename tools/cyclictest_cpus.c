// SPDX-License-Identifier: MIT
/*
 * cyclictest_cpus.c - CPU lists in libnuma's language, where "!" turns the whole list round and "+"
 * counts within the CPUs that may be used, put into the library's.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cyclictest_cpus.h"

#define NODES_MAX 1024

static int ascending(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int out_of_memory(void)
{
	tlat_cyc_say("out of memory for CPU lists");
	return -ENOMEM;
}

/* The affinity mask of this process, ascending. */
static int find_allowed(int32_t **ret_cpus, int32_t *ret_n)
{
	cpu_set_t *set = CPU_ALLOC(TLAT_CPUS_MAX);
	size_t bytes = CPU_ALLOC_SIZE(TLAT_CPUS_MAX);
	int32_t *cpus = calloc(TLAT_CPUS_MAX, sizeof(*cpus)), n = 0;
	int error = set && cpus ? 0 : ENOMEM;

	if (!error && sched_getaffinity(0, bytes, set) < 0)
		error = errno;
	if (error) {
		free(cpus);
		CPU_FREE(set);
		tlat_cyc_say("the affinity mask cannot be read: %s", strerror(error));
		return -error;
	}
	for (int32_t cpu = 0; cpu < TLAT_CPUS_MAX; cpu++)
		if (CPU_ISSET_S((size_t)cpu, bytes, set))
			cpus[n++] = cpu;
	CPU_FREE(set);
	*ret_cpus = cpus;
	*ret_n = n;
	return 0;
}

static char *list_of(const int32_t *cpus, int32_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int32_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRId32, i ? "," : "", cpus[i]);
	fclose(out);
	return text;
}

/* "!0-1,4": the library's "!" is of one term. */
static void put_negated(const char *text, FILE *out)
{
	fputc('!', out);
	for (; *text; text++) {
		fputc(*text, out);
		if (*text == ',')
			fputc('!', out);
	}
}

/* The CPUs allowed from one place to another; a place beyond the last is no CPU, to be refused. */
static void put_places(long first, long last, const int32_t *allowed, int32_t n, FILE *out)
{
	if (last >= n)
		fprintf(out, "%d", TLAT_CPUS_MAX);
	for (long at = first; last < n && at <= last; at++)
		fprintf(out, "%s%" PRId32, at > first ? "," : "", allowed[at]);
}

/* "0-1,3": the first, second and fourth of those allowed; what is no number is left as it is. */
static void put_relative(const char *text, const int32_t *allowed, int32_t n, FILE *out)
{
	while (*text) {
		char *end;
		long first, last;

		if (!isdigit((unsigned char)*text)) {
			fputc(*text++, out);
			continue;
		}
		first = last = strtol(text, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtol(end + 1, &end, 10);
		put_places(first, last, allowed, n, out);
		text = end;
	}
}

char *tlat_cyc_cpus_translate(const char *text, const int32_t *allowed, int32_t n_allowed)
{
	char *list = NULL;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	if (!out)
		return NULL;
	if (*text == '!')
		put_negated(text + 1, out);
	else if (*text == '+')
		put_relative(text + 1, allowed, n_allowed, out);
	else
		fputs(text, out);
	fclose(out);
	return list;
}

static void say_overridden(const struct tlat_cyc_cpus *cpus, const int32_t *allowed, int32_t n)
{
	int32_t *beyond = calloc((size_t)cpus->n + 1, sizeof(*beyond)), left = 0;
	char *list;

	for (int32_t i = 0; beyond && i < cpus->n; i++)
		if (!bsearch(&cpus->cpus[i], allowed, (size_t)n, sizeof(*allowed), ascending))
			beyond[left++] = cpus->cpus[i];
	list = left ? list_of(beyond, left) : NULL;
	if (list)
		tlat_cyc_say(
			"CPUs outside this process's affinity mask are used, as they are named: %s",
			list);
	free(list);
	free(beyond);
}

/* What option names. */
static int resolve(struct tlat_cyc_cpus *cpus, const char *option, const char *text,
		   const int32_t *allowed, int32_t n_allowed, const struct tlat_machine *machine)
{
	char *list = tlat_cyc_cpus_translate(text, allowed, n_allowed);
	struct tlat_error error;
	int n;

	cpus->cpus = calloc(TLAT_CPUS_MAX, sizeof(*cpus->cpus));
	if (!list || !cpus->cpus) {
		free(list);
		return out_of_memory();
	}
	n = tlat_machine_cpus(machine, list, cpus->cpus, TLAT_CPUS_MAX, &error);
	free(list);
	if (n < 0) {
		tlat_cyc_say("%s '%s': %s", option, text, error.text);
		return n;
	}
	qsort(cpus->cpus, (size_t)n, sizeof(*cpus->cpus), ascending);
	cpus->n = n;
	say_overridden(cpus, allowed, n_allowed);
	return 0;
}

static bool is_among(const struct tlat_cyc_cpus *cpus, int32_t cpu)
{
	return bsearch(&cpu, cpus->cpus, (size_t)cpus->n, sizeof(cpu), ascending);
}

/* Where the main thread disturbs nobody. */
static void find_rest(struct tlat_cyc_cpus *cpus, int32_t *allowed, int32_t n_allowed)
{
	int32_t n = 0;

	for (int32_t i = 0; i < n_allowed; i++)
		if (!is_among(cpus, allowed[i]))
			allowed[n++] = allowed[i];
	cpus->rest = n ? list_of(allowed, n) : NULL;
}

/* CPUs that programs do not start on are often the ones to be measured. */
static void say_left_out(const struct tlat_cyc_cpus *cpus, const struct tlat_machine *machine)
{
	int32_t *isolated = calloc(TLAT_CPUS_MAX, sizeof(*isolated)), left = 0;
	int n = isolated ? tlat_machine_cpus(machine, "isolated", isolated, TLAT_CPUS_MAX, NULL)
			 : 0;
	char *list;

	for (int i = 0; i < n; i++)
		if (!is_among(cpus, isolated[i]))
			isolated[left++] = isolated[i];
	list = left ? list_of(isolated, left) : NULL;
	if (list)
		tlat_cyc_say("left out, as they are isolated and not in this process's affinity "
			     "mask: CPUs %s; -a %s measures there",
			     list, list);
	free(list);
	free(isolated);
}

static int find_measured(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
			 const struct tlat_machine *machine, int32_t *allowed, int32_t n_allowed)
{
	bool named = config->affinity && *config->affinity;
	int error;

	if (named) {
		error = resolve(cpus, "--affinity", config->affinity, allowed, n_allowed, machine);
		if (error)
			return error;
	} else {
		cpus->cpus = calloc((size_t)n_allowed + 1, sizeof(*cpus->cpus));
		if (!cpus->cpus)
			return out_of_memory();
		memcpy(cpus->cpus, allowed, (size_t)n_allowed * sizeof(*allowed));
		cpus->n = n_allowed;
		if (config->affinity || config->threads == TLAT_CYC_ALL)
			say_left_out(cpus, machine);
	}
	cpus->floats = tlat_cyc_floats(config);
	cpus->threads = config->threads == TLAT_CYC_ALL ? cpus->n : (int32_t)config->threads;
	if (!named && !cpus->floats && cpus->threads < cpus->n)
		cpus->n = cpus->threads; /* the others are left for the main thread */
	cpus->list = list_of(cpus->cpus, cpus->n);
	find_rest(cpus, allowed, n_allowed);
	return cpus->list ? 0 : out_of_memory();
}

static int find_main(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
		     const struct tlat_machine *machine, int32_t *allowed, int32_t n_allowed)
{
	int error =
		resolve(cpus, "--mainaffinity", config->mainaffinity, allowed, n_allowed, machine);

	if (error)
		return error;
	cpus->list = list_of(cpus->cpus, cpus->n);
	return cpus->list ? 0 : out_of_memory();
}

typedef int find_fn(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
		    const struct tlat_machine *machine, int32_t *allowed, int32_t n_allowed);

static int find_among_allowed(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
			      const struct tlat_machine *machine, find_fn *find)
{
	int32_t *allowed, n_allowed;
	int error;

	*cpus = (struct tlat_cyc_cpus){ 0 };
	error = find_allowed(&allowed, &n_allowed);
	if (error)
		return error;
	error = find(cpus, config, machine, allowed, n_allowed);
	free(allowed);
	return error;
}

int tlat_cyc_cpus_find(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
		       const struct tlat_machine *machine)
{
	return find_among_allowed(cpus, config, machine, find_measured);
}

int tlat_cyc_cpus_find_main(struct tlat_cyc_cpus *cpus, const struct tlat_cyc_config *config,
			    const struct tlat_machine *machine)
{
	return find_among_allowed(cpus, config, machine, find_main);
}

void tlat_cyc_cpus_free(struct tlat_cyc_cpus *cpus)
{
	free(cpus->cpus);
	free(cpus->list);
	free(cpus->rest);
}

int32_t tlat_cyc_cpus_node(const struct tlat_machine *machine, int32_t cpu)
{
	int32_t *cpus = calloc(TLAT_CPUS_MAX, sizeof(*cpus)), found = 0;

	for (int32_t node = 0; cpus && node < NODES_MAX; node++) {
		char word[24];
		int n;

		snprintf(word, sizeof(word), "node:%" PRId32, node);
		n = tlat_machine_cpus(machine, word, cpus, TLAT_CPUS_MAX, NULL);
		for (int i = 0; i < n; i++)
			if (cpus[i] == cpu)
				found = node;
		if (n < 0 && node) /* node numbers seldom have holes; node 0 may have no CPU */
			break;
	}
	free(cpus);
	return found;
}
