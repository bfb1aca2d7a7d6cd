// SPDX-License-Identifier: MIT
/* streams.c - standard streams that were closed, and what standard output did not take. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "streams.h"

/* Read-only, so that what is printed to a closed one is still an error. */
void tlat_streams_occupy(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* The stream remembers that something failed, not what: a pipe and a closed stream can be asked. */
static int cause_of_loss(void)
{
	struct pollfd fd = { .fd = STDOUT_FILENO };

	if (poll(&fd, 1, 0) > 0 && (fd.revents & POLLERR))
		return EPIPE;
	return write(STDOUT_FILENO, "", 0) < 0 ? errno : EIO;
}

int tlat_streams_end(void)
{
	int failed = ferror(stdout), code;

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return 0;
	code = errno ? errno : cause_of_loss();
	return code == EPIPE ? 0 : -code;
}
