// SPDX-License-Identifier: MIT
/*
 * cyclictest_json.c - the results file of rt-tests, key for key: readers refuse keys they do not
 * know, and the colon inside two of them is theirs. Text is escaped, and what was not measured is
 * null.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "cyclictest_text.h"

/* Bytes of the UTF-8 character that text begins with; 0: it begins with none. */
static size_t utf8_length(const char *text)
{
	unsigned char first = (unsigned char)*text;
	size_t n = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if ((first >= 0x80 && first < 0xc2) || first > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((first == 0xe0 && (unsigned char)text[1] < 0xa0) ||
	    (first == 0xed && (unsigned char)text[1] >= 0xa0) ||
	    (first == 0xf0 && (unsigned char)text[1] < 0x90) ||
	    (first == 0xf4 && (unsigned char)text[1] >= 0x90))
		return 0;
	return n;
}

/* The inside of a string; a byte that is no text becomes U+FFFD. */
static void put_text(const char *text, FILE *out)
{
	while (*text) {
		size_t n = utf8_length(text);

		if (n == 1 && (*text == '"' || *text == '\\'))
			fprintf(out, "\\%c", *text);
		else if (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))
			fprintf(out, "\\u%04x", (unsigned int)*text);
		else if (n)
			fwrite(text, 1, n, out);
		else
			fputs("\\ufffd", out);
		text += n ? n : 1;
	}
}

static void put_string(const char *indent, const char *key, const char *text, FILE *out)
{
	fprintf(out, "%s\"%s\": \"", indent, key);
	put_text(text, out);
	fputs("\",\n", out);
}

static void put_command(int argc, char **argv, FILE *out)
{
	fputs("  \"cmdline:\": \"", out);
	for (int i = 0; i < argc; i++) {
		if (i)
			fputc(' ', out);
		put_text(argv[i], out);
	}
	fputs("\",\n", out);
}

static void put_time(const char *key, int64_t seconds, FILE *out)
{
	time_t when = (time_t)seconds;
	struct tm local;
	char text[64];

	localtime_r(&when, &local);
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S %z", &local);
	put_string("  ", key, text, out);
}

/* 1 on PREEMPT_RT. */
static int is_realtime(void)
{
	FILE *in = fopen("/sys/kernel/realtime", "re");
	int c = in ? fgetc(in) : '0';

	if (in)
		fclose(in);
	return c == '1';
}

static void put_system(FILE *out)
{
	struct utsname name = { .sysname = "" };

	uname(&name);
	fputs("  \"sysinfo\": {\n", out);
	put_string("    ", "sysname", name.sysname, out);
	put_string("    ", "nodename", name.nodename, out);
	put_string("    ", "release", name.release, out);
	put_string("    ", "version", name.version, out);
	put_string("    ", "machine", name.machine, out);
	fprintf(out, "    \"realtime\": %d\n  },\n", is_realtime());
}

static void put_rows(const struct tlat_cyc_thread *thread, int64_t rows, FILE *out)
{
	const char *before = "";

	fputs("      \"histogram\": {", out);
	for (int64_t row = 0; row < rows; row++) {
		if (!thread->rows[row])
			continue;
		fprintf(out, "%s\n        \"%" PRId64 "\": %" PRIu64, before, row,
			thread->rows[row]);
		before = ",";
	}
	fputs(*before ? "\n      },\n" : "      },\n", out);
}

static void put_figures(const struct tlat_cyc_thread *thread, FILE *out)
{
	fprintf(out, "      \"cycles\": %" PRIu64 ",\n", thread->cycles);
	if (thread->cycles)
		fprintf(out,
			"      \"min\": %" PRId64 ",\n      \"max\": %" PRId64
			",\n      \"avg\": %.2f,\n",
			thread->min, thread->max, tlat_cyc_average(thread));
	else
		fputs("      \"min\": null,\n      \"max\": null,\n      \"avg\": null,\n", out);
}

static void put_thread(const struct tlat_cyc_document *d, int32_t i, FILE *out)
{
	const struct tlat_cyc_thread *thread = &d->stats->threads[i];

	fprintf(out, "    \"%" PRId32 "\": {\n", i);
	if (d->config->rows || !tlat_cyc_omits_empty(d->config))
		put_rows(thread, d->config->rows, out);
	put_figures(thread, out);
	fprintf(out, "      \"cpu\": %" PRId32 ",\n",
		tlat_cyc_floats(d->config) ? -1 : thread->cpu);
	fprintf(out, "      \"node\": %" PRId32 "\n", tlat_cyc_cpus_node(d->machine, thread->cpu));
	fprintf(out, "    }%s\n", i + 1 < d->stats->n ? "," : "");
}

/* Of two digits after the point, as versions were written: 2.4 is 2.40. */
static void put_version(const struct tlat_cyc_config *config, FILE *out)
{
	fprintf(out, "  \"rt_test_version:\": \"2.%" PRId64 "%s\",\n", config->shape,
		config->shape < 10 ? "0" : "");
}

bool tlat_cyc_write_json(const struct tlat_cyc_document *d, FILE *out)
{
	fputs("{\n  \"file_version\": 1,\n", out);
	put_command(d->argc, d->argv, out);
	put_version(d->config, out);
	put_time("start_time", d->start_s, out);
	put_time("end_time", d->end_s, out);
	fprintf(out, "  \"return_code\": %d,\n", d->code);
	put_system(out);
	fprintf(out, "  \"num_threads\": %" PRId32 ",\n", d->stats->n);
	fprintf(out, "  \"resolution_in_ns\": %d,\n", d->config->nsecs);
	fputs("  \"thread\": {\n", out);
	for (int32_t i = 0; i < d->stats->n; i++)
		put_thread(d, i, out);
	fputs("  }\n}\n", out);
	return !ferror(out);
}
