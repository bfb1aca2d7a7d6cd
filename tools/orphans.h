/* SPDX-License-Identifier: MIT */
/* orphans.h - what a shell that was ended had started. */
#ifndef TLAT_ORPHANS_H
#define TLAT_ORPHANS_H

/* Processes whose parents end become this one's children from here on. */
void tlat_orphans_adopt(void);

/* End those children: SIGTERM, and what has not ended in grace_ms (0: at once) SIGKILL. */
void tlat_orphans_end(int grace_ms);

#endif /* TLAT_ORPHANS_H */
