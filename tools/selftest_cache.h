/* SPDX-License-Identifier: MIT */
/*
 * selftest_cache.h - the last self-test of this boot, kept so that reports can quote it.
 */
#ifndef TLAT_SELFTEST_CACHE_H
#define TLAT_SELFTEST_CACHE_H

#include <timerlat.h>

/*
 * Keep the report that holds the finding, below ${XDG_CACHE_HOME:-~/.cache} as
 * timerlat/selftest-BOOT_ID.json. A place that cannot be written only means that nothing will be
 * quoted. Returns 0 or a negative errno.
 */
int tlat_selftest_store(const struct tlat_report *report, struct tlat_error *reterr);

/* The report that was kept; -ENOENT when there is none for this boot. */
int tlat_selftest_load(struct tlat_report **ret_report);

#endif /* TLAT_SELFTEST_CACHE_H */
