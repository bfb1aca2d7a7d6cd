// SPDX-License-Identifier: MIT
/* ab_config.c - what the two sides are: commands, options of one tlat run, or what is set before.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ab_config.h"
#include "text.h"
#include "tool.h"
#include "writable.h"

#define FIELD(name) offsetof(struct tlat_ab_config, name)
#define TEXT(name, arg, help, field)                                                               \
	{                                                                                          \
		name, arg, help, &tlat_option_text, FIELD(field), 0, 0, 0, false                   \
	}

/* What both commands have. */
#define SIDES                                                                                      \
	TEXT("a", "CMD", "side A, by sh -c; tlat run in it heeds TLAT_JSON", a),                   \
		TEXT("b", "CMD", "side B", b),                                                     \
		TEXT("opt", "OPTS", "options of tlat run PROBE... on both sides", opt),            \
		TEXT("a-opt", "OPTS", "further ones on side A, such as '--slack default'", a_opt), \
		TEXT("b-opt", "OPTS", "on side B", b_opt),                                         \
		TEXT("a-setup", "CMD", "run before each run of A, such as a sysctl", a_setup),     \
		TEXT("b-setup", "CMD", "before each run of B", b_setup),                           \
		TEXT("metric", "REGEX", "take the number that it finds in the command's output",   \
		     metric),                                                                      \
		TEXT("unit", "UNIT", "unit of that number", unit),                                 \
		TEXT("better", "WHICH", "lower (default) or higher numbers", better),              \
	{                                                                                          \
		"quiet", NULL, "no progress display", &tlat_option_flag, FIELD(quiet), 0, 0, 'q',  \
			false                                                                      \
	}

static const struct tlat_option ab_options[] = {
	SIDES,
	{ "pairs", "N", "pairs of runs (20)", &tlat_option_count, FIELD(pairs), 1, 100000, 0,
	  false },
	{ "early", NULL, "look at 1/2 and 3/4, and stop on a REGRESSION", &tlat_option_flag,
	  FIELD(early), 0, 0, 0, false },
	TEXT("state", "FILE", "keep reports there; they are not made again", state),
	TEXT("side", "A|B", "this side alone, in this boot, added to --state", side),
	{ "runs", "N", "with --side: runs in this boot (1)", &tlat_option_count, FIELD(runs), 1,
	  100000, 0, false },
	{ "threshold", "SHARE", "smallest shift of the median that matters (0.5%)",
	  &tlat_option_ratio, FIELD(threshold), 0, 0, 0, false },
	{ "seed", "N", "of the order (chosen, and kept in --state)", &tlat_option_count,
	  FIELD(seed), 1, 0, 0, false },
	TEXT("json", "FILE", "write the comparison; -: to stdout, alone", json),
};

static const struct tlat_option plan_options[] = {
	SIDES,
	{ "mde", "SHARE", "the shift that is to be found (1%)", &tlat_option_ratio, FIELD(mde), 0,
	  0, 0, false },
	{ "pairs", "N", "pairs of the pilot (6)", &tlat_option_count, FIELD(pairs), 3, 1000, 0,
	  false },
};

static const struct tlat_command ab_command = {
	.name = "ab",
	.operands = "[PROBE...]",
	.summary = "Measure two sides in turn, in pairs ABBA or BAAB by chance, and compare them.",
	.notes = "Exit: as tlat compare. Without --state nothing is left behind.",
	.options = ab_options,
	.n_options = TLAT_ARRAY_SIZE(ab_options),
	.max_operands = -1,
};

static const struct tlat_command plan_command = {
	.name = "plan",
	.operands = "[PROBE...]",
	.summary = "A few pairs, and from their noise how many it takes, and how long that is.",
	.options = plan_options,
	.n_options = TLAT_ARRAY_SIZE(plan_options),
	.max_operands = -1,
};

#define REFUSE(command, ...) (tlat_complain((command)->name, __VA_ARGS__), -EINVAL)

/* This very program runs both sides, whatever PATH says. */
static void put_self(FILE *out)
{
	char path[PATH_MAX] = "tlat";
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n > 0)
		path[n] = '\0';
	tlat_shell_quote(path, out);
}

static char *run_command(const struct tlat_ab_config *c, const char *own, char *const *probes,
			 size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_self(out);
	fputs(" run -q", out);
	for (size_t i = 0; i < n; i++) {
		fputc(' ', out);
		tlat_shell_quote(probes[i], out);
	}
	fprintf(out, "%s%s%s%s", c->opt ? " " : "", c->opt ? c->opt : "", own ? " " : "",
		own ? own : "");
	fclose(out);
	return text;
}

static int make_commands(const struct tlat_command *command, struct tlat_ab_config *c,
			 char *const *probes, size_t n)
{
	const char *given[] = { c->a, c->b ? c->b : c->a }, *own[] = { c->a_opt, c->b_opt };
	bool options = c->opt || c->a_opt || c->b_opt || n;

	if ((c->a || c->b) && options)
		return REFUSE(command, "--a and --b are whole commands; leave out %s",
			      n ? "the probes" : "--opt, --a-opt and --b-opt");
	if (!c->a && !c->b && !n)
		return REFUSE(command, "nothing to run; name a probe, or give --a CMD and --b CMD");
	if (c->b && !c->a && c->only != 1)
		return REFUSE(command, "--b without --a; give the command of side A as well");
	for (int side = 0; side < 2; side++) {
		if (given[side])
			c->command[side] = strdup(given[side]);
		else
			c->command[side] = run_command(c, own[side], probes, n);
		if (!c->command[side])
			return REFUSE(command, "out of memory");
	}
	c->setup[0] = c->a_setup;
	c->setup[1] = c->b_setup;
	return 0;
}

static int check_metric(const struct tlat_command *command, struct tlat_ab_config *c)
{
	char why[120];
	int r;

	if (!c->metric && (c->unit || c->better))
		return REFUSE(command, "--%s is for --metric; leave it out, or give one",
			      c->unit ? "unit" : "better");
	c->higher = -1;
	if (c->better && !strcmp(c->better, "higher"))
		c->higher = 1;
	else if (c->better && strcmp(c->better, "lower"))
		return REFUSE(command, "--better '%s': write lower or higher", c->better);
	if (c->unit && strlen(c->unit) > 15)
		return REFUSE(command, "--unit '%s': longer than 15 characters", c->unit);
	if (!c->metric)
		return 0;
	if (!c->a && !c->b)
		return REFUSE(command,
			      "--metric reads the output of --a CMD and --b CMD; give them");
	r = regcomp(&c->regex, c->metric, REG_EXTENDED | REG_NEWLINE);
	if (!r)
		return 0;
	regerror(r, &c->regex, why, sizeof(why));
	r = REFUSE(command, "--metric '%s': %s; see regex(7)", c->metric, why);
	c->metric = NULL; /* there is nothing to free */
	return r;
}

/* Runs are to be there again when the next process looks for them. */
static int check_state(const struct tlat_command *command, const struct tlat_ab_config *c)
{
	if (!c->state)
		return 0;
	if (!*c->state || !strcmp(c->state, "-"))
		return REFUSE(command, "--state '%s': keeps nothing; name a file", c->state);
	if (c->json && strcmp(c->json, "-") && tlat_writable_same(c->state, c->json))
		return REFUSE(command,
			      "--json %s and --state %s are one file, and the comparison would "
			      "replace the runs; name two",
			      c->json, c->state);
	return 0;
}

static int check_side(const struct tlat_command *command, struct tlat_ab_config *c)
{
	c->only = -1;
	if (c->side && strcmp(c->side, "A") && strcmp(c->side, "B"))
		return REFUSE(command, "--side '%s': write A or B", c->side);
	if (c->side && !c->state)
		return REFUSE(command, "--side needs --state FILE to add its runs to");
	if (c->side && c->early)
		return REFUSE(command, "--early is for both sides in turn; leave it or --side out");
	if (c->runs != TLAT_UNSET && !c->side)
		return REFUSE(command, "--runs is for --side; use --pairs");
	if (c->side && c->pairs != TLAT_UNSET)
		return REFUSE(command, "--pairs is for both sides in turn; use --runs");
	if (c->side)
		c->only = *c->side == 'B';
	return 0;
}

int tlat_ab_config(struct tlat_ab_config *c, bool plan, int argc, char **argv)
{
	const struct tlat_command *command = plan ? &plan_command : &ab_command;
	int first, r;

	*c = (struct tlat_ab_config){ .pairs = TLAT_UNSET, .runs = TLAT_UNSET, .seed = TLAT_UNSET };
	r = tlat_options_parse(command, argc, argv, c, &first);
	if (r)
		return r;
	r = check_side(command, c);
	if (!r)
		r = check_state(command, c);
	if (!r)
		r = make_commands(command, c, argv + first, (size_t)(argc - first));
	if (!r)
		r = check_metric(command, c);
	else
		c->metric = NULL;
	if (r < 0) {
		tlat_ab_config_free(c);
		return r;
	}
	c->pairs = c->pairs == TLAT_UNSET ? plan ? 6 : 20 : c->pairs;
	c->runs = c->runs == TLAT_UNSET ? 1 : c->runs;
	c->mde = c->mde > 0 ? c->mde : 0.01;
	return 0;
}

void tlat_ab_config_free(struct tlat_ab_config *config)
{
	if (config->metric)
		regfree(&config->regex);
	free(config->command[0]);
	free(config->command[1]);
}
