/* SPDX-License-Identifier: MIT */
/*
 * quantity.h - how times and counts are read from a command line and written
 * for people.
 */
#ifndef TLAT_QUANTITY_H
#define TLAT_QUANTITY_H

#include <stdint.h>

#define TLAT_QUANTITY_TEXT 32 /* room for any formatted quantity */

/* Explanations of a refusal are short; they end in the remedy. */
#define TLAT_WHY_TEXT 160

/*
 * "250us", "1.5ms", "0": a time carries a unit, only 0 needs none. Returns 0 or -EINVAL with the
 * reason and the remedy in why[TLAT_WHY_TEXT].
 */
int tlat_time_parse(const char *text, int64_t *ret_ns, char *why);

/* "1000", "1e6". As above. */
int tlat_count_parse(const char *text, int64_t *ret_count, char *why);

/* The shortest spelling that tlat_time_parse() reads back as the same number. */
const char *tlat_time_exact(int64_t ns, char *text);

/* With that many significant digits (2 to 4) in the unit that suits: "1.723us"; NAN: "-". */
const char *tlat_time_short(double ns, int digits, char *text);

#endif /* TLAT_QUANTITY_H */
