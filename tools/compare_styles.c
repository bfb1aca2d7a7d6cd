// SPDX-License-Identifier: MIT
/*
 * compare_styles.c - the looks that readers of mailing lists are used to. Only the look: what is
 * decided by is the same.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compare_table.h"
#include "quantity.h"
#include "text.h"

#define SIDE_BYTES   40
#define STDDEV_SHOWN 0.02 /* the robot leaves out less */

/* "  1080 ±  2%", 16 columns and the sign's second byte. */
static void lkp_side(double value, double sd, char *text)
{
	if (sd > STDDEV_SHOWN)
		snprintf(text, SIDE_BYTES, "%10.4g \xc2\xb1%3.0f%%", value, 100 * sd);
	else
		snprintf(text, SIDE_BYTES, "%10.4g      ", value);
}

static void lkp_row(double base, double base_sd, double next, double next_sd, double ratio,
		    const char *name, const char *metric, FILE *out)
{
	char left[SIDE_BYTES], right[SIDE_BYTES];

	lkp_side(base, base_sd, left);
	lkp_side(next, next_sd, right);
	fprintf(out, "%s %+9.1f%% %s  ", left, 100 * (ratio - 1), right);
	tlat_text_put(name, out);
	fputc('.', out);
	tlat_text_put(metric, out);
	fputc('\n', out);
}

void tlat_compare_print_lkp(const struct tlat_comparison *c, FILE *out)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	struct tlat_compare_figure f = { .size = sizeof(f) };

	fputs("            base                         new\n"
	      "---------------- ---------------------------\n"
	      "         %stddev     %change         %stddev\n"
	      "             \\          |                \\\n",
	      out);
	for (size_t i = 0; tlat_comparison_item(c, i, &item) == 0; i++) {
		lkp_row(item.base, item.base_sd, item.next, item.next_sd, item.ratio, item.name,
			item.metric, out);
		for (size_t k = 0; tlat_comparison_figure(c, i, k, &f) == 0; k++)
			if (f.role == TLAT_COMPARE_TAIL)
				lkp_row(f.base, NAN, f.next, NAN, f.ratio, item.name, f.name, out);
	}
}

static void benchstat_side(double value, double sd, const char *unit, char *text)
{
	char quantity[TLAT_QUANTITY_TEXT];

	tlat_compare_value(value, unit, quantity);
	if (isfinite(sd))
		snprintf(text, SIDE_BYTES + 16, "%s \xc2\xb1 %.0f%%", quantity, 100 * sd);
	else
		snprintf(text, SIDE_BYTES + 16, "%s \xc2\xb1 \xe2\x88\x9e", quantity);
}

/* "~" as benchstat has it: no significant change; "?": none that a verdict may be given on. */
static void benchstat_change(const struct tlat_compare_item *item, char *text, size_t size)
{
	if (item->withheld)
		snprintf(text, size, "?");
	else if (item->p <= item->alpha)
		snprintf(text, size, "%+.2f%%", 100 * (item->ratio - 1));
	else
		snprintf(text, size, "~");
}

void tlat_compare_print_benchstat(const struct tlat_comparison *c, FILE *out)
{
	struct tlat_compare_item item = { .size = sizeof(item) };
	bool withheld = false;
	double sum = 0;
	size_t i;

	fprintf(out, "%-28s %16s %16s  %s\n", "", "base", "new", "vs base");
	for (i = 0; tlat_comparison_item(c, i, &item) == 0; i++) {
		char left[SIDE_BYTES + 16], right[SIDE_BYTES + 16], change[24], name[200];

		benchstat_side(item.base, item.base_sd, item.unit, left);
		benchstat_side(item.next, item.next_sd, item.unit, right);
		snprintf(name, sizeof(name), "%.120s %.40s", item.name, item.metric);
		benchstat_change(&item, change, sizeof(change));
		/* The sign has two bytes and one column. */
		fprintf(out, "%-28s %17s %17s  %s (p=%.3f n=%" PRIu64, tlat_text_clean(name), left,
			right, change, item.p, item.n_base);
		if (item.n_next != item.n_base)
			fprintf(out, "+%" PRIu64, item.n_next);
		fputs(")\n", out);
		withheld |= item.withheld;
		sum += log(item.ratio);
	}
	if (i > 1 && !withheld)
		fprintf(out, "%-28s %16s %16s  %+.2f%%\n", "geomean", "", "",
			100 * expm1(sum / (double)i));
}
