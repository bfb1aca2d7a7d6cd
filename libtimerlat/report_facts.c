// SPDX-License-Identifier: MIT
/*
 * report_facts.c - conditions of a report as text, whether it is fresh or was
 * read: both are asked through the document, so that both say the same.
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
		snprintf(text, sizeof(text), "%.6g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(text, sizeof(text), "%s", json_is_true(value) ? "true" : "false");
	return strdup(text);
}

static void add_fact(struct tlat_report *report, const char *group, const char *key,
		     const json_t *value)
{
	struct tlat_fact *grown = realloc(report->facts, (report->n_facts + 1) * sizeof(*grown));
	char name[96];

	if (!grown)
		return;
	report->facts = grown;
	snprintf(name, sizeof(name), "%s.%s", group, key);
	grown[report->n_facts].name = strdup(name);
	grown[report->n_facts].value = scalar_text(value);
	if (grown[report->n_facts].name && grown[report->n_facts].value) {
		report->n_facts++;
		return;
	}
	free((char *)grown[report->n_facts].name);
	free((char *)grown[report->n_facts].value);
}

static void add_group(struct tlat_report *report, json_t *document, const char *group)
{
	json_t *object = json_object_get(document, group), *value;
	const char *key;

	json_object_foreach (object, key, value)
		if (!json_is_object(value) && !json_is_array(value))
			add_fact(report, group, key, value);
}

void tlat_report_facts_make(struct tlat_report *report)
{
	char *text = report->facts ? NULL : tlat_report_format(report);
	json_t *document = text ? json_loads(text, 0, NULL) : NULL;

	free(text);
	add_group(report, document, "machine");
	add_group(report, document, "clock");
	json_decref(document);
}
