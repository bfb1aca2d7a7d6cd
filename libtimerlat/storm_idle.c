// SPDX-License-Identifier: MIT
/* storm_idle.c - how much of a CPU's time was idle, in ticks as /proc/stat has them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "storm.h"

enum { IDLE = 3, IOWAIT = 4, FIELDS = 8 }; /* the two guest fields are in user and nice already */

bool tlat_storm_idle(int root_fd, int32_t cpu, uint64_t *ret_idle, uint64_t *ret_all)
{
	uint64_t ticks[FIELDS] = { 0 }, all = 0;
	const char *line;
	char *text, key[24];
	int n = 0;

	if (tlat_root_read_all(root_fd, "proc/stat", &text) < 0)
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
	for (int i = 0; i < n; i++)
		all += ticks[i];
	*ret_idle = ticks[IDLE] + ticks[IOWAIT];
	*ret_all = all;
	return n > IOWAIT;
}
