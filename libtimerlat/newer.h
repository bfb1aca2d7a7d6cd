/* SPDX-License-Identifier: MIT */
/*
 * newer.h - what a kernel may have and the headers here are too old to know. A system call has one
 * number on all architectures since they share a table, but for those that add to it; whether the
 * kernel has it, it says itself.
 */
#ifndef TLAT_NEWER_H
#define TLAT_NEWER_H

#include <stdint.h>
#include <sys/syscall.h>

#if defined(__mips__) || defined(__alpha__) || (defined(__x86_64__) && defined(__ILP32__))
#define TLAT_NEWER_CALL(number) (-1) /* they add to it: there is none, as on an old kernel */
#else
#define TLAT_NEWER_CALL(number) (number)
#endif

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal TLAT_NEWER_CALL(424)
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open TLAT_NEWER_CALL(434)
#endif
#ifndef SYS_clone3
#define SYS_clone3 TLAT_NEWER_CALL(435)
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 TLAT_NEWER_CALL(441)
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv TLAT_NEWER_CALL(449)
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait TLAT_NEWER_CALL(455)
#endif

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/* struct clone_args as it began; clone3(2) is told how long it is. */
struct tlat_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

#endif /* TLAT_NEWER_H */
