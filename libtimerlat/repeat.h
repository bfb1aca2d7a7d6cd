/* SPDX-License-Identifier: MIT */
/* repeat.h - what the commands that repeat a result have in common, whatever measured it. */
#ifndef TLAT_REPEAT_H
#define TLAT_REPEAT_H

#include <stdint.h>
#include <stdio.h>

/* " OPTION TIME", the time in the largest unit that divides it: "50us". */
void tlat_repeat_time(FILE *out, const char *option, int64_t ns);
/* " --policy NAME -p N", as they were asked for; without a priority no -p. */
void tlat_repeat_policy(FILE *out, int32_t policy, int32_t priority);

#endif /* TLAT_REPEAT_H */
