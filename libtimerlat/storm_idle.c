// SPDX-License-Identifier: MIT
/* storm_idle.c - how much of a CPU's time was idle, in ticks as /proc/stat has them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proc_stat.h"
#include "storm.h"

#define ROUNDED 2 /* ticks: each of the two idle counters is cut off to whole ones */

enum { IDLE = 3, IOWAIT = 4, FIELDS = 8 }; /* the two guest fields are in user and nice already */

bool tlat_storm_idle(int root_fd, int32_t cpu, uint64_t *ret_idle, uint64_t *ret_all)
{
	uint64_t ticks[FIELDS] = { 0 }, all = 0;
	const char *line;
	char *text, key[24];
	int n = 0;

	if (tlat_proc_stat_is_faked(root_fd) || tlat_root_read_all(root_fd, "proc/stat", &text) < 0)
		return false;
	snprintf(key, sizeof(key), "cpu%" PRId32, cpu);
	line = tlat_text_value(text, key);
	if (line)
		n = sscanf(line,
			   "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64
			   "%" SCNu64 "%" SCNu64,
			   &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5],
			   &ticks[6], &ticks[7]);
	free(text);
	if (n <= IOWAIT)
		return false;
	for (int i = 0; i < n; i++)
		all += ticks[i];
	*ret_idle = ticks[IDLE] + ticks[IOWAIT];
	*ret_all = all;
	return true;
}

/* A sleep that began as I/O wait may end as idle: their sum steps back by a tick now and then. What
 * goes further has begun anew, as when the CPU was offline. */
double tlat_storm_idle_share(const uint64_t idle[2], const uint64_t all[2])
{
	uint64_t passed = all[1] - all[0];

	if (!all[0] || all[1] <= all[0])
		return NAN;
	if (idle[1] < idle[0])
		return idle[0] - idle[1] <= ROUNDED ? 0 : NAN;
	if (idle[1] - idle[0] > passed + ROUNDED)
		return NAN;
	return fmin((double)(idle[1] - idle[0]) / (double)passed, 1);
}
