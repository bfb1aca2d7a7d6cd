// SPDX-License-Identifier: MIT
/* report_watch.c - what the kernel counted meanwhile, to and from a report: rows by CPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_json.h"

#define ALL_CPUS "all"

static const struct tlat_field idle_fields[] = {
	TLAT_FIELD(tlat_watch_idle, usage, COUNT),
	TLAT_FIELD(tlat_watch_idle, time_ns, COUNT),
};

static const struct tlat_field switch_fields[] = {
	TLAT_FIELD(tlat_watch_delta, voluntary, COUNT),
	TLAT_FIELD(tlat_watch_delta, involuntary, COUNT),
	TLAT_FIELD_AS(tlat_watch_delta, switches, "machine", COUNT),
};

static const struct tlat_field fault_fields[] = {
	TLAT_FIELD_AS(tlat_watch_delta, minor_faults, "minor", COUNT),
	TLAT_FIELD_AS(tlat_watch_delta, major_faults, "major", COUNT),
};

static const struct tlat_field watch_fields[] = {
	TLAT_FIELD(tlat_watch_delta, migrations, COUNT),
	TLAT_FIELD(tlat_watch_delta, steal_ns, INT64_OR_NULL),
	TLAT_FIELD(tlat_watch_delta, throttled, INT64_OR_NULL),
	TLAT_FIELD(tlat_watch_delta, hrtimer_hangs, INT64_OR_NULL),
	TLAT_FIELD(tlat_watch_delta, hrtimer_retries, INT64_OR_NULL),
	TLAT_FIELD(tlat_watch_delta, hrtimer_events, INT64_OR_NULL),
	TLAT_FIELD(tlat_watch_delta, duration_ns, INT64),
};

/* The object of rows of that CPU, made when it is not there yet. */
static json_t *cpu_rows(struct tlat_writer *w, json_t *object, int32_t cpu)
{
	char key[16] = ALL_CPUS;
	json_t *rows;

	if (cpu >= 0)
		snprintf(key, sizeof(key), "%d", (int)cpu);
	rows = json_object_get(object, key);
	if (!rows) {
		tlat_json_put(w, object, key, json_object());
		rows = json_object_get(object, key);
	}
	return rows;
}

/* Names of rows are the kernel's; what is not UTF-8 in them is repaired like other text. */
static void put_row(struct tlat_writer *w, json_t *rows, const char *name, json_t *value)
{
	json_t *key = tlat_json_string(name);

	if (!key)
		w->failed = true;
	tlat_json_put(w, rows, key ? json_string_value(key) : "", value);
	json_decref(key);
}

static double per_wait(uint64_t usage, const struct tlat_result *result)
{
	uint64_t waits = result->counts.asked + result->warmup;

	return waits ? (double)usage / (double)waits : NAN;
}

static json_t *idle_json(struct tlat_writer *w, const struct tlat_result *result)
{
	const struct tlat_watch_delta *watch = result->watch;
	json_t *object = json_object();

	for (size_t i = 0; i < watch->n_idle; i++) {
		const struct tlat_watch_idle *idle = &watch->idle[i];
		json_t *row = json_object();

		tlat_json_put_fields(w, row, idle, idle_fields, TLAT_ARRAY_SIZE(idle_fields));
		tlat_json_put(w, row, "share", tlat_json_real(tlat_idle_time_share(watch, idle)));
		tlat_json_put(w, row, "usage_per_wait",
			      tlat_json_real(per_wait(idle->usage, result)));
		put_row(w, cpu_rows(w, object, idle->cpu), idle->state, row);
	}
	return object;
}

static json_t *counts_json(struct tlat_writer *w, const struct tlat_watch_count *counts, size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++)
		put_row(w, cpu_rows(w, object, counts[i].cpu), counts[i].name,
			json_integer((json_int_t)(counts[i].count & INT64_MAX)));
	return object;
}

json_t *tlat_watch_json(struct tlat_writer *w, const struct tlat_result *result)
{
	const struct tlat_watch_delta *watch = result->watch;
	json_t *object;

	if (!watch)
		return json_null();
	object = json_object();
	tlat_json_put(w, object, "idle", idle_json(w, result));
	tlat_json_put(w, object, "interrupts",
		      counts_json(w, watch->interrupts, watch->n_interrupts));
	tlat_json_put(w, object, "softirqs", counts_json(w, watch->softirqs, watch->n_softirqs));
	tlat_json_put(
		w, object, "switches",
		tlat_json_group(w, true, watch, switch_fields, TLAT_ARRAY_SIZE(switch_fields)));
	tlat_json_put(w, object, "faults",
		      tlat_json_group(w, true, watch, fault_fields, TLAT_ARRAY_SIZE(fault_fields)));
	tlat_json_put_fields(w, object, watch, watch_fields, TLAT_ARRAY_SIZE(watch_fields));
	return object;
}

static int get_cpu(struct tlat_reader *r, const char *key, int32_t *ret_cpu)
{
	char *end;
	long cpu;

	*ret_cpu = -1;
	if (!strcmp(key, ALL_CPUS))
		return 0;
	errno = 0;
	cpu = strtol(key, &end, 10);
	if (end == key || *end || errno || cpu < 0 || cpu > INT32_MAX)
		return tlat_json_refuse(r, key, "is neither a CPU number nor \"" ALL_CPUS "\"");
	*ret_cpu = (int32_t)cpu;
	return 0;
}

/* Takes one row of one CPU into the array at v, which is large enough. */
typedef int take_row_fn(struct tlat_reader *r, void *v, size_t i, int32_t cpu, const char *name,
			const json_t *value);

static int take_idle(struct tlat_reader *r, void *v, size_t i, int32_t cpu, const char *name,
		     const json_t *value)
{
	struct tlat_watch_idle *idle = (struct tlat_watch_idle *)v + i;

	if (!json_is_object(value))
		return tlat_json_refuse(r, name, "is not an object");
	idle->cpu = cpu;
	snprintf(idle->state, sizeof(idle->state), "%s", name);
	return tlat_json_get_fields(r, value, idle, idle_fields, TLAT_ARRAY_SIZE(idle_fields));
}

static int take_count(struct tlat_reader *r, void *v, size_t i, int32_t cpu, const char *name,
		      const json_t *value)
{
	struct tlat_watch_count *count = (struct tlat_watch_count *)v + i;

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return tlat_json_refuse(r, name, "is not a count");
	count->cpu = cpu;
	snprintf(count->name, sizeof(count->name), "%s", name);
	count->count = (uint64_t)json_integer_value(value);
	return 0;
}

static size_t count_rows(json_t *member)
{
	const char *key;
	json_t *rows;
	size_t n = 0;

	json_object_foreach (member, key, rows)
		n += json_object_size(rows);
	return n;
}

static int take_rows(struct tlat_reader *r, json_t *member, void *v, take_row_fn *take)
{
	const char *key, *name;
	json_t *rows, *value;
	size_t i = 0;
	int32_t cpu;

	json_object_foreach (member, key, rows) {
		int ret = get_cpu(r, key, &cpu);

		if (!ret && !json_is_object(rows))
			ret = tlat_json_refuse(r, key, "is not an object");
		if (ret < 0)
			return ret;
		json_object_foreach (rows, name, value) {
			ret = take(r, v, i++, cpu, name, value);
			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

static int get_rows(struct tlat_reader *r, const json_t *object, const char *key, size_t size,
		    take_row_fn *take, void **ret_v, size_t *ret_n)
{
	json_t *member;
	int ret = tlat_json_enter(r, object, key, &member);

	if (ret <= 0)
		return ret;
	*ret_n = count_rows(member);
	*ret_v = calloc(*ret_n + 1, size);
	ret = *ret_v ? take_rows(r, member, *ret_v, take) : tlat_json_no_memory(r);
	tlat_json_leave(r);
	return ret;
}

static int fill_watch(struct tlat_reader *r, const json_t *member, struct tlat_watch_delta *watch)
{
	void *idle = NULL, *interrupts = NULL, *softirqs = NULL;
	int ret;

	ret = get_rows(r, member, "idle", sizeof(*watch->idle), take_idle, &idle, &watch->n_idle);
	watch->idle = idle;
	if (!ret)
		ret = get_rows(r, member, "interrupts", sizeof(*watch->interrupts), take_count,
			       &interrupts, &watch->n_interrupts);
	watch->interrupts = interrupts;
	if (!ret)
		ret = get_rows(r, member, "softirqs", sizeof(*watch->softirqs), take_count,
			       &softirqs, &watch->n_softirqs);
	watch->softirqs = softirqs;
	if (ret < 0 ||
	    (ret = tlat_json_get_group(r, member, "switches", watch, switch_fields,
				       TLAT_ARRAY_SIZE(switch_fields))) < 0 ||
	    (ret = tlat_json_get_group(r, member, "faults", watch, fault_fields,
				       TLAT_ARRAY_SIZE(fault_fields))) < 0)
		return ret;
	return tlat_json_get_fields(r, member, watch, watch_fields, TLAT_ARRAY_SIZE(watch_fields));
}

static struct tlat_watch_delta *nothing_known(void)
{
	struct tlat_watch_delta *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->steal_ns = watch->throttled = -1;
	watch->hrtimer_hangs = watch->hrtimer_retries = watch->hrtimer_events = -1;
	return watch;
}

int tlat_json_get_watch(struct tlat_reader *r, const json_t *object,
			struct tlat_watch_delta **ret_watch)
{
	json_t *member;
	int ret = tlat_json_enter(r, object, "watch", &member);

	*ret_watch = NULL;
	if (ret <= 0)
		return ret;
	*ret_watch = nothing_known();
	ret = *ret_watch ? fill_watch(r, member, *ret_watch) : tlat_json_no_memory(r);
	tlat_json_leave(r);
	return ret;
}
