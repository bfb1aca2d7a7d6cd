// SPDX-License-Identifier: MIT
/* test-budget.c - what is PASS, FAIL, neither, or no budget at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "comma-locale.h"
#include "report.h"

#define HZ 2500000000u /* 2.5 ticks a ns */

static uint64_t seed;

/* xorshift64*: the same numbers on every machine. */
static uint64_t below(uint64_t n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return ((seed * UINT64_C(0x2545f4914f6cdd1d)) >> 20) % n;
}

/* n values from 1 us on, spread evenly up to 2 us. */
static struct tlat_budget_input facts(uint64_t n)
{
	struct tlat_hist *hist;

	assert_int_equal(tlat_hist_new(&hist, HZ), 0);
	for (uint64_t i = 0; i < n; i++)
		tlat_hist_record(hist, 2500 + (int64_t)(2500 * i / n));
	/* what was missed, if anything, would have changed nothing */
	return (struct tlat_budget_input){
		.hist = hist, .corrected = hist, .n = n, .mean_ns = 1500
	};
}

static void drop(struct tlat_budget_input *in)
{
	tlat_hist_free((struct tlat_hist *)in->hist);
}

static void record_ns(struct tlat_budget_input *in, int64_t ns, int n)
{
	for (int i = 0; i < n; i++)
		tlat_hist_record((struct tlat_hist *)in->hist, ns * 5 / 2);
	in->n += (uint64_t)n;
}

static void assert_verdict(const char *budget, const struct tlat_budget_input *in, int expected)
{
	char text[2048] = "";
	struct tlat_error error = { .text = "" };
	int verdict = tlat_budget_eval(budget, in, text, sizeof(text), &error);

	if (verdict != expected)
		fail_msg("%s: %d, expected %d: %s%s", budget, verdict, expected, text, error.text);
}

static void figures_known_exactly_meet_or_break_their_limit(void **state)
{
	struct tlat_budget_input in = facts(10000);
	static const struct {
		const char *budget;
		int expected;
	} cases[] = {
		{ "min>=1us", TLAT_PASS },    { "min>1us", TLAT_FAIL },
		{ "max<2us", TLAT_PASS },     { "max<=1.9us", TLAT_FAIL },
		{ "mean<1501ns", TLAT_PASS }, { "mean<=1.5us", TLAT_PASS },
		{ "mean<1.5us", TLAT_FAIL },  { "n=10000", TLAT_PASS },
		{ "missed=0", TLAT_FAIL },    { "missed<=3", TLAT_PASS },
		{ "missed<3", TLAT_FAIL },    { "early=0", TLAT_PASS },
		{ "overflow=0", TLAT_PASS },  { "rejected<6", TLAT_PASS },
		{ "rejected<5", TLAT_FAIL },  { "disturbed>7", TLAT_PASS },
		{ "disturbed>8", TLAT_FAIL }, { "n>=1e4", TLAT_PASS },
		{ "n<1e4", TLAT_FAIL },
	};

	(void)state;
	in.corrected = NULL;
	assert_verdict("mean=1.5us", &in, TLAT_PASS);
	in.corrected = in.hist;
	in.missed = 3;
	in.rejected = 5;
	in.disturbed = 8;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++)
		assert_verdict(cases[i].budget, &in, cases[i].expected);
	drop(&in);
}

static void too_few_samples_are_no_reason_to_fail(void **state)
{
	struct tlat_budget_input in = facts(999);

	(void)state;
	assert_verdict("n>=1000", &in, TLAT_INCONCLUSIVE);
	assert_verdict("n>999", &in, TLAT_INCONCLUSIVE);
	assert_verdict("max<1ms,n>=1e6", &in, TLAT_INCONCLUSIVE);
	assert_verdict("max<1us,n>=1e6", &in, TLAT_FAIL);
	drop(&in);
}

static void quantiles_pass_and_fail_by_their_bounds(void **state)
{
	struct tlat_budget_input in = facts(1000);

	(void)state;
	/* the 95 % bounds of the median are ranks 474 and 527, or 1474 and 1527 ns */
	assert_verdict("p50<1530ns", &in, TLAT_PASS);
	assert_verdict("p50<1510ns", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p50<1490ns", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p50<1470ns", &in, TLAT_FAIL);
	assert_verdict("p50>1470ns", &in, TLAT_PASS);
	assert_verdict("p50>=1490ns", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p50>1530ns", &in, TLAT_FAIL);
	assert_verdict("p50=1.5us", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p50=1.7us", &in, TLAT_FAIL);
	assert_verdict("p95<1.97us", &in, TLAT_PASS);
	assert_verdict("p99.9<1ms", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p99.9<1us", &in, TLAT_FAIL);
	drop(&in);
}

static void a_quantile_needs_the_samples_that_bound_it(void **state)
{
	struct tlat_budget_input in = facts(298);

	(void)state;
	assert_verdict("p99<1s", &in, TLAT_INCONCLUSIVE);
	record_ns(&in, 1500, 1);
	assert_verdict("p99<1s", &in, TLAT_PASS);
	drop(&in);
}

static void a_limit_inside_a_bin_is_not_passed_by_its_middle(void **state)
{
	struct tlat_budget_input in = facts(0);

	(void)state;
	/* 40 us are 100000 ticks; bins are 64 ticks, or 25.6 ns, wide there */
	record_ns(&in, 40000, 5000);
	record_ns(&in, 1000, 1);
	record_ns(&in, 90000, 1);
	assert_verdict("p50<39.9us", &in, TLAT_FAIL);
	assert_verdict("p50<39.99us", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p50<40.002us", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p50<40.1us", &in, TLAT_PASS);
	drop(&in);
}

static void shares_follow_the_rule_of_three(void **state)
{
	struct tlat_budget_input in = facts(2994);

	(void)state;
	assert_verdict("P(>50us)<1e-3", &in, TLAT_INCONCLUSIVE);
	record_ns(&in, 1500, 1);
	assert_verdict("P(>50us)<1e-3", &in, TLAT_PASS);
	assert_verdict("P(>50us)=0", &in, TLAT_INCONCLUSIVE);
	assert_verdict("P(>1.5us)<0.45", &in, TLAT_FAIL);
	assert_verdict("P(>1.5us)>0.45", &in, TLAT_PASS);
	assert_verdict("P(>1.5us)<=0.5", &in, TLAT_INCONCLUSIVE);
	record_ns(&in, 60000, 30);
	assert_verdict("P(>50us)<1e-3", &in, TLAT_FAIL);
	assert_verdict("P(>60us)<1e-3", &in, TLAT_PASS);
	assert_verdict("P(>0)<1", &in, TLAT_INCONCLUSIVE);
	drop(&in);
}

static void clustered_samples_prove_less(void **state)
{
	struct tlat_budget_input in = facts(0);
	struct tlat_blocks *blocks;

	(void)state;
	assert_int_equal(tlat_blocks_new(&blocks, 1000), 0);
	for (int block = 0; block < 64; block++) {
		record_ns(&in, 1000, block % 2 ? 400 : 60);
		record_ns(&in, 2000, block % 2 ? 60 : 400);
		assert_int_equal(tlat_blocks_cut(blocks, in.hist), 0);
	}
	record_ns(&in, 1000, 600);
	assert_verdict("p50<1.5us", &in, TLAT_PASS);
	assert_verdict("P(>1.5us)<0.5", &in, TLAT_PASS);
	in.blocks = blocks;
	assert_verdict("p50<1.5us", &in, TLAT_INCONCLUSIVE);
	assert_verdict("P(>1.5us)<0.5", &in, TLAT_INCONCLUSIVE);
	tlat_blocks_free(blocks);
	drop(&in);
}

#define BLOCKS 64

/* How many values a block has beside those of 1 us: from 10 us on upwards, of 40 us, of 60 us. */
struct burst {
	int of_10us, of_40us, of_60us;
};

/* n values in 64 blocks of the same size; the bursts are in the first of them. */
static struct tlat_budget_input bursty(int n, const struct burst *bursts, size_t n_bursts)
{
	struct tlat_budget_input in = facts(0);
	struct tlat_blocks *blocks;

	assert_int_equal(tlat_blocks_new(&blocks, 1000), 0);
	for (size_t i = 0; i < BLOCKS; i++) {
		struct burst burst = i < n_bursts ? bursts[i] : (struct burst){ 0 };
		int share = n * ((int)i + 1) / BLOCKS - n * (int)i / BLOCKS;

		for (int k = 0; k < burst.of_10us; k++)
			record_ns(&in, 10000 + 100 * k, 1);
		record_ns(&in, 40000, burst.of_40us);
		record_ns(&in, 60000, burst.of_60us);
		record_ns(&in, 1000, share - burst.of_10us - burst.of_40us - burst.of_60us);
		assert_int_equal(tlat_blocks_cut(blocks, in.hist), 0);
	}
	in.blocks = blocks;
	return in;
}

static void drop_blocks(struct tlat_budget_input *in)
{
	tlat_blocks_free((struct tlat_blocks *)in->blocks);
	drop(in);
}

/* 2 seen in 1.2e6, of which 1 in 38 is independent: upper bound 2.0e-4, as 6.3 in 3.2e4. */
static void few_events_count_as_many_as_the_tail_has_independent_samples(void **state)
{
	static const struct burst bursts[] = { { .of_10us = 200 },
					       { .of_10us = 200 },
					       { .of_10us = 200 },
					       { .of_60us = 1 },
					       { .of_60us = 1 } };
	struct tlat_budget_input in = bursty(1200000, bursts, TLAT_ARRAY_SIZE(bursts));
	char text[256];

	(void)state;
	assert_int_equal(tlat_budget_eval("P(>50us)<1e-5", &in, text, sizeof(text), NULL),
			 TLAT_INCONCLUSIVE);
	assert_non_null(strstr(text, "e-4, 2 above, n 1200000, 1 in 37.7 independent"));
	assert_verdict("P(>50us)<1.9e-4", &in, TLAT_INCONCLUSIVE);
	assert_verdict("P(>50us)<2.1e-4", &in, TLAT_PASS);
	/* the same limit, said of a quantile: 3.2e4 samples are not 3.0e5 */
	assert_verdict("p99.999<70us", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p99.99<70us", &in, TLAT_PASS);
	drop_blocks(&in);
}

/* From the tenth event on as before it: more of them never make the bound a better one. */
static void more_events_never_prove_more(void **state)
{
	struct burst bursts[BLOCKS] = { { .of_10us = 200 },
					{ .of_10us = 200 },
					{ .of_10us = 200 } };

	(void)state;
	bursts[3].of_60us = 1;
	for (int k = 4; k < 40; k += k < 16 ? 1 : 8) {
		struct tlat_budget_input in;

		bursts[k].of_60us = 1;
		in = bursty(1200000, bursts, BLOCKS);
		assert_verdict("P(>50us)<1.9e-4", &in, TLAT_INCONCLUSIVE);
		drop_blocks(&in);
	}
}

/* What was never seen has one bound, whoever is asked. */
static void none_seen_is_bounded_as_rare_events_are(void **state)
{
	static const struct burst bursts[] = { { 100, 60, 0 }, { 100, 0, 0 }, { 100, 0, 0 },
					       { 100, 0, 0 },  { 100, 0, 0 }, { 100, 0, 0 },
					       { 100, 0, 0 } };
	struct tlat_budget_input in = bursty(300000, bursts, TLAT_ARRAY_SIZE(bursts));
	struct tlat_result result = { .latency = (struct tlat_hist *)in.hist,
				      .blocks = (struct tlat_blocks *)in.blocks,
				      .duration_ns = 10000000000 };
	struct tlat_rare rare = { .size = sizeof(rare) };
	char budget[64];

	(void)state;
	assert_int_equal(tlat_result_rare(&result, 1e-5, &rare), 0);
	assert_true(rare.independent < 300000 / 30);
	snprintf(budget, sizeof(budget), "P(>50us)<%.4e", rare.share_bound * 0.99);
	assert_verdict(budget, &in, TLAT_INCONCLUSIVE);
	snprintf(budget, sizeof(budget), "P(>50us)<%.4e", rare.share_bound * 1.01);
	assert_verdict(budget, &in, TLAT_PASS);
	drop_blocks(&in);
}

static void overflow_fails_any_max(void **state)
{
	struct tlat_budget_input in = facts(1000);

	(void)state;
	tlat_hist_record((struct tlat_hist *)in.hist, INT64_C(1) << 37);
	in.n++;
	in.overflow = 1;
	assert_verdict("max<1e6s", &in, TLAT_FAIL);
	assert_verdict("overflow<=1", &in, TLAT_PASS);
	drop(&in);
}

static void degraded_and_interrupted_runs_never_pass_but_may_fail(void **state)
{
	static const char *const passing[] = { "max<1ms", "missed=0", "p50<1ms", "P(>1ms)<0.1",
					       "n>1" };

	(void)state;
	for (int how = 0; how < 2; how++) {
		struct tlat_budget_input in = facts(1000);

		for (size_t i = 0; i < TLAT_ARRAY_SIZE(passing); i++) {
			in.degraded = in.interrupted = false;
			assert_verdict(passing[i], &in, TLAT_PASS);
			in.degraded = how;
			in.interrupted = !how;
			assert_verdict(passing[i], &in, TLAT_INCONCLUSIVE);
		}
		assert_verdict("max<1us", &in, TLAT_FAIL);
		assert_verdict("p50<1us", &in, TLAT_FAIL);
		drop(&in);
	}
}

static void without_samples_nothing_is_concluded(void **state)
{
	struct tlat_budget_input none = { .hist = NULL }, empty = facts(0);

	(void)state;
	assert_verdict("min>0,max<1s,mean<1s,p50<1s,P(>1s)<1,missed=0,n>=1", &none,
		       TLAT_INCONCLUSIVE);
	assert_verdict("min>0,max<1s,mean<1s,p50<1s,P(>1s)<1,n>=0", &empty, TLAT_INCONCLUSIVE);
	none.missed = 5;
	assert_verdict("missed=0", &none, TLAT_FAIL);
	drop(&empty);
}

static void the_worst_term_decides(void **state)
{
	struct tlat_budget_input in = facts(1000);

	(void)state;
	assert_verdict("max<1s,min>0", &in, TLAT_PASS);
	assert_verdict("max<1s,p99.9<1s", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p99.9<1s,max<1s", &in, TLAT_INCONCLUSIVE);
	assert_verdict("p99.9<1s,max<1us,max<1s", &in, TLAT_FAIL);
	assert_verdict("max<1us,p99.9<1s", &in, TLAT_FAIL);
	drop(&in);
}

static void text_has_a_line_for_each_term(void **state)
{
	struct tlat_budget_input in = facts(10000);
	char text[1024];

	(void)state;
	in.missed = 3;
	assert_int_equal(
		tlat_budget_eval(" p99<50us,max <= 200us , missed = 0,n>=1e6,P( >50us )<1e-5 ", &in,
				 text, sizeof(text), NULL),
		TLAT_FAIL);
	assert_string_equal(text,
			    "p99 < 50 us: PASS (upper 95 % bound 1.992 us, n 10000)\n"
			    "max <= 200 us: PASS (observed 2 us for n 10000)\n"
			    "missed = 0: FAIL (3 seen)\n"
			    "n >= 1000000: INCONCLUSIVE (10000 seen)\n"
			    "P(> 50 us) < 1e-5: INCONCLUSIVE (lower 95 % bound 0, upper 95 % bound "
			    "2.995e-4, 0 above, n 10000)");
	in.degraded = in.interrupted = true;
	tlat_budget_eval("min>=1.25us,min>=-0.5ns", &in, text, sizeof(text), NULL);
	assert_string_equal(text,
			    "min >= 1.25 us: FAIL (observed 1 us for n 10000)\n"
			    "min >= -0.5 ns: INCONCLUSIVE (observed 1 us for n 10000; degraded, "
			    "see findings; ended early)");
	drop(&in);
}

static void text_is_cut_where_its_space_ends(void **state)
{
	struct tlat_budget_input in = facts(100);
	char whole[512], text[512];

	(void)state;
	tlat_budget_eval("max<1s,min>0,p50<1s", &in, whole, sizeof(whole), NULL);
	for (size_t size = 0; size < sizeof(whole); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(tlat_budget_eval("max<1s,min>0,p50<1s", &in, text, size, NULL),
				 TLAT_PASS);
		assert_int_equal(text[size], '#');
		if (size > 0) {
			assert_true(strlen(text) ==
				    (strlen(whole) < size ? strlen(whole) : size - 1));
			assert_memory_equal(text, whole, strlen(text));
		}
	}
	assert_int_equal(tlat_budget_eval("max<1s", &in, NULL, 0, NULL), TLAT_PASS);
	drop(&in);
}

static void numbers_are_read_as_written(void **state)
{
	static const struct {
		const char *term;
		double limit;
	} cases[] = {
		{ "max<50us", 50000 },
		{ "max<1.1us", 1100 },
		{ "max<50\xc2\xb5s", 50000 },
		{ "max<1.5 \xce\xbcs", 1500 },
		{ "max<0", 0 },
		{ "max<0.0", 0 },
		{ "max<.5ms", 5e5 },
		{ "max<1e3ns", 1000 },
		{ "max<2.5e-3s", 2.5e6 },
		{ "max<1E+1us", 10000 },
		{ "max<3 us", 3000 },
		{ "max>-2us", -2000 },
		{ "max<0.1us", 100 },
		{ "n>1e6", 1e6 },
		{ "n>123456789", 123456789 },
		{ "n>1.5e3", 1500 },
		{ "P(>1s)<1e-5", 1e-5 },
		{ "P(>1s)<0.00001", 1e-5 },
		{ "P(>1s)<0", 0 },
		{ "P(>1s)<1e-9999", 0 },
		{ "n<100000000000000000.0", 1e17 },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		const char *at = cases[i].term;
		struct tlat_budget_term term;

		assert_int_equal(tlat_budget_parse_term(&at, &term, NULL), 0);
		assert_float_equal(term.limit, cases[i].limit, 0);
	}
}

static void quantiles_are_read_as_written(void **state)
{
	const char *at = "p99.9<1us , p50<1us";
	struct tlat_budget_term term;

	(void)state;
	assert_int_equal(tlat_budget_parse_term(&at, &term, NULL), 1);
	assert_float_equal(term.at, 0.999, 0);
	assert_string_equal(term.name, "p99.9");
	assert_int_equal(tlat_budget_parse_term(&at, &term, NULL), 0);
	assert_float_equal(term.at, 0.5, 0);
}

static void the_locale_changes_nothing(void **state)
{
	struct tlat_budget_input in;
	char before[256], after[256];

	(void)state;
	comma_locale_enter();
	in = facts(10000);
	assert_verdict("p99<1,999us", &in, -EINVAL);
	tlat_budget_eval("p99<1.999us", &in, after, sizeof(after), NULL);
	comma_locale_leave();
	tlat_budget_eval("p99<1.999us", &in, before, sizeof(before), NULL);
	assert_string_equal(before, after);
	drop(&in);
}

static void a_wrong_term_is_named_with_its_remedy(void **state)
{
	static const struct {
		const char *budget, *named, *remedy;
	} cases[] = {
		{ "p99<50", "'p99<50'", "50us" },
		{ "max<1e30s", "1e30", "1e9 s" },
		{ "", "empty", "p99<50us" },
		{ "p99<1us,", "empty", "p99<50us" },
		{ ",p99<1us", "empty", "p99<50us" },
		{ "p9x<1us", "p9x", "< <= = >= >" },
		{ "foo<1us", "foo", "disturbed" },
		{ "max<1us, p100<1us", "p100<1us", "p99.9" },
		{ "p0<1us", "p0", "p99" },
		{ "p999<1us", "p999", "p99.9" },
		{ "p<1us", "p<1us", "p99" },
		{ "P<1us", "P<1us", "P(>50us)" },
		{ "P(50us)<1", "P(50us)", "P(>50us)" },
		{ "P(>50)<1", "50 has no unit", "50us" },
		{ "P(>50us<1", "no )", "P(>50us)" },
		{ "P(>50us)<1us", "us", "commas" },
		{ "P(>50us)<1.1", "1.1", "from 0 to 1" },
		{ "max", "max", "< <= = >= >" },
		{ "max<", "no time", "50us" },
		{ "max<us", "no time", "50us" },
		{ "max<5sec", "5 has no unit", "5us" },
		{ "max<5nss", "5 has no unit", "5us" },
		{ "max<5\xc2\xb5", "5 has no unit", "5us" },
		{ "max<5\xc2\xb5sec", "5 has no unit", "5us" },
		{ "max==5us", "no time", "50us" },
		{ "n>=", "no number", "1e6" },
		{ "n>=-1", "-1", "from 0" },
		{ "n>=1e19", "1e19", "1e18" },
		{ "max<1us max<2us", "max<2us", "commas" },
		{ "max<1us;", ";", "commas" },
		{ "MAX<1us", "MAX", "max" },
		{ "max<0x10us", "0 has no unit", "us" },
		{ "max<nan", "no time", "50us" },
		{ "max<infs", "no time", "50us" },
		{ "max<1e", "1 has no unit", "1us" },
	};

	(void)state;
	for (size_t i = 0; i < TLAT_ARRAY_SIZE(cases); i++) {
		struct tlat_error error = { .text = "" };

		assert_int_equal(tlat_budget_eval(cases[i].budget, NULL, NULL, 0, &error), -EINVAL);
		assert_int_equal(error.code, -EINVAL);
		if (!strstr(error.text, cases[i].named) || !strstr(error.text, cases[i].remedy))
			fail_msg("'%s': %s", cases[i].budget, error.text);
		assert_null(strchr(error.text, '\n'));
	}
	assert_int_equal(tlat_budget_eval(NULL, NULL, NULL, 0, NULL), -EINVAL);
}

static void a_wrong_term_at_the_end_leaves_no_text(void **state)
{
	struct tlat_budget_input in = facts(100);
	char text[64] = "untouched";

	(void)state;
	assert_int_equal(tlat_budget_eval("max<1s,p50<", &in, text, sizeof(text), NULL), -EINVAL);
	assert_string_equal(text, "untouched");
	drop(&in);
}

/* Whatever the bytes are: a verdict or -EINVAL. */
static void judge_bytes(char *budget, const struct tlat_budget_input *in)
{
	struct tlat_error error;
	char text[300];
	int verdict = tlat_budget_eval(budget, in, text, sizeof(text), &error);

	assert_true(verdict == -EINVAL || (verdict >= TLAT_PASS && verdict <= TLAT_FAIL));
	if (verdict == -EINVAL)
		assert_true(strlen(error.text) > 20);
}

static void no_bytes_crash_the_parser(void **state)
{
	static const char good[] = "p99<50us, max<=200us, missed=0, n>=1e6, P(>50us)<1e-5";
	static const char chars[] = "pPnmaxius<>=.,() 0123456789e+-";
	struct tlat_budget_input in = facts(50);

	(void)state;
	seed = 41;
	for (int round = 0; round < 60000; round++) {
		char *budget = strdup(good);
		size_t length = strlen(budget);

		for (uint64_t n = 1 + below(round % 3 ? 4 : 60); n; n--) {
			size_t at = (size_t)below(length);

			budget[at] = below(3) ? chars[below(sizeof(chars) - 1)] : (char)below(256);
		}
		judge_bytes(budget + below(strlen(budget) + 1), &in);
		free(budget);
	}
	drop(&in);
}

static void long_budgets_are_read_to_their_end(void **state)
{
	struct tlat_budget_input in = facts(100);
	size_t length = 100000;
	char *budget = malloc(length + 8);

	(void)state;
	for (size_t i = 0; i < length; i += 10)
		memcpy(budget + i, "max<100ms,", 10);
	strcpy(budget + length, "max<1us");
	assert_verdict(budget, &in, TLAT_FAIL);
	memset(budget, '9', length);
	memcpy(budget, "max<", 4);
	strcpy(budget + length, "us");
	assert_verdict(budget, &in, -EINVAL);
	free(budget);
	drop(&in);
}

static void a_result_is_judged_with_its_counts_findings_and_end(void **state)
{
	struct tlat_budget_input in = facts(1000);
	struct tlat_result *result = calloc(1, sizeof(*result));
	char text[256];

	(void)state;
	result->latency = (struct tlat_hist *)in.hist;
	result->interval_ns = 1000000;
	result->counts.missed = 2;
	result->counts.rejected[TLAT_REJECTED_TIMEOUT] = 3;
	result->counts.rejected[TLAT_REJECTED_COALESCED] = 4;
	result->counts.disturbed[TLAT_DISTURBED_STEAL] = 5;
	assert_int_equal(tlat_budget_check("missed=2,rejected=7,disturbed=5,n=1000,mean<1.501us,"
					   "mean>1.498us,p50<1.6us,early=0",
					   result, text, sizeof(text), NULL),
			 TLAT_PASS);
	result->end = TLAT_END_SIGNAL;
	assert_int_equal(tlat_budget_check("max<1s", result, NULL, 0, NULL), TLAT_INCONCLUSIVE);
	result->end = TLAT_END_COUNT;
	tlat_findings_add(&result->findings, TLAT_INFO, "not-isolated", NULL, "CPU 1");
	assert_int_equal(tlat_budget_check("max<1s", result, NULL, 0, NULL), TLAT_PASS);
	tlat_findings_add(&result->findings, TLAT_WARN, "policy-refused", NULL, "FIFO");
	assert_int_equal(tlat_budget_check("max<1s", result, NULL, 0, NULL), TLAT_INCONCLUSIVE);
	assert_int_equal(tlat_budget_check("max<1us", result, NULL, 0, NULL), TLAT_FAIL);
	result->latency = NULL;
	assert_int_equal(tlat_budget_check("max<1us", result, NULL, 0, NULL), TLAT_INCONCLUSIVE);
	assert_int_equal(tlat_budget_check("max<1us", NULL, NULL, 0, NULL), TLAT_INCONCLUSIVE);
	tlat_findings_free(&result->findings);
	free(result);
	drop(&in);
}

/* A timer of 1 ms that stands still for 20 ms now and then: one expiry in 20 comes late, but a
 * quarter of a percent of those observed. */
static void what_was_missed_is_no_reason_to_pass(void **state)
{
	struct tlat_result result = { .interval_ns = 1000000, .counts.missed = 1900 };
	char text[256];

	(void)state;
	assert_int_equal(tlat_hist_new(&result.latency, 1000000000), 0);
	for (int i = 0; i < 38000; i++)
		tlat_hist_record(result.latency, 10000 + i % 1000);
	for (int i = 0; i < 100; i++)
		tlat_hist_record(result.latency, 19500000);
	assert_int_equal(tlat_budget_check("p99<100us", &result, text, sizeof(text), NULL),
			 TLAT_INCONCLUSIVE);
	assert_non_null(strstr(text, "; 1900 missed, corrected for them 1"));
	assert_int_equal(tlat_budget_check("P(>100us)<0.01", &result, text, sizeof(text), NULL),
			 TLAT_INCONCLUSIVE);
	assert_non_null(strstr(text, "corrected for them 0.05"));
	assert_int_equal(tlat_budget_check("mean<100us", &result, NULL, 0, NULL),
			 TLAT_INCONCLUSIVE);
	/* what holds in both views passes, and what is broken stays so */
	assert_int_equal(tlat_budget_check("p50<100us,p99<20ms,mean<1ms,max<20ms,P(>100us)<0.1",
					   &result, NULL, 0, NULL),
			 TLAT_PASS);
	assert_int_equal(tlat_budget_check("p99<1us", &result, text, sizeof(text), NULL),
			 TLAT_FAIL);
	assert_null(strstr(text, "corrected"));
	/* threads joined whose intervals differ: how late the missed ones came, nothing tells */
	result.interval_ns = 0;
	assert_int_equal(tlat_budget_check("p50<100us", &result, text, sizeof(text), NULL),
			 TLAT_INCONCLUSIVE);
	assert_non_null(strstr(text, "; 1900 missed, and no one interval to correct for them)"));
	assert_int_equal(tlat_budget_check("max<20ms", &result, NULL, 0, NULL), TLAT_PASS);
	result.counts.missed = 0;
	assert_int_equal(tlat_budget_check("p99<100us", &result, NULL, 0, NULL), TLAT_PASS);
	tlat_hist_free(result.latency);
}

static void verdicts_have_names(void **state)
{
	(void)state;
	assert_string_equal(tlat_verdict_name(TLAT_PASS), "PASS");
	assert_string_equal(tlat_verdict_name(TLAT_FAIL), "FAIL");
	assert_string_equal(tlat_verdict_name(TLAT_INCONCLUSIVE), "INCONCLUSIVE");
	assert_null(tlat_verdict_name(-1));
	assert_true(TLAT_PASS < TLAT_INCONCLUSIVE && TLAT_INCONCLUSIVE < TLAT_FAIL);
	assert_null(tlat_verdict_name(3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_known_exactly_meet_or_break_their_limit),
		cmocka_unit_test(too_few_samples_are_no_reason_to_fail),
		cmocka_unit_test(quantiles_pass_and_fail_by_their_bounds),
		cmocka_unit_test(a_quantile_needs_the_samples_that_bound_it),
		cmocka_unit_test(a_limit_inside_a_bin_is_not_passed_by_its_middle),
		cmocka_unit_test(shares_follow_the_rule_of_three),
		cmocka_unit_test(clustered_samples_prove_less),
		cmocka_unit_test(few_events_count_as_many_as_the_tail_has_independent_samples),
		cmocka_unit_test(more_events_never_prove_more),
		cmocka_unit_test(none_seen_is_bounded_as_rare_events_are),
		cmocka_unit_test(overflow_fails_any_max),
		cmocka_unit_test(degraded_and_interrupted_runs_never_pass_but_may_fail),
		cmocka_unit_test(without_samples_nothing_is_concluded),
		cmocka_unit_test(the_worst_term_decides),
		cmocka_unit_test(text_has_a_line_for_each_term),
		cmocka_unit_test(text_is_cut_where_its_space_ends),
		cmocka_unit_test(numbers_are_read_as_written),
		cmocka_unit_test(quantiles_are_read_as_written),
		cmocka_unit_test(the_locale_changes_nothing),
		cmocka_unit_test(a_wrong_term_is_named_with_its_remedy),
		cmocka_unit_test(a_wrong_term_at_the_end_leaves_no_text),
		cmocka_unit_test(no_bytes_crash_the_parser),
		cmocka_unit_test(long_budgets_are_read_to_their_end),
		cmocka_unit_test(a_result_is_judged_with_its_counts_findings_and_end),
		cmocka_unit_test(what_was_missed_is_no_reason_to_pass),
		cmocka_unit_test(verdicts_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
