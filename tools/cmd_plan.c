// SPDX-License-Identifier: MIT
/*
 * cmd_plan.c - "tlat plan": the noise of a few pairs, and what follows from it. That noise is not
 * well known from so few, so that what it may be is said as well.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "ab_run.h"
#include "text.h"
#include "tool.h"

#define ALPHA	0.01
#define POWER	0.9
/* One noise in five is larger than this says (normal quantile). */
#define UNLUCKY (-0.8416)

/* How much larger the true sd may be: root of freedom over the chi-square quantile (Wilson and
 * Hilferty's). */
static double unlucky_factor(double freedom)
{
	double c = 2 / (9 * freedom);
	double root = 1 - c + UNLUCKY * sqrt(c);

	return 1 / sqrt(root * root * root);
}

static void print_time(double seconds)
{
	if (seconds < 120)
		printf("%.0f s", seconds);
	else if (seconds < 7200)
		printf("%.0f min", seconds / 60);
	else
		printf("%.1f h", seconds / 3600);
}

static void print_pairs(uint64_t pairs, double seconds_each)
{
	if (!pairs) {
		fputs("more than a million pairs", stdout);
		return;
	}
	printf("%" PRIu64 " pairs, ", pairs);
	print_time((double)pairs * seconds_each);
}

static void print_shift(double shift)
{
	if (isfinite(shift))
		printf("%.2g %%", 100 * shift);
	else
		fputs("no shift, however large", stdout);
}

/* One of several items is sure of its part of the false alarms only, as in the comparison. */
static void print_item(const struct tlat_ab_session *s, const struct tlat_compare_item *item,
		       size_t items)
{
	double each = 2 * s->seconds / (double)s->made, mde = s->config->mde;
	double alpha = ALPHA / (double)items;
	double worst = item->sd * unlucky_factor((double)item->n_base - 1);

	tlat_text_put(item->name, stdout);
	fputc(' ', stdout);
	tlat_text_put(item->metric, stdout);
	printf(": sd of a pair %.2f %%, from %" PRIu64 " pairs of ", 100 * item->sd, item->n_base);
	print_time(each);
	printf("\n  a shift of %.3g %% is found (power %.0f %%, %.0f %% false alarms", 100 * mde,
	       100 * POWER, 100 * ALPHA);
	if (items > 1)
		printf(" in all %zu results", items);
	fputs(") with ", stdout);
	print_pairs(tlat_compare_pairs(item->sd, mde, alpha, POWER), each);
	fputs("\n  if the pilot was lucky, with ", stdout);
	print_pairs(tlat_compare_pairs(worst, mde, alpha, POWER), each);
	fputs("\n  20 pairs find ", stdout);
	print_shift(tlat_compare_mde(item->sd, 20, alpha, POWER));
	putchar('\n');
}

static int print_plan(const struct tlat_ab_session *s)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_comparison *c;
	struct tlat_error error;
	size_t items = 0;

	if (tlat_compare(&c, s->sides[0].v, s->sides[0].n, s->sides[1].v, s->sides[1].n, NULL,
			 &error) < 0)
		return tlat_complain("plan", "%s", error.text);
	while (tlat_comparison_item(c, items, &item) == 0)
		items++;
	for (size_t i = 0; tlat_comparison_item(c, i, &item) == 0; i++)
		print_item(s, &item, items);
	tlat_comparison_free(c);
	return TLAT_EXIT_FINE;
}

static int plan(struct tlat_ab_session *s)
{
	struct tlat_error error;
	int r = tlat_ab_resume(s, &error);

	if (!r)
		r = tlat_ab_measure(s, &error);
	if (r == -ECANCELED && tlat_ab_complete(s) < 3)
		return tlat_complain("plan", "ended by a signal, with too few pairs to tell");
	if (r < 0 && r != -ECANCELED)
		return tlat_complain("plan", "%s", error.text);
	return print_plan(s);
}

int tlat_cmd_plan(int argc, char **argv)
{
	struct tlat_ab_config config;
	struct tlat_ab_session session = { .config = &config };
	int code, r = tlat_ab_config(&config, true, argc, argv);

	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	code = plan(&session);
	tlat_ab_free(&session);
	tlat_ab_config_free(&config);
	return code;
}
