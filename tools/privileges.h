/* SPDX-License-Identifier: MIT */
/*
 * privileges.h - what this process may do that a measurement wants.
 */
#ifndef TLAT_PRIVILEGES_H
#define TLAT_PRIVILEGES_H

#include <stddef.h>

#define TLAT_PRIVILEGE_TEXT 600

/*
 * Privilege number index, tried out and undone where that shows more than a limit does: its name,
 * and in text[TLAT_PRIVILEGE_TEXT] whether it is granted, or why not. NULL past the last.
 */
const char *tlat_privilege(size_t index, char *text);

#endif /* TLAT_PRIVILEGES_H */
