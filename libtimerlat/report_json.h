/* SPDX-License-Identifier: MIT */
/*
 * report_json.h - between the struct members of the library and JSON: tables
 * that say which member is which key, used in both directions, and readers that
 * name file, place and cause of what they refuse. jansson is seen only here.
 */
#ifndef TLAT_REPORT_JSON_H
#define TLAT_REPORT_JSON_H

#include <jansson.h>

#include "report.h"

enum tlat_field_type {
	TLAT_FIELD_STRING, /* char[size]; null: "", cut when it is longer */
	TLAT_FIELD_NAME,   /* the same, refused when longer: cut, two could be taken for one */
	TLAT_FIELD_INT32,
	TLAT_FIELD_INT32_OR_NULL, /* null: -1 */
	TLAT_FIELD_INT64,
	TLAT_FIELD_INT64_OR_NULL, /* null: -1 */
	TLAT_FIELD_COUNT,	  /* uint64_t, never negative */
	TLAT_FIELD_REAL,	  /* double; null: NAN */
	TLAT_FIELD_BOOL,
};

struct tlat_field {
	const char *key;
	enum tlat_field_type type;
	size_t offset, size;
};

#define TLAT_FIELD_AS(struct_, member_, key_, type_)                                               \
	{                                                                                          \
		key_, TLAT_FIELD_##type_, offsetof(struct struct_, member_),                       \
			sizeof(((struct struct_ *)0)->member_)                                     \
	}
#define TLAT_FIELD(struct_, member_, type_) TLAT_FIELD_AS(struct_, member_, #member_, type_)

/* Writing. Values that could not be made are noted here, so that callers need not look. */
struct tlat_writer {
	bool failed;
};

/* NULL is null; bytes that are not UTF-8 become U+FFFD. */
json_t *tlat_json_string(const char *text);
/* What is no number is null. */
json_t *tlat_json_real(double value);
/* Add value, which is given away, to an object or array. */
void tlat_json_put(struct tlat_writer *w, json_t *object, const char *key, json_t *value);
void tlat_json_push(struct tlat_writer *w, json_t *array, json_t *value);
void tlat_json_put_fields(struct tlat_writer *w, json_t *object, const void *base,
			  const struct tlat_field *fields, size_t n);
/* An object of these fields, null when they are not known. */
json_t *tlat_json_group(struct tlat_writer *w, bool known, const void *base,
			const struct tlat_field *fields, size_t n);
json_t *tlat_findings_json(struct tlat_writer *w, const struct tlat_findings *findings,
			   size_t first);

/* All of document, which is given away, as one line to free. 0, or -ENOMEM: also where something of
 * it could not be made. */
int tlat_json_dump(const struct tlat_writer *w, json_t *document, char **ret_text);

/* Reading. */
struct tlat_reader {
	const char *name; /* of the file */
	struct tlat_error *reterr;
	char where[96];	 /* of the object being read: "results[3].counts." */
	size_t marks[8]; /* where the names of its parents end */
	size_t depth;
};

/* Refuse the value of key: -EINVAL. */
int tlat_json_refuse(struct tlat_reader *r, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* -ENOMEM, said of the file. */
int tlat_json_no_memory(struct tlat_reader *r);
/* Absent and null members leave *ret_value NULL; one of another type is refused. */
int tlat_json_get(struct tlat_reader *r, const json_t *object, const char *key, json_type type,
		  json_t **ret_value);
/* The same where there must be one. */
int tlat_json_need(struct tlat_reader *r, const json_t *object, const char *key, json_type type,
		   json_t **ret_value);
/*
 * Names the member object that is read next, until tlat_json_leave(). Returns 1; 0 with nothing to
 * leave when it is absent or null; -EINVAL when it is no object.
 */
int tlat_json_enter(struct tlat_reader *r, const json_t *object, const char *key,
		    json_t **ret_member);
/* The same of item number index of an array, which is the caller's to look at. */
void tlat_json_enter_item(struct tlat_reader *r, const char *key, size_t index);
void tlat_json_leave(struct tlat_reader *r);
/* Absent members leave what is there; -EINVAL for wrong types and values out of range. */
int tlat_json_get_fields(struct tlat_reader *r, const json_t *object, void *base,
			 const struct tlat_field *fields, size_t n);
/* The same of the member object of that name: 1 when it is there, else 0. */
int tlat_json_get_group(struct tlat_reader *r, const json_t *object, const char *key, void *base,
			const struct tlat_field *fields, size_t n);
int tlat_json_get_string_copy(struct tlat_reader *r, const json_t *object, const char *key,
			      char **ret_copy);
int tlat_json_get_findings(struct tlat_reader *r, const json_t *object,
			   struct tlat_findings *findings);
/* An array item that is a count of at most 2^53, or an integer in min..max. */
int tlat_json_item_count(struct tlat_reader *r, const json_t *array, size_t index, const char *key,
			 uint64_t *ret_count);
int tlat_json_item_int(struct tlat_reader *r, const json_t *array, size_t index, const char *key,
		       int64_t min, int64_t max, int64_t *ret_value);

/* Sums of counts stay exact as JSON numbers, doubles and int64_t. */
#define TLAT_COUNT_MAX (INT64_C(1) << 53)

/* report_hist.c, report_values.c: distributions */

json_t *tlat_hist_json(struct tlat_writer *w, const struct tlat_hist *hist);
/* overflow: counted elsewhere in the document. *ret_hist NULL: the member is null. */
int tlat_json_get_hist(struct tlat_reader *r, const json_t *object, uint64_t overflow,
		       struct tlat_hist **ret_hist);
json_t *tlat_blocks_json(struct tlat_writer *w, const struct tlat_blocks *blocks);
/* The same for blocks that were read: each as it was, its counts put back. */
json_t *tlat_blocks_json_again(struct tlat_writer *w, const struct tlat_blocks *blocks,
			       const json_t *read);
/* Takes the counts of the blocks out of the object. */
int tlat_json_get_blocks(struct tlat_reader *r, json_t *object, const struct tlat_hist *hist,
			 struct tlat_blocks **ret_blocks);
json_t *tlat_outliers_json(struct tlat_writer *w, const struct tlat_result *result);
int tlat_json_get_outliers(struct tlat_reader *r, const json_t *object, struct tlat_result *result);
json_t *tlat_raw_json(struct tlat_writer *w, const struct tlat_result *result);
int tlat_json_get_raw(struct tlat_reader *r, const json_t *object, struct tlat_result *result);

/* report_metrics.c */

json_t *tlat_metrics_json(struct tlat_writer *w, const struct tlat_result *result);
int tlat_json_get_metrics(struct tlat_reader *r, const json_t *object, struct tlat_result *result);

/* report_kinds.c: results that consist of metrics. */

void tlat_json_put_kind(struct tlat_writer *w, json_t *object, const struct tlat_result *result);
int tlat_json_get_kind(struct tlat_reader *r, const json_t *object, struct tlat_result *result);

/* report_watch.c */

json_t *tlat_watch_json(struct tlat_writer *w, const struct tlat_result *result);
int tlat_json_get_watch(struct tlat_reader *r, const json_t *object,
			struct tlat_watch_delta **ret_watch);

/* report_design.c */

/* null when not known. */
json_t *tlat_design_json(struct tlat_writer *w, const struct tlat_position *position);
int tlat_json_get_design(struct tlat_reader *r, const json_t *document,
			 struct tlat_position *position);
/* run.start and run.boot_id; what cannot be read is not known. */
void tlat_json_get_origin(const json_t *run, struct tlat_report *report);

/* report_write.c: machine and clock as the document has them; null when not known. */
json_t *tlat_report_machine_json(struct tlat_writer *w, const struct tlat_report *report);
json_t *tlat_report_clock_json(struct tlat_writer *w, const struct tlat_report *report);

/* report_clock.c */

json_t *tlat_clock_json(struct tlat_writer *w, const struct tlat_calibration *clock,
			int64_t slew_ppb);
/* *ret_clock NULL: the member is null. */
int tlat_json_get_clock(struct tlat_reader *r, const json_t *object,
			struct tlat_calibration **ret_clock, int64_t *ret_slew_ppb);
json_t *tlat_offset_json(struct tlat_writer *w, const struct tlat_clock_offset *offset);
int tlat_json_get_offset(struct tlat_reader *r, const json_t *object, struct tlat_result *result);

/* report_result.c, report_figures.c */

json_t *tlat_result_json(struct tlat_writer *w, const struct tlat_report *report,
			 const struct tlat_result *result);
int tlat_json_get_result(struct tlat_reader *r, json_t *document, struct tlat_result **ret_result);
/* How it ended; an absent member leaves what is there. */
int tlat_json_get_end(struct tlat_reader *r, const json_t *object, int32_t *ret_end);
/* Add summary, needs, interval, corrected and uncertainty. */
void tlat_json_put_figures(struct tlat_writer *w, json_t *object, const struct tlat_result *result);
/* One of the other distributions: its figures, n, and the histogram; null when empty. */
json_t *tlat_side_figures_json(struct tlat_writer *w, const struct tlat_hist *hist);

#endif /* TLAT_REPORT_JSON_H */
