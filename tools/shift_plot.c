// SPDX-License-Identifier: MIT
/*
 * shift_plot.c - the ratio along the distribution: a line for each quantile, the band as dashes,
 * the ratio as a star, and a bar where nothing differs. Sideways, so that it needs no tall screen.
 */
#include <math.h>
#include <string.h>

#include "compare_table.h"
#include "quantity.h"
#include "text.h"

#define WIDTH_MAX  72
#define LEFT_BYTES 52 /* of a line, before the plot */

struct scale {
	double lo, hi; /* logarithms of ratios */
	int width;
};

static int column(const struct scale *s, double ln)
{
	double at = (ln - s->lo) / (s->hi - s->lo) * (s->width - 1);

	return (int)lround(fmin(fmax(at, 0), s->width - 1));
}

/* From the least to the largest bound; without bounds, of the ratios. */
static size_t find_scale(const struct tlat_comparison *c, size_t item, struct scale *s)
{
	struct tlat_compare_figure f = { .size = sizeof(f) };
	double lo = 0, hi = 0;
	size_t n = 0;

	for (size_t i = 0; tlat_comparison_figure(c, item, i, &f) == 0; i++) {
		bool bounded = f.lo > 0 && isfinite(f.hi);

		if (f.role != TLAT_COMPARE_SHIFT)
			continue;
		n++;
		lo = fmin(lo, log(bounded ? f.lo : f.ratio));
		hi = fmax(hi, log(bounded ? f.hi : f.ratio));
	}
	s->lo = lo - 0.001;
	s->hi = hi + 0.001;
	return n;
}

static void draw(const struct scale *s, const struct tlat_compare_figure *f, char *line)
{
	memset(line, ' ', (size_t)s->width);
	line[s->width] = '\0';
	if (f->lo > 0 && isfinite(f->hi))
		for (int i = column(s, log(f->lo)); i <= column(s, log(f->hi)); i++)
			line[i] = '-';
	line[column(s, 0)] = '|';
	line[column(s, log(f->ratio))] = '*';
	for (int i = s->width; i > 0 && line[i - 1] == ' '; i--)
		line[i - 1] = '\0';
}

static void print_line(const struct scale *s, const struct tlat_compare_figure *f, FILE *out)
{
	char line[WIDTH_MAX + 1], base[TLAT_QUANTITY_TEXT], next[TLAT_QUANTITY_TEXT];

	draw(s, f, line);
	fprintf(out, "  %-8s %9s -> %9s %+8.2f%% %s\n", f->name, tlat_time_short(f->base, 4, base),
		tlat_time_short(f->next, 4, next), 100 * (f->ratio - 1), line);
}

void tlat_shift_plot(const struct tlat_comparison *c, size_t item, FILE *out)
{
	struct tlat_compare_figure f = { .size = sizeof(f) };
	int width = tlat_text_width(out) - LEFT_BYTES + 8;
	struct scale scale = { .width = width < 16 ? 16 : width > WIDTH_MAX ? WIDTH_MAX : width };

	if (!find_scale(c, item, &scale))
		return;
	fprintf(out,
		"\nratio along the distribution, %+.1f %% to %+.1f %%; *: new over base, "
		"-: band of all, |: no change\n",
		100 * expm1(scale.lo), 100 * expm1(scale.hi));
	for (size_t i = 0; tlat_comparison_figure(c, item, i, &f) == 0; i++)
		if (f.role == TLAT_COMPARE_SHIFT)
			print_line(&scale, &f, out);
}
