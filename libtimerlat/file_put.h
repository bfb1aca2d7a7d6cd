/* SPDX-License-Identifier: MIT */
/* file_put.h - text into a file, as a whole or not at all. */
#ifndef TLAT_FILE_PUT_H
#define TLAT_FILE_PUT_H

#include <stddef.h>

#define TLAT_FILE_MODE 0666 /* of a new one; the umask takes its part */

/* How the name of what is on its way to a file ends; it begins with a dot. */
#define TLAT_FILE_SUFFIX ".timerlat-tmp"

/* All of it, whatever signals come. 0 or a negative errno. */
int tlat_write_all(int fd, const char *text, size_t n);

/* The same, after what was printed to stdout before. */
int tlat_write_out(int fd, const char *text, size_t n);

/* A lock for this process, and what was written on the disk; 0 also where a file system has no such
 * thing. Else a negative errno. */
int tlat_file_lock(int fd);
int tlat_file_sync(int fd);

/*
 * Put text in the place of what a file has, which keeps its permissions and, where we may give
 * files away, its owner. A link stays a link, also to a file that is not there yet. What is no
 * regular file, such as a device, is written to, and so is a descriptor that path is another name
 * of. A file that has to keep its place, because it is a mount of its own or its directory cannot
 * be written, is written where it is. 0, or a negative errno and what failed, static.
 */
int tlat_file_put(const char *path, const char *text, size_t n, const char **ret_what);

#endif /* TLAT_FILE_PUT_H */
