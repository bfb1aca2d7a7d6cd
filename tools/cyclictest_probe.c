// SPDX-License-Identifier: MIT
/* cyclictest_probe.c - which probe is which way of sleeping; one that is not there is explained. */
#include <errno.h>

#include "cyclictest_run.h"

struct way {
	const char *probe, *option; /* the option that leads there */
};

/* nanosleep(2) and relative sleeps on CLOCK_REALTIME are the kernel's relative CLOCK_MONOTONIC. */
static struct way way_of(const struct tlat_cyc_config *config)
{
	if (config->posix_timers && config->clock)
		return (struct way){ "timer-posix-sigwait-realtime", "-x -c 1" };
	if (config->posix_timers)
		return (struct way){ "timer-posix-sigwait", "-x" };
	if (config->system)
		return (struct way){ "timer-nanosleep-rel", "-s" };
	if (config->relative)
		return (struct way){ "timer-nanosleep-rel", "-r" };
	if (config->clock)
		return (struct way){ "timer-nanosleep-realtime", "-c 1" };
	return (struct way){ "timer-nanosleep", "" };
}

int tlat_cyc_probe_find(const struct tlat_cyc_config *config, const char **ret_probe)
{
	struct way way = way_of(config);
	struct tlat_error error;
	int r = tlat_probe_check(way.probe, &error);

	*ret_probe = way.probe;
	if (r == -ENOENT)
		tlat_cyc_say("%s is measured by the probe %s, which libtimerlat %s does not have; "
			     "leave %s out to measure clock_nanosleep",
			     way.option, way.probe, tlat_version(), way.option);
	else if (r < 0)
		tlat_cyc_say("%s: %s", way.probe, error.text);
	return r;
}
