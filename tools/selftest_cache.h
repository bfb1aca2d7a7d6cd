/* SPDX-License-Identifier: MIT */
/*
 * selftest_cache.h - the last self-test of this boot, kept so that reports can quote it.
 */
#ifndef TLAT_SELFTEST_CACHE_H
#define TLAT_SELFTEST_CACHE_H

#include <stdint.h>

#define TLAT_SELFTEST_DELAYS 4

struct tlat_selftest_delay {
	int64_t delay_ns;
	int trials, recovered;
	double median_error_ns;
	double u_ns; /* median of the stated uncertainties */
};

struct tlat_selftest_result {
	struct tlat_selftest_delay delays[TLAT_SELFTEST_DELAYS];
};

/*
 * ${XDG_CACHE_HOME:-~/.cache}/timerlat/selftest-BOOT_ID.json. A place that cannot be written only
 * means that nothing will be quoted. Returns 0 or a negative errno.
 */
int tlat_selftest_store(const struct tlat_selftest_result *result);

/* -ENOENT when there is none for this boot, -EINVAL when it is not as written. */
int tlat_selftest_load(struct tlat_selftest_result *result);

#endif /* TLAT_SELFTEST_CACHE_H */
