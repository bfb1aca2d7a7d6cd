// SPDX-License-Identifier: MIT
/*
 * watch_read.c - the files in which the kernel counts, as text. Knows their layouts: columns of
 * /proc/interrupts are the online CPUs named in its first line, rows such as ERR have one column
 * for the whole machine, and counters wrap at the width the kernel keeps them in. Pure.
 */
#include <stdio.h>
#include <string.h>

#include "watch.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

static const char *next_line(const char *p)
{
	p += strcspn(p, "\n");
	return *p ? p + 1 : p;
}

/* A decimal number that ends with its word; NULL otherwise. Too large ones stay at the top. */
static const char *read_number(const char *p, uint64_t *ret_value)
{
	uint64_t value = 0;

	p = skip_blanks(p);
	if (!is_digit(*p))
		return NULL;
	for (; is_digit(*p); p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
	}
	if (*p && !strchr(" \t\n", *p))
		return NULL;
	*ret_value = value;
	return p;
}

/* The next "CPU12" of a header; NULL at its end. */
static const char *read_column(const char *p, int32_t *ret_cpu)
{
	uint64_t cpu;

	p = skip_blanks(p);
	if (strncmp(p, "CPU", 3))
		return NULL;
	p = read_number(p + 3, &cpu);
	if (!p || cpu >= TLAT_CPUS_MAX)
		return NULL;
	*ret_cpu = (int32_t)cpu;
	return p;
}

/* The last word of the line at p, where /proc/interrupts names the device. */
static void read_device(const char *p, char *name, size_t size)
{
	size_t len = strcspn(p, "\n"), start;

	while (len && strchr(" \t", p[len - 1]))
		len--;
	for (start = len; start && !strchr(" \t", p[start - 1]);)
		start--;
	snprintf(name, size, "%.*s", (int)(len - start), p + start);
}

/* "LOC", or for a numbered row "36:eth0". Returns where the columns begin, NULL: no row. */
static const char *read_row_name(const char *p, char *name, size_t size)
{
	size_t len;

	p = skip_blanks(p);
	len = strcspn(p, ":\n");
	if (!len || p[len] != ':' || len + 2 > size)
		return NULL;
	if (is_digit(*p)) {
		snprintf(name, size, "%.*s:", (int)len, p);
		read_device(p + len + 1, name + len + 1, size - len - 1);
	} else {
		snprintf(name, size, "%.*s", (int)len, p);
	}
	return p + len + 1;
}

struct sink {
	struct tlat_watch_count *rows;
	size_t n, max;
};

static void sink_add(struct sink *sink, int32_t cpu, const char *name, uint64_t count)
{
	if (sink->n < sink->max) {
		struct tlat_watch_count *row = &sink->rows[sink->n];

		row->cpu = cpu;
		row->count = count;
		snprintf(row->name, sizeof(row->name), "%s", name);
	}
	sink->n++;
}

static bool is_machine_wide(const char *name)
{
	return !strcmp(name, "ERR") || !strcmp(name, "MIS") || !strcmp(name, "Err");
}

/* Header and row are walked together: column k of one is column k of the other. */
static void read_row(const char *header, const char *p, const char *name,
		     const struct tlat_cpuset *cpus, struct sink *sink)
{
	uint64_t count;
	int32_t cpu;

	if (is_machine_wide(name)) {
		if (read_number(p, &count))
			sink_add(sink, -1, name, count);
		return;
	}
	while ((header = read_column(header, &cpu)) && (p = read_number(p, &count)))
		if (tlat_cpuset_has(cpus, cpu))
			sink_add(sink, cpu, name, count);
}

size_t tlat_watch_read_table(const char *text, const struct tlat_cpuset *cpus,
			     struct tlat_watch_count *rows, size_t max)
{
	struct sink sink = { rows, 0, max };
	const char *header = text;

	for (const char *line = next_line(text); *line; line = next_line(line)) {
		char name[sizeof(rows->name)];
		const char *columns = read_row_name(line, name, sizeof(name));

		if (columns)
			read_row(header, columns, name, cpus, &sink);
	}
	return sink.n;
}

/* The text after word if the line begins with it and a blank; else NULL. */
static const char *after_word(const char *line, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(line, word, len) || !line[len] || !strchr(" \t", line[len]))
		return NULL;
	return line + len;
}

bool tlat_watch_read_value(const char *text, const char *word, uint64_t *ret_value)
{
	for (const char *line = text; *line; line = next_line(line)) {
		const char *p = after_word(line, word);

		if (p && read_number(p, ret_value))
			return true;
	}
	return false;
}

static struct tlat_watch_cpu *find_cpu(struct tlat_watch_cpu *cpus, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++)
		if ((uint64_t)cpus[i].cpu == number)
			return &cpus[i];
	return NULL;
}

/* The eighth field; kernels before 2.6.11 have seven. */
static bool read_steal(const char *p, uint64_t *ret_ticks)
{
	for (int field = 0; field < 8 && p; field++)
		p = read_number(p, ret_ticks);
	return p;
}

void tlat_watch_read_steal(const char *text, struct tlat_watch_cpu *cpus, size_t n)
{
	for (const char *line = text; *line; line = next_line(line)) {
		struct tlat_watch_cpu *cpu;
		uint64_t number;
		const char *p;

		if (strncmp(line, "cpu", 3) || !is_digit(line[3]))
			continue;
		p = read_number(line + 3, &number);
		cpu = p ? find_cpu(cpus, n, number) : NULL;
		if (cpu)
			cpu->has_steal = read_steal(p, &cpu->steal_ticks);
	}
}

/* "  .nr_events      : 18757" */
static bool read_timer_field(const char *line, const char *name, uint64_t *ret_value)
{
	const char *p = after_word(skip_blanks(line), name);

	if (!p)
		return false;
	p = skip_blanks(p);
	return *p == ':' && read_number(p + 1, ret_value);
}

void tlat_watch_read_timers(const char *text, struct tlat_watch_cpu *cpus, size_t n)
{
	struct tlat_watch_cpu *cpu = NULL;
	uint64_t number;

	for (const char *line = text; *line; line = next_line(line)) {
		if (!strncmp(line, "cpu:", 4))
			cpu = read_number(line + 4, &number) ? find_cpu(cpus, n, number) : NULL;
		else if (cpu && read_timer_field(line, ".nr_events", &cpu->hrtimer_events))
			cpu->has_timers = true;
		else if (cpu && !read_timer_field(line, ".nr_retries", &cpu->hrtimer_retries))
			read_timer_field(line, ".nr_hangs", &cpu->hrtimer_hangs);
	}
}

uint64_t tlat_watch_moved(uint64_t before, uint64_t after, unsigned int bits)
{
	uint64_t top = bits < 64 ? UINT64_C(1) << bits : 0;

	if (after >= before)
		return after - before;
	if (top && before < top && before - after > top / 2)
		return after + (top - before);
	return after;
}
