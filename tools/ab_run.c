// SPDX-License-Identifier: MIT
/*
 * ab_run.c - the order of runs. Two pairs are a block, ABBA or BAAB as the seed says: a drift that
 * is even over a block is in both sides alike, and nobody can guess which one comes first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ab_design.h"
#include "ab_run.h"
#include "ab_side.h"
#include "ab_state.h"
#include "seed.h"
#include "tool.h"

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static const char *block_order(uint64_t seed, int32_t pair)
{
	uint64_t block = (uint64_t)pair / 2;

	return mix(seed + (block + 1) * UINT64_C(0x9e3779b97f4a7c15)) & 1 ? "BAAB" : "ABBA";
}

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool has_run(const struct tlat_reports *side, int32_t pair)
{
	for (size_t i = 0; i < side->n; i++) {
		struct tlat_design design = { .size = sizeof(design) };

		if (tlat_report_design(side->v[i], &design) == 0 && design.pair == pair)
			return true;
	}
	return false;
}

size_t tlat_ab_complete(const struct tlat_ab_session *s)
{
	size_t n = 0;

	for (int32_t pair = 0; pair < s->config->pairs; pair++)
		n += has_run(&s->sides[0], pair) && has_run(&s->sides[1], pair);
	return n;
}

/* Hand a report of the state to its side; it is gone afterwards. */
static int take(struct tlat_ab_session *s, struct tlat_report *report, struct tlat_error *reterr)
{
	struct tlat_design design = { .size = sizeof(design) };
	int r;

	if (tlat_report_design(report, &design) < 0)
		r = tlat_tool_fail(reterr, -EINVAL,
				   "%.200s: holds a report that is of no side; use another file",
				   s->config->state);
	else
		r = tlat_ab_check_design(s->config, report, &design, reterr);
	if (r < 0) {
		tlat_report_free(report);
		return r;
	}
	s->seed = design.seed;
	if (tlat_reports_add(&s->sides[design.side == 'B'], report) < 0)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory for reports");
	return 0;
}

int tlat_ab_resume(struct tlat_ab_session *s, struct tlat_error *reterr)
{
	struct tlat_reports all = { 0 };
	int r;

	if (s->config->only < 0)
		s->seed = (uint64_t)(s->config->seed == TLAT_UNSET ? tlat_seed_choose()
								   : s->config->seed);
	if (!s->config->state || access(s->config->state, F_OK) < 0)
		return 0;
	r = tlat_ab_state_mend(s->config->state, reterr);
	if (r < 0)
		return r;
	if (r > 0)
		tlat_complain("ab", "%.200s: its last line was cut short; that run is made again",
			      s->config->state);
	r = tlat_reports_read(&all, s->config->state, reterr);
	for (size_t i = 0; i < all.n; i++) {
		if (!r)
			r = take(s, all.v[i], reterr);
		else
			tlat_report_free(all.v[i]);
	}
	free(all.v);
	return r == -ENODATA ? 0 : r;
}

static void show_progress(const struct tlat_ab_session *s, const char *what, size_t left)
{
	double each = s->made ? s->seconds / (double)s->made : 0;

	if (s->config->quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s, %zu runs left", what, left);
	if (s->made)
		fprintf(stderr, ", %.0f s each, %.1f min", each, each * (double)left / 60);
	fputs("        ", stderr);
}

static void end_progress(const struct tlat_ab_session *s)
{
	if (!s->config->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* One run, placed, kept, and written down before the next one begins. */
static int make_run(struct tlat_ab_session *s, struct tlat_ab_bench *bench, int side, int32_t pair,
		    const char *order, struct tlat_error *reterr)
{
	const struct tlat_ab_config *c = s->config;
	const struct tlat_design design =
		TLAT_DESIGN(.side = side ? 'B' : 'A', .pair = pair, .order = order, .seed = s->seed,
			    .planned = c->only < 0 ? (int32_t)c->pairs : 0, .looks = c->early,
			    .command = c->command[side], .setup = c->setup[side],
			    .metric = c->metric);
	double begin = now_seconds();
	struct tlat_report *report;
	int r = tlat_ab_run(bench, side, &report, reterr);

	if (r < 0)
		return r;
	s->seconds += now_seconds() - begin;
	s->made++;
	r = tlat_report_set_design(report, &design);
	if (r < 0)
		tlat_tool_fail(reterr, r, "no place for a run: %s", strerror(-r));
	else if (c->state)
		r = tlat_report_write(report, c->state, TLAT_WRITE_APPEND, reterr);
	if (r < 0) {
		tlat_report_free(report);
		return r;
	}
	if (tlat_reports_add(&s->sides[side], report) < 0)
		return tlat_tool_fail(reterr, -ENOMEM, "out of memory for reports");
	return 0;
}

/* Whether the sides can be compared is to be known after one pair, not after twenty. */
static int check_pair(struct tlat_ab_session *s, struct tlat_error *reterr)
{
	struct tlat_comparison *c;
	int r = tlat_compare(&c, s->sides[0].v, s->sides[0].n, s->sides[1].v, s->sides[1].n, NULL,
			     reterr);

	if (!r)
		tlat_comparison_free(c);
	return r;
}

/* A look that was planned; others would find something sooner or later whatever there is. */
static int look(struct tlat_ab_session *s, struct tlat_error *reterr)
{
	const struct tlat_ab_config *c = s->config;
	uint64_t n = tlat_ab_complete(s);
	struct tlat_comparison *comparison;
	int r;

	if (!c->early || n >= (uint64_t)c->pairs ||
	    !(tlat_compare_look(n, (uint64_t)c->pairs, 0.01, NULL) > 0))
		return 0;
	r = tlat_compare(&comparison, s->sides[0].v, s->sides[0].n, s->sides[1].v, s->sides[1].n,
			 &TLAT_COMPARE_OPTS(.threshold = c->threshold), reterr);
	if (r < 0)
		return r;
	s->ended_early = tlat_comparison_verdict(comparison) == TLAT_COMPARE_REGRESSION;
	tlat_comparison_free(comparison);
	return 0;
}

static int make_pair(struct tlat_ab_session *s, struct tlat_ab_bench *bench, int32_t pair,
		     struct tlat_error *reterr)
{
	const char *order = block_order(s->seed, pair);
	size_t left = (size_t)(s->config->pairs - pair) * 2;
	bool made = false;
	char what[80];
	int r = 0;

	for (int i = 0; !r && i < 2; i++) {
		int side = order[2 * (pair % 2) + i] == 'B';

		if (has_run(&s->sides[side], pair))
			continue;
		snprintf(what, sizeof(what), "pair %" PRId32 " of %" PRId64 ", %c", pair + 1,
			 s->config->pairs, side ? 'B' : 'A');
		show_progress(s, what, left - (size_t)i);
		r = make_run(s, bench, side, pair, order, reterr);
		made = true;
	}
	if (!r && made && tlat_ab_complete(s) == 1)
		r = check_pair(s, reterr);
	return r < 0 || !made ? r : look(s, reterr);
}

/* "" where there is none. */
static void read_boot(char *text, size_t size)
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");

	text[0] = '\0';
	if (!in)
		return;
	if (fgets(text, (int)size, in))
		text[strcspn(text, "\n")] = '\0';
	fclose(in);
}

/* The number of this boot among those of its side. */
static int32_t boot_number(const struct tlat_reports *side)
{
	char boot[64];
	int32_t most = -1;

	read_boot(boot, sizeof(boot));
	for (size_t i = 0; i < side->n; i++) {
		struct tlat_design design = { .size = sizeof(design) };

		if (tlat_report_design(side->v[i], &design) < 0)
			continue;
		if (!strcmp(tlat_report_boot(side->v[i]), boot))
			return design.pair;
		most = design.pair > most ? design.pair : most;
	}
	return most + 1;
}

static int measure_side(struct tlat_ab_session *s, struct tlat_ab_bench *bench,
			struct tlat_error *reterr)
{
	int side = s->config->only, r = 0;
	int32_t pair = boot_number(&s->sides[side]);

	for (int64_t i = 0; !r && i < s->config->runs; i++) {
		show_progress(s, side ? "side B" : "side A", (size_t)(s->config->runs - i));
		r = make_run(s, bench, side, pair, "boot", reterr);
	}
	return r;
}

int tlat_ab_measure(struct tlat_ab_session *s, struct tlat_error *reterr)
{
	struct tlat_ab_bench *bench;
	int r = tlat_ab_open(&bench, s->config, reterr);

	if (r < 0)
		return r;
	if (s->config->only >= 0)
		r = measure_side(s, bench, reterr);
	for (int32_t pair = 0;
	     s->config->only < 0 && !r && !s->ended_early && pair < s->config->pairs; pair++)
		r = make_pair(s, bench, pair, reterr);
	end_progress(s);
	tlat_ab_close(bench);
	return r;
}

void tlat_ab_free(struct tlat_ab_session *session)
{
	tlat_reports_free(&session->sides[0]);
	tlat_reports_free(&session->sides[1]);
}
