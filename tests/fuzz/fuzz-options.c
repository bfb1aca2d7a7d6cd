// SPDX-License-Identifier: MIT
/*
 * fuzz-options.c - any command line of tlat run is taken, or refused with one complaint; what is
 * taken has a command that repeats it, which is taken too and repeats itself.
 */
#include "../../tools/run_config.h"
#include "../../tools/tool.h"
#include "words.h"

#include <errno.h>

int tlat_complain(const char *command, const char *format, ...)
{
	va_list args;

	(void)command;
	va_start(args, format);
	words_complain(format, args);
	va_end(args);
	return TLAT_EXIT_NO_ANSWER;
}

static int parse(struct tlat_run_config *config, struct words *words)
{
	int r;

	words_begin();
	r = tlat_run_config(config, words->argc, words->argv);
	must(r == 0 || r == 1 || r == -EINVAL, "taken, help, or refused");
	must(said == (r < 0), "one complaint where it is refused, else none");
	return r;
}

/* As a shell reads what tlat_shell_quote() wrote. */
static void split(struct words *words, char *text)
{
	char *to = text, *word = text;
	bool quoted = false, more = true;

	for (char *from = text; more; from++) {
		more = *from;
		if (more && *from == '\'')
			quoted = !quoted;
		else if (*from == '\\' && !quoted)
			*to++ = *++from;
		else if (quoted && more)
			*to++ = *from;
		else if (!more || *from == ' ') {
			*to++ = '\0';
			words_add(words, word);
			word = to;
		} else {
			*to++ = *from;
		}
	}
}

/* What a glob matched and nothing of which can run here, is named again, and refused then. */
static bool any_runs(const struct tlat_selection *selection)
{
	for (size_t i = 0; i < selection->n; i++)
		if (selection->runs[i])
			return true;
	return false;
}

static void check_repeat(const struct tlat_run_config *config)
{
	char *text = tlat_run_config_repeat(config, NULL), *cut = strdup(text), *again;
	struct words words = { 0 };
	struct tlat_run_config repeated;

	split(&words, cut);
	if (words.argc < WORDS_MAX) {
		must(parse(&repeated, &words) == 0, "what repeats it is taken");
		again = tlat_run_config_repeat(&repeated, NULL);
		must(!strcmp(text, again), "and repeats itself");
		free(again);
		tlat_run_config_free(&repeated);
	}
	free(cut);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct words words = { .argc = 2, .argv = { (char *)"tlat", (char *)"run" } };
	struct tlat_run_config config;

	words_add_lines(&words, text);
	if (parse(&config, &words) == 0) {
		if (any_runs(&config.selection))
			check_repeat(&config);
		tlat_run_config_free(&config);
	}
	free(text);
	return 0;
}
