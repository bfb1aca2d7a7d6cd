// SPDX-License-Identifier: MIT
/* cmd_ab.c - "tlat ab": two sides in turn, then what "tlat compare" says of them. */
#include <errno.h>
#include <string.h>

#include "ab_run.h"
#include "compare_table.h"
#include "save.h"
#include "save_text.h"
#include "tool.h"
#include "writable.h"

static void print(const struct tlat_ab_session *s, const struct tlat_comparison *c)
{
	struct tlat_compare_item item = { .size = sizeof(item) };

	printf("A: %zu runs of: %s\nB: %zu runs of: %s\n", s->sides[0].n, s->config->command[0],
	       s->sides[1].n, s->config->command[1]);
	if (s->ended_early)
		puts("ended early, on a planned look");
	tlat_compare_print(c, stdout);
	if (tlat_comparison_item(c, 1, &item) < 0 && tlat_comparison_item(c, 0, &item) == 0 &&
	    item.n_base > 2 && item.n_next > 2)
		tlat_shift_plot(c, 0, stdout);
	putchar('\n');
	tlat_compare_print_verdict(c, stdout);
}

static int conclude(struct tlat_ab_session *s)
{
	const char *json = s->config->json;
	struct tlat_comparison *c;
	struct tlat_error error;
	int code;

	if (tlat_compare(&c, s->sides[0].v, s->sides[0].n, s->sides[1].v, s->sides[1].n,
			 &TLAT_COMPARE_OPTS(.threshold = s->config->threshold), &error) < 0)
		return tlat_complain("ab", "%s", error.text);
	code = tlat_compare_exit(tlat_comparison_verdict(c), false);
	if (!json || strcmp(json, "-"))
		print(s, c);
	if (json && tlat_save_comparison(json, c, &error) < 0)
		code = tlat_complain("ab", "%s", error.text);
	tlat_comparison_free(c);
	return code;
}

/* Of the other side there may be nothing yet. */
static int added(const struct tlat_ab_session *s)
{
	printf("%zu run%s of side %s added to %s; of side %s there is none yet\n", s->made,
	       s->made == 1 ? "" : "s", s->config->side, s->config->state,
	       s->config->only ? "A" : "B");
	return TLAT_EXIT_FINE;
}

/* What a signal left is compared as far as it goes; the state has it for later. */
static int stopped(struct tlat_ab_session *s)
{
	if (s->config->state)
		tlat_complain("ab", "ended by a signal; the same command goes on with %s",
			      s->config->state);
	else
		tlat_complain("ab", "ended by a signal; with --state FILE it could go on later");
	return tlat_ab_complete(s) ? conclude(s) : TLAT_EXIT_NO_ANSWER;
}

/* A file that is there would pass for the comparison of the runs that are made now. */
static int check_other_side(const struct tlat_ab_session *s, struct tlat_error *reterr)
{
	const struct tlat_ab_config *c = s->config;

	if (!c->json || c->only < 0 || s->sides[!c->only].n)
		return 0;
	return tlat_tool_fail(
		reterr, -ENODATA,
		"--json %.200s: nothing to write, as %.200s has no run of side %s yet; "
		"leave --json out, tlat compare can write it later",
		c->json, c->state, c->only ? "A" : "B");
}

/* Whether all that will be written can be, before hours are measured for it. */
static int check_files(const struct tlat_ab_session *s, struct tlat_error *reterr)
{
	const struct tlat_ab_config *c = s->config;
	struct tlat_save save;
	int r;

	tlat_save_init(&save, c->json, false, TLAT_UNSET);
	r = tlat_save_check(&save, reterr);
	if (!r)
		r = check_other_side(s, reterr);
	if (r < 0 || !c->state)
		return r;
	r = tlat_writable(c->state, false);
	return r < 0 ? tlat_tool_fail(reterr, r,
				      "--state %.300s: cannot be written: %s; name a file in a "
				      "directory of yours",
				      c->state, strerror(-r))
		     : 0;
}

static int run(struct tlat_ab_session *s)
{
	struct tlat_error error;
	int r = tlat_ab_resume(s, &error);

	if (!r)
		r = check_files(s, &error);
	if (!r)
		r = tlat_ab_measure(s, &error);
	if (r == -ECANCELED)
		return stopped(s);
	if (r < 0)
		return tlat_complain("ab", "%s", error.text);
	return s->sides[0].n && s->sides[1].n ? conclude(s) : added(s);
}

int tlat_cmd_ab(int argc, char **argv)
{
	struct tlat_ab_config config;
	struct tlat_ab_session session = { .config = &config };
	int code, r = tlat_ab_config(&config, false, argc, argv);

	if (r)
		return r < 0 ? TLAT_EXIT_NO_ANSWER : TLAT_EXIT_FINE;
	code = run(&session);
	tlat_ab_free(&session);
	tlat_ab_config_free(&config);
	return code;
}
