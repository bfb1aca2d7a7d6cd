/* SPDX-License-Identifier: MIT */
/* watching.h - a watch over a made-up root: begun, ended, and what both must always do. */
#ifndef TLAT_TESTS_WATCHING_H
#define TLAT_TESTS_WATCHING_H

#include "tree.h"
#include "watch.h"

static inline struct tlat_watch *begin(const struct tree *tree, const int32_t *cpus, size_t n)
{
	struct tlat_watch *watch;

	assert_int_equal(tlat_watch_new(&watch, tree->fd, cpus, n), 0);
	assert_int_equal(tlat_watch_begin(watch), 0);
	return watch;
}

static inline struct tlat_watch_delta *end(struct tlat_watch *watch)
{
	struct tlat_watch_delta *delta;

	assert_int_equal(tlat_watch_end(watch, &delta), 0);
	tlat_watch_free(watch);
	assert_true(delta->duration_ns >= 0);
	return delta;
}

#endif /* TLAT_TESTS_WATCHING_H */
