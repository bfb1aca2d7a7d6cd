// SPDX-License-Identifier: MIT
/*
 * report_json.c - struct members to and from JSON, and the wording of what a reader refuses.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_json.h"

/* Length of the UTF-8 sequence at s as its first byte says, 0: not a first byte. */
static size_t sequence_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* Bytes of the valid sequence at s, or 0: overlong, surrogate, too large, cut short. */
static size_t utf8_length(const unsigned char *s)
{
	size_t length = sequence_length(s[0]);

	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static char *repaired(const char *text)
{
	char *copy = malloc(3 * strlen(text) + 1);
	char *out = copy;

	while (copy && *text) {
		size_t length = utf8_length((const unsigned char *)text);

		memcpy(out, length ? text : "\xef\xbf\xbd", length ? length : 3);
		out += length ? length : 3;
		text += length ? length : 1;
	}
	if (copy)
		*out = '\0';
	return copy;
}

json_t *tlat_json_string(const char *text)
{
	json_t *value;
	char *copy;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	copy = repaired(text);
	value = copy ? json_string(copy) : NULL;
	free(copy);
	return value;
}

json_t *tlat_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

void tlat_json_put(struct tlat_writer *w, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		w->failed = true;
}

void tlat_json_push(struct tlat_writer *w, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		w->failed = true;
}

/* Seventeen digits give every double back exactly. */
int tlat_json_dump(const struct tlat_writer *w, json_t *document, char **ret_text)
{
	char *text = NULL;

	if (!w->failed)
		text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(document);
	if (!text)
		return -ENOMEM;
	*ret_text = text;
	return 0;
}

static json_t *integer_or_null(int64_t value, bool nullable)
{
	return nullable && value == -1 ? json_null() : json_integer(value);
}

static json_t *field_json(const void *member, enum tlat_field_type type)
{
	switch (type) {
	case TLAT_FIELD_STRING:
	case TLAT_FIELD_NAME:
		return tlat_json_string(*(const char *)member ? member : NULL);
	case TLAT_FIELD_INT32:
	case TLAT_FIELD_INT32_OR_NULL:
		return integer_or_null(*(const int32_t *)member, type == TLAT_FIELD_INT32_OR_NULL);
	case TLAT_FIELD_INT64:
	case TLAT_FIELD_INT64_OR_NULL:
		return integer_or_null(*(const int64_t *)member, type == TLAT_FIELD_INT64_OR_NULL);
	case TLAT_FIELD_COUNT:
		return json_integer((json_int_t)(*(const uint64_t *)member & INT64_MAX));
	case TLAT_FIELD_REAL:
		return tlat_json_real(*(const double *)member);
	case TLAT_FIELD_BOOL:
		return json_boolean(*(const bool *)member);
	}
	return NULL;
}

void tlat_json_put_fields(struct tlat_writer *w, json_t *object, const void *base,
			  const struct tlat_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tlat_json_put(w, object, fields[i].key,
			      field_json((const char *)base + fields[i].offset, fields[i].type));
}

json_t *tlat_json_group(struct tlat_writer *w, bool known, const void *base,
			const struct tlat_field *fields, size_t n)
{
	json_t *object;

	if (!known)
		return json_null();
	object = json_object();
	tlat_json_put_fields(w, object, base, fields, n);
	return object;
}

static json_t *finding_json(struct tlat_writer *w, const struct tlat_finding *finding)
{
	json_t *object = json_object();

	tlat_json_put(w, object, "id", tlat_json_string(finding->id));
	tlat_json_put(w, object, "severity",
		      tlat_json_string(tlat_severity_name(finding->severity)));
	tlat_json_put(w, object, "text", tlat_json_string(finding->text));
	tlat_json_put(w, object, "remedy", tlat_json_string(finding->remedy));
	return object;
}

json_t *tlat_findings_json(struct tlat_writer *w, const struct tlat_findings *findings,
			   size_t first)
{
	json_t *array = json_array();

	for (size_t i = first; i < findings->n; i++)
		tlat_json_push(w, array, finding_json(w, &findings->v[i]));
	return array;
}

int tlat_json_refuse(struct tlat_reader *r, const char *key, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	tlat_vformat(text, sizeof(text), format, args);
	va_end(args);
	return tlat_fail(r->reterr, -EINVAL, "%.160s: %s%.60s: %s", r->name, r->where, key, text);
}

int tlat_json_no_memory(struct tlat_reader *r)
{
	return tlat_fail(r->reterr, -ENOMEM, "%.200s: out of memory", r->name);
}

static void name_child(struct tlat_reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void name_child(struct tlat_reader *r, const char *format, ...)
{
	size_t n = strlen(r->where);
	va_list args;

	assert(r->depth < TLAT_ARRAY_SIZE(r->marks));
	r->marks[r->depth++] = n;
	va_start(args, format);
	tlat_vformat(r->where + n, sizeof(r->where) - n, format, args);
	va_end(args);
}

void tlat_json_enter_item(struct tlat_reader *r, const char *key, size_t index)
{
	name_child(r, "%s[%zu].", key, index);
}

void tlat_json_leave(struct tlat_reader *r)
{
	r->where[r->marks[--r->depth]] = '\0';
}

static const char *type_name(json_type type)
{
	switch (type) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	case JSON_NULL:
		return "null";
	}
	return "something else";
}

static int wrong_type(struct tlat_reader *r, const char *key, const json_t *value, json_type want)
{
	return tlat_json_refuse(r, key, "is %s where a report has %s",
				type_name(json_typeof(value)), type_name(want));
}

int tlat_json_get(struct tlat_reader *r, const json_t *object, const char *key, json_type type,
		  json_t **ret_value)
{
	json_t *value = json_object_get(object, key);

	*ret_value = NULL;
	if (!value || json_is_null(value))
		return 0;
	if (json_typeof(value) != type)
		return wrong_type(r, key, value, type);
	*ret_value = value;
	return 0;
}

int tlat_json_need(struct tlat_reader *r, const json_t *object, const char *key, json_type type,
		   json_t **ret_value)
{
	int ret = tlat_json_get(r, object, key, type, ret_value);

	if (ret < 0 || *ret_value)
		return ret;
	return tlat_json_refuse(r, key, "is missing, a report has %s there", type_name(type));
}

int tlat_json_enter(struct tlat_reader *r, const json_t *object, const char *key,
		    json_t **ret_member)
{
	int ret = tlat_json_get(r, object, key, JSON_OBJECT, ret_member);

	if (ret < 0 || !*ret_member)
		return ret;
	name_child(r, "%s.", key);
	return 1;
}

static int get_integer(struct tlat_reader *r, const json_t *value, const char *key, int64_t min,
		       int64_t max, int64_t *ret_value)
{
	if (!json_is_integer(value))
		return wrong_type(r, key, value, JSON_INTEGER);
	*ret_value = json_integer_value(value);
	if (*ret_value < min || *ret_value > max)
		return tlat_json_refuse(r, key, "%lld is out of range, %lld to %lld are possible",
					(long long)*ret_value, (long long)min, (long long)max);
	return 0;
}

static int get_int32(struct tlat_reader *r, const json_t *value, const char *key,
		     int32_t *ret_value)
{
	int64_t wide = 0;
	int ret = get_integer(r, value, key, INT32_MIN, INT32_MAX, &wide);

	if (!ret)
		*ret_value = (int32_t)wide;
	return ret;
}

static int get_count(struct tlat_reader *r, const json_t *value, const char *key,
		     uint64_t *ret_value)
{
	int64_t count = 0;
	int ret = get_integer(r, value, key, 0, INT64_MAX, &count);

	if (!ret)
		*ret_value = (uint64_t)count;
	return ret;
}

static int get_text(struct tlat_reader *r, const json_t *value, const struct tlat_field *field,
		    char *member)
{
	const char *text = json_string_value(value);

	if (!text)
		return wrong_type(r, field->key, value, JSON_STRING);
	if (field->type == TLAT_FIELD_NAME && strlen(text) >= field->size)
		return tlat_json_refuse(r, field->key,
					"\"%.60s\" has %zu bytes, at most %zu are possible", text,
					strlen(text), field->size - 1);
	snprintf(member, field->size, "%s", text);
	return 0;
}

static int get_null(struct tlat_reader *r, const struct tlat_field *field, void *member)
{
	switch (field->type) {
	case TLAT_FIELD_STRING:
	case TLAT_FIELD_NAME:
		*(char *)member = '\0';
		return 0;
	case TLAT_FIELD_REAL:
		*(double *)member = NAN;
		return 0;
	case TLAT_FIELD_INT32_OR_NULL:
		*(int32_t *)member = -1;
		return 0;
	case TLAT_FIELD_INT64_OR_NULL:
		*(int64_t *)member = -1;
		return 0;
	default:
		return tlat_json_refuse(r, field->key, "is null where a report has a value");
	}
}

static int get_field(struct tlat_reader *r, const json_t *value, const struct tlat_field *field,
		     void *member)
{
	if (json_is_null(value))
		return get_null(r, field, member);
	switch (field->type) {
	case TLAT_FIELD_STRING:
	case TLAT_FIELD_NAME:
		return get_text(r, value, field, member);
	case TLAT_FIELD_INT32:
	case TLAT_FIELD_INT32_OR_NULL:
		return get_int32(r, value, field->key, member);
	case TLAT_FIELD_INT64:
	case TLAT_FIELD_INT64_OR_NULL:
		return get_integer(r, value, field->key, INT64_MIN, INT64_MAX, member);
	case TLAT_FIELD_COUNT:
		return get_count(r, value, field->key, member);
	case TLAT_FIELD_REAL:
		if (!json_is_number(value))
			return wrong_type(r, field->key, value, JSON_REAL);
		*(double *)member = json_number_value(value);
		return 0;
	case TLAT_FIELD_BOOL:
		if (!json_is_boolean(value))
			return wrong_type(r, field->key, value, JSON_TRUE);
		*(bool *)member = json_is_true(value);
		return 0;
	}
	return -EINVAL;
}

int tlat_json_get_fields(struct tlat_reader *r, const json_t *object, void *base,
			 const struct tlat_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_object_get(object, fields[i].key);
		int ret = value ? get_field(r, value, &fields[i], (char *)base + fields[i].offset)
				: 0;

		if (ret < 0)
			return ret;
	}
	return 0;
}

int tlat_json_get_group(struct tlat_reader *r, const json_t *object, const char *key, void *base,
			const struct tlat_field *fields, size_t n)
{
	json_t *member;
	int code, ret = tlat_json_enter(r, object, key, &member);

	if (ret <= 0)
		return ret;
	code = tlat_json_get_fields(r, member, base, fields, n);
	tlat_json_leave(r);
	return code < 0 ? code : 1;
}

int tlat_json_get_string_copy(struct tlat_reader *r, const json_t *object, const char *key,
			      char **ret_copy)
{
	json_t *value;
	int ret = tlat_json_get(r, object, key, JSON_STRING, &value);

	*ret_copy = NULL;
	if (ret < 0 || !value)
		return ret;
	*ret_copy = strdup(json_string_value(value));
	return *ret_copy ? 0 : tlat_json_no_memory(r);
}

static int severity_from_name(const char *name)
{
	for (int i = TLAT_INFO; i <= TLAT_ERROR; i++)
		if (!strcmp(tlat_severity_name(i), name))
			return i;
	return -EINVAL;
}

static int get_finding(struct tlat_reader *r, const json_t *item, struct tlat_findings *findings)
{
	json_t *id, *text, *severity, *remedy;
	int level, ret;

	if ((ret = tlat_json_need(r, item, "id", JSON_STRING, &id)) < 0 ||
	    (ret = tlat_json_need(r, item, "text", JSON_STRING, &text)) < 0 ||
	    (ret = tlat_json_need(r, item, "severity", JSON_STRING, &severity)) < 0 ||
	    (ret = tlat_json_get(r, item, "remedy", JSON_STRING, &remedy)) < 0)
		return ret;
	level = severity_from_name(json_string_value(severity));
	if (level < 0)
		return tlat_json_refuse(r, "severity", "\"%.40s\" is none of info, warn, error",
					json_string_value(severity));
	tlat_findings_add(findings, level, json_string_value(id), json_string_value(remedy), "%s",
			  json_string_value(text));
	return 0;
}

int tlat_json_get_findings(struct tlat_reader *r, const json_t *object,
			   struct tlat_findings *findings)
{
	json_t *array;
	size_t n;
	int ret = tlat_json_get(r, object, "findings", JSON_ARRAY, &array);

	n = json_array_size(array);
	for (size_t i = 0; !ret && i < n; i++) {
		tlat_json_enter_item(r, "findings", i);
		ret = get_finding(r, json_array_get(array, i), findings);
		tlat_json_leave(r);
	}
	return ret;
}

int tlat_json_item_int(struct tlat_reader *r, const json_t *array, size_t index, const char *key,
		       int64_t min, int64_t max, int64_t *ret_value)
{
	const json_t *value = json_array_get(array, index);

	if (!value)
		return tlat_json_refuse(r, key, "has an item that is not [index, count]");
	return get_integer(r, value, key, min, max, ret_value);
}

int tlat_json_item_count(struct tlat_reader *r, const json_t *array, size_t index, const char *key,
			 uint64_t *ret_count)
{
	int64_t value = 0;
	int ret = tlat_json_item_int(r, array, index, key, 0, TLAT_COUNT_MAX, &value);

	if (!ret)
		*ret_count = (uint64_t)value;
	return ret;
}
