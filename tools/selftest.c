// SPDX-License-Identifier: MIT
/*
 * selftest.c - known delays against measured ones. A trial is one short run on one CPU in which
 * every second kick is held back by the delay, and called as much earlier, so that the waiter has
 * slept equally long.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantity.h"
#include "selftest.h"
#include "selftest_cache.h"
#include "stop.h"
#include "text.h"
#include "tool.h"

#define SETTLE_NS 150000 /* leaves 50 us of sleep beside the longest delay */
#define SAMPLES	  200
#define WARMUP	  50

/* Of trials that must come back: 370 of 400. */
#define SHARE_NEEDED 0.925

/* A trial that states a larger uncertainty is judged by this one. */
#define U_FLOOR_NS 60
#define U_SHARE	   0.01

/* Fewer, for each delay, are a look and no verdict. */
#define TRIALS_NEEDED 20

#define DELAYS 4

struct delay {
	int64_t ns;
	int trials, recovered;
	double median_error_ns;
	double u_ns; /* median of the stated uncertainties */
};

struct tester {
	struct tlat_machine *machine;
	struct tlat_clock *clock;
	char cpu[16];
	struct delay *delay;
	double *errors_ns, *us_ns; /* of the trials of one delay */
	int trials;
};

static int measure(const struct tester *t, struct tlat_summary *ret_summary,
		   struct tlat_error *reterr)
{
	struct tlat_report *report;
	struct tlat_run *run;
	const struct tlat_run_opts opts =
		TLAT_RUN_OPTS(.probe = "wake-futex", .cpus = t->cpu, .samples = SAMPLES,
			      .machine = t->machine, .clock = t->clock, .settle_ns = SETTLE_NS,
			      .slack_ns = 1, .warmup = WARMUP, .policy = TLAT_SCHED_FIFO,
			      .priority = 40, .flags = TLAT_RUN_NO_FLOOR,
			      .inject_ns = t->delay->ns);
	int r = tlat_run_start(&run, &opts, reterr);

	if (r < 0)
		return r;
	while (!tlat_stop_poll(run, -1))
		;
	r = tlat_run_wait(run, &report, reterr);
	if (r < 0)
		return r;
	r = tlat_result_summary(tlat_report_result(report, 0), ret_summary);
	tlat_report_free(report);
	return r;
}

/* What came back against what was really spun. */
static int trial(struct tester *t, int i, struct tlat_error *reterr)
{
	struct tlat_summary s = { .size = sizeof(s) };
	double bound_ns = U_FLOOR_NS + U_SHARE * (double)t->delay->ns;
	int r = measure(t, &s, reterr);

	if (r < 0)
		return r;
	if (tlat_stop_requested())
		return tlat_tool_fail(reterr, -ECANCELED,
				      "self-test: ended by a signal, no result");
	t->errors_ns[i] = s.recovered_ns - s.injected_ns;
	t->us_ns[i] = s.recovered_u_ns < bound_ns ? s.recovered_u_ns : bound_ns;
	if (!isfinite(t->errors_ns[i]) || !isfinite(t->us_ns[i]))
		return tlat_tool_fail(
			reterr, -ENODATA,
			"self-test: wake-futex gave no figures; see tlat run wake-futex");
	t->delay->recovered += fabs(t->errors_ns[i]) <= t->us_ns[i];
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static int test_delay(struct tester *t, struct tlat_error *reterr)
{
	for (int i = 0; i < t->trials; i++) {
		int r = trial(t, i, reterr);

		if (r < 0)
			return r;
	}
	t->delay->trials = t->trials;
	t->delay->median_error_ns = median(t->errors_ns, t->trials);
	t->delay->u_ns = median(t->us_ns, t->trials);
	return 0;
}

static void print_delay(const struct delay *d, FILE *out)
{
	char delay[TLAT_QUANTITY_TEXT], error[TLAT_QUANTITY_TEXT], u[TLAT_QUANTITY_TEXT];

	fprintf(out, "self-test %5s: recovered %d of %d, median error %s, uncertainty %s\n",
		tlat_time_exact(d->ns, delay), d->recovered, d->trials,
		tlat_time_short(d->median_error_ns, 3, error), tlat_time_short(d->u_ns, 3, u));
	fflush(out);
}

static int test_all(struct tester *t, struct delay *delays, FILE *out, struct tlat_error *reterr)
{
	static const int64_t delays_ns[DELAYS] = { 200, 1000, 10000, 100000 };

	for (size_t i = 0; i < DELAYS; i++) {
		int r;

		t->delay = &delays[i];
		*t->delay = (struct delay){ .ns = delays_ns[i] };
		r = test_delay(t, reterr);
		if (r < 0)
			return r;
		if (out)
			print_delay(t->delay, out);
	}
	return 0;
}

static void print_criterion(const struct tester *t, FILE *out)
{
	char text[240];

	snprintf(text, sizeof(text),
		 "a delay counts as recovered when what the probe saw of it is right within the "
		 "stated uncertainty, at most %d ns + %.0f %%; PASS takes %.1f %% of %d trials",
		 U_FLOOR_NS, 100 * U_SHARE, 100 * SHARE_NEEDED, DELAYS * t->trials);
	tlat_text_wrap("self-test: ", 2, text, out);
}

static bool is_enough(const struct delay *delays)
{
	int recovered = 0, trials = 0;

	for (size_t i = 0; i < DELAYS; i++) {
		recovered += delays[i].recovered;
		trials += delays[i].trials;
	}
	return recovered >= SHARE_NEEDED * trials;
}

/* To be given to free(3); NULL when memory is short. */
static char *describe(const struct delay *delays)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out,
		"on this boot injected delays were recovered, within their uncertainty (at most %d "
		"ns + %.0f %%):",
		U_FLOOR_NS, 100 * U_SHARE);
	for (size_t i = 0; i < DELAYS; i++) {
		char delay[TLAT_QUANTITY_TEXT], error[TLAT_QUANTITY_TEXT];

		fprintf(out, "%s %s %d of %d (median error %s)", i ? "," : "",
			tlat_time_exact(delays[i].ns, delay), delays[i].recovered, delays[i].trials,
			tlat_time_short(delays[i].median_error_ns, 3, error));
	}
	fclose(out);
	return text;
}

static void note(struct tlat_report *report, const struct delay *delays)
{
	bool enough = is_enough(delays);
	char *text = describe(delays);
	const struct tlat_finding finding = {
		.id = "self-test",
		.text = text,
		.remedy = enough ? NULL : "again, on a quiet machine: tlat check --self-test",
		.severity = enough ? TLAT_INFO : TLAT_WARN,
	};

	if (text)
		tlat_report_add_finding(report, &finding);
	free(text);
}

/* What cannot be kept is not quoted later, which somebody may wait for. */
static void keep(const struct tlat_report *report, FILE *out)
{
	struct tlat_error error;

	if (tlat_selftest_store(report, &error) < 0 && out)
		tlat_text_wrap("self-test: not kept, so that reports cannot quote it: ", 2,
			       error.text, out);
}

static int conclude(struct tlat_report *report, const struct delay *delays, int trials, FILE *out)
{
	if (trials < TRIALS_NEEDED) {
		if (out)
			fprintf(out,
				"self-test: no verdict, and not kept: %d trials a delay, "
				"%d are needed\n\n",
				trials, TRIALS_NEEDED);
		return 1;
	}
	note(report, delays);
	keep(report, out);
	if (out)
		fprintf(out, "self-test: %s\n\n", is_enough(delays) ? "PASS" : "FAIL");
	return is_enough(delays);
}

int tlat_selftest(struct tlat_report *report, struct tlat_machine *machine,
		  struct tlat_clock *clock, int trials, FILE *out, struct tlat_error *reterr)
{
	struct tester t = { .machine = machine, .clock = clock, .trials = trials };
	struct delay delays[DELAYS] = { 0 };
	int32_t cpus[2];
	int r = tlat_machine_choose(machine, false, cpus, reterr);

	if (r < 0)
		return r;
	snprintf(t.cpu, sizeof(t.cpu), "%" PRId32, cpus[0]);
	t.errors_ns = calloc((size_t)trials, sizeof(double));
	t.us_ns = calloc((size_t)trials, sizeof(double));
	if (out)
		print_criterion(&t, out);
	r = t.errors_ns && t.us_ns
		    ? test_all(&t, delays, out, reterr)
		    : tlat_tool_fail(reterr, -ENOMEM, "out of memory for the self-test");
	free(t.errors_ns);
	free(t.us_ns);
	return r < 0 ? r : conclude(report, delays, trials, out);
}

/* A quote is information: what it says was true of another moment of this boot. */
void tlat_selftest_quote(struct tlat_report *report)
{
	struct tlat_report *kept;
	struct tlat_finding finding;

	if (tlat_selftest_load(&kept) < 0)
		return;
	for (size_t i = 0; tlat_report_finding(kept, i, &finding) == 0; i++) {
		finding.severity = TLAT_INFO;
		if (!strcmp(finding.id, "self-test"))
			tlat_report_add_finding(report, &finding);
	}
	tlat_report_free(kept);
}
