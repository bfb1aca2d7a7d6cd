// SPDX-License-Identifier: MIT
/*
 * blocks.c - a histogram's history in a bounded space.
 *
 * A block holds pairs of a slot and a count as a string of bytes: the distance to the slot before,
 * then the count, each 7 bits a byte, lowest first. Most pairs take two or three bytes. Merging
 * two strings never needs more bytes than both had: distances only shrink, and a sum of counts is
 * at most one byte longer than the longer of the two.
 */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

#define PAIR_BYTES_MAX (3 + 10) /* a distance below 2^21, a count below 2^64 */

static_assert(TLAT_BLOCKS_SLOTS < 1 << 21, "a distance fits in three bytes");
static_assert(TLAT_BLOCKS_SLOTS * sizeof(uint64_t) + 2 * TLAT_PACKED_BYTES_MAX <= (size_t)1 << 20,
	      "at most 1 MiB, even while merging");

/* Where a reader stands; slot and count are those of the pair read last. */
struct cursor {
	const uint8_t *at, *end;
	int32_t slot;
	uint64_t count;
};

static uint8_t *put_number(uint8_t *at, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint64_t get_number(const uint8_t **at)
{
	uint64_t value = 0;
	int shift = 0;

	for (; **at & 0x80; shift += 7)
		value |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return value | (uint64_t) * (*at)++ << shift;
}

static int packed_reserve(struct tlat_packed *p, size_t room)
{
	uint8_t *grown;

	if (room <= p->room)
		return 0;
	grown = realloc(p->bytes, room);
	if (!grown)
		return -ENOMEM;
	p->bytes = grown;
	p->room = room;
	return 0;
}

/* Give back what was reserved and not needed. */
static void packed_trim(struct tlat_packed *p)
{
	uint8_t *less = p->n_bytes ? realloc(p->bytes, p->n_bytes) : NULL;

	if (!less)
		return;
	p->bytes = less;
	p->room = p->n_bytes;
}

/* The room must be there. */
static void packed_put(struct tlat_packed *p, int32_t slot, uint64_t count)
{
	int32_t before = p->n_bytes ? p->last : TLAT_HIST_SLOT_FIRST;
	uint8_t *at = put_number(p->bytes + p->n_bytes, (uint64_t)(slot - before));

	p->n_bytes = (size_t)(put_number(at, count) - p->bytes);
	p->last = slot;
	p->samples += count;
}

static int packed_append(struct tlat_packed *p, int32_t slot, uint64_t count)
{
	if (p->room - p->n_bytes < PAIR_BYTES_MAX &&
	    packed_reserve(p, p->room + p->room / 2 + 16 * PAIR_BYTES_MAX) < 0)
		return -ENOMEM;
	packed_put(p, slot, count);
	return 0;
}

void tlat_packed_free(struct tlat_packed *p)
{
	free(p->bytes);
	*p = (struct tlat_packed){ 0 };
}

static struct cursor cursor_at(const struct tlat_packed *p)
{
	return (struct cursor){ .at = p->bytes,
				.end = p->n_bytes ? p->bytes + p->n_bytes : p->bytes,
				.slot = TLAT_HIST_SLOT_FIRST };
}

/* Read the next pair; at the end the slot lies past all others. */
static bool cursor_next(struct cursor *c)
{
	if (c->at == c->end) {
		c->slot = TLAT_HIST_SLOT_OVERFLOW + 1;
		return false;
	}
	c->slot += (int32_t)get_number(&c->at);
	c->count = get_number(&c->at);
	return true;
}

int tlat_packed_sum(struct tlat_packed *ret, const struct tlat_packed *a,
		    const struct tlat_packed *b)
{
	struct cursor x = cursor_at(a), y = cursor_at(b);

	if (packed_reserve(ret, a->n_bytes + b->n_bytes) < 0)
		return -ENOMEM;
	cursor_next(&x);
	cursor_next(&y);
	while (x.slot <= TLAT_HIST_SLOT_OVERFLOW || y.slot <= TLAT_HIST_SLOT_OVERFLOW) {
		int32_t slot = x.slot < y.slot ? x.slot : y.slot;

		packed_put(ret, slot,
			   (x.slot == slot ? x.count : 0) + (y.slot == slot ? y.count : 0));
		if (x.slot == slot)
			cursor_next(&x);
		if (y.slot == slot)
			cursor_next(&y);
	}
	packed_trim(ret);
	return 0;
}

int tlat_blocks_new(struct tlat_blocks **ret_blocks, int64_t length_ns)
{
	struct tlat_blocks *blocks = calloc(1, sizeof(*blocks));

	assert(length_ns > 0);
	if (!blocks)
		return -ENOMEM;
	blocks->length_ns = length_ns;
	blocks->cuts_per_block = 1;
	*ret_blocks = blocks;
	return 0;
}

int tlat_packed_copy(struct tlat_packed *ret, const struct tlat_packed *from)
{
	*ret = *from;
	ret->bytes = NULL;
	ret->n_bytes = ret->room = 0;
	if (!from->n_bytes)
		return 0;
	ret->bytes = malloc(from->n_bytes);
	if (!ret->bytes)
		return -ENOMEM;
	memcpy(ret->bytes, from->bytes, from->n_bytes);
	ret->n_bytes = ret->room = from->n_bytes;
	return 0;
}

struct tlat_blocks *tlat_blocks_copy(const struct tlat_blocks *blocks)
{
	struct tlat_blocks *copy = blocks ? malloc(sizeof(*copy)) : NULL;

	if (!copy)
		return NULL;
	*copy = *blocks;
	for (copy->n = 0; copy->n < blocks->n; copy->n++) {
		if (tlat_packed_copy(&copy->v[copy->n], &blocks->v[copy->n]) < 0) {
			tlat_blocks_free(copy);
			return NULL;
		}
	}
	return copy;
}

void tlat_blocks_free(struct tlat_blocks *blocks)
{
	if (!blocks)
		return;
	for (size_t i = 0; i < blocks->n; i++)
		tlat_packed_free(&blocks->v[i]);
	free(blocks);
}

/* Merge neighbours; an odd last block stays as it is, half full. All or nothing. */
static int halve(struct tlat_blocks *blocks)
{
	struct tlat_packed merged[TLAT_BLOCKS_MAX / 2] = { { 0 } };
	size_t pairs = blocks->n / 2, done = 0;

	while (done < pairs &&
	       !tlat_packed_sum(&merged[done], &blocks->v[2 * done], &blocks->v[2 * done + 1]))
		done++;
	if (done < pairs) {
		for (size_t i = 0; i < done; i++)
			tlat_packed_free(&merged[i]);
		return -ENOMEM;
	}
	for (size_t i = 0; i < 2 * pairs; i++)
		tlat_packed_free(&blocks->v[i]);
	if (blocks->n % 2)
		blocks->v[pairs] = blocks->v[blocks->n - 1];
	else
		blocks->cuts_in_last += blocks->cuts_per_block;
	memcpy(blocks->v, merged, pairs * sizeof(merged[0]));
	blocks->n -= pairs;
	blocks->cuts_per_block *= 2;
	return 0;
}

static size_t packed_bytes(const struct tlat_blocks *blocks)
{
	size_t bytes = 0;

	for (size_t i = 0; i < blocks->n; i++)
		bytes += blocks->v[i].n_bytes;
	return bytes;
}

/* Without memory for it the strings stay longer than they should: no reason to fail. */
static void shrink(struct tlat_blocks *blocks)
{
	while (blocks->n > 1 && packed_bytes(blocks) > TLAT_PACKED_BYTES_MAX && !halve(blocks))
		;
}

/* Cuts that are in the block which the next one goes into. */
static int64_t cuts_so_far(const struct tlat_blocks *blocks)
{
	bool opens = !blocks->n || blocks->cuts_in_last == blocks->cuts_per_block;

	return opens ? 0 : blocks->cuts_in_last;
}

/* Add the cut, and those left out before, to the block it belongs to. */
static int place(struct tlat_blocks *blocks, const struct tlat_packed *gained)
{
	int64_t cuts = cuts_so_far(blocks);
	struct tlat_packed none = { 0 }, sum = { 0 };
	bool opens = !cuts;

	if (opens && blocks->n == TLAT_BLOCKS_MAX && halve(blocks) < 0)
		return -ENOMEM;
	if (tlat_packed_sum(&sum, opens ? &none : &blocks->v[blocks->n - 1], gained) < 0)
		return -ENOMEM;
	if (opens)
		blocks->n++;
	else
		tlat_packed_free(&blocks->v[blocks->n - 1]);
	blocks->v[blocks->n - 1] = sum;
	blocks->cuts_in_last = cuts + blocks->passed + 1;
	blocks->passed = 0;
	return 0;
}

/*
 * Pack what hist gained since the last cut, and remember it as seen. A value whose count is there
 * before its extreme is left to the next cut.
 */
static int gain(struct tlat_blocks *blocks, const struct tlat_hist *hist, struct tlat_packed *ret)
{
	int32_t first = tlat_hist_slot(tlat_hist_min(hist));
	int32_t last = tlat_hist_slot(tlat_hist_max(hist));

	for (int32_t slot = first; slot <= last; slot++) {
		uint64_t *seen = &blocks->seen[slot - TLAT_HIST_SLOT_FIRST];
		uint64_t count = tlat_hist_slot_count(hist, slot);

		if (!count || count <= *seen) /* most are empty */
			continue;
		if (packed_append(ret, slot, count - *seen) < 0)
			return -ENOMEM;
		*seen = count;
	}
	return 0;
}

static void unsee(struct tlat_blocks *blocks, const struct tlat_packed *gained)
{
	struct cursor c = cursor_at(gained);

	while (cursor_next(&c))
		blocks->seen[c.slot - TLAT_HIST_SLOT_FIRST] -= c.count;
}

int tlat_blocks_cut(struct tlat_blocks *blocks, const struct tlat_hist *hist)
{
	struct tlat_packed gained = { 0 };
	int ret = gain(blocks, hist, &gained);

	if (!ret)
		ret = place(blocks, &gained);
	if (ret < 0)
		unsee(blocks, &gained);
	tlat_packed_free(&gained);
	if (!ret)
		shrink(blocks);
	return ret;
}

int tlat_blocks_pass(struct tlat_blocks *blocks, const struct tlat_hist *hist)
{
	int64_t cuts = cuts_so_far(blocks);
	bool doubles = !cuts && blocks->n == TLAT_BLOCKS_MAX;
	int64_t complete = blocks->cuts_per_block * (doubles ? 2 : 1);

	if (cuts + blocks->passed + 1 >= complete)
		return tlat_blocks_cut(blocks, hist);
	blocks->passed++;
	return 0;
}

size_t tlat_blocks_count(const struct tlat_blocks *blocks)
{
	return blocks->n;
}

int64_t tlat_blocks_length_ns(const struct tlat_blocks *blocks)
{
	return blocks->length_ns * blocks->cuts_per_block;
}

int64_t tlat_blocks_begin_ns(const struct tlat_blocks *blocks, size_t i)
{
	int64_t begin_ns = 0;

	assert(i <= blocks->n);
	for (size_t k = 0; k < i; k++)
		begin_ns += tlat_packed_length_ns(blocks, k);
	return begin_ns;
}

int32_t tlat_blocks_run(const struct tlat_blocks *blocks, size_t i)
{
	assert(i < blocks->n);
	return blocks->v[i].run;
}

uint64_t tlat_blocks_samples(const struct tlat_blocks *blocks, size_t i)
{
	assert(i < blocks->n);
	return blocks->v[i].samples;
}

double tlat_blocks_below(const struct tlat_blocks *blocks, size_t i, double value)
{
	struct cursor c;
	double below = 0;

	assert(i < blocks->n);
	c = cursor_at(&blocks->v[i]);
	while (cursor_next(&c))
		below += (double)c.count * tlat_hist_slot_below(c.slot, value);
	return below;
}

size_t tlat_blocks_reaching(const struct tlat_blocks *blocks, int32_t slot)
{
	size_t reaching = 0;

	for (size_t i = 0; i < blocks->n; i++)
		reaching += blocks->v[i].n_bytes && blocks->v[i].last >= slot;
	return reaching;
}

int tlat_blocks_next(const struct tlat_blocks *blocks, size_t i, size_t *cursor,
		     struct tlat_block_bin *bin)
{
	const struct tlat_packed *p = &blocks->v[i];
	struct cursor c;

	assert(i < blocks->n);
	if (*cursor == p->n_bytes)
		return 0;
	c = cursor_at(p);
	if (*cursor) {
		c.at += *cursor;
		c.slot = bin->index;
	}
	cursor_next(&c);
	*cursor = (size_t)(c.at - p->bytes);
	*bin = (struct tlat_block_bin){ .index = c.slot, .count = c.count };
	return 1;
}

int tlat_blocks_add(struct tlat_blocks *blocks, const struct tlat_block_bin *bins, size_t n)
{
	int64_t last = TLAT_HIST_SLOT_FIRST - 1;
	struct tlat_packed block = { 0 };
	int ret = blocks->n < TLAT_BLOCKS_MAX ? 0 : -ENOSPC;

	for (size_t i = 0; !ret && i < n; i++) {
		if (bins[i].index <= last || bins[i].index > TLAT_HIST_SLOT_OVERFLOW)
			ret = -EINVAL;
		else
			ret = packed_append(&block, bins[i].index, bins[i].count);
		last = bins[i].index;
	}
	if (ret < 0) {
		tlat_packed_free(&block);
		return ret;
	}
	packed_trim(&block);
	blocks->v[blocks->n++] = block;
	blocks->cuts_in_last = blocks->cuts_per_block;
	return 0;
}

void tlat_blocks_place_last(struct tlat_blocks *blocks, int64_t length_ns, int32_t run)
{
	assert(blocks->n && length_ns > 0 && length_ns <= TLAT_BLOCK_NS_MAX);
	blocks->v[blocks->n - 1].length_ns = length_ns;
	blocks->v[blocks->n - 1].run = run;
}
