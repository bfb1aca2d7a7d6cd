// SPDX-License-Identifier: MIT
/* report_result.c - one result, to and from its part of the document. */
#include <math.h>
#include <string.h>

#include "report_json.h"

static const struct tlat_field head_fields[] = {
	TLAT_FIELD(tlat_result, probe, NAME),	  TLAT_FIELD(tlat_result, from, STRING),
	TLAT_FIELD(tlat_result, to, STRING),	  TLAT_FIELD(tlat_result, thread, INT32),
	TLAT_FIELD(tlat_result, supported, BOOL), TLAT_FIELD(tlat_result, pair, BOOL),
	TLAT_FIELD(tlat_result, periodic, BOOL),  TLAT_FIELD(tlat_result, round_trip, BOOL),
	TLAT_FIELD(tlat_result, verify, BOOL),
};

static const struct tlat_field setting_fields[] = {
	TLAT_FIELD(tlat_result, interval_ns, INT64),
	TLAT_FIELD(tlat_result, settle_ns, INT64),
	TLAT_FIELD(tlat_result, dither_ns, INT64),
	TLAT_FIELD(tlat_result, phase_ns, INT64),
	TLAT_FIELD(tlat_result, duration_ns, INT64),
	TLAT_FIELD(tlat_result, cpu_latency_ns, INT64_OR_NULL),
	TLAT_FIELD(tlat_result, warmup, COUNT),
	TLAT_FIELD(tlat_result, rests, COUNT),
};

static const struct tlat_field inject_fields[] = {
	TLAT_FIELD_AS(tlat_result, inject_ns, "delay_ns", INT64),
	TLAT_FIELD(tlat_result, injected_ns, REAL),
	TLAT_FIELD(tlat_result, recovered_ns, REAL),
	TLAT_FIELD_AS(tlat_result, recovered_u_ns, "u_ns", REAL),
};

static const struct tlat_field chain_fields[] = {
	TLAT_FIELD_AS(tlat_result, chain_adds, "adds", COUNT),
	TLAT_FIELD_AS(tlat_result, chain_add_ns, "add_ns", REAL),
};

/* CPU and thread id of a side that never ran are not known. */
static const struct tlat_field side_fields[] = {
	TLAT_FIELD(tlat_side_facts, cpu, INT32_OR_NULL),
	TLAT_FIELD(tlat_side_facts, priority, INT32),
	TLAT_FIELD(tlat_side_facts, slack_ns, INT64),
	TLAT_FIELD(tlat_side_facts, tid, INT32),
};

/* Of a side under SCHED_DEADLINE. */
static const struct tlat_field deadline_fields[] = {
	TLAT_FIELD(tlat_side_facts, runtime_ns, INT64),
	TLAT_FIELD(tlat_side_facts, deadline_ns, INT64),
	TLAT_FIELD(tlat_side_facts, period_ns, INT64),
};

static const struct tlat_field break_field = TLAT_FIELD(tlat_result, break_ns, INT64);

static const struct tlat_field wait_asked_fields[] = {
	TLAT_FIELD(tlat_result, priority_asked, INT32),
};

static const struct tlat_field kick_asked_fields[] = {
	TLAT_FIELD_AS(tlat_result, kick_priority_asked, "priority_asked", INT32),
};

/* What is in force, and beside it what the run asked for. */
static json_t *side_json(struct tlat_writer *w, const struct tlat_result *result,
			 const struct tlat_side_facts *side, const struct tlat_field *asked)
{
	json_t *object = tlat_json_group(w, true, side, side_fields, TLAT_ARRAY_SIZE(side_fields));

	tlat_json_put_fields(w, object, result, asked, 1);
	tlat_json_put(w, object, "policy", tlat_json_string(tlat_policy_name(side->policy)));
	tlat_json_put(w, object, "policy_asked",
		      tlat_json_string(tlat_policy_name(result->policy_asked)));
	if (side->policy == TLAT_SCHED_DEADLINE)
		tlat_json_put_fields(w, object, side, deadline_fields,
				     TLAT_ARRAY_SIZE(deadline_fields));
	return object;
}

static json_t *reasons_json(struct tlat_writer *w, const uint64_t *counts, const char *const *names,
			    size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++)
		tlat_json_put(w, object, tlat_counter_key(names[i]),
			      json_integer((json_int_t)counts[i]));
	return object;
}

static struct tlat_field count_field(size_t i)
{
	return (struct tlat_field){ tlat_counters[i].name, TLAT_FIELD_COUNT,
				    tlat_counters[i].offset, sizeof(uint64_t) };
}

static json_t *counts_json(struct tlat_writer *w, const struct tlat_counts *counts)
{
	json_t *object = json_object();

	for (size_t i = 0; i < TLAT_COUNTERS; i++) {
		const struct tlat_field field = count_field(i);

		tlat_json_put_fields(w, object, counts, &field, 1);
	}
	tlat_json_put(w, object, "rejected",
		      reasons_json(w, counts->rejected, tlat_rejected_names, TLAT_REJECTED_COUNT));
	return object;
}

static json_t *budget_json(struct tlat_writer *w, const struct tlat_judgement *judgement)
{
	json_t *object = json_object(), *terms = json_array();

	for (size_t i = 0; i < judgement->n_terms; i++) {
		const struct tlat_judged_term *from = &judgement->terms[i];
		json_t *term = json_object();

		tlat_json_put(w, term, "text", tlat_json_string(from->text));
		tlat_json_put(w, term, "verdict", json_string(tlat_verdict_name(from->verdict)));
		tlat_json_push(w, terms, term);
	}
	tlat_json_put(w, object, "expr", tlat_json_string(judgement->expr));
	tlat_json_put(w, object, "verdict", json_string(tlat_verdict_name(judgement->verdict)));
	tlat_json_put(w, object, "terms", terms);
	return object;
}

/* Judged after it was measured, maybe after it was read. */
static void put_verdict(struct tlat_writer *w, json_t *object, const struct tlat_result *result)
{
	if (result->verdict != TLAT_NO_VERDICT)
		tlat_json_put(w, object, "verdict",
			      json_string(tlat_verdict_name(result->verdict)));
	if (result->judgement)
		tlat_json_put(w, object, "budget", budget_json(w, result->judgement));
}

static void put_conditions(struct tlat_writer *w, json_t *object, const struct tlat_result *result)
{
	tlat_json_put(w, object, "kind", json_string(tlat_result_kind(result)));
	tlat_json_put_fields(w, object, result, head_fields, TLAT_ARRAY_SIZE(head_fields));
	tlat_json_put(w, object, "relation", tlat_json_string(result->relation));
	tlat_json_put(w, object, "target",
		      tlat_json_string(result->pair ? tlat_target_name(result->target) : NULL));
	tlat_json_put(w, object, "wait", side_json(w, result, &result->wait, wait_asked_fields));
	tlat_json_put(w, object, "kick",
		      result->has_kick ? side_json(w, result, &result->kick, kick_asked_fields)
				       : json_null());
	tlat_json_put_fields(w, object, result, setting_fields, TLAT_ARRAY_SIZE(setting_fields));
	if (result->break_ns)
		tlat_json_put_fields(w, object, result, &break_field, 1);
	tlat_json_put(w, object, "inject",
		      tlat_json_group(w, result->injected, result, inject_fields,
				      TLAT_ARRAY_SIZE(inject_fields)));
	tlat_json_put(w, object, "chain",
		      tlat_json_group(w, result->chain_adds > 0, result, chain_fields,
				      TLAT_ARRAY_SIZE(chain_fields)));
	tlat_json_put(w, object, "end", json_string(tlat_end_names[result->end]));
	tlat_json_put(w, object, "repeat", tlat_json_string(result->repeat));
	tlat_json_put(w, object, "offset",
		      result->has_offset ? tlat_offset_json(w, &result->offset) : json_null());
}

static void put_measured(struct tlat_writer *w, json_t *object, const struct tlat_result *result)
{
	tlat_json_put(w, object, "counts", counts_json(w, &result->counts));
	tlat_json_put(w, object, "disturbed",
		      reasons_json(w, result->counts.disturbed, tlat_disturbed_names,
				   TLAT_DISTURBED_COUNT));
	tlat_json_put(w, object, "dwell", tlat_side_figures_json(w, result->dwell));
	tlat_json_put_figures(w, object, result);
	tlat_json_put(w, object, "call", tlat_side_figures_json(w, result->call));
	tlat_json_put(w, object, "back", tlat_side_figures_json(w, result->back));
	tlat_json_put(w, object, "floor", tlat_side_figures_json(w, result->floor));
	tlat_json_put(w, object, "floor_pair", tlat_side_figures_json(w, result->floor_pair));
	tlat_json_put(w, object, "metrics", tlat_metrics_json(w, result));
	tlat_json_put(w, object, "histogram",
		      result->latency ? tlat_hist_json(w, result->latency) : json_null());
	tlat_json_put(w, object, "blocks", tlat_blocks_json(w, result->blocks));
	tlat_json_put(w, object, "outliers", tlat_outliers_json(w, result));
	if (result->n_raw && result->latency)
		tlat_json_put(w, object, "raw_ns", tlat_raw_json(w, result));
	tlat_json_put(w, object, "watch", tlat_watch_json(w, result));
	tlat_json_put(w, object, "findings", tlat_findings_json(w, &result->findings, 0));
}

/* A result that was read is written as it was, with all that this library does not know. */
json_t *tlat_result_json(struct tlat_writer *w, const struct tlat_report *report,
			 const struct tlat_result *result)
{
	json_t *object = result->document ? json_copy(result->document) : json_object();

	if (!result->document && tlat_result_is_metric(result)) {
		tlat_json_put_kind(w, object, result);
	} else if (!result->document) {
		put_conditions(w, object, result);
		if (result->kind)
			tlat_json_put_kind(w, object, result);
		else
			put_measured(w, object, result);
	}
	if (result->document && result->blocks)
		tlat_json_put(w, object, "blocks",
			      tlat_blocks_json_again(w, result->blocks,
						     json_object_get(object, "blocks")));
	put_verdict(w, object, result);
	if ((!result->document || report->appended) && !json_object_get(object, "clock") &&
	    !tlat_report_has_clock_of(report, result))
		tlat_json_put(w, object, "clock",
			      tlat_clock_json(w, result->clock, result->slew_ppb));
	return object;
}

static int get_policy(struct tlat_reader *r, const json_t *object, const char *key,
		      int32_t *ret_policy)
{
	json_t *name;
	int policy, ret = tlat_json_get(r, object, key, JSON_STRING, &name);

	if (ret < 0 || !name)
		return ret;
	policy = tlat_policy_from_name(json_string_value(name));
	if (policy < 0)
		return tlat_json_refuse(r, key, "\"%.40s\" is no policy", json_string_value(name));
	*ret_policy = policy;
	return 0;
}

static int get_side(struct tlat_reader *r, const json_t *object, const char *key,
		    struct tlat_result *result, struct tlat_side_facts *side,
		    const struct tlat_field *asked)
{
	json_t *member;
	int ret = tlat_json_enter(r, object, key, &member);

	if (ret <= 0)
		return ret;
	ret = tlat_json_get_fields(r, member, side, side_fields, TLAT_ARRAY_SIZE(side_fields));
	if (!ret)
		ret = tlat_json_get_fields(r, member, side, deadline_fields,
					   TLAT_ARRAY_SIZE(deadline_fields));
	if (!ret)
		ret = tlat_json_get_fields(r, member, result, asked, 1);
	if (!ret)
		ret = get_policy(r, member, "policy", &side->policy);
	if (!ret)
		ret = get_policy(r, member, "policy_asked", &result->policy_asked);
	tlat_json_leave(r);
	return ret < 0 ? ret : 1;
}

static int get_relation(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	json_t *name;
	int ret = tlat_json_get(r, object, "relation", JSON_STRING, &name);

	if (ret < 0 || !name)
		return ret;
	result->relation = tlat_relation_from_name(json_string_value(name));
	if (!result->relation)
		return tlat_json_refuse(r, "relation", "\"%.40s\" is no relation of two CPUs",
					json_string_value(name));
	return 0;
}

static int get_target(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	json_t *name;
	int ret = tlat_json_get(r, object, "target", JSON_STRING, &name);

	if (ret < 0 || !name)
		return ret;
	result->target = tlat_target_from_name(json_string_value(name));
	if (result->target < 0)
		return tlat_json_refuse(r, "target", "\"%.40s\" is none of sleeping, busy",
					json_string_value(name));
	return 0;
}

int tlat_json_get_end(struct tlat_reader *r, const json_t *object, int32_t *ret_end)
{
	json_t *name;
	int ret = tlat_json_get(r, object, "end", JSON_STRING, &name);

	if (ret < 0 || !name)
		return ret;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(tlat_end_names); i++)
		if (!strcmp(tlat_end_names[i], json_string_value(name))) {
			*ret_end = (int32_t)i;
			return 0;
		}
	return tlat_json_refuse(r, "end",
				"\"%.40s\" is none of count, time, signal, break, error, running",
				json_string_value(name));
}

static int get_inject(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	int ret = tlat_json_get_group(r, object, "inject", result, inject_fields,
				      TLAT_ARRAY_SIZE(inject_fields));

	result->injected = ret > 0;
	if (ret >= 0)
		ret = tlat_json_get_group(r, object, "chain", result, chain_fields,
					  TLAT_ARRAY_SIZE(chain_fields));
	return ret < 0 ? ret : 0;
}

static int get_conditions(struct tlat_reader *r, const json_t *object, struct tlat_result *result)
{
	json_t *probe;
	int ret;

	if ((ret = tlat_json_need(r, object, "probe", JSON_STRING, &probe)) < 0 ||
	    (ret = get_relation(r, object, result)) < 0 ||
	    (ret = get_target(r, object, result)) < 0 ||
	    (ret = get_side(r, object, "wait", result, &result->wait, wait_asked_fields)) < 0 ||
	    (ret = get_side(r, object, "kick", result, &result->kick, kick_asked_fields)) < 0)
		return ret;
	result->pair = result->has_kick = ret > 0;
	if ((ret = tlat_json_get_fields(r, object, result, head_fields,
					TLAT_ARRAY_SIZE(head_fields))) < 0 ||
	    (ret = tlat_json_get_fields(r, object, result, setting_fields,
					TLAT_ARRAY_SIZE(setting_fields))) < 0 ||
	    (ret = tlat_json_get_fields(r, object, result, &break_field, 1)) < 0 ||
	    (ret = get_inject(r, object, result)) < 0 ||
	    (ret = tlat_json_get_end(r, object, &result->end)) < 0 ||
	    (ret = tlat_json_get_string_copy(r, object, "repeat", &result->repeat)) < 0 ||
	    (ret = tlat_json_get_offset(r, object, result)) < 0)
		return ret;
	return tlat_json_get_findings(r, object, &result->findings);
}

static int get_reason(struct tlat_reader *r, const json_t *member, const char *name,
		      uint64_t *count)
{
	const struct tlat_field field = { tlat_counter_key(name), TLAT_FIELD_COUNT, 0,
					  sizeof(*count) };

	return tlat_json_get_fields(r, member, count, &field, 1);
}

/* Reasons that this library does not know are refused where the accounting needs them. */
static int get_reasons(struct tlat_reader *r, const json_t *object, const char *key,
		       uint64_t *counts, const char *const *names, size_t n, bool closed)
{
	json_t *member;
	size_t known = 0;
	int ret = tlat_json_enter(r, object, key, &member);

	if (ret <= 0)
		return ret;
	ret = 0;
	for (size_t i = 0; !ret && i < n; i++) {
		known += json_object_get(member, tlat_counter_key(names[i])) != NULL;
		ret = get_reason(r, member, names[i], &counts[i]);
	}
	tlat_json_leave(r);
	if (!ret && closed && known != json_object_size(member))
		ret = tlat_json_refuse(r, key, "has a reason that libtimerlat %s does not know",
				       TLAT_VERSION);
	return ret;
}

static int check_count(struct tlat_reader *r, uint64_t count)
{
	if (count <= TLAT_COUNT_MAX)
		return 0;
	return tlat_json_refuse(r, "counts", "%llu is above 2^53", (unsigned long long)count);
}

static int check_counts(struct tlat_reader *r, const struct tlat_counts *counts)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < TLAT_COUNTERS; i++)
		ret = check_count(r, tlat_counter(counts, i));
	for (size_t i = 0; !ret && i < TLAT_REJECTED_COUNT; i++)
		ret = check_count(r, counts->rejected[i]);
	if (ret < 0)
		return ret;
	if (tlat_counts_balance(counts))
		return tlat_json_refuse(r, "counts",
					"asked is not recorded + early + overflow + missed + "
					"rejected + unfinished: %+lld",
					(long long)tlat_counts_balance(counts));
	return 0;
}

static int get_counts(struct tlat_reader *r, const json_t *object, struct tlat_counts *counts)
{
	json_t *member;
	int ret;

	if ((ret = tlat_json_need(r, object, "counts", JSON_OBJECT, &member)) < 0 ||
	    (ret = tlat_json_enter(r, object, "counts", &member)) < 0)
		return ret;
	ret = 0;
	for (size_t i = 0; !ret && i < TLAT_COUNTERS; i++) {
		const struct tlat_field field = count_field(i);

		ret = tlat_json_get_fields(r, member, counts, &field, 1);
	}
	if (!ret)
		ret = get_reasons(r, member, "rejected", counts->rejected, tlat_rejected_names,
				  TLAT_REJECTED_COUNT, true);
	tlat_json_leave(r);
	if (!ret)
		ret = get_reasons(r, object, "disturbed", counts->disturbed, tlat_disturbed_names,
				  TLAT_DISTURBED_COUNT, false);
	return ret < 0 ? ret : check_counts(r, counts);
}

static int check_hist(struct tlat_reader *r, const struct tlat_counts *counts,
		      const struct tlat_hist *hist)
{
	uint64_t all = hist ? tlat_hist_count(hist) : 0;
	uint64_t early = hist ? tlat_hist_early(hist) : 0;
	uint64_t overflow = hist ? tlat_hist_overflow(hist) : 0;

	if (early == counts->early && overflow == counts->overflow &&
	    all == counts->recorded + early + overflow)
		return 0;
	return tlat_json_refuse(
		r, "histogram",
		"holds %llu recorded, %llu early, %llu overflow; "
		"counts say %llu, %llu, %llu",
		(unsigned long long)(all - early - overflow), (unsigned long long)early,
		(unsigned long long)overflow, (unsigned long long)counts->recorded,
		(unsigned long long)counts->early, (unsigned long long)counts->overflow);
}

/* The histogram of one of the other distributions. */
static int get_side_hist(struct tlat_reader *r, const json_t *object, const char *key,
			 struct tlat_hist **ret_hist)
{
	json_t *member;
	int ret = tlat_json_enter(r, object, key, &member);

	if (ret <= 0)
		return ret;
	ret = tlat_json_get_hist(r, member, 0, ret_hist);
	tlat_json_leave(r);
	return ret;
}

static int get_measured(struct tlat_reader *r, json_t *object, struct tlat_result *result)
{
	int ret;

	if ((ret = get_counts(r, object, &result->counts)) < 0 ||
	    (ret = tlat_json_get_hist(r, object, result->counts.overflow, &result->latency)) < 0 ||
	    (ret = check_hist(r, &result->counts, result->latency)) < 0 ||
	    (ret = tlat_json_get_blocks(r, object, result->latency, &result->blocks)) < 0 ||
	    (ret = tlat_json_get_outliers(r, object, result)) < 0 ||
	    (ret = tlat_json_get_raw(r, object, result)) < 0 ||
	    (ret = get_side_hist(r, object, "call", &result->call)) < 0 ||
	    (ret = get_side_hist(r, object, "back", &result->back)) < 0 ||
	    (ret = get_side_hist(r, object, "dwell", &result->dwell)) < 0 ||
	    (ret = get_side_hist(r, object, "floor", &result->floor)) < 0)
		return ret;
	return get_side_hist(r, object, "floor_pair", &result->floor_pair);
}

/* Results of a kind that has no latency keep their document, the conditions and the metrics. */
static int fill_result(struct tlat_reader *r, json_t *document, struct tlat_result *result)
{
	int ret;

	if ((ret = tlat_json_get_kind(r, document, result)) < 0 ||
	    (ret = get_conditions(r, document, result)) < 0 ||
	    (ret = tlat_json_get_metrics(r, document, result)) < 0 ||
	    (ret = tlat_json_get_clock(r, document, &result->clock, &result->slew_ppb)) < 0)
		return ret;
	if (result->kind)
		return 0;
	ret = get_measured(r, document, result);
	return ret < 0 ? ret : tlat_json_get_watch(r, document, &result->watch);
}

int tlat_json_get_result(struct tlat_reader *r, json_t *document, struct tlat_result **ret_result)
{
	struct tlat_result *result;
	int ret;

	if (!json_is_object(document))
		return tlat_json_refuse(r, "kind", "is missing, the result is no object");
	result = tlat_result_new();
	if (!result)
		return tlat_json_no_memory(r);
	ret = fill_result(r, document, result);
	if (ret < 0) {
		tlat_result_free(result);
		return ret;
	}
	result->document = json_incref(document);
	*ret_result = result;
	return 0;
}
