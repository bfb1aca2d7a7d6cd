// SPDX-License-Identifier: MIT
/*
 * run_break.c - the end of a run at the first value above a limit. The thread that sees it stops
 * the kernel's trace itself: a controller would first have to wake, and the ring buffer goes on.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "rt.h"
#include "run_break.h"

/* Where tracefs is mounted, the older place last. */
static const char *const places[] = { "sys/kernel/tracing", "sys/kernel/debug/tracing" };

static int open_at(int root_fd, const char *place, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	fd = openat(root_fd, path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Both files of one place, or neither. */
static int open_place(struct tlat_trace_stop *trace, int root_fd, const char *place)
{
	trace->marker_fd = open_at(root_fd, place, "trace_marker");
	if (trace->marker_fd < 0)
		return trace->marker_fd;
	trace->on_fd = open_at(root_fd, place, "tracing_on");
	if (trace->on_fd >= 0)
		return 0;
	close(trace->marker_fd);
	return trace->on_fd;
}

int tlat_trace_stop_open(struct tlat_trace_stop *trace, int root_fd, struct tlat_error *reterr)
{
	int error = -ENOENT;

	for (size_t i = 0; error == -ENOENT && i < TLAT_ARRAY_SIZE(places); i++)
		error = open_place(trace, root_fd, places[i]);
	if (!error)
		return 0;
	*trace = TLAT_TRACE_STOP_NONE;
	if (error == -ENOENT)
		return tlat_fail(
			reterr, error,
			"no trace to mark: there is no trace_marker in /sys/kernel/tracing; "
			"mount -t tracefs tracefs /sys/kernel/tracing");
	return tlat_fail(reterr, error,
			 "no trace to mark: trace_marker and tracing_on below /sys/kernel/tracing "
			 "cannot be opened for writing: %s; run as root",
			 tlat_errno_name(-error));
}

void tlat_trace_stop_close(struct tlat_trace_stop *trace)
{
	if (trace->marker_fd >= 0)
		close(trace->marker_fd);
	if (trace->on_fd >= 0)
		close(trace->on_fd);
	*trace = TLAT_TRACE_STOP_NONE;
}

static int64_t value_ns(const struct tlat_break *brk)
{
	return (int64_t)((double)brk->outlier.value * brk->ns_per_unit);
}

/* The mark first: with tracing off there is nothing that takes it. */
static int stop_trace(const struct tlat_break *brk)
{
	char mark[160];
	int n = snprintf(mark, sizeof(mark),
			 "timerlat: %s cpu %" PRId32 " cycle %" PRIu64 ": %" PRId64
			 " ns is above %" PRId64 " ns\n",
			 brk->probe, brk->outlier.cpu, brk->outlier.seq, value_ns(brk),
			 brk->above_ns);
	int error = write(brk->trace->marker_fd, mark, (size_t)n) < 0 ? errno : 0;

	if (write(brk->trace->on_fd, "0", 1) < 0 && !error)
		error = errno;
	return error;
}

void tlat_break_hit(struct tlat_break *brk, const struct tlat_outlier *outlier)
{
	if (brk->hit)
		return;
	brk->hit = true;
	brk->outlier = *outlier;
	if (brk->trace->marker_fd >= 0)
		brk->trace_error = stop_trace(brk);
	atomic_store_explicit(brk->request, 1, memory_order_relaxed);
}

void tlat_break_find(const struct tlat_break *brk, struct tlat_findings *findings)
{
	const struct tlat_outlier *outlier = &brk->outlier;

	tlat_findings_add(findings, TLAT_INFO, "break", NULL,
			  "%s on CPU %" PRId32 ": %.3f us is above %.3f us, in cycle %" PRIu64
			  ", %.6f s after the measurement began",
			  brk->probe, outlier->cpu, (double)value_ns(brk) / 1e3,
			  (double)brk->above_ns / 1e3, outlier->seq, (double)outlier->t_ns / 1e9);
	if (brk->trace_error)
		tlat_findings_add(findings, TLAT_WARN, "trace-mark-lost",
				  "switch tracing on before: echo 1 > "
				  "/sys/kernel/tracing/tracing_on",
				  "the kernel's trace did not take the mark: %s",
				  tlat_errno_name(brk->trace_error));
}
