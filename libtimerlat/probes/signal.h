/* SPDX-License-Identifier: MIT */
/*
 * signal.h - what senders and receivers of the signal probes share. A probe is one of each
 * (signal.c); how many kicks a delivery stands for is told by difference, since signals of one
 * number can be merged, or queue up.
 */
#ifndef TLAT_PROBES_SIGNAL_H
#define TLAT_PROBES_SIGNAL_H

#include <signal.h>

#include "probe.h"

struct tlat_signal_shared;
struct tlat_signal_side;

struct tlat_signal_sender {
	bool to_process; /* any thread that does not block the signal may get it */
	int (*open)(struct tlat_signal_shared *shared, struct tlat_error *reterr);
};

struct tlat_signal_receiver {
	bool unblocked; /* the handler may run at any time */
	int (*open)(struct tlat_signal_side *my);
};

/* One per instance. */
struct tlat_signal_shared {
	alignas(TLAT_CACHE_LINE) atomic_uint sent; /* kicks; the waker's */
	uint32_t refused;			   /* kicks that failed */
	pid_t pid, tid;				   /* of the waiter */
	int32_t signal;
	int32_t fd; /* pidfd */
	siginfo_t info;
	const struct tlat_signal_sender *sender;
	const struct tlat_signal_receiver *receiver;
	pid_t opener; /* the thread that blocks the signal for this run; 0: none */
};

/* The waiter's. */
struct tlat_signal_side {
	alignas(TLAT_CACHE_LINE) atomic_uint runs; /* of the handler */
	atomic_ullong at;			   /* stamp of its last run */
	struct tlat_probe_ctx *ctx;
	uint32_t handled; /* runs that wait() knows of */
	uint32_t seen;	  /* kicks accounted for */
	uint64_t delivered;
	uint64_t merged; /* kicks so far that had no delivery of their own */
	int32_t fd;	 /* signalfd or epoll */
	bool knows_inside;
	sigset_t set;	 /* the signal */
	sigset_t inside; /* the mask while it waits in sigsuspend(2) and the like */
	sigset_t before; /* the mask to go back to */
};

/* signal_send.c */
extern const struct tlat_signal_sender tlat_sender_thread, tlat_sender_process, tlat_sender_pidfd;
int tlat_signal_by_tgkill(struct tlat_probe_ctx *ctx);
int tlat_signal_by_kill(struct tlat_probe_ctx *ctx);
int tlat_signal_by_sigqueue(struct tlat_probe_ctx *ctx);
int tlat_signal_by_pthread_sigqueue(struct tlat_probe_ctx *ctx);
int tlat_signal_by_pidfd(struct tlat_probe_ctx *ctx);
int tlat_signal_pidfd_supported(struct tlat_error *reterr);

/* signal_receive.c */
extern const struct tlat_signal_receiver tlat_receiver_handler, tlat_receiver_blocked,
	tlat_receiver_signalfd, tlat_receiver_epoll;
void tlat_signal_handler(int signal);
int tlat_signal_enter(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
		      struct tlat_error *reterr);
void tlat_signal_ready(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side);
void tlat_signal_leave(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side);
int tlat_signal_in_handler(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			   struct tlat_probe_event *event);
int tlat_signal_in_busy(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			struct tlat_probe_event *event);
int tlat_signal_in_sigwait(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			   struct tlat_probe_event *event);
int tlat_signal_in_signalfd(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			    struct tlat_probe_event *event);
int tlat_signal_in_sigsuspend(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			      struct tlat_probe_event *event);
int tlat_signal_in_epoll(struct tlat_probe_ctx *ctx, const struct tlat_probe_side *side,
			 struct tlat_probe_event *event);

#endif /* TLAT_PROBES_SIGNAL_H */
