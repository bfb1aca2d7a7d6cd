/* SPDX-License-Identifier: MIT */
/*
 * cyclictest_status.h - figures on demand while the run goes on: SIGUSR1 puts them on standard
 * error, SIGUSR2 into /dev/shm/cyclictest<PID>, and every reader of the pipe of -F gets them.
 */
#ifndef TLAT_CYCLICTEST_STATUS_H
#define TLAT_CYCLICTEST_STATUS_H

#include "cyclictest_stats.h"

struct tlat_cyc_status {
	const char *fifo; /* NULL: none */
	char shared[64];  /* path; "": none */
	int shared_fd;	  /* locked as long as the program lives */
	bool made_fifo;
};

/*
 * Take the signals, and make file and pipe. The file is there from the start, as it is how running
 * programs are found. Returns 0, or -errno after one line on standard error: the pipe was asked for
 * and could not be made; a pipe that is there is replaced.
 */
int tlat_cyc_status_open(struct tlat_cyc_status *status, const char *fifo);
void tlat_cyc_status_close(struct tlat_cyc_status *status);

/* Serve the signals that have come, and a reader of the pipe if there is one. */
void tlat_cyc_status_serve(struct tlat_cyc_status *status, const struct tlat_cyc_stats *stats,
			   const int64_t *smis);

#endif /* TLAT_CYCLICTEST_STATUS_H */
