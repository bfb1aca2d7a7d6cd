/* SPDX-License-Identifier: MIT */
/* file_target.h - where a path leads: to a file, or to a descriptor that is open already. */
#ifndef TLAT_FILE_TARGET_H
#define TLAT_FILE_TARGET_H

/*
 * Follow the links of path's last name, to what need not be there: *ret_fd is -1 and target, of
 * PATH_MAX bytes, no link; or *ret_fd is a descriptor of this process, perhaps a closed one, that
 * path is another name of. 0 or a negative errno.
 */
int tlat_file_target(const char *path, char *target, int *ret_fd);

/* That descriptor, or -1. */
int tlat_file_descriptor(const char *path);

#endif /* TLAT_FILE_TARGET_H */
