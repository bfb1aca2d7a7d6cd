/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what every module of the library uses: numbers that one thread counts and others
 * read, error text, the tolerant copy of options, findings, files below a root directory.
 */
#ifndef TLAT_INTERNAL_H
#define TLAT_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/types.h>

#include "timerlat.h"

#define TLAT_NSEC_PER_SEC  1000000000LL
#define TLAT_CACHE_LINE	   64
#define TLAT_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * What every cycle runs, laid side by side by the linker: after a sleep each page of code costs a
 * cycle a look-up, and a CPU that does other things meanwhile has forgotten all of them. Where the
 * linker puts them else moves a wake's median by up to 2 % from one build to another.
 */
#define TLAT_HOT __attribute__((hot))

/* A condition whose code is to lie out of a loop's way, for the same reason. */
#define TLAT_RARELY(condition) __builtin_expect(!!(condition), 0)

/*
 * A public struct is as long as its members: nothing hides between them that a caller could leave
 * unset. bytes is their sum where pointers have 8.
 */
#define TLAT_ASSERT_LAYOUT(type, bytes)                                                            \
	static_assert(sizeof(void *) != 8 || sizeof(type) == (bytes), #type " has padding")

/*
 * A number that is written by one thread alone: others may read it meanwhile, whole, though not of
 * one moment with the numbers beside it. A locked instruction would cost more than all the rest of
 * a record. [hot]
 */
static inline uint64_t tlat_noted(const uint64_t *number)
{
	return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static inline void tlat_note(uint64_t *number, uint64_t value)
{
	__atomic_store_n(number, value, __ATOMIC_RELAXED);
}

static inline void tlat_count(uint64_t *number, uint64_t more)
{
	tlat_note(number, *number + more);
}

/* Whether the caller has asked for the end, from a signal handler or another thread; NULL: no. */
static inline bool tlat_stop_asked(const volatile int32_t *stop)
{
	return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* error.c */

/* Fill *reterr (may be NULL) and return code, a negative errno. */
int tlat_fail(struct tlat_error *reterr, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * For calls that go deep: *reterr (may be NULL) is emptied first, and in the end a failure that
 * nobody put into words gets those of its code. tlat_error_end() returns code.
 */
void tlat_error_begin(struct tlat_error *reterr);
int tlat_error_end(struct tlat_error *reterr, int code);

/*
 * Copy the caller's size-first struct *src (NULL: all defaults) into *dst of
 * dst_size bytes. Returns 0, -EINVAL for size 0, -E2BIG for an unknown tail
 * that is not zero.
 */
int tlat_opts_copy(void *dst, size_t dst_size, const void *src, struct tlat_error *reterr);

/*
 * Copy a filled struct out, up to the size that the caller has set in the first member; what the
 * caller has beyond this library's struct becomes zero. 0, or -EINVAL for a size below the first
 * member's own.
 */
int tlat_facts_copy(void *dst, const void *src, size_t src_size);

/*
 * format.c: snprintf(3) and vsnprintf(3) as they are in the C locale, whichever the program is in;
 * for every text that has a number with a fraction, or may have one.
 */
int tlat_format(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int tlat_vformat(char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* finding.c */

struct tlat_findings {
	struct tlat_finding *v; /* strings owned by the list */
	size_t n;
};

/*
 * Append one finding; a second one of the same id and text is dropped. Returns 0 or -ENOMEM, which
 * a run ignores: a finding must never end it. remedy may be NULL.
 */
int tlat_findings_add(struct tlat_findings *findings, int severity, const char *id,
		      const char *remedy, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void tlat_findings_copy(struct tlat_findings *into, const struct tlat_findings *from);
/* Move all findings of from to the end of into. */
void tlat_findings_move(struct tlat_findings *into, struct tlat_findings *from);
void tlat_findings_free(struct tlat_findings *findings);
/* Remove those with that id; whether there were any. */
bool tlat_findings_drop(struct tlat_findings *findings, const char *id);
/* Whether a finding of at least that severity is in the list. */
bool tlat_findings_reach(const struct tlat_findings *findings, int severity);
/* The first one of that id, or NULL. */
const struct tlat_finding *tlat_findings_get(const struct tlat_findings *findings, const char *id);
/* What says that the clock, or the load, failed the measurement, so that no figure holds; NULL:
 * nothing. */
const struct tlat_finding *tlat_findings_distrust(const struct tlat_findings *findings);

/* root.c: files below a root directory; path has no leading slash */

/* Open the root directory (NULL: "/"). Returns a descriptor or a negative errno. */
int tlat_root_open(const char *root);
/*
 * Read a whole small file, NUL-terminated, the trailing newline cut. Returns its length or a
 * negative errno; a longer file is -EFBIG.
 */
ssize_t tlat_root_read(int root_fd, const char *path, char *buf, size_t size);
/* Read a whole file of any length into memory to be freed. Returns length or negative errno. */
ssize_t tlat_root_read_all(int root_fd, const char *path, char **ret_text);
/* Read as much of a file's beginning as fits, NUL-terminated. Returns length or negative errno. */
ssize_t tlat_root_read_head(int root_fd, const char *path, char *buf, size_t size);
/* Read one decimal integer. Returns 0 or a negative errno. */
int tlat_root_read_int(int root_fd, const char *path, int64_t *ret_value);
/*
 * The value in the first line "key: value" or "key value" of a text as files in /proc are: where
 * it begins, to end with its line; NULL when there is no such line.
 */
const char *tlat_text_value(const char *text, const char *key);

#endif /* TLAT_INTERNAL_H */
