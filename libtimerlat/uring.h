/* SPDX-License-Identifier: MIT */
/* uring.h - whether timeouts of io_uring expire when this process means them to. */
#ifndef TLAT_URING_H
#define TLAT_URING_H

#include "internal.h"

/*
 * 0, or -ENOSYS with cause and remedy: absolute timeouts are on the CLOCK_MONOTONIC of the host,
 * which is not that of this process. Relative ones are not concerned.
 */
int tlat_uring_check_absolute(struct tlat_error *reterr);

#endif /* TLAT_URING_H */
