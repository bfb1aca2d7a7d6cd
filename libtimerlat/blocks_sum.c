// SPDX-License-Identifier: MIT
/*
 * blocks_sum.c - the blocks of several histograms. Those of threads were cut at the same time and
 * become one; those of runs stay apart, one run after the other.
 */
#include <string.h>

#include "blocks.h"

/* Blocks on their way into one of those that are summed up. */
struct row {
	struct tlat_packed v[2 * TLAT_BLOCKS_MAX];
	size_t n;
};

static int64_t add_lengths(int64_t a_ns, int64_t b_ns)
{
	return a_ns + b_ns < TLAT_BLOCK_NS_MAX ? a_ns + b_ns : TLAT_BLOCK_NS_MAX;
}

static void discard(struct row *row)
{
	for (size_t i = 0; i < row->n; i++)
		tlat_packed_free(&row->v[i]);
}

/* Make blocks i and i + 1 one, of the run of the first. */
static int merge_next(struct row *row, size_t i)
{
	struct tlat_packed *a = &row->v[i], *b = a + 1;
	struct tlat_packed sum = { .run = a->run,
				   .length_ns = add_lengths(a->length_ns, b->length_ns) };

	if (tlat_packed_sum(&sum, a, b) < 0)
		return -ENOMEM;
	tlat_packed_free(a);
	tlat_packed_free(b);
	*a = sum;
	row->n--;
	memmove(b, b + 1, (row->n - i - 1) * sizeof(*b));
	return 0;
}

/* The shortest two neighbours, of one run or of any two; n: there are none. */
static size_t shortest_two(const struct row *row, bool any_run)
{
	int64_t least_ns = INT64_MAX;
	size_t found = row->n;

	for (size_t i = 0; i + 1 < row->n; i++) {
		const struct tlat_packed *a = &row->v[i], *b = a + 1;
		int64_t length_ns = add_lengths(a->length_ns, b->length_ns);

		if ((any_run || a->run == b->run) && length_ns < least_ns) {
			least_ns = length_ns;
			found = i;
		}
	}
	return found;
}

static bool is_too_wide(const struct row *row)
{
	size_t bytes = 0;

	for (size_t i = 0; i < row->n; i++)
		bytes += row->v[i].n_bytes;
	return bytes > TLAT_PACKED_BYTES_MAX;
}

/* Runs become one block for want of room only when there are more of them than blocks. */
static int fit(struct row *row)
{
	int ret = 0;

	while (!ret && (row->n > TLAT_BLOCKS_MAX || is_too_wide(row))) {
		size_t i = shortest_two(row, false);

		if (i == row->n && row->n > TLAT_BLOCKS_MAX)
			i = shortest_two(row, true);
		if (i == row->n)
			break;
		ret = merge_next(row, i);
	}
	return ret;
}

/* What there was is freed, or the row when ret says that it is not whole. */
static int replace(struct tlat_blocks *into, struct row *row, int ret)
{
	if (!ret)
		ret = fit(row);
	if (ret < 0) {
		discard(row);
		return ret;
	}
	for (size_t i = 0; i < into->n; i++)
		tlat_packed_free(&into->v[i]);
	memcpy(into->v, row->v, row->n * sizeof(*row->v));
	into->n = row->n;
	return 0;
}

static int push_all(struct row *row, const struct tlat_blocks *from, int32_t first_run)
{
	for (size_t i = 0; i < from->n; i++) {
		struct tlat_packed *to = &row->v[row->n];

		if (tlat_packed_copy(to, &from->v[i]) < 0)
			return -ENOMEM;
		to->run += first_run;
		to->length_ns = tlat_packed_length_ns(from, i);
		row->n++;
	}
	return 0;
}

int tlat_blocks_append(struct tlat_blocks *into, const struct tlat_blocks *from, int32_t first_run)
{
	struct row row = { .n = 0 };
	int ret = push_all(&row, into, 0);

	if (!ret)
		ret = push_all(&row, from, first_run);
	return replace(into, &row, ret);
}

/* Where one goes through blocks, and what it has behind it since both stood at the same time. */
struct walk {
	const struct tlat_blocks *blocks;
	size_t at;
	int64_t behind_ns;
};

/* Whose block is next; past the end: of none. */
static int32_t next_run(const struct walk *w)
{
	return w->at < w->blocks->n ? w->blocks->v[w->at].run : INT32_MAX;
}

/* Add the next block of w to *sum. */
static int take(struct walk *w, struct tlat_packed *sum)
{
	struct tlat_packed more = { .run = sum->run };

	if (tlat_packed_sum(&more, sum, &w->blocks->v[w->at]) < 0)
		return -ENOMEM;
	w->behind_ns = add_lengths(w->behind_ns, tlat_packed_length_ns(w->blocks, w->at));
	w->at++;
	tlat_packed_free(sum);
	*sum = more;
	return 0;
}

/* One block of both, up to where both have an edge; the last of a run may fall short of it. */
static int push_common(struct row *row, struct walk w[2])
{
	int k = next_run(&w[1]) < next_run(&w[0]), ret = 0;
	struct tlat_packed *sum = &row->v[row->n];

	*sum = (struct tlat_packed){ .run = next_run(&w[k]) };
	w[0].behind_ns = w[1].behind_ns = 0;
	do {
		ret = take(&w[k], sum);
		k = w[1].behind_ns < w[0].behind_ns;
	} while (!ret && w[0].behind_ns != w[1].behind_ns && next_run(&w[k]) == sum->run);
	sum->length_ns = w[!k].behind_ns;
	row->n++;
	return ret;
}

int tlat_blocks_join(struct tlat_blocks *into, const struct tlat_blocks *from)
{
	struct walk w[2] = { { .blocks = into }, { .blocks = from } };
	struct row row = { .n = 0 };
	int ret = 0;

	while (!ret && (w[0].at < into->n || w[1].at < from->n))
		ret = push_common(&row, w);
	return replace(into, &row, ret);
}
