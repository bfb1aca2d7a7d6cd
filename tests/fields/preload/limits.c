// SPDX-License-Identifier: MIT
/* limits.c - preloaded: the real-time limit is 5, and may be raised to 90; who does is told */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/resource.h>

#define SOFT 5
#define HARD 90

typedef int limit_fn(__rlimit_resource_t resource, const struct rlimit *limit);

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	int (*next)(__rlimit_resource_t, struct rlimit *) =
		(int (*)(__rlimit_resource_t, struct rlimit *))dlsym(RTLD_NEXT, "getrlimit");

	if (resource != RLIMIT_RTPRIO)
		return next(resource, limit);
	*limit = (struct rlimit){ SOFT, HARD };
	return 0;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	limit_fn *next = (limit_fn *)dlsym(RTLD_NEXT, "setrlimit");

	if (resource != RLIMIT_RTPRIO)
		return next(resource, limit);
	fprintf(stderr, "limit raised to %d\n", (int)limit->rlim_cur);
	return 0;
}
