/* SPDX-License-Identifier: MIT */
/*
 * privileges.h - what this process may do that a measurement wants.
 */
#ifndef TLAT_PRIVILEGES_H
#define TLAT_PRIVILEGES_H

#include <stddef.h>

#include <timerlat.h>

#define TLAT_PRIVILEGE_TEXT 600

/*
 * Privilege number index, as a report of tlat_check() has it, or tried out and undone: its name,
 * and in text[TLAT_PRIVILEGE_TEXT] whether it is granted, or why not. NULL past the last.
 */
const char *tlat_privilege(const struct tlat_report *report, size_t index, char *text);

#endif /* TLAT_PRIVILEGES_H */
