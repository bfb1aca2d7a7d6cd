/* SPDX-License-Identifier: MIT */
/* streams.h - standard streams that were closed, and what standard output did not take. */
#ifndef TLAT_STREAMS_H
#define TLAT_STREAMS_H

/* What is opened later must not become standard output: to be called before anything is. */
void tlat_streams_occupy(void);

/*
 * Hand out what is still kept back. Returns 0, also when the reader has gone: it has seen enough,
 * which is no error; else a negative errno of what was lost.
 */
int tlat_streams_end(void);

#endif /* TLAT_STREAMS_H */
