/* SPDX-License-Identifier: MIT */
/*
 * older.h - headers of a kernel 5.2 and a C library of its time: included before all others it
 * takes away what newer ones have that the library uses.
 */
#include <linux/sched.h>
#include <sys/syscall.h>

#undef SYS_clone3
#undef SYS_epoll_pwait2
#undef SYS_futex_wait
#undef SYS_futex_waitv
#undef SYS_pidfd_open
#undef SYS_pidfd_send_signal
#undef CLONE_PIDFD
#define clone_args newer_than_these
