// SPDX-License-Identifier: MIT
/*
 * calib.c - what stamps say about the clock that made them: its rate with a
 * guaranteed bound, the step in which it advances, the cost of reading it, the
 * offset between two CPUs' copies of it, and whether it ever runs backwards.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "calib.h"

#define NSEC_PER_SEC 1e9

/* Width of a bracket, or UINT64_MAX when the counter went backwards in it. */
static uint64_t width_ticks(const struct tlat_bracket *bracket)
{
	if (bracket->after_ticks < bracket->before_ticks)
		return UINT64_MAX;
	return bracket->after_ticks - bracket->before_ticks;
}

const struct tlat_bracket *tlat_calib_tightest(const struct tlat_bracket *brackets, size_t n)
{
	const struct tlat_bracket *best = brackets;

	for (size_t i = 1; i < n; i++)
		if (width_ticks(&brackets[i]) < width_ticks(best))
			best = &brackets[i];
	return best;
}

/*
 * When the reference was read, the counter stood somewhere from before to one
 * quantum past after: half a bracket per anchor and one quantum in all. (Where
 * reads take less than a step, brackets are often 0 wide and only the quantum
 * remains.) To this come the fraction of a nanosecond that the reference cuts
 * off, and the rounding of hz to an integer, which matters at 1 MHz.
 */
int tlat_calib_rate(const struct tlat_bracket *first, const struct tlat_bracket *last,
		    double quantum_ticks, struct tlat_calib_rate *ret_rate)
{
	uint64_t w1 = width_ticks(first), w2 = width_ticks(last);
	double span_ns, moved_ticks, hz, error_ticks;

	if (w1 == UINT64_MAX || w2 == UINT64_MAX || last->ref_ns <= first->ref_ns ||
	    last->before_ticks <= first->before_ticks)
		return -ENODATA;
	span_ns = (double)(last->ref_ns - first->ref_ns);
	moved_ticks =
		(double)(last->before_ticks - first->before_ticks) + ((double)w2 - (double)w1) / 2;
	hz = moved_ticks / span_ns * NSEC_PER_SEC;
	if (hz < 1)
		return -ENODATA;
	error_ticks = ((double)w1 + (double)w2) / 2 + quantum_ticks + hz / NSEC_PER_SEC;
	*ret_rate = (struct tlat_calib_rate){
		.hz = (uint64_t)llround(hz),
		.error_ppb = (int64_t)ceil((error_ticks / moved_ticks + 0.5 / hz) * 1e9),
		.width_ns = { (double)w1 / hz * NSEC_PER_SEC, (double)w2 / hz * NSEC_PER_SEC },
		.span_ns = span_ns,
	};
	return 0;
}

/*
 * Quantum. The smallest difference of two stamps says nothing: a counter that
 * steps by 26 ticks may answer a second read within a step with 1 tick more, to
 * stay monotonic. Stamps of a clock with step d all have one phase when wound
 * around a circle of circumference d: Rayleigh's R(d) = |mean exp(2 pi i v/d)|
 * is 1 there and near 0 elsewhere. The step is the largest such d, that is the
 * lowest frequency 1/d with a peak; it need not be an integer (the nanoseconds
 * of a 14.318 MHz timer are 69.84 apart).
 *
 * A peak over stamps that span S is 1/S wide. So the whole range of frequencies
 * is scanned on a short window of stamps, and a peak found there is tracked
 * through windows of twice the length each, up to all stamps.
 */
#define POINTS		    128 /* stamps that one R is taken over while searching */
#define SCAN_SPAN_MIN_TICKS 16384
#define SCAN_SPAN_MAX_TICKS 65536
#define SCAN_R		    0.8 /* a peak between two steps of the scan keeps 0.97 */
#define ACCEPT_R	    0.9
#define TRACK_GROWTH_MAX    1024 /* a longer gap between two windows ends the tracking */

struct window {
	const uint64_t *v;
	size_t n;
};

static int64_t difference(uint64_t later, uint64_t earlier)
{
	return (int64_t)(later - earlier);
}

static double span_ticks(struct window w)
{
	return (double)difference(w.v[w.n - 1], w.v[0]);
}

/* The stretch of len stamps in which the thread was disturbed least. */
static struct window densest(struct window all, size_t len)
{
	struct window best = { all.v, len };

	for (size_t i = len; i + len <= all.n; i += len) {
		struct window w = { all.v + i, len };

		if (span_ticks(best) <= 0 ||
		    (span_ticks(w) > 0 && span_ticks(w) < span_ticks(best)))
			best = w;
	}
	return best;
}

static struct window scan_window(struct window all)
{
	struct window w = densest(all, all.n < POINTS ? all.n : POINTS);

	while (span_ticks(w) < SCAN_SPAN_MIN_TICKS && w.n * 2 <= all.n)
		w = densest(all, w.n * 2);
	while (span_ticks(w) > SCAN_SPAN_MAX_TICKS && w.n > POINTS / 2)
		w.n /= 2;
	return w;
}

/* Up to POINTS stamps spread over the window, relative to its middle. */
static size_t pick_points(struct window w, double *x)
{
	size_t n = w.n < POINTS ? w.n : POINTS;

	for (size_t k = 0; k < n; k++)
		x[k] = (double)difference(w.v[k * w.n / n], w.v[0]) - span_ticks(w) / 2;
	return n;
}

static double concentration(const double *x, size_t n, double per_tick)
{
	double re = 0, im = 0;

	for (size_t k = 0; k < n; k++) {
		re += cos(2 * M_PI * per_tick * x[k]);
		im += sin(2 * M_PI * per_tick * x[k]);
	}
	return hypot(re, im) / (double)n;
}

/* The frequency with the highest R among those from lo to hi, step apart. */
static double climb(const double *x, size_t n, double lo, double hi, double step)
{
	double best = lo, best_r = -1;

	for (double f = lo; f <= hi; f += step) {
		double r = concentration(x, n, f);

		if (r > best_r) {
			best_r = r;
			best = f;
		}
	}
	return best;
}

static struct window longer(struct window all, struct window w)
{
	size_t n = w.n * 2 < all.n ? w.n * 2 : all.n;
	size_t first = (size_t)(w.v - all.v);

	if (first > all.n - n)
		first = all.n - n;
	return (struct window){ all.v + first, n };
}

/* Track a peak of window *w up to all stamps, or to a gap too long to count turns across. */
static double track(struct window all, struct window *w, double f)
{
	double x[POINTS], span = span_ticks(*w);
	size_t n = pick_points(*w, x);

	f = climb(x, n, f - 0.5 / span, f + 0.5 / span, 1 / (16 * span));
	while (w->n < all.n) {
		struct window next = longer(all, *w);
		double next_span = span_ticks(next);

		if (next_span > TRACK_GROWTH_MAX * span)
			break;
		n = pick_points(next, x);
		f = climb(x, n, f - 1 / (8 * span), f + 1 / (8 * span), 1 / (16 * next_span));
		*w = next;
		span = next_span;
	}
	return f;
}

/* R over every stamp of the window, and the share of them that sit on the grid. */
static struct tlat_calib_quantum judge(struct window w, double d)
{
	double re = 0, im = 0, phase, near = fmax(1 / d, 0.05);
	size_t on_grid = 0;

	for (size_t k = 0; k < w.n; k++) {
		double turn = 2 * M_PI * fmod((double)difference(w.v[k], w.v[0]), d) / d;

		re += cos(turn);
		im += sin(turn);
	}
	phase = atan2(im, re) / (2 * M_PI);
	for (size_t k = 0; k < w.n; k++) {
		double off = (double)difference(w.v[k], w.v[0]) / d - phase;

		on_grid += fabs(off - round(off)) <= near;
	}
	return (struct tlat_calib_quantum){
		.ticks = d,
		.concentration = hypot(re, im) / (double)w.n,
		.share = (double)on_grid / (double)w.n,
	};
}

/* A peak near f as a step; an integer if that fits as well as what was measured. */
static struct tlat_calib_quantum settle(struct window all, struct window w, double f)
{
	struct tlat_calib_quantum exact, whole;
	double d = 1 / track(all, &w, f);

	exact = judge(w, d);
	whole = judge(w, round(d));
	return whole.concentration >= exact.concentration - 0.005 ? whole : exact;
}

/* Every phasor of the scan turns by a constant angle per step: no sine in the loop. */
struct phasors {
	double re[POINTS], im[POINTS], turn_re[POINTS], turn_im[POINTS];
	size_t n;
};

static void phasors_start(struct phasors *p, struct window w, double f, double step)
{
	double x[POINTS];

	p->n = pick_points(w, x);
	for (size_t k = 0; k < p->n; k++) {
		p->re[k] = cos(2 * M_PI * f * x[k]);
		p->im[k] = sin(2 * M_PI * f * x[k]);
		p->turn_re[k] = cos(2 * M_PI * step * x[k]);
		p->turn_im[k] = sin(2 * M_PI * step * x[k]);
	}
}

/* R at the present frequency; then on to the next. */
static double phasors_next(struct phasors *p)
{
	double sum_re = 0, sum_im = 0;

	for (size_t k = 0; k < p->n; k++) {
		double re = p->re[k], im = p->im[k];

		sum_re += re;
		sum_im += im;
		p->re[k] = re * p->turn_re[k] - im * p->turn_im[k];
		p->im[k] = re * p->turn_im[k] + im * p->turn_re[k];
	}
	return hypot(sum_re, sum_im) / (double)p->n;
}

static size_t count_moves(struct window w, int64_t *ret_largest_ticks)
{
	size_t moves = 0;

	*ret_largest_ticks = 0;
	for (size_t i = 1; i < w.n; i++) {
		int64_t step_ticks = difference(w.v[i], w.v[i - 1]);

		moves += step_ticks > 0;
		if (step_ticks > *ret_largest_ticks)
			*ret_largest_ticks = step_ticks;
	}
	return moves;
}

/* The largest step that all stamps agree on, by a scan of window w; false: none above a tick. */
static bool find_step(struct window all, struct window w, struct tlat_calib_quantum *ret_quantum)
{
	double step = 1 / (4 * span_ticks(w));
	/* Below two turns in the window every set of stamps looks concentrated. */
	double f = 8 * step;
	struct phasors p;

	phasors_start(&p, w, f, step);
	for (; f <= 0.5 + step; f += step) {
		if (phasors_next(&p) < SCAN_R)
			continue;
		*ret_quantum = settle(all, w, f);
		if (ret_quantum->concentration >= ACCEPT_R)
			return true;
	}
	return false;
}

void tlat_calib_quantum(const uint64_t *stamps_ticks, size_t n,
			struct tlat_calib_quantum *ret_quantum)
{
	struct window all = { stamps_ticks, n }, w;
	int64_t largest_ticks;

	if (count_moves(all, &largest_ticks) < 16) {
		*ret_quantum = (struct tlat_calib_quantum){ .ticks = (double)largest_ticks };
		return;
	}
	w = scan_window(all);
	if (span_ticks(w) <= 0 || !find_step(all, w, ret_quantum))
		*ret_quantum = (struct tlat_calib_quantum){ 1, 1, 1 };
}

static int by_ticks(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double ranked(const uint64_t *sorted, size_t n, double p)
{
	size_t rank = (size_t)ceil(p * (double)n);

	return (double)sorted[rank ? rank - 1 : 0];
}

void tlat_calib_cost(uint64_t *costs_ticks, size_t n, struct tlat_calib_cost *ret_cost)
{
	double sum = 0;

	qsort(costs_ticks, n, sizeof(*costs_ticks), by_ticks);
	for (size_t i = 0; i < n; i++)
		sum += (double)costs_ticks[i];
	*ret_cost = (struct tlat_calib_cost){
		.min_ticks = (double)costs_ticks[0],
		.median_ticks = ranked(costs_ticks, n, 0.5),
		.p99_ticks = ranked(costs_ticks, n, 0.99),
		.mean_ticks = sum / (double)n,
	};
}

/*
 * The answer was stamped after the question and before it was heard, whatever
 * the paths took: on the asker's counter that instant lies in [asked, heard].
 */
void tlat_calib_offset_add(struct tlat_calib_offset *offset, const struct tlat_exchange *exchange,
			   bool b_asked)
{
	struct tlat_calib_offset one = {
		.lo_ticks = difference(exchange->answered_ticks, exchange->heard_ticks),
		.hi_ticks = difference(exchange->answered_ticks, exchange->asked_ticks),
		.rtt_min_ticks = difference(exchange->heard_ticks, exchange->asked_ticks),
	};

	if (b_asked)
		one = tlat_calib_offset_mirror(&one);
	tlat_calib_offset_intersect(offset, &one);
}

void tlat_calib_offset_intersect(struct tlat_calib_offset *offset,
				 const struct tlat_calib_offset *other)
{
	if (other->lo_ticks > offset->lo_ticks)
		offset->lo_ticks = other->lo_ticks;
	if (other->hi_ticks < offset->hi_ticks)
		offset->hi_ticks = other->hi_ticks;
	if (other->rtt_min_ticks < offset->rtt_min_ticks)
		offset->rtt_min_ticks = other->rtt_min_ticks;
}

struct tlat_calib_offset tlat_calib_offset_mirror(const struct tlat_calib_offset *offset)
{
	return (struct tlat_calib_offset){
		.lo_ticks = -offset->hi_ticks,
		.hi_ticks = -offset->lo_ticks,
		.rtt_min_ticks = offset->rtt_min_ticks,
	};
}

struct tlat_calib_offset tlat_calib_offset_widen(const struct tlat_calib_offset *offset,
						 double quantum_ticks)
{
	int64_t step_ticks = (int64_t)ceil(quantum_ticks);

	return (struct tlat_calib_offset){
		.lo_ticks = offset->lo_ticks - step_ticks,
		.hi_ticks = offset->hi_ticks + step_ticks,
		.rtt_min_ticks = offset->rtt_min_ticks,
	};
}

static int by_seq(const void *a, const void *b)
{
	const struct tlat_order_entry *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

size_t tlat_calib_order(struct tlat_order_entry *entries, size_t n)
{
	size_t violations = 0;

	qsort(entries, n, sizeof(*entries), by_seq);
	for (size_t i = 1; i < n; i++)
		violations += entries[i].ticks < entries[i - 1].ticks;
	return violations;
}
