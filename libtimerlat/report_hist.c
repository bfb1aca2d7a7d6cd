// SPDX-License-Identifier: MIT
/*
 * report_hist.c - distributions in a report: bins as sparse [index, count] pairs, time blocks,
 * outliers and raw values. Integers stay in the histogram's unit, so that reading gives back
 * exactly what was written.
 */
#include <stdlib.h>
#include <string.h>

#include "report_json.h"

#define HZ_MAX	INT64_C(1000000000000)
#define RUN_MAX (1 << 20) /* a document that names more of them is too long */

static json_t *pair_json(struct tlat_writer *w, int64_t index, uint64_t count)
{
	json_t *pair = json_array();

	tlat_json_push(w, pair, json_integer(index));
	tlat_json_push(w, pair, json_integer((json_int_t)count));
	return pair;
}

/* Early bins are counted away from 0: bin i is slot ~i. */
static int32_t slot_of(int64_t index, bool early)
{
	return early ? ~(int32_t)index : (int32_t)index;
}

static json_t *bins_json(struct tlat_writer *w, const struct tlat_hist *hist, bool early, int64_t n)
{
	json_t *array = json_array();

	for (int64_t i = 0; i < n; i++) {
		uint64_t count = tlat_hist_slot_count(hist, slot_of(i, early));

		if (count)
			tlat_json_push(w, array, pair_json(w, i, count));
	}
	return array;
}

json_t *tlat_hist_json(struct tlat_writer *w, const struct tlat_hist *hist)
{
	bool ns = tlat_hist_hz(hist) == TLAT_NSEC_PER_SEC;
	bool empty = !tlat_hist_count(hist);
	json_t *object = json_object();

	tlat_json_put(w, object, "layout", json_string("hdr"));
	tlat_json_put(w, object, "digits", json_integer(3));
	tlat_json_put(w, object, "unit", json_string(ns ? "ns" : "ticks"));
	tlat_json_put(w, object, "hz", json_integer((json_int_t)tlat_hist_hz(hist)));
	tlat_json_put(w, object, "min", empty ? json_null() : json_integer(tlat_hist_min(hist)));
	tlat_json_put(w, object, "max", empty ? json_null() : json_integer(tlat_hist_max(hist)));
	tlat_json_put(w, object, "overflow", json_integer((json_int_t)tlat_hist_overflow(hist)));
	tlat_json_put(w, object, "counts", bins_json(w, hist, false, TLAT_HIST_BINS));
	tlat_json_put(w, object, "early", bins_json(w, hist, true, TLAT_HIST_EARLY_BINS));
	return object;
}

/* Index and count from item i of an array on; the index is above all before it. */
static int get_bin(struct tlat_reader *r, const json_t *array, size_t i, const char *key,
		   int64_t above, int64_t max, int64_t *ret_index, uint64_t *ret_count)
{
	int ret = tlat_json_item_int(r, array, i, key, above + 1, max, ret_index);

	return ret < 0 ? ret : tlat_json_item_count(r, array, i + 1, key, ret_count);
}

static int get_pair(struct tlat_reader *r, const json_t *item, const char *key, int64_t above,
		    int64_t max, int64_t *ret_index, uint64_t *ret_count)
{
	if (json_array_size(item) != 2)
		return tlat_json_refuse(r, key, "has an item that is not [index, count]");
	return get_bin(r, item, 0, key, above, max, ret_index, ret_count);
}

/* Adds count to *sum, which stays below 2^53. */
static int add_sum(struct tlat_reader *r, const char *key, uint64_t count, uint64_t *sum)
{
	*sum += count;
	if (*sum > TLAT_COUNT_MAX)
		return tlat_json_refuse(r, key, "adds up to more than 2^53 samples");
	return 0;
}

struct layout {
	char layout[8], unit[8];
	int32_t digits;
	int64_t hz, min, max, overflow;
	int32_t first, last; /* slots in use; to search for them would touch every page */
	uint64_t sum;	     /* of their counts */
};

static void add_bin(struct tlat_hist *hist, struct layout *layout, int32_t slot, uint64_t count)
{
	if (!count)
		return;
	tlat_hist_add_slot(hist, slot, count);
	if (slot < layout->first)
		layout->first = slot;
	if (slot > layout->last)
		layout->last = slot;
}

/* Early bins begin with -1 in bin 1. */
static int get_bins(struct tlat_reader *r, const json_t *object, bool early, struct tlat_hist *hist,
		    struct layout *layout)
{
	const char *key = early ? "early" : "counts";
	int64_t last = early ? TLAT_HIST_EARLY_BINS - 1 : TLAT_HIST_BINS - 1;
	int64_t index = early ? 0 : -1;
	uint64_t count;
	json_t *array;
	int ret = tlat_json_need(r, object, key, JSON_ARRAY, &array);
	size_t size = json_array_size(array);

	for (size_t i = 0; !ret && i < size; i++) {
		ret = get_pair(r, json_array_get(array, i), key, index, last, &index, &count);
		if (!ret)
			ret = add_sum(r, key, count, &layout->sum);
		if (!ret)
			add_bin(hist, layout, slot_of(index, early), count);
	}
	return ret;
}

static const struct tlat_field layout_fields[] = {
	TLAT_FIELD(layout, layout, STRING),  TLAT_FIELD(layout, digits, INT32),
	TLAT_FIELD(layout, unit, STRING),    TLAT_FIELD(layout, hz, INT64),
	TLAT_FIELD(layout, overflow, INT64),
};

static int get_layout(struct tlat_reader *r, const json_t *object, struct layout *layout)
{
	int ret = tlat_json_get_fields(r, object, layout, layout_fields,
				       TLAT_ARRAY_SIZE(layout_fields));

	if (ret < 0)
		return ret;
	if (strcmp(layout->layout, "hdr") || layout->digits != 3)
		return tlat_json_refuse(r, "layout", "is not \"hdr\" with 3 digits");
	if (strcmp(layout->unit, "ns") && strcmp(layout->unit, "ticks"))
		return tlat_json_refuse(r, "unit", "is neither \"ns\" nor \"ticks\"");
	if (layout->hz < 1 || layout->hz > HZ_MAX)
		return tlat_json_refuse(r, "hz", "%lld is out of range", (long long)layout->hz);
	if (layout->overflow < 0 || layout->overflow > TLAT_COUNT_MAX)
		return tlat_json_refuse(r, "overflow", "%lld is out of range",
					(long long)layout->overflow);
	return 0;
}

/* The exact extremes must lie in the outermost bins. */
static int check_extremes(struct tlat_reader *r, const struct layout *layout)
{
	if (layout->min > layout->max)
		return tlat_json_refuse(r, "min", "%lld is above max", (long long)layout->min);
	if (tlat_hist_slot(layout->min) != layout->first)
		return tlat_json_refuse(r, "min", "%lld is not in the lowest bin",
					(long long)layout->min);
	if (tlat_hist_slot(layout->max) != layout->last)
		return tlat_json_refuse(r, "max", "%lld is not in the highest bin",
					(long long)layout->max);
	return 0;
}

static int get_extremes(struct tlat_reader *r, const json_t *object, struct tlat_hist *hist,
			struct layout *layout)
{
	const struct tlat_field fields[] = {
		TLAT_FIELD(layout, min, INT64),
		TLAT_FIELD(layout, max, INT64),
	};
	json_t *value;
	int ret;

	if (!tlat_hist_count(hist))
		return 0;
	if ((ret = tlat_json_need(r, object, "min", JSON_INTEGER, &value)) < 0 ||
	    (ret = tlat_json_need(r, object, "max", JSON_INTEGER, &value)) < 0 ||
	    (ret = tlat_json_get_fields(r, object, layout, fields, TLAT_ARRAY_SIZE(fields))) < 0 ||
	    (ret = check_extremes(r, layout)) < 0)
		return ret;
	tlat_hist_set_extremes(hist, layout->min, layout->max);
	return 0;
}

static int fill_hist(struct tlat_reader *r, const json_t *object, struct layout *layout,
		     struct tlat_hist *hist)
{
	int ret;

	layout->sum = (uint64_t)layout->overflow;
	layout->first = TLAT_HIST_SLOT_OVERFLOW;
	layout->last = TLAT_HIST_SLOT_FIRST;
	if ((ret = get_bins(r, object, false, hist, layout)) < 0 ||
	    (ret = get_bins(r, object, true, hist, layout)) < 0)
		return ret;
	add_bin(hist, layout, TLAT_HIST_SLOT_OVERFLOW, (uint64_t)layout->overflow);
	return get_extremes(r, object, hist, layout);
}

static int get_hist_members(struct tlat_reader *r, const json_t *member, uint64_t overflow,
			    struct tlat_hist **ret_hist)
{
	struct layout layout = { .overflow = (int64_t)overflow };
	struct tlat_hist *hist;
	int ret = get_layout(r, member, &layout);

	if (ret < 0)
		return ret;
	if (tlat_hist_new_untouched(&hist, (uint64_t)layout.hz) < 0)
		return tlat_json_no_memory(r);
	ret = fill_hist(r, member, &layout, hist);
	if (ret < 0)
		tlat_hist_free(hist);
	else
		*ret_hist = hist;
	return ret;
}

int tlat_json_get_hist(struct tlat_reader *r, const json_t *object, uint64_t overflow,
		       struct tlat_hist **ret_hist)
{
	json_t *member;
	int ret = tlat_json_enter(r, object, "histogram", &member);

	*ret_hist = NULL;
	if (ret <= 0)
		return ret;
	ret = get_hist_members(r, member, overflow, ret_hist);
	tlat_json_leave(r);
	return ret;
}

static json_t *block_counts_json(struct tlat_writer *w, const struct tlat_blocks *blocks, size_t i)
{
	json_t *counts = json_array();
	struct tlat_block_bin bin;
	size_t cursor = 0;

	while (tlat_blocks_next(blocks, i, &cursor, &bin)) {
		tlat_json_push(w, counts, json_integer(bin.index));
		tlat_json_push(w, counts, json_integer((json_int_t)bin.count));
	}
	return counts;
}

/* Where a block stands, of which only those of several runs say whose they are. */
struct place {
	int64_t length_ns;
	int32_t run;
};

static const struct tlat_field length_field = TLAT_FIELD(place, length_ns, INT64);
static const struct tlat_field run_field = TLAT_FIELD(place, run, INT32);

static json_t *block_json(struct tlat_writer *w, const struct tlat_blocks *blocks, size_t i)
{
	const struct place place = { .length_ns = tlat_blocks_begin_ns(blocks, i + 1) -
						  tlat_blocks_begin_ns(blocks, i),
				     .run = tlat_blocks_run(blocks, i) };
	json_t *object = json_object();

	tlat_json_put(w, object, "n", json_integer((json_int_t)tlat_blocks_samples(blocks, i)));
	tlat_json_put_fields(w, object, &place, &length_field, 1);
	if (tlat_blocks_run(blocks, tlat_blocks_count(blocks) - 1))
		tlat_json_put_fields(w, object, &place, &run_field, 1);
	tlat_json_put(w, object, "counts", block_counts_json(w, blocks, i));
	return object;
}

json_t *tlat_blocks_json(struct tlat_writer *w, const struct tlat_blocks *blocks)
{
	size_t n = blocks ? tlat_blocks_count(blocks) : 0;
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		tlat_json_push(w, array, block_json(w, blocks, i));
	return array;
}

json_t *tlat_blocks_json_again(struct tlat_writer *w, const struct tlat_blocks *blocks,
			       const json_t *read)
{
	json_t *array = json_array();

	assert(json_array_size(read) == tlat_blocks_count(blocks));
	for (size_t i = 0; i < json_array_size(read); i++) {
		json_t *object = json_copy(json_array_get(read, i));

		tlat_json_put(w, object, "counts", block_counts_json(w, blocks, i));
		tlat_json_push(w, array, object);
	}
	return array;
}

/* Index and count in turn; early bins are ~index, and one past the last bin is overflow. */
static int get_block_bins(struct tlat_reader *r, const json_t *counts, struct tlat_block_bin *bins,
			  uint64_t *sum)
{
	int64_t index = -TLAT_HIST_EARLY_BINS - 1;
	size_t n = json_array_size(counts) / 2;
	int ret = 0;

	if (json_array_size(counts) % 2)
		return tlat_json_refuse(r, "counts", "ends with an index that has no count");
	for (size_t i = 0; !ret && i < n; i++) {
		ret = get_bin(r, counts, 2 * i, "counts", index, TLAT_HIST_BINS, &index,
			      &bins[i].count);
		bins[i].index = (int32_t)index;
		if (!ret)
			ret = add_sum(r, "counts", bins[i].count, sum);
	}
	return ret;
}

/* Length and run; what a block does not say is as in the one before. */
static int get_place(struct tlat_reader *r, const json_t *item, struct place *place)
{
	int32_t before = place->run;
	int ret = tlat_json_get_fields(r, item, place, &length_field, 1);

	if (!ret)
		ret = tlat_json_get_fields(r, item, place, &run_field, 1);
	if (ret < 0)
		return ret;
	if (place->length_ns < 1 || place->length_ns > TLAT_BLOCK_NS_MAX)
		return tlat_json_refuse(r, "length_ns", "%lld is out of range",
					(long long)place->length_ns);
	if (place->run < before || place->run > RUN_MAX)
		return tlat_json_refuse(r, "run", "%d is out of range or of order",
					(int)place->run);
	return 0;
}

/* The counts are most of a document: once they are in the block, it goes without. */
static int get_block(struct tlat_reader *r, json_t *item, struct tlat_blocks *blocks,
		     struct place *place, uint64_t *sum)
{
	struct tlat_block_bin *bins;
	json_t *counts;
	size_t n;
	int ret = get_place(r, item, place);

	if (!ret)
		ret = tlat_json_need(r, item, "counts", JSON_ARRAY, &counts);
	if (ret < 0)
		return ret;
	n = json_array_size(counts) / 2;
	bins = calloc(n + 1, sizeof(*bins));
	if (!bins)
		return tlat_json_no_memory(r);
	ret = get_block_bins(r, counts, bins, sum);
	if (!ret && tlat_blocks_add(blocks, bins, n) < 0)
		ret = tlat_json_refuse(r, "counts", "cannot be taken as a block");
	if (!ret)
		tlat_blocks_place_last(blocks, place->length_ns, place->run);
	free(bins);
	json_object_set_new(item, "counts", json_null());
	return ret;
}

static int get_blocks_items(struct tlat_reader *r, const json_t *array,
			    const struct tlat_hist *hist, struct tlat_blocks *blocks)
{
	struct place place = { .length_ns = 0 };
	uint64_t sum = 0;
	size_t n = json_array_size(array);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		tlat_json_enter_item(r, "blocks", i);
		ret = get_block(r, json_array_get(array, i), blocks, &place, &sum);
		tlat_json_leave(r);
	}
	if (!ret && sum > tlat_hist_count(hist))
		return tlat_json_refuse(r, "blocks", "hold %llu samples, the histogram %llu",
					(unsigned long long)sum,
					(unsigned long long)tlat_hist_count(hist));
	return ret;
}

int tlat_json_get_blocks(struct tlat_reader *r, json_t *object, const struct tlat_hist *hist,
			 struct tlat_blocks **ret_blocks)
{
	json_t *array;
	int ret = tlat_json_get(r, object, "blocks", JSON_ARRAY, &array);

	*ret_blocks = NULL;
	if (ret < 0 || !json_array_size(array))
		return ret;
	if (!hist || json_array_size(array) > TLAT_BLOCKS_MAX)
		return tlat_json_refuse(r, "blocks", "%zu are more than there can be here",
					json_array_size(array));
	if (tlat_blocks_new(ret_blocks, 1) < 0)
		return tlat_json_no_memory(r);
	ret = get_blocks_items(r, array, hist, *ret_blocks);
	if (ret < 0) {
		tlat_blocks_free(*ret_blocks);
		*ret_blocks = NULL;
	}
	return ret;
}
