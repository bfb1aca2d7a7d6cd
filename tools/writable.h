/* SPDX-License-Identifier: MIT */
/* writable.h - whether a file can be written, found out before anything is measured for it. */
#ifndef TLAT_WRITABLE_H
#define TLAT_WRITABLE_H

#include <stdbool.h>

/*
 * Returns 0 or a negative errno; nothing is made. A file that is to be replaced need not be
 * writable itself: it is made anew beside the old one, so that its directory counts.
 */
int tlat_writable(const char *path, bool replaced);

/* Whether two paths are one file, which need not be there yet. */
bool tlat_writable_same(const char *a, const char *b);

/* Whether a descriptor can be written to. 0 or -EBADF. */
int tlat_writable_fd(int fd);

#endif /* TLAT_WRITABLE_H */
