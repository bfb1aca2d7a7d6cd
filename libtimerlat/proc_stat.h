/* SPDX-License-Identifier: MIT */
/* proc_stat.h - whose CPUs /proc/stat tells of. */
#ifndef TLAT_PROC_STAT_H
#define TLAT_PROC_STAT_H

#include <stdbool.h>

/* Whether that below root_fd is a container's own: nothing is known from it of one CPU. */
bool tlat_proc_stat_is_faked(int root_fd);

#endif /* TLAT_PROC_STAT_H */
