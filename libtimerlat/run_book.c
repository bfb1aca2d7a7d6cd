// SPDX-License-Identifier: MIT
/* run_book.c - entering samples, keeping the largest, counting a thread's switches. */
#include <sys/resource.h>

#include "run_tap.h"

#if defined(__has_builtin) && defined(__GLIBC_PREREQ)
#if __has_builtin(__builtin_thread_pointer) && __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define HAS_RSEQ 1
#endif
#endif

const volatile uint32_t *tlat_cpu_word(void)
{
#ifdef HAS_RSEQ
	const struct rseq *rseq =
		(const struct rseq *)((const char *)__builtin_thread_pointer() + __rseq_offset);

	return __rseq_size ? (const volatile uint32_t *)&rseq->cpu_id : NULL;
#else
	return NULL;
#endif
}

static void swap(struct tlat_outlier *a, struct tlat_outlier *b)
{
	struct tlat_outlier held = *a;

	*a = *b;
	*b = held;
}

static void sift_up(struct tlat_outlier *v, size_t i)
{
	while (i && v[i].value < v[(i - 1) / 2].value) {
		swap(&v[i], &v[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void sift_down(struct tlat_outlier *v, size_t n)
{
	size_t i = 0;

	for (;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1;

		if (left < n && v[left].value < v[least].value)
			least = left;
		if (right < n && v[right].value < v[least].value)
			least = right;
		if (least == i)
			return;
		swap(&v[i], &v[least]);
		i = least;
	}
}

/* A min-heap of fixed size, so that most samples cost one compare. */
void tlat_outliers_offer(struct tlat_outliers *outliers, const struct tlat_outlier *candidate)
{
	if (outliers->n < TLAT_OUTLIERS_MAX) {
		outliers->v[outliers->n] = *candidate;
		sift_up(outliers->v, outliers->n++);
	} else if (candidate->value > outliers->v[0].value) {
		outliers->v[0] = *candidate;
		sift_down(outliers->v, outliers->n);
	}
}

/* A value above all others so far is always here, so the limit costs the ordinary ones nothing. */
static void keep_outlier(struct tlat_book *book, int64_t value, uint64_t at, uint64_t seq,
			 int32_t cpu)
{
	double t = (double)(int64_t)(at - book->started) * book->ns_per_unit;
	const struct tlat_outlier outlier = {
		.value = value, .t_ns = (int64_t)t, .seq = seq, .cpu = cpu
	};

	if (!book->outliers)
		return;
	tlat_outliers_offer(book->outliers, &outlier);
	book->least_kept = book->outliers->v[0].value;
	if (book->brk && value > book->brk->above)
		tlat_break_hit(book->brk, &outlier);
}

static void note_migration(struct tlat_book *book, int32_t cpu)
{
	tlat_count(&book->counts.disturbed[TLAT_DISTURBED_MIGRATED], 1);
	if (book->roams)
		book->planned_cpu = cpu;
}

void tlat_book_look(struct tlat_book *book, int64_t value, uint64_t at, uint64_t seq, int32_t cpu)
{
	bool full = book->outliers && book->outliers->n == TLAT_OUTLIERS_MAX;

	if (book->n_raw < book->max_raw)
		book->raw[book->n_raw++] = value;
	if (book->tap)
		tlat_tap_pass(book->tap, value, at);
	if (cpu >= 0 && cpu != book->planned_cpu)
		note_migration(book, cpu);
	if (!full || value > book->least_kept)
		keep_outlier(book, value, at, seq, cpu);
	book->plain = full && book->n_raw == book->max_raw && !book->tap;
}

void tlat_book_note_stop(struct tlat_book *book, uint64_t length)
{
	book->stops++;
	if (length > book->stopped)
		book->stopped = length;
}

void tlat_census_look(struct tlat_census *census)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	census->voluntary = (uint64_t)usage.ru_nvcsw;
	census->involuntary = (uint64_t)usage.ru_nivcsw;
	census->waits = 0;
}

void tlat_census_take(struct tlat_census *census, uint64_t *not_asleep, uint64_t *preempted)
{
	struct tlat_census before = *census;
	uint64_t slept;

	tlat_census_look(census);
	slept = census->voluntary - before.voluntary;
	tlat_count(not_asleep, slept < before.waits ? before.waits - slept : 0);
	tlat_count(preempted, census->involuntary - before.involuntary);
}
