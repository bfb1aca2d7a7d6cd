/* SPDX-License-Identifier: MIT */
/* thread.h - threads of the library's own, inside a program that has signals and a policy. */
#ifndef TLAT_THREAD_H
#define TLAT_THREAD_H

#include <pthread.h>

/*
 * Start a thread with every signal blocked, so that the caller's handlers run on the caller's
 * threads; the calling thread's mask is as before. attr NULL: a stack that is enough for what the
 * library does. All else is inherited, the policy too. Returns 0 or a negative errno.
 */
int tlat_thread_start(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*fn)(void *),
		      void *arg);

/* For the text of tlat_thread_refusal(). */
#define TLAT_REFUSAL_TEXT 192

/*
 * Why a thread was not started, from what tlat_thread_start() returned and the size of its stack
 * (0: as with attr NULL), and the remedy. Returns text.
 */
const char *tlat_thread_refusal(int error, size_t stack_bytes, char *text, size_t size);

/* From a thread that works for others: the real-time policy that it may have inherited is not for
 * it. */
void tlat_thread_be_ordinary(void);

#endif /* TLAT_THREAD_H */
