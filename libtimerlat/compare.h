/* SPDX-License-Identifier: MIT */
/*
 * compare.h - the inside of a comparison: from reports to units, from units to figures, from
 * figures to a verdict. Each step is a file, and only the first one sees reports.
 */
#ifndef TLAT_COMPARE_H
#define TLAT_COMPARE_H

#include "compare_stats.h"
#include "report.h"

#define TLAT_SIDES 2
#define TLAT_BASE  0
#define TLAT_NEXT  1

/* What is decided, and by which rules; ratios as logarithms. */
struct tlat_rules {
	double alpha, threshold, tail_threshold, power;
};

/* One quantity of every unit. */
struct tlat_quantity {
	char name[40];
	enum tlat_compare_role role;
	const char *unit; /* static: "ns", or "1", a share of samples */
	double quantile;  /* NAN: none */
	double pooled;	  /* a rate: the quantile of all runs that it is above; NAN */
	double threshold; /* of its ratio, to be worse in earnest */
};

/*
 * The units of both sides: value[side] has n[side] rows of k logarithms, one for each quantity,
 * and first[side] has the logarithm that the main verdict is on. Paired: row i belongs to row i.
 */
struct tlat_units {
	bool paired;
	int32_t better; /* -1: lower, 1: higher, 0: neither */
	size_t n[TLAT_SIDES], k;
	double *first[TLAT_SIDES], *value[TLAT_SIDES];
	const struct tlat_quantity *quantities;
};

/* What was found of one quantity. */
struct tlat_found {
	double base, next; /* means of the logarithms */
	double mean, half; /* of the ratio's logarithm, and its band */
	double p;	   /* NAN: not tested */
	int32_t worse;
};

struct tlat_outcome {
	struct tlat_location location;
	double p;   /* location.p, after Holm */
	double mde; /* as a logarithm; infinite: none */
	size_t needed;
	int32_t primary, tail, verdict;
};

/* compare_decide.c: pure */

/* Estimate and test; found has units->k entries. 0 or -ENOMEM. */
int tlat_compare_measure(const struct tlat_units *units, const struct tlat_rules *rules,
			 struct tlat_outcome *outcome, struct tlat_found *found);
/*
 * What would have been found, and by how many units more, of one of several items. Holm asks alpha
 * over their number of the first of them, and any may be the first.
 */
void tlat_compare_foresee(const struct tlat_units *units, const struct tlat_rules *rules,
			  size_t items, struct tlat_outcome *outcome);
/* From p-values, adjusted meanwhile if there are several items, to verdicts. */
void tlat_compare_judge(const struct tlat_units *units, const struct tlat_rules *rules,
			struct tlat_outcome *outcome, struct tlat_found *found);

/* compare_match.c: which results belong together */

/* One run: a report and the unit that it is part of. */
struct tlat_member {
	const struct tlat_report *report;
	size_t unit;  /* on its side, 0 and up */
	size_t group; /* boot, over both sides */
	int side;
};

struct tlat_members {
	struct tlat_member *v; /* in the order of time where that is known */
	size_t n, n_runs[TLAT_SIDES], n_units[TLAT_SIDES], n_groups;
	bool paired, by_boot, ordered;
	size_t planned; /* pairs, where looks were planned; else 0 */
};

/* -EINVAL when a run, or one of a sum's, is in two of the reports: it would be a replicate of
 * itself; -ENOMEM. */
int tlat_members_check_once(struct tlat_report *const *base, size_t n_base,
			    struct tlat_report *const *next, size_t n_next,
			    struct tlat_error *reterr);
int tlat_members_make(struct tlat_members *members, struct tlat_report *const *base, size_t n_base,
		      struct tlat_report *const *next, size_t n_next, struct tlat_findings *notes,
		      struct tlat_error *reterr);
void tlat_members_free(struct tlat_members *members);

/* The first member of that side, which has one. */
size_t tlat_member_first(const struct tlat_members *members, int side);
/* The order in which members are looked at for what to compare: member number k of it. Base's first
 * comes first. */
size_t tlat_member_nth(const struct tlat_members *members, size_t k);
/* How many results of the same probe come before result number index. */
size_t tlat_member_ordinal(const struct tlat_report *report, size_t index);
/* The result number ordinal of that probe in a report, or NULL. */
const struct tlat_result *tlat_member_result(const struct tlat_report *report, const char *probe,
					     size_t ordinal);

/* compare_alike.c */

/*
 * Whether results are of one kind. 0, or -EINVAL with the first difference, without a remedy; name
 * stands for the result in it.
 */
int tlat_compare_alike(const struct tlat_result *a, const struct tlat_result *b, const char *name,
		       bool same_cpus, struct tlat_error *reterr);
/*
 * Whether what a comparison may be about is the same in two results: 0, or -EINVAL with the first
 * difference, without a remedy; where says more of the first report: "", " of the base side".
 */
int tlat_compare_settings(const struct tlat_result *a, const struct tlat_result *b,
			  const char *name, const char *where, struct tlat_error *reterr);
/*
 * Whether member i's result may be compared with the first one's, and is measured as the first one
 * of its side: 0, or -EINVAL with the reason.
 */
int tlat_compare_fits(const struct tlat_members *members, size_t i, const struct tlat_result *first,
		      const struct tlat_result *first_of_side, const struct tlat_result *result,
		      const char *name, struct tlat_error *reterr);

/* compare.c */

struct tlat_item {
	char name[128], metric[48], unit[16], reason[400];
	struct tlat_units units;
	struct tlat_quantity quantities[3 * TLAT_FAMILY_MAX];
	struct tlat_found found[3 * TLAT_FAMILY_MAX];
	struct tlat_rules rules;
	struct tlat_outcome outcome;
	struct tlat_levels levels;
	double drift;	   /* as a logarithm; NAN: not known */
	double offset_ns;  /* sum of the sides' offset bounds; 0: it cancels */
	double base, next; /* medians of the units */
	double within;	   /* one unit a side: half-width from within the runs; NAN */
	size_t among;	   /* items that are tested together */
	size_t tails;	   /* items whose tails are; 0: this one has none */
	bool forced, withheld;
};

/* compare_reliable.c */

/*
 * Whether the run came to its end, and its clock, its load and everything else held out: -EINVAL
 * with the reason if not; name stands for the result in it.
 */
int tlat_compare_reliable(const struct tlat_report *report, const struct tlat_result *result,
			  const char *name, struct tlat_error *reterr);
/* Say of the runs, one result for each member, what their figures leave out. */
void tlat_compare_losses(const struct tlat_item *item, const struct tlat_members *members,
			 const struct tlat_result *const *results, struct tlat_findings *notes);

/* compare_values.c: the units of one latency. 0 or -errno. */
int tlat_compare_latency(struct tlat_item *item, const struct tlat_members *members,
			 const char *probe, size_t ordinal, struct tlat_findings *notes,
			 struct tlat_error *reterr);
/* The logarithm; NAN for what is not above 0. */
double tlat_ln_ns(double value_ns);

/* compare_lacks.c */

enum tlat_lack {
	TLAT_LACKS_NOTHING,
	TLAT_NOT_EVERYWHERE,
	TLAT_SOME_ZERO,
	TLAT_ALL_ZERO,
	TLAT_UNEQUAL_TIMES,
	TLAT_LACKS
};

extern const struct tlat_lack_text {
	const char *id, *remedy, *what; /* what it says of a figure, or of some */
	int severity;
} tlat_lacks[TLAT_LACKS];

/* Say that these figures of the result called name are not compared, and why. */
void tlat_note_lack(struct tlat_findings *notes, enum tlat_lack lack, const char *name,
		    const char *figures);
/* Whether two figures are no further apart than limit, a logarithm; not if one is not known. */
bool tlat_about_same(double a, double b, double limit);

/* compare_units.c */

/* Rows for k quantities. 0 or -ENOMEM. */
int tlat_units_allocate(struct tlat_units *units, const struct tlat_members *members);
void tlat_units_free(struct tlat_units *units);
/* The runs of member i's unit. The unit's value is the mean of the logarithms of theirs. */
size_t tlat_member_runs(const struct tlat_members *members, size_t i);
void tlat_item_medians(struct tlat_item *item);
/* Over the session, with the difference of the sides taken out; NAN where it is not known when the
 * runs were. 0 or -ENOMEM. */
int tlat_compare_drift(struct tlat_item *item, const struct tlat_members *members);

/* compare_within.c: levels of noise, and which runs were not stationary. 0 or -ENOMEM */
int tlat_compare_noise(struct tlat_item *item, const struct tlat_members *members,
		       const struct tlat_result *const *results, struct tlat_findings *notes);

/* compare_surroundings.c: conditions that differ between the sides; 0 or -ENOMEM */

/* The report's fact of that name; "" where it is not known. */
const char *tlat_fact_of(const struct tlat_report *report, const char *name);

/* What may differ between sides, as it is compared on purpose; within a side it may not. */
#define TLAT_SETTINGS	   5
#define TLAT_SETTING_BYTES 64

extern const struct tlat_setting {
	const char *name; /* "run.slack" */
	void (*text_of)(const struct tlat_result *result, char *text, size_t size);
} tlat_settings[TLAT_SETTINGS];

struct tlat_differences {
	struct tlat_difference *v; /* strings owned */
	size_t n;
};

int tlat_differences_make(struct tlat_differences *differences, const struct tlat_members *members);
void tlat_differences_free(struct tlat_differences *differences);

/* compare_reason.c: the sentence that belongs to the verdict */
void tlat_compare_reason(struct tlat_item *item, const struct tlat_members *members);

/* compare_offset.c: withhold what may be worse, or better, by the counters' offset alone; say so.
 */
void tlat_compare_hold_offset(struct tlat_item *item, const struct tlat_members *members);

struct tlat_comparison {
	struct tlat_item *items;
	size_t n_items;
	struct tlat_differences differences;
	struct tlat_findings notes;
	struct tlat_members members; /* reports are gone: counts only */
	char *repeat[TLAT_SIDES];
	int32_t verdict;
};

/* compare_items.c: all of what is compared. 0 or -errno. */
int tlat_compare_items(struct tlat_comparison *c, const struct tlat_compare_opts *opts,
		       struct tlat_error *reterr);
/* An item with its rules, and nothing else; NULL: no memory. */
struct tlat_item *tlat_comparison_add(struct tlat_comparison *c,
				      const struct tlat_compare_opts *opts);

/* compare_metrics.c: add the metrics of that result of member k (tlat_member_nth()), or the one
 * that is asked for, unless a member before it has them. 0 or -errno. */
int tlat_compare_metrics(struct tlat_comparison *c, const struct tlat_compare_opts *opts, size_t k,
			 size_t index, struct tlat_error *reterr);

#endif /* TLAT_COMPARE_H */
