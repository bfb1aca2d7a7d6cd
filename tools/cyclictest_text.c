// SPDX-License-Identifier: MIT
/* cyclictest_text.c - lines of threads, values, spikes and the break. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cyclictest_text.h"

static void put_using(const struct tlat_cyc_cpus *cpus)
{
	printf("Using %" PRId32 " cpus.\n", cpus->n);
}

void tlat_cyc_put_cpus(const struct tlat_cyc_config *config, const struct tlat_cyc_cpus *cpus)
{
	if (config->announced)
		put_using(cpus);
	printf("Max CPUs = %ld\n", sysconf(_SC_NPROCESSORS_CONF));
	printf("Online CPUs = %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
	if (config->affinity && *config->affinity)
		put_using(cpus);
}

/* The interval is said with the distance to the next thread's added: it always was. */
void tlat_cyc_put_intervals(const struct tlat_cyc_config *config, const struct tlat_cyc_cpus *cpus,
			    const struct tlat_cyc_stats *stats)
{
	for (int32_t i = 0; i < stats->n; i++) {
		if (config->affinity && *config->affinity)
			printf("Thread %" PRId32 " using cpu %" PRId32 ".\n", i,
			       cpus->cpus[i % cpus->n]);
		printf("Thread %" PRId32 " Interval: %" PRId64 "\n", i,
		       stats->threads[i].interval_us + config->distance_us);
	}
}

void tlat_cyc_put_threads(const struct tlat_cyc_stats *stats, const int64_t *smis, FILE *out)
{
	int wide = stats->config->nsecs ? 8 : 5;

	for (int32_t i = 0; i < stats->n; i++) {
		const struct tlat_cyc_thread *t = &stats->threads[i];

		fprintf(out,
			"T:%2" PRId32 " (%5" PRId32 ") P:%2" PRId64 " I:%" PRId64 " C:%7" PRIu64
			" Min:%7" PRId64 " Act:%*" PRId64 " Avg:%*" PRId64 " Max:%8" PRId64,
			i, t->tid, t->priority, t->interval_us, t->cycles, t->min, wide, t->last,
			wide, (int64_t)tlat_cyc_average(t), t->max);
		if (smis)
			fprintf(out, " SMI:%8" PRId64, smis[i]);
		fputc('\n', out);
	}
}

void tlat_cyc_put_value(const struct tlat_cyc_config *config, struct tlat_cyc_thread *thread,
			int32_t number, int64_t value, int64_t smis)
{
	uint64_t cycle = thread->cycles - 1;

	if (config->oscope) {
		if (!thread->grouped || value > thread->group_max) {
			thread->group_max = value;
			thread->group_at = cycle;
		}
		if (++thread->grouped < (uint64_t)config->oscope)
			return;
		thread->grouped = 0;
		value = thread->group_max;
		cycle = thread->group_at;
	}
	printf("%8" PRId32 ":%8" PRIu64 ":%8" PRId64, number, cycle, value);
	if (smis >= 0)
		printf("%8" PRId64, smis);
	putchar('\n');
}

/* As read from the kernel, without its newline. */
static void read_loadavg(char *text, size_t size)
{
	FILE *in = fopen("/proc/loadavg", "re");

	*text = '\0';
	if (in && !fgets(text, (int)size, in))
		*text = '\0';
	if (in)
		fclose(in);
	text[strcspn(text, "\n")] = '\0';
}

/* Policies of the fair scheduler are named twice: asked for, and in force. */
static void put_policy(const struct tlat_cyc_config *config)
{
	const char *name = tlat_policy_name((int)config->policy);
	bool ranked = tlat_cyc_is_ranked(config);

	printf("policy: %s%s%s: ", name, ranked ? "" : "/", ranked ? "" : name);
}

void tlat_cyc_put_live(const struct tlat_cyc_stats *stats, const int64_t *smis, bool first)
{
	char load[128];

	if (!first)
		printf("\033[%" PRId32 "A", stats->n + 2);
	read_loadavg(load, sizeof(load));
	put_policy(stats->config);
	printf("loadavg: %s          \n\n", load);
	tlat_cyc_put_threads(stats, smis, stdout);
}

void tlat_cyc_put_spikes(const struct tlat_cyc_stats *stats)
{
	uint64_t kept = stats->n_spikes;

	if (kept > (uint64_t)stats->config->spike_nodes)
		kept = (uint64_t)stats->config->spike_nodes;
	if (!kept)
		return;
	putchar('\n');
	for (uint64_t i = 0; i < kept; i++)
		printf("T:%2" PRId32 " Spike:%8" PRId64 ": TS: %12" PRId64 "\n",
		       stats->spikes[i].thread, stats->spikes[i].value, stats->spikes[i].at_us);
	printf("spikes = %" PRIu64 "\n\n", stats->n_spikes);
}

void tlat_cyc_put_break(const struct tlat_cyc_stats *stats, int32_t thread, int64_t value)
{
	printf("# Thread Ids:");
	for (int32_t i = 0; i < stats->n; i++)
		printf(" %05" PRId32, stats->threads[i].tid);
	putchar('\n');
	if (thread < 0)
		return;
	printf("# Break thread: %" PRId32 "\n", stats->threads[thread].tid);
	printf("# Break value: %" PRId64 "\n", value);
}
