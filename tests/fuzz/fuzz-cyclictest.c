// SPDX-License-Identifier: MIT
/*
 * fuzz-cyclictest.c - any command line of tlat-cyclictest is taken, or refused with a complaint;
 * what is taken is within the limits that the rest of the program counts on, and means the same
 * again.
 */
#include "../../tools/cyclictest.h"
#include "words.h"

#include <errno.h>

#include <timerlat.h>

int tlat_cyc_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	words_complain(format, args);
	va_end(args);
	return TLAT_CYC_BAD;
}

static int parse(struct tlat_cyc_config *config, const struct words *typed)
{
	struct words words = *typed; /* getopt sorts */
	int r;

	words_begin();
	r = tlat_cyc_options(config, words.argc, words.argv);
	if (r == 0)
		tlat_cyc_choose_priority(config, (int32_t)config->threads);
	must(r == 0 || r == 1 || r == -EINVAL, "taken, help, or refused");
	must(r >= 0 || said, "what is refused has a reason");
	return r;
}

static void check_limits(const struct tlat_cyc_config *c)
{
	bool ranked = c->policy == TLAT_SCHED_FIFO || c->policy == TLAT_SCHED_RR;

	must(c->threads >= 0 && c->threads <= 8192, "threads");
	must(c->interval_us >= 10 && (c->distance_us >= 0 || !c->rows), "an interval");
	must(ranked == (c->priority > 0) && c->priority <= 99, "a priority and its policy");
	must(c->policy != TLAT_CYC_UNSET, "a policy");
	must(c->rows >= 0 && c->rows <= TLAT_CYC_ROWS_MAX, "rows of a histogram");
	must(c->loops >= 0 && c->duration_s >= 0, "a length");
	must(!(c->system && c->posix_timers), "one way of sleeping");
	must(!c->oscope || c->verbose, "-o reduces what -v prints");
	must(!c->json || *c->json, "a file has a name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct words words = { .argc = 1, .argv = { (char *)"tlat-cyclictest" } };
	struct tlat_cyc_config first, second;

	words_add_lines(&words, text);
	memset(&first, 0, sizeof(first));
	memset(&second, 0xff, sizeof(second));
	if (parse(&first, &words) == 0) {
		check_limits(&first);
		must(parse(&second, &words) == 0, "taken once, taken always");
		must(first.threads == second.threads && first.policy == second.policy &&
			     first.priority == second.priority && first.rows == second.rows &&
			     first.interval_us == second.interval_us &&
			     first.distance_us == second.distance_us,
		     "and means the same");
	}
	free(text);
	return 0;
}
