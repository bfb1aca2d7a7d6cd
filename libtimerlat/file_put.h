/* SPDX-License-Identifier: MIT */
/* file_put.h - text into a file, as a whole or not at all. */
#ifndef TLAT_FILE_PUT_H
#define TLAT_FILE_PUT_H

#include <stddef.h>

/* All of it, whatever signals come. 0 or a negative errno. */
int tlat_write_all(int fd, const char *text, size_t n);

/*
 * Put text in the place of what a file has, which keeps its permissions; a link stays a link, and
 * what is no regular file, such as a device, is written to. 0, or a negative errno and what failed,
 * static.
 */
int tlat_file_put(const char *path, const char *text, size_t n, const char **ret_what);

#endif /* TLAT_FILE_PUT_H */
