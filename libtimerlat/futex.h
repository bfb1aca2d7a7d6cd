/* SPDX-License-Identifier: MIT */
/* futex.h - waits and wakes on a word of memory, which the C library has no call for. */
#ifndef TLAT_FUTEX_H
#define TLAT_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* op: FUTEX_WAIT_PRIVATE until it is not value, FUTEX_WAKE_PRIVATE of that many; not private where
 * processes share the word. */
static inline long tlat_futex(atomic_uint *word, int op, unsigned int value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

#endif /* TLAT_FUTEX_H */
