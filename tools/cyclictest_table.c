// SPDX-License-Identifier: MIT
/* cyclictest_table.c - every option of rt-tests 2.x, our own, and those that are obsolete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cyclictest_table.h"
#include "text.h"
#include "tool.h"

#define MAX_US	      1000000000000LL
#define MAX_SECONDS   1000000000LL
#define MAX_NUMBER    1000000000000000LL
#define FIELD(member) offsetof(struct tlat_cyc_config, member)
#define NUMBER	      tlat_cyc_take_number
#define FLAG	      tlat_cyc_take_flag
#define TEXT	      tlat_cyc_take_text

#define OBSOLETE(name, letter, kind)                                                               \
	{                                                                                          \
		name, letter, kind, NULL, NULL, "has no effect", NULL, 0, 0, 0                     \
	}

static const char threads[] = "Threads", timer[] = "Timer", length[] = "Length",
		  conditions[] = "Conditions", output[] = "Output", own[] = "Ours";

const struct tlat_cyc_option tlat_cyc_table[] = {
	{ "threads", 't', TLAT_CYC_MAY, "N", threads, "how many (1; without N: one per CPU)",
	  NUMBER, FIELD(threads), 0, TLAT_THREADS_MAX },
	{ "affinity", 'a', TLAT_CYC_MAY, "CPUS", threads, "on these CPUs in turn",
	  tlat_cyc_take_affinity, 0, 0, 0 },
	{ "smp", 'S', TLAT_CYC_NONE, NULL, threads, "-t -a", FLAG, FIELD(smp), 0, 0 },
	{ "mainaffinity", 0, TLAT_CYC_NEEDS, "CPUS", threads, "for the main thread", TEXT,
	  FIELD(mainaffinity), 0, 0 },
	{ "priority", 'p', TLAT_CYC_NEEDS, "N", threads,
	  "of the first, SCHED_FIFO (0: threads + 1)", tlat_cyc_take_priority, FIELD(priority), 0,
	  99 },
	{ "policy", 0, TLAT_CYC_NEEDS, "NAME", threads, "other, normal, batch, idle, fifo, rr",
	  tlat_cyc_take_policy, 0, 0, 0 },
	{ "priospread", 0, TLAT_CYC_NONE, NULL, threads, "each further one lower", FLAG,
	  FIELD(priospread), 0, 0 },
	{ "interval", 'i', TLAT_CYC_NEEDS, "US", threads, "of the first (1000)", NUMBER,
	  FIELD(interval_us), 10, MAX_US },
	{ "distance", 'd', TLAT_CYC_NEEDS, "US", threads, "longer for each further one (500)",
	  NUMBER, FIELD(distance_us), -MAX_US, MAX_US },
	{ "aligned", 'A', TLAT_CYC_MAY, "US", threads, "all in phase, each further one later by US",
	  NUMBER, FIELD(aligned_us), 0, MAX_US },
	{ "secaligned", 0, TLAT_CYC_MAY, "US", threads, "begin at a full second + US", NUMBER,
	  FIELD(secaligned_us), 0, MAX_US },
	{ "clock", 'c', TLAT_CYC_NEEDS, "0|1", timer, "monotonic or realtime", tlat_cyc_take_clock,
	  FIELD(clock), 0, 1 },
	{ "relative", 'r', TLAT_CYC_NONE, NULL, timer, "relative sleeps", FLAG, FIELD(relative), 0,
	  0 },
	{ "system", 's', TLAT_CYC_NONE, NULL, timer, "nanosleep(2)", FLAG, FIELD(system), 0, 0 },
	{ "posix_timers", 'x', TLAT_CYC_NONE, NULL, timer, "POSIX timers", FLAG,
	  FIELD(posix_timers), 0, 0 },
	{ "resolution", 'R', TLAT_CYC_NONE, NULL, timer, "check the clock", FLAG, FIELD(resolution),
	  0, 0 },
	{ "loops", 'l', TLAT_CYC_NEEDS, "N", length, "cycles of each thread (0: endless)", NUMBER,
	  FIELD(loops), 0, MAX_NUMBER },
	{ "duration", 'D', TLAT_CYC_NEEDS, "TIME", length, "seconds, or with m, h, d",
	  tlat_cyc_take_duration, 0, -MAX_SECONDS, MAX_SECONDS },
	{ "breaktrace", 'b', TLAT_CYC_NEEDS, "US", length, "stop at a latency above", NUMBER,
	  FIELD(break_above), 0, MAX_US },
	{ "tracemark", 0, TLAT_CYC_NONE, NULL, length, "then mark the trace and stop it", FLAG,
	  FIELD(tracemark), 0, 0 },
	{ "mlockall", 'm', TLAT_CYC_NONE, NULL, conditions, "lock all memory", FLAG,
	  FIELD(mlockall), 0, 0 },
	{ "latency", 0, TLAT_CYC_NEEDS, "US", conditions, "hold /dev/cpu_dma_latency at (0)",
	  NUMBER, FIELD(latency_us), 0, 2000000000 },
	{ "default-system", 0, TLAT_CYC_NONE, NULL, conditions, "leave it alone", FLAG,
	  FIELD(default_system), 0, 0 },
	{ "laptop", 0, TLAT_CYC_NONE, NULL, conditions, "the same", FLAG, FIELD(laptop), 0, 0 },
	{ "smi", 0, TLAT_CYC_NONE, NULL, conditions, "count SMIs", FLAG, FIELD(smi), 0, 0 },
	{ "quiet", 'q', TLAT_CYC_NONE, NULL, output, "summary only", FLAG, FIELD(quiet), 0, 0 },
	{ "verbose", 'v', TLAT_CYC_NONE, NULL, output, "every value", FLAG, FIELD(verbose), 0, 0 },
	{ "oscope", 'o', TLAT_CYC_NEEDS, "N", output, "the largest of N", NUMBER, FIELD(oscope), 1,
	  MAX_NUMBER },
	{ "refresh_on_max", 'M', TLAT_CYC_NONE, NULL, output, "redraw for a new maximum", FLAG,
	  FIELD(refresh_on_max), 0, 0 },
	{ "unbuffered", 'u', TLAT_CYC_NONE, NULL, output, "at once", FLAG, FIELD(unbuffered), 0,
	  0 },
	{ "nsecs", 'N', TLAT_CYC_NONE, NULL, output, "ns instead of us, everywhere", FLAG,
	  FIELD(nsecs), 0, 0 },
	{ "histogram", 'h', TLAT_CYC_NEEDS, "US", output, "histogram with so many rows",
	  tlat_cyc_take_histogram, FIELD(rows), 1, MAX_NUMBER },
	{ "histofall", 'H', TLAT_CYC_NEEDS, "US", output, "and a column of sums",
	  tlat_cyc_take_histogram, FIELD(rows), 1, MAX_NUMBER },
	{ "histfile", 0, TLAT_CYC_NEEDS, "FILE", output, "the histogram's place", TEXT,
	  FIELD(histfile), 0, 0 },
	{ "json", 0, TLAT_CYC_NEEDS, "FILE", output, "results as rt-tests write them (-: stdout)",
	  TEXT, FIELD(json), 0, 0 },
	{ "fifo", 'F', TLAT_CYC_NEEDS, "PATH", output, "a pipe that tells its readers", TEXT,
	  FIELD(fifo), 0, 0 },
	{ "spike", 0, TLAT_CYC_NEEDS, "US", output, "list values above", NUMBER, FIELD(spike_above),
	  0, MAX_US },
	{ "spike-nodes", 0, TLAT_CYC_NEEDS, "N", output, "so many at most (1024)", NUMBER,
	  FIELD(spike_nodes), 1, 100000000 },
	{ "dbg_cyclictest", 0, TLAT_CYC_NONE, NULL, output, "probe and CPUs, on stderr", FLAG,
	  FIELD(debug), 0, 0 },
	{ "tlat-json", 0, TLAT_CYC_NEEDS, "FILE", own, "the whole report, as tlat writes it", TEXT,
	  FIELD(tlat_json), 0, 0 },
	{ "strict", 0, TLAT_CYC_NONE, NULL, own, "exit 1 when a figure is not to be trusted", FLAG,
	  FIELD(strict), 0, 0 },
	{ "shape", 0, TLAT_CYC_NEEDS, "2.N", own, "print as that version of rt-tests (2.4)",
	  tlat_cyc_take_shape, FIELD(shape), 0, 99 },
	/* spelled otherwise before version 1 or so */
	{ "priospread", 'Q', TLAT_CYC_NONE, NULL, NULL, "is now --priospread", FLAG,
	  FIELD(priospread), 0, 0 },
	{ "policy", 'y', TLAT_CYC_NEEDS, NULL, NULL, "is now --policy", tlat_cyc_take_policy, 0, 0,
	  0 },
	{ "latency", 'e', TLAT_CYC_NEEDS, NULL, NULL, "is now --latency", NUMBER, FIELD(latency_us),
	  0, 2000000000 },
	{ "prio", 0, TLAT_CYC_NEEDS, NULL, NULL, "is now --priority", tlat_cyc_take_priority,
	  FIELD(priority), 0, 99 },
	{ "align", 0, TLAT_CYC_MAY, NULL, NULL, "is now --aligned", NUMBER, FIELD(aligned_us), 0,
	  MAX_US },
	{ "nanosleep", 'n', TLAT_CYC_NONE, NULL, NULL, "has no effect: clock_nanosleep is used",
	  NULL, 0, 0, 0 },
	{ "numa", 'U', TLAT_CYC_NONE, NULL, NULL,
	  "is now -S: memory is always on the thread's own node", FLAG, FIELD(smp), 0, 0 },
	{ "deepest-idle-state", 0, TLAT_CYC_NEEDS, NULL, NULL,
	  "has no effect: nothing system-wide is changed; use --latency US", NULL, 0, 0, 0 },
	OBSOLETE("notrace", 0, TLAT_CYC_NONE),
	OBSOLETE("preemptirqs", 'B', TLAT_CYC_NONE),
	OBSOLETE("context", 'C', TLAT_CYC_NONE),
	OBSOLETE("event", 'E', TLAT_CYC_NONE),
	OBSOLETE("ftrace", 'f', TLAT_CYC_NONE),
	OBSOLETE("of_max", 'g', TLAT_CYC_NEEDS),
	OBSOLETE("irqsoff", 'I', TLAT_CYC_NONE),
	OBSOLETE("traceopt", 'O', TLAT_CYC_NEEDS),
	OBSOLETE("preemptoff", 'P', TLAT_CYC_NONE),
	OBSOLETE("tracer", 'T', TLAT_CYC_NEEDS),
	OBSOLETE("wakeup", 'w', TLAT_CYC_NONE),
	OBSOLETE("wakeuprt", 'W', TLAT_CYC_NONE),
	OBSOLETE("dump-resolution", 'X', TLAT_CYC_NONE),
};

const size_t tlat_cyc_table_size = TLAT_ARRAY_SIZE(tlat_cyc_table);

static void put_option(const struct tlat_cyc_option *option, FILE *out)
{
	if (option->letter)
		fprintf(out, "-%c, ", option->letter);
	fprintf(out, "--%s", option->name);
	if (option->kind == TLAT_CYC_MAY)
		fprintf(out, "[=%s]", option->arg);
	else if (option->kind == TLAT_CYC_NEEDS)
		fprintf(out, " %s", option->arg);
	fprintf(out, " %s; ", option->help);
}

/* All options of a group in one paragraph. */
static void print_group(const char *group)
{
	char heading[24], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	for (size_t i = 0; i < tlat_cyc_table_size; i++)
		if (tlat_cyc_table[i].group == group)
			put_option(&tlat_cyc_table[i], out);
	fclose(out);
	if (size > 2)
		text[size - 2] = '\0';
	snprintf(heading, sizeof(heading), "%-11s", group);
	tlat_text_wrap(heading, 11, text, stdout);
	free(text);
}

void tlat_cyc_print_help(void)
{
	const char *group = NULL;

	printf("Usage: " TLAT_CYC_NAME " [options]\n"
	       "cyclictest's command line and output, by libtimerlat: periodic timer threads and\n"
	       "how late they wake. Letters can be bundled, as in -qmp95 -i100.\n\n");
	for (size_t i = 0; i < tlat_cyc_table_size && tlat_cyc_table[i].group; i++) {
		if (tlat_cyc_table[i].group != group)
			print_group(tlat_cyc_table[i].group);
		group = tlat_cyc_table[i].group;
	}
	printf("\n  " TLAT_CYC_NAME " -q -S -m -p95 -D 10    one thread per CPU, for ten seconds\n"
	       "  " TLAT_CYC_NAME " --version\n\n"
	       "Options of older versions are taken, with a note. tlat run measures the same with\n"
	       "uncertainties. Exit status: 0, or 1 when nothing could be measured or --strict.\n");
}
