// SPDX-License-Identifier: MIT
/*
 * report_facts.c - conditions of a report as text: the members of its document that are one value,
 * so that a report that was read and the one that was written say the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_json.h"

static char *scalar_text(const json_t *value)
{
	char text[64] = "";

	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (json_is_integer(value))
		snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		tlat_format(text, sizeof(text), "%.6g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(text, sizeof(text), "%s", json_is_true(value) ? "true" : "false");
	return strdup(text);
}

static int add_fact(struct tlat_report *report, const char *group, const char *key,
		    const json_t *value)
{
	struct tlat_fact *grown = realloc(report->facts, (report->n_facts + 1) * sizeof(*grown));
	struct tlat_fact *fact;
	char name[96];

	if (!grown)
		return -ENOMEM;
	report->facts = grown;
	fact = &grown[report->n_facts++];
	snprintf(name, sizeof(name), "%s.%s", group, key);
	fact->name = strdup(name);
	fact->value = scalar_text(value);
	return fact->name && fact->value ? 0 : -ENOMEM;
}

static int add_group(struct tlat_report *report, const char *group, json_t *object)
{
	const char *key;
	char name[64];
	json_t *value;
	int ret = 0;

	json_object_foreach (object, key, value) {
		if (ret || json_is_array(value))
			continue;
		if (!json_is_object(value)) {
			ret = add_fact(report, group, key, value);
			continue;
		}
		snprintf(name, sizeof(name), "%s.%s", group, key);
		ret = add_group(report, name, value); /* "clock.gap" */
	}
	return ret;
}

/* As the report has it that was read, or as this one would be written. */
static json_t *group_json(struct tlat_writer *w, const struct tlat_report *report,
			  const char *group,
			  json_t *(*make)(struct tlat_writer *, const struct tlat_report *))
{
	if (report->document)
		return json_incref(json_object_get(report->document, group));
	return make(w, report);
}

int tlat_report_facts_make(struct tlat_report *report)
{
	struct tlat_writer w = { 0 };
	json_t *machine = group_json(&w, report, "machine", tlat_report_machine_json);
	json_t *clock = group_json(&w, report, "clock", tlat_report_clock_json);
	int ret = w.failed ? -ENOMEM : 0;

	if (!ret)
		ret = add_group(report, "machine", machine);
	if (!ret)
		ret = add_group(report, "clock", clock);
	json_decref(machine);
	json_decref(clock);
	return ret;
}
