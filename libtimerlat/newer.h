/* SPDX-License-Identifier: MIT */
/*
 * newer.h - what a kernel may have and the headers here are too old to know. A system call has one
 * number on all architectures since they share a table; whether the kernel has it, it says itself.
 */
#ifndef TLAT_NEWER_H
#define TLAT_NEWER_H

#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/* struct clone_args as it began; clone3(2) is told how long it is. */
struct tlat_clone_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

#endif /* TLAT_NEWER_H */
