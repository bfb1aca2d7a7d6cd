// SPDX-License-Identifier: MIT
/*
 * cyclictest.c - tlat-cyclictest: the order of things, what is said on standard error about the
 * figures, and the exit code.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cyclictest_run.h"
#include "cyclictest_text.h"
#include "rights.h"
#include "save_text.h"
#include "stop.h"
#include "streams.h"
#include "text.h"

int tlat_cyc_say(const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	fputs(TLAT_CYC_NAME ": ", stderr);
	tlat_text_put(length < 0 ? "out of memory" : text, stderr);
	fputc('\n', stderr);
	if (length >= 0)
		free(text);
	return TLAT_CYC_BAD;
}

/* == What a reader of the figures should know == */

static void say_losses(const struct tlat_cyc_stats *stats)
{
	uint64_t missed = 0, early = 0, lost = 0;

	for (int32_t i = 0; i < stats->n; i++) {
		missed += stats->threads[i].missed;
		early += stats->threads[i].early;
		lost += stats->threads[i].lost;
	}
	if (missed)
		tlat_cyc_say("missed: %" PRIu64 " expiries passed while an earlier one was late; "
			     "they have no value of their own",
			     missed);
	if (early)
		tlat_cyc_say("early: %" PRIu64 " values are below 0; was the clock set?", early);
	if (lost)
		tlat_cyc_say("lost: %" PRIu64 " values came faster than they could be taken: they "
			     "are in the extremes only; use a longer interval",
			     lost);
}

/* Findings of at least that severity, each once. Returns whether there was one. */
static bool say_finding(const struct tlat_finding *finding, int least)
{
	if (finding->severity < least)
		return false;
	tlat_cyc_say("%s: %s%s%s", finding->id, finding->text, finding->remedy ? "; " : "",
		     finding->remedy ? finding->remedy : "");
	return true;
}

static bool is_said_before(const struct tlat_report *report, size_t result,
			   const struct tlat_finding *finding)
{
	struct tlat_finding other;

	for (size_t i = 0; i < result; i++)
		for (size_t k = 0;
		     tlat_result_finding(tlat_report_result(report, i), k, &other) == 0; k++)
			if (!strcmp(other.id, finding->id) && !strcmp(other.text, finding->text))
				return true;
	return false;
}

static bool say_findings(const struct tlat_report *report, int least)
{
	struct tlat_finding finding;
	const struct tlat_result *result;
	bool said = false;

	for (size_t i = 0; tlat_report_finding(report, i, &finding) == 0; i++)
		said |= say_finding(&finding, least);
	for (size_t i = 0; (result = tlat_report_result(report, i)); i++)
		for (size_t k = 0; tlat_result_finding(result, k, &finding) == 0; k++)
			if (!is_said_before(report, i, &finding))
				said |= say_finding(&finding, least);
	return said;
}

static bool is_any_unsupported(const struct tlat_report *report)
{
	struct tlat_finding finding;
	const struct tlat_result *result;

	for (size_t i = 0; (result = tlat_report_result(report, i)); i++)
		for (size_t k = 0; tlat_result_finding(result, k, &finding) == 0; k++)
			if (!strcmp(finding.id, "unsupported"))
				return true;
	return false;
}

/* Without --strict the exit code says whether there was a measurement, as it always did. */
static int judge(const struct tlat_cyc_session *s)
{
	bool strict = s->config->strict;
	bool bad = say_findings(s->report, strict ? TLAT_WARN : TLAT_ERROR);

	say_losses(&s->stats);
	if (!strcmp(tlat_report_end(s->report), "error") || is_any_unsupported(s->report))
		return TLAT_CYC_BAD;
	if (!strict)
		return TLAT_CYC_FINE;
	for (int32_t i = 0; i < s->stats.n; i++)
		bad |= !s->stats.threads[i].cycles || s->stats.threads[i].lost;
	return bad || s->broke >= 0 ? TLAT_CYC_BAD : TLAT_CYC_FINE;
}

/* == Output == */

/* What is made by put() as a whole; NULL: to standard output. */
static int write_file(struct tlat_cyc_session *s, const char *option, const char *path,
		      void (*put)(struct tlat_cyc_session *s, FILE *out))
{
	struct tlat_error error;
	char *text = NULL;
	size_t size;
	FILE *out = path ? open_memstream(&text, &size) : stdout;
	bool whole;

	if (!out)
		return tlat_cyc_say("%s %s: not written: out of memory", option, path);
	put(s, out);
	if (!path)
		return TLAT_CYC_FINE; /* looked at in the end */
	whole = !ferror(out);
	if (fclose(out) || !whole || !size) {
		free(text);
		return tlat_cyc_say("%s %s: not written: out of memory", option, path);
	}
	text[size - 1] = '\0'; /* its last line is ended again */
	return tlat_save_text(path, text, &error) < 0 ? tlat_cyc_say("%s %s", option, error.text)
						      : TLAT_CYC_FINE;
}

static void put_histogram(struct tlat_cyc_session *s, FILE *out)
{
	tlat_cyc_put_histogram(&s->stats, tlat_cyc_smi_look(&s->smi), out);
}

static void put_json(struct tlat_cyc_session *s, FILE *out)
{
	tlat_cyc_write_json(s->document, out);
}

static int write_json(struct tlat_cyc_session *s)
{
	const char *path = s->config->json;

	if (!path)
		return TLAT_CYC_FINE;
	return write_file(s, "--json", strcmp(path, "-") ? path : NULL, put_json);
}

static int write_histogram(struct tlat_cyc_session *s)
{
	return write_file(s, "--histfile", s->config->histfile, put_histogram);
}

static int write_text(struct tlat_cyc_session *s)
{
	int code = TLAT_CYC_FINE;

	if (s->config->quiet && !s->config->rows)
		tlat_cyc_put_threads(&s->stats, tlat_cyc_smi_look(&s->smi), stdout);
	tlat_cyc_put_spikes(&s->stats);
	if (s->config->rows)
		code = write_histogram(s);
	if (s->config->break_above > 0)
		tlat_cyc_put_break(&s->stats, s->broke,
				   tlat_cyc_value(s->config, s->broke_at.value_ns));
	return code;
}

/* The command as a shell takes it; NULL: memory is short. */
static char *command_of(int argc, char **argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < argc; i++) {
		if (i)
			fputc(' ', out);
		tlat_shell_quote(argv[i], out);
	}
	fclose(out);
	return text;
}

static int write_report(struct tlat_cyc_session *s, int argc, char **argv)
{
	const char *path = s->config->tlat_json;
	struct tlat_error error;
	char *command;
	int r;

	if (!path)
		return TLAT_CYC_FINE;
	command = command_of(argc, argv);
	tlat_report_set_origin(s->report, argc, argv, command);
	free(command);
	r = tlat_report_write(s->report, path, 0, &error);
	return r < 0 ? tlat_cyc_say("--tlat-json: %s", error.text) : TLAT_CYC_FINE;
}

static int check_stdout(int code)
{
	int r = tlat_streams_end();

	return r < 0 ? tlat_cyc_say("standard output: %s; give it room, or write elsewhere",
				    strerror(-r))
		     : code;
}

static int run(struct tlat_cyc_session *s, int argc, char **argv)
{
	struct tlat_cyc_document document = { .config = s->config,
					      .stats = &s->stats,
					      .argc = argc,
					      .argv = argv,
					      .start_s = time(NULL) };
	int code;

	if (tlat_cyc_measure(s) < 0)
		return TLAT_CYC_BAD;
	tlat_stop_finish();
	document.end_s = time(NULL);
	document.machine = s->machine;
	document.code = code = judge(s);
	s->document = &document;
	code |= write_json(s);
	code |= write_text(s);
	code |= write_report(s, argc, argv);
	s->document = NULL;
	return code;
}

int main(int argc, char **argv)
{
	struct tlat_cyc_config config;
	struct tlat_cyc_session session;
	char **as_typed = malloc(((size_t)argc + 1) * sizeof(*as_typed));
	int code, r;

	tlat_streams_occupy();
	if (!as_typed)
		return tlat_cyc_say("out of memory");
	memcpy(as_typed, argv, ((size_t)argc + 1) * sizeof(*as_typed)); /* getopt sorts its own */
	signal(SIGPIPE, SIG_IGN); /* a reader that went away must not cost the files */
	signal(SIGXFSZ, SIG_IGN); /* a file that gets too large is an error like a full disk */
	r = tlat_cyc_options(&config, argc, argv);
	if (r) {
		free(as_typed);
		return r < 0 ? TLAT_CYC_BAD : check_stdout(TLAT_CYC_FINE);
	}
	if (config.unbuffered)
		setvbuf(stdout, NULL, _IONBF, 0);
	r = tlat_cyc_session_open(&session, &config);
	code = r < 0 ? TLAT_CYC_BAD : run(&session, argc, as_typed);
	tlat_cyc_session_close(&session);
	free(as_typed);
	code = check_stdout(code);
	tlat_rights_tell_limit();
	return code;
}
